/* models/pkt/net.c - building the network: nodes, cables, paths, queue pairs; pools; reading counters. */
#include "models/pkt/pkt-private.h"

#include <stdlib.h>
#include <string.h>

enum { PURPOSE_HASH = 1, PURPOSE_LOSS, PURPOSE_MARK };

/* ---- pool of frames ---- */

static void grow_pool(CsimPktNet *net) {
  Packet *chunk = aligned_alloc(64, PACKET_CHUNK * sizeof(Packet));
  if (!chunk) g_error("no memory for %d more frames", PACKET_CHUNK);
  net->chunks = g_renew(Packet *, net->chunks, net->n_chunks + 1);
  net->chunks[net->n_chunks] = chunk;
  for (uint32_t i = PACKET_CHUNK; i-- > 0;) {
    chunk[i].next = net->free_packet;
    net->free_packet = net->n_chunks * PACKET_CHUNK + i;
  }
  net->n_chunks++;
  net->system_allocs++;
}

uint32_t pkt_alloc(CsimPktNet *net) {
  if (G_UNLIKELY(net->free_packet == NONE)) grow_pool(net);
  uint32_t index = net->free_packet;
  net->free_packet = pkt_packet(net, index)->next;
  net->live_packets++;
  return index;
}

void pkt_release(CsimPktNet *net, uint32_t index) {
  pkt_packet(net, index)->next = net->free_packet;
  net->free_packet = index;
  net->live_packets--;
}

/* ---- network ---- */

static void add_handlers(CsimPktNet *net) {
  CsimEngine *engine = net->engine;
  net->on_arrive = csim_engine_add_handler(engine, "frame arrives", pkt_on_arrive, net);
  net->on_free = csim_engine_add_handler(engine, "link free", pkt_on_free, net);
  net->on_wake = csim_engine_add_handler(engine, "queue pair may send", pkt_on_wake, net);
  net->on_effect = csim_engine_add_handler(engine, "data at its host", pkt_on_effect, net);
  net->on_control = csim_engine_add_handler(engine, "ACK, NAK or CNP", pkt_on_control, net);
  net->on_pause = csim_engine_add_handler(engine, "PAUSE", pkt_on_pause, net);
  net->on_expiry = csim_engine_add_handler(engine, "pause ends", pkt_on_expiry, net);
  net->on_refresh = csim_engine_add_handler(engine, "pause refresh", pkt_on_refresh, net);
  net->on_timeout = csim_engine_add_handler(engine, "ACK time-out", pkt_on_timeout, net);
  net->on_credit = csim_engine_add_handler(engine, "credit", pkt_on_credit, net);
  net->on_post = csim_engine_add_handler(engine, "post", pkt_on_post, net);
  net->on_reduced = csim_engine_add_handler(engine, "frame reduced", pkt_on_reduced, net);
  net->on_delayed = csim_engine_add_handler(engine, "delayed ACK", pkt_on_delayed, net);
  net->on_watchdog = csim_engine_add_handler(engine, "PFC watchdog", pkt_on_watchdog, net);
}

static void free_qp(gpointer data) {
  Qp *qp = data;
  pkt_tcp_free(qp);
  pkt_early_free(&qp->early);
  g_free(qp->routes);
  g_free(qp->way_back);
  g_free(qp->gaps);
  g_free(qp);
}

CsimPktNet *csim_pkt_net_new(CsimEngine *engine, const CsimPktSpec *spec) {
  g_assert(spec->mtu > 0 && spec->mtu <= CSIM_PKT_MAX_MTU && spec->ack_every > 0);
  CsimPktNet *net = g_new0(CsimPktNet, 1);
  net->engine = engine;
  net->spec = *spec;
  net->free_packet = NONE;
  net->qps = g_ptr_array_new_with_free_func(free_qp);
  net->distances = g_ptr_array_new_with_free_func(g_free);
  net->trees = g_ptr_array_new_with_free_func(pkt_tree_free);
  net->messages = csim_slab_new("messages", sizeof(Message));
  net->fecn_above = spec->ibcc_on ? csim_ibcc_threshold(spec->ibcc.threshold, spec->vl_buffer) : INT64_MAX;
  net->ack_frame = csim_pkt_ack_frame(spec->kind);
  net->cnp_frame = csim_pkt_cnp_frame(spec->kind);
  add_handlers(net);
  return net;
}

