/*
 * exec/build.c - from a plan to lanes, connections and network ends.
 */
#include "exec/collapse.h"
#include "exec/exec-private.h"
#include "models/prune.h"

#define SM_CAPACITY INT64_C(1000000000000) /* a block has 1e12 ps of work in a second; flows weigh ps a byte */

static uint32_t note_link(CsimExec *x, uint32_t machine_link, CsimRate capacity, double softness) {
  CsimPruneLink rates = {capacity, softness};
  g_array_append_val(x->machine_of, machine_link);
  g_array_append_val(x->link_rates, rates);
  return x->link_rates->len - 1;
}

CsimLinkId exec_fluid_link(CsimExec *x, CsimLinkId machine_link) {
  uint32_t *id = &x->fluid_of[machine_link];
  if (*id == NO_INDEX) {
    CsimRes res = csim_machine_link(x->spec.machine, machine_link);
    *id = note_link(x, machine_link, res.capacity, res.softness);
  }
  return *id;
}

static uint32_t add_sm_link(CsimExec *x) { return note_link(x, NO_INDEX, SM_CAPACITY, 0); }

/* Appends a route's links to x->links as fluid links; returns how many. */
guint exec_add_route(CsimExec *x, const CsimRoute *route) {
  for (guint i = 0; i < route->n; i++) {
    CsimFlowLink link = {exec_fluid_link(x, route->link[i].link), route->link[i].weight};
    g_array_append_val(x->links, link);
  }
  return route->n;
}

/* --- lanes --------------------------------------------------------------------------------------------------------- */

static gboolean is_nvls_role(CsimRole role) {
  return role == CSIM_ROLE_NVLS_SCATTER || role == CSIM_ROLE_NVLS_REDUCE || role == CSIM_ROLE_NVLS_BCAST || role == CSIM_ROLE_NVLS_GATHER;
}

static gboolean shares_block(const CsimExec *x, const Rank *r, CsimRole role) {
  const CsimGpuModel *gpu = &g_array_index(x->gpus, CsimGpuModel, r->gpu);
  if (is_nvls_role(role)) return FALSE;
  if (x->choice.proto == CSIM_PROTO_SIMPLE)
    return gpu->simple.group_share < 1 || (gpu->simple.tree_units > 0 && role != CSIM_ROLE_TREE_ROOT);
  return (x->choice.proto == CSIM_PROTO_LL ? gpu->ll.group_share : gpu->ll128.group_share) < 1;
}

static void add_lane(CsimExec *x, GArray *lanes, CsimLane id, uint32_t block, uint32_t sm_link) {
  Lane l = {.rank = (uint32_t)id.rank, .channel = (uint8_t)id.channel, .block = block, .sm_link = sm_link, .flow_hint = CSIM_FLUID_HINT_NONE,
            .gpu = x->ranks[id.rank].gpu};
  l.role = (uint8_t)csim_plan_role(x->plan, id);
  l.n_recv = (uint16_t)csim_plan_n_peers(x->plan, id, FALSE);
  l.n_send = (uint16_t)csim_plan_n_peers(x->plan, id, TRUE);
  l.recv = x->lane_conns->len;
  l.send = l.recv + l.n_recv;
  l.cursor.lane = id;
  g_array_set_size(x->lane_conns, l.send + l.n_send);
  g_array_append_val(lanes, l);
}

/* The lanes of one channel of a rank share a thread block. */
static void add_block(CsimExec *x, GArray *lanes, GArray *blocks, int rank, int channel) {
  Group block = {.first_lane = lanes->len, .n_lanes = (uint32_t)csim_plan_lanes(x->plan, rank, channel)};
  uint32_t sm_link = NO_INDEX;
  for (uint32_t i = 0; i < block.n_lanes; i++) {
    CsimLane id = {rank, channel, (int)i};
    if (block.n_lanes > 1 && sm_link == NO_INDEX && shares_block(x, &x->ranks[rank], csim_plan_role(x->plan, id))) sm_link = add_sm_link(x);
    add_lane(x, lanes, id, blocks->len, sm_link);
  }
  if (block.n_lanes > 0) g_array_append_val(blocks, block);
}

