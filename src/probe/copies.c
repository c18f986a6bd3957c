/* probe/copies.c - copies inside a GPU and between it and the host; launches. Peers: copies-peer.c. */
#include "probe/copies-private.h"

#include "base/stats.h"
#include "base/units.h"
#include "probe/clock.h"
#include <string.h>

#define WARM_UPS 3
#define N_TESTS 10 /* for progress, with a second GPU */
#define LARGE (INT64_C(64) << 20) /* from here on few repetitions are enough */

void csim_copy_options_init(CsimCopyOptions *options) {
  *options = (CsimCopyOptions){.min = 4, .max = INT64_C(1) << 30, .factor = 4, .limit_s = 300};
}

/* --- shared with copies-peer.c ---------------------------------------------------- */

void copies_add(Copies *p, const char *test, int peer, int blocks, CsimBytes size, double median_us, int ways) {
  CsimCopyRow row = {test, p->gpu.ordinal, peer, blocks, size, median_us, 0};
  if (size > 0 && median_us > 0 && ways > 0) row.bw_gbps = ways * (double)size / median_us * 1e-3;
  copies_row(p, &row);
}

void copies_row(Copies *p, const CsimCopyRow *row) {
  if (p->shared->n < COPY_MAX_ROWS) p->shared->rows[p->shared->n++] = *row;
}

void copies_step(Copies *p) {
  g_atomic_int_inc(&p->shared->header.done);
}

int copies_repeats(CsimBytes size) {
  return size > LARGE ? 7 : 25;
}

/* What `go` queues on the first stream, between two events, several times. */
gboolean copies_time(Copies *p, gboolean (*go)(Copies *p, const CopyJob *job, GError **error), const CopyJob *job, int repeats,
                     double *median_us, GError **error) {
  const CsimCuda *c = p->gpu.cuda;
  g_autofree double *times = g_new(double, repeats);
  for (int i = -WARM_UPS; i < repeats; i++) {
    float ms = 0;
    if (!csim_cuda_check(c, c->event_record(p->gpu.start, p->gpu.stream), "event", error) || !go(p, job, error) ||
        !csim_cuda_check(c, c->event_record(p->gpu.end, p->gpu.stream), "event", error) ||
        !csim_cuda_check(c, c->stream_sync(p->gpu.stream), job->test, error) ||
        !csim_cuda_check(c, c->event_elapsed(&ms, p->gpu.start, p->gpu.end), "event", error))
      return FALSE;
    if (i >= 0) times[i] = ms * 1e3;
  }
  *median_us = csim_median(times, repeats);
  return TRUE;
}

gboolean copies_kernel(Copies *p, CsimCuPtr dst, CsimCuPtr src, CsimBytes size, int blocks, GError **error) {
  unsigned long long packs = (unsigned long long)size / 16;
  void *params[] = {&dst, &src, &packs};
  const CsimCuda *c = p->gpu.cuda;
  return csim_cuda_check(
      c, c->launch(p->gpu.copy, (unsigned)blocks, 1, 1, COPY_THREADS, 1, 1, 0, p->gpu.stream, params, NULL), "copy kernel",
      error);
}

/* --- one GPU and its host --------------------------------------------------------- */

static gboolean go_h2d(Copies *p, const CopyJob *job, GError **error) {
  return csim_cuda_check(p->gpu.cuda, p->gpu.cuda->to_device(p->a, p->host_a, job->size, p->gpu.stream), "h2d", error);
}
static gboolean go_d2h(Copies *p, const CopyJob *job, GError **error) {
  return csim_cuda_check(p->gpu.cuda, p->gpu.cuda->to_host(p->host_a, p->a, job->size, p->gpu.stream), "d2h", error);
}
static gboolean go_d2d(Copies *p, const CopyJob *job, GError **error) {
  return csim_cuda_check(p->gpu.cuda, p->gpu.cuda->on_device(p->b, p->a, job->size, p->gpu.stream), "d2d", error);
}

