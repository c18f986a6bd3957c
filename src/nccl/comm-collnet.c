/* CollNet: chains, heads, and the NICs by which heads reach the network (fact sheet 3.5). */
#include "nccl/comm-private.h"

/* The chain graph's order on a node for a runtime channel. */
static const int *chain_of(const CsimComm *c, const CsimCommClass *cls, int channel) {
  int n = c->agreed[CSIM_GRAPH_COLLNET_CHAIN].n_channels;
  return &cls->graph[CSIM_GRAPH_COLLNET_CHAIN].intra[channel % n * cls->n_gpus];
}

void csim_comm_chain(const CsimComm *c, int channel, int rank, int *up, int *down) {
  CsimCommSpot at = csim_comm_spot(c, rank);
  const CsimCommNode *node = &c->node[at.node];
  const int *gpus = chain_of(c, node->cls, channel);
  int i = 0;
  while (gpus[i] != at.gpu) i++;
  *up = i > 0 ? csim_comm_rank(node, gpus[i - 1]) : -1;
  *down = i + 1 < node->cls->n_gpus ? csim_comm_rank(node, gpus[i + 1]) : -1;
}

int csim_comm_direct_head(const CsimComm *c, int rank, int h) {
  const CsimCommNode *node = &c->node[csim_comm_spot(c, rank).node];
  return csim_comm_rank(node, node->cls->direct_head[h]);
}

int csim_comm_node_first(const CsimComm *c, int node) {
  return csim_comm_rank(&c->node[node], 0);
}

/* NIC number `channel` of those channels of the graph that begin at the GPU. */
static int head_net(const CsimCommClass *cls, int graph, int channel, int gpu) {
  const CsimGraph *g = &cls->graph[graph];
  int nets[CSIM_MAX_CHANNELS], n = 0;
  for (int k = 0; k < g->n_channels; k++)
    if (g->intra[k * cls->n_gpus] == gpu) nets[n++] = g->inter[2 * k];
  return n > 0 ? nets[channel % n] : -1;
}

CsimConn csim_comm_collnet(const CsimComm *c, int graph, int channel, int rank) {
  CsimCommSpot at = csim_comm_spot(c, rank);
  const CsimCommClass *cls = c->node[at.node].cls;
  int n = c->agreed[graph].n_channels;
  int index = graph == CSIM_GRAPH_COLLNET_CHAIN ? cls->graph[graph].inter[2 * (channel % n)]
                                                : head_net(cls, graph, channel, at.gpu);
  CsimConn conn = {.kind = CSIM_CONN_COLLNET, .send_net = -1, .recv_net = -1, .pxn_rank = -1};
  if (index < 0) return conn;
  const CsimTopoNode *net = csim_system_node(cls->system, CSIM_NODE_NET, index);
  const CsimTopoNode *gpu = csim_system_node(cls->system, CSIM_NODE_GPU, at.gpu);
  conn.send_net = conn.recv_net = cls->net_full[index];
  conn.send_gdr = csim_paths_gdr_ok(cls->paths, gpu, net, TRUE);
  conn.recv_gdr = csim_paths_gdr_ok(cls->paths, gpu, net, FALSE);
  return conn;
}