static void add_rank_lanes(CsimExec *x, GArray *lanes, GArray *blocks, int rank) {
  Rank *r = &x->ranks[rank];
  r->all.first_lane = lanes->len;
  for (int c = 0; c < csim_plan_spec(x->plan)->n_channels; c++) add_block(x, lanes, blocks, rank, c);
  r->all.n_lanes = r->lanes_left = lanes->len - r->all.first_lane;
}

/* --- what a connection crosses --------------------------------------------------------------------------------------- */

CsimGpuRef exec_gpu_of(const CsimExec *x, uint32_t rank) {
  CsimRankPlace p = csim_comm_place(x->spec.comm, (int)rank);
  return (CsimGpuRef){p.machine, p.local_gpu};
}

static gboolean set_p2p(CsimExec *x, Conn *c, CsimGpuRef from, CsimGpuRef to, GError **error) {
  CsimRoute route;
  if (!csim_machine_route_p2p(x->spec.machine, from, to, &route, error)) return FALSE;
  c->tx_links = x->links->len;
  c->n_tx_links = (uint8_t)exec_add_route(x, &route);
  c->latency = route.latency;
  return TRUE;
}

static gboolean set_shm(CsimExec *x, Conn *c, CsimGpuRef from, CsimGpuRef to, GError **error) {
  CsimRoute up, down;
  if (!csim_machine_route_shm(x->spec.machine, from, to, &up, &down, error)) return FALSE;
  c->tx_links = x->links->len;
  c->n_tx_links = (uint8_t)exec_add_route(x, &up);
  c->rx_links = x->links->len;
  c->n_rx_links = (uint8_t)exec_add_route(x, &down);
  c->latency = up.latency; /* the way down and its request are the receiver's load */
  if (x->choice.proto == CSIM_PROTO_SIMPLE) return TRUE;
  for (guint i = 0; i < c->n_rx_links; i++) g_array_index(x->links, CsimFlowLink, c->rx_links + i).weight *= (float)x->shm_model.ll_read;
  return TRUE;
}

/* What the kernels themselves cross to reach the network buffers: nothing with GPUDirect, host memory without, NVLink to a PXN relay. */
gboolean exec_set_net_buffers(CsimExec *x, Conn *c, const CsimConn *how, CsimGpuRef from, CsimGpuRef to, GError **error) {
  CsimRoute up, down;
  c->tx_links = c->rx_links = x->links->len;
  if (how->pxn_rank >= 0) {
    if (!set_p2p(x, c, from, exec_gpu_of(x, (uint32_t)how->pxn_rank), error)) return FALSE;
  } else if (!how->send_gdr) {
    if (!csim_machine_route_shm(x->spec.machine, from, from, &up, &down, error)) return FALSE;
    c->n_tx_links = (uint8_t)exec_add_route(x, &up);
  }
  if (!how->recv_gdr) {
    if (!csim_machine_route_shm(x->spec.machine, to, to, &up, &down, error)) return FALSE;
    c->rx_links = x->links->len;
    c->n_rx_links = (uint8_t)exec_add_route(x, &down);
  }
  return TRUE;
}

uint32_t exec_streams(const CsimExec *x) { return csim_net_has_queue_pairs(&x->net_model) ? x->env.qps : x->n_sockets; }

gboolean exec_is_unpaced(const CsimExec *x) { return x->choice.algo == CSIM_ALGO_P2P && csim_net_has_queue_pairs(&x->net_model); }

static gboolean paced_by_stream(const CsimExec *x) { return x->net_model.stream_rate > 0 && !exec_is_unpaced(x); }

static CsimRate stream_rate(const CsimExec *x) {
  return paced_by_stream(x) ? x->net_model.stream_rate * exec_streams(x) : INT64_MAX;
}

