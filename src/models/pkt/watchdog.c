/*
 * models/pkt/watchdog.c - a switch's guard against a peer that pauses for ever.
 *
 * Detection: an egress class has been paused without a break for `watchdog`, and has frames. Then the pause is not obeyed any more and
 * every frame for that egress is dropped, so that the accounts of others empty. Restoration: no PAUSE for as long again.
 */
#include "models/pkt/pkt-private.h"

void pkt_watch_pause(CsimPktNet *net, Port *port, guint class, CsimTime now) {
  Class *c = &port->class[class];
  CsimTime watchdog = net->nodes[port->node].sw.watchdog;
  /* In a storm every PAUSE puts the restoration off; before one the first PAUSE sets the alarm. */
  if (c->storm || c->watchdog.due == CSIM_TIME_NEVER) csim_timer_arm(net->engine, &c->watchdog, now + watchdog);
}

static void drop_queue(CsimPktNet *net, Port *port, guint class) {
  Node *node = &net->nodes[port->node];
  while (port->class[class].queue.head != NONE) {
    uint32_t index = pkt_dequeue(net, port, class);
    Packet *p = pkt_packet(net, index);
    if (p->ingress != PKT_MADE_HERE) pkt_free_room(net, node, p);
    port->storm_drops++;
    pkt_release(net, index);
  }
}

void pkt_on_watchdog(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimPktNet *net = owner;
  Port *port = &net->ports[event->entity];
  Class *c = &port->class[event->kind];
  CsimTime watchdog = net->nodes[port->node].sw.watchdog;
  if (c->storm) {
    c->storm = FALSE;
    return;
  }
  if (!(port->paused >> event->kind & 1)) return;
  if (c->queue.head == NONE || event->time - c->paused_at < watchdog) {
    csim_timer_arm(engine, &c->watchdog, MAX(c->paused_at, event->time - watchdog / 2) + watchdog);
    return;
  }
  c->storm = TRUE;
  port->storms++;
  csim_timer_arm(engine, &c->watchdog, event->time + watchdog);
  csim_timer_disarm(engine, &c->expiry);
  drop_queue(net, port, event->kind);
  pkt_resume(net, port, event->kind);
}
