/*
 * models/pkt/tcp-bbr.c - BBR, version 1: paced at the largest rate that the last ten round trips delivered, two bandwidth-delay products under way
 * (draft-cardwell-iccrg-bbr-congestion-control-00; what the draft leaves open as Linux has it, net/ipv4/tcp_bbr.c). Without the estimate for policers.
 */
#include "models/pkt/tcp-private.h"

#include "base/units.h"

#include <math.h>

#define HIGH_GAIN 2.885 /* 2 / ln 2 */
#define WINDOW_GAIN 2.0
#define PHASES 8
#define MIN_WINDOW 4
#define MARGIN 0.99 /* of the pacing rate, so that queues drain */
#define FULL_GROWTH 1.25
#define FULL_ROUNDS 3
#define MIN_RTT_LIFE (10 * CSIM_S)
#define PROBE_RTT_TIME (200 * CSIM_MS)
#define EXTRA_ROUNDS 5
#define EXTRA_MOST (100 * CSIM_MS) /* of the rate, beyond the window */
#define FIRST_RTT CSIM_MS          /* before any sample */
enum { PURPOSE_CYCLE = 71 };

static const double phase_gain[PHASES] = {1.25, 0.75, 1, 1, 1, 1, 1, 1};

static double bandwidth(const Bbr *b) {
  double best = 0;
  for (int i = 0; i < BBR_ROUNDS; i++) best = MAX(best, b->best[i]);
  return best;
}

/* Segments under way for that gain, with room for bursts at both ends. */
static double inflight(const Tcp *tcp, double rate, double gain) {
  const Bbr *b = &tcp->bbr;
  if (b->min_rtt == 0) return TCP_INITIAL_WINDOW;
  double n = ceil(rate * tcp_seconds(b->min_rtt) * gain / tcp->mss) + 3 * floor(tcp_burst(tcp, tcp->rate) / tcp->mss);
  n = 2 * floor((n + 1) / 2);
  return n + (b->mode == BBR_PROBE_BW && b->cycle == 0 ? 2 : 0);
}

static void set_rate(Tcp *tcp, double gain) {
  Bbr *b = &tcp->bbr;
  double rate = bandwidth(b) * gain * MARGIN;
  if (rate > 0 && (b->is_full || rate > tcp->rate)) tcp->rate = rate;
}

static void set_gains(Bbr *b) {
  b->pacing_gain = b->mode == BBR_STARTUP ? HIGH_GAIN : b->mode == BBR_DRAIN ? 1 / HIGH_GAIN : b->mode == BBR_PROBE_BW ? phase_gain[b->cycle] : 1;
  b->window_gain = b->mode == BBR_STARTUP || b->mode == BBR_DRAIN ? HIGH_GAIN : b->mode == BBR_PROBE_BW ? WINDOW_GAIN : 1;
}

void tcp_bbr_init(Tcp *tcp, uint64_t seed, uint32_t id, CsimTime now) {
  Bbr *b = &tcp->bbr;
  *b = (Bbr){.mode = BBR_STARTUP, .min_rtt_at = now};
  csim_rng_init(&b->rng, seed, id, PURPOSE_CYCLE);
  set_gains(b);
  tcp->rate = HIGH_GAIN * TCP_INITIAL_WINDOW * tcp->mss / tcp_seconds(FIRST_RTT);
}

/* ---- the model of the path ---- */

static void update_bandwidth(Tcp *tcp, const Sample *s) {
  Bbr *b = &tcp->bbr;
  b->round_start = FALSE;
  if (s->interval == 0) return;
  if (s->before >= b->next_round) {
    b->next_round = tcp->delivered;
    b->round_start = TRUE;
    b->conservation = FALSE;
    b->best[++b->round % BBR_ROUNDS] = 0;
  }
  double rate = (double)s->bytes / tcp_seconds(s->interval);
  double *best = &b->best[b->round % BBR_ROUNDS];
  if (!s->app_limited || rate >= bandwidth(b)) *best = MAX(*best, rate);
}

