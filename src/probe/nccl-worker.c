/* probe/nccl-worker.c - the ranks of one process: their GPUs, communicators and rows. */
#include "probe/nccl-private.h"

#include "probe/clock.h"
#include <string.h>

/* One thread: `n` ranks from peers[0].rank on. */
typedef struct {
  const Pass *pass;
  Shared *shared;
  const CsimNccl *nccl;
  int index; /* of all workers */
  Peer *peers;
  int n;
} Worker;

/* --- the process's surroundings --------------------------------------------------- */

static void set_file(const char *variable, const char *folder, const char *file) {
  g_autofree char *path = g_build_filename(folder, file, NULL);
  g_setenv(variable, path, TRUE);
}

/* NCCL looks at the topology a second time for its dump, which ranks of a host do together: a rank without the variable is waited for
 * for ever. Only rank 0 writes. The log is the first process's. */
static void set_dump_variables(const char *folder, gboolean first) {
  set_file("NCCL_TOPO_DUMP_FILE", folder, "topo.xml");
  set_file("NCCL_GRAPH_DUMP_FILE", folder, "graph.xml");
  if (!first) return;
  set_file("NCCL_DEBUG_FILE", folder, "nccl.log");
  g_setenv("NCCL_DEBUG", "INFO", TRUE);
  g_setenv("NCCL_DEBUG_SUBSYS", "INIT,ENV,GRAPH,TUNING", TRUE);
}

static gboolean surroundings(const Pass *pass, guint process, GError **error) {
  const CsimNcclOptions *o = pass->options;
  int rank = (int)process * pass->n_threads * pass->n_each;
  for (int i = 0; o->variables && o->variables[i]; i++) {
    g_auto(GStrv) pair = g_strsplit(o->variables[i], "=", 2);
    g_setenv(pair[0], pair[1], TRUE);
  }
  if (pass->dump) set_dump_variables(o->dump, process == 0);
  if (pass->own_hosts) {
    g_autofree char *host = g_strdup_printf("collsim-%d", o->netns ? rank : rank / pass->n_gpus);
    g_setenv("NCCL_HOSTID", host, TRUE);
  }
  return !o->netns || csim_child_enter_netns(o->netns, rank, error);
}

/* --- barrier ---------------------------------------------------------------------- */

static void barrier(const Worker *w) {
  pthread_barrier_wait(&w->shared->barrier);
}

/* --- set-up ----------------------------------------------------------------------- */

static gboolean open_peer(const Worker *w, Peer *p, const CsimCuda *cuda, GError **error) {
  size_t bytes = (size_t)w->pass->options->max;
  return csim_gpu_open(&p->gpu, cuda, p->rank % w->pass->n_gpus, error) &&
         csim_cuda_check(cuda, cuda->alloc(&p->send, bytes), "GPU memory", error) &&
         csim_cuda_check(cuda, cuda->alloc(&p->recv, bytes), "GPU memory", error) &&
         csim_cuda_check(cuda, cuda->alloc(&p->wrong, sizeof(guint64)), "GPU memory", error);
}

static gboolean write_facts(const Worker *w, const CsimCuda *cuda, const char *library, GError **error) {
  CsimNcclFacts *f = &w->shared->facts;
  cuda->driver_version(&f->cuda_version);
  g_strlcpy(f->library, library, sizeof f->library);
  g_strlcpy(f->gpu, w->peers[0].gpu.name, sizeof f->gpu);
  return csim_nccl_check(w->nccl, w->nccl->get_version(&f->nccl_version), "version", error) &&
         csim_nccl_check(w->nccl, w->nccl->get_unique_id(&w->shared->id), "unique id", error);
}

static gboolean init_comms(Worker *w, GError **error) {
  CsimNcclResult result = w->n > 1 ? w->nccl->group_start() : 0;
  for (int i = 0; !result && i < w->n; i++) {
    Peer *p = &w->peers[i];
    if (!csim_gpu_use(&p->gpu, error)) return FALSE;
    result = w->nccl->comm_init_rank(&p->comm, w->pass->n_ranks, w->shared->id, p->rank);
  }
  if (!result && w->n > 1) result = w->nccl->group_end();
  return csim_nccl_check(w->nccl, result, "making the communicator", error);
}

static gboolean set_up(Worker *w, GError **error) {
  const char *library = NULL;
  const CsimCuda *cuda = csim_cuda_open(error);
  w->nccl = cuda ? csim_nccl_open(w->pass->options->library, &library, error) : NULL;
  if (!w->nccl) return FALSE;
  for (int i = 0; i < w->n; i++)
    if (!open_peer(w, &w->peers[i], cuda, error)) return FALSE;
  if (w->index == 0 && !write_facts(w, cuda, library, error)) return FALSE;
  barrier(w);
  return init_comms(w, error);
}

static void tear_down(Worker *w) {
  for (int i = 0; i < w->n; i++) {
    Peer *p = &w->peers[i];
    const CsimCuda *c = p->gpu.cuda;
    if (!csim_gpu_use(&p->gpu, NULL)) continue;
    w->nccl->comm_destroy(p->comm);
    c->free(p->send);
    c->free(p->recv);
    c->free(p->wrong);
    csim_gpu_close(&p->gpu);
  }
}

/* --- a row ------------------------------------------------------------------------ */

