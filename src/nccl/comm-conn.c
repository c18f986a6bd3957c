/* How two ranks talk: transport, NICs, GPUDirect, relay (fact sheet 1.7, 5.1, 5.8). */
#include "nccl/comm-private.h"

/* NCCL_P2P_PXN_LEVEL: send/recv over a relay never, where the path to the NIC is PXN, or by any GPU beside
 * it. */
enum { PXN_P2P_OFF, PXN_P2P_PATH, PXN_P2P_ANY };

typedef struct {
  const CsimCommClass *cls;
  int gpu;
  const CsimTopoNode *node;
} End;

static End end_of(const CsimComm *c, int rank) {
  CsimCommSpot at = csim_comm_spot(c, rank);
  const CsimCommClass *cls = c->node[at.node].cls;
  return (End){cls, at.gpu, csim_system_node(cls->system, CSIM_NODE_GPU, at.gpu)};
}

static int full_net(const CsimCommClass *cls, const CsimTopoNode *net) {
  return net ? cls->net_full[net->index] : -1;
}

/* ---- Collective connections: NICs of the graph ---- */

/* The graph's entry NIC for the GPU that is first in the channel, else its exit NIC. */
static const CsimTopoNode *graph_net(const CsimCommClass *cls, int graph, int k, int gpu) {
  const CsimGraph *g = &cls->graph[graph];
  int net = g->inter[2 * k + (g->intra[k * cls->n_gpus] == gpu ? 0 : 1)];
  return net >= 0 ? csim_system_node(cls->system, CSIM_NODE_NET, net) : NULL;
}

/* NVLS: every head is at work on every channel and talks through its own NICs, those of the graph's channels
 * that begin with it, channel by channel in turn. NULL: no channel begins with this GPU. */
static const CsimTopoNode *head_net(const CsimCommClass *cls, int channel, int gpu) {
  const CsimGraph *g = &cls->graph[CSIM_GRAPH_NVLS];
  int mine[CSIM_MAX_CHANNELS], n = 0;
  for (int k = 0; k < g->n_channels && n < CSIM_MAX_CHANNELS; k++)
    if (g->intra[k * cls->n_gpus] == gpu && g->inter[2 * k] >= 0) mine[n++] = g->inter[2 * k];
  return n > 0 ? csim_system_node(cls->system, CSIM_NODE_NET, mine[channel % n]) : NULL;
}

static const CsimTopoNode *coll_net(const CsimCommClass *cls, int graph, int channel, int n_channels, int gpu) {
  const CsimTopoNode *net = graph == CSIM_GRAPH_NVLS ? head_net(cls, channel, gpu) : NULL;
  return net ? net : graph_net(cls, graph, channel % n_channels, gpu);
}

/* In an NVLink domain of several hosts every head takes part in every channel, also in those whose NIC hangs on another host. Nothing drives
 * a NIC of another host, so the head's own is taken (our reading; no log of several domains shows it). */
static const CsimTopoNode *drivable(const End *end, const CsimTopoNode *net, int channel) {
  if (!net || csim_node_host(net) == csim_node_host(end->node)) return net;
  return csim_paths_local_net(end->cls->paths, end->node, channel);
}

/* ---- Send/recv connections ---- */

/* The local GPU that has the same NVML index as the peer, if this node has one. */
static const CsimTopoNode *same_dev(const CsimCommClass *cls, int dev) {
  for (int g = 0; g < cls->n_gpus; g++) {
    const CsimTopoNode *gpu = csim_system_node(cls->system, CSIM_NODE_GPU, g);
    if (gpu->gpu.dev == dev) return gpu;
  }
  return NULL;
}

/* A relay must hang on NVLink, be near its NIC, and be able to use GPUDirect there. */
static gboolean can_relay(const CsimComm *c, const End *from, const CsimTopoNode *relay,
                          const CsimTopoNode *net) {
  return csim_paths_get(from->cls->paths, from->node, relay)->type <= CSIM_PATH_NVL &&
         csim_paths_get(from->cls->paths, relay, net)->type <= (c->p2p.pxn_c2c ? CSIM_PATH_P2C : CSIM_PATH_PXB) &&
         csim_node_host(relay) == csim_node_host(from->node) &&
         csim_paths_gdr_ok(from->cls->paths, relay, net, TRUE);
}

void csim_comm_read_p2p(CsimComm *c) {
  c->p2p.pxn_level = (int)csim_nccl_env_int(c->env, "NCCL_P2P_PXN_LEVEL", PXN_P2P_ANY);
  if (csim_nccl_env_int(c->env, "NCCL_PXN_DISABLE", 0) != 0) c->p2p.pxn_level = PXN_P2P_OFF;
  c->p2p.pxn_c2c = csim_nccl_env_int(c->env, "NCCL_PXN_C2C", 1) != 0;
  c->p2p.same_rail = csim_nccl_env_int(c->env, "NCCL_CROSS_NIC", 2) == 0;
}

/* May data for the peer's rail leave through `net`, and by which GPU (NULL: the sender itself)? */
static gboolean may_use(const CsimComm *c, const End *from, const CsimTopoNode *net, int level,
                        const CsimTopoNode **relay) {
  const CsimPaths *paths = from->cls->paths;
  if (level == PXN_P2P_PATH) {
    *relay = csim_paths_pxn_gpu(paths, from->node, net);
    return csim_paths_get(paths, from->node, net)->type <= CSIM_PATH_PXN;
  }
  const CsimTopoNode *beside = level == PXN_P2P_ANY ? csim_paths_local_gpu(paths, net) : NULL;
  if (!beside || !can_relay(c, from, beside, net)) return FALSE;
  *relay = beside == from->node ? NULL : beside;
  return TRUE;
}

