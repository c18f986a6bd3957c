/*
 * sim/engine.c - event slab, run loop, end-of-instant list, digest.
 */
#include "sim/engine-internal.h"
#include "sim/queue.h"

#define FREE_END UINT32_MAX
#define LOOK_EVERY 4096 /* events between looks at the interrupt flag and the watchdog */
#define DEFAULT_WATCHDOG UINT64_C(20000000)

/* 32 bytes. While free, `generation` is already that of the next use and `next` links the free list. */
typedef struct {
  uint64_t arg;
  uint32_t entity;
  uint16_t handler, kind;
  uint32_t generation, next;
  CsimTime time;
} Slot;
G_STATIC_ASSERT(sizeof(Slot) == 32);

typedef struct {
  CsimHandler fn;
  void *owner;
  const char *name;
  CsimAhead ahead;
} Handler;

typedef struct {
  CsimInstantFn fn;
  void *owner;
} InstantCall;

typedef struct {
  InstantCall *calls;
  guint n, capacity;
} InstantList;

struct CsimEngine {
  CsimTime now;
  const CsimQueueClass *class;
  CsimQueue *queue;
  Slot *slots;
  uint32_t free_slot, n_slots;
  Handler *handlers;
  guint n_handlers;
  uint16_t last_handler;
  gboolean digesting, stopping, started;
  uint64_t digest, watchdog, instant_events, look_at;
  const volatile int *interrupt;
  InstantList asked, running; /* swapped, so that a call may ask for another */
  CsimTime counted_instant;   /* the last one in stats.instants */
  CsimEngineStats stats;
};

CsimEngine *csim_engine_new(CsimQueueKind queue) {
  CsimEngine *engine = g_new0(CsimEngine, 1);
  engine->class = queue == CSIM_QUEUE_HEAP4 ? &csim_queue_heap4 : &csim_queue_radix;
  engine->queue = engine->class->new_queue();
  engine->free_slot = FREE_END;
  engine->watchdog = DEFAULT_WATCHDOG;
  engine->counted_instant = -1;
  return engine;
}

void csim_engine_free(CsimEngine *engine) {
  if (!engine) return;
  engine->class->free_queue(engine->queue);
  free(engine->slots);
  g_free(engine->handlers);
  g_free(engine->asked.calls);
  g_free(engine->running.calls);
  g_free(engine);
}

uint16_t csim_engine_add_handler(CsimEngine *engine, const char *name, CsimHandler fn, void *owner) {
  g_assert(!engine->started && engine->n_handlers < CSIM_HANDLER_TIMER);
  engine->handlers = g_renew(Handler, engine->handlers, engine->n_handlers + 1);
  engine->handlers[engine->n_handlers] = (Handler){fn, owner, name, NULL};
  return (uint16_t)engine->n_handlers++;
}

const char *csim_engine_handler_name(const CsimEngine *engine, uint16_t handler) {
  return handler < engine->n_handlers ? engine->handlers[handler].name : "?";
}

uint16_t csim_engine_last_handler(const CsimEngine *engine) { return engine->last_handler; }

CsimTime csim_engine_now(const CsimEngine *engine) { return engine->now; }

/* ---- events ---- */

static void grow_slots(CsimEngine *engine) {
  uint32_t old = engine->n_slots;
  engine->n_slots = MAX(1024, 2 * old);
  engine->slots = csim_grow_aligned(engine->slots, old * sizeof(Slot), engine->n_slots * sizeof(Slot));
  for (uint32_t i = engine->n_slots; i-- > old;) {
    engine->slots[i].generation = 0;
    engine->slots[i].next = engine->free_slot;
    engine->free_slot = i;
  }
}

static inline void free_slot(CsimEngine *engine, uint32_t index) {
  Slot *slot = &engine->slots[index];
  slot->generation++;
  slot->next = engine->free_slot;
  engine->free_slot = index;
  engine->stats.pending--;
}

static inline CsimEventRef schedule(CsimEngine *engine, CsimTime at, uint16_t handler, uint16_t kind,
                                    uint32_t entity, uint64_t arg) {
  g_assert(at >= engine->now);
  if (G_UNLIKELY(engine->free_slot == FREE_END)) grow_slots(engine);
  uint32_t index = engine->free_slot;
  Slot *slot = &engine->slots[index];
  engine->free_slot = slot->next;
  slot->time = at;
  slot->arg = arg;
  slot->entity = entity;
  slot->handler = handler;
  slot->kind = kind;
  if (++engine->stats.pending > engine->stats.peak_pending) engine->stats.peak_pending = engine->stats.pending;
  engine->class->push(engine->queue, (CsimQueueEntry){at, index, slot->generation});
  return (CsimEventRef){index, slot->generation};
}

