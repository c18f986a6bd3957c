/* models/pkt/tcp-receiver.c - the receiving half of a TCP connection: which segments are acknowledged, and when. */
#include "models/pkt/tcp-private.h"

#define PER_ACK 2 /* RFC 5681: every second full segment */

uint64_t pkt_sack(int64_t cumulative, int64_t first, int64_t n) {
  g_assert(cumulative < INT64_C(1) << (64 - 2 * PKT_SACK_BITS));
  uint64_t ahead = n > 0 ? (uint64_t)(first - cumulative) : 0;
  return (uint64_t)cumulative << (2 * PKT_SACK_BITS) | ahead << PKT_SACK_BITS | (uint64_t)n;
}

void pkt_sack_read(uint64_t arg, int64_t *cumulative, int64_t *first, int64_t *n) {
  *cumulative = (int64_t)(arg >> (2 * PKT_SACK_BITS));
  *first = *cumulative + (int64_t)(arg >> PKT_SACK_BITS & (PKT_SACK_MOST - 1));
  *n = (int64_t)(arg & (PKT_SACK_MOST - 1));
}

/* RFC 2018: the block that holds the segment; it grows as long as segments follow each other. */
static void note_block(Tcp *tcp, int64_t psn) {
  if (psn != tcp->block_end) tcp->block = psn;
  tcp->block_end = psn + 1;
}

static uint64_t ack_of(const Qp *qp) {
  const Tcp *tcp = qp->tcp;
  int64_t first = MAX(tcp->block, qp->expected);
  return pkt_sack(qp->expected, first, MAX(tcp->block_end - first, 0));
}

static void send_ack(CsimPktNet *net, Qp *qp, CsimTime arrival) {
  Tcp *tcp = qp->tcp;
  tcp->unacked = 0;
  if (tcp->quick > 0) tcp->quick--;
  csim_timer_disarm(net->engine, &tcp->delayed);
  pkt_effect_ack(net, qp, arrival + net->spec.tcp.ack_delay, ack_of(qp));
}

/* At once for every second segment, a message's end (which its reader asks for), and whatever shows a gap or fills one. */
void pkt_tcp_take(CsimPktNet *net, Qp *qp, const Packet *p, CsimTime arrival) {
  Tcp *tcp = qp->tcp;
  guint8 flags;
  gboolean fresh = pkt_early_take(net, qp, p), at_once = !fresh || p->psn != qp->expected || qp->highest > p->psn;
  if (!fresh) qp->stats.duplicates++;
  if (fresh) {
    qp->stats.received++;
    if (p->psn != qp->expected) qp->stats.out_of_order++;
    qp->highest = MAX(qp->highest, p->psn + 1);
    note_block(tcp, p->psn);
    while (pkt_early_next(qp, &flags)) {
      if (!(flags & PKT_LAST)) continue;
      at_once = TRUE;
      pkt_tell_delivered(net, qp, arrival);
    }
  }
  if (at_once || ++tcp->unacked >= PER_ACK || tcp->quick > 0) send_ack(net, qp, arrival);
  else csim_timer_arm(net->engine, &tcp->delayed, arrival + net->spec.tcp.delayed_ack);
}

void pkt_on_delayed(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimPktNet *net = owner;
  (void)engine;
  send_ack(net, pkt_qp(net, event->entity), event->time);
}