/* The NIC that the peer's rail uses here, if it can be reached well, else the own one. */
static const CsimTopoNode *p2p_send_net(const CsimComm *c, const End *from, const End *to, int channel,
                                        const CsimTopoNode **relay) {
  const CsimPaths *paths = from->cls->paths;
  const CsimTopoNode *own = csim_paths_local_net(paths, from->node, channel);
  int level = c->p2p.pxn_level;
  gboolean same_rail = c->p2p.same_rail;
  const CsimTopoNode *twin =
      level != PXN_P2P_OFF || same_rail ? same_dev(from->cls, to->node->gpu.dev) : NULL;
  const CsimTopoNode *net = twin ? csim_paths_local_net(paths, twin, channel) : NULL;
  if (!net) return own;
  if (may_use(c, from, net, level, relay)) return net;
  return same_rail ? net : own;
}

/* ---- Putting it together ---- */

static CsimConn net_conn(const CsimComm *c, int channel, int from, int to, int graph) {
  End a = end_of(c, from), b = end_of(c, to);
  const CsimTopoNode *relay = NULL, *send, *recv;
  if (graph < 0) {
    send = p2p_send_net(c, &a, &b, channel, &relay);
    recv = csim_paths_local_net(b.cls->paths, b.node, channel);
  } else {
    int n = c->agreed[graph].n_channels;
    send = n > 0 ? drivable(&a, coll_net(a.cls, graph, channel, n, a.gpu), channel) : NULL;
    recv = n > 0 ? drivable(&b, coll_net(b.cls, graph, channel, n, b.gpu), channel) : NULL;
    if (send) relay = csim_paths_pxn_gpu(a.cls->paths, a.node, send);
  }
  const CsimTopoNode *sender = relay ? relay : a.node;
  CsimConn conn = {.kind = CSIM_CONN_NET,
                   .send_net = full_net(a.cls, send),
                   .recv_net = full_net(b.cls, recv),
                   .pxn_rank = -1};
  conn.send_gdr = send && csim_paths_gdr_ok(a.cls->paths, sender, send, TRUE);
  conn.recv_gdr = recv && csim_paths_gdr_ok(b.cls->paths, b.node, recv, FALSE);
  if (relay) conn.pxn_rank = csim_comm_rank(&c->node[csim_comm_spot(c, from).node], relay->index);
  return conn;
}

static CsimConn local_conn(const End *a, const End *b, CsimVia via) {
  CsimConn conn = {.kind = via == CSIM_VIA_P2P ? CSIM_CONN_P2P : CSIM_CONN_SHM,
                   .send_net = -1,
                   .recv_net = -1,
                   .pxn_rank = -1};
  conn.path_type = csim_paths_get(a->cls->paths, a->node, b->node)->type;
  if (via == CSIM_VIA_P2P) csim_paths_p2p_ok(a->cls->paths, a->node, b->node, &conn.read);
  return conn;
}

static CsimVia via_of(const CsimComm *c, int from, int to) {
  if (csim_comm_spot(c, from).node != csim_comm_spot(c, to).node) return CSIM_VIA_NET;
  End a = end_of(c, from), b = end_of(c, to);
  return csim_paths_via(a.cls->paths, a.node, b.node);
}

gboolean csim_comm_over_network(const CsimComm *c, int from, int to) {
  return from != to && via_of(c, from, to) == CSIM_VIA_NET;
}

/* graph < 0: send/recv. */
static CsimConn any_conn(const CsimComm *c, int channel, int from, int to, int graph) {
  if (from == to) return (CsimConn){.kind = CSIM_CONN_SELF, .send_net = -1, .recv_net = -1, .pxn_rank = -1};
  CsimVia via = via_of(c, from, to);
  if (via == CSIM_VIA_NET) return net_conn(c, channel, from, to, graph);
  End a = end_of(c, from), b = end_of(c, to);
  return local_conn(&a, &b, via);
}

CsimConn csim_comm_conn_graph(const CsimComm *c, int graph, int channel, int from, int to) {
  return any_conn(c, channel, from, to, graph);
}

static gboolean are_ring_neighbours(const CsimComm *c, int channel, int from, int to) {
  int n = c->info.n_ranks;
  return csim_comm_ring_position(c, channel, to) == (csim_comm_ring_position(c, channel, from) + 1) % n;
}

static gboolean are_tree_neighbours(const CsimComm *c, int channel, int a, int b) {
  CsimTreeNode t = csim_comm_tree(c, channel, a);
  return t.up == b || t.down[0] == b || t.down[1] == b || t.down[2] == b;
}

/* Which graph's NICs join the two: that of the ring or tree in which they are neighbours, else NVLS's. */
static int joining_graph(const CsimComm *c, int channel, int from, int to) {
  if (channel < c->info.n_channels) {
    if (are_ring_neighbours(c, channel, from, to)) return CSIM_GRAPH_RING;
    if (are_tree_neighbours(c, channel, from, to)) return CSIM_GRAPH_TREE;
  }
  return c->info.nvls_support ? CSIM_GRAPH_NVLS : CSIM_GRAPH_RING;
}

CsimConn csim_comm_conn(const CsimComm *c, int channel, int from, int to, gboolean is_p2p_op) {
  return any_conn(c, channel, from, to, is_p2p_op ? -1 : joining_graph(c, channel, from, to));
}