/* Where the port routes adaptively, NCCL writes the data of larger messages apart from the notice that they are there, and packets of the two may not pass
 * each other: a queue pair goes on when the data are acknowledged (NCCL 2.30, transport/net_ib). */
static CsimTime ack_time(const CsimExec *x, CsimTime latency) {
  gboolean ib = g_str_equal(x->net_model.transport, "ib");
  int64_t adaptive = x->env.adaptive;
  if (!csim_net_has_queue_pairs(&x->net_model) || !paced_by_stream(x)) return 0;
  return (adaptive == -2 ? ib : adaptive != 0) ? 2 * latency : 0;
}

/* What a message reaches alone. A flow that says so keeps the solver from looking beyond links that it does not share. */
static CsimRate narrowest(const CsimExec *x, uint32_t first, guint n) {
  CsimRate cap = INT64_MAX;
  for (guint i = first; i < first + n; i++) {
    const CsimFlowLink *l = &g_array_index(x->links, CsimFlowLink, i);
    cap = MIN(cap, (CsimRate)((double)g_array_index(x->link_rates, CsimPruneLink, l->link).capacity / l->weight));
  }
  return cap;
}

/* In a tree over three nodes and more an adapter takes in messages from several nodes while it sends to several: those at the head of a
 * queue whose way is taken hold up the ones behind. The last link of a fabric's route is the adapter that it enters. */
static double fan_in_share(const CsimExec *x) {
  gboolean tree = x->choice.algo == CSIM_ALGO_TREE || x->choice.algo == CSIM_ALGO_NVLS_TREE;
  return tree && csim_comm_info(x->spec.comm)->n_nodes > 2 ? x->net_model.fan_in : 1;
}

/* The way from GPU to GPU by one hash; *near and *far: latency inside the two nodes. */
static gboolean set_way(CsimExec *x, Way *w, const CsimConn *how, CsimGpuRef tx, CsimGpuRef rx, uint32_t hash, CsimTime *near, CsimTime *far,
                        CsimTime *between, GError **error) {
  const CsimMachine *m = x->spec.machine;
  CsimNicRef out = {tx.node, (guint)how->send_net}, in = {rx.node, (guint)how->recv_net};
  CsimRoute leg;
  *w = (Way){.links = x->links->len, .flow_hint = CSIM_FLUID_HINT_NONE};
  if (!csim_machine_route_nic(m, tx, out, how->send_gdr, TRUE, &leg, error)) return FALSE;
  *near = leg.latency;
  exec_add_route(x, &leg);
  if (!csim_machine_route_fabric(m, out, in, hash, x->loads_of_fabric, &leg, error)) return FALSE;
  leg.link[leg.n - 1].weight /= (float)fan_in_share(x);
  *between = leg.latency + 2 * x->net_model.endpoint;
  exec_add_route(x, &leg);
  if (!csim_machine_route_nic(m, rx, in, how->recv_gdr, FALSE, &leg, error)) return FALSE;
  *far = leg.latency;
  exec_add_route(x, &leg);
  w->n_links = (uint16_t)(x->links->len - w->links);
  w->cap = narrowest(x, w->links, w->n_links);
  return TRUE;
}

static gboolean set_wire(CsimExec *x, Net *n, const CsimConn *how, CsimGpuRef tx, CsimGpuRef rx, uint32_t index, GError **error) {
  CsimNicRef out = {tx.node, (guint)how->send_net}, in = {rx.node, (guint)how->recv_net};
  CsimTime near = 0, far = 0, between;
  gboolean loops = out.node == in.node && out.local == in.local; /* inside one adapter there is one way */
  n->n_qps = (uint16_t)(loops ? 1 : x->n_qps);
  n->first_way = x->ways->len;
  for (uint32_t qp = 0; qp < n->n_qps; qp++) {
    Way w;
    if (!set_way(x, &w, how, tx, rx, exec_qp_hash(x, index, qp), &near, &far, &between, error)) return FALSE;
    if (qp == 0) {
      n->links = w.links;
      n->n_links = w.n_links;
      n->cap = w.cap;
    }
    n->latency = MAX(n->latency, near + between + far);
    w.cap = MIN(w.cap, stream_rate(x) / x->n_qps);
    w.next = x->qp_split ? 0 : qp;
    if (n->n_qps > 1) g_array_append_val(x->ways, w);
  }
  n->cap = MIN(n->cap, stream_rate(x) / x->n_turns);
  n->ack = ack_time(x, n->latency);
  n->ack_above = x->env.ack_above;
  return !x->packets || exec_packets_connect(x, out, in, index, near, far, error);
}

