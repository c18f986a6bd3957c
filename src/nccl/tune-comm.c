/* What the cost table needs to know of a communicator. */
#include "nccl/tune-internal.h"

static CsimTuneGraph graph_of(const CsimComm *comm, int id) {
  const CsimGraph *g = csim_comm_graph(comm, id);
  if (!g || g->n_channels == 0) return (CsimTuneGraph){0};
  return (CsimTuneGraph){g->n_channels, g->same_channels, g->type_intra,   g->type_inter,
                         g->bw_intra,   g->bw_inter,      g->latency_inter};
}

void csim_tuning_input(const CsimComm *comm, CsimTuneInput *out) {
  const CsimCommInfo *info = csim_comm_info(comm);
  const CsimGraph *tree = csim_comm_graph(comm, CSIM_GRAPH_TREE);
  *out = (CsimTuneInput){.n_ranks = info->n_ranks,
                         .n_nodes = info->n_nodes,
                         .max_local_ranks = info->max_local_ranks,
                         .n_channels = info->n_channels,
                         .n_nvls_channels = info->n_nvls_channels,
                         .n_p2p_channels = info->n_p2p_channels,
                         .n_p2p_per_peer = info->n_p2p_per_peer,
                         .nvls_chunk = info->nvls_chunk,
                         .nvls_tree_max_chunk = info->nvls_tree_max_chunk,
                         .nvls_heads = info->nvls_heads,
                         .collnet_heads = info->collnet_heads,
                         .min_sm = info->min_sm,
                         .max_sm = info->max_sm,
                         .cpu_arch = info->cpu_arch,
                         .cpu_vendor = info->cpu_vendor,
                         .tree_pattern = tree ? tree->pattern : 0,
                         .coll_net = info->n_collnet_channels > 0,
                         .sharp_generation = info->sharp_generation,
                         .nvswitch = csim_system_n(csim_comm_system(comm, 0), CSIM_NODE_NVS) > 0,
                         .all_nvlink = info->all_nvlink};
  for (int g = 0; g < CSIM_N_GRAPHS; g++) out->graph[g] = graph_of(comm, g);
}

CsimTuning *csim_tuning_new(const CsimComm *comm, const CsimNcclEnv *env, GError **error) {
  CsimTuneInput in;
  csim_tuning_input(comm, &in);
  return csim_tuning_from_input(&in, comm, env);
}
