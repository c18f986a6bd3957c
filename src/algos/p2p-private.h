/*
 * algos/p2p-private.h - what p2p.c and hypercube.c share: rounds of NCCL's send/recv schedule, and parts of
 * one transfer.
 *
 * Used by: p2p.c (which implements it), hypercube.c.
 */
#ifndef CSIM_ALGOS_P2P_PRIVATE_H
#define CSIM_ALGOS_P2P_PRIVATE_H

#include "algos/plan-private.h"

/* The slice of the transfer from -> to that a channel carries. */
typedef struct {
  gboolean here; /* the channel carries one (it may be empty: a message of 0 bytes) */
  CsimBytes offset, bytes, chunk;
} P2pPart;
P2pPart p2p_part(const CsimPlan *plan, int from, int to, CsimBytes bytes, int round, int channel);

/* Recent answers of p2p_find_round: on a regular cluster all ranks share a few. */
typedef struct {
  int rounds[4];
  guint next;
} P2pHints;

/* The round in which rank sends to peer (send) or receives from it; there is exactly one. */
int p2p_find_round(const CsimPlan *plan, P2pHints *hints, int rank, int peer, gboolean send);

#endif
