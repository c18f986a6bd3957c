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

static void waits_for_proxy(CsimExec *x, uint32_t lane) {
  x->ranks[x->lanes[lane].rank].hand_out = x->net_model.p2p_start;
}

/* Send and receive take their buffers from a pool of the proxy: a call waits until the proxy has taken up its operations and handed out
 * buffers (NCCL 2.30, transport/net.c, shared buffers). */
void exec_net_hand_out(CsimExec *x) {
  if (x->choice.algo != CSIM_ALGO_P2P) return;
  for (uint32_t i = 0; i < x->n_nets; i++) {
    if (x->nets[i].loopback) continue; /* not seen there */
    waits_for_proxy(x, x->conns[x->nets[i].conn].tx_lane);
    waits_for_proxy(x, x->conns[x->nets[i].conn].rx_lane);
  }
}

/* Messages that may be under way on a connection. */
static uint32_t window(const CsimExec *x) {
  return x->choice.algo == CSIM_ALGO_P2P ? MIN(x->cap, x->net_model.p2p_depth) : x->cap;
}

/* Messages that may still be sent: posted by the kernel and granted by the receiver. */
static void queue_sends(CsimExec *x, uint32_t index) {
  Net *n = &x->nets[index];
  uint32_t cap = window(x);
  while (n->queued < n->posted && (n->queued < cap || n->granted > n->queued - cap)) {
    CsimTime at = n->post[n->queued % SLOTS];
    if (n->queued >= cap) at = MAX(at, n->grant[(n->queued - cap) % SLOTS]);
    n->queued++;
    csim_engine_at(x->engine, MAX(at, csim_engine_now(x->engine)), x->handler, EV_NET_SEND, index, 0);
  }
}

/* The proxy hands the next buffer to the kernel and waits for it. */
static CsimTime hand_over(const CsimExec *x, const Net *n) {
  return x->choice.algo == CSIM_ALGO_P2P && !n->loopback ? x->net_model.p2p_buffer : 0;
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
  n->grant[n->granted % SLOTS] = kernel_done + x->net_model.g2p + x->net_model.t_post + (n->collnet ? 0 : n->latency) +
                                    hand_over(x, n);
  n->granted++;
  queue_sends(x, index);
}

CsimTime exec_proxy_works(CsimExec *x, uint32_t rank, CsimTime at, CsimTime work) {
  Rank *r = &x->ranks[rank];
  r->proxy_free = MAX(r->proxy_free, at) + work;
  return r->proxy_free;
}

static const CsimNetModel *model_of(const CsimExec *x, const Net *n) { return n->loopback ? &x->loop_model : &x->net_model; }

/* Where the processor moves the data, so does its proxy thread. */
static CsimTime copy_time(const CsimNetModel *model, CsimBytes bytes) { return (CsimTime)((double)bytes * model->copy_ps); }

static void on_send(CsimExec *x, uint32_t index, CsimTime now) {
  Net *n = &x->nets[index];
  CsimTime work = x->net_model.t_post + copy_time(model_of(x, n), n->bytes[n->posting++ % SLOTS]);
  csim_engine_at(x->engine, exec_proxy_works(x, n->tx_rank, now, work), x->handler, EV_NET_FLOW, index, 0);
}

static void next_on_wire(CsimExec *x, uint32_t index) {
  Net *n = &x->nets[index];
  if (n->flowing || n->wire == n->sent) return;
  n->flowing = TRUE;
  if (n->loopback) {
    csim_engine_at(x->engine, csim_engine_now(x->engine), x->handler, EV_NET_WIRE, index, 0);
    return;
  }
  CsimBytes bytes = n->bytes[n->wire % SLOTS];
  const CsimFlowLink *links = &g_array_index(x->links, CsimFlowLink, n->links);
  CsimRate cap = exec_sockets_cap(x, n->cap, bytes);
  csim_fluid_start_at(x->fluid, n->wire_free, &n->flow_hint, links, n->n_links, bytes, cap, x->handler, EV_NET_WIRE, index, 0);
}

void exec_net_left(CsimExec *x, uint32_t index, CsimTime now) {
  Net *n = &x->nets[index];
  Conn *c = &x->conns[n->conn];
  n->wire++;
  csim_engine_at(x->engine, now + n->latency, x->handler, EV_NET_ARRIVE, index, 0);
  x->slots[exec_slot(x, c, c->credits)].credit = now + n->latency + x->net_model.p2g;
  c->credits++;
  exec_poke(x, c->tx_lane);
}

static void on_wire_done(CsimExec *x, uint32_t index, CsimTime now) {
  Net *n = &x->nets[index];
  n->flowing = FALSE;
  n->wire_free = now + (n->bytes[n->wire % SLOTS] > n->ack_above ? n->ack : 0);
  exec_net_left(x, index, now);
  next_on_wire(x, index);
}

static void on_arrive(CsimExec *x, uint32_t index, CsimTime now) {
  Net *n = &x->nets[index];
  Conn *c = &x->conns[n->conn];
  const CsimNetModel *model = model_of(x, n);
  CsimBytes bytes = n->bytes[n->arrived % SLOTS];
  CsimTime step = model->step + copy_time(model, bytes);
  if (model->inline_bytes > 0 && bytes > model->inline_bytes) step += model->extra_step;
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
  case EV_NET_SEND:
    if (x->nets[index].collnet) exec_collnet_filled(x, index, event->time);
    else on_send(x, index, event->time);
    break;
  case EV_NET_FLOW:
    x->nets[index].sent++;
    if (x->nets[index].n_qps > 1) exec_qps_send(x, index);
    else if (!x->packets || !exec_packets_send(x, index)) next_on_wire(x, index);
    break;
  case EV_NET_WIRE: on_wire_done(x, index, event->time); break;
  case EV_NET_ARRIVE: on_arrive(x, index, event->time); break;
  case EV_QP_DONE: exec_qps_event(x, event); break;
  case EV_FLAP: exec_flaps_event(x, event); break;
  case EV_COLLNET_POSTED:
  case EV_COLLNET_FLOW:
  case EV_COLLNET_DONE:
  case EV_PKT_REDUCED: exec_collnet_event(x, event); break;
  default: exec_packets_event(x, event);
  }
}
