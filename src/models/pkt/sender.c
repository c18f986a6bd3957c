/* models/pkt/sender.c - the sending half of a NIC: messages into frames, pacing, acknowledgements,
 * retransmission. */
#include "base/units.h"
#include "models/pkt/pkt-private.h"

#include <math.h>
#include <string.h>

static Port *host_port(const CsimPktNet *net, const Qp *qp) {
  return &net->ports[qp->path[0]];
}

/* ---- queue pairs that may send, in turn ---- */

static void push_ready(CsimPktNet *net, Qp *qp) {
  Node *node = &net->nodes[qp->src];
  qp->state = QP_READY;
  qp->next_ready = NONE;
  if (node->ready_tail == NONE)
    node->ready_head = qp->id;
  else
    pkt_qp(net, node->ready_tail)->next_ready = qp->id;
  node->ready_tail = qp->id;
}

static Qp *pop_ready(CsimPktNet *net, Node *node) {
  Qp *qp = pkt_qp(net, node->ready_head);
  node->ready_head = qp->next_ready;
  if (node->ready_head == NONE) node->ready_tail = NONE;
  qp->state = QP_IDLE;
  return qp;
}

static gboolean can_send(const Qp *qp) {
  gboolean open = qp->window == 0 || qp->next_psn - qp->acked_psn < qp->window;
  return ((qp->next_psn < qp->end_psn && open) || qp->n_gaps > 0) && !qp->stats.failed;
}

/* Queues an idle queue pair for sending, or sets its alarm. `free_at`: up to then the port is busy anyhow. */
static void line_up(CsimPktNet *net, Qp *qp, CsimTime free_at) {
  if (qp->state != QP_IDLE || !can_send(qp)) return;
  if (qp->next_time <= free_at) {
    push_ready(net, qp);
    return;
  }
  qp->state = QP_WAITING;
  csim_engine_at(net->engine, qp->next_time, net->on_wake, 0, qp->id, 0);
}

static void ready(CsimPktNet *net, Qp *qp) {
  if (qp->tcp) {
    pkt_tcp_fill(net, qp);
    return;
  }
  line_up(net, qp, csim_engine_now(net->engine));
  if (qp->state == QP_READY) pkt_kick(net, host_port(net, qp));
}

void pkt_on_wake(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimPktNet *net = owner;
  Qp *qp = pkt_qp(net, event->entity);
  qp->state = QP_IDLE;
  ready(net, qp);
}

gboolean pkt_host_has_data(const CsimPktNet *net, const Port *port) {
  return net->nodes[port->node].ready_head != NONE && !(port->paused >> net->spec.data_class & 1);
}

/* ---- frames ---- */

/* Payload of the packet at `back` packets from its message's start. */
static int payload_of(const Message *message, int64_t back, gboolean last) {
  return last ? (int)(message->bytes - back * message->mtu) : message->mtu;
}

/* Of a message's last packet, of every so many, and of one that fills the window, which else would stay shut.
 */
static gboolean asks_for_ack(const CsimPktNet *net, const Qp *qp, int64_t psn, int64_t back, gboolean last) {
  gboolean fills = qp->window > 0 && psn + 1 - qp->acked_psn >= qp->window;
  return last || fills || back % net->spec.ack_every == net->spec.ack_every - 1;
}

/* It has no acknowledgement: without a window a message is done when its last frame is on the link. */
static void make_tree_frame(CsimPktNet *net, const Qp *qp, const Message *message, Packet *p) {
  const Port *port = host_port(net, qp);
  int64_t psn = p->psn;
  if (qp->window == 0 && p->flags & PKT_LAST)
    csim_engine_at(net->engine, csim_engine_now(net->engine) + pkt_wire_time(port, csim_pkt_wire(net->spec.kind, p->frame)), net->on_control, PKT_ACK,
                   qp->id, (uint64_t)psn);
  p->type = PKT_UP;
  p->psn = pkt_tree_psn(net, qp, psn, p->back, message->number, &p->flags);
  p->back = message->number;
}

