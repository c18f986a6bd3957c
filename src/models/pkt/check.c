/* models/pkt/check.c - does every frame and byte add up; does a set of queues wait for itself. */
#include "models/pkt/pkt-private.h"

#include <inttypes.h>
#include <string.h>

/* ---- conservation ---- */

static gboolean wrong(GError **error, const CsimPktNet *net, guint port, const char *what, int64_t have,
                      int64_t want) {
  g_autofree char *name = csim_pkt_port_name(net, port);
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "packet level, %s: %s: %" PRId64 ", must be %" PRId64,
              name, what, have, want);
  return FALSE;
}

static gboolean check_link(const CsimPktNet *net, guint i, GError **error) {
  const Port *port = &net->ports[i], *peer = &net->ports[port->peer];
  uint64_t packets = peer->rx_packets + port->lost + port->flying;
  CsimBytes bytes = peer->rx_bytes + port->lost_bytes + port->flying_bytes;
  if (port->tx_packets != packets)
    return wrong(error, net, i, "frames received, lost and under way", (int64_t)packets,
                 (int64_t)port->tx_packets);
  if (port->tx_bytes != bytes)
    return wrong(error, net, i, "bytes received, lost and under way", bytes, port->tx_bytes);
  return TRUE;
}

/* Adds what is queued at the port to the ingress accounts it came by; returns its frames. */
static uint64_t sum_queues(const CsimPktNet *net, const Port *port, CsimBytes (*held)[CSIM_PKT_CLASSES]) {
  uint64_t frames = 0;
  for (guint c = 0; c < N_QUEUES; c++)
    for (uint32_t at = port->class[c].queue.head; at != NONE; at = pkt_packet(net, at)->next) {
      const Packet *p = pkt_packet(net, at);
      if (p->ingress != PKT_MADE_HERE) held[p->ingress][p->came_by] += p->frame;
      frames++;
    }
  return frames;
}

static gboolean check_accounts(const CsimPktNet *net, guint i, CsimBytes (*held)[CSIM_PKT_CLASSES],
                               GError **error) {
  const Port *port = &net->ports[i];
  for (guint c = 0; c < CSIM_PKT_CLASSES; c++) {
    const Class *account = &port->class[c];
    if (account->held != held[i][c])
      return wrong(error, net, i, "bytes of the ingress account", account->held, held[i][c]);
    if (csim_pkt_has_credits(net->spec.kind) || port->is_host || !pkt_is_lossless(net, &net->nodes[port->node], c)) continue;
    if (account->shared + account->headroom != held[i][c])
      return wrong(error, net, i, "shared and headroom bytes", account->shared + account->headroom,
                   held[i][c]);
  }
  return TRUE;
}

/* A switch's shared bytes in use: what each lossless account has beyond its reserve, and all that lossy
 * classes have queued. */
static CsimBytes shared_by(const CsimPktNet *net, const Node *node) {
  CsimBytes sum = 0;
  for (guint i = 0; i < node->ports->len; i++)
    for (guint c = 0; c < CSIM_PKT_CLASSES; c++) {
      const Class *account = &net->ports[g_array_index(node->ports, guint, i)].class[c];
      sum += pkt_is_lossless(net, node, c) ? MAX(0, account->shared - node->sw.reserve) : account->held;
    }
  return sum;
}

static gboolean check_node(const CsimPktNet *net, const Node *node, GError **error) {
  if (node->is_host || csim_pkt_has_credits(net->spec.kind) || node->ports->len == 0) return TRUE;
  CsimBytes sum = shared_by(net, node);
  if (sum == node->shared_used) return TRUE;
  return wrong(error, net, g_array_index(node->ports, guint, 0), "shared bytes of the switch",
               node->shared_used, sum);
}

