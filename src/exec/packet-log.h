/*
 * exec/packet-log.h - what happened in the network of a call at packet fidelity: counters of ports and flows, and what ports did over time.
 *
 * Used by: exp (rows), report. Filled by csim_exec_call; the last call's is csim_exec_packets.
 * A port is one direction of a cable, named "leaf0 -> spine3": its egress queue stands at leaf0. Counters are models/pkt/pkt.h's.
 */
#ifndef CSIM_EXEC_PACKET_LOG_H
#define CSIM_EXEC_PACKET_LOG_H

#include "models/pkt/pkt.h"

typedef struct {
  char *name;
  CsimPktPortStats stats;
  guint number;             /* of the port in the network */
  uint64_t arrived_dropped; /* frames of this port that the other end had no room for */
  double busy;              /* share of the call's time that its link carried bits */
} CsimPacketPort;

/* A network connection: one direction of a channel between two ranks. */
typedef struct {
  char *name; /* "node0/nic1 -> node3/nic1" */
  int from, to, channel; /* ranks */
  CsimPktQpStats stats;
} CsimPacketFlow;

typedef struct {
  uint64_t hops;              /* frames put on cables */
  uint64_t packets, resent;   /* data packets sent, of which again */
  uint64_t marked, cnps, naks, timeouts, out_of_order;
  uint64_t pauses, dropped, lost;
  uint64_t storms;            /* ports that the watchdog gave up on */
  CsimTime paused;            /* summed over ports */
} CsimPacketTotals;

typedef struct {
  float queue;   /* most bytes at the end of a microsecond in it */
  float rate;    /* wire bytes/s in it */
  float paused;  /* share of it */
} CsimPacketSample;

/* One port over time; all series have the same number of samples. */
typedef struct {
  guint port; /* in ports */
  CsimPacketSample *samples;
} CsimPacketSeries;

/* The largest number of samples kept: at twice as many every other one goes. */
#define CSIM_PACKET_MAX_SAMPLES 1000
/* Ports that are watched: those with the largest queues, pauses and loads at the end. */
#define CSIM_PACKET_MAX_SERIES 16

typedef struct {
  gint refs;
  CsimTime duration; /* to the end of the last kernel */
  CsimPacketTotals totals;
  GArray *ports;  /* CsimPacketPort with traffic; the most troubled first (drops, pause time, queue) */
  GArray *flows;  /* CsimPacketFlow, in order of connections */
  GArray *series; /* CsimPacketSeries; empty unless asked for */
  guint n_samples;
  CsimTime step; /* between samples; the first one ends there */
} CsimPacketLog;

void csim_packet_log_unref(CsimPacketLog *log); /* NULL allowed */
CsimPacketLog *csim_packet_log_ref(CsimPacketLog *log);

#endif