static uint32_t make_frame(CsimPktNet *net, const Qp *qp, const Message *message, int64_t psn) {
  int64_t back = psn - message->first;
  gboolean last = psn + 1 == message->end;
  gboolean ask = asks_for_ack(net, qp, psn, back, last);
  int frame = csim_pkt_data_frame(net->spec.kind, payload_of(message, back, last), back == 0 && !qp->tree);
  uint32_t index = pkt_alloc(net);
  *pkt_packet(net, index) = (Packet){.psn = psn,
                                     .qp = qp->id,
                                     .next = NONE,
                                     .ingress = PKT_MADE_HERE,
                                     .frame = (uint16_t)frame,
                                     .type = PKT_DATA,
                                     .class = (uint8_t)net->spec.data_class,
                                     .hop = 1,
                                     .flags = (uint8_t)((ask ? PKT_ACK_REQUEST : 0) | (last ? PKT_LAST : 0) | WAY_UNKNOWN << WAY_SHIFT),
                                     .back = (uint32_t)back};
  if (G_UNLIKELY(qp->tree)) make_tree_frame(net, qp, message, pkt_packet(net, index));
  return index;
}

static void arm_timeout(CsimPktNet *net, Qp *qp) {
  if (qp->timer.due == CSIM_TIME_NEVER && !qp->tree && !qp->tcp && net->spec.ack_timeout != CSIM_TIME_NEVER)
    csim_timer_arm(net->engine, &qp->timer, csim_engine_now(net->engine) + net->spec.ack_timeout);
}

/* ---- gaps (SELECTIVE) ---- */

static void add_gap(Qp *qp, int64_t first, int64_t n) {
  if (n <= 0) return;
  if (qp->n_gaps == qp->gaps_size) {
    qp->gaps_size = MAX(8, 2 * qp->gaps_size);
    qp->gaps = g_renew(Gap, qp->gaps, qp->gaps_size);
  }
  qp->gaps[qp->n_gaps++] = (Gap){first, n};
}

static void drop_first_gap(Qp *qp) { memmove(qp->gaps, qp->gaps + 1, --qp->n_gaps * sizeof *qp->gaps); }

/* What has been acknowledged meanwhile need not go again. */
static void trim_gaps(Qp *qp) {
  while (qp->n_gaps && qp->gaps[0].first + qp->gaps[0].n <= qp->acked_psn) drop_first_gap(qp);
  if (!qp->n_gaps || qp->gaps[0].first >= qp->acked_psn) return;
  qp->gaps[0].n -= qp->acked_psn - qp->gaps[0].first;
  qp->gaps[0].first = qp->acked_psn;
}

static uint32_t next_of_gaps(CsimPktNet *net, Qp *qp) {
  int64_t psn = qp->gaps[0].first++;
  const Message *message = qp->first_message;
  if (--qp->gaps[0].n == 0) drop_first_gap(qp);
  while (message->end <= psn) message = message->next;
  qp->stats.packets++;
  qp->stats.resent++;
  arm_timeout(net, qp);
  return make_frame(net, qp, message, psn);
}

static void count_sent(CsimPktNet *net, Qp *qp) {
  qp->stats.packets++;
  if (qp->next_psn < qp->max_psn) qp->stats.resent++;
  qp->next_psn++;
  qp->max_psn = MAX(qp->max_psn, qp->next_psn);
  if (qp->next_psn == qp->current->end) qp->current = qp->current->next;
  arm_timeout(net, qp);
}

static uint32_t next_frame(CsimPktNet *net, Qp *qp) {
  if (qp->n_gaps) return next_of_gaps(net, qp);
  uint32_t index = make_frame(net, qp, qp->current, qp->next_psn);
  count_sent(net, qp);
  return index;
}

uint32_t pkt_make_segment(CsimPktNet *net, Qp *qp, int64_t psn) {
  if (psn == qp->next_psn) return next_frame(net, qp);
  const Message *message = qp->first_message;
  while (message->end <= psn) message = message->next;
  qp->stats.packets++;
  qp->stats.resent++;
  return make_frame(net, qp, message, psn);
}

