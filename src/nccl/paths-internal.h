/* nccl/paths-internal.h - the table behind CsimPaths. Private to src/nccl/paths*.c. */
#ifndef CSIM_NCCL_PATHS_INTERNAL_H
#define CSIM_NCCL_PATHS_INTERNAL_H

#include "nccl/paths.h"

#define CSIM_PATHS_CHANNELS 64 /* MAXCHANNELS */

struct CsimPaths {
  const CsimSystem *system;
  CsimPathContext context;
  guint n_nodes;
  guint first[CSIM_N_NODE_TYPES]; /* dense number of a type's first node */
  CsimPath *table;                /* [from * n_nodes + to] */
  guint8 *via;                    /* CsimVia, [from GPU * n_gpus + to GPU] */
  int *relay;                     /* GPU index of a PXN path's relay, -1 none: [GPU * n_nets + net] */
  GError *error;                  /* where NCCL would have given up */
  /* Answers that are asked for once a pair of ranks, once nothing changes any more; NULL before. */
  int *local_net;                 /* [GPU * CSIM_PATHS_CHANNELS + channel]: NET index, -1 none */
  int *local_gpu;                 /* [NET]: GPU index, -1 none */
  guint8 *gdr;                    /* [(GPU * n_nets + net) * 2 + send] */
};

static inline guint csim_paths_number(const CsimPaths *p, const CsimTopoNode *node) {
  return p->first[node->type] + (guint)node->index;
}
static inline CsimPath *csim_paths_at(const CsimPaths *p, const CsimTopoNode *from, const CsimTopoNode *to) {
  return &p->table[(gsize)csim_paths_number(p, from) * p->n_nodes + csim_paths_number(p, to)];
}
static inline guint csim_paths_n(const CsimPaths *p, CsimNodeType t) {
  return csim_system_n(p->system, t);
}
static inline CsimTopoNode *csim_paths_node(const CsimPaths *p, CsimNodeType t, guint i) {
  return csim_system_node(p->system, t, i);
}

/* What NCCL changes after the search: P2P and GDR that may not be used, P2C, PXN (paths-edit.c). */
gboolean csim_paths_edit(CsimPaths *p);
/* Fills the tables of answers (paths-rules.c). */
void csim_paths_remember(CsimPaths *p);

#endif
