/* probe/nccl-coll.c - each collective: its counts, its call, and what every rank must then hold. */
#include "probe/nccl-private.h"

#include "base/perf.h"

#include <string.h>

#define ELEMENT 4          /* float */
#define ROOT 0
#define CHECK_BLOCKS 256u
#define CHECK_THREADS 512u

/* --- counts ----------------------------------------------------------------------- */

CsimNcclCounts csim_nccl_counts(CsimColl coll, int n_ranks, CsimBytes size) {
  CsimPerfSize perf = csim_perf_size(coll, CSIM_TYPE_FLOAT, n_ranks, size);
  gboolean spreads = coll == CSIM_COLL_REDUCE_SCATTER || coll == CSIM_COLL_SCATTER || coll == CSIM_COLL_ALLTOALL;
  gboolean collects = coll == CSIM_COLL_ALL_GATHER || coll == CSIM_COLL_GATHER || coll == CSIM_COLL_ALLTOALL;
  gsize one = (gsize)perf.count, all = one * (gsize)n_ranks;
  return (CsimNcclCounts){spreads ? all : one, collects ? all : one, one, perf.size_bytes, csim_busbw_factor(coll, n_ranks)};
}

/* --- calls ------------------------------------------------------------------------ */

static CsimNcclResult send_part(const CsimNccl *nccl, const Peer *p, gsize first, gsize count, int to) {
  return nccl->send((const void *)(gsize)(p->send + first * ELEMENT), count, CSIM_NCCL_FLOAT, to, p->comm, p->gpu.stream);
}
static CsimNcclResult recv_part(const CsimNccl *nccl, const Peer *p, gsize first, gsize count, int from) {
  return nccl->recv((void *)(gsize)(p->recv + first * ELEMENT), count, CSIM_NCCL_FLOAT, from, p->comm, p->gpu.stream);
}

/* Sends and receives of one rank, in nccl-tests' order. Called inside a group. */
static CsimNcclResult exchange(const CsimNccl *nccl, CsimColl coll, const CsimNcclCounts *c, int n, const Peer *p) {
  CsimNcclResult result = 0;
  if (coll == CSIM_COLL_SENDRECV) {
    result = send_part(nccl, p, 0, c->param, (p->rank + 1) % n);
    return result ? result : recv_part(nccl, p, 0, c->param, (p->rank + n - 1) % n);
  }
  for (int r = 0; !result && r < n; r++) {
    gboolean sends = coll == CSIM_COLL_ALLTOALL || (coll == CSIM_COLL_GATHER && r == ROOT) ||
                     (coll == CSIM_COLL_SCATTER && p->rank == ROOT);
    gboolean receives = coll == CSIM_COLL_ALLTOALL || (coll == CSIM_COLL_GATHER && p->rank == ROOT) ||
                        (coll == CSIM_COLL_SCATTER && r == ROOT);
    gsize from = coll == CSIM_COLL_GATHER ? 0 : (gsize)r * c->param, to = coll == CSIM_COLL_SCATTER ? 0 : (gsize)r * c->param;
    if (sends) result = send_part(nccl, p, from, c->param, r);
    if (!result && receives) result = recv_part(nccl, p, to, c->param, r);
  }
  return result;
}

static CsimNcclResult enqueue(const CsimNccl *nccl, CsimColl coll, const CsimNcclCounts *c, int n, const Peer *p) {
  const void *send = (const void *)(gsize)p->send;
  void *recv = (void *)(gsize)p->recv;
  switch (coll) {
  case CSIM_COLL_ALL_REDUCE: return nccl->all_reduce(send, recv, c->param, CSIM_NCCL_FLOAT, CSIM_NCCL_SUM, p->comm, p->gpu.stream);
  case CSIM_COLL_ALL_GATHER: return nccl->all_gather(send, recv, c->param, CSIM_NCCL_FLOAT, p->comm, p->gpu.stream);
  case CSIM_COLL_REDUCE_SCATTER:
    return nccl->reduce_scatter(send, recv, c->param, CSIM_NCCL_FLOAT, CSIM_NCCL_SUM, p->comm, p->gpu.stream);
  case CSIM_COLL_BROADCAST: return nccl->broadcast(send, recv, c->param, CSIM_NCCL_FLOAT, ROOT, p->comm, p->gpu.stream);
  case CSIM_COLL_REDUCE:
    return nccl->reduce(send, recv, c->param, CSIM_NCCL_FLOAT, CSIM_NCCL_SUM, ROOT, p->comm, p->gpu.stream);
  default: return exchange(nccl, coll, c, n, p);
  }
}

