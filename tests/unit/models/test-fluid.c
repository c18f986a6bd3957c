/*
 * Fluid sharing: closed forms, to the picosecond; accounts; cancel, capacity, watch.
 */
#include "base/units.h"
#include "models/fluid.h"
#include <math.h>

#define GB INT64_C(1000000000)
#define MIB INT64_C(1048576)

typedef struct {
  CsimEngine *engine;
  CsimFluid *fluid;
  uint16_t handler;
  CsimTime end[16];
  guint ended;
  GString *watched;
} World;

static void on_done(CsimEngine *engine, void *owner, const CsimEvent *event) {
  World *w = owner;
  g_assert_cmpuint(event->arg, ==, 1000 + event->entity);
  w->end[event->entity] = event->time;
  w->ended++;
}

static World *begin(void) {
  World *w = g_new0(World, 1);
  w->engine = csim_engine_new(CSIM_QUEUE_RADIX);
  w->handler = csim_engine_add_handler(w->engine, "world", on_done, w);
  w->fluid = csim_fluid_new(w->engine);
  for (guint i = 0; i < G_N_ELEMENTS(w->end); i++)
    w->end[i] = CSIM_TIME_NEVER;
  return w;
}

static void finish(World *w) {
  csim_fluid_free(w->fluid);
  csim_engine_free(w->engine);
  g_free(w);
}

static CsimFlowId start(World *w, guint n, const CsimFlowLink *links, CsimBytes bytes, CsimRate cap, guint who) {
  return csim_fluid_start(w->fluid, links, n, bytes, cap, w->handler, 0, who, 1000 + who);
}

static void run(World *w) { g_assert_cmpint(csim_engine_run(w->engine, CSIM_TIME_NEVER, 0), ==, CSIM_END_IDLE); }

static void run_until(World *w, CsimTime t) { csim_engine_run(w->engine, t, 0); }

/* Uncontended: exactly csim_rate_time, whatever bounds the flow. */
static void test_alone(void) {
  static const CsimBytes sizes[] = {1, 3, 4096, 65537, 8 * MIB, 8 * MIB + 1, 3 * 1024 * MIB + 7};
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    World *w = begin();
    CsimLinkId link = csim_fluid_add_link(w->fluid, "port", 370 * GB, 5);
    CsimLinkId narrow = csim_fluid_add_link(w->fluid, "nic", 48700000001, 0);
    start(w, 1, &(CsimFlowLink){link, 1}, sizes[i], 34500000007, 0);
    start(w, 1, &(CsimFlowLink){narrow, 1}, sizes[i], 0, 1);
    start(w, 1, &(CsimFlowLink){narrow, 2}, 0, 0, 2); /* nothing to carry */
    start(w, 0, NULL, sizes[i], 25 * GB, 3);
    run(w);
    g_assert_cmpint(w->end[0], ==, csim_rate_time(34500000007, sizes[i]));
    g_assert_cmpint(w->end[1], ==, csim_rate_time(48700000001, sizes[i]));
    g_assert_cmpint(w->end[2], ==, 0);
    g_assert_cmpint(w->end[3], ==, csim_rate_time(25 * GB, sizes[i]));
    g_assert_cmpuint(csim_fluid_stats(w->fluid).direct, ==, 2);
    finish(w);
  }
}

static void test_shared_link(void) {
  World *w = begin();
  CsimFlowLink link = {csim_fluid_add_link(w->fluid, "link", 100 * GB, 0), 1};
  for (guint i = 0; i < 4; i++)
    start(w, 1, &link, MIB, 0, i);
  run(w);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpint(w->end[i], ==, csim_rate_time(100 * GB, 4 * MIB));
  CsimLinkUse use = csim_fluid_link_use(w->fluid, link.link);
  g_assert_cmpfloat(use.bytes, ==, 4.0 * MIB);
  g_assert_cmpint(use.busy, ==, w->end[0]);
  g_assert_cmpint(use.binding, ==, w->end[0]);
  g_assert_cmpuint(use.peak, ==, 4);
  finish(w);
}

