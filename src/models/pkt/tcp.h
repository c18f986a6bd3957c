/*
 * models/pkt/tcp.h - what a TCP connection of the packet network is told: congestion control, buffers, timers.
 *
 * Used by: the packet network (CSIM_PKT_TCP), cluster settings. Equations and what is left out: docs/models/tcp.md.
 */
#ifndef CSIM_MODELS_PKT_TCP_H
#define CSIM_MODELS_PKT_TCP_H

#include "collsim/types.h"

typedef enum {
  CSIM_TCP_CUBIC, /* RFC 9438; slow start ends by delay (Ha, Rhee 2011) as Linux has it */
  CSIM_TCP_RENO,  /* RFC 5681 */
  CSIM_TCP_BBR    /* version 1: draft-cardwell-iccrg-bbr-congestion-control-00 */
} CsimTcpControl;

typedef struct {
  CsimTcpControl control;
  CsimBytes window;        /* bytes in flight at most, what the two ends' buffers allow */
  CsimBytes send_buffer;   /* most that a socket keeps: a message is done when the rest of it fits in there; 0: when it is acknowledged */
  CsimTime ack_delay;      /* receiver: from a segment at the adapter to its ACK there: the stack */
  CsimTime delayed_ack;    /* a lone segment is acknowledged after that */
  CsimTime min_rto;        /* added to the smoothed RTT at least */
  int retries;             /* time-outs in a row before the connection fails */
} CsimTcp;

/* Linux: CUBIC, buffers of 4 MiB at the sender and 6 MiB at the receiver (tcp_wmem, tcp_rmem), 40 ms, 200 ms, 15 (tcp_retries2). */
CsimTcp csim_tcp_linux(void);
/* The window that two buffers allow: the sender's counts whole, the receiver's half (tcp_adv_win_scale 1). */
CsimBytes csim_tcp_window(CsimBytes send_buffer, CsimBytes receive_buffer);

#endif