static gboolean sync_all(Worker *w, GError **error) {
  for (int i = 0; i < w->n; i++) {
    const CsimGpu *g = &w->peers[i].gpu;
    if ((w->n > 1 && !csim_gpu_use(g, error)) || !csim_cuda_check(g->cuda, g->cuda->stream_sync(g->stream), "waiting for NCCL", error))
      return FALSE;
  }
  return TRUE;
}

static gboolean calls(Worker *w, CsimColl coll, const CsimNcclCounts *counts, int n, GError **error) {
  for (int i = 0; i < n; i++)
    if (!nccl_call(w->nccl, coll, counts, w->pass->n_ranks, w->peers, w->n, error)) return FALSE;
  return sync_all(w, error);
}

static gboolean verify(Worker *w, CsimColl coll, const CsimNcclCounts *counts, GError **error) {
  guint64 all = 0, wrong = 0;
  for (int i = 0; i < w->n; i++)
    if (!nccl_fill(&w->peers[i], counts, error)) return FALSE;
  barrier(w);
  if (!calls(w, coll, counts, 1, error)) return FALSE;
  for (int i = 0; i < w->n; i++, all += wrong)
    if (!nccl_verify(&w->peers[i], coll, counts, w->pass->n_ranks, &wrong, error)) return FALSE;
  w->shared->wrong[w->index] = all;
  return TRUE;
}

static gboolean timing(Worker *w, CsimColl coll, const CsimNcclCounts *counts, GError **error) {
  if (!calls(w, coll, counts, w->pass->warmups, error)) return FALSE;
  barrier(w);
  double start = csim_probe_now_us();
  if (!calls(w, coll, counts, w->pass->iters, error)) return FALSE;
  w->shared->times[w->index] = (csim_probe_now_us() - start) / w->pass->iters;
  return TRUE;
}

/* The first worker sums up what all have written. */
static void complete(const Worker *w, CsimColl coll, const CsimNcclCounts *counts) {
  Shared *s = w->shared;
  int n = w->pass->n_ranks / w->n;
  CsimNcclRow row = {.coll = coll, .size = counts->size, .count = (CsimBytes)counts->param, .min_us = s->times[0]};
  for (int i = 0; i < n; i++) {
    row.time_us += s->times[i] / n;
    row.min_us = MIN(row.min_us, s->times[i]);
    row.max_us = MAX(row.max_us, s->times[i]);
    row.wrong += s->wrong[i];
  }
  row.algbw_gbps = (double)row.size / row.time_us * 1e-3;
  row.busbw_gbps = row.algbw_gbps * counts->factor;
  s->rows[s->n_rows++] = row;
}

static gboolean do_row(Worker *w, CsimColl coll, CsimBytes size, GError **error) {
  CsimNcclCounts counts = csim_nccl_counts(coll, w->pass->n_ranks, size);
  if (counts.param == 0) return TRUE; /* nothing to move */
  if (!verify(w, coll, &counts, error) || !timing(w, coll, &counts, error)) return FALSE;
  barrier(w);
  if (w->index == 0) {
    complete(w, coll, &counts);
    g_atomic_int_inc(&w->shared->header.done);
  }
  barrier(w);
  return TRUE;
}

static gboolean do_rows(Worker *w, GError **error) {
  const CsimNcclOptions *o = w->pass->options;
  for (guint c = 0; c < o->n_colls; c++)
    for (CsimBytes size = o->min; size <= o->max; size *= o->factor)
      if (!do_row(w, o->colls[c], size, error)) return FALSE;
  return TRUE;
}

/* --- threads ---------------------------------------------------------------------- */

static gpointer worker_main(gpointer data) {
  Worker *w = (Worker *)data;
  GError *error = NULL;
  if (set_up(w, &error) && do_rows(w, &error)) {
    barrier(w);
    tear_down(w);
  } else {
    csim_child_fail(w->shared, error); /* the parent now kills whoever waits for this one */
  }
  return error;
}

static gboolean run_threads(Worker *workers, int n, GError **error) {
  GThread **threads = g_new0(GThread *, n);
  for (int i = 1; i < n; i++) threads[i] = g_thread_new("nccl-rank", worker_main, &workers[i]);
  GError *first = (GError *)worker_main(&workers[0]);
  for (int i = 1; i < n; i++) {
    GError *other = (GError *)g_thread_join(threads[i]);
    if (first)
      g_clear_error(&other);
    else
      first = other;
  }
  g_free(threads);
  if (first) g_propagate_error(error, first);
  return !first;
}

gboolean nccl_process(guint index, gpointer shared, gconstpointer options, GError **error) {
  const Pass *pass = (const Pass *)options;
  int n = pass->n_threads;
  /* Libraries are opened before there are threads. */
  if (!surroundings(pass, index, error) || !csim_cuda_open(error) || !csim_nccl_open(pass->options->library, NULL, error))
    return FALSE;
  g_autofree Worker *workers = g_new0(Worker, n);
  g_autofree Peer *peers = g_new0(Peer, (gsize)n * pass->n_each);
  for (int t = 0; t < n; t++) {
    Worker *w = &workers[t];
    *w = (Worker){.pass = pass, .shared = (Shared *)shared, .index = (int)index * n + t, .n = pass->n_each};
    w->peers = &peers[(gsize)t * pass->n_each];
    for (int i = 0; i < w->n; i++) w->peers[i].rank = w->index * w->n + i;
  }
  return run_threads(workers, n, error);
}
