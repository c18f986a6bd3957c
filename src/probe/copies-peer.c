/* probe/copies-peer.c - copies between two GPUs, and the time of a flag between them. */
#include "probe/copies-private.h"

#include "base/stats.h"

#include <string.h>

#define PING_ROUNDS 20000
#define PING_DEADLINE_MS 2000
#define PAIR_SIZE (INT64_C(256) << 20)

/* --- jobs ------------------------------------------------------------------------- */

static gboolean go_write(Copies *p, const CopyJob *job, GError **error) {
  const CsimCuda *c = p->gpu.cuda;
  return csim_cuda_check(
      c, c->to_peer(p->peer_b, p->peer.context, p->a, p->gpu.context, (size_t)job->size, p->gpu.stream), "peer copy", error);
}

static gboolean go_both(Copies *p, const CopyJob *job, GError **error) {
  const CsimCuda *c = p->gpu.cuda;
  size_t n = (size_t)job->size;
  return csim_gpu_use(&p->peer, error) &&
         csim_cuda_check(c, c->stream_wait(p->peer.stream, p->gpu.start, 0), "peer copy", error) &&
         csim_cuda_check(c, c->to_peer(p->a, p->gpu.context, p->peer_b, p->peer.context, n, p->peer.stream), "peer copy", error) &&
         csim_cuda_check(c, c->event_record(p->peer.middle, p->peer.stream), "event", error) && csim_gpu_use(&p->gpu, error) &&
         csim_cuda_check(c, c->to_peer(p->peer_a, p->peer.context, p->b, p->gpu.context, n, p->gpu.stream), "peer copy", error) &&
         csim_cuda_check(c, c->stream_wait(p->gpu.stream, p->peer.middle, 0), "peer copy", error);
}

static gboolean go_sm_write(Copies *p, const CopyJob *job, GError **error) {
  return copies_kernel(p, p->peer_b, p->a, job->size, job->blocks, error);
}
static gboolean go_sm_read(Copies *p, const CopyJob *job, GError **error) {
  return copies_kernel(p, p->a, p->peer_b, job->size, job->blocks, error);
}

/* --- sweeps ----------------------------------------------------------------------- */

static gboolean engine(Copies *p, GError **error) {
  double us;
  for (CsimBytes size = p->options->min; size <= p->options->max; size *= p->options->factor) {
    CopyJob job = {"ce_write", size, 0, 0};
    if (!copies_time(p, go_write, &job, copies_repeats(size), &us, error)) return FALSE;
    copies_add(p, job.test, p->peer.ordinal, 0, size, us, 1);
  }
  CopyJob both = {"ce_bidir", p->options->max, 0, 0};
  if (!copies_time(p, go_both, &both, copies_repeats(both.size), &us, error)) return FALSE;
  copies_add(p, both.test, p->peer.ordinal, 0, both.size, us, 2);
  copies_step(p);
  return TRUE;
}

static gboolean kernels(Copies *p, GError **error) {
  const int blocks[] = {1, 2, 4, 8, 16, 24, 32, 64, p->gpu.n_multiprocessors};
  CsimBytes size = MIN(p->options->max, COPY_KERNEL_SIZE);
  double us;
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++) {
    CopyJob out = {"sm_write", size, blocks[i], 0}, in = {"sm_read", size, blocks[i], 0};
    if (!copies_time(p, go_sm_write, &out, COPY_KERNEL_REPEATS, &us, error)) return FALSE;
    copies_add(p, out.test, p->peer.ordinal, blocks[i], size, us, 1);
    if (!copies_time(p, go_sm_read, &in, COPY_KERNEL_REPEATS, &us, error)) return FALSE;
    copies_add(p, in.test, p->peer.ordinal, blocks[i], size, us, 1);
  }
  /* A second size by all multiprocessors: the difference of the two is the link's rate, without launch and events. */
  CopyJob large = {"sm_write", MIN(p->options->max, 4 * COPY_KERNEL_SIZE), p->gpu.n_multiprocessors, 0};
  if (!copies_time(p, go_sm_write, &large, COPY_KERNEL_REPEATS, &us, error)) return FALSE;
  copies_add(p, large.test, p->peer.ordinal, large.blocks, large.size, us, 1);
  copies_step(p);
  return TRUE;
}

/* --- flag ------------------------------------------------------------------------- */

static gboolean launch_ping(const CsimGpu *gpu, CsimCuPtr mine, CsimCuPtr other, int first, GError **error) {
  int rounds = PING_ROUNDS;
  long long deadline = (long long)gpu->clock_khz * PING_DEADLINE_MS;
  void *params[] = {&mine, &other, &rounds, &first, &deadline};
  return csim_gpu_use(gpu, error) &&
         csim_cuda_check(gpu->cuda, gpu->cuda->launch(gpu->ping, 1, 1, 1, 1, 1, 1, 0, gpu->stream, params, NULL), "flag kernel", error);
}