gboolean csim_pkt_check(CsimPktNet *net, GError **error) {
  CsimBytes(*held)[CSIM_PKT_CLASSES] = g_malloc0_n(MAX(net->n_ports, 1), sizeof *held);
  uint64_t frames = 0;
  gboolean ok = TRUE;
  frames = net->reducing;
  for (guint i = 0; i < net->n_ports; i++)
    frames += sum_queues(net, &net->ports[i], held) + net->ports[i].flying;
  for (guint i = 0; i < net->n_ports && ok; i++)
    ok = check_link(net, i, error) && check_accounts(net, i, held, error);
  for (guint i = 0; i < net->n_nodes && ok; i++) ok = check_node(net, &net->nodes[i], error);
  if (ok && frames != net->live_packets)
    ok = wrong(error, net, 0, "frames queued and under way", (int64_t)frames, (int64_t)net->live_packets);
  if (ok && net->live_packets == 0 && pkt_trees_waiting(net) > 0)
    ok = wrong(error, net, 0, "frames in aggregation nodes whose partners never came", (int64_t)pkt_trees_waiting(net), 0);
  g_free(held);
  return ok;
}

/* ---- deadlock ---- */

/*
 * A switch queue that may not send (paused, or without credit for its first frame) is taken as stuck until
 * shown otherwise: it can move if what the ingress account it waits for would still hold, after everything
 * has left that can leave, is below XON (or leaves room for the frame). The greatest set left over is stuck
 * for ever, because nothing outside it can change its accounts.
 */
typedef struct {
  const CsimPktNet *net;
  gboolean (*stuck)[CSIM_PKT_CLASSES]; /* per egress port */
  CsimBytes (*held)[CSIM_PKT_CLASSES]; /* per ingress port: bytes in stuck queues */
} Search;

/* InfiniBand's buffers are counted in blocks. */
static CsimBytes room_of(const CsimPktNet *net, const Packet *p) {
  if (!csim_pkt_has_credits(net->spec.kind)) return p->frame;
  return (p->frame + CSIM_PKT_IB_BLOCK - 1) / CSIM_PKT_IB_BLOCK * CSIM_PKT_IB_BLOCK;
}

static gboolean waits(const CsimPktNet *net, const Port *port, guint c) {
  const Class *class = &port->class[c];
  if (class->queue.head == NONE || port->is_host || port->peer_is_host) return FALSE;
  if (!csim_pkt_has_credits(net->spec.kind)) return port->paused >> c & 1;
  return class->credits * CSIM_PKT_IB_BLOCK < room_of(net, pkt_packet(net, class->queue.head));
}

static void sum_stuck(Search *s) {
  memset(s->held, 0, s->net->n_ports * sizeof *s->held);
  for (guint i = 0; i < s->net->n_ports; i++)
    for (guint c = 0; c < CSIM_PKT_CLASSES; c++)
      for (uint32_t at = s->stuck[i][c] ? s->net->ports[i].class[c].queue.head : NONE; at != NONE;
           at = pkt_packet(s->net, at)->next)
        if (pkt_packet(s->net, at)->ingress != PKT_MADE_HERE)
          s->held[pkt_packet(s->net, at)->ingress][pkt_packet(s->net, at)->came_by] += room_of(s->net, pkt_packet(s->net, at));
}

/* Whether the account at the other end would let the queue go once only `held` bytes are left in it. */
static gboolean would_go(const CsimPktNet *net, const Port *port, guint c, CsimBytes held) {
  const CsimPktSwitch *sw = &net->nodes[port->peer_node].sw;
  if (held == 0) return TRUE;
  if (csim_pkt_has_credits(net->spec.kind))
    return held + room_of(net, pkt_packet(net, port->class[c].queue.head)) <= net->spec.vl_buffer;
  CsimBytes level =
      sw->alpha > 0
          ? sw->reserve +
                (CsimBytes)(sw->alpha * (double)MAX(0, sw->buffer - net->nodes[port->peer_node].shared_used))
          : sw->xoff;
  return held <= MAX(0, level - sw->xon_gap);
}

static gboolean release_some(Search *s) {
  gboolean any = FALSE;
  for (guint i = 0; i < s->net->n_ports; i++)
    for (guint c = 0; c < CSIM_PKT_CLASSES; c++) {
      const Port *port = &s->net->ports[i];
      if (!s->stuck[i][c] || !would_go(s->net, port, c, s->held[port->peer][c])) continue;
      s->stuck[i][c] = FALSE;
      any = TRUE;
    }
  return any;
}