/* The second stream starts and ends with the first. */
static gboolean go_bidir(Copies *p, const CopyJob *job, GError **error) {
  const CsimGpu *g = &p->gpu;
  const CsimCuda *c = g->cuda;
  return csim_cuda_check(c, c->stream_wait(g->second, g->start, 0), "bidir", error) &&
         csim_cuda_check(c, c->to_device(p->a, p->host_a, job->size, g->stream), "bidir", error) &&
         csim_cuda_check(c, c->to_host(p->host_b, p->b, job->size, g->second), "bidir", error) &&
         csim_cuda_check(c, c->event_record(g->middle, g->second), "bidir", error) &&
         csim_cuda_check(c, c->stream_wait(g->stream, g->middle, 0), "bidir", error);
}

static gboolean go_local(Copies *p, const CopyJob *job, GError **error) {
  return copies_kernel(p, p->b, p->a, job->size, job->blocks, error);
}

static gboolean sweep(Copies *p, const char *test, gboolean (*go)(Copies *, const CopyJob *, GError **), int ways, GError **error) {
  for (CsimBytes size = p->options->min; size <= p->options->max; size *= p->options->factor) {
    CopyJob job = {test, size, 0, 0};
    double us;
    if (!copies_time(p, go, &job, copies_repeats(size), &us, error)) return FALSE;
    copies_add(p, test, -1, 0, size, us, ways);
  }
  copies_step(p);
  return TRUE;
}

static gboolean local_kernels(Copies *p, GError **error) {
  const int blocks[] = {1, 8, 16, 32, p->gpu.n_multiprocessors};
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++) {
    CopyJob job = {"sm_local", MIN(p->options->max, COPY_KERNEL_SIZE), blocks[i], 0};
    double us;
    if (!copies_time(p, go_local, &job, COPY_KERNEL_REPEATS, &us, error)) return FALSE;
    copies_add(p, "sm_local", -1, blocks[i], job.size, us, 1);
  }
  copies_step(p);
  return TRUE;
}

/* --- launches --------------------------------------------------------------------- */

static gboolean launch_nop(Copies *p, GError **error) {
  const CsimCuda *c = p->gpu.cuda;
  return csim_cuda_check(c, c->launch(p->gpu.nop, 1, 1, 1, 1, 1, 1, 0, p->gpu.stream, NULL, NULL), "empty kernel", error);
}
static gboolean go_nop(Copies *p, const CopyJob *job, GError **error) {
  return launch_nop(p, error);
}

static gboolean sync(Copies *p, GError **error) {
  return csim_cuda_check(p->gpu.cuda, p->gpu.cuda->stream_sync(p->gpu.stream), "synchronise", error);
}

/* Host time of `n` launches and one wait, per launch; several times. */
static gboolean time_host(Copies *p, const char *test, int n, GError **error) {
  double times[LAUNCH_REPEATS];
  for (int i = -WARM_UPS; i < LAUNCH_REPEATS; i++) {
    double start = csim_probe_now_us();
    for (int k = 0; k < n; k++)
      if (!launch_nop(p, error)) return FALSE;
    if (n == 1 && !sync(p, error)) return FALSE;
    double end = csim_probe_now_us();
    if (n > 1 && !sync(p, error)) return FALSE;
    if (i >= 0) times[i] = (end - start) / n;
  }
  copies_add(p, test, -1, 0, 0, csim_median(times, LAUNCH_REPEATS), 0);
  return TRUE;
}

static gboolean launches(Copies *p, GError **error) {
  CopyJob job = {"launch_event", 0, 0, 0};
  double us;
  if (!copies_time(p, go_nop, &job, 180, &us, error)) return FALSE;
  copies_add(p, job.test, -1, 0, 0, us, 0);
  if (!time_host(p, "launch_host", 500, error) || !time_host(p, "launch_sync", 1, error)) return FALSE;
  copies_step(p);
  return TRUE;
}

/* --- whole ------------------------------------------------------------------------ */