/* When the next frame may start: the wire's pace, the queue pair's own, or the reaction point's. */
static void pace(CsimPktNet *net, Qp *qp, const Port *port, int frame) {
  CsimTime now = csim_engine_now(net->engine);
  int wire = csim_pkt_wire(net->spec.kind, frame);
  CsimTime time = pkt_wire_time(port, wire);
  if (qp->cap > 0) time = MAX(time, csim_rate_time(qp->cap, MIN(frame, net->spec.mtu)));
  if (net->spec.dcqcn_on && qp->rp.limited) {
    double rate = csim_rp_rate(&qp->rp, now);
    if (rate < qp->rp.line) time = MAX(time, (CsimTime)ceil(wire * 1e12 / rate));
    csim_rp_sent(&qp->rp, now, frame);
  }
  if (net->spec.ibcc_on) time += (CsimTime)((double)pkt_wire_time(port, wire) * csim_ccti_delay(&qp->ccti, &net->spec.ibcc, now));
  qp->next_time = now + time;
}

static gboolean begins_message(const Qp *qp) { return qp->n_gaps == 0 && qp->next_psn == qp->current->first; }

/* A NIC begins only so many messages a second: TRUE if this one must wait for its turn. */
static gboolean waits_for_message(CsimPktNet *net, Node *node, Qp *qp) {
  CsimTime now = csim_engine_now(net->engine);
  if (net->spec.message_gap == 0 || !begins_message(qp)) return FALSE;
  if (now >= node->message_at) {
    node->message_at = now + net->spec.message_gap;
    return FALSE;
  }
  qp->state = QP_WAITING;
  csim_engine_at(net->engine, node->message_at, net->on_wake, 0, qp->id, 0);
  return TRUE;
}

uint32_t pkt_next_data(CsimPktNet *net, Port *port) {
  Node *node = &net->nodes[port->node];
  while (pkt_host_has_data(net, port)) {
    if (csim_pkt_has_credits(net->spec.kind) &&
        !pkt_has_credit(net, port, net->spec.data_class,
                        csim_pkt_data_frame(net->spec.kind, net->spec.mtu, TRUE)))
      return NONE;
    Qp *qp = pop_ready(net, node);
    if (!can_send(qp) || waits_for_message(net, node, qp)) continue;
    uint32_t index = next_frame(net, qp);
    int frame = pkt_packet(net, index)->frame;
    pace(net, qp, port, frame);
    line_up(net, qp,
            csim_engine_now(net->engine) + pkt_wire_time(port, csim_pkt_wire(net->spec.kind, frame)));
    return index;
  }
  return NONE;
}

/* ---- posts ---- */

static Message *new_message(CsimPktNet *net, CsimBytes bytes, uint16_t handler, uint16_t kind,
                            uint32_t entity, uint64_t arg) {
  CsimHandle handle;
  Message *message = csim_slab_alloc(net->messages, &handle);
  g_assert(bytes >= 0);
  *message = (Message){
      .bytes = bytes, .arg = arg, .entity = entity, .mtu = net->spec.mtu, .handler = handler, .kind = kind, .handle = handle};
  return message;
}

static void post(CsimPktNet *net, Qp *qp, Message *message) {
  message->first = qp->end_psn;
  message->end = qp->end_psn + csim_pkt_message_packets(message->bytes, message->mtu);
  qp->end_psn = message->end;
  if (qp->last_message)
    qp->last_message->next = message;
  else
    qp->first_message = message;
  qp->last_message = message;
  if (!qp->current) qp->current = message;
  qp->stats.messages++;
  qp->stats.posted += message->bytes;
  qp->stats.first_post = MIN(qp->stats.first_post, csim_engine_now(net->engine));
  if (qp->tcp) pkt_tcp_post(net, qp, message);
  ready(net, qp);
}

void csim_pkt_send(CsimPktNet *net, guint qp, CsimBytes bytes, uint16_t handler, uint16_t kind,
                   uint32_t entity, uint64_t arg) {
  post(net, pkt_qp(net, qp), new_message(net, bytes, handler, kind, entity, arg));
}

void csim_pkt_send_at(CsimPktNet *net, CsimTime at, guint qp, CsimBytes bytes, uint16_t handler,
                      uint16_t kind, uint32_t entity, uint64_t arg) {
  Message *message = new_message(net, bytes, handler, kind, entity, arg);
  csim_engine_at(net->engine, at, net->on_post, 0, qp, message->handle);
}

void pkt_post_part(CsimPktNet *net, Qp *qp, CsimTime at, CsimBytes bytes, int mtu, uint32_t number, uint16_t handler, uint16_t kind, uint32_t entity) {
  Message *message = new_message(net, bytes, handler, kind, entity, 0);
  message->mtu = mtu;
  message->number = number;
  csim_engine_at(net->engine, at, net->on_post, 0, qp->id, message->handle);
}

