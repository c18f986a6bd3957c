/*
 * Fluid solver under a ring's load: GPUs in a ring over NVLink ports, `channels` workers a GPU; each worker waits
 * (overhead with jitter), moves a slice over out port and next GPU's in port, and starts again. Times are per
 * flow and hold everything: the worker's event, the flow, the solves. CPU time, best of stretches of 50 000 flows.
 */
#include "bench.h"
#include "models/fluid.h"
#include <stdio.h>

typedef struct {
  const char *name;
  guint gpus, channels, links; /* links a flow: 1, 2, or 4 with two that cannot bind */
  CsimRate capacity;
  double softness;
  CsimBytes bytes;
  gboolean one_cap; /* else the mix of a ring of 8 */
} Load;

typedef struct {
  const Load *load;
  CsimFluid *fluid;
  uint16_t handler;
  uint64_t random, flows;
} Bench;

enum { EV_START, EV_DONE };

/* NVLink port of a Hopper GPU and its ring primitives (data/hardware.json, gpu.h100): of 14 steps that send, 6
 * recvReduceSend, 6 recvCopySend, one send, one recvReduceCopySend. */
static CsimRate draw_cap(Bench *b) {
  static const CsimRate mix[14] = {38700000000, 34500000000, 34500000000, 34500000000, 34500000000,
                                   34500000000, 34500000000, 22800000000, 24500000000, 24500000000,
                                   24500000000, 24500000000, 24500000000, 24500000000};
  return mix[b->load->one_cap ? 1 : (bench_random(&b->random) >> 32) % 14];
}

static void start(Bench *b, uint32_t worker) {
  const Load *load = b->load;
  guint gpu = worker / load->channels, next = (gpu + 1) % load->gpus;
  CsimFlowLink link[4] = {{4 * gpu, 1}, {4 * next + 1, 1}, {4 * gpu + 2, 1}, {4 * next + 3, 1}};
  csim_fluid_start(b->fluid, link, load->links, load->bytes, draw_cap(b), b->handler, EV_DONE, worker, 0);
}

static void on_event(CsimEngine *engine, void *owner, const CsimEvent *event) {
  Bench *b = owner;
  if (event->kind == EV_START) {
    start(b, event->entity);
    return;
  }
  b->flows++;
  CsimTime wait = 1520000 + (CsimTime)(bench_random(&b->random) % 760000); /* 1.9 us +- 20 % */
  csim_engine_at(engine, event->time + wait, b->handler, EV_START, event->entity, 0);
}

/* The best of many short stretches: other work on the machine only ever adds. */
static double best_ns(CsimEngine *engine, const Bench *b, uint64_t flows) {
  double best = 1e9;
  uint64_t end = b->flows + flows;
  while (b->flows < end) {
    uint64_t before = b->flows;
    double start = cpu_seconds();
    csim_engine_run(engine, CSIM_TIME_NEVER, 150000);
    best = MIN(best, (cpu_seconds() - start) / (double)(b->flows - before) * 1e9);
  }
  return best;
}

static void run(const Load *load, uint64_t flows) {
  g_autoptr(CsimEngine) engine = csim_engine_new(CSIM_QUEUE_RADIX);
  Bench b = {.load = load, .random = 88172645463325252u};
  b.handler = csim_engine_add_handler(engine, "worker", on_event, &b);
  b.fluid = csim_fluid_new(engine);
  for (guint i = 0; i < load->gpus; i++)
    for (guint k = 0; k < 4; k++)
      csim_fluid_add_link(b.fluid, NULL, k < 2 ? load->capacity : 100 * load->capacity, k < 2 ? load->softness : 0);
  for (guint i = 0; i < load->gpus * load->channels; i++)
    csim_engine_at(engine, (CsimTime)(bench_random(&b.random) % 2000000), b.handler, EV_START, i, 0);
  csim_engine_run(engine, CSIM_TIME_NEVER, 200000);
  uint64_t flows0 = b.flows;
  CsimEngineStats e0 = csim_engine_stats(engine);
  CsimFluidStats f0 = csim_fluid_stats(b.fluid);
  double ns = best_ns(engine, &b, flows);
  double n = (double)(b.flows - flows0);
  CsimEngineStats e = csim_engine_stats(engine);
  CsimFluidStats f = csim_fluid_stats(b.fluid);
  printf("%-26s %6u %8.0f %8.2f %7.2f %7.2f %7.2f %7.2f %7.2f\n", load->name, load->gpus * load->channels, ns,
         1e3 / ns, (double)(e.events - e0.events) / n, (double)(e.stale - e0.stale) / n,
         (double)(f.solves - f0.solves) / n, (double)(f.flows_solved - f0.flows_solved) / n,
         (double)(f.direct - f0.direct) / n);
  csim_fluid_free(b.fluid);
}

int main(int argc, char **argv) {
  static const Load loads[] = {
      {"8 GPUs, soft port, 16 ch", 8, 16, 2, 370000000000, 5, 131072, FALSE},
      {"8 GPUs, soft port, 24 ch", 8, 24, 2, 370000000000, 5, 524288, FALSE},
      {"8 GPUs, soft, one cap", 8, 16, 2, 370000000000, 5, 131072, TRUE},
      {"8 GPUs, hard port, 16 ch", 8, 16, 2, 370000000000, 0, 524288, FALSE},
      {"8 GPUs, 4 links a flow", 8, 16, 4, 370000000000, 5, 131072, FALSE},
      {"1024 GPUs, soft, 16 ch", 1024, 16, 2, 370000000000, 5, 131072, FALSE},
      {"1024 GPUs, 4 links", 1024, 16, 4, 370000000000, 5, 131072, FALSE},
      {"8 GPUs, no contention", 8, 16, 2, 37000000000000, 5, 131072, FALSE},
      {"1024 GPUs, no contention", 1024, 16, 4, 37000000000000, 5, 131072, FALSE},
  };
  uint64_t flows = argc > 1 ? g_ascii_strtoull(argv[1], NULL, 10) : 1000000;
  printf("%-26s %6s %8s %8s %7s %7s %7s %7s %7s\n", "load", "flows", "ns/flow", "M/s", "events", "stale", "solves",
         "classes", "direct");
  for (guint i = 0; i < G_N_ELEMENTS(loads); i++)
    run(&loads[i], flows);
  return 0;
}
