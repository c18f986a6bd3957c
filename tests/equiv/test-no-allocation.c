/*
 * A steady run asks the heap for nothing: engine and fluid solver under load, with the C library's allocator counted.
 */
#include "models/fluid.h"
#include <stdlib.h>

/* glibc's own entry points; ours below stand in front of them. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static volatile gboolean counting;
static volatile guint calls;

void *malloc(size_t size) {
  calls += counting;
  return __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
  calls += counting;
  return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size) {
  calls += counting;
  return __libc_realloc(old, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
  calls += counting;
  *out = __libc_memalign(alignment, size);
  return *out ? 0 : 12; /* ENOMEM */
}

#define GPUS 16
#define CHANNELS 16

typedef struct {
  CsimFluid *fluid;
  GRand *rand;
  uint16_t handler;
  CsimTimer timer[GPUS];
} World;

enum { EV_START, EV_DONE, EV_TICK };

static void start(World *w, uint32_t worker) {
  static const CsimRate caps[] = {34500000000, 24500000000, 0};
  guint gpu = worker / CHANNELS, next = (guint)g_rand_int_range(w->rand, 0, GPUS);
  CsimFlowLink link[2] = {{2 * gpu, 1}, {2 * next + 1, worker % 5 ? 1 : 2}};
  csim_fluid_start(w->fluid, link, 2, 65536, caps[worker % 3], w->handler, EV_DONE, worker, 0);
}

static void on_event(CsimEngine *engine, void *owner, const CsimEvent *event) {
  World *w = owner;
  CsimTime wait = g_rand_int_range(w->rand, 0, 2000000);
  switch (event->kind) {
  case EV_START: start(w, event->entity); break;
  case EV_DONE:
    csim_engine_at(engine, event->time + wait, w->handler, EV_START, event->entity, 0);
    csim_timer_arm(engine, &w->timer[event->entity % GPUS], event->time + wait / 2);
    if (event->entity % 7 == 0)
      csim_engine_cancel(engine, csim_engine_at(engine, event->time + wait, w->handler, EV_TICK, 0, 0));
    break;
  }
}

static guint allocations(CsimQueueKind queue) {
  World w = {.rand = g_rand_new_with_seed(3)};
  g_autoptr(CsimEngine) engine = csim_engine_new(queue);
  w.handler = csim_engine_add_handler(engine, "worker", on_event, &w);
  w.fluid = csim_fluid_new(engine);
  for (guint i = 0; i < 2 * GPUS; i++)
    csim_fluid_add_link(w.fluid, NULL, 370000000000, i % 3 ? 5 : 0);
  for (guint i = 0; i < GPUS; i++)
    csim_timer_init(&w.timer[i], w.handler, EV_TICK, i, 0);
  for (guint i = 0; i < GPUS * CHANNELS; i++)
    csim_engine_at(engine, i, w.handler, EV_START, i, 0);
  csim_engine_run(engine, CSIM_TIME_NEVER, 200000);
  calls = 0;
  counting = TRUE;
  CsimEnd end = csim_engine_run(engine, CSIM_TIME_NEVER, 1000000);
  counting = FALSE;
  g_assert_cmpint(end, ==, CSIM_END_EVENTS);
  csim_fluid_free(w.fluid);
  g_rand_free(w.rand);
  return calls;
}

static void test_steady(void) {
  g_assert_cmpuint(allocations(CSIM_QUEUE_RADIX), ==, 0);
  g_assert_cmpuint(allocations(CSIM_QUEUE_HEAP4), ==, 0);
}

/* The counter itself works: the test can fail. */
static void test_counter(void) {
  calls = 0;
  counting = TRUE;
  g_free(g_malloc(10));
  counting = FALSE;
  g_assert_cmpuint(calls, ==, 1);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/no-allocation/counter", test_counter);
  g_test_add_func("/no-allocation/steady-run", test_steady);
  return g_test_run();
}