/* ACKs come in bunches: what came in beyond the estimate may be under way as well. */
static void update_extra(Tcp *tcp, const Sample *s) {
  Bbr *b = &tcp->bbr;
  if (s->acked == 0) return;
  if (b->round_start && b->round - b->extra_round >= EXTRA_ROUNDS) {
    b->extra_round = b->round;
    b->extra[1] = b->extra[0];
    b->extra[0] = 0;
  }
  double expected = bandwidth(b) * tcp_seconds(s->now - b->epoch_at) / tcp->mss;
  if (b->epoch_acked <= expected) {
    b->epoch_at = s->now;
    b->epoch_acked = expected = 0;
  }
  b->epoch_acked += (double)s->acked;
  b->extra[0] = MAX(b->extra[0], MIN(b->epoch_acked - expected, tcp->cwnd));
}

static void next_phase(Tcp *tcp) {
  tcp->bbr.cycle = (tcp->bbr.cycle + 1) % PHASES;
  tcp->bbr.cycle_at = tcp->delivered_at;
}

static gboolean phase_is_over(const Tcp *tcp, const Sample *s) {
  const Bbr *b = &tcp->bbr;
  gboolean long_enough = tcp->delivered_at - b->cycle_at > b->min_rtt;
  double gain = phase_gain[b->cycle];
  if (gain > 1) return long_enough && (s->lost > 0 || (double)s->flight >= inflight(tcp, bandwidth(b), gain));
  if (gain < 1) return long_enough || (double)s->flight <= inflight(tcp, bandwidth(b), 1);
  return long_enough;
}

static void look_if_full(Tcp *tcp, const Sample *s) {
  Bbr *b = &tcp->bbr;
  if (b->is_full || !b->round_start || s->app_limited) return;
  if (bandwidth(b) >= b->full * FULL_GROWTH) {
    b->full = bandwidth(b);
    b->full_rounds = 0;
    return;
  }
  b->is_full = ++b->full_rounds >= FULL_ROUNDS;
}

/* Any phase may come first but the one that drains. */
static void probe_bandwidth(Tcp *tcp) {
  tcp->bbr.mode = BBR_PROBE_BW;
  tcp->bbr.cycle = PHASES - 1 - (int)csim_rng_below(&tcp->bbr.rng, PHASES - 1);
  next_phase(tcp);
}

static void drain(Tcp *tcp) {
  Bbr *b = &tcp->bbr;
  if (b->mode == BBR_STARTUP && b->is_full) b->mode = BBR_DRAIN;
  if (b->mode == BBR_DRAIN && (double)tcp->flight <= inflight(tcp, bandwidth(b), 1)) probe_bandwidth(tcp);
}

static void save_window(Tcp *tcp) {
  Bbr *b = &tcp->bbr;
  b->prior_window = b->was_recovering || b->mode == BBR_PROBE_RTT ? MAX(b->prior_window, tcp->cwnd) : tcp->cwnd;
}

static void probe_rtt(Tcp *tcp, const Sample *s) {
  Bbr *b = &tcp->bbr;
  tcp->app_limited = MAX(tcp->delivered + tcp->flight * tcp->mss, 1);
  if (b->probe_done == 0 && tcp->flight <= MIN_WINDOW) {
    b->probe_done = s->now + PROBE_RTT_TIME;
    b->probe_round = FALSE;
    b->next_round = tcp->delivered;
  } else if (b->probe_done > 0) {
    b->probe_round |= b->round_start;
    if (!b->probe_round || s->now <= b->probe_done) return;
    b->min_rtt_at = s->now;
    tcp->cwnd = MAX(tcp->cwnd, b->prior_window);
    if (b->is_full) probe_bandwidth(tcp);
    else b->mode = BBR_STARTUP;
  }
}

