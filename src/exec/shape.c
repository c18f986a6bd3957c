/*
 * exec/shape.c - a communicator in the form that plans ask for.
 */
#include "exec/exec-private.h"

static int ring_position(const void *data, int channel, int rank) {
  const CsimExec *x = data;
  return csim_comm_ring_position(x->spec.comm, channel, rank);
}

static int ring_rank_at(const void *data, int channel, int position) {
  const CsimExec *x = data;
  return csim_comm_ring_rank_at(x->spec.comm, channel, position);
}

static void tree(const void *data, int channel, int rank, int *up, int down[3]) {
  const CsimExec *x = data;
  CsimTreeNode node = csim_comm_tree(x->spec.comm, channel, rank);
  *up = node.up;
  for (int i = 0; i < 3; i++) down[i] = node.down[i];
}

static int nvls_head(const void *data, int rank, int h) {
  const CsimExec *x = data;
  return csim_comm_nvls_head(x->spec.comm, rank, h);
}

static int node_ranks(const void *data, int rank, const int **ranks) {
  const CsimExec *x = data;
  int node = csim_comm_place(x->spec.comm, rank).node;
  *ranks = &x->node_ranks[x->node_first[node]];
  return (int)(x->node_first[node + 1] - x->node_first[node]);
}

static void nvls_tree(const void *data, int channel, int head_rank, int *up, int down[3]) {
  const CsimExec *x = data;
  CsimTreeNode node = csim_comm_nvls_tree(x->spec.comm, channel, head_rank);
  *up = node.up;
  for (int i = 0; i < 3; i++) down[i] = node.down[i];
}

static int node_of(const void *data, int rank) {
  const CsimExec *x = data;
  return csim_comm_place(x->spec.comm, rank).node;
}

static int node_first(const void *data, int node) {
  const CsimExec *x = data;
  return csim_comm_node_first(x->spec.comm, node);
}

static void chain(const void *data, int channel, int rank, int *up, int *down) {
  const CsimExec *x = data;
  csim_comm_chain(x->spec.comm, channel, rank, up, down);
}

static int direct_head(const void *data, int rank, int h) {
  const CsimExec *x = data;
  return csim_comm_direct_head(x->spec.comm, rank, h);
}

static gboolean p2p_round(const void *data, int rank, int round, int *send_to, int *recv_from) {
  const CsimExec *x = data;
  return csim_tuning_p2p_round(x->spec.tuning, rank, round, send_to, recv_from);
}

static void p2p_split(const void *data, int from, int to, CsimBytes bytes, int round, int *n_parts, CsimBytes *part,
                      CsimBytes *chunk, int *first_channel) {
  const CsimExec *x = data;
  CsimP2pSplit split;
  csim_tuning_p2p_split(x->spec.tuning, from, to, bytes, round, &split);
  *n_parts = split.n_parts;
  *part = split.part;
  *chunk = split.chunk;
  *first_channel = split.first_channel;
}

/* Ranks by node, for NVLS: node_first[node] .. node_first[node + 1] in node_ranks. */
static void list_nodes(CsimExec *x) {
  const CsimCommInfo *info = csim_comm_info(x->spec.comm);
  x->node_first = g_new0(uint32_t, info->n_nodes + 2);
  x->node_ranks = g_new(int, info->n_ranks);
  for (int r = 0; r < info->n_ranks; r++) x->node_first[csim_comm_place(x->spec.comm, r).node + 2]++;
  for (int n = 0; n < info->n_nodes; n++) x->node_first[n + 2] += x->node_first[n + 1];
  for (int r = 0; r < info->n_ranks; r++) x->node_ranks[x->node_first[csim_comm_place(x->spec.comm, r).node + 1]++] = r;
}

void exec_shape_init(CsimExec *x) {
  list_nodes(x);
  x->shape = (CsimShape){
    .n_ranks = csim_comm_info(x->spec.comm)->n_ranks,
    .data = x,
    .ring_position = ring_position,
    .ring_rank_at = ring_rank_at,
    .tree = tree,
    .n_heads = csim_comm_info(x->spec.comm)->nvls_heads,
    .nvls_head = nvls_head,
    .node_ranks = node_ranks,
    .nvls_tree = nvls_tree,
    .network = csim_comm_info(x->spec.comm)->n_collnet_channels > 0,
    .n_nodes = csim_comm_info(x->spec.comm)->n_nodes,
    .node_of = node_of,
    .node_first = node_first,
    .chain = chain,
    .n_direct_heads = csim_comm_info(x->spec.comm)->collnet_heads,
    .direct_head = direct_head,
    .p2p_round = p2p_round,
    .p2p_split = p2p_split,
  };
}
