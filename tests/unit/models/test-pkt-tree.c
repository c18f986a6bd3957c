/* Aggregation trees in the packet network: who gets what, when, how often it crosses each cable, and that nothing waits for ever. */
#include "collsim/error.h"
#include "models/pkt/pkt.h"

#define GBPS ((CsimRate)125000000)
enum { LEAVES = 4, HOSTS = 4, SPINES = 2, ALL = LEAVES * HOSTS, MTU = 4096, MAX_OPS = 64 };
enum { SENT, LANDED };

typedef struct {
  CsimEngine *engine;
  CsimPktNet *net;
  guint tree, sent[ALL], landed[ALL];
  CsimTime last;
  uint16_t handler;
  uint32_t entity[ALL];
} Bed;

static void on_event(CsimEngine *engine, void *owner, const CsimEvent *event) {
  Bed *bed = owner;
  bed->last = event->time;
  if (event->kind == SENT) {
    bed->sent[event->entity]++;
    return;
  }
  g_assert_cmpuint(event->arg, ==, bed->landed[event->entity]); /* in order */
  bed->landed[event->entity]++;
}

static const CsimPktTreeSpec usual = {.number = 1, .reduce = 100 * CSIM_NS};

/* 400 Gb/s and 200 ns everywhere; switches take 200 ns. Hosts 0.., leaves, spines; ports of host i: 2 i and, at its leaf, 2 i + 1. */
static void leaf_spine(Bed *bed, const CsimPktTreeSpec *spec, double loss) {
  CsimPktSpec ib = csim_pkt_spec_ib();
  CsimPktSwitch sw = {.latency = 200 * CSIM_NS, .cut_through = TRUE};
  CsimPktCable cable = {400 * GBPS, 200 * CSIM_NS, loss};
  guint hosts[ALL];
  *bed = (Bed){.engine = csim_engine_new(CSIM_QUEUE_RADIX)};
  csim_engine_set_digest(bed->engine, TRUE);
  bed->handler = csim_engine_add_handler(bed->engine, "event", on_event, bed);
  bed->net = csim_pkt_net_new(bed->engine, &ib);
  for (guint i = 0; i < ALL; i++) csim_pkt_add_host(bed->net, "host");
  for (guint i = 0; i < LEAVES; i++) csim_pkt_add_switch(bed->net, "leaf", &sw);
  for (guint i = 0; i < SPINES; i++) csim_pkt_add_switch(bed->net, "spine", &sw);
  for (guint i = 0; i < ALL; i++) csim_pkt_connect(bed->net, i, ALL + i / HOSTS, &cable);
  for (guint l = 0; l < LEAVES; l++)
    for (guint s = 0; s < SPINES; s++) csim_pkt_connect(bed->net, ALL + l, ALL + LEAVES + s, &cable);
  for (guint i = 0; i < ALL; i++) hosts[i] = bed->entity[i] = i;
  GError *error = NULL;
  bed->tree = csim_pkt_add_tree(bed->net, hosts, ALL, spec, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < ALL; i++) csim_pkt_tree_watch(bed->net, bed->tree, i, bed->handler, LANDED, i);
}

static void run(Bed *bed, guint ops) {
  GError *error = NULL;
  g_assert_cmpint(csim_engine_run(bed->engine, CSIM_TIME_NEVER, 0), ==, CSIM_END_IDLE);
  csim_pkt_check(bed->net, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < ALL; i++) {
    g_assert_cmpuint(bed->sent[i], ==, ops);
    g_assert_cmpuint(bed->landed[i], ==, ops);
  }
}

static void clear(Bed *bed) {
  csim_pkt_net_free(bed->net);
  csim_engine_free(bed->engine);
}

static uint64_t packets(const Bed *bed, guint port) { return csim_pkt_port_stats(bed->net, port).tx_packets; }

static void all_reduce(Bed *bed, CsimBytes bytes, int mtu, int64_t window, const CsimTime *delay) {
  CsimPktReduce what = {.kind = CSIM_PKT_ALL_REDUCE, .bytes = bytes, .entity = bed->entity, .mtu = mtu, .window = window, .delay = delay};
  csim_pkt_reduce(bed->net, bed->tree, &what, bed->handler, SENT);
}

/* Every cable of the tree carries the bytes once each way, however many members; operations follow each other without a gap. */
static void test_all_reduce(void) {
  Bed bed;
  leaf_spine(&bed, &usual, 0);
  CsimBytes bytes = 1 << 20;
  for (guint k = 0; k < 40; k++) all_reduce(&bed, bytes, MTU, 0, NULL); /* more than the ring of operations first holds */
  run(&bed, 40);
  uint64_t n = 40 * (uint64_t)bytes / MTU, up = 0;
  for (guint i = 0; i < ALL; i++) {
    g_assert_cmpuint(packets(&bed, 2 * i), ==, n);
    g_assert_cmpuint(packets(&bed, 2 * i + 1), ==, n);
  }
  for (guint c = 0; c < LEAVES * SPINES; c++) {
    uint64_t there = packets(&bed, 2 * (ALL + c));
    g_assert_true(there == 0 || there == n);
    g_assert_cmpuint(packets(&bed, 2 * (ALL + c) + 1), ==, there);
    up += there;
  }
  g_assert_cmpuint(up, ==, LEAVES * n);
  double line = (double)(40 * bytes) / (400.0 * GBPS * csim_pkt_ceiling(CSIM_PKT_IB, MTU)) * 1e12;
  g_assert_cmpfloat((double)bed.last, <, line + 6e6); /* four cables, three switches, two reductions, last frames */
  g_assert_cmpfloat((double)bed.last, >, line);
  clear(&bed);
}

