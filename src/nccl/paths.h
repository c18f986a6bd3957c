/*
 * nccl/paths.h - best paths between the nodes of a system, as NCCL's paths.cc finds them.
 *
 * Used by: the channel search, the communicator, `collsim topo`.
 */
#ifndef CSIM_NCCL_PATHS_H
#define CSIM_NCCL_PATHS_H

#include "nccl/env.h"
#include "topo/system.h"

/* NCCL's path types; smaller is nearer. */
enum {
  CSIM_PATH_LOC = 0, CSIM_PATH_NVL = 1, CSIM_PATH_NVB = 2, CSIM_PATH_C2C = 3, CSIM_PATH_PIX = 4, CSIM_PATH_PXB = 5, CSIM_PATH_P2C = 6,
  CSIM_PATH_PXN = 7, CSIM_PATH_PHB = 8, CSIM_PATH_SYS = 9, CSIM_PATH_NET = 10, CSIM_PATH_DIS = 11
};
const char *csim_path_type_name(int type);

typedef struct {
  int type;   /* CSIM_PATH_* */
  float bw;   /* GB/s */
  int n_links; /* hops */
  CsimTopoLink **link; /* n_links, from source to destination; owned by the CsimPaths */
} CsimPath;

typedef struct CsimPaths CsimPaths;

/* What the paths depend on besides the graph. */
typedef struct {
  const CsimNcclEnv *env;
  gboolean inter; /* other nodes exist */
} CsimPathContext;

/* Computes the paths of `system` (not changed). */
CsimPaths *csim_paths_new(const CsimSystem *system, const CsimPathContext *context);
void csim_paths_free(CsimPaths *paths);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimPaths, csim_paths_free)
/* Path from node a to node b (types GPU, NET, CPU, NVS, DEV as in NCCL). Never NULL; type DIS if there is none. */
const CsimPath *csim_paths_get(const CsimPaths *paths, const CsimTopoNode *a, const CsimTopoNode *b);

/* Rules of NCCL on top of paths. */
gboolean csim_paths_p2p_ok(const CsimPaths *paths, const CsimTopoNode *gpu_a, const CsimTopoNode *gpu_b, gboolean *read);
gboolean csim_paths_gdr_ok(const CsimPaths *paths, const CsimTopoNode *gpu, const CsimTopoNode *net, gboolean send);
gboolean csim_paths_use_net(const CsimPaths *paths, const CsimTopoNode *gpu_a, const CsimTopoNode *gpu_b); /* NET instead of P2P inside a node */
/* ncclTopoGetLocalNet; NULL if none. */
const CsimTopoNode *csim_paths_local_net(const CsimPaths *paths, const CsimTopoNode *gpu, int channel);
/* Relay GPU of a PXN path gpu -> net, or NULL. */
const CsimTopoNode *csim_paths_pxn_gpu(const CsimPaths *paths, const CsimTopoNode *gpu, const CsimTopoNode *net);

#endif
