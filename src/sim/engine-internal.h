/*
 * sim/engine-internal.h - what engine.c shares with timer.c, and nobody else.
 */
#ifndef CSIM_SIM_ENGINE_INTERNAL_H
#define CSIM_SIM_ENGINE_INTERNAL_H

#include "sim/engine.h"

/* The handler index under which armed timers wait in the queue; `arg` is the CsimTimer. */
#define CSIM_HANDLER_TIMER UINT16_MAX

/* As csim_engine_at for an armed timer. */
CsimEventRef csim_engine_queue_timer(CsimEngine *engine, CsimTime at, CsimTimer *timer);

/* The queued date of a timer has come. TRUE: it is due, run *event. FALSE: it was moved later and waits again. */
gboolean csim_timer_pop(CsimEngine *engine, CsimTimer *timer, CsimEvent *event);

#endif
