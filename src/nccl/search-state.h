/*
 * nccl/search-state.h - the flattened system that the channel search works on. Private to search*.c.
 *
 * The search takes bandwidth from links and gives it back millions of times, so links and paths are copied
 * once into plain arrays: a link is an index, a path a run of link indices. The system itself stays
 * unchanged.
 */
#ifndef CSIM_NCCL_SEARCH_STATE_H
#define CSIM_NCCL_SEARCH_STATE_H

#include "nccl/graph.h"

typedef struct {
  float bw;    /* GB/s left */
  int reverse; /* link of the same type back, -1 none */
  gboolean pci;
  gboolean old_gpu;   /* enters a physical GPU below sm 80 */
  gboolean power_nvl; /* NVLink into a POWER CPU */
} CsimSearchLink;

typedef struct {
  int type;
  float bw;
  int first, n_links; /* run in CsimSearch.hops */
  gboolean intel;     /* leads through an Intel CPU */
} CsimSearchPath;

typedef struct {
  int *net, n;
} CsimNetList;

/* Place of a path: which kind of node it starts from and ends at. */
typedef enum { CSIM_FROM_GPU, CSIM_FROM_NET, CSIM_FROM_NVS } CsimSearchEnd;

/* A solution or the one being built: parameters and channels. */
typedef struct {
  int pattern, cross_nic, coll_net, min_channels, max_channels;
  int n_channels, same_channels, type_intra, type_inter, n_hops;
  float bw_intra, bw_inter, latency_inter;
  int *intra; /* [channel * n_gpus + step] */
  int inter[CSIM_MAX_CHANNELS * 2];
} CsimCandidate;

struct CsimSearch {
  const CsimSystem *system;
  const CsimPaths *paths;
  const CsimNcclEnv *env;
  CsimSearchLimits limits;
  int n_gpus, n_nets, n_hosts;
  gboolean has_nvs, scatter_nets, rail_per_host, own_nets_only;

  CsimSearchLink *links;
  int n_links;
  GHashTable *first_link; /* CsimTopoNode* -> index of its first link + 1 */
  GArray *hops;           /* int */
  CsimSearchPath *gpu_gpu, *gpu_net, *net_gpu, *nvs_gpu, *gpu_nvs;

  float *net_bw;                       /* GB/s left a NIC */
  float *gpu_pci_bw;                   /* GB/s of a GPU's own PCI link, -1 none */
  int (*local_net)[CSIM_MAX_CHANNELS]; /* [gpu][channel]: NET index or -1 */
  int *net_local_gpu;                  /* ncclTopoGetLocalGpu, -1 none */
  CsimNetList *near_gpus;              /* [net]: GPUs of best bandwidth and type */
  CsimNetList *select;                 /* cache: [(gpu + 1) * (DIS + 1) + type_inter] */
  uint64_t *used;                      /* [gpu] one bit a channel */
  GArray *scratch;                     /* int stack of the recursion */
  int time;                            /* visits left in this attempt; -1: perfect */

  CsimCandidate work, best;
};

const CsimSearchPath *csim_search_path(const CsimSearch *s, CsimSearchEnd from, int a, CsimSearchEnd to,
                                       int b);
/* Takes `mult` times the channel's bandwidth from every link of the path (gives it back when negative);
 * FALSE, with nothing changed, if the path's type is too far or a link has too little left (fact sheet 2.4,
 * ncclTopoFollowPath). */
gboolean csim_search_follow(CsimSearch *s, CsimSearchEnd from, int a, CsimSearchEnd to, int b, float mult);
/* ncclTopoSelectNets: candidate NICs of a GPU, or of all GPUs (gpu -1), for the current typeInter. */
const CsimNetList *csim_search_select_nets(CsimSearch *s, int gpu);
/* ncclTopoSearchNextGpuSort: writes at most n_gpus indices to next, returns how many. sort_net: 1 the next
 * step returns to the NIC, -1 a later one does, 0 none. */
int csim_search_next_gpus(CsimSearch *s, int gpu, int *next, int sort_net);
/* One attempt: fills s->best if s->work's parameters lead to something better. */
void csim_search_attempt(CsimSearch *s, int time);

void csim_candidate_reset(CsimCandidate *c);
void csim_candidate_copy(CsimCandidate *to, const CsimCandidate *from, int n_gpus);

#endif
