/*
 * Engine: order, cancel, timers, end of instant, ends of a run, digest; each on both queues.
 */
#include "sim/engine.h"

typedef struct {
  GString *log;      /* one letter an event, from `kind` */
  CsimEventRef ref;  /* what 'x' cancels */
  CsimTimer *timer;
  CsimTime arm;      /* what 'm' arms the timer to */
  int asks;          /* further calls that the end of the instant asks for */
} World;

static void on_instant_end(CsimEngine *engine, void *owner) {
  World *w = owner;
  g_string_append_c(w->log, '.');
  if (w->asks-- <= 0) return;
  csim_engine_at(engine, csim_engine_now(engine), 0, 'n', 0, 0);
  csim_engine_at_instant_end(engine, on_instant_end, w);
}

static void on_event(CsimEngine *engine, void *owner, const CsimEvent *event) {
  World *w = owner;
  g_assert_cmpint(event->time, ==, csim_engine_now(engine));
  g_string_append_c(w->log, (char)event->kind);
  switch (event->kind) {
  case 's': csim_engine_stop(engine); break;
  case 'x': csim_engine_cancel(engine, w->ref); break;
  case 'm': csim_timer_arm(engine, w->timer, w->arm); break;
  case 'e': csim_engine_at_instant_end(engine, on_instant_end, w); break;
  case 'z': csim_engine_at(engine, event->time, 0, 'z', 0, 0); break;
  case 'f': csim_engine_fire(engine, 0, 'i', 0, 0); break;
  case '0': csim_engine_at(engine, event->time, 0, 'k', 0, 0); break;
  }
}

static CsimEngine *begin(gconstpointer queue, World *w) {
  CsimEngine *engine = csim_engine_new((CsimQueueKind)GPOINTER_TO_INT(queue));
  *w = (World){.log = g_string_new(NULL)};
  csim_engine_add_handler(engine, "world", on_event, w);
  return engine;
}

static void finish(CsimEngine *engine, World *w, const char *log) {
  g_assert_cmpstr(w->log->str, ==, log);
  g_string_free(w->log, TRUE);
  csim_engine_free(engine);
}

static CsimEventRef at(CsimEngine *engine, CsimTime time, char kind) {
  return csim_engine_at(engine, time, 0, (uint16_t)kind, 0, 0);
}

static CsimEnd run(CsimEngine *engine) { return csim_engine_run(engine, CSIM_TIME_NEVER, 0); }

static void test_order(gconstpointer queue) {
  World w;
  CsimEngine *engine = begin(queue, &w);
  at(engine, 20, 'd');
  at(engine, 10, '0'); /* schedules k at 10, behind b and c */
  at(engine, 10, 'b');
  at(engine, 30, 'e');
  at(engine, 10, 'c');
  g_assert_cmpint(run(engine), ==, CSIM_END_IDLE);
  g_assert_cmpint(csim_engine_now(engine), ==, 30);
  CsimEngineStats stats = csim_engine_stats(engine);
  g_assert_cmpuint(stats.events, ==, 6);
  g_assert_cmpuint(stats.instants, ==, 3);
  g_assert_cmpuint(stats.settles, ==, 1);
  g_assert_cmpuint(stats.pending, ==, 0);
  g_assert_cmpuint(stats.peak_pending, ==, 5);
  finish(engine, &w, "0bckde.");
}

static void test_cancel(gconstpointer queue) {
  World w;
  CsimEngine *engine = begin(queue, &w);
  CsimEventRef first = at(engine, 5, 'a');
  w.ref = at(engine, 10, 'b');
  at(engine, 7, 'x');
  g_assert_cmpint(run(engine), ==, CSIM_END_IDLE);
  g_assert_cmpint(csim_engine_now(engine), ==, 7); /* not the cancelled event's date */
  CsimEventRef reused = at(engine, 8, 'c');         /* earlier than what was popped stale */
  csim_engine_cancel(engine, first);                /* has fired: must not hit the slot's new event */
  csim_engine_cancel(engine, w.ref);
  csim_engine_cancel(engine, CSIM_EVENT_REF_NONE);
  run(engine);
  csim_engine_cancel(engine, reused);
  g_assert_cmpuint(csim_engine_stats(engine).stale, ==, 1);
  finish(engine, &w, "axc");
}

/* A run stops before an event, and then something earlier is scheduled. */
static void test_until_trap(gconstpointer queue) {
  World w;
  CsimEngine *engine = begin(queue, &w);
  at(engine, 10, 'a');
  at(engine, 1000, 'd');
  g_assert_cmpint(csim_engine_run(engine, 100, 0), ==, CSIM_END_TIME);
  g_assert_cmpint(csim_engine_now(engine), ==, 100);
  at(engine, 500, 'c');
  at(engine, 100, 'b');
  g_assert_cmpint(csim_engine_run(engine, 100, 0), ==, CSIM_END_TIME);
  g_assert_cmpint(csim_engine_run(engine, 999, 0), ==, CSIM_END_TIME);
  g_assert_cmpint(csim_engine_run(engine, 1000, 0), ==, CSIM_END_IDLE);
  finish(engine, &w, "abcd");
}

