/* models/pkt/port.c - egress: queues, which frame is next, its way over the link; PAUSE as it is obeyed. */
#include "models/pkt/pkt-private.h"

#define DRR_QUANTUM 4096 /* bytes a class may send at its turn; equal weights */

void pkt_queue_area(Class *class, CsimTime now) {
  class->area += (double)class->queue.bytes * (double)(now - class->area_at);
  class->area_at = now;
}

void pkt_enqueue(CsimPktNet *net, Port *port, guint which, uint32_t index) {
  Class *class = &port->class[which];
  Queue *queue = &class->queue;
  Packet *p = pkt_packet(net, index);
  pkt_queue_area(class, csim_engine_now(net->engine));
  p->next = NONE;
  if (queue->tail == NONE)
    queue->head = index;
  else
    pkt_packet(net, queue->tail)->next = index;
  queue->tail = index;
  queue->packets++;
  queue->bytes += p->frame;
  net->loads[port - net->ports].queued += p->frame;
  class->max_queue = MAX(class->max_queue, queue->bytes);
  port->ready |= (uint16_t)(1u << which);
}

uint32_t pkt_dequeue(CsimPktNet *net, Port *port, guint which) {
  Class *class = &port->class[which];
  Queue *queue = &class->queue;
  uint32_t index = queue->head;
  const Packet *p = pkt_packet(net, index);
  pkt_queue_area(class, csim_engine_now(net->engine));
  queue->head = p->next;
  if (queue->head == NONE) {
    queue->tail = NONE;
    port->ready &= (uint16_t) ~(1u << which);
  } else {
    __builtin_prefetch(pkt_packet(net, queue->head)); /* a long queue's frames are out of the cache */
  }
  queue->packets--;
  queue->bytes -= p->frame;
  net->loads[port - net->ports].queued -= p->frame;
  return index;
}

static inline int head_frame(const CsimPktNet *net, const Port *port, guint which) {
  return pkt_packet(net, port->class[which].queue.head)->frame;
}

/* Classes of `ready` whose first frame has its credits. */
static guint with_credit(CsimPktNet *net, Port *port, guint ready) {
  guint allowed = 0;
  for (guint c = 0; c < CSIM_PKT_CLASSES; c++)
    if (ready >> c & 1 && pkt_has_credit(net, port, c, head_frame(net, port, c))) allowed |= 1u << c;
  return allowed;
}

/* Deficit round robin among several classes. */
static guint take_turns(const CsimPktNet *net, Port *port, guint ready) {
  for (;;) {
    guint c = port->round;
    int *deficit = &port->class[c].deficit;
    if (ready >> c & 1 && *deficit >= head_frame(net, port, c)) {
      *deficit -= head_frame(net, port, c);
      return c;
    }
    if (!(ready >> c & 1)) *deficit = 0;
    port->round = (c + 1) % CSIM_PKT_CLASSES;
    if (ready >> port->round & 1) port->class[port->round].deficit += DRR_QUANTUM;
  }
}

static uint32_t next_queued(CsimPktNet *net, Port *port) {
  guint ready = port->ready & ~(guint)port->paused;
  if (ready == 0) return NONE;
  if (ready >> CONTROL & 1) return pkt_dequeue(net, port, CONTROL);
  if (csim_pkt_has_credits(net->spec.kind)) ready = with_credit(net, port, ready);
  if (ready == 0) return NONE;
  guint strict = ready & net->spec.strict_mask;
  if (strict) return pkt_dequeue(net, port, 31 - (guint)__builtin_clz(strict));
  if ((ready & (ready - 1)) == 0) return pkt_dequeue(net, port, (guint)__builtin_ctz(ready));
  return pkt_dequeue(net, port, take_turns(net, port, ready));
}

static gboolean has_work(const CsimPktNet *net, const Port *port) {
  return (port->ready & ~(guint)port->paused) != 0 || (port->is_host && pkt_host_has_data(net, port));
}

static gboolean is_lost(Port *port, const Packet *p) {
  return port->loss > 0 && p->type < PKT_PAUSE && csim_rng_uniform(&port->loss_rng) < port->loss;
}

/* A switch goes on with a frame when its header is in (64 bytes, assumed), unless the next link would run
 * dry. */
static CsimTime enter_time(CsimPktNet *net, const Port *port, const Packet *p, int wire,
                           CsimTime wire_time) {
  const CsimPktSwitch *sw = &net->nodes[port->peer_node].sw;
  if (!sw->cut_through) return wire_time + sw->latency;
  if (p->type >= PKT_UP) return pkt_wire_time(port, MIN(wire, 64)) + sw->latency;
  const Port *next = pkt_likely_egress(net, port->peer_node, pkt_qp(net, p->qp), p);
  CsimTime header = pkt_wire_time(port, MIN(wire, 64)), spare = wire_time - pkt_wire_time(next, wire);
  return MAX(header, spare) + sw->latency;
}

static void count_tx(Port *port, CsimTime now, int wire) {
  port->tx_packets++;
  port->tx_bytes += wire;
  if (port->first_tx == CSIM_TIME_NEVER) port->first_tx = now;
}

