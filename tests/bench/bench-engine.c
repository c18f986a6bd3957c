/*
 * Hold model through the engine: every event schedules one more, so that the number pending stays. Table of ns an
 * event and events a second, both queues, two mixes of increments. CPU time, best of 5.
 *
 *   bench-engine [EVENTS]                       the table
 *   bench-engine EVENTS QUEUE WAITS PENDING     one run, once, untimed, for tools/instructions.sh
 */
#include "bench.h"
#include "sim/engine.h"
#include <stdio.h>
#include <string.h>

typedef struct {
  uint64_t random;
  gboolean network; /* increments of a network with many exact ties; else uniform over 2 us */
} Hold;

static void on_event(CsimEngine *engine, void *owner, const CsimEvent *event) {
  static const CsimTime network[] = {0, 81920, 500000, 700000};
  Hold *hold = owner;
  uint64_t r = bench_random(&hold->random);
  CsimTime wait = hold->network ? network[r >> 62] : (CsimTime)(r % 2000000);
  csim_engine_at(engine, event->time + wait, 0, 0, event->entity, 0);
}

/* In its steady state. */
static void hold_init(Hold *hold, CsimEngine *engine, guint pending) {
  csim_engine_add_handler(engine, "hold", on_event, hold);
  for (guint i = 0; i < pending; i++)
    csim_engine_at(engine, (CsimTime)(bench_random(&hold->random) % 2000000), 0, 0, i, 0);
  csim_engine_run(engine, CSIM_TIME_NEVER, 4 * (uint64_t)pending);
}

static double best_ns(CsimEngine *engine, uint64_t events) {
  double best = 1e9;
  for (int i = 0; i < 5; i++) {
    double start = cpu_seconds();
    csim_engine_run(engine, CSIM_TIME_NEVER, events);
    best = MIN(best, (cpu_seconds() - start) / (double)events * 1e9);
  }
  return best;
}

static void run(CsimQueueKind queue, gboolean network, guint pending, uint64_t events) {
  g_autoptr(CsimEngine) engine = csim_engine_new(queue);
  Hold hold = {.random = 88172645463325252u, .network = network};
  hold_init(&hold, engine, pending);
  double ns = best_ns(engine, events);
  printf("%-6s %-8s %8u %8.1f %10.1f %10u\n", queue == CSIM_QUEUE_RADIX ? "radix" : "heap4",
         network ? "network" : "uniform", pending, ns, 1e3 / ns,
         (guint)csim_engine_stats(engine).bytes_per_pending);
}

static int run_once(CsimQueueKind queue, gboolean network, guint pending, uint64_t events) {
  g_autoptr(CsimEngine) engine = csim_engine_new(queue);
  Hold hold = {.random = 88172645463325252u, .network = network};
  hold_init(&hold, engine, pending);
  csim_engine_run(engine, CSIM_TIME_NEVER, events);
  printf("{\"events\": %" G_GUINT64_FORMAT "}\n", csim_engine_stats(engine).events);
  return 0;
}

int main(int argc, char **argv) {
  uint64_t events = argc > 1 ? g_ascii_strtoull(argv[1], NULL, 10) : 2000000;
  if (argc > 4)
    return run_once(strcmp(argv[2], "heap4") ? CSIM_QUEUE_RADIX : CSIM_QUEUE_HEAP4, !strcmp(argv[3], "network"),
                    (guint)g_ascii_strtoull(argv[4], NULL, 10), events);
  printf("%-6s %-8s %8s %8s %10s %10s\n", "queue", "waits", "pending", "ns/event", "M events/s", "B/pending");
  for (int queue = CSIM_QUEUE_RADIX; queue <= CSIM_QUEUE_HEAP4; queue++)
    for (int network = 0; network < 2; network++)
      for (guint pending = 100; pending <= 1000000; pending *= 10)
        run((CsimQueueKind)queue, network, pending, events);
  return 0;
}