/* One long flow, and a short one in the middle of it: 1 + 1 MiB at half rate, the rest alone. */
static void test_join_and_leave(void) {
  World *w = begin();
  CsimFlowLink link = {csim_fluid_add_link(w->fluid, NULL, 100 * GB, 0), 1};
  start(w, 1, &link, 4 * MIB, 0, 0);
  run_until(w, 10485760); /* 1 MiB at 100 GB/s */
  start(w, 1, &link, MIB, 0, 1);
  run(w);
  g_assert_cmpint(w->end[1], ==, 10485760 * 3);
  g_assert_cmpint(w->end[0], ==, 10485760 * 5);
  finish(w);
}

/* The classical example: a flow over both links, one on each; the second link is twice as wide. */
static void test_max_min(void) {
  World *w = begin();
  CsimFlowLink both[2] = {{csim_fluid_add_link(w->fluid, NULL, 100 * GB, 0), 1},
                          {csim_fluid_add_link(w->fluid, NULL, 200 * GB, 0), 1}};
  CsimFlowId across = start(w, 2, both, 100 * MIB, 0, 0);
  CsimFlowId first = start(w, 1, &both[0], 100 * MIB, 0, 1);
  CsimFlowId second = start(w, 1, &both[1], 100 * MIB, 0, 2);
  CsimFlowId capped = start(w, 1, &both[0], 100 * MIB, 10 * GB, 3);
  run_until(w, 1);
  g_assert_cmpfloat(csim_fluid_flow_rate(w->fluid, capped), ==, 10e9);
  g_assert_cmpfloat(csim_fluid_flow_rate(w->fluid, across), ==, 45e9);
  g_assert_cmpfloat(csim_fluid_flow_rate(w->fluid, first), ==, 45e9);
  g_assert_cmpfloat(csim_fluid_flow_rate(w->fluid, second), ==, 155e9);
  csim_fluid_cancel(w->fluid, first);
  csim_fluid_cancel(w->fluid, first); /* again: nothing */
  csim_fluid_cancel(w->fluid, CSIM_FLOW_NONE);
  run_until(w, 2);
  g_assert_cmpfloat(csim_fluid_flow_rate(w->fluid, across), ==, 90e9);
  g_assert_cmpfloat(csim_fluid_flow_rate(w->fluid, second), ==, 110e9);
  g_assert_cmpfloat(csim_fluid_flow_rate(w->fluid, first), ==, 0);
  run(w);
  g_assert_cmpuint(w->ended, ==, 3);
  finish(w);
}

static void test_weight(void) {
  World *w = begin();
  CsimLinkId link = csim_fluid_add_link(w->fluid, NULL, 90 * GB, 0);
  CsimFlowId plain = start(w, 1, &(CsimFlowLink){link, 1}, MIB, 0, 0);
  CsimFlowId twice = start(w, 1, &(CsimFlowLink){link, 2}, MIB, 0, 1); /* LL: flags travel with the data */
  run_until(w, 1);
  g_assert_cmpfloat(csim_fluid_flow_rate(w->fluid, plain), ==, 30e9);
  g_assert_cmpfloat(csim_fluid_flow_rate(w->fluid, twice), ==, 30e9);
  run(w);
  g_assert_cmpint(w->end[0], ==, csim_rate_time(30 * GB, MIB));
  g_assert_cmpfloat(csim_fluid_link_use(w->fluid, link).bytes, ==, 3.0 * MIB);
  finish(w);
}

static double soft_min(double a, double b, double p) { return pow(pow(a, -p) + pow(b, -p), -1 / p); }

static void check_rate(World *w, CsimFlowId flow, double want) {
  g_assert_cmpfloat_with_epsilon(csim_fluid_flow_rate(w->fluid, flow) / want, 1, 1e-9);
}