static gboolean allocate(Copies *p, GError **error) {
  const CsimCuda *c = p->gpu.cuda;
  size_t n = (size_t)p->options->max;
  return csim_cuda_check(c, c->host_alloc(&p->host_a, n, CSIM_CU_HOST_PORTABLE), "pinned host memory", error) &&
         csim_cuda_check(c, c->host_alloc(&p->host_b, n, CSIM_CU_HOST_PORTABLE), "pinned host memory", error) &&
         csim_cuda_check(c, c->alloc(&p->a, n), "GPU memory", error) && csim_cuda_check(c, c->alloc(&p->b, n), "GPU memory", error);
}

static void release(Copies *p) {
  const CsimCuda *c = p->gpu.cuda;
  if (c && p->gpu.context) {
    c->set_current(p->gpu.context);
    if (p->a) c->free(p->a);
    if (p->b) c->free(p->b);
    if (p->host_a) c->host_free(p->host_a);
    if (p->host_b) c->host_free(p->host_b);
  }
  csim_gpu_close(&p->gpu);
}

static gboolean measure(Copies *p, GError **error) {
  return allocate(p, error) && sweep(p, "h2d", go_h2d, 1, error) && sweep(p, "d2h", go_d2h, 1, error) &&
         sweep(p, "d2d", go_d2d, 1, error) && sweep(p, "bidir", go_bidir, 2, error) && launches(p, error) &&
         local_kernels(p, error) && copies_peers(p, error);
}

static gboolean work(guint index, gpointer shared, gconstpointer options, GError **error) {
  Copies p = {.options = (const CsimCopyOptions *)options, .shared = (CopiesShared *)shared};
  const CsimCuda *cuda = csim_cuda_open(error);
  if (!cuda) return FALSE;
  p.n_gpus = csim_cuda_n_devices(cuda);
  if (p.options->gpu < 0 || p.options->gpu >= p.n_gpus) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "no GPU %d; allowed: 0 to %d", p.options->gpu, p.n_gpus - 1);
    return FALSE;
  }
  gboolean ok = csim_gpu_open(&p.gpu, cuda, p.options->gpu, error) && measure(&p, error);
  release(&p);
  return ok;
}

gboolean csim_probe_copies(const CsimCopyOptions *options, GArray *rows, GError **error) {
  CopiesShared *shared = (CopiesShared *)csim_shared_new(sizeof *shared, error);
  if (!shared) return FALSE;
  CsimChildren children = {
      .n = 1,
      .work = work,
      .shared = shared,
      .options = options,
      .limit_s = options->limit_s,
      .interrupt = options->interrupt,
      .progress = options->progress,
      .data = options->data,
      .of = N_TESTS,
  };
  gboolean ok = csim_children_run(&children, error);
  g_array_append_vals(rows, shared->rows, shared->n);
  csim_shared_free(shared, sizeof *shared);
  return ok;
}

/* --- table ------------------------------------------------------------------------ */

CsimProbeTable *csim_copies_table(const GArray *rows, const CsimGpuFacts *gpus) {
  static const char *const columns[] = {"test", "gpu", "peer", "blocks", "size_bytes", "median_us", "bw_gbps", NULL};
  CsimProbeTable *table = csim_probe_table_new(columns);
  for (guint i = 0; i < rows->len; i++) {
    const CsimCopyRow *r = &g_array_index(rows, CsimCopyRow, i);
    g_autofree char *gpu = g_strdup_printf("%d", r->gpu), *peer = r->peer < 0 ? g_strdup("") : g_strdup_printf("%d", r->peer);
    g_autofree char *blocks = g_strdup_printf("%d", r->blocks), *size = g_strdup_printf("%" G_GINT64_FORMAT, r->size);
    g_autofree char *us = csim_number_text(r->median_us, "%.4f");
    g_autofree char *bw = r->bw_gbps > 0 ? csim_number_text(r->bw_gbps, "%.4f") : g_strdup("");
    csim_probe_table_row(table, (const char *const[]){r->test, gpu, peer, blocks, size, us, bw, NULL});
  }
  csim_probe_gpu_facts(table, gpus);
  csim_probe_table_machine(table);
  return table;
}
