/*
 * exec/net.c - a network connection between two kernels: proxies and wire.
 *
 *   kernel done -> g2p -> sender's proxy (serial, t_post) -> wire, in order, one message of a connection at a time -> latency
 *     -> receiver's proxy (serial, t_poll) -> flush -> p2g -> visible to the kernel
 *   sender's slot is free again when the acknowledgement is back: wire end + latency + p2g;
 *   the receiver grants a slot again: kernel done + g2p + t_post + latency.
 *
 * A proxy serves events in order of time, so each stage is an event; there are four an operation.
 */
#include "exec/exec-private.h"

/* Messages that may still be sent: posted by the kernel and granted by the receiver. */
static void queue_sends(CsimExec *x, uint32_t index) {
  Net *n = &x->nets[index];
  uint32_t cap = x->cap;
  while (n->queued < n->posted && (n->queued < cap || n->granted > n->queued - cap)) {
    CsimTime at = n->post[n->queued % SLOTS];
    if (n->queued >= cap) at = MAX(at, n->grant[(n->queued - cap) % SLOTS]);
    n->queued++;
    csim_engine_at(x->engine, MAX(at, csim_engine_now(x->engine)), x->handler, EV_NET_SEND, index, 0);
  }
}

void exec_net_post(CsimExec *x, uint32_t index, CsimTime kernel_done, CsimBytes wire_bytes) {
  Net *n = &x->nets[index];
  n->post[n->posted % SLOTS] = kernel_done + x->net_model.g2p;
  n->bytes[n->posted % SLOTS] = wire_bytes;
  n->posted++;
  queue_sends(x, index);
}

void exec_net_consumed(CsimExec *x, uint32_t index, CsimTime kernel_done) {
  Net *n = &x->nets[index];
  n->grant[n->granted % SLOTS] = kernel_done + x->net_model.g2p + x->net_model.t_post + (n->collnet ? 0 : n->latency);
  n->granted++;
  queue_sends(x, index);
}

CsimTime exec_proxy_works(CsimExec *x, uint32_t rank, CsimTime at, CsimTime work) {
  Rank *r = &x->ranks[rank];
  r->proxy_free = MAX(r->proxy_free, at) + work;
  return r->proxy_free;
}

static void next_on_wire(CsimExec *x, uint32_t index) {
  Net *n = &x->nets[index];
  if (n->flowing || n->wire == n->sent) return;
  n->flowing = TRUE;
  CsimBytes bytes = n->bytes[n->wire % SLOTS];
  const CsimFlowLink *links = &g_array_index(x->links, CsimFlowLink, n->links);
  csim_fluid_start_at(x->fluid, 0, &n->flow_hint, links, n->n_links, bytes, n->cap, x->handler, EV_NET_WIRE, index, 0);
}

static void on_wire_done(CsimExec *x, uint32_t index, CsimTime now) {
  Net *n = &x->nets[index];
  Conn *c = &x->conns[n->conn];
  n->flowing = FALSE;
  n->wire++;
  csim_engine_at(x->engine, now + n->latency, x->handler, EV_NET_ARRIVE, index, 0);
  x->slots[exec_slot(x, c, c->credits)].credit = now + n->latency + x->net_model.p2g;
  c->credits++;
  exec_poke(x, c->tx_lane);
  next_on_wire(x, index);
}

static void on_arrive(CsimExec *x, uint32_t index, CsimTime now) {
  Net *n = &x->nets[index];
  Conn *c = &x->conns[n->conn];
  CsimTime step = x->net_model.step;
  if (x->net_model.inline_bytes > 0 && n->bytes[n->arrived % SLOTS] > x->net_model.inline_bytes) step += x->net_model.extra_step;
  n->arrived++;
  CsimTime polled = exec_proxy_works(x, n->rx_rank, now, x->net_model.t_poll + step);
  x->slots[exec_slot(x, c, c->produced)].visible = polled + n->flush + x->net_model.p2g;
  c->produced++;
  c->finished++;
  exec_poke(x, c->rx_lane);
}

void exec_net_event(CsimExec *x, const CsimEvent *event) {
  uint32_t index = event->entity;
  switch (event->kind) {
  case EV_NET_SEND: {
    if (x->nets[index].collnet) {
      exec_collnet_filled(x, index, event->time);
      break;
    }
    CsimTime done = exec_proxy_works(x, x->nets[index].tx_rank, event->time, x->net_model.t_post);
    csim_engine_at(x->engine, done, x->handler, EV_NET_FLOW, index, 0);
    break;
  }
  case EV_NET_FLOW:
    x->nets[index].sent++;
    if (!x->packets || !exec_packets_send(x, index)) next_on_wire(x, index);
    break;
  case EV_NET_WIRE: on_wire_done(x, index, event->time); break;
  case EV_NET_ARRIVE: on_arrive(x, index, event->time); break;
  case EV_COLLNET_POSTED:
  case EV_COLLNET_FLOW:
  case EV_COLLNET_DONE: exec_collnet_event(x, event); break;
  default: exec_packets_event(x, event);
  }
}
