/*
 * exec/packets-private.h - the packet network of a call, for packets.c and packet-log.c.
 */
#ifndef CSIM_EXEC_PACKETS_PRIVATE_H
#define CSIM_EXEC_PACKETS_PRIVATE_H

#include "exec/exec-private.h"
#include "exec/packet-log.h"

typedef struct {
  guint qp;                                     /* NO_INDEX: a loopback */
  CsimTime near, far;                           /* from the proxy's post to the wire, from the wire to the receiver's proxy */
  uint32_t legs, delivered, acked, arrived, freed; /* messages that have passed */
  CsimTime leg_end[SLOTS], landed[SLOTS], ack[SLOTS];
} End;

typedef struct Sampler Sampler; /* packet-log.c */

struct Packets {
  CsimPacketFabric *fabric;
  CsimPktNet *net;
  GArray *ends; /* End, as CsimExec.nets */
  Sampler *sampler; /* NULL: nobody asked */
};

/* packet-log.c */
/* Runs the engine to its end, looking at the ports every so often; no event tells that it did. */
CsimEnd exec_packets_run_sampled(CsimExec *x);
void exec_sampler_free(Sampler *sampler);
CsimPacketLog *exec_packets_log(CsimExec *x);

#endif