static gboolean is_exchange(CsimColl coll) {
  return coll == CSIM_COLL_SENDRECV || coll == CSIM_COLL_ALLTOALL || coll == CSIM_COLL_GATHER || coll == CSIM_COLL_SCATTER;
}

gboolean nccl_call(const CsimNccl *nccl, CsimColl coll, const CsimNcclCounts *counts, int n_ranks, Peer *peers, int n,
                   GError **error) {
  gboolean group = n > 1 || is_exchange(coll);
  CsimNcclResult result = group ? nccl->group_start() : 0;
  for (int i = 0; !result && i < n; i++) {
    if (n > 1 && !csim_gpu_use(&peers[i].gpu, error)) return FALSE;
    result = enqueue(nccl, coll, counts, n_ranks, &peers[i]);
  }
  if (!result && group) result = nccl->group_end();
  return csim_nccl_check(nccl, result, csim_coll_name(coll), error);
}

/* --- data ------------------------------------------------------------------------- */

gboolean nccl_fill(Peer *p, const CsimNcclCounts *counts, GError **error) {
  const CsimCuda *c = p->gpu.cuda;
  unsigned long long n = counts->send, rank = (unsigned long long)p->rank;
  void *params[] = {&p->send, &n, &rank};
  return csim_gpu_use(&p->gpu, error) &&
         csim_cuda_check(c, c->memset8(p->recv, 0xff, counts->recv * ELEMENT), "clearing", error) &&
         csim_cuda_check(c, c->launch(p->gpu.fill, CHECK_BLOCKS, 1, 1, CHECK_THREADS, 1, 1, 0, p->gpu.stream, params, NULL),
                         "filling", error) &&
         csim_cuda_check(c, c->stream_sync(p->gpu.stream), "filling", error);
}

/* Element i of a result: the sum over n_sources ranks from first_source + i / block on of element first + i % block. */
typedef struct {
  unsigned long long block, first_source, n_sources, first;
} Expected;

/* FALSE: this rank receives nothing. */
static gboolean expected(CsimColl coll, const CsimNcclCounts *c, int n, int rank, Expected *out) {
  unsigned long long whole = MAX(c->recv, 1), part = MAX(c->param, 1), own = (unsigned long long)rank * c->param;
  switch (coll) {
  case CSIM_COLL_ALL_REDUCE: *out = (Expected){whole, 0, (unsigned)n, 0}; return TRUE;
  case CSIM_COLL_REDUCE: *out = (Expected){whole, 0, (unsigned)n, 0}; return rank == ROOT;
  case CSIM_COLL_REDUCE_SCATTER: *out = (Expected){whole, 0, (unsigned)n, own}; return TRUE;
  case CSIM_COLL_ALL_GATHER: *out = (Expected){part, 0, 1, 0}; return TRUE;
  case CSIM_COLL_GATHER: *out = (Expected){part, 0, 1, 0}; return rank == ROOT;
  case CSIM_COLL_SCATTER: *out = (Expected){whole, ROOT, 1, own}; return TRUE;
  case CSIM_COLL_ALLTOALL: *out = (Expected){part, 0, 1, own}; return TRUE;
  case CSIM_COLL_SENDRECV: *out = (Expected){whole, (unsigned)((rank + n - 1) % n), 1, 0}; return TRUE;
  default: *out = (Expected){whole, ROOT, 1, 0}; return TRUE; /* broadcast */
  }
}

gboolean nccl_verify(Peer *p, CsimColl coll, const CsimNcclCounts *counts, int n_ranks, guint64 *wrong, GError **error) {
  const CsimCuda *c = p->gpu.cuda;
  unsigned long long n = counts->recv;
  Expected e;
  *wrong = 0;
  if (!expected(coll, counts, n_ranks, p->rank, &e)) return TRUE;
  void *params[] = {&p->recv, &n, &e.block, &e.first_source, &e.n_sources, &e.first, &p->wrong};
  return csim_gpu_use(&p->gpu, error) && csim_cuda_check(c, c->memset8(p->wrong, 0, sizeof *wrong), "checking", error) &&
         csim_cuda_check(c, c->launch(p->gpu.check, CHECK_BLOCKS, 1, 1, CHECK_THREADS, 1, 1, 0, p->gpu.stream, params, NULL),
                         "checking", error) &&
         csim_cuda_check(c, c->to_host(wrong, p->wrong, sizeof *wrong, p->gpu.stream), "checking", error) &&
         csim_cuda_check(c, c->stream_sync(p->gpu.stream), "checking", error);
}
