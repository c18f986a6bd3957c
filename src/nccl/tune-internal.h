/*
 * nccl/tune-internal.h - inside of CsimTuning, and the plain numbers that the cost table is computed from.
 *
 * Used by: tune*.c, enqueue.c, p2p.c, json-tuning.c; tests fill a CsimTuneInput by hand.
 */
#ifndef CSIM_NCCL_TUNE_INTERNAL_H
#define CSIM_NCCL_TUNE_INTERNAL_H

#include "nccl/tune.h"

#define CSIM_STEPS 8 /* slots of a connection (NCCL_STEPS) */

/* A search result, as far as the cost table looks at it. n_channels: of the search, before NCCL doubles it. */
typedef struct {
  int n_channels, same_channels, type_intra, type_inter;
  float bw_intra, bw_inter, latency_inter;
} CsimTuneGraph;

typedef struct {
  int n_ranks, n_nodes, max_local_ranks;
  int n_channels, n_nvls_channels, n_p2p_channels, n_p2p_per_peer; /* of the communicator */
  int nvls_chunk, nvls_tree_max_chunk, nvls_heads, collnet_heads;
  int min_sm, max_sm, cpu_arch, cpu_vendor;
  int tree_pattern;    /* largest pattern among the nodes' tree graphs */
  gboolean coll_net;   /* CollNet is on, and its plugin offers all-gather and reduce-scatter */
  int sharp_generation; /* of the network that reduces: 3 and later know more types */
  gboolean nvswitch;   /* the node has one */
  gboolean all_nvlink; /* every GPU pair of the node */
  CsimTuneGraph graph[CSIM_N_GRAPHS];
} CsimTuneInput;

struct CsimTuning {
  CsimTuneInput in;
  const CsimComm *comm; /* NULL in tests: ranks numbered node by node, all nodes alike */
  CsimTuneEntry entry[CSIM_N_NCCL_FUNCS][CSIM_N_ALGOS][CSIM_N_PROTOS];
  int max_threads[CSIM_N_ALGOS][CSIM_N_PROTOS];
  int threshold[CSIM_N_ALGOS][CSIM_N_PROTOS];
  CsimBytes buffer[CSIM_N_PROTOS];
  /* send/recv */
  CsimBytes p2p_chunk;             /* one step of Simple */
  CsimBytes p2p_chunk_forced;      /* NCCL_CHUNK_SIZE, 0 if not given */
  CsimBytes p2p_ll_threshold;      /* a channel */
  gboolean p2p_net_ll;             /* LL buffers exist on network connections */
  int p2p_group;                   /* ranks of a group of the schedule */
  GArray *p2p_delta;               /* int: group distance of each phase */
  int *p2p_position, *p2p_rank_at; /* rank -> place in node order, and back; n_ranks each */
};

/* As csim_tuning_new, from plain numbers. comm may be NULL, else it must outlive the result. */
CsimTuning *csim_tuning_from_input(const CsimTuneInput *in, const CsimComm *comm, const CsimNcclEnv *env);
void csim_tuning_input(const CsimComm *comm, CsimTuneInput *out);

/* csim_nccl_env_check_comm on plain numbers; nvls: NVLS is available. */
void csim_env_check_input(const CsimNcclEnv *env, const CsimTuneInput *in, gboolean nvls, CsimDiag *diag);

/* Fill parts of t; t->in must be set. */
void csim_tune_fill_table(CsimTuning *t, const CsimNcclEnv *env);
void csim_tune_fill_buffers(CsimTuning *t, const CsimNcclEnv *env);
void csim_tune_fill_p2p(CsimTuning *t, const CsimNcclEnv *env);

/* Channels and threads of a call (n_bytes as csim_tuning_choose). */
void csim_tune_call_size(const CsimTuning *t, CsimAlgo algo, CsimProto proto, CsimBytes n_bytes,
                         int *n_channels, int *n_threads);

static inline int csim_log2_floor(int64_t n) {
  return n < 1 ? -1 : (int)g_bit_storage((gulong)n) - 1;
}

#endif
