/* models/pkt/switch.c - arrival at a switch: room in the shared buffer, PFC, ECN. */
#include "models/pkt/pkt-private.h"

/* ---- pausing the peer ---- */

static void send_pause(CsimPktNet *net, Port *port, guint class, int quanta) {
  Class *account = &port->class[class];
  uint32_t index = pkt_alloc(net);
  *pkt_packet(net, index) = (Packet){.psn = quanta,
                                     .qp = NONE,
                                     .ingress = PKT_MADE_HERE,
                                     .frame = CSIM_PKT_PAUSE_FRAME,
                                     .type = PKT_PAUSE,
                                     .class = (uint8_t) class};
  account->xoff = quanta > 0;
  if (quanta > 0) {
    port->pauses_sent++;
    csim_timer_arm(net->engine, &account->refresh,
                   csim_engine_now(net->engine) + csim_pkt_quanta_time(port->rate, quanta) / 2);
  } else {
    csim_timer_disarm(net->engine, &account->refresh);
  }
  pkt_enqueue(net, port, CONTROL, index);
  pkt_kick(net, port);
}

/* ---- ingress accounts of lossless classes: reserve, then shared up to XOFF, then headroom ---- */

static CsimBytes pool_share(const CsimPktSwitch *sw, CsimBytes account) {
  return MAX(0, account - sw->reserve);
}

/* XOFF level of an account, in bytes of `shared` (which has the reserve in it). */
static CsimBytes xoff_level(const Node *node) {
  const CsimPktSwitch *sw = &node->sw;
  if (sw->alpha <= 0) return sw->xoff;
  return sw->reserve + (CsimBytes)(sw->alpha * (double)MAX(0, sw->buffer - node->shared_used));
}

static void set_shared(Node *node, Class *account, CsimBytes bytes) {
  node->shared_used += pool_share(&node->sw, bytes) - pool_share(&node->sw, account->shared);
  account->shared = bytes;
}

/* A frame that begins below XOFF still goes to shared, also if it crosses the level: headroom is for what
 * comes after XOFF. */
static gboolean admit_shared(Node *node, Class *account, const Packet *p) {
  if (account->headroom > 0 || account->shared > xoff_level(node) ||
      node->shared_used + p->frame > node->sw.buffer)
    return FALSE;
  set_shared(node, account, account->shared + p->frame);
  return TRUE;
}

static gboolean admit_headroom(const Node *node, Class *account, const Packet *p) {
  if (account->headroom + p->frame > node->sw.headroom) return FALSE;
  account->headroom += p->frame;
  account->max_headroom = MAX(account->max_headroom, account->headroom);
  return TRUE;
}

static gboolean admit_lossless(CsimPktNet *net, Node *node, Port *in, const Packet *p) {
  Class *account = &in->class[p->class];
  if (!admit_shared(node, account, p) && !admit_headroom(node, account, p)) return FALSE;
  account->max_ingress = MAX(account->max_ingress, account->shared + account->headroom);
  if (!account->xoff && (account->headroom > 0 || account->shared > xoff_level(node)))
    send_pause(net, in, p->class, net->spec.pause_quanta);
  return TRUE;
}

/* Headroom empties first. XON when it is empty and the account is a gap below the level, or bare. */
static void leave_lossless(CsimPktNet *net, Node *node, Port *in, const Packet *p) {
  Class *account = &in->class[p->class];
  CsimBytes from_headroom = MIN(account->headroom, p->frame);
  account->headroom -= from_headroom;
  set_shared(node, account, account->shared - (p->frame - from_headroom));
  if (!account->xoff || account->headroom > 0) return;
  if (account->shared == 0 || account->shared <= xoff_level(node) - node->sw.xon_gap)
    send_pause(net, in, p->class, 0);
}

/* ---- lossy classes: a limit on the egress queue ---- */

static gboolean admit_lossy(Node *node, const Port *out, const Packet *p) {
  CsimBytes own = node->sw.queue;
  if (own > 0 && out->class[p->class].queue.bytes + p->frame > own) return FALSE;
  if (own > 0) {
    node->shared_used += p->frame;
    return TRUE;
  }
  CsimBytes free_bytes = node->sw.buffer - node->shared_used,
            queue = out->class[p->class].queue.bytes + p->frame;
  if (p->frame > free_bytes || (double)queue > node->sw.lossy_alpha * (double)free_bytes) return FALSE;
  node->shared_used += p->frame;
  return TRUE;
}

static gboolean admit(CsimPktNet *net, Node *node, Port *in, Port *out, Packet *p) {
  Class *account = &in->class[p->came_by];
  if (!csim_pkt_has_credits(net->spec.kind)) {
    gboolean ok =
        pkt_is_lossless(net, node, p->class) ? admit_lossless(net, node, in, p) : admit_lossy(node, out, p);
    if (!ok) return FALSE;
  }
  account->held += p->frame;
  if (csim_pkt_has_credits(net->spec.kind)) account->max_ingress = MAX(account->max_ingress, account->held);
  return TRUE;
}

