/*
 * sim/engine.h - clock, events, timers, run loop.
 *
 * Used by: models and exec. Knows nothing of what is simulated.
 *
 * An engine is one simulation: no globals, so several may run in threads. Events
 * are 32 bytes in a slab and are dispatched through a table of handlers by
 * index, so that an event can be traced, digested and printed. Events at equal
 * times run in the order in which they were scheduled, on every queue.
 *
 * Nothing here allocates in a steady run: slabs and queue buckets grow to the
 * high-water mark and stay.
 */
#ifndef CSIM_SIM_ENGINE_H
#define CSIM_SIM_ENGINE_H

#include "collsim/types.h"

typedef struct CsimEngine CsimEngine;

typedef struct {
  CsimTime time;
  uint64_t arg;     /* free for the handler */
  uint32_t entity;  /* what it is about: an index that the handler owns */
  uint16_t handler; /* index from csim_engine_add_handler */
  uint16_t kind;    /* free for the handler */
} CsimEvent;

typedef void (*CsimHandler)(CsimEngine *engine, void *owner, const CsimEvent *event);

typedef enum { CSIM_QUEUE_RADIX, CSIM_QUEUE_HEAP4 } CsimQueueKind;

CsimEngine *csim_engine_new(CsimQueueKind queue);
void csim_engine_free(CsimEngine *engine); /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimEngine, csim_engine_free)

/* `name` (static text) shows in traces and statistics. Before the first event only. */
uint16_t csim_engine_add_handler(CsimEngine *engine, const char *name, CsimHandler fn, void *owner);

/*
 * Foresight: an engine may know some events a little before it runs them. A handler that says so is shown them, up to
 * CSIM_AHEAD_MOST at a time, to fetch what it will touch into the caches (CSIM_FETCH). It must change nothing: an event may be shown
 * long before it runs, be cancelled, or never be shown. csim_engine_foresee passes on events that another handler will fire.
 * Off at first: it costs about 70 instructions an event and pays where what handlers touch is larger than a core's own cache.
 */
#define CSIM_AHEAD_MOST 31
typedef struct { uint32_t entity; uint16_t handler, kind; } CsimForeseen;
typedef void (*CsimAhead)(void *owner, const CsimForeseen *events, guint n);
void csim_engine_set_ahead(CsimEngine *engine, uint16_t handler, CsimAhead fn); /* before the first event only */
void csim_engine_set_foresight(CsimEngine *engine, gboolean on);
void csim_engine_foresee(CsimEngine *engine, const CsimForeseen *events, guint n); /* n <= CSIM_AHEAD_MOST */
#define CSIM_FETCH(address) __builtin_prefetch(address, 1)

CsimTime csim_engine_now(const CsimEngine *engine);

typedef struct { uint32_t slot, generation; } CsimEventRef;
#define CSIM_EVENT_REF_NONE ((CsimEventRef){UINT32_MAX, 0})

/* Schedules; `at` must not be before now. The returned ref may be ignored. */
CsimEventRef csim_engine_at(CsimEngine *engine, CsimTime at, uint16_t handler, uint16_t kind, uint32_t entity,
                            uint64_t arg);
/* Cancels lazily; a ref that has fired or was cancelled is a no-op. */
void csim_engine_cancel(CsimEngine *engine, CsimEventRef ref);
/* Runs a handler at once, inside the current event, counted and digested as an event of its own: for a model that
 * finishes several things in one event and must tell the owner of each. */
void csim_engine_fire(CsimEngine *engine, uint16_t handler, uint16_t kind, uint32_t entity, uint64_t arg);

/* Re-armable timer, one per entity: moving it later costs nothing until the old date pops. Caller-owned memory,
 * initialised with csim_timer_init, which must stay where it is while the timer is armed (disarm before freeing it).
 * Fires `handler` with (kind, entity, arg). A timer that was moved later takes its place among equal dates when the
 * old date pops. Disarming costs a cancel; moving earlier a cancel and an event. */
typedef struct {
  CsimTime due; /* CSIM_TIME_NEVER: disarmed */
  CsimTime queued;
  CsimEventRef ref;
  uint64_t arg;
  uint32_t entity;
  uint16_t handler, kind;
} CsimTimer;
void csim_timer_init(CsimTimer *timer, uint16_t handler, uint16_t kind, uint32_t entity, uint64_t arg);
void csim_timer_arm(CsimEngine *engine, CsimTimer *timer, CsimTime due);
void csim_timer_disarm(CsimEngine *engine, CsimTimer *timer);

/* Calls fn(owner) once when no event is left at the current instant, before time moves. It may schedule
 * events at the current instant (they run, and then the list runs again if asked for again). */
typedef void (*CsimInstantFn)(CsimEngine *engine, void *owner);
void csim_engine_at_instant_end(CsimEngine *engine, CsimInstantFn fn, void *owner);

typedef enum {
  CSIM_END_IDLE,        /* no events left; now == until if that was given, else the last event's date */
  CSIM_END_STOPPED,     /* csim_engine_stop was called */
  CSIM_END_TIME,        /* `until` reached; now == until */
  CSIM_END_EVENTS,      /* event limit reached */
  CSIM_END_STUCK,       /* one instant executed more than the watchdog's events */
  CSIM_END_INTERRUPTED  /* *interrupt became non-zero */
} CsimEnd;

/* Runs until one of the above. until: CSIM_TIME_NEVER for no limit; max_events: 0 for no limit. */
CsimEnd csim_engine_run(CsimEngine *engine, CsimTime until, uint64_t max_events);
void csim_engine_stop(CsimEngine *engine);
/* Looked at every few thousand events; NULL for none. For Ctrl-C. */
void csim_engine_set_interrupt(CsimEngine *engine, const volatile int *interrupt);

/* How many events one instant may execute before CSIM_END_STUCK; default 20 million (a collective that starts on
 * 100 000 ranks at once stays far below). */
void csim_engine_set_watchdog(CsimEngine *engine, uint64_t max_events_per_instant);

/* 64-bit digest of the history (time, handler, kind, entity), order-sensitive. Off by default (about 2 ns an event). */
void csim_engine_set_digest(CsimEngine *engine, gboolean on);
uint64_t csim_engine_digest(const CsimEngine *engine);

typedef struct {
  uint64_t events, stale, instants, settles; /* executed; cancelled and popped; distinct times; instant-end calls */
  uint64_t pending, peak_pending;
  uint64_t bytes_per_pending; /* memory of slab and queue / peak_pending */
} CsimEngineStats;
CsimEngineStats csim_engine_stats(const CsimEngine *engine);
/* Names of handlers, for traces and "who made this instant stuck". */
const char *csim_engine_handler_name(const CsimEngine *engine, uint16_t handler);
/* The handler that executed last. */
uint16_t csim_engine_last_handler(const CsimEngine *engine);

#endif
