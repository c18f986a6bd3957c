/*
 * models/pkt/tcp.c - the sending half of a TCP connection: what may go, losses, timers (docs/models/tcp.md).
 *
 * Segments are the packets of messages; a message's end ends a segment. What may go is queued in the adapter, in order with all else that leaves it,
 * up to a limit for each connection (Linux: TCP small queues), so a sender's own adapter delays and never drops.
 * Losses: a segment is lost when a later one was delivered and three are, or recovery has begun (RACK, RFC 8985, with no reordering on one path);
 * a lone tail is probed (TLP); else the time-out of RFC 6298.
 */
#include "base/units.h"
#include "models/pkt/tcp-private.h"

#include <math.h>

#define NIC_LEAST 131072              /* bytes of a connection in the adapter's queue: two full segmentation offloads, or a millisecond */
#define SEGMENT_EXTRA 640             /* bytes of a segment's headers and of what the kernel notes beside it (MAX_TCP_HEADER, skb_shared_info) */
#define BUFFER_HEAD 256               /* sk_buff */
#define CLOCK_GRAIN CSIM_MS           /* of timers: a kernel's tick at 1000 Hz */
#define FIRST_RTO CSIM_S              /* RFC 6298 */
#define MAX_RTO (120 * CSIM_S)
#define DUP_THRESHOLD 3
#define QUICK_ACKS 16                 /* of a young connection (Linux: TCP_MAX_QUICKACKS) */

CsimBytes csim_tcp_window(CsimBytes send_buffer, CsimBytes receive_buffer) { return MIN(send_buffer, receive_buffer / 2); }

CsimTcp csim_tcp_linux(void) {
  return (CsimTcp){.control = CSIM_TCP_CUBIC,
                   .window = csim_tcp_window(INT64_C(4) << 20, INT64_C(6) << 20),
                   .delayed_ack = 40 * CSIM_MS,
                   .min_rto = 200 * CSIM_MS,
                   .retries = 15};
}

void pkt_tcp_init(CsimPktNet *net, Qp *qp) {
  Tcp *tcp = qp->tcp = g_new0(Tcp, 1);
  tcp->mss = net->spec.mtu;
  tcp->cwnd = TCP_INITIAL_WINDOW;
  tcp->threshold = INFINITY;
  tcp->quick = QUICK_ACKS;
  tcp->recovery_end = -1;
  tcp->rack_psn = -1;
  qp->window = MAX(net->spec.tcp.window / tcp->mss, 2);
  tcp->size = 16;
  while (tcp->size <= qp->window + TCP_INITIAL_WINDOW) tcp->size *= 2; /* probes go beyond the window */
  g_assert(tcp->size <= PKT_SACK_MOST);
  tcp->sent = g_new0(Sent, (gsize)tcp->size);
  csim_timer_init(&tcp->delayed, net->on_delayed, 0, qp->id, 0);
  if (net->spec.tcp.control == CSIM_TCP_BBR) tcp_bbr_init(tcp, net->spec.seed, qp->id, csim_engine_now(net->engine));
}

void pkt_tcp_free(Qp *qp) {
  if (qp->tcp) g_free(qp->tcp->sent);
  g_free(qp->tcp);
}

/* ---- timers ---- */

static CsimTime rto(const CsimPktNet *net, const Qp *qp) {
  const Tcp *tcp = qp->tcp;
  CsimTime base = tcp->srtt == 0 ? FIRST_RTO : tcp->srtt + MAX(net->spec.tcp.min_rto, MAX(4 * tcp->rttvar, CLOCK_GRAIN));
  return MIN(base << MIN(qp->retries, 10), MAX_RTO);
}

/* A probe's time-out; a lone segment's ACK may be put off. */
static CsimTime probe_time(const CsimPktNet *net, const Tcp *tcp) {
  return 2 * tcp->srtt + (tcp->flight == 1 ? net->spec.tcp.min_rto : 2 * CLOCK_GRAIN);
}

static void arm(CsimPktNet *net, Qp *qp) {
  Tcp *tcp = qp->tcp;
  CsimTime wait = rto(net, qp);
  if (qp->next_psn == qp->acked_psn) {
    csim_timer_disarm(net->engine, &qp->timer);
    return;
  }
  tcp->probing = !tcp->recovering && !tcp->probe_sent && tcp->srtt > 0 && tcp->n_sacked == 0 && probe_time(net, tcp) < wait;
  if (tcp->probing) wait = probe_time(net, tcp);
  csim_timer_arm(net->engine, &qp->timer, csim_engine_now(net->engine) + wait);
}

