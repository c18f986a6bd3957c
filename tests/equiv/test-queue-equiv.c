/*
 * The radix heap against the 4-ary heap: same order on random schedules full of ties, and the same through the engine.
 */
#include "sim/engine.h"
#include "sim/queue.h"

static CsimTime increment(GRand *rand, guint style) {
  static const CsimTime net[] = {0, 0, 81920, 500000, 700000};
  switch (style) {
  case 0: return net[g_rand_int_range(rand, 0, 5)];
  case 1: return g_rand_int_range(rand, 0, 4);
  case 2: return (CsimTime)g_rand_int(rand) << g_rand_int_range(rand, 0, 24);
  default: return g_rand_int_range(rand, 0, 1000000);
  }
}

/* Pushes, pops and refused pops in any order; at the end both are emptied. */
static guint run_schedule(GRand *rand) {
  CsimQueue *radix = csim_queue_radix.new_queue(), *heap = csim_queue_heap4.new_queue();
  guint style = (guint)g_rand_int_range(rand, 0, 4), pops = 0, steps = (guint)g_rand_int_range(rand, 1, 1500);
  CsimTime now = 0;
  for (guint32 i = 0; i < steps || csim_queue_heap4.size(heap) > 0; i++) {
    guint action = i < steps ? (guint)g_rand_int_range(rand, 0, 5) : 4;
    CsimQueueEntry a = {0}, b = {0};
    if (action < 3) {
      CsimQueueEntry entry = {now + increment(rand, style), i, ~i};
      csim_queue_radix.push(radix, entry);
      csim_queue_heap4.push(heap, entry);
      continue;
    }
    CsimTime limit = action == 3 ? now + increment(rand, style) : CSIM_TIME_NEVER;
    gboolean got = csim_queue_radix.pop(radix, limit, &a);
    g_assert_cmpint(got, ==, csim_queue_heap4.pop(heap, limit, &b));
    g_assert_cmpint(a.time, ==, b.time);
    g_assert_cmpuint(a.slot, ==, b.slot);
    g_assert_cmpuint(a.generation, ==, b.generation);
    if (got) now = a.time, pops++;
    g_assert_cmpuint(csim_queue_radix.size(radix), ==, csim_queue_heap4.size(heap));
  }
  csim_queue_radix.free_queue(radix);
  csim_queue_heap4.free_queue(heap);
  return pops;
}

static void test_order(void) {
  g_autoptr(GRand) rand = g_rand_new_with_seed(7);
  guint pops = 0;
  for (guint i = 0; i < 2000; i++)
    pops += run_schedule(rand);
  g_test_message("%u pops compared", pops);
  g_assert_cmpuint(pops, >, 500000);
}

/* ---- the engine on both ---- */

typedef struct {
  GRand *rand;
  CsimEventRef refs[64];
  CsimTimer timers[16];
  guint left, settles;
} World;

static void on_instant_end(CsimEngine *engine, void *owner) {
  World *w = owner;
  w->settles++;
  if (w->settles % 3 == 0) csim_engine_at(engine, csim_engine_now(engine), 0, 9, w->settles, 0);
}

static void on_event(CsimEngine *engine, void *owner, const CsimEvent *event) {
  World *w = owner;
  if (event->kind == 9) return;
  for (guint k = g_rand_int_range(w->rand, 0, 3); k > 0 && w->left > 0; k--, w->left--) {
    guint slot = (guint)g_rand_int_range(w->rand, 0, 64);
    CsimTime at = csim_engine_now(engine) + increment(w->rand, w->left % 2 ? 0 : 3);
    switch (g_rand_int_range(w->rand, 0, 5)) {
    case 0: csim_engine_cancel(engine, w->refs[slot]); break;
    case 1: csim_timer_arm(engine, &w->timers[slot % 16], at); break;
    case 2: csim_engine_at_instant_end(engine, on_instant_end, w); break;
    default: w->refs[slot] = csim_engine_at(engine, at, 0, (uint16_t)(slot & 3), slot, 0);
    }
  }
}

static uint64_t history(CsimQueueKind queue, guint32 seed, uint64_t *events) {
  g_autoptr(CsimEngine) engine = csim_engine_new(queue);
  World w = {.rand = g_rand_new_with_seed(seed), .left = 3000};
  csim_engine_add_handler(engine, "world", on_event, &w);
  csim_engine_set_digest(engine, TRUE);
  for (guint i = 0; i < 64; i++)
    w.refs[i] = CSIM_EVENT_REF_NONE;
  for (guint i = 0; i < 16; i++)
    csim_timer_init(&w.timers[i], 0, 5, i, 0);
  for (guint i = 0; i < 200; i++)
    csim_engine_at(engine, increment(w.rand, 3), 0, 1, i, 0);
  while (csim_engine_run(engine, csim_engine_now(engine) + 300000, 0) == CSIM_END_TIME) continue;
  *events = csim_engine_stats(engine).events;
  g_rand_free(w.rand);
  return csim_engine_digest(engine);
}

static void test_engine(void) {
  for (guint32 seed = 1; seed <= 200; seed++) {
    uint64_t a, b, other;
    uint64_t radix = history(CSIM_QUEUE_RADIX, seed, &a);
    g_assert_cmphex(radix, ==, history(CSIM_QUEUE_HEAP4, seed, &b));
    g_assert_cmpuint(a, ==, b);
    g_assert_cmpuint(a, >, 100);
    g_assert_cmphex(radix, !=, history(CSIM_QUEUE_RADIX, seed + 1000, &other));
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/queue/radix-equals-heap4", test_order);
  g_test_add_func("/queue/engine-history", test_engine);
  return g_test_run();
}
