/*
 * sim/timer.c - re-armable timers on top of events.
 */
#include "sim/engine-internal.h"

void csim_timer_init(CsimTimer *timer, uint16_t handler, uint16_t kind, uint32_t entity, uint64_t arg) {
  *timer = (CsimTimer){.due = CSIM_TIME_NEVER,
                       .queued = CSIM_TIME_NEVER,
                       .ref = CSIM_EVENT_REF_NONE,
                       .arg = arg,
                       .entity = entity,
                       .handler = handler,
                       .kind = kind};
}

void csim_timer_disarm(CsimEngine *engine, CsimTimer *timer) {
  if (timer->queued != CSIM_TIME_NEVER) csim_engine_cancel(engine, timer->ref);
  timer->due = timer->queued = CSIM_TIME_NEVER;
}

static void queue_at(CsimEngine *engine, CsimTimer *timer, CsimTime at) {
  timer->queued = at;
  timer->ref = csim_engine_queue_timer(engine, at, timer);
}

void csim_timer_arm(CsimEngine *engine, CsimTimer *timer, CsimTime due) {
  if (due == CSIM_TIME_NEVER) {
    csim_timer_disarm(engine, timer);
    return;
  }
  timer->due = due;
  if (timer->queued <= due) return; /* the entry is early: it will look again */
  if (timer->queued != CSIM_TIME_NEVER) csim_engine_cancel(engine, timer->ref);
  queue_at(engine, timer, due);
}

gboolean csim_timer_pop(CsimEngine *engine, CsimTimer *timer, CsimEvent *event) {
  if (timer->due > timer->queued) {
    queue_at(engine, timer, timer->due);
    return FALSE;
  }
  *event = (CsimEvent){.time = timer->due,
                       .arg = timer->arg,
                       .entity = timer->entity,
                       .handler = timer->handler,
                       .kind = timer->kind};
  timer->due = timer->queued = CSIM_TIME_NEVER;
  return TRUE;
}
