/*
 * nccl/comm-private.h - how a communicator is stored. Private to comm*.c.
 *
 * Machines of one kind (same system, same GPUs) share a CsimCommKind; a kind falls into parts (NCCL's nodes:
 * GPUs that reach each other without the network), and each part is searched once, as a CsimCommClass. A node
 * of the job is then only (class, machine), and ranks follow by arithmetic: rank = first rank of the machine
 * + the GPU's place in its machine.
 */
#ifndef CSIM_NCCL_COMM_PRIVATE_H
#define CSIM_NCCL_COMM_PRIVATE_H

#include "nccl/comm.h"
#include "nccl/trees.h"

typedef struct {
  CsimSystem *system; /* trimmed to this part's GPUs; gpu.rank is the place in the machine */
  CsimPaths *paths;
  CsimSearchLimits limits;
  CsimSearch *search;
  CsimGraph graph[CSIM_N_GRAPHS];
  int n_gpus;
  int *place;               /* [GPU index] place among the machine's ranks */
  int *net_full;            /* [NET index] NET index in the cluster's system */
  int *ring_pos, *tree_pos; /* [channel * n_gpus + GPU]: position in the graph's order */
  int n_nvls_heads, nvls_head[CSIM_MAX_CHANNELS];     /* GPU indices, distinct, in channel order */
  int n_direct_heads, direct_head[CSIM_MAX_CHANNELS]; /* the same of CollNetDirect */
} CsimCommClass;

typedef struct {
  const CsimSystem *full;
  CsimSystem *work; /* only the GPUs that take part */
  int n_ranks;
  int *gpu_full;    /* [place] GPU index in `full` */
  int *part, *gpu;  /* [place] part, and GPU index in the part's class */
  GPtrArray *parts; /* CsimCommClass*, by their lowest place */
} CsimCommKind;

typedef struct {
  const CsimCommClass *cls;
  int first_rank;  /* of the machine */
  int ring_offset; /* ranks on nodes before this one */
} CsimCommNode;

struct CsimComm {
  const CsimCluster *cluster;
  const CsimNcclEnv *env;
  CsimCommInfo info;
  GPtrArray *kinds;        /* CsimCommKind*, by system; NULL where unused */
  int *machine_rank;       /* [machine] first rank; [n_machines] n_ranks */
  int *machine_node;       /* [machine] first node */
  uint32_t *rank_machine;  /* [rank] */
  uint32_t *position_node; /* [position in node order] */
  CsimCommNode *node;
  GPtrArray *classes;              /* const CsimCommClass*, distinct, in node order */
  CsimGraph agreed[CSIM_N_GRAPHS]; /* of the first node, with the values all agreed on; arrays are the class's
                                    */
  int n_search_channels;
  int base[CSIM_MAX_CHANNELS]; /* runtime channel -> 0..2n-1: search channel, and tree 0 or 1 */
  gboolean coll_net;
  struct { int pxn_level; gboolean pxn_c2c, same_rail; } p2p; /* variables that send and receive ask for, once a pair */
};

void csim_comm_read_p2p(CsimComm *c); /* comm-conn.c */

static inline const CsimCommKind *csim_comm_kind(const CsimComm *c, guint machine) {
  return (const CsimCommKind *)g_ptr_array_index(c->kinds, c->cluster->node_system[machine]);
}

/* A rank as (node, GPU index in the node's class). */
typedef struct {
  int node, gpu;
} CsimCommSpot;
CsimCommSpot csim_comm_spot(const CsimComm *c, int rank);
static inline const CsimCommClass *csim_comm_class(const CsimComm *c, guint i) {
  return (const CsimCommClass *)g_ptr_array_index(c->classes, i);
}
static inline int csim_comm_rank(const CsimCommNode *node, int gpu) {
  return node->first_rank + node->cls->place[gpu];
}

/* What building the kinds needs besides the system. */
typedef struct {
  const CsimCommSpec *spec;
  CsimDiag *diag;
  int n_ranks;
  gboolean coll_net;
} CsimCommBuild;

/* comm-class.c: kind of machine; NULL with an error (no such GPU, none left). */
CsimCommKind *csim_comm_kind_new(const CsimCommSpec *spec, const CsimSystem *system, GError **error);
/* Parts, paths and searches, once the size of the job is known. */
gboolean csim_comm_kind_search(CsimCommKind *kind, const CsimCommBuild *build, GError **error);
void csim_comm_kind_free(CsimCommKind *kind);

/* comm-agree.c: what all ranks agree on, and the numbers of channels. */
void csim_comm_agree(CsimComm *c);
void csim_comm_count_channels(CsimComm *c);
int csim_comm_ctas(const CsimNcclEnv *env, gboolean max); /* NCCL_MAX_CTAS or NCCL_MIN_CTAS */
/* comm-nvls.c: NVLS channels, heads and chunks; CollNet heads. */
void csim_comm_nvls_setup(CsimComm *c);
/* comm-p2p.c: send/recv channels. */
void csim_comm_p2p_setup(CsimComm *c);

/* comm-notes.c: findings about the finished communicator. sharp: the fabric is said to reduce. */
void csim_comm_notes(const CsimComm *c, gboolean sharp, CsimDiag *diag);


#endif