static void free_port(Port *port) {
  for (guint i = 0; i < N_QUEUES; i++) g_free(port->class[i].ring);
}

void csim_pkt_net_free(CsimPktNet *net) {
  if (!net) return;
  for (guint i = 0; i < net->n_ports; i++) free_port(&net->ports[i]);
  for (guint i = 0; i < net->n_nodes; i++) {
    g_free(net->nodes[i].name);
    g_array_free(net->nodes[i].ports, TRUE);
    pkt_free_ways(&net->nodes[i]);
  }
  for (uint32_t i = 0; i < net->n_chunks; i++) free(net->chunks[i]);
  g_ptr_array_free(net->qps, TRUE);
  g_ptr_array_free(net->distances, TRUE);
  g_ptr_array_free(net->trees, TRUE);
  csim_slab_free(net->messages);
  g_free(net->chunks);
  g_free(net->nodes);
  g_free(net->ports);
  g_free(net->loads);
  g_free(net->deadlock);
  g_free(net);
}

static Node *add_node(CsimPktNet *net, const char *name, gboolean is_host) {
  g_assert(!net->frozen);
  net->nodes = g_renew(Node, net->nodes, net->n_nodes + 1);
  Node *node = &net->nodes[net->n_nodes];
  uint32_t hash_of = net->spec.one_hash ? 0 : net->n_nodes;
  *node = (Node){.name = g_strdup(name),
                 .is_host = is_host,
                 .ready_head = NONE,
                 .ready_tail = NONE,
                 .hash_seed = csim_rng_at(net->spec.seed, hash_of, PURPOSE_HASH, 0),
                 .ports = g_array_new(FALSE, FALSE, sizeof(guint))};
  g_ptr_array_add(net->distances, NULL);
  net->n_nodes++;
  return node;
}

guint csim_pkt_add_host(CsimPktNet *net, const char *name) {
  add_node(net, name, TRUE);
  return net->n_nodes - 1;
}

guint csim_pkt_add_switch(CsimPktNet *net, const char *name, const CsimPktSwitch *spec) {
  add_node(net, name, FALSE)->sw = *spec;
  return net->n_nodes - 1;
}

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

void pkt_set_rate(Port *port, CsimRate rate) {
  int64_t divisor = gcd(CSIM_S, rate);
  port->ps_num = CSIM_S / divisor;
  port->ps_den = rate / divisor;
  port->rate = rate;
}

static void init_port(CsimPktNet *net, guint index, guint node, guint peer_node, guint peer,
                      const CsimPktCable *cable) {
  Port *port = &net->ports[index];
  memset(port, 0, sizeof *port);
  *port = (Port){.delay = cable->delay,
                 .node = node,
                 .peer = peer,
                 .peer_node = peer_node,
                 .is_host = net->nodes[node].is_host,
                 .peer_is_host = net->nodes[peer_node].is_host,
                 .loss = cable->loss,
                 .first_tx = CSIM_TIME_NEVER};
  pkt_set_rate(port, cable->rate);
  csim_rng_init(&port->loss_rng, net->spec.seed, index, PURPOSE_LOSS);
  csim_rng_init(&port->mark_rng, net->spec.seed, index, PURPOSE_MARK);
  for (guint c = 0; c < N_QUEUES; c++) {
    port->class[c].queue = (Queue){NONE, NONE, 0, 0};
    port->class[c].credits = (int)MIN(net->spec.vl_buffer / CSIM_PKT_IB_BLOCK, 2048);
    csim_timer_init(&port->class[c].refresh, net->on_refresh, (uint16_t)c, index, 0);
    csim_timer_init(&port->class[c].expiry, net->on_expiry, (uint16_t)c, index, 0);
    csim_timer_init(&port->class[c].watchdog, net->on_watchdog, (uint16_t)c, index, 0);
  }
}

