/*
 * models/pkt/tcp-private.h - a TCP sender, for tcp.c and its congestion controls; a receiver, for tcp-receiver.c.
 *
 * Congestion windows count segments, rates bytes/s, times are the engine's.
 */
#ifndef CSIM_MODELS_PKT_TCP_PRIVATE_H
#define CSIM_MODELS_PKT_TCP_PRIVATE_H

#include "models/pkt/pkt-private.h"

#define TCP_INITIAL_WINDOW 10 /* segments: RFC 6928 */
#define BBR_ROUNDS 10         /* of the bandwidth filter */

/* A segment under way, with what a rate sample needs (draft-cheng-iccrg-delivery-rate-estimation). */
typedef struct {
  CsimTime at, first_at, delivered_at; /* sent; of the flight then: its first segment, the last delivery */
  int64_t delivered;                   /* bytes, when it was sent */
  int32_t bytes;
  uint8_t sacked, lost, again, app_limited; /* again: sent more than once; lost: and not sent again yet */
} Sent;

/* What an ACK says. */
typedef struct {
  CsimTime now, rtt, interval; /* rtt: 0 if no segment tells; interval: 0, no sample */
  int64_t acked, lost;         /* segments newly delivered, newly lost */
  int64_t bytes, before;       /* of the sample: delivered in `interval`; delivered when its segment was sent */
  int64_t flight;              /* segments under way before it */
  gboolean app_limited;
} Sample;

typedef struct {
  double w_max, k, origin, estimate; /* segments, s */
  CsimTime epoch;                    /* 0: not begun */
  CsimTime round_rtt;                /* least of the first samples of a round: HyStart */
  int64_t round_end;
  int samples;
} Cubic;

typedef enum { BBR_STARTUP, BBR_DRAIN, BBR_PROBE_BW, BBR_PROBE_RTT } BbrMode;
typedef struct {
  BbrMode mode;
  double best[BBR_ROUNDS];  /* bytes/s, by round */
  double extra[2];          /* segments beyond the estimate in two runs of five rounds */
  int64_t round, extra_round, next_round; /* next_round: bytes delivered at its end */
  double full, pacing_gain, window_gain, prior_window;
  double epoch_acked;
  CsimTime epoch_at, cycle_at, min_rtt, min_rtt_at, probe_done;
  int full_rounds, cycle;
  gboolean round_start, is_full, conservation, was_recovering, idle_restart, probe_round;
  CsimRng rng;
} Bbr;

typedef struct Tcp {
  /* sender */
  double cwnd, threshold; /* segments */
  double rate;            /* bytes/s of pacing; 0: none */
  int mss;
  int64_t flight;         /* segments on the network: sent, neither delivered nor taken for lost */
  int64_t n_sacked, n_lost, lost_from; /* lost_from: no lost one before */
  int64_t highest;        /* end of what is delivered */
  int64_t recovery_end;   /* PSN */
  int64_t delivered, app_limited; /* bytes; app_limited: until so much is delivered; 0: no */
  CsimTime delivered_at, first_at, last_at;
  CsimTime srtt, rttvar, min_rtt; /* 0: no sample yet */
  CsimTime rack_at;       /* latest sending time of what is delivered, and its PSN */
  int64_t rack_psn;
  CsimTime next_at;       /* pacing */
  int64_t burst;          /* bytes that may still go now */
  CsimBytes in_nic;       /* in the adapter's queue */
  int64_t kept;           /* segments for which the send buffer has room */
  Message *unkept;        /* the first message that is not told done */
  Sent *sent;             /* ring by PSN */
  int64_t size;           /* a power of two */
  gboolean recovering, filling, probing, probe_sent;
  Cubic cubic;
  Bbr bbr;
  /* receiver */
  int unacked, quick;     /* segments; ACKs that are not put off */
  int64_t block, block_end;
  CsimTimer delayed;
} Tcp;

#define TCP_MAX_BURST 65536 /* bytes of a segmentation offload */

static inline double tcp_seconds(CsimTime t) { return (double)t * 1e-12; }
/* Bytes handed down at once at that pace: a millisecond's, two segments at least. */
static inline double tcp_burst(const Tcp *tcp, double pace) { return MAX(MIN(pace / 1000, TCP_MAX_BURST), 2.0 * tcp->mss); }
static inline Sent *tcp_sent(const Tcp *tcp, int64_t psn) { return &tcp->sent[psn & (tcp->size - 1)]; }

/* tcp-cubic.c, CUBIC and Reno */
void tcp_loss_acked(Tcp *tcp, CsimTcpControl control, int64_t next_psn, int64_t acked_psn, const Sample *s);
void tcp_loss_cut(Tcp *tcp, CsimTcpControl control);

/* tcp-bbr.c */
void tcp_bbr_init(Tcp *tcp, uint64_t seed, uint32_t id, CsimTime now);
void tcp_bbr_acked(Tcp *tcp, const Sample *s);
void tcp_bbr_timeout(Tcp *tcp);
void tcp_bbr_starts(Tcp *tcp, CsimTime now); /* sends after it had nothing under way */

#endif