/* Softness: by the load that a flow meets while the caps fit; by the level of the water when not; not at all far below. */
static void test_softness(void) {
  World *w = begin();
  CsimFlowLink port = {csim_fluid_add_link(w->fluid, NULL, 370 * GB, 5), 1};
  CsimFlowId flow[16];
  flow[0] = start(w, 1, &port, MIB, 31 * GB, 0);
  run_until(w, 1);
  g_assert_cmpfloat(csim_fluid_flow_rate(w->fluid, flow[0]), ==, 31e9);
  for (guint i = 1; i < 8; i++)
    flow[i] = start(w, 1, &port, MIB, 31 * GB, i);
  run_until(w, 2);
  check_rate(w, flow[0], 31e9); /* as it met the link */
  for (guint i = 1; i < 8; i++)
    check_rate(w, flow[i], floor(soft_min(31e9, 370e9 / 8, 5)));
  for (guint i = 8; i < 15; i++)
    flow[i] = start(w, 1, &port, MIB, i < 12 ? 10 * GB : 60 * GB, i);
  run_until(w, 3); /* full: 4 at 10 GB/s leave 330 to the other eleven, 30 each, above 370 / 15 */
  check_rate(w, flow[14], soft_min(60e9, 30e9, 5));
  check_rate(w, flow[0], soft_min(31e9, 30e9, 5));
  check_rate(w, flow[8], soft_min(10e9, 30e9, 5));
  run(w);
  g_assert_cmpint(csim_fluid_link_use(w->fluid, port.link).binding, >, 0);
  finish(w);
}

static void test_capacity(void) {
  World *w = begin();
  CsimFlowLink link = {csim_fluid_add_link(w->fluid, NULL, 100 * GB, 0), 1};
  start(w, 1, &link, 2 * MIB, 50 * GB, 0);
  run_until(w, 20971520); /* half is carried */
  csim_fluid_set_capacity(w->fluid, link.link, 0);
  run_until(w, 30000000);
  g_assert_cmpuint(w->ended, ==, 0);
  csim_fluid_set_capacity(w->fluid, link.link, 25 * GB);
  run(w);
  g_assert_cmpint(w->end[0], ==, 30000000 + csim_rate_time(25 * GB, MIB));
  finish(w);
}

/* Ever new kinds of flows: empty classes are used again, and the memory stays bounded. */
static void test_recycling(void) {
  World *w = begin();
  CsimFlowLink both[2] = {{csim_fluid_add_link(w->fluid, NULL, 100 * GB, 0), 1},
                          {csim_fluid_add_link(w->fluid, NULL, 100 * GB, 5), 1}};
  for (guint i = 0; i < 60000; i++) {
    CsimTime begun = csim_engine_now(w->engine);
    CsimRate cap = GB + i;
    start(w, 1 + i % 2, both, 4096, cap, i % 16);
    run(w);
    g_assert_cmpint(w->end[i % 16] - begun, ==, csim_rate_time(cap, 4096));
  }
  g_assert_cmpuint(csim_fluid_stats(w->fluid).classes, <=, 16384);
  g_assert_cmpfloat(csim_fluid_link_use(w->fluid, both[0].link).bytes, ==, 60000.0 * 4096);
  finish(w);
}

static void on_rate(void *data, CsimTime now, CsimLinkId link, double rate) {
  World *w = data;
  g_string_append_printf(w->watched, "%d:%d=%.0f ", (int)(now / 1000000), (int)link, rate / 1e9);
}

static void test_watch(void) {
  World *w = begin();
  w->watched = g_string_new(NULL);
  CsimFlowLink both[2] = {{csim_fluid_add_link(w->fluid, "a", 100 * GB, 0), 1},
                          {csim_fluid_add_link(w->fluid, "b", 1000 * GB, 0), 1}};
  csim_fluid_watch(w->fluid, on_rate, w);
  start(w, 2, both, 2000000, 60 * GB, 0);
  run_until(w, 5000000);
  start(w, 1, both, 1000000, 60 * GB, 1); /* slows the first on b too */
  g_assert_cmpstr(csim_fluid_link_name(w->fluid, both[1].link), ==, "b");
  run(w);
  g_assert_cmpstr(w->watched->str, ==, "0:0=60 0:1=60 5:0=100 5:1=50 25:0=60 25:1=60 36:0=0 36:1=0 ");
  g_string_free(w->watched, TRUE);
  finish(w);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/fluid/alone", test_alone);
  g_test_add_func("/fluid/shared-link", test_shared_link);
  g_test_add_func("/fluid/join-and-leave", test_join_and_leave);
  g_test_add_func("/fluid/max-min", test_max_min);
  g_test_add_func("/fluid/weight", test_weight);
  g_test_add_func("/fluid/softness", test_softness);
  g_test_add_func("/fluid/capacity", test_capacity);
  g_test_add_func("/fluid/recycling", test_recycling);
  g_test_add_func("/fluid/watch", test_watch);
  return g_test_run();
}
