/*
 * nccl/graph.h - the channel search (ncclTopoCompute) and its result.
 *
 * Used by: the communicator, `collsim graph`. One result a pattern and node kind.
 */
#ifndef CSIM_NCCL_GRAPH_H
#define CSIM_NCCL_GRAPH_H

#include "nccl/paths.h"

enum {
  CSIM_PATTERN_BALANCED_TREE = 1,
  CSIM_PATTERN_SPLIT_TREE = 2,
  CSIM_PATTERN_TREE = 3,
  CSIM_PATTERN_RING = 4,
  CSIM_PATTERN_NVLS = 5,
  CSIM_PATTERN_COLLNET_DIRECT = 6
};
enum {
  CSIM_GRAPH_RING,
  CSIM_GRAPH_TREE,
  CSIM_GRAPH_COLLNET_CHAIN,
  CSIM_GRAPH_NVLS,
  CSIM_GRAPH_COLLNET_DIRECT,
  CSIM_N_GRAPHS
}; /* = NCCL graph ids */

#define CSIM_MAX_CHANNELS 64
#define CSIM_MAX_GRAPH_GPUS 576

typedef struct {
  int id, pattern, cross_nic, coll_net;
  int min_channels, max_channels;
  int n_channels;           /* 0: not searched or not found */
  float bw_intra, bw_inter; /* GB/s a channel */
  float latency_inter;      /* us */
  int type_intra, type_inter;
  int same_channels;
  int n_hops;
  int n_gpus;
  int *intra; /* [channel * n_gpus + i]: GPU index in the (trimmed) system; NVLS: only i = 0 */
  int inter[CSIM_MAX_CHANNELS * 2]; /* NET index of entry and exit, -1 none */
} CsimGraph;

typedef struct {
  float max_bw, total_bw;
  gboolean inter;
  int min_sm, max_sm;
} CsimSearchLimits;
void csim_search_limits(const CsimSystem *system, const CsimPaths *paths, gboolean inter,
                        CsimSearchLimits *out);

/*
 * A search over one system. It takes bandwidth from its own copy of the links and gives it back; because NCCL
 * does so in rounded floats, a link may end a little above where it began, and the next graph is searched on
 * that. Graphs must therefore be searched in NCCL's order: ring, tree, CollNet chain, CollNet direct, NVLS.
 * The arguments must outlive it.
 */
typedef struct CsimSearch CsimSearch;
CsimSearch *csim_search_new(const CsimSystem *system, const CsimPaths *paths, const CsimSearchLimits *limits,
                            const CsimNcclEnv *env);
void csim_search_free(CsimSearch *search);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimSearch, csim_search_free)
/* Searches into *graph, whose id, pattern, coll_net, min/max_channels are set. Never fails: no solution gives
 * NCCL's own fallback. */
void csim_search_graph(CsimSearch *search, CsimGraph *graph);
/* What is left on the i-th link of a node now, GB/s (as NCCL's dumps after the search show it). */
float csim_search_link_bw(const CsimSearch *search, const CsimTopoNode *node, guint i);

void csim_graph_finish(CsimGraph *graph); /* frees what it owns */

#endif