static void update_min_rtt(Tcp *tcp, const Sample *s) {
  Bbr *b = &tcp->bbr;
  gboolean expired = s->now > b->min_rtt_at + MIN_RTT_LIFE;
  if (s->rtt > 0 && (b->min_rtt == 0 || s->rtt < b->min_rtt || expired)) {
    b->min_rtt = s->rtt;
    b->min_rtt_at = s->now;
  }
  if (expired && !b->idle_restart && b->mode != BBR_PROBE_RTT) {
    save_window(tcp);
    b->mode = BBR_PROBE_RTT;
    b->probe_done = 0;
  }
  if (b->mode == BBR_PROBE_RTT) probe_rtt(tcp, s);
  if (s->acked > 0) b->idle_restart = FALSE;
}

/* ---- the window ---- */

/* TRUE: packets are conserved, the window is set. */
static gboolean recover(Tcp *tcp, const Sample *s) {
  Bbr *b = &tcp->bbr;
  tcp->cwnd = MAX(tcp->cwnd - (double)s->lost, 1);
  if (tcp->recovering && !b->was_recovering) {
    b->conservation = TRUE;
    b->next_round = tcp->delivered;
    tcp->cwnd = (double)(tcp->flight + s->acked);
  } else if (!tcp->recovering && b->was_recovering) {
    tcp->cwnd = MAX(tcp->cwnd, b->prior_window);
    b->conservation = FALSE;
  }
  b->was_recovering = tcp->recovering;
  if (b->conservation) tcp->cwnd = MAX(tcp->cwnd, (double)(tcp->flight + s->acked));
  return b->conservation;
}

static void set_window(Tcp *tcp, const Sample *s) {
  Bbr *b = &tcp->bbr;
  double rate = bandwidth(b), acked = (double)s->acked;
  if (s->acked > 0 && !recover(tcp, s)) {
    double extra = b->is_full ? MIN(MAX(b->extra[0], b->extra[1]), rate * tcp_seconds(EXTRA_MOST) / tcp->mss) : 0;
    double target = inflight(tcp, rate, b->window_gain) + extra;
    if (b->is_full) tcp->cwnd = MIN(tcp->cwnd + acked, target);
    else if (tcp->cwnd < target || tcp->delivered < TCP_INITIAL_WINDOW * tcp->mss) tcp->cwnd += acked;
    tcp->cwnd = MAX(tcp->cwnd, MIN_WINDOW);
  }
  if (b->mode == BBR_PROBE_RTT) tcp->cwnd = MIN(tcp->cwnd, MIN_WINDOW);
}

void tcp_bbr_acked(Tcp *tcp, const Sample *s) {
  Bbr *b = &tcp->bbr;
  /* The first round trip tells how fast the first window was. */
  if (b->min_rtt == 0 && s->rtt > 0) tcp->rate = HIGH_GAIN * tcp->cwnd * tcp->mss / tcp_seconds(s->rtt);
  if (tcp->recovering && !b->was_recovering) save_window(tcp);
  update_bandwidth(tcp, s);
  update_extra(tcp, s);
  if (b->mode == BBR_PROBE_BW && phase_is_over(tcp, s)) next_phase(tcp);
  look_if_full(tcp, s);
  drain(tcp);
  update_min_rtt(tcp, s);
  set_gains(b);
  set_rate(tcp, b->pacing_gain);
  set_window(tcp, s);
}

void tcp_bbr_timeout(Tcp *tcp) {
  Bbr *b = &tcp->bbr;
  save_window(tcp);
  b->was_recovering = TRUE;
  b->full = 0;
  b->round_start = TRUE;
  tcp->cwnd = 1;
}

void tcp_bbr_starts(Tcp *tcp, CsimTime now) {
  Bbr *b = &tcp->bbr;
  if (tcp->app_limited == 0) return;
  b->idle_restart = TRUE;
  b->epoch_at = now;
  b->epoch_acked = 0;
  if (b->mode == BBR_PROBE_BW) set_rate(tcp, 1);
}