guint csim_pkt_connect(CsimPktNet *net, guint a, guint b, const CsimPktCable *cable) {
  guint port = net->n_ports;
  g_assert(!net->frozen && a < net->n_nodes && b < net->n_nodes && a != b && cable->rate > 0 &&
           cable->delay >= 0);
  g_assert(port + 2 <= UINT16_MAX);
  net->ports = g_renew(Port, net->ports, port + 2);
  net->loads = g_renew(Load, net->loads, port + 2);
  net->loads[port] = net->loads[port + 1] = (Load){0};
  net->n_ports += 2;
  init_port(net, port, a, b, port + 1, cable);
  init_port(net, port + 1, b, a, port, cable);
  g_array_append_val(net->nodes[a].ports, port);
  port++;
  g_array_append_val(net->nodes[b].ports, port);
  g_assert(!net->nodes[a].is_host || net->nodes[a].ports->len == 1);
  g_assert(!net->nodes[b].is_host || net->nodes[b].ports->len == 1);
  return port - 1;
}

/* ---- paths ---- */

static guint hash_port(const CsimPktNet *net, guint at, const guint8 *far, uint64_t flow) {
  const GArray *ports = net->nodes[at].ports;
  guint n = 0;
  for (guint i = 0; i < ports->len; i++)
    n += far[net->ports[g_array_index(ports, guint, i)].peer_node] + 1 == far[at];
  guint pick = (guint)(csim_rng_at(net->nodes[at].hash_seed, flow, PURPOSE_HASH, 1) % n);
  for (guint i = 0;; i++) {
    guint port = g_array_index(ports, guint, i);
    if (far[net->ports[port].peer_node] + 1 == far[at] && pick-- == 0) return port;
  }
}

static gboolean find_path(CsimPktNet *net, guint src, guint dst, guint16 udp_port, uint16_t *path,
                          uint32_t *n, GError **error) {
  const guint8 *far = pkt_distances_to(net, dst);
  uint64_t flow = (uint64_t)src << 40 | (uint64_t)dst << 16 | udp_port;
  if (far[src] > CSIM_PKT_MAX_HOPS) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_ROUTE, "no path from %s to %s within %d links",
                net->nodes[src].name, net->nodes[dst].name, CSIM_PKT_MAX_HOPS);
    return FALSE;
  }
  *n = 0;
  for (guint at = src; at != dst; at = net->ports[path[*n - 1]].peer_node)
    path[(*n)++] = (uint16_t)hash_port(net, at, far, flow);
  return TRUE;
}

/* Linux: a 20-bit flow label folded from the product of the two queue pair numbers, then folded into 14 bits.
 */
static guint16 default_udp_port(guint qp) {
  uint64_t v = (uint64_t)(qp + 1) * (qp + 2);
  v ^= v >> 20;
  uint32_t label = (uint32_t)(v ^ v >> 40) & 0xfffff;
  return (guint16)(0xc000 | ((label & 0x3fff) ^ (label >> 14 & 0x3f)));
}

/* Given ports as a path; FALSE if they are none. */
static gboolean take_path(const CsimPktNet *net, guint from, guint to, const guint *given, guint n_given, uint16_t *path,
                          uint32_t *n, GError **error) {
  guint at = from;
  for (*n = 0; *n < n_given && *n < CSIM_PKT_MAX_HOPS; (*n)++) {
    guint port = given[*n];
    if (port >= net->n_ports || net->ports[port].node != at) break;
    path[*n] = (uint16_t)port;
    at = net->ports[port].peer_node;
  }
  if (*n == n_given && at == to) return TRUE;
  g_set_error(
      error, CSIM_ERROR, CSIM_ERROR_ROUTE,
      "the given ports are no path from %s to %s; each must lie on the node that the one before leads to",
      net->nodes[from].name, net->nodes[to].name);
  return FALSE;
}

static gboolean take_way(const CsimPktNet *net, const Qp *qp, const CsimPktWay *way, Route *out, GError **error) {
  if (!take_path(net, qp->src, qp->dst, way->port, way->n, out->port, &out->n, error)) return FALSE;
  gboolean laned = way->lane && csim_pkt_has_credits(net->spec.kind);
  for (guint i = 0; i < way->n; i++) out->lane[i] = laned ? way->lane[i] : (guint8)net->spec.data_class;
  g_assert(out->port[0] == qp->path[0] && out->lane[0] == net->spec.data_class);
  return TRUE;
}