/* Queues are numbered port * CSIM_PKT_CLASSES + class. */
static gboolean holds_frames_of(const Search *s, uint32_t queue, uint32_t in, guint class) {
  const CsimPktNet *net = s->net;
  guint port = queue / CSIM_PKT_CLASSES, c = queue % CSIM_PKT_CLASSES;
  if (!s->stuck[port][c]) return FALSE;
  for (uint32_t at = net->ports[port].class[c].queue.head; at != NONE; at = pkt_packet(net, at)->next)
    if (pkt_packet(net, at)->ingress == in && pkt_packet(net, at)->came_by == class) return TRUE;
  return FALSE;
}

/* A stuck queue of the next node that holds frames which came from the given one. */
static uint32_t next_stuck(const Search *s, uint32_t queue) {
  const CsimPktNet *net = s->net;
  const Port *port = &net->ports[queue / CSIM_PKT_CLASSES];
  const GArray *ports = net->nodes[port->peer_node].ports;
  for (guint k = 0; k < ports->len * CSIM_PKT_CLASSES; k++) {
    uint32_t other = g_array_index(ports, guint, k / CSIM_PKT_CLASSES) * CSIM_PKT_CLASSES + k % CSIM_PKT_CLASSES;
    if (holds_frames_of(s, other, port->peer, queue % CSIM_PKT_CLASSES)) return other;
  }
  return NONE;
}

/* Follows the waiting from a stuck queue until a port comes again: everyone in the set waits for one of it.
 */
static char *describe(const Search *s, uint32_t queue) {
  g_autofree gboolean *seen = g_new0(gboolean, (gsize)s->net->n_ports * CSIM_PKT_CLASSES);
  GString *text = g_string_new(NULL);
  while (!seen[queue]) {
    seen[queue] = TRUE;
    queue = next_stuck(s, queue);
    g_assert(queue != NONE);
  }
  uint32_t start = queue;
  do {
    g_autofree char *name = csim_pkt_port_name(s->net, queue / CSIM_PKT_CLASSES);
    g_string_append_printf(text, "%s%s", text->len ? " waits for " : "", name);
    queue = next_stuck(s, queue);
  } while (queue != start);
  g_string_append_printf(text, ", which waits for the first (class %u)", start % CSIM_PKT_CLASSES);
  return g_string_free(text, FALSE);
}

static gboolean mark_waiting(Search *s) {
  gboolean any = FALSE;
  for (guint i = 0; i < s->net->n_ports; i++)
    for (guint c = 0; c < CSIM_PKT_CLASSES; c++) any |= s->stuck[i][c] = waits(s->net, &s->net->ports[i], c);
  return any;
}

static char *search(Search *s) {
  if (!mark_waiting(s)) return NULL;
  do sum_stuck(s);
  while (release_some(s));
  for (guint i = 0; i < s->net->n_ports; i++)
    for (guint c = 0; c < CSIM_PKT_CLASSES; c++)
      if (s->stuck[i][c]) return describe(s, i * CSIM_PKT_CLASSES + c);
  return NULL;
}

char *csim_pkt_find_deadlock(CsimPktNet *net) {
  Search s = {.net = net,
              .stuck = g_malloc0_n(MAX(net->n_ports, 1), sizeof *s.stuck),
              .held = g_malloc0_n(MAX(net->n_ports, 1), sizeof *s.held)};
  char *text = search(&s);
  g_free(s.stuck);
  g_free(s.held);
  return text;
}

static gboolean somebody_waits(const CsimPktNet *net) {
  for (guint i = 0; i < net->n_ports; i++)
    for (guint c = 0; c < CSIM_PKT_CLASSES; c++)
      if (waits(net, &net->ports[i], c)) return TRUE;
  return FALSE;
}

void pkt_look_for_deadlock(CsimPktNet *net) {
  if (net->deadlock || !somebody_waits(net)) return;
  net->deadlock = csim_pkt_find_deadlock(net);
  if (net->deadlock) csim_engine_stop(net->engine);
}
