/*
 * sim/engine-internal.h - what the files of src/sim share, and nobody else.
 */
#ifndef CSIM_SIM_ENGINE_INTERNAL_H
#define CSIM_SIM_ENGINE_INTERNAL_H

#include "sim/engine.h"
#include <stdlib.h>
#include <string.h>

/* A larger copy of an array that begins on a cache line, so that no small element lies across two; for free(). */
static inline void *csim_grow_aligned(void *array, gsize old_bytes, gsize new_bytes) {
  void *larger;
  if (posix_memalign(&larger, 64, new_bytes) != 0) g_error("out of memory: %" G_GSIZE_FORMAT " bytes", new_bytes);
  if (old_bytes > 0) memcpy(larger, array, old_bytes);
  free(array);
  return larger;
}

/* The handler index under which armed timers wait in the queue; `arg` is the CsimTimer. */
#define CSIM_HANDLER_TIMER UINT16_MAX

/* As csim_engine_at for an armed timer. */
CsimEventRef csim_engine_queue_timer(CsimEngine *engine, CsimTime at, CsimTimer *timer);

/* The queued date of a timer has come. TRUE: it is due, run *event. FALSE: it was moved later and waits again. */
gboolean csim_timer_pop(CsimEngine *engine, CsimTimer *timer, CsimEvent *event);

#endif
