/*
 * exec/packets-private.h - the packet network of a call, for packets.c and packet-log.c.
 */
#ifndef CSIM_EXEC_PACKETS_PRIVATE_H
#define CSIM_EXEC_PACKETS_PRIVATE_H

#include "exec/exec-private.h"
#include "exec/packet-log.h"

/* The packets' side of a network connection. */
typedef struct {
  uint32_t first_strand;
  uint16_t n_qps, planes;                       /* NCCL's queue pairs; strands of each. n_qps 0: a loopback */
  uint32_t turn;                                /* the next of several sockets */
  CsimRate line;                                /* of the sender's adapter */
  CsimTime near, far;                           /* from the proxy's post to the wire, from the wire to the receiver's proxy */
  uint32_t posted, legs, delivered, acked, arrived, freed; /* messages that have passed */
  CsimTime leg_end[SLOTS], landed[SLOTS], ack[SLOTS];
  uint16_t to_land[SLOTS], to_ack[SLOTS];       /* pieces of the message that have not */
} End;

/* A queue pair of the packet network: the messages in which it has a part, in order. */
typedef struct {
  uint32_t end;
  guint qp;
  uint32_t given, sent, landed, acked; /* parts that have passed; sent < given: the next one waits for an acknowledgement */
  uint32_t message[SLOTS];
  CsimBytes bytes[SLOTS];
  CsimTime free;                       /* no earlier on the wire than this */
} Strand;

typedef struct Sampler Sampler; /* packet-log.c */

struct Packets {
  CsimPacketFabric *fabric;
  CsimPktNet *net;
  GArray *ends;    /* End, as CsimExec.nets */
  GArray *strands; /* Strand */
  GArray *stuck;   /* CsimPacketStuck */
  Sampler *sampler; /* NULL: nobody asked */
};

/* packet-log.c */
/* Runs the engine to its end, looking at the ports every so often; no event tells that it did. */
CsimEnd exec_packets_run_sampled(CsimExec *x);
void exec_sampler_free(Sampler *sampler);
CsimPacketLog *exec_packets_log(CsimExec *x);

#endif