/* Sockets inside a host: the proxies copy, there is no wire. */
static gboolean is_loopback(const CsimExec *x, CsimGpuRef tx, CsimGpuRef rx) {
  return tx.node == rx.node && exec_has_sockets(x);
}

static void set_loopback(const CsimExec *x, Net *n) {
  n->loopback = TRUE;
  n->links = x->links->len;
  n->latency = 2 * x->loop_model.endpoint;
}

gboolean exec_needs_flush(const CsimExec *x, uint32_t rx_rank, const CsimConn *how) {
  return how->recv_gdr && x->choice.proto == CSIM_PROTO_SIMPLE && csim_comm_gpu(x->spec.comm, (int)rx_rank)->gpu.sm < 90;
}

static gboolean set_net(CsimExec *x, uint32_t index, const CsimConn *how, uint32_t from, uint32_t to, GArray *nets, GError **error) {
  Conn *c = &x->conns[index];
  uint32_t tx = how->pxn_rank >= 0 ? (uint32_t)how->pxn_rank : from;
  Net n = {.conn = index, .tx_rank = tx, .rx_rank = to, .flow_hint = CSIM_FLUID_HINT_NONE};
  if (exec_needs_flush(x, to, how)) n.flush = x->net_model.flush;
  if (!exec_set_net_buffers(x, c, how, exec_gpu_of(x, from), exec_gpu_of(x, to), error)) return FALSE;
  if (is_loopback(x, exec_gpu_of(x, tx), exec_gpu_of(x, to))) set_loopback(x, &n);
  else if (!set_wire(x, &n, how, exec_gpu_of(x, tx), exec_gpu_of(x, to), index, error)) return FALSE;
  c->net = nets->len;
  g_array_append_val(nets, n);
  return TRUE;
}

/* Rings and trees may leave a node through different NICs. */
static CsimConn how_to_talk(const CsimExec *x, int channel, int from, int to) {
  const CsimComm *comm = x->spec.comm;
  switch (x->choice.algo) {
  case CSIM_ALGO_RING: return csim_comm_conn_graph(comm, CSIM_GRAPH_RING, channel, from, to);
  case CSIM_ALGO_TREE: return csim_comm_conn_graph(comm, CSIM_GRAPH_TREE, channel, from, to);
  case CSIM_ALGO_NVLS_TREE: return csim_comm_conn_graph(comm, CSIM_GRAPH_NVLS, channel, from, to);
  default: return csim_comm_conn(comm, channel, from, to, x->choice.algo == CSIM_ALGO_P2P);
  }
}

static gboolean set_conn(CsimExec *x, uint32_t index, GArray *nets, GError **error) {
  Conn *c = &x->conns[index];
  const Lane *t = &x->lanes[c->tx_lane], *r = &x->lanes[c->rx_lane];
  c->net = NO_INDEX;
  if (c->tag >= CSIM_TAG_NETWORK) return exec_collnet_conn(x, index, nets, error);
  if (t->rank == r->rank || c->tag == CSIM_TAG_NVLS_IN || c->tag == CSIM_TAG_NVLS_OUT) {
    c->kind = CSIM_CONN_SELF;
    return TRUE;
  }
  CsimConn how = how_to_talk(x, t->channel, (int)t->rank, (int)r->rank);
  c->kind = (uint8_t)how.kind;
  switch (how.kind) {
  case CSIM_CONN_SELF:
  case CSIM_CONN_COLLNET: return TRUE;
  case CSIM_CONN_P2P: return set_p2p(x, c, exec_gpu_of(x, t->rank), exec_gpu_of(x, r->rank), error);
  case CSIM_CONN_SHM: return set_shm(x, c, exec_gpu_of(x, t->rank), exec_gpu_of(x, r->rank), error);
  case CSIM_CONN_NET: return set_net(x, index, &how, t->rank, r->rank, nets, error);
  }
  g_assert_not_reached();
}

