/* models/pkt/tcp-cubic.c - congestion controls that go by losses: CUBIC (RFC 9438) and Reno (RFC 5681). */
#include "models/pkt/tcp-private.h"

#include "base/units.h"

#include <math.h>

#define C 0.4    /* segments/s^3 */
#define BETA 0.7
/* HyStart, as Linux has it (net/ipv4/tcp_cubic.c): from 16 segments on, least of a round's first 8 RTTs against the least of all. */
#define HYSTART_WINDOW 16
#define HYSTART_SAMPLES 8
#define HYSTART_LEAST (4 * CSIM_MS)
#define HYSTART_MOST (16 * CSIM_MS)

/* Slow start ends where queues begin to grow. */
static void hystart(Tcp *tcp, int64_t next_psn, int64_t acked_psn, const Sample *s) {
  Cubic *c = &tcp->cubic;
  if (acked_psn > c->round_end) *c = (Cubic){.w_max = c->w_max, .round_end = next_psn};
  if (s->rtt == 0 || c->samples == HYSTART_SAMPLES) return;
  c->round_rtt = c->samples == 0 ? s->rtt : MIN(c->round_rtt, s->rtt);
  if (++c->samples < HYSTART_SAMPLES || tcp->cwnd < HYSTART_WINDOW) return;
  CsimTime above = CLAMP(tcp->min_rtt / 8, HYSTART_LEAST, HYSTART_MOST);
  if (c->round_rtt >= tcp->min_rtt + above) tcp->threshold = tcp->cwnd;
}

static void begin_epoch(Tcp *tcp, CsimTime now) {
  Cubic *c = &tcp->cubic;
  c->epoch = now;
  c->estimate = tcp->cwnd;
  c->origin = MAX(c->w_max, tcp->cwnd);
  c->k = cbrt((c->origin - tcp->cwnd) / C);
}

static void grow_cubic(Tcp *tcp, const Sample *s) {
  Cubic *c = &tcp->cubic;
  double acked = (double)s->acked;
  if (c->epoch == 0) begin_epoch(tcp, s->now);
  double t = tcp_seconds(s->now - c->epoch), ahead = t + tcp_seconds(tcp->min_rtt) - c->k;
  double target = CLAMP(c->origin + C * ahead * ahead * ahead, tcp->cwnd, 1.5 * tcp->cwnd);
  double alpha = c->estimate < c->w_max ? 3 * (1 - BETA) / (1 + BETA) : 1;
  c->estimate += alpha * acked / tcp->cwnd;
  tcp->cwnd = MAX(c->estimate, tcp->cwnd + (target - tcp->cwnd) * acked / tcp->cwnd);
}

void tcp_loss_acked(Tcp *tcp, CsimTcpControl control, int64_t next_psn, int64_t acked_psn, const Sample *s) {
  gboolean slow_start = tcp->cwnd < tcp->threshold;
  if (tcp->recovering) return;
  if (slow_start && control == CSIM_TCP_CUBIC) hystart(tcp, next_psn, acked_psn, s);
  /* A window that is not used does not grow (RFC 9438 4.2, RFC 7661). */
  if ((double)s->flight * (slow_start ? 2 : 1) < floor(tcp->cwnd)) return;
  if (slow_start) tcp->cwnd = MIN(tcp->cwnd + (double)s->acked, MAX(tcp->threshold, tcp->cwnd));
  else if (control == CSIM_TCP_CUBIC) grow_cubic(tcp, s);
  else tcp->cwnd += (double)s->acked / tcp->cwnd;
}

void tcp_loss_cut(Tcp *tcp, CsimTcpControl control) {
  Cubic *c = &tcp->cubic;
  double left = control == CSIM_TCP_CUBIC ? BETA : 0.5;
  /* Fast convergence: one that has less than before leaves more to others. */
  c->w_max = tcp->cwnd < c->w_max ? tcp->cwnd * (1 + BETA) / 2 : tcp->cwnd;
  c->epoch = 0;
  tcp->threshold = MAX(tcp->cwnd * left, 2);
  tcp->cwnd = tcp->threshold;
}
