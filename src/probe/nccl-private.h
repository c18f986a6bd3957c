/* probe/nccl-private.h - what nccl-run.c (parent), nccl-worker.c (children) and nccl-coll.c (collectives) share. */
#ifndef CSIM_PROBE_NCCL_PRIVATE_H
#define CSIM_PROBE_NCCL_PRIVATE_H

#include "probe/child.h"
#include "probe/cuda.h"
#include "probe/nccl-run.h"
#include "probe/nccl.h"


/* One rank in a worker. */
typedef struct {
  int rank;
  CsimGpu gpu;
  CsimCuPtr send, recv, wrong;
  CsimNcclComm comm;
} Peer;

/* What all ranks of a pass share. */
typedef struct {
  CsimChildHeader header;
  pthread_barrier_t barrier; /* of all workers */
  CsimNcclId id;
  CsimNcclFacts facts;
  double times[CSIM_PROBE_MAX_RANKS];  /* of the row under way: us of each worker */
  guint64 wrong[CSIM_PROBE_MAX_RANKS]; /* and wrong elements */
  guint n_rows;                        /* complete ones */
  CsimNcclRow rows[CSIM_PROBE_MAX_ROWS];
} Shared;

/* A pass: processes x threads x ranks a thread = n_ranks. */
typedef struct {
  const CsimNcclOptions *options;
  int n_ranks, n_gpus;
  int n_processes, n_threads, n_each;
  gboolean own_hosts; /* NCCL_HOSTID a host of n_gpus ranks (1 with netns) */
  gboolean dump;
  int iters, warmups;
} Pass;

/* A child of the pass. */
gboolean nccl_process(guint index, gpointer shared, gconstpointer pass, GError **error);

/* One call on all ranks of a worker. */
gboolean nccl_call(const CsimNccl *nccl, CsimColl coll, const CsimNcclCounts *counts, int n_ranks, Peer *peers, int n,
                   GError **error);
/* Fills what rank `peer` sends. */
gboolean nccl_fill(Peer *peer, const CsimNcclCounts *counts, GError **error);
/* Compares what it received; *wrong: elements. Root only for collectives that end there. */
gboolean nccl_verify(Peer *peer, CsimColl coll, const CsimNcclCounts *counts, int n_ranks, guint64 *wrong, GError **error);

#endif