CsimEventRef csim_engine_at(CsimEngine *engine, CsimTime at, uint16_t handler, uint16_t kind, uint32_t entity,
                            uint64_t arg) {
  g_assert(handler < engine->n_handlers);
  return schedule(engine, at, handler, kind, entity, arg);
}

CsimEventRef csim_engine_queue_timer(CsimEngine *engine, CsimTime at, CsimTimer *timer) {
  return schedule(engine, at, CSIM_HANDLER_TIMER, 0, 0, (uint64_t)(uintptr_t)timer);
}

void csim_engine_cancel(CsimEngine *engine, CsimEventRef ref) {
  if (ref.slot >= engine->n_slots || engine->slots[ref.slot].generation != ref.generation) return;
  free_slot(engine, ref.slot);
}

/* ---- foresight ---- */

void csim_engine_foresee(CsimEngine *engine, const CsimForeseen *events, guint n) {
  CsimForeseen of[CSIM_AHEAD_MOST];
  for (guint h = 0; h < engine->n_handlers; h++) {
    guint k = 0;
    if (!engine->handlers[h].ahead) continue;
    for (guint i = 0; i < n; i++)
      if (events[i].handler == h) of[k++] = events[i];
    if (k > 0) engine->handlers[h].ahead(engine->handlers[h].owner, of, k);
  }
}

static void on_ahead(void *data, const CsimQueueEntry *entries, guint n) {
  CsimEngine *engine = data;
  CsimForeseen events[CSIM_AHEAD_MOST];
  guint k = 0;
  for (guint i = 0; i < n; i++)
    CSIM_FETCH(&engine->slots[entries[i].slot]);
  for (guint i = 0; i < n; i++) {
    const Slot *slot = &engine->slots[entries[i].slot];
    if (slot->generation == entries[i].generation)
      events[k++] = (CsimForeseen){slot->entity, slot->handler, slot->kind};
  }
  csim_engine_foresee(engine, events, k);
}

void csim_engine_set_ahead(CsimEngine *engine, uint16_t handler, CsimAhead fn) {
  g_assert(!engine->started && handler < engine->n_handlers);
  engine->handlers[handler].ahead = fn;
}

void csim_engine_set_foresight(CsimEngine *engine, gboolean on) {
  if (engine->class->set_ahead) engine->class->set_ahead(engine->queue, on ? on_ahead : NULL, engine);
}

/* ---- execution ---- */

static inline uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
  return h ^ (h >> 32);
}

static void digest_event(CsimEngine *engine, const CsimEvent *e) {
  uint64_t what = (uint64_t)e->handler << 48 | (uint64_t)e->kind << 32 | e->entity;
  engine->digest = mix(mix(engine->digest, (uint64_t)e->time), what);
}

static inline void execute(CsimEngine *engine, const CsimEvent *event) {
  const Handler *handler = &engine->handlers[event->handler];
  engine->last_handler = event->handler;
  engine->stats.events++;
  engine->instant_events++;
  if (engine->digesting) digest_event(engine, event);
  handler->fn(engine, handler->owner, event);
}

void csim_engine_fire(CsimEngine *engine, uint16_t handler, uint16_t kind, uint32_t entity, uint64_t arg) {
  CsimEvent event = {.time = engine->now, .arg = arg, .entity = entity, .handler = handler, .kind = kind};
  g_assert(handler < engine->n_handlers);
  execute(engine, &event);
}

static void move_time(CsimEngine *engine, CsimTime to) {
  engine->now = to;
  engine->counted_instant = to;
  engine->stats.instants++;
  engine->instant_events = 0;
}

/* Runs what the popped entry stands for. FALSE: nothing ran (cancelled, or a timer that was moved later). */
static gboolean run_entry(CsimEngine *engine, CsimQueueEntry entry) {
  const Slot *slot = &engine->slots[entry.slot];
  if (slot->generation != entry.generation) {
    engine->stats.stale++;
    return FALSE;
  }
  CsimEvent event = {entry.time, slot->arg, slot->entity, slot->handler, slot->kind};
  free_slot(engine, entry.slot);
  if (event.handler == CSIM_HANDLER_TIMER &&
      !csim_timer_pop(engine, (CsimTimer *)(uintptr_t)event.arg, &event)) {
    engine->stats.stale++;
    return FALSE;
  }
  if (entry.time != engine->counted_instant) move_time(engine, entry.time);
  execute(engine, &event);
  return TRUE;
}