/* Leaves out of all paths what this call's traffic cannot fill. */
static void prune(CsimExec *x) {
  guint n = 2 * (x->n_conns + x->n_nets) + x->ways->len, k = 0;
  if (x->spec.keep_links) return;
  if (x->flap_down) return; /* what never fills when whole may fill when something is down */
  g_autofree CsimPruneSpan *spans = g_new(CsimPruneSpan, n);
  for (uint32_t i = 0; i < x->n_conns; i++) {
    spans[k++] = (CsimPruneSpan){x->conns[i].tx_links, x->conns[i].n_tx_links};
    spans[k++] = (CsimPruneSpan){x->conns[i].rx_links, x->conns[i].n_rx_links};
  }
  for (uint32_t i = 0; i < x->n_nets; i++) {
    spans[k++] = (CsimPruneSpan){x->nets[i].links, x->nets[i].n_qps > 1 ? 0 : x->nets[i].n_links}; /* several: their ways say it */
    spans[k++] = (CsimPruneSpan){x->nets[i].back_links, x->nets[i].n_back_links};
  }
  for (guint i = 0; i < x->ways->len; i++) {
    const Way *w = &g_array_index(x->ways, Way, i);
    spans[k++] = (CsimPruneSpan){w->links, w->n_links};
  }
  csim_prune((const CsimPruneLink *)(void *)x->link_rates->data, x->link_rates->len, (CsimFlowLink *)(void *)x->links->data, spans, n);
  k = 0;
  for (uint32_t i = 0; i < x->n_conns; i++) {
    x->conns[i].n_tx_links = (uint8_t)spans[k++].n;
    x->conns[i].n_rx_links = (uint8_t)spans[k++].n;
  }
  for (uint32_t i = 0; i < x->n_nets; i++) {
    x->nets[i].n_links = (uint16_t)spans[k++].n;
    x->nets[i].n_back_links = (uint16_t)spans[k++].n;
  }
  for (guint i = 0; i < x->ways->len; i++) g_array_index(x->ways, Way, i).n_links = (uint16_t)spans[k++].n;
}

/* Queue pairs that take turns and have a pace: what one of them sends, another need not wait for. Packets have the queue pairs themselves. */
static uint32_t turns_wanted(const CsimExec *x) {
  return x->packets || x->qp_split || exec_has_sockets(x) || !paced_by_stream(x) ? 1 : exec_streams(x);
}

/* Each queue pair of a connection whose messages all go one way. Not before the links are those to simulate. */
static void take_turns(CsimExec *x) {
  for (uint32_t i = 0; x->n_turns > 1 && i < x->n_nets; i++) {
    Net *n = &x->nets[i];
    if (n->n_qps > 1 || n->loopback || n->collnet) continue;
    n->n_qps = (uint16_t)x->n_turns;
    n->first_way = x->ways->len;
    for (uint32_t qp = 0; qp < x->n_turns; qp++) {
      Way w = {.links = n->links, .n_links = n->n_links, .flow_hint = CSIM_FLUID_HINT_NONE, .next = qp, .cap = n->cap};
      g_array_append_val(x->ways, w);
    }
  }
}

