/*
 * algos/promise.h - what each collective promises: the shape of its buffers and which contributions every
 * output must hold.
 *
 * Used by: verify.c. Implemented in promise.c.
 */
#ifndef CSIM_ALGOS_PROMISE_H
#define CSIM_ALGOS_PROMISE_H

#include "algos/plan.h"
#include "algos/symbolic.h"

/* Whether a rank's send or receive buffer has a block of count_bytes for every rank, or just one. */
gboolean promise_input_per_rank(CsimColl coll);
gboolean promise_output_per_rank(CsimColl coll);

/* Compares every rank's output (sorted pieces) with the promise; CSIM_ERROR_VALUE naming the first wrong
 * byte. */
gboolean promise_check(const CsimPlan *plan, SymSets *sets, GArray *const *outputs, GError **error);

#endif