static void take_rtt(Tcp *tcp, CsimTime rtt) {
  if (tcp->srtt == 0) {
    tcp->srtt = rtt;
    tcp->rttvar = rtt / 2;
  } else {
    tcp->rttvar += (ABS(tcp->srtt - rtt) - tcp->rttvar) / 4;
    tcp->srtt += (rtt - tcp->srtt) / 8;
  }
  tcp->min_rtt = tcp->min_rtt == 0 ? rtt : MIN(tcp->min_rtt, rtt);
}

/* ---- the send buffer ---- */

/* Room grows with the window and never shrinks (Linux: tcp_sndbuf_expand): so many windows of segments, each rounded up to a power of two with its headers. */
static void grow_buffer(const CsimPktNet *net, Tcp *tcp) {
  int64_t windows = net->spec.tcp.control == CSIM_TCP_BBR ? 3 : 2, each = 1;
  while (each < tcp->mss + SEGMENT_EXTRA) each *= 2;
  CsimBytes room = (CsimBytes)MAX(tcp->cwnd, TCP_INITIAL_WINDOW) * windows * (each + BUFFER_HEAD);
  tcp->kept = MAX(tcp->kept, MIN(room, net->spec.tcp.send_buffer) / tcp->mss);
}

/* Messages that are in there are done. */
static void keep(CsimPktNet *net, Qp *qp) {
  Tcp *tcp = qp->tcp;
  if (net->spec.tcp.send_buffer == 0) return;
  grow_buffer(net, tcp);
  while (tcp->unkept && tcp->unkept->end - qp->acked_psn <= tcp->kept) {
    Message *message = tcp->unkept;
    Message done = *message;
    message->handler = CSIM_PKT_SILENT;
    tcp->unkept = message->next;
    if (done.handler != CSIM_PKT_SILENT) csim_engine_fire(net->engine, done.handler, done.kind, done.entity, done.arg);
  }
}

void pkt_tcp_post(CsimPktNet *net, Qp *qp, Message *message) {
  if (!qp->tcp->unkept) qp->tcp->unkept = message;
  keep(net, qp);
}

/* ---- sending ---- */

static double pace_of(const Qp *qp) {
  const Tcp *tcp = qp->tcp;
  if (qp->cap <= 0) return tcp->rate;
  return tcp->rate > 0 ? MIN(tcp->rate, (double)qp->cap) : (double)qp->cap;
}

/* Bytes of a connection that may wait in the adapter: a millisecond of its pace; without one Linux takes 1.2 windows an RTT. */
static CsimBytes nic_limit(const Tcp *tcp) {
  double rate = tcp->rate;
  if (rate <= 0 && tcp->srtt > 0) rate = 1.2 * tcp->cwnd * tcp->mss * 1e12 / (double)tcp->srtt;
  return MAX(NIC_LEAST, (CsimBytes)(rate / 1024));
}

/* Linux shrinks an idle connection's window, by half each time-out, down to the first one. */
static void restart_after_idle(CsimPktNet *net, Qp *qp, CsimTime now) {
  Tcp *tcp = qp->tcp;
  CsimTime wait = rto(net, qp);
  if (net->spec.tcp.control == CSIM_TCP_BBR) {
    tcp_bbr_starts(tcp, now);
    return;
  }
  for (CsimTime idle = now - tcp->last_at; idle > wait && tcp->cwnd > TCP_INITIAL_WINDOW; idle -= wait)
    tcp->cwnd = MAX(tcp->cwnd / 2, TCP_INITIAL_WINDOW);
}

/* The segment to send next, or -1. */
static int64_t next_segment(const Qp *qp) {
  Tcp *tcp = qp->tcp;
  if (qp->stats.failed || (double)tcp->flight + 1 > MAX(tcp->cwnd, 1)) return -1;
  if (tcp->n_lost > 0) {
    while (!tcp_sent(tcp, tcp->lost_from)->lost) tcp->lost_from++;
    return tcp->lost_from;
  }
  return qp->next_psn < qp->end_psn && qp->next_psn - qp->acked_psn < qp->window ? qp->next_psn : -1;
}

static void note_sent(Tcp *tcp, Sent *s, int bytes, gboolean again, CsimTime now) {
  if (tcp->flight == 0) tcp->first_at = tcp->delivered_at = now;
  if (s->lost) tcp->n_lost--;
  *s = (Sent){.at = now, .first_at = tcp->first_at, .delivered_at = tcp->delivered_at, .delivered = tcp->delivered, .bytes = bytes,
              .again = again, .app_limited = tcp->app_limited > 0};
  tcp->last_at = now;
}