/* The same trap with a cancelled event in front, in the time that a run until T leaves behind. */
static void test_until_stale(gconstpointer queue) {
  World w;
  CsimEngine *engine = begin(queue, &w);
  csim_engine_cancel(engine, at(engine, 50, 'y'));
  at(engine, 1000, 'd');
  g_assert_cmpint(csim_engine_run(engine, 100, 0), ==, CSIM_END_TIME);
  at(engine, 100, 'b');
  run(engine);
  finish(engine, &w, "bd");
}

static void test_timer(gconstpointer queue) {
  World w;
  CsimTimer timer;
  CsimEngine *engine = begin(queue, &w);
  w.timer = &timer;
  csim_timer_init(&timer, 0, 't', 0, 0);
  csim_timer_arm(engine, &timer, 100);
  csim_timer_arm(engine, &timer, 200); /* later: the entry at 100 only looks */
  w.arm = 300;
  at(engine, 150, 'm');
  g_assert_cmpint(csim_engine_run(engine, 299, 0), ==, CSIM_END_TIME);
  g_assert_cmpstr(w.log->str, ==, "m");
  csim_engine_run(engine, 300, 0);
  g_assert_cmpstr(w.log->str, ==, "mt");
  csim_timer_arm(engine, &timer, 900);
  w.arm = 400; /* earlier */
  at(engine, 350, 'm');
  csim_engine_run(engine, 400, 0);
  g_assert_cmpstr(w.log->str, ==, "mtmt");
  csim_timer_arm(engine, &timer, 500);
  csim_timer_disarm(engine, &timer);
  csim_timer_disarm(engine, &timer);
  g_assert_cmpint(run(engine), ==, CSIM_END_IDLE);
  g_assert_cmpuint(csim_engine_stats(engine).events, ==, 4);
  finish(engine, &w, "mtmt");
}

static void test_instant_end(gconstpointer queue) {
  World w;
  CsimEngine *engine = begin(queue, &w);
  w.asks = 2;
  at(engine, 10, 'e');
  at(engine, 10, 'b'); /* runs before the end of the instant */
  at(engine, 11, 'c');
  run(engine);
  finish(engine, &w, "eb.n.n.c");
}

static void test_ends(gconstpointer queue) {
  World w;
  CsimEngine *engine = begin(queue, &w);
  volatile int interrupt = 0;
  at(engine, 1, 'a');
  at(engine, 2, 's');
  at(engine, 3, 'b');
  at(engine, 4, 'c');
  g_assert_cmpint(run(engine), ==, CSIM_END_STOPPED);
  g_assert_cmpint(csim_engine_run(engine, CSIM_TIME_NEVER, 1), ==, CSIM_END_EVENTS);
  g_assert_cmpint(run(engine), ==, CSIM_END_IDLE);
  at(engine, 10, 'z'); /* for ever at one instant */
  csim_engine_set_watchdog(engine, 20000);
  g_assert_cmpint(run(engine), ==, CSIM_END_STUCK);
  g_assert_cmpstr(csim_engine_handler_name(engine, csim_engine_last_handler(engine)), ==, "world");
  csim_engine_set_watchdog(engine, UINT64_MAX);
  interrupt = 1;
  csim_engine_set_interrupt(engine, &interrupt);
  g_assert_cmpint(run(engine), ==, CSIM_END_INTERRUPTED);
  g_string_truncate(w.log, 4);
  finish(engine, &w, "asbc");
}

static void ask_again(CsimEngine *engine, void *owner) { csim_engine_at_instant_end(engine, ask_again, owner); }

static void test_stuck_without_events(gconstpointer queue) {
  World w;
  CsimEngine *engine = begin(queue, &w);
  csim_engine_set_watchdog(engine, 1000);
  csim_engine_at_instant_end(engine, ask_again, &w);
  g_assert_cmpint(run(engine), ==, CSIM_END_STUCK);
  finish(engine, &w, "");
}

static uint64_t digest_of(gconstpointer queue, const char *kinds, gboolean on) {
  World w;
  CsimEngine *engine = begin(queue, &w);
  csim_engine_set_digest(engine, on);
  for (const char *k = kinds; *k; k++)
    at(engine, 10, *k);
  run(engine);
  uint64_t digest = csim_engine_digest(engine);
  g_string_free(w.log, TRUE);
  csim_engine_free(engine);
  return digest;
}