/* RED on the instantaneous queue with this frame: never drops, marks for certain above Kmax. */
static void mark(const Node *node, Port *out, Packet *p) {
  const CsimPktSwitch *sw = &node->sw;
  CsimBytes q = out->class[p->class].queue.bytes + p->frame;
  if (!(sw->ecn_mask >> p->class & 1) || p->type != PKT_DATA || q <= sw->ecn_min) return;
  if (q <= sw->ecn_max) {
    double chance = sw->ecn_pmax * (double)(q - sw->ecn_min) / (double)(sw->ecn_max - sw->ecn_min);
    if (csim_rng_uniform(&out->mark_rng) >= chance) return;
  }
  p->flags |= PKT_CE;
  out->marked++;
}

/* InfiniBand: on joining a queue that is too long already. A port that waits for credits is a victim of what is behind it, not the root. */
static void mark_fecn(CsimPktNet *net, Port *out, Packet *p) {
  const CsimIbCc *cc = &net->spec.ibcc;
  Class *lane = &out->class[p->class];
  if (lane->queue.bytes <= net->fecn_above || p->type != PKT_DATA) return;
  gboolean root = pkt_has_credit(net, out, p->class, p->frame);
  if (!root && !(cc->victims && out->peer_is_host)) return;
  if (lane->unmarked++ < cc->marking_rate) return;
  lane->unmarked = 0;
  p->flags |= PKT_CE;
  out->marked++;
}

void pkt_free_room(CsimPktNet *net, Node *node, Packet *p) {
  Port *in = &net->ports[p->ingress];
  in->class[p->came_by].held -= p->frame;
  if (csim_pkt_has_credits(net->spec.kind))
    pkt_give_credit(net, in, p->came_by, p->frame, csim_engine_now(net->engine));
  else if (pkt_is_lossless(net, node, p->class))
    leave_lossless(net, node, in, p);
  else
    node->shared_used -= p->frame;
}

void pkt_leave(CsimPktNet *net, Port *out, Packet *p) {
  if (p->ingress == PKT_MADE_HERE) return;
  Node *node = &net->nodes[out->node];
  mark(node, out, p);
  pkt_free_room(net, node, p);
}

void pkt_on_arrive(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimPktNet *net = owner;
  Port *in = &net->ports[event->entity], *link = &net->ports[in->peer];
  uint32_t index = (uint32_t)event->arg;
  Packet *p = pkt_packet(net, index);
  const Qp *qp = pkt_qp(net, p->qp);
  int wire = csim_pkt_wire(net->spec.kind, p->frame);
  link->flying--;
  link->flying_bytes -= wire;
  in->rx_packets++;
  in->rx_bytes += wire;
  if (G_UNLIKELY(p->type >= PKT_UP)) {
    pkt_tree_arrive(net, in, index);
    return;
  }
  Port *out = pkt_egress(net, in->node, qp, p);
  p->came_by = p->class;
  if (G_UNLIKELY(qp->laned)) p->class = pkt_next_lane(qp, p);
  p->hop++;
  p->ingress = (uint16_t)event->entity;
  int max_frame = net->nodes[in->node].sw.max_frame;
  if ((max_frame > 0 && p->frame > max_frame) || out->class[p->class].storm || !admit(net, &net->nodes[in->node], in, out, p)) {
    in->dropped++;
    pkt_release(net, index);
    return;
  }
  pkt_enqueue(net, out, p->class, index);
  if (G_UNLIKELY(net->spec.ibcc_on)) mark_fecn(net, out, p);
  pkt_kick(net, out);
}

/* ---- pauses go on, and end ---- */

void pkt_on_refresh(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimPktNet *net = owner;
  Port *port = &net->ports[event->entity];
  send_pause(net, port, event->kind, net->spec.pause_quanta);
  pkt_look_for_deadlock(net);
}

void csim_pkt_host_stop(CsimPktNet *net, guint host, gboolean on) {
  Port *port = &net->ports[g_array_index(net->nodes[host].ports, guint, 0)];
  if (port->stuck == on) return;
  port->stuck = on;
  if (!on && csim_pkt_has_credits(net->spec.kind)) pkt_give_withheld(net, port);
  for (guint c = 0; !csim_pkt_has_credits(net->spec.kind) && c < CSIM_PKT_CLASSES; c++)
    if (net->spec.pfc_mask >> c & 1) csim_pkt_host_pause(net, host, c, on);
}

void csim_pkt_host_pause(CsimPktNet *net, guint host, guint class, gboolean on) {
  g_assert(!csim_pkt_has_credits(net->spec.kind) && net->nodes[host].is_host && class < CSIM_PKT_CLASSES);
  send_pause(net, &net->ports[g_array_index(net->nodes[host].ports, guint, 0)], class,
             on ? net->spec.pause_quanta : 0);
}