static void send_segment(CsimPktNet *net, Qp *qp, int64_t psn) {
  Tcp *tcp = qp->tcp;
  CsimTime now = csim_engine_now(net->engine);
  gboolean again = psn < qp->next_psn;
  Sent *s = tcp_sent(tcp, psn);
  uint32_t index = pkt_make_segment(net, qp, psn);
  int frame = pkt_packet(net, index)->frame, bytes = frame - csim_pkt_data_frame(CSIM_PKT_TCP, 0, FALSE);
  double pace = pace_of(qp);
  if (tcp->flight == 0 && !again) restart_after_idle(net, qp, now);
  if (!again || s->lost) {
    note_sent(tcp, s, bytes, again, now);
    tcp->flight++;
  } else {
    note_sent(tcp, s, bytes, TRUE, now); /* a probe takes the place of what it repeats */
  }
  if (tcp->burst <= 0) tcp->burst = tcp->rate > 0 ? (int64_t)tcp_burst(tcp, pace) : 1;
  tcp->burst -= bytes;
  if (pace > 0) tcp->next_at = MAX(tcp->next_at, now) + (CsimTime)(bytes * 1e12 / pace);
  tcp->in_nic += frame;
  if (qp->timer.due == CSIM_TIME_NEVER) arm(net, qp);
  Port *port = &net->ports[qp->path[0]];
  pkt_enqueue(net, port, net->spec.data_class, index);
  pkt_kick(net, port);
}

static gboolean waits_for_pace(CsimPktNet *net, Qp *qp) {
  Tcp *tcp = qp->tcp;
  if (tcp->burst > 0 || tcp->next_at <= csim_engine_now(net->engine)) return FALSE;
  if (qp->state == QP_IDLE) {
    qp->state = QP_WAITING;
    csim_engine_at(net->engine, tcp->next_at, net->on_wake, 0, qp->id, 0);
  }
  return TRUE;
}

void pkt_tcp_fill(CsimPktNet *net, Qp *qp) {
  Tcp *tcp = qp->tcp;
  int64_t psn;
  if (tcp->filling) return; /* a frame leaves while another is queued: the loop goes on */
  tcp->filling = TRUE;
  while (tcp->in_nic < nic_limit(tcp) && (psn = next_segment(qp)) >= 0 && !waits_for_pace(net, qp)) send_segment(net, qp, psn);
  tcp->filling = FALSE;
  gboolean idle = qp->next_psn == qp->end_psn && tcp->n_lost == 0 && (double)tcp->flight < tcp->cwnd;
  if (idle && tcp->in_nic < tcp->mss) tcp->app_limited = MAX(tcp->delivered + tcp->flight * tcp->mss, 1);
}

void pkt_tcp_left(CsimPktNet *net, Qp *qp, int frame) {
  qp->tcp->in_nic -= frame;
  pkt_tcp_fill(net, qp);
}

/* ---- acknowledgements ---- */

static void deliver(Tcp *tcp, Sent *s, int64_t psn, Sample *sample, CsimTime *sent_at, CsimTime *sent_delivered) {
  if (s->sacked) return;
  if (s->lost) tcp->n_lost--;
  else tcp->flight--;
  s->lost = FALSE;
  tcp->delivered += s->bytes;
  sample->acked++;
  if (!s->again) sample->rtt = sample->now - s->at;
  if (s->at > tcp->rack_at || (s->at == tcp->rack_at && psn > tcp->rack_psn)) {
    tcp->rack_at = s->at;
    tcp->rack_psn = psn;
  }
  if (*sent_at >= 0 && s->delivered < sample->before) return;
  *sent_at = s->at;
  *sent_delivered = s->delivered_at;
  sample->before = s->delivered;
  sample->app_limited = s->app_limited;
  sample->interval = s->at - s->first_at;
  tcp->first_at = s->at;
}

static void take_delivered(Qp *qp, int64_t cumulative, int64_t first, int64_t n, Sample *sample) {
  Tcp *tcp = qp->tcp;
  CsimTime sent_at = -1, delivered_at = 0;
  for (int64_t psn = qp->acked_psn; psn < cumulative; psn++) {
    Sent *s = tcp_sent(tcp, psn);
    deliver(tcp, s, psn, sample, &sent_at, &delivered_at);
    tcp->n_sacked -= s->sacked;
  }
  for (int64_t psn = MAX(first, cumulative); psn < first + n; psn++) {
    Sent *s = tcp_sent(tcp, psn);
    deliver(tcp, s, psn, sample, &sent_at, &delivered_at);
    tcp->n_sacked += !s->sacked;
    s->sacked = TRUE;
  }
  if (sample->acked == 0) return;
  tcp->highest = MAX(tcp->highest, MAX(cumulative, first + n));
  tcp->delivered_at = sample->now;
  sample->bytes = tcp->delivered - sample->before;
  sample->interval = MAX(sample->interval, sample->now - delivered_at);
  if (tcp->app_limited > 0 && tcp->delivered > tcp->app_limited) tcp->app_limited = 0;
}