/* The flags lie at the start of a and peer_a. */
static gboolean flag(Copies *p, GError **error) {
  const CsimCuda *c = p->gpu.cuda;
  int seen = 0;
  float ms = 0;
  if (!csim_gpu_use(&p->peer, error) || !csim_cuda_check(c, c->memset8(p->peer_a, 0, 4), "flag", error) ||
      !csim_gpu_use(&p->gpu, error) || !csim_cuda_check(c, c->memset8(p->a, 0, 4), "flag", error) ||
      !launch_ping(&p->peer, p->peer_a, p->a, 0, error) || !csim_gpu_use(&p->gpu, error) ||
      !csim_cuda_check(c, c->event_record(p->gpu.start, p->gpu.stream), "event", error) ||
      !launch_ping(&p->gpu, p->a, p->peer_a, 1, error) ||
      !csim_cuda_check(c, c->event_record(p->gpu.end, p->gpu.stream), "event", error) ||
      !csim_cuda_check(c, c->to_host(&seen, p->a, sizeof seen, p->gpu.stream), "flag", error) ||
      !csim_cuda_check(c, c->stream_sync(p->gpu.stream), "flag", error) ||
      !csim_cuda_check(c, c->event_elapsed(&ms, p->gpu.start, p->gpu.end), "event", error) || !csim_gpu_use(&p->peer, error) ||
      !csim_cuda_check(c, c->stream_sync(p->peer.stream), "flag", error) || !csim_gpu_use(&p->gpu, error))
    return FALSE;
  if (seen == PING_ROUNDS) copies_add(p, "flag_oneway", p->peer.ordinal, 0, 4, ms * 1e3 / PING_ROUNDS / 2, 0);
  copies_step(p);
  return TRUE;
}

/* --- all pairs -------------------------------------------------------------------- */

/* One ordered pair by copy engine; memory of its own, as any GPU may be at either end. */
static gboolean pair(Copies *p, const CsimGpu *from, const CsimGpu *to, GError **error) {
  const CsimCuda *c = from->cuda;
  CsimCuPtr src = 0, dst = 0;
  CsimBytes size = MIN(p->options->max, PAIR_SIZE);
  double times[5];
  gboolean ok = csim_gpu_use(to, error) && csim_cuda_check(c, c->alloc(&dst, (size_t)size), "GPU memory", error) &&
                csim_gpu_use(from, error) && csim_cuda_check(c, c->alloc(&src, (size_t)size), "GPU memory", error);
  for (int i = -1; ok && i < 5; i++) {
    float ms = 0;
    ok = csim_cuda_check(c, c->event_record(from->start, from->stream), "event", error) &&
         csim_cuda_check(c, c->to_peer(dst, to->context, src, from->context, (size_t)size, from->stream), "peer copy", error) &&
         csim_cuda_check(c, c->event_record(from->end, from->stream), "event", error) &&
         csim_cuda_check(c, c->stream_sync(from->stream), "peer copy", error) &&
         csim_cuda_check(c, c->event_elapsed(&ms, from->start, from->end), "event", error);
    if (i >= 0) times[i] = ms * 1e3;
  }
  if (src) c->free(src);
  if (dst) c->free(dst);
  if (!ok) return FALSE;
  CsimCopyRow row = {"ce_pair", from->ordinal, to->ordinal, 0, size, csim_median(times, 5), 0};
  row.bw_gbps = (double)size / row.median_us * 1e-3;
  copies_row(p, &row);
  return TRUE;
}

static gboolean all_pairs(Copies *p, GError **error) {
  gboolean ok = TRUE;
  for (int from = 0; ok && from < p->n_gpus; from++)
    for (int to = 0; ok && to < p->n_gpus; to++) {
      CsimGpu a = {0}, b = {0};
      int can = 0;
      if (from == to) continue;
      ok = csim_gpu_open(&a, p->gpu.cuda, from, error) && csim_gpu_open(&b, p->gpu.cuda, to, error);
      if (ok && a.cuda->can_access_peer(&can, a.device, b.device) == 0 && can && csim_gpu_use(&a, error))
        a.cuda->enable_peer(b.context, 0); /* already enabled is fine; without it the copy goes through the host */
      ok = ok && pair(p, &a, &b, error);
      csim_gpu_close(&b);
      csim_gpu_close(&a);
    }
  copies_step(p);
  return ok && csim_gpu_use(&p->gpu, error);
}

/* --- whole ------------------------------------------------------------------------ */

static gboolean open_peer(Copies *p, gboolean *direct, GError **error) {
  const CsimCuda *c = p->gpu.cuda;
  size_t n = (size_t)p->options->max;
  int there = 0, back = 0;
  if (!csim_gpu_open(&p->peer, c, (p->gpu.ordinal + 1) % p->n_gpus, error) ||
      !csim_cuda_check(c, c->alloc(&p->peer_a, n), "GPU memory", error) ||
      !csim_cuda_check(c, c->alloc(&p->peer_b, n), "GPU memory", error))
    return FALSE;
  c->can_access_peer(&there, p->gpu.device, p->peer.device);
  c->can_access_peer(&back, p->peer.device, p->gpu.device);
  *direct = there && back && c->enable_peer(p->gpu.context, 0) == 0 && csim_gpu_use(&p->gpu, error) &&
            c->enable_peer(p->peer.context, 0) == 0;
  return csim_gpu_use(&p->gpu, error);
}

static void close_peer(Copies *p) {
  const CsimCuda *c = p->peer.cuda;
  if (c && p->peer.context) {
    c->set_current(p->peer.context);
    if (p->peer_a) c->free(p->peer_a);
    if (p->peer_b) c->free(p->peer_b);
  }
  csim_gpu_close(&p->peer);
  p->gpu.cuda->set_current(p->gpu.context);
}

gboolean copies_peers(Copies *p, GError **error) {
  gboolean direct = FALSE;
  if (p->n_gpus < 2) return TRUE;
  gboolean ok = open_peer(p, &direct, error) && engine(p, error) &&
                (!direct || (kernels(p, error) && flag(p, error)));
  close_peer(p);
  return ok && all_pairs(p, error);
}