void csim_engine_at_instant_end(CsimEngine *engine, CsimInstantFn fn, void *owner) {
  InstantList *list = &engine->asked;
  if (list->n == list->capacity) {
    list->capacity = MAX(16, 2 * list->capacity);
    list->calls = g_renew(InstantCall, list->calls, list->capacity);
  }
  list->calls[list->n++] = (InstantCall){fn, owner};
}

static void run_instant_end(CsimEngine *engine) {
  InstantList list = engine->asked;
  engine->asked = engine->running;
  engine->asked.n = 0;
  engine->running = list;
  for (guint i = 0; i < list.n; i++)
    list.calls[i].fn(engine, list.calls[i].owner);
  engine->stats.settles += list.n;
  engine->instant_events += list.n; /* a call that asks for itself for ever is a stuck instant too */
}

/* Only cancelled entries are left: they go now, so that the queue's clock can come back to `now`. */
static CsimEnd finish_idle(CsimEngine *engine, CsimTime until) {
  CsimQueueEntry entry;
  if (until != CSIM_TIME_NEVER) engine->now = until;
  while (engine->class->pop(engine->queue, CSIM_TIME_NEVER, &entry))
    engine->stats.stale++;
  engine->class->rewind(engine->queue, engine->now);
  return CSIM_END_IDLE;
}

static CsimEnd finish_quiet(CsimEngine *engine, CsimTime until) {
  if (engine->stats.pending == 0) return finish_idle(engine, until);
  engine->now = until;
  return CSIM_END_TIME;
}

static gboolean look_around(CsimEngine *engine, uint64_t stop_at, CsimEnd *end) {
  engine->look_at = MIN(stop_at, engine->stats.events + LOOK_EVERY);
  if (engine->instant_events > engine->watchdog) *end = CSIM_END_STUCK;
  else if (engine->stats.events >= stop_at) *end = CSIM_END_EVENTS;
  else if (engine->interrupt && *engine->interrupt) *end = CSIM_END_INTERRUPTED;
  else return FALSE;
  return TRUE;
}

static inline gboolean must_end(CsimEngine *engine, uint64_t stop_at, CsimEnd *end) {
  if (G_UNLIKELY(engine->stopping)) {
    *end = CSIM_END_STOPPED;
    return TRUE;
  }
  return engine->stats.events >= engine->look_at && look_around(engine, stop_at, end);
}

CsimEnd csim_engine_run(CsimEngine *engine, CsimTime until, uint64_t max_events) {
  uint64_t stop_at = max_events ? engine->stats.events + max_events : UINT64_MAX;
  CsimQueueEntry entry;
  CsimEnd end;
  g_assert(until >= engine->now);
  engine->started = TRUE;
  engine->stopping = FALSE;
  engine->look_at = MIN(stop_at, engine->stats.events + LOOK_EVERY);
  for (;;) {
    gboolean asked = engine->asked.n > 0;
    if (engine->class->pop(engine->queue, asked ? engine->now : until, &entry)) {
      if (run_entry(engine, entry) && must_end(engine, stop_at, &end)) return end;
    } else if (asked) {
      run_instant_end(engine);
      if (engine->instant_events > engine->watchdog) return CSIM_END_STUCK;
    } else {
      return finish_quiet(engine, until);
    }
  }
}

void csim_engine_stop(CsimEngine *engine) { engine->stopping = TRUE; }

void csim_engine_set_interrupt(CsimEngine *engine, const volatile int *interrupt) {
  engine->interrupt = interrupt;
}

void csim_engine_set_watchdog(CsimEngine *engine, uint64_t max_events_per_instant) {
  engine->watchdog = max_events_per_instant;
}

void csim_engine_set_digest(CsimEngine *engine, gboolean on) { engine->digesting = on; }

uint64_t csim_engine_digest(const CsimEngine *engine) { return engine->digest; }

CsimEngineStats csim_engine_stats(const CsimEngine *engine) {
  CsimEngineStats stats = engine->stats;
  gsize bytes = engine->n_slots * sizeof(Slot) + engine->class->bytes(engine->queue);
  stats.bytes_per_pending = stats.peak_pending ? bytes / stats.peak_pending : 0;
  return stats;
}