/* To the picosecond: one packet up two cables and down two, headers ahead in switches, two reductions. */
static void test_latency(void) {
  Bed bed;
  leaf_spine(&bed, &usual, 0);
  all_reduce(&bed, 1024, 1024, 0, NULL);
  run(&bed, 1);
  CsimTime frame = 20 * (1024 + 26), header = 20 * 64;
  g_assert_cmpint(bed.last, ==, 4 * 200 * CSIM_NS + 3 * (header + 200 * CSIM_NS) + 2 * 100 * CSIM_NS + frame);
  clear(&bed);
}

/* A member that comes late holds up all. A window of four takes a round trip for four packets. */
static void test_late_and_window(void) {
  CsimTime delay[ALL] = {[5] = 50 * CSIM_US};
  Bed bed;
  leaf_spine(&bed, &usual, 0);
  all_reduce(&bed, 64 << 10, MTU, 0, delay);
  csim_engine_run(bed.engine, 50 * CSIM_US, 0);
  for (guint i = 0; i < ALL; i++) g_assert_cmpuint(bed.landed[i], ==, 0);
  run(&bed, 1);
  clear(&bed);
  CsimTime one, many;
  leaf_spine(&bed, &usual, 0);
  all_reduce(&bed, 4 << 10, 1024, 4, NULL);
  run(&bed, 1);
  one = bed.last;
  clear(&bed);
  leaf_spine(&bed, &usual, 0);
  all_reduce(&bed, 64 << 10, 1024, 4, NULL);
  run(&bed, 1);
  many = bed.last;
  g_test_message("4 packets %.2f us, 64 packets %.2f us", (double)one * 1e-6, (double)many * 1e-6);
  g_assert_cmpint(many, >, 15 * one);
  g_assert_cmpint(many, <, 17 * one);
  clear(&bed);
}

/* Parts of unlike sizes, some of them nothing: gathered, every member gets all of them; scattered, its own. */
static void parts(CsimPktReduction kind) {
  CsimBytes part[ALL], total = 0;
  uint64_t gathered = 0;
  Bed bed;
  leaf_spine(&bed, &usual, 0);
  for (guint i = 0; i < ALL; i++) {
    part[i] = i % 5 == 3 ? 0 : (CsimBytes)(10000 * i + 17);
    total += part[i];
    gathered += part[i] ? (uint64_t)(part[i] + MTU - 1) / MTU : 0;
  }
  CsimBytes none[ALL] = {0};
  for (guint k = 0; k < 6; k++) { /* the third one moves nothing */
    CsimPktReduce what = {.kind = kind, .part = k == 2 ? none : part, .entity = bed.entity, .mtu = MTU};
    csim_pkt_reduce(bed.net, bed.tree, &what, bed.handler, SENT);
  }
  run(&bed, 6);
  uint64_t scattered = 0;
  for (guint i = 0; i < ALL; i++) {
    uint64_t up = packets(&bed, 2 * i), down = packets(&bed, 2 * i + 1);
    g_assert_cmpuint(up, ==, 5 * (kind == CSIM_PKT_GATHER ? (uint64_t)(part[i] + MTU - 1) / MTU : (uint64_t)(total + MTU - 1) / MTU));
    if (kind == CSIM_PKT_GATHER) g_assert_cmpuint(down, ==, 5 * gathered);
    scattered += down;
  }
  if (kind == CSIM_PKT_SCATTER) g_assert_cmpuint(scattered, ==, 5 * (uint64_t)((total + MTU - 1) / MTU));
  clear(&bed);
}

/* With a window a scatter's results go to all. */
static void test_short_scatter(void) {
  CsimBytes part[ALL];
  Bed bed;
  leaf_spine(&bed, &usual, 0);
  for (guint i = 0; i < ALL; i++) part[i] = i == 3 ? 0 : 1024;
  CsimPktReduce what = {.kind = CSIM_PKT_SCATTER, .part = part, .entity = bed.entity, .mtu = 1024, .window = 4};
  csim_pkt_reduce(bed.net, bed.tree, &what, bed.handler, SENT);
  run(&bed, 1);
  for (guint i = 0; i < ALL; i++) g_assert_cmpuint(packets(&bed, 2 * i + 1), ==, ALL - 1);
  clear(&bed);
}

static void test_parts(void) {
  parts(CSIM_PKT_GATHER);
  parts(CSIM_PKT_SCATTER);
}

/* A member's pace; loss leaves trees alone; the same history twice. */
static void test_rate(void) {
  uint64_t digest[2];
  for (guint k = 0; k < 2; k++) {
    CsimPktTreeSpec slow = usual;
    slow.rate = 200 * GBPS;
    Bed bed;
    leaf_spine(&bed, &slow, 0.01);
    all_reduce(&bed, 4 << 20, MTU, 0, NULL);
    run(&bed, 1);
    double line = (double)(4 << 20) / (200.0 * GBPS) * 1e12;
    g_assert_cmpfloat((double)bed.last, >, line);
    g_assert_cmpfloat((double)bed.last, <, line + 5e6);
    digest[k] = csim_engine_digest(bed.engine);
    clear(&bed);
  }
  g_assert_cmpuint(digest[0], ==, digest[1]);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/pkt/tree/all-reduce", test_all_reduce);
  g_test_add_func("/pkt/tree/latency", test_latency);
  g_test_add_func("/pkt/tree/late-and-window", test_late_and_window);
  g_test_add_func("/pkt/tree/parts", test_parts);
  g_test_add_func("/pkt/tree/short-scatter", test_short_scatter);
  g_test_add_func("/pkt/tree/rate", test_rate);
  return g_test_run();
}
