/*
 * models/pkt/receiver.c - the receiving half of a NIC.
 *
 * The last link keeps the order of a queue pair's frames and nothing else touches the receiver's state, so
 * what a frame means is decided when it starts on that link, with its arrival's date. Only what has a
 * consequence (ACK, NAK, CNP) costs an event then. Exact, and most frames cost none.
 */
#include "models/pkt/pkt-private.h"

enum { EFFECT_ACK = 1, EFFECT_NAK = 2, EFFECT_CNP = 4, EFFECT_DELIVERED = 8, EFFECT_GAP = 16, EFFECT_TCP_ACK = 32 };

static void reply(CsimPktNet *net, const Qp *qp, PktType type, int64_t psn) {
  uint32_t index = pkt_alloc(net);
  guint class = type == PKT_CNP ? net->spec.cnp_class : net->spec.ack_class;
  int frame = type == PKT_CNP ? net->cnp_frame : net->ack_frame;
  Port *port = &net->ports[qp->back[0]];
  *pkt_packet(net, index) = (Packet){.psn = psn,
                                     .qp = qp->id,
                                     .next = NONE,
                                     .ingress = PKT_MADE_HERE,
                                     .frame = (uint16_t)frame,
                                     .type = (uint8_t)type,
                                     .class = (uint8_t) class,
                                     .hop = 1};
  pkt_enqueue(net, port, class, index);
  pkt_kick(net, port);
}

void pkt_on_effect(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimPktNet *net = owner;
  Qp *qp = pkt_qp(net, event->entity);
  if (event->kind & EFFECT_CNP) reply(net, qp, PKT_CNP, 0);
  if (event->kind & EFFECT_ACK) reply(net, qp, PKT_ACK, (int64_t)event->arg - 1);
  if (event->kind & EFFECT_NAK) reply(net, qp, PKT_NAK, (int64_t)event->arg);
  if (event->kind & EFFECT_TCP_ACK) reply(net, qp, PKT_ACK, (int64_t)event->arg);
  if (event->kind & EFFECT_GAP) reply(net, qp, PKT_GAP, (int64_t)event->arg);
  if (!(event->kind & EFFECT_DELIVERED)) return;
  uint64_t number = qp->delivered++;
  if (qp->watch_handler == CSIM_PKT_SILENT) return;
  csim_engine_fire(engine, qp->watch_handler, qp->watch_kind, qp->watch_entity, number);
}

/* Notification point: one CNP per interval and queue pair. */
static guint notify(const CsimPktNet *net, Qp *qp, const Packet *p, CsimTime arrival) {
  if (!(p->flags & PKT_CE)) return 0;
  qp->stats.marked++;
  if (arrival < qp->next_cnp) return 0;
  qp->next_cnp = arrival + net->spec.cnp_interval;
  return EFFECT_CNP;
}

static guint in_order(Qp *qp, const Packet *p) {
  qp->expected++;
  qp->nak_sent = FALSE;
  qp->stats.received++;
  qp->message_start = p->flags & PKT_LAST ? qp->expected : p->psn - p->back;
  return (p->flags & PKT_ACK_REQUEST ? EFFECT_ACK : 0) | (p->flags & PKT_LAST ? EFFECT_DELIVERED : 0);
}

/* One NAK, and silence until what is missing arrives. */
static guint out_of_order(const CsimPktNet *net, Qp *qp) {
  qp->stats.out_of_order++;
  if (qp->nak_sent) return 0;
  qp->nak_sent = TRUE;
  if (net->spec.recovery == CSIM_PKT_GO_BACK_0) qp->expected = qp->message_start;
  return EFFECT_NAK;
}

static guint duplicate(Qp *qp, const Packet *p) {
  qp->stats.duplicates++;
  return p->flags & PKT_ACK_REQUEST ? EFFECT_ACK : 0;
}

static void effect_at(CsimPktNet *net, const Qp *qp, CsimTime arrival, guint effects, uint64_t arg) {
  csim_engine_at(net->engine, arrival, net->on_effect, (uint16_t)effects, qp->id, arg);
}

/* On one path what comes late is lost: the sender hears of each gap once. */
static void tell_gap(CsimPktNet *net, Qp *qp, const Packet *p, CsimTime arrival) {
  if (p->psn > qp->highest && qp->routing == CSIM_PKT_ONE_PATH)
    effect_at(net, qp, arrival, EFFECT_GAP, pkt_gap(qp->highest, p->psn - qp->highest));
  qp->highest = MAX(qp->highest, p->psn + 1);
}

/* A frame that may be out of turn. What now follows without a gap is acknowledged and delivered. */
static void take_any_order(CsimPktNet *net, Qp *qp, const Packet *p, CsimTime arrival) {
  guint effects = notify(net, qp, p, arrival);
  guint8 flags;
  if (!pkt_early_take(net, qp, p)) {
    effects |= duplicate(qp, p);
  } else {
    qp->stats.received++;
    if (p->psn != qp->expected) qp->stats.out_of_order++;
    tell_gap(net, qp, p, arrival);
    while (pkt_early_next(qp, &flags)) {
      if (flags & PKT_ACK_REQUEST) effects |= EFFECT_ACK;
      if (flags & PKT_LAST) effect_at(net, qp, arrival, EFFECT_DELIVERED, 0);
    }
  }
  if (effects) effect_at(net, qp, arrival, effects, (uint64_t)qp->expected);
}

static void take_data(CsimPktNet *net, const Packet *p, CsimTime arrival) {
  Qp *qp = pkt_qp(net, p->qp);
  if (qp->tcp) {
    pkt_tcp_take(net, qp, p, arrival);
    return;
  }
  if (qp->any_order) {
    take_any_order(net, qp, p, arrival);
    return;
  }
  guint effects = notify(net, qp, p, arrival);
  if (p->psn == qp->expected)
    effects |= in_order(qp, p);
  else
    effects |= p->psn > qp->expected ? out_of_order(net, qp) : duplicate(qp, p);
  if (effects) effect_at(net, qp, arrival, effects, (uint64_t)qp->expected);
}

void pkt_effect_ack(CsimPktNet *net, const Qp *qp, CsimTime at, uint64_t arg) { effect_at(net, qp, at, EFFECT_TCP_ACK, arg); }

void pkt_tell_delivered(CsimPktNet *net, const Qp *qp, CsimTime arrival) { effect_at(net, qp, arrival, EFFECT_DELIVERED, 0); }

void pkt_deliver(CsimPktNet *net, Port *rx, uint32_t index, CsimTime arrival) {
  const Packet *p = pkt_packet(net, index);
  rx->rx_packets++;
  rx->rx_bytes += csim_pkt_wire(net->spec.kind, p->frame);
  if (G_UNLIKELY(rx->stuck) && !csim_pkt_has_credits(net->spec.kind) && !(net->spec.pfc_mask >> p->class & 1)) {
    rx->dropped++;
    pkt_release(net, index);
    return;
  }
  if (csim_pkt_has_credits(net->spec.kind) && G_UNLIKELY(rx->stuck)) pkt_withhold_credit(rx, p->class, p->frame);
  else if (csim_pkt_has_credits(net->spec.kind)) pkt_give_credit(net, rx, p->class, p->frame, arrival);
  if (p->type == PKT_DATA)
    take_data(net, p, arrival);
  else if (p->type == PKT_DOWN)
    pkt_tree_deliver(net, rx, p, arrival);
  else
    csim_engine_at(net->engine, arrival, net->on_control, p->type, p->qp, (uint64_t)p->psn);
  pkt_release(net, index);
}