void pkt_on_post(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimPktNet *net = owner;
  post(net, pkt_qp(net, event->entity), csim_slab_get(net->messages, (CsimHandle)event->arg));
}

/* ---- acknowledgements ---- */

static void go_to(Qp *qp, int64_t psn) {
  qp->next_psn = psn;
  qp->current = qp->first_message;
  while (qp->current && qp->current->end <= psn) qp->current = qp->current->next;
}

void pkt_complete(CsimPktNet *net, Qp *qp) {
  Message *message;
  while ((message = qp->first_message) && message->end <= qp->acked_psn) {
    qp->first_message = message->next;
    if (!qp->first_message) qp->last_message = NULL;
    qp->stats.acked += message->bytes;
    Message done = *message;
    csim_slab_release(net->messages, message->handle);
    if (done.handler != CSIM_PKT_SILENT)
      csim_engine_fire(net->engine, done.handler, done.kind, done.entity, done.arg);
  }
}

/* Everything before psn has arrived. */
static void acked(CsimPktNet *net, Qp *qp, int64_t psn) {
  CsimTime now = csim_engine_now(net->engine);
  if (psn <= qp->acked_psn) return;
  qp->acked_psn = psn;
  qp->retries = 0;
  qp->stats.last_ack = now;
  if (qp->next_psn < psn) go_to(qp, psn);
  trim_gaps(qp);
  if (qp->max_psn == psn)
    csim_timer_disarm(net->engine, &qp->timer);
  else if (net->spec.ack_timeout != CSIM_TIME_NEVER && !qp->tree)
    csim_timer_arm(net->engine, &qp->timer, now + net->spec.ack_timeout);
  pkt_complete(net, qp);
}

void pkt_on_control(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimPktNet *net = owner;
  Qp *qp = pkt_qp(net, event->entity);
  int64_t psn = (int64_t)event->arg;
  if (qp->stats.failed) return;
  if (qp->tcp) {
    pkt_tcp_acked(net, qp, event->arg);
    return;
  }
  if (event->kind == PKT_CNP) {
    qp->stats.cnps++;
    if (net->spec.dcqcn_on) csim_rp_cnp(&qp->rp, event->time);
    if (net->spec.ibcc_on) csim_ccti_becn(&qp->ccti, &net->spec.ibcc, event->time);
    return;
  }
  if (event->kind == PKT_GAP) {
    qp->stats.naks++;
    add_gap(qp, psn & ((INT64_C(1) << GAP_PSN_BITS) - 1), psn >> GAP_PSN_BITS);
    trim_gaps(qp);
    ready(net, qp);
    return;
  }
  acked(net, qp, event->kind == PKT_ACK ? psn + 1 : psn);
  if (event->kind == PKT_ACK)
    qp->stats.acks++;
  else
    qp->stats.naks++;
  if (event->kind == PKT_NAK && qp->next_psn > psn) go_to(qp, psn);
  ready(net, qp);
}

/* Where a retransmission starts: what is missing, or its whole message. */
static int64_t restart_psn(const CsimPktNet *net, const Qp *qp) {
  return net->spec.recovery == CSIM_PKT_GO_BACK_0 ? qp->first_message->first : qp->acked_psn;
}

void pkt_on_timeout(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimPktNet *net = owner;
  Qp *qp = pkt_qp(net, event->entity);
  if (qp->tcp) {
    pkt_tcp_timeout(net, qp);
    return;
  }
  qp->stats.timeouts++;
  pkt_look_for_deadlock(net);
  if (++qp->retries > net->spec.retry_count) {
    qp->stats.failed = TRUE;
    if (net->spec.stop_on_failure) csim_engine_stop(engine);
    return;
  }
  csim_timer_arm(engine, &qp->timer, event->time + net->spec.ack_timeout);
  if (net->spec.recovery == CSIM_PKT_SELECTIVE) {
    qp->n_gaps = 0;
    add_gap(qp, qp->acked_psn, qp->next_psn - qp->acked_psn);
  } else {
    go_to(qp, restart_psn(net, qp));
  }
  ready(net, qp);
}
