/*
 * exec/qps.c - a network connection of several queue pairs, whose flows may take different ways through the fabric.
 *
 * NCCL makes NCCL_IB_QPS_PER_CONNECTION queue pairs for a connection. Message k goes over queue pair k mod n, or, with
 * NCCL_IB_SPLIT_DATA_ON_QPS=1, is cut into n pieces of round128(size / n) bytes, one for each (NCCL 2.30, src/transport/net_ib). A queue pair sends
 * one piece at a time, in order, and waits for the acknowledgement of a large one; queue pairs send side by side. Messages are handed on in order.
 * Where the fabric tells flows apart by their hash each queue pair has a way of its own. Elsewhere they share one: those that take turns still send
 * side by side, each at its pace, and those that share every message are one of several times the pace. At packet fidelity packets.c does all this.
 */
#include "exec/exec-private.h"

#define PIECE_ALIGN 128
#define MAX_QPS 128

uint32_t exec_qps_given(const CsimExec *x) {
  return (uint32_t)CLAMP(csim_nccl_env_int(x->spec.env, "NCCL_IB_QPS_PER_CONNECTION", 1), 1, MAX_QPS);
}

uint32_t exec_qps_wanted(const CsimExec *x) {
  CsimTransport transport = csim_machine_cluster(x->spec.machine)->fabric.transport;
  gboolean verbs = transport == CSIM_TRANSPORT_IB || transport == CSIM_TRANSPORT_ROCE;
  if (!verbs || x->spec.packets || !csim_machine_spreads(x->spec.machine)) return 1;
  return x->env.qps;
}

uint32_t exec_qp_hash(const CsimExec *x, uint32_t conn, uint32_t qp) {
  return conn + (uint32_t)((x->spec.seed - 1) * UINT64_C(0x9e3779b1)) + qp * UINT32_C(0x85ebca77);
}

CsimBytes exec_qp_piece(CsimBytes bytes, uint32_t n, uint32_t qp) {
  CsimBytes piece = (bytes + n - 1) / n;
  piece = (piece + PIECE_ALIGN - 1) / PIECE_ALIGN * PIECE_ALIGN;
  return CLAMP(bytes - qp * piece, 0, piece);
}

static Way *way_at(CsimExec *x, const Net *n, uint32_t qp) { return &g_array_index(x->ways, Way, n->first_way + qp); }

static CsimBytes piece_bytes(const CsimExec *x, const Net *n, uint32_t qp, uint32_t message) {
  CsimBytes bytes = n->bytes[message % SLOTS];
  if (!x->qp_split) return bytes;
  return exec_qp_piece(bytes, n->n_qps, qp);
}

/* Messages that are through, in order. */
static void hand_on(CsimExec *x, uint32_t index, CsimTime now) {
  Net *n = &x->nets[index];
  while (n->wire < n->sent && n->pieces[n->wire % SLOTS] == 0) exec_net_left(x, index, now);
}

/* The queue pair's next piece, or nothing if it has none or is busy. Pieces without bytes pass at once. */
static void next_piece(CsimExec *x, uint32_t index, uint32_t qp) {
  Net *n = &x->nets[index];
  Way *w = way_at(x, n, qp);
  while (!w->busy && w->next < n->sent) {
    CsimBytes bytes = piece_bytes(x, n, qp, w->next);
    if (bytes == 0) {
      n->pieces[w->next % SLOTS]--;
      w->next += x->qp_split ? 1 : n->n_qps;
      continue;
    }
    w->busy = TRUE;
    const CsimFlowLink *links = &g_array_index(x->links, CsimFlowLink, w->links);
    csim_fluid_start_at(x->fluid, w->free, &w->flow_hint, links, w->n_links, bytes, w->cap, x->handler, EV_QP_DONE, index, qp);
  }
}

void exec_qps_send(CsimExec *x, uint32_t index) {
  Net *n = &x->nets[index];
  uint32_t message = n->sent - 1;
  n->pieces[message % SLOTS] = (uint8_t)(x->qp_split ? n->n_qps : 1);
  if (!x->qp_split) next_piece(x, index, message % n->n_qps);
  for (uint32_t qp = 0; x->qp_split && qp < n->n_qps; qp++) next_piece(x, index, qp);
  hand_on(x, index, csim_engine_now(x->engine));
}

void exec_qps_event(CsimExec *x, const CsimEvent *event) {
  Net *n = &x->nets[event->entity];
  uint32_t qp = (uint32_t)event->arg;
  Way *w = way_at(x, n, qp);
  w->busy = FALSE;
  w->free = event->time + (piece_bytes(x, n, qp, w->next) > n->ack_above ? n->ack : 0);
  n->pieces[w->next % SLOTS]--;
  w->next += x->qp_split ? 1 : n->n_qps;
  next_piece(x, event->entity, qp);
  hand_on(x, event->entity, event->time);
}