static void test_digest(gconstpointer queue) {
  uint64_t ab = digest_of(queue, "ab", TRUE);
  g_assert_cmphex(ab, ==, digest_of(GINT_TO_POINTER(CSIM_QUEUE_HEAP4), "ab", TRUE));
  g_assert_cmphex(ab, !=, digest_of(queue, "ba", TRUE));
  g_assert_cmphex(ab, !=, digest_of(queue, "abb", TRUE));
  g_assert_cmphex(digest_of(queue, "fb", TRUE), !=, digest_of(queue, "gb", TRUE));
  g_assert_cmphex(digest_of(queue, "ab", FALSE), ==, 0);
}

/* Memory a pending event: at most 64 bytes and what doubling leaves over. */
static void test_memory(gconstpointer queue) {
  World w;
  CsimEngine *engine = begin(queue, &w);
  for (guint i = 0; i < 100000; i++)
    at(engine, (CsimTime)((i * 2654435761u) >> 8), 'a');
  g_assert_cmpuint(csim_engine_stats(engine).bytes_per_pending, <, 128);
  run(engine);
  g_assert_cmpuint(w.log->len, ==, 100000);
  g_string_truncate(w.log, 0);
  finish(engine, &w, "");
}

/* Handler 0 counts what it ran, by entity; handler 1 is the owner of what handler 0 foresees. */
typedef struct { CsimEngine *engine; guint shown[600], ran[600], passed_on; } Seer;

static void seer_runs(CsimEngine *engine, void *owner, const CsimEvent *event) {
  Seer *s = owner;
  s->ran[event->entity]++;
}

static void seer_looks(void *owner, const CsimForeseen *events, guint n) {
  Seer *s = owner;
  CsimForeseen on[CSIM_AHEAD_MOST];
  g_assert_cmpuint(n, <=, CSIM_AHEAD_MOST);
  for (guint i = 0; i < n; i++) {
    g_assert_cmpint(events[i].handler, ==, 0);
    g_assert_cmpuint(events[i].kind, ==, events[i].entity % 7);
    g_assert_cmpuint(s->ran[events[i].entity], ==, 0);
    s->shown[events[i].entity]++;
    on[i] = (CsimForeseen){.entity = events[i].entity, .handler = 1};
  }
  csim_engine_foresee(s->engine, on, n);
}

static void owner_looks(void *owner, const CsimForeseen *events, guint n) {
  for (guint i = 0; i < n; i++) g_assert_cmpint(events[i].handler, ==, 1);
  ((Seer *)owner)->passed_on += n;
}

/* Events are shown at most once and before they run, cancelled ones not if the cancel came first; and nothing else happens. */
static void test_foresight(gconstpointer queue) {
  Seer s = {0};
  guint shown = 0;
  s.engine = csim_engine_new((CsimQueueKind)GPOINTER_TO_INT(queue));
  csim_engine_add_handler(s.engine, "seer", seer_runs, &s);
  csim_engine_add_handler(s.engine, "owner", seer_runs, &s);
  csim_engine_set_ahead(s.engine, 0, seer_looks);
  csim_engine_set_ahead(s.engine, 1, owner_looks);
  csim_engine_set_foresight(s.engine, TRUE);
  for (uint32_t i = 0; i < 600; i++) {
    CsimEventRef ref = csim_engine_at(s.engine, 1000000 + 7 * (CsimTime)i, 0, (uint16_t)(i % 7), i, 0);
    if (i % 10 == 3) csim_engine_cancel(s.engine, ref);
  }
  g_assert_cmpint(run(s.engine), ==, CSIM_END_IDLE);
  for (uint32_t i = 0; i < 600; i++) {
    g_assert_cmpuint(s.ran[i], ==, i % 10 != 3);
    g_assert_cmpuint(s.shown[i], <=, s.ran[i]);
    shown += s.shown[i];
  }
  g_assert_cmpuint(s.passed_on, ==, shown);
  g_assert_cmpuint(shown, >=, GPOINTER_TO_INT(queue) == CSIM_QUEUE_RADIX ? 400 : 0);
  g_assert_cmpuint(csim_engine_stats(s.engine).events, ==, 540);
  csim_engine_free(s.engine);
}

static void add(const char *name, GTestDataFunc fn) {
  g_autofree char *radix = g_strdup_printf("/engine/radix/%s", name);
  g_autofree char *heap4 = g_strdup_printf("/engine/heap4/%s", name);
  g_test_add_data_func(radix, GINT_TO_POINTER(CSIM_QUEUE_RADIX), fn);
  g_test_add_data_func(heap4, GINT_TO_POINTER(CSIM_QUEUE_HEAP4), fn);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  add("order", test_order);
  add("cancel", test_cancel);
  add("until-trap", test_until_trap);
  add("until-stale", test_until_stale);
  add("timer", test_timer);
  add("instant-end", test_instant_end);
  add("ends", test_ends);
  add("stuck-without-events", test_stuck_without_events);
  add("digest", test_digest);
  add("memory", test_memory);
  add("foresight", test_foresight);
  return g_test_run();
}
