/*
 * nccl/paths.h - best paths between the nodes of a system, as NCCL's paths.cc finds them.
 *
 * Used by: the channel search, the communicator, `collsim topo`.
 *
 * NCCL computes paths twice: over the whole machine, then, after the GPUs that its own rank cannot reach by P2P or SHM have been trimmed, again.
 * csim_paths_new is one such computation; the communicator cuts the system between the two (csim_paths_domains says where).
 * A CsimPaths points into its system, which must outlive it.
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
  gboolean inter; /* other nodes exist; the paths do not depend on it */
  gboolean split_hosts; /* hosts of one XML do not form an NVLink domain: no P2P between them */
} CsimPathContext;

/* Computes the paths of `system` (not changed). Never NULL; see csim_paths_check. */
CsimPaths *csim_paths_new(const CsimSystem *system, const CsimPathContext *context);
/* FALSE and CSIM_ERROR_NCCL where NCCL would have given up (a link without a way back, a GPU without a CPU); the paths are incomplete then. */
gboolean csim_paths_check(const CsimPaths *paths, GError **error);
void csim_paths_free(CsimPaths *paths);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimPaths, csim_paths_free)
/* Path from node a to node b (types GPU, NET, CPU, NVS, DEV as in NCCL). Never NULL; type DIS if there is none. */
const CsimPath *csim_paths_get(const CsimPaths *paths, const CsimTopoNode *a, const CsimTopoNode *b);

const CsimSystem *csim_paths_system(const CsimPaths *paths);

/* What carries data between two GPUs of the machine. */
typedef enum { CSIM_VIA_SELF, CSIM_VIA_P2P, CSIM_VIA_SHM, CSIM_VIA_NET } CsimVia;
CsimVia csim_paths_via(const CsimPaths *paths, const CsimTopoNode *from, const CsimTopoNode *to);
/* domain[g], one entry a GPU of the system: GPUs of one number stay together; a rank's node is the GPUs with its own number, and the others
 * are removed from its system (ncclTopoTrimSystem). Numbers are GPU indices, not dense. Returns how many there are. */
guint csim_paths_domains(const CsimPaths *paths, int *domain);

/* Nodes of type `of` that are best for `node` (widest path, then nearest type), by index; returns how many, at most max are written.
 * All of them at DIS when there is no path at all. */
guint csim_paths_locals(const CsimPaths *paths, const CsimTopoNode *node, CsimNodeType of, int *out, guint max);
/* CPU with the fewest hops from a GPU; NULL if none. */
const CsimTopoNode *csim_paths_local_cpu(const CsimPaths *paths, const CsimTopoNode *gpu);
/* GPU that a NIC belongs to (ncclTopoGetLocalGpu), NULL if none. */
const CsimTopoNode *csim_paths_local_gpu(const CsimPaths *paths, const CsimTopoNode *net);

/* Rules of NCCL on top of paths. */
gboolean csim_paths_p2p_ok(const CsimPaths *paths, const CsimTopoNode *gpu_a, const CsimTopoNode *gpu_b, gboolean *read);
gboolean csim_paths_gdr_ok(const CsimPaths *paths, const CsimTopoNode *gpu, const CsimTopoNode *net, gboolean send);
gboolean csim_paths_use_net(const CsimPaths *paths, const CsimTopoNode *gpu_a, const CsimTopoNode *gpu_b); /* NET instead of P2P inside a node */
/* ncclTopoGetLocalNet; NULL if none. */
const CsimTopoNode *csim_paths_local_net(const CsimPaths *paths, const CsimTopoNode *gpu, int channel);
/* Relay GPU of a PXN path gpu -> net, or NULL. */
const CsimTopoNode *csim_paths_pxn_gpu(const CsimPaths *paths, const CsimTopoNode *gpu, const CsimTopoNode *net);

#endif