static void take_lanes(uint32_t n, const uint16_t *port, const guint8 *lane, guint8 class, Route *out) {
  out->n = n;
  memcpy(out->port, port, n * sizeof *port);
  for (guint i = 0; i < n; i++) out->lane[i] = lane ? lane[i] : class;
}

/* What is more than one path for data and one for ACKs. */
static gboolean set_routes(const CsimPktNet *net, Qp *qp, const CsimPktQpSpec *spec, GError **error) {
  gboolean several = qp->routing == CSIM_PKT_WAYS;
  qp->laned = csim_pkt_has_credits(net->spec.kind) && spec && (spec->lane || spec->back_lane || several);
  if (!several && !qp->laned) return TRUE;
  qp->n_routes = several ? spec->n_ways : 1;
  g_assert(qp->n_routes > 0 && qp->n_routes <= CSIM_PKT_MAX_WAYS);
  qp->routes = g_new0(Route, qp->n_routes);
  qp->way_back = g_new0(Route, 1);
  take_lanes(qp->n_back, qp->back, spec->back_lane, (guint8)net->spec.ack_class, qp->way_back);
  if (!several) take_lanes(qp->n_path, qp->path, spec->lane, (guint8)net->spec.data_class, qp->routes);
  for (guint i = 0; several && i < spec->n_ways; i++)
    if (!take_way(net, qp, &spec->ways[i], &qp->routes[i], error)) return FALSE;
  return TRUE;
}

static gboolean set_paths(CsimPktNet *net, Qp *qp, const CsimPktQpSpec *spec, GError **error) {
  guint16 udp_port = spec && spec->udp_port ? spec->udp_port : default_udp_port(qp->id);
  gboolean there = spec && spec->path
                       ? take_path(net, qp->src, qp->dst, spec->path, spec->n_path, qp->path, &qp->n_path, error)
                       : find_path(net, qp->src, qp->dst, udp_port, qp->path, &qp->n_path, error);
  if (!there) return FALSE;
  return spec && spec->back
             ? take_path(net, qp->dst, qp->src, spec->back, spec->n_back, qp->back, &qp->n_back, error)
             : find_path(net, qp->dst, qp->src, udp_port, qp->back, &qp->n_back, error);
}

guint csim_pkt_add_qp(CsimPktNet *net, guint src, guint dst, const CsimPktQpSpec *spec, GError **error) {
  g_assert(src < net->n_nodes && dst < net->n_nodes && src != dst && net->nodes[src].is_host &&
           net->nodes[dst].is_host);
  g_autofree Qp *qp = g_new0(Qp, 1);
  net->frozen = TRUE;
  qp->id = net->qps->len;
  qp->src = src;
  qp->dst = dst;
  qp->next_ready = NONE;
  qp->watch_handler = CSIM_PKT_SILENT;
  qp->stats.first_post = CSIM_TIME_NEVER;
  qp->cap = net->spec.qp_rate;
  qp->window = net->spec.window;
  if (spec) qp->routing = (uint8_t)spec->routing;
  qp->any_order = qp->routing != CSIM_PKT_ONE_PATH || net->spec.recovery == CSIM_PKT_SELECTIVE;
  if (!set_paths(net, qp, spec, error) || !set_routes(net, qp, spec, error)) {
    g_free(qp->routes);
    g_free(qp->way_back);
    return NONE;
  }
  csim_rp_init(&qp->rp, &net->spec.dcqcn, net->ports[qp->path[0]].rate);
  csim_timer_init(&qp->timer, net->on_timeout, 0, qp->id, 0);
  if (net->spec.kind == CSIM_PKT_TCP) pkt_tcp_init(net, qp);
  g_ptr_array_add(net->qps, g_steal_pointer(&qp));
  return net->qps->len - 1;
}

void csim_pkt_watch(CsimPktNet *net, guint index, uint16_t handler, uint16_t kind, uint32_t entity) {
  Qp *qp = pkt_qp(net, index);
  qp->watch_handler = handler;
  qp->watch_kind = kind;
  qp->watch_entity = entity;
}

