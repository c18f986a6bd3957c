/*
 * algos/collnet.h - what the plans over a reducing network share: how channels deal a call out among themselves.
 *
 * NCCL 2.30 (src/device/{all_reduce,all_gather,reduce_scatter}.h, CollNet and NVLS of several nodes): the channels of
 * such a call do not own ranges, they take turns. With nc channels and windows of w bytes, loop l of channel c is at
 * (l * nc + c) * w; the last windows may be short or empty, and still take their turn, so that all channels make
 * equally many steps (proxies join the channels of a head in one network operation).
 *
 * Used by: collnet-chain.c, collnet-heads.c, collnet-gather.c.
 */
#ifndef CSIM_ALGOS_COLLNET_H
#define CSIM_ALGOS_COLLNET_H

#include "algos/plan-private.h"

/* The chunk of a call (all parts have the same), 0 for a call of no bytes. */
static inline CsimBytes collnet_chunk(const CsimPlan *plan) {
  return plan->spec.parts[0].bytes > 0 ? plan->spec.parts[0].chunk : 0;
}

/* Where window number `loop` of a channel begins. */
static inline CsimBytes collnet_begin(const CsimPlan *plan, int channel, int64_t loop, CsimBytes window) {
  return (loop * plan->spec.n_channels + channel) * window;
}

/* Loops that cover `total` bytes: the same for all channels. */
static inline int64_t collnet_loops(const CsimPlan *plan, CsimBytes total, CsimBytes window) {
  CsimBytes stride = window * plan->spec.n_channels;
  return window > 0 ? (total + stride - 1) / stride : 0;
}

/* --- heads: collnet-heads.c -------------------------------------------------------------------------------- */

/* NVLS: every rank writes into multicast memory, its head's own included; CollNetDirect: heads read and write their
 * own slices where they lie. */
static inline gboolean collnet_is_nvls(const CsimPlan *plan) {
  return plan->spec.algo == CSIM_ALGO_NVLS;
}

static inline int collnet_n_heads(const CsimPlan *plan) {
  const CsimShape *s = plan->spec.shape;
  return collnet_is_nvls(plan) ? s->n_heads : s->n_direct_heads;
}

static inline int collnet_head(const CsimPlan *plan, int rank, int h) {
  const CsimShape *s = plan->spec.shape;
  return collnet_is_nvls(plan) ? s->nvls_head(s->data, rank, h) : s->direct_head(s->data, rank, h);
}

int collnet_head_number(const CsimPlan *plan, int rank); /* -1: no head */

/* collnet-gather.c: all_gather and reduce_scatter of a lane, and where its cursor starts. */
void collnet_gather_start(const CsimPlan *plan, CsimPlanCursor *cursor, CsimRole role);
gboolean collnet_gather_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out);

/* The order in which scatter and gather visit heads: place i of n_visits -> head. Rank by rank one further, so that a
 * node's ranks begin at different heads. */
int collnet_n_visits(const CsimPlan *plan, int rank);
int collnet_visit(const CsimPlan *plan, int rank, int i);

/* Ranks of its node that a head serves through connections. */
int collnet_n_served(const CsimPlan *plan, int rank);

/* The four roles of both algorithms, without the name. */
typedef enum { COLLNET_SCATTER, COLLNET_REDUCE, COLLNET_BCAST, COLLNET_GATHER } CollnetPart;
CollnetPart collnet_part(CsimRole role);

#endif