static void lose(Tcp *tcp, Sent *s, int64_t psn) {
  tcp->lost_from = tcp->n_lost == 0 ? psn : MIN(tcp->lost_from, psn);
  s->lost = TRUE;
  tcp->flight--;
  tcp->n_lost++;
}

static gboolean sent_before(const Tcp *tcp, const Sent *s, int64_t psn) {
  return s->at < tcp->rack_at || (s->at == tcp->rack_at && psn < tcp->rack_psn);
}

static int64_t look_for_losses(Qp *qp) {
  Tcp *tcp = qp->tcp;
  int64_t lost = 0;
  if (tcp->n_sacked < DUP_THRESHOLD && !tcp->recovering) return 0;
  for (int64_t psn = qp->acked_psn; psn < qp->next_psn; psn++) {
    Sent *s = tcp_sent(tcp, psn);
    if (psn >= tcp->highest && !s->again) break; /* nothing behind it has been delivered */
    if (s->sacked || s->lost || !sent_before(tcp, s, psn)) continue;
    lose(tcp, s, psn);
    lost++;
  }
  return lost;
}

static void cut(CsimPktNet *net, Qp *qp) {
  Tcp *tcp = qp->tcp;
  qp->stats.cuts++;
  tcp->recovering = TRUE;
  tcp->recovery_end = qp->next_psn;
  if (net->spec.tcp.control != CSIM_TCP_BBR) tcp_loss_cut(tcp, net->spec.tcp.control);
}

void pkt_tcp_acked(CsimPktNet *net, Qp *qp, uint64_t arg) {
  Tcp *tcp = qp->tcp;
  int64_t cumulative, first, n, old = qp->acked_psn;
  pkt_sack_read(arg, &cumulative, &first, &n);
  Sample s = {.now = csim_engine_now(net->engine), .flight = tcp->flight};
  qp->stats.acks++;
  take_delivered(qp, MAX(cumulative, old), first, n, &s);
  if (s.rtt > 0) take_rtt(tcp, s.rtt);
  if (s.interval < tcp->min_rtt) s.interval = 0; /* stretched or squeezed on its way */
  if (cumulative > old) {
    qp->acked_psn = cumulative;
    qp->retries = 0;
    qp->stats.last_ack = s.now;
    tcp->probe_sent = FALSE;
    if (tcp->recovering && cumulative >= tcp->recovery_end) tcp->recovering = FALSE;
  }
  s.lost = look_for_losses(qp);
  if (s.lost > 0 && !tcp->recovering) cut(net, qp);
  if (net->spec.tcp.control == CSIM_TCP_BBR) tcp_bbr_acked(tcp, &s);
  else tcp_loss_acked(tcp, net->spec.tcp.control, qp->next_psn, qp->acked_psn, &s);
  if (s.acked > 0) arm(net, qp);
  keep(net, qp);
  pkt_complete(net, qp);
  pkt_tcp_fill(net, qp);
}

/* ---- time-outs ---- */

/* A new segment, or the last one again: its ACK shows what is missing. */
static void probe(CsimPktNet *net, Qp *qp) {
  Tcp *tcp = qp->tcp;
  tcp->probe_sent = TRUE;
  gboolean fresh = qp->next_psn < qp->end_psn && qp->next_psn - qp->acked_psn < qp->window;
  send_segment(net, qp, fresh ? qp->next_psn : qp->next_psn - 1);
  arm(net, qp);
}

void pkt_tcp_timeout(CsimPktNet *net, Qp *qp) {
  Tcp *tcp = qp->tcp;
  if (tcp->probing) {
    probe(net, qp);
    return;
  }
  qp->stats.timeouts++;
  if (++qp->retries > net->spec.tcp.retries) {
    qp->stats.failed = TRUE;
    if (net->spec.stop_on_failure) csim_engine_stop(net->engine);
    return;
  }
  for (int64_t psn = qp->acked_psn; psn < qp->next_psn; psn++) {
    Sent *s = tcp_sent(tcp, psn);
    if (!s->sacked && !s->lost) lose(tcp, s, psn);
  }
  if (net->spec.tcp.control == CSIM_TCP_BBR) tcp_bbr_timeout(tcp);
  else if (!tcp->recovering || qp->retries == 1) tcp_loss_cut(tcp, net->spec.tcp.control);
  qp->stats.cuts++;
  tcp->cwnd = 1;
  tcp->recovering = TRUE;
  tcp->recovery_end = qp->next_psn;
  arm(net, qp);
  pkt_tcp_fill(net, qp);
}