static void set_network(CsimExec *x) {
  CsimLinkId first;
  guint n = csim_machine_fabric_links(x->spec.machine, &first), n_flaps;
  x->env.qps = exec_qps_given(x);
  x->env.adaptive = csim_nccl_env_int(x->spec.env, "NCCL_IB_ADAPTIVE_ROUTING", -2);
  x->env.ack_above = csim_nccl_env_int(x->spec.env, "NCCL_IB_AR_THRESHOLD", 8192);
  x->n_qps = exec_qps_wanted(x);
  x->qp_split = csim_nccl_env_int(x->spec.env, "NCCL_IB_SPLIT_DATA_ON_QPS", 0) == 1;
  x->n_turns = turns_wanted(x);
  if (csim_machine_balances(x->spec.machine)) x->loads_of_fabric = g_new0(uint32_t, n + 1);
  csim_machine_flaps(x->spec.machine, &n_flaps);
  if (n_flaps > 0) x->flap_down = g_new0(uint8_t, n_flaps);
}

gboolean exec_build(CsimExec *x, GError **error) {
  g_autoptr(GArray) lanes = g_array_new(FALSE, TRUE, sizeof(Lane));
  g_autoptr(GArray) blocks = g_array_new(FALSE, TRUE, sizeof(Group));
  x->lane_conns = g_array_new(FALSE, TRUE, sizeof(uint32_t));
  x->links = g_array_new(FALSE, TRUE, sizeof(CsimFlowLink));
  x->machine_of = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  x->ways = g_array_new(FALSE, FALSE, sizeof(Way));
  x->link_rates = g_array_new(FALSE, FALSE, sizeof(CsimPruneLink));
  set_network(x);
  x->ranks = g_new0(Rank, x->n_ranks);
  for (uint32_t r = 0; r < x->n_ranks; r++) {
    x->ranks[r].gpu = x->rank_gpu[r];
    x->ranks[r].weight = 1;
    add_rank_lanes(x, lanes, blocks, (int)r);
  }
  x->n_lanes = lanes->len;
  x->lanes = (Lane *)(void *)g_array_free(g_steal_pointer(&lanes), FALSE);
  x->blocks = (Group *)(void *)g_array_free(g_steal_pointer(&blocks), FALSE);
  exec_meet(x);
  g_autoptr(GArray) nets = g_array_new(FALSE, TRUE, sizeof(Net));
  gboolean ok = TRUE;
  for (uint32_t i = 0; ok && i < x->n_conns; i++) ok = set_conn(x, i, nets, error);
  x->n_nets = nets->len;
  x->nets = (Net *)(void *)g_array_free(g_steal_pointer(&nets), FALSE);
  if (!ok) return FALSE;
  exec_net_hand_out(x);
  prune(x);
  if (x->packets) exec_packets_strip(x);
  if (!x->spec.no_symmetry && !x->spec.trace && !x->packets && x->ways->len == 0 && !x->flap_down) exec_collapse(x);
  take_turns(x);
  exec_layout(x);
  if (x->flap_down) exec_flaps_start(x);
  exec_pieces_begin(x);
  return exec_collnet_begin(x, error);
}

void exec_unbuild(CsimExec *x) {
  exec_collnet_end(x);
  exec_pieces_end(x);
  g_clear_pointer(&x->lane_conns, g_array_unref);
  g_clear_pointer(&x->links, g_array_unref);
  g_clear_pointer(&x->ways, g_array_unref);
  g_clear_pointer(&x->loads_of_fabric, g_free);
  g_clear_pointer(&x->flap_down, g_free);
  g_clear_pointer(&x->machine_of, g_array_unref);
  g_clear_pointer(&x->link_rates, g_array_unref);
  g_clear_pointer(&x->link_rep, g_free);
  g_clear_pointer(&x->ranks, g_free);
  g_clear_pointer(&x->lanes, g_free);
  g_clear_pointer(&x->blocks, g_free);
  g_clear_pointer(&x->conns, g_free);
  g_clear_pointer(&x->slots, g_free);
  g_clear_pointer(&x->nets, g_free);
  g_clear_pointer(&x->work, g_free);
  g_clear_pointer(&x->state, g_free);
}
