/*
 * exp/sweep-ranks.h - one sweep divided among processes: rank 0 keeps the store and hands out points, the others ask for the next one.
 *
 * Used by: cli under mpirun. Points go out one by one, so that a slow rank takes fewer. If a rank is killed, mpirun ends them all; what was done
 * is in the store, and the same command goes on.
 */
#ifndef CSIM_EXP_SWEEP_RANKS_H
#define CSIM_EXP_SWEEP_RANKS_H

#include "exp/messages.h"
#include "exp/sweep.h"

/* Rank 0: computes with its own threads, and serves the others until all is done. CSIM_ERROR_VALUE when a rank read another experiment. */
gboolean csim_sweep_lead(CsimSweep *sweep, const CsimMessages *messages, GError **error);
/* The other ranks: TRUE when rank 0 says that it is over; FALSE with CSIM_ERROR_INTERRUPTED. */
gboolean csim_sweep_follow(const CsimExperiment *e, const CsimMessages *messages, const volatile int *interrupt, GError **error);

#endif