guint csim_pkt_qp_path(const CsimPktNet *net, guint qp, const guint16 **ports) {
  *ports = pkt_qp(net, qp)->path;
  return pkt_qp(net, qp)->n_path;
}

/* ---- counters ---- */

CsimPktQpStats csim_pkt_qp_stats(CsimPktNet *net, guint index) {
  Qp *qp = pkt_qp(net, index);
  CsimPktQpStats stats = qp->stats;
  stats.rate = csim_rp_rate(&qp->rp, csim_engine_now(net->engine));
  stats.cuts += qp->rp.cuts;
  return stats;
}

char *csim_pkt_qp_name(const CsimPktNet *net, guint index) {
  const Qp *qp = pkt_qp(net, index);
  return g_strdup_printf("%s -> %s", net->nodes[qp->src].name, net->nodes[qp->dst].name);
}

const char *csim_pkt_qp_error(const CsimPktNet *net, guint qp) {
  if (net->spec.kind == CSIM_PKT_TCP) return pkt_qp(net, qp)->stats.failed ? "connection timed out (ETIMEDOUT)" : "";
  return pkt_qp(net, qp)->stats.failed ? "transport retry counter exceeded (IBV_WC_RETRY_EXC_ERR, status 12)"
                                       : "";
}

CsimPktPortStats csim_pkt_port_stats(CsimPktNet *net, guint index) {
  Port *port = &net->ports[index];
  CsimTime now = csim_engine_now(net->engine);
  CsimPktPortStats stats = {.tx_packets = port->tx_packets,
                            .rx_packets = port->rx_packets,
                            .lost = port->lost,
                            .dropped = port->dropped,
                            .tx_bytes = port->tx_bytes,
                            .rx_bytes = port->rx_bytes,
                            .marked = port->marked,
                            .pauses_sent = port->pauses_sent,
                            .pauses_received = port->pauses_received,
                            .storms = port->storms,
                            .storm_drops = port->storm_drops,
                            .queue = net->loads[index].queued,
                            .rate = port->rate};
  double area = 0;
  for (guint i = 0; i < CSIM_PKT_CLASSES; i++) {
    Class *class = &port->class[i];
    pkt_queue_area(class, now);
    area += class->area;
    stats.paused = MAX(stats.paused, class->paused + (port->paused >> i & 1 ? now - class->paused_at : 0));
    stats.max_queue = MAX(stats.max_queue, class->max_queue);
    stats.max_ingress = MAX(stats.max_ingress, class->max_ingress);
    stats.max_headroom = MAX(stats.max_headroom, class->max_headroom);
  }
  if (port->first_tx < now) stats.mean_queue = area / (double)(now - port->first_tx);
  return stats;
}

guint csim_pkt_n_ports(const CsimPktNet *net) {
  return net->n_ports;
}

int csim_pkt_mtu(const CsimPktNet *net) { return net->spec.mtu; }

char *csim_pkt_port_name(const CsimPktNet *net, guint port) {
  const Port *own = &net->ports[port];
  const GArray *all = net->nodes[own->node].ports;
  const char *from = net->nodes[own->node].name, *to = net->nodes[own->peer_node].name;
  guint parallel = 0, number = 0;
  for (guint i = 0; i < all->len; i++) {
    guint other = g_array_index(all, guint, i);
    if (net->ports[other].peer_node != own->peer_node) continue;
    if (other == port) number = parallel;
    parallel++;
  }
  return parallel > 1 ? g_strdup_printf("%s -> %s #%u", from, to, number) : g_strdup_printf("%s -> %s", from, to);
}

uint64_t csim_pkt_hops(const CsimPktNet *net) {
  uint64_t hops = 0;
  for (guint i = 0; i < net->n_ports; i++) hops += net->ports[i].tx_packets;
  return hops;
}

uint64_t csim_pkt_system_allocs(const CsimPktNet *net) {
  return net->system_allocs + csim_slab_system_allocs(net->messages);
}

const char *csim_pkt_deadlock(const CsimPktNet *net) {
  return net->deadlock;
}
