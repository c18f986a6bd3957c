/* models/pkt/ways.c - shortest paths, and which of several a frame takes when its queue pair may take any. */
#include "models/pkt/pkt-private.h"

#include <string.h>

/* Hops to `to` from every node; hosts are no way through. G_MAXUINT8: unreachable. */
const guint8 *pkt_distances_to(CsimPktNet *net, guint to) {
  if (net->distances->pdata[to]) return net->distances->pdata[to];
  guint8 *far = g_malloc(net->n_nodes);
  g_autofree guint *queue = g_new(guint, net->n_nodes);
  guint head = 0, tail = 0;
  memset(far, G_MAXUINT8, net->n_nodes);
  far[to] = 0;
  queue[tail++] = to;
  while (head < tail) {
    guint at = queue[head++];
    if (net->nodes[at].is_host && at != to) continue;
    for (guint i = 0; i < net->nodes[at].ports->len; i++) {
      guint next = net->ports[g_array_index(net->nodes[at].ports, guint, i)].peer_node;
      if (far[next] != G_MAXUINT8) continue;
      far[next] = far[at] + 1;
      queue[tail++] = next;
    }
  }
  net->distances->pdata[to] = far;
  return far;
}

static gboolean same_ways(const Ways *a, const Ways *b) {
  return a->n == b->n && memcmp(a->port, b->port, a->n * sizeof *a->port) == 0;
}

/* The node's own copy of them: destinations that share ways share whose turn it is. */
static Ways *keep_ways(Node *node, Ways *ways) {
  if (!node->all_ways) node->all_ways = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < node->all_ways->len; i++) {
    Ways *known = g_ptr_array_index(node->all_ways, i);
    if (!same_ways(known, ways)) continue;
    g_free(ways);
    return known;
  }
  g_ptr_array_add(node->all_ways, ways);
  return ways;
}

static Ways *find_ways(CsimPktNet *net, guint at, guint to) {
  const guint8 *far = pkt_distances_to(net, to);
  const GArray *ports = net->nodes[at].ports;
  Ways *ways = g_malloc(sizeof *ways + ports->len * sizeof *ways->port);
  ways->n = ways->turn = 0;
  for (guint i = 0; i < ports->len; i++) {
    guint port = g_array_index(ports, guint, i);
    if (far[net->ports[port].peer_node] + 1 == far[at]) ways->port[ways->n++] = (uint16_t)port;
  }
  g_assert(ways->n > 0);
  return keep_ways(&net->nodes[at], ways);
}

static Ways *ways_to(CsimPktNet *net, guint at, guint to) {
  Node *node = &net->nodes[at];
  if (!node->ways) node->ways = g_new0(Ways *, net->n_nodes);
  if (!node->ways[to]) node->ways[to] = find_ways(net, at, to);
  return node->ways[to];
}

void pkt_free_ways(Node *node) {
  g_free(node->ways);
  if (node->all_ways) g_ptr_array_unref(node->all_ways);
}

/* Bytes before a frame that came now; the one on the wire counts as one, so that an idle port wins. */
static CsimBytes load_of(const Load *load, CsimTime now) { return load->queued + (load->busy_until > now); }

static guint least_loaded(const CsimPktNet *net, const Ways *ways, guint from) {
  CsimTime now = csim_engine_now(net->engine);
  guint best = from;
  CsimBytes least = load_of(&net->loads[ways->port[from]], now);
  for (guint k = 1; k < ways->n && least > 0; k++) {
    guint i = from + k < ways->n ? from + k : from + k - ways->n;
    CsimBytes load = load_of(&net->loads[ways->port[i]], now);
    if (load >= least) continue;
    least = load;
    best = i;
  }
  return best;
}

uint32_t pkt_choose_way(CsimPktNet *net, guint node, const Qp *qp) {
  Ways *ways = ways_to(net, node, qp->dst);
  if (ways->n == 1) return ways->port[0];
  guint pick = qp->routing == CSIM_PKT_ADAPTIVE ? least_loaded(net, ways, ways->turn) : ways->turn;
  ways->turn = pick + 1 < ways->n ? pick + 1 : 0;
  return ways->port[pick];
}

/* Bytes to send at its first port times its length; a cable of half the rate weighs twice. */
static double cost_of(const CsimPktNet *net, const Route *r, guint hop, CsimTime now) {
  const Port *port = &net->ports[r->port[hop]];
  return (double)(load_of(&net->loads[r->port[hop]], now) + 1) * (double)(r->n - 1) / (double)port->rate;
}

uint32_t pkt_choose_route(CsimPktNet *net, const Qp *qp, Packet *p) {
  guint way = p->flags >> WAY_SHIFT;
  if (way == WAY_UNKNOWN) {
    CsimTime now = csim_engine_now(net->engine);
    double least = cost_of(net, &qp->routes[0], p->hop, now);
    way = 0;
    for (guint i = 1; i < qp->n_routes; i++) {
      double cost = cost_of(net, &qp->routes[i], p->hop, now);
      if (cost >= least) continue;
      least = cost;
      way = i;
    }
    p->flags = (uint8_t)((p->flags & ((1u << WAY_SHIFT) - 1)) | way << WAY_SHIFT);
  }
  return qp->routes[way].port[p->hop];
}

guint8 pkt_next_lane(const Qp *qp, const Packet *p) {
  if (p->type != PKT_DATA) return qp->way_back->lane[p->hop];
  return qp->routes[qp->routing == CSIM_PKT_WAYS ? p->flags >> WAY_SHIFT : 0].lane[p->hop];
}

uint32_t pkt_first_way(CsimPktNet *net, guint node, const Qp *qp) { return ways_to(net, node, qp->dst)->port[0]; }