static void lose(CsimPktNet *net, Port *port, uint32_t index, int wire) {
  port->lost++;
  port->lost_bytes += wire;
  /* What is lost on the wire has not taken the buffer that its credit stands for. */
  const Packet *p = pkt_packet(net, index);
  if (csim_pkt_has_credits(net->spec.kind))
    pkt_give_credit(net, &net->ports[port->peer], p->class, p->frame,
                    csim_engine_now(net->engine) + pkt_wire_time(port, wire) + port->delay);
  pkt_release(net, index);
}

static void deliver_pause(CsimPktNet *net, Port *port, uint32_t index, CsimTime arrival, int wire) {
  Port *peer = &net->ports[port->peer];
  const Packet *p = pkt_packet(net, index);
  peer->rx_packets++;
  peer->rx_bytes += wire;
  csim_engine_at(net->engine, arrival + net->spec.pause_response, net->on_pause, p->class, port->peer,
                 (uint64_t)p->psn);
  pkt_release(net, index);
}

/* The frame is on the wire from now on. */
static void start(CsimPktNet *net, Port *port, uint32_t index) {
  Packet *p = pkt_packet(net, index);
  CsimTime now = csim_engine_now(net->engine);
  int wire = csim_pkt_wire(net->spec.kind, p->frame);
  CsimTime wire_time = pkt_wire_time(port, wire);
  port->busy_until = net->loads[port - net->ports].busy_until = now + wire_time;
  count_tx(port, now, wire);
  if (!port->is_host) pkt_leave(net, port, p);
  gboolean from_socket = port->is_host && net->spec.kind == CSIM_PKT_TCP && p->type == PKT_DATA;
  uint32_t socket = p->qp;
  int frame = p->frame;
  if (csim_pkt_has_credits(net->spec.kind)) pkt_take_credit(port, p->class, p->frame);
  if (is_lost(port, p)) {
    lose(net, port, index, wire);
  } else if (p->type == PKT_PAUSE) {
    deliver_pause(net, port, index, port->busy_until + port->delay, wire);
  } else if (port->peer_is_host) {
    pkt_deliver(net, &net->ports[port->peer], index, port->busy_until + port->delay);
  } else {
    port->flying++;
    port->flying_bytes += wire;
    csim_engine_at(net->engine, now + port->delay + enter_time(net, port, p, wire, wire_time), net->on_arrive,
                   0, port->peer, index);
  }
  if (from_socket) pkt_tcp_left(net, pkt_qp(net, socket), frame);
}

static void serve(CsimPktNet *net, Port *port) {
  uint32_t index = next_queued(net, port);
  if (index == NONE && port->is_host) index = pkt_next_data(net, port);
  if (index == NONE) return;
  start(net, port, index);
  if (port->free_pending || !has_work(net, port)) return; /* what a socket queued meanwhile may have seen to it */
  port->free_pending = TRUE;
  csim_engine_at(net->engine, port->busy_until, net->on_free, 0, (uint32_t)(port - net->ports), 0);
}

void pkt_kick(CsimPktNet *net, Port *port) {
  if (port->free_pending) return;
  if (port->busy_until <= csim_engine_now(net->engine)) {
    serve(net, port);
    return;
  }
  port->free_pending = TRUE;
  csim_engine_at(net->engine, port->busy_until, net->on_free, 0, (uint32_t)(port - net->ports), 0);
}

void csim_pkt_hold(CsimPktNet *net, guint index, CsimTime until) {
  Port *port = &net->ports[index];
  if (port->busy_until >= until) return;
  port->busy_until = net->loads[index].busy_until = until;
  if (port->free_pending) return; /* looked at when the frame under way is out, see pkt_on_free */
  port->free_pending = TRUE;
  csim_engine_at(net->engine, until, net->on_free, 0, index, 0);
}

void csim_pkt_set_rate(CsimPktNet *net, guint index, CsimRate rate) { pkt_set_rate(&net->ports[index], rate); }

void pkt_on_free(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimPktNet *net = owner;
  Port *port = &net->ports[event->entity];
  port->free_pending = FALSE;
  pkt_kick(net, port);
}

/* ---- being paused ---- */

void pkt_resume(CsimPktNet *net, Port *port, guint class) {
  Class *c = &port->class[class];
  if (!(port->paused >> class & 1)) return;
  port->paused &= (uint16_t) ~(1u << class);
  c->paused += csim_engine_now(net->engine) - c->paused_at;
  pkt_kick(net, port);
}

void pkt_on_pause(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimPktNet *net = owner;
  Port *port = &net->ports[event->entity];
  Class *c = &port->class[event->kind];
  if (!pkt_is_lossless(net, &net->nodes[port->node], event->kind)) return;
  if (event->arg == 0) {
    csim_timer_disarm(engine, &c->expiry);
    pkt_resume(net, port, event->kind);
    return;
  }
  port->pauses_received++;
  if (net->nodes[port->node].sw.watchdog > 0) pkt_watch_pause(net, port, event->kind, event->time);
  if (c->storm) return;
  if (!(port->paused >> event->kind & 1)) c->paused_at = event->time;
  port->paused |= (uint16_t)(1u << event->kind);
  csim_timer_arm(engine, &c->expiry, event->time + csim_pkt_quanta_time(port->rate, (int)event->arg));
}

void pkt_on_expiry(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimPktNet *net = owner;
  pkt_resume(net, &net->ports[event->entity], event->kind);
}
