/* Several paths: adaptive routing and spraying over leaves and spines; receivers that take frames in any order; selective repeat. */
#include "models/pkt/pkt.h"

#define GBPS ((CsimRate)125000000)
enum { LEAVES = 4, HOSTS = 4, SPINES = 4, ALL = LEAVES * HOSTS };

typedef struct {
  CsimEngine *engine;
  CsimPktNet *net;
  guint done, landed;
  CsimTime done_at;
  uint64_t last_number;
  uint16_t handler;
} Bed;

enum { DONE, LANDED };

static void on_event(CsimEngine *engine, void *owner, const CsimEvent *event) {
  Bed *bed = owner;
  if (event->kind == LANDED) {
    bed->landed++;
    bed->last_number = event->arg;
    return;
  }
  bed->done++;
  bed->done_at = event->time;
}

/* Every link 400 Gb/s and 200 ns; hosts 0.., then leaves, then spines. */
static void leaf_spine(Bed *bed, const CsimPktSpec *spec, double loss) {
  CsimPktSwitch sw = csim_pkt_switch_hpcc(400 * GBPS, CSIM_US);
  CsimPktCable cable = {400 * GBPS, 200 * CSIM_NS, loss};
  *bed = (Bed){.engine = csim_engine_new(CSIM_QUEUE_RADIX)};
  csim_engine_set_digest(bed->engine, TRUE);
  bed->handler = csim_engine_add_handler(bed->engine, "done", on_event, bed);
  bed->net = csim_pkt_net_new(bed->engine, spec);
  for (guint i = 0; i < ALL; i++) csim_pkt_add_host(bed->net, "host");
  for (guint i = 0; i < LEAVES; i++) csim_pkt_add_switch(bed->net, "leaf", &sw);
  for (guint i = 0; i < SPINES; i++) csim_pkt_add_switch(bed->net, "spine", &sw);
  for (guint i = 0; i < ALL; i++) csim_pkt_connect(bed->net, i, ALL + i / HOSTS, &cable);
  for (guint l = 0; l < LEAVES; l++)
    for (guint s = 0; s < SPINES; s++) csim_pkt_connect(bed->net, ALL + l, ALL + LEAVES + s, &cable);
}

static void clear(Bed *bed) {
  GError *error = NULL;
  csim_pkt_check(bed->net, &error);
  g_assert_no_error(error);
  csim_pkt_net_free(bed->net);
  csim_engine_free(bed->engine);
}

/* Every host sends to the one a leaf further. */
static void shift(Bed *bed, CsimPktRouting routing, CsimBytes bytes) {
  CsimPktQpSpec flow = {.routing = routing};
  for (guint i = 0; i < ALL; i++) {
    guint qp = csim_pkt_add_qp(bed->net, i, (i + HOSTS) % ALL, &flow, NULL);
    csim_pkt_watch(bed->net, qp, bed->handler, LANDED, qp);
    for (guint k = 0; k < 4; k++) csim_pkt_send(bed->net, qp, bytes / 4, bed->handler, DONE, qp, 0);
  }
  csim_engine_run(bed->engine, CSIM_TIME_NEVER, 0);
}

static CsimPktQpStats total(Bed *bed) {
  CsimPktQpStats sum = {0};
  for (guint i = 0; i < ALL; i++) {
    CsimPktQpStats s = csim_pkt_qp_stats(bed->net, i);
    sum.out_of_order += s.out_of_order;
    sum.resent += s.resent;
    sum.timeouts += s.timeouts;
    sum.naks += s.naks;
    sum.duplicates += s.duplicates;
  }
  return sum;
}

/* Share of the payload ceiling that the slowest flow gets. */
static double slowest(CsimPktRouting routing, CsimPktKind kind, uint64_t *digest) {
  CsimPktSpec spec = kind == CSIM_PKT_IB ? csim_pkt_spec_ib() : csim_pkt_spec_roce();
  CsimBytes bytes = 8 << 20;
  Bed bed;
  leaf_spine(&bed, &spec, 0);
  shift(&bed, routing, bytes);
  CsimPktQpStats sum = total(&bed);
  double alone = (double)bytes / (400.0 * GBPS * csim_pkt_ceiling(spec.kind, spec.mtu));
  double share = alone / ((double)bed.done_at * 1e-12);
  g_test_message("routing %d, kind %d: %.1f %% of the ceiling, %" G_GUINT64_FORMAT " frames out of order", routing, kind, 100 * share,
                 sum.out_of_order);
  g_assert_cmpuint(bed.done, ==, 4 * ALL);
  g_assert_cmpuint(bed.landed, ==, 4 * ALL);
  g_assert_cmpuint(bed.last_number, ==, 3);
  g_assert_cmpuint(sum.resent + sum.timeouts + sum.naks + sum.duplicates, ==, 0);
  if (digest) *digest = csim_engine_digest(bed.engine);
  clear(&bed);
  return share;
}

static void test_spread(void) {
  for (int kind = CSIM_PKT_ROCE; kind <= CSIM_PKT_IB; kind++) {
    double one = slowest(CSIM_PKT_ONE_PATH, kind, NULL), adaptive = slowest(CSIM_PKT_ADAPTIVE, kind, NULL);
    g_assert_cmpfloat(one, <, 0.6); /* somewhere two flows share an uplink */
    g_assert_cmpfloat(adaptive, >, 0.97);
    g_assert_cmpfloat(slowest(CSIM_PKT_SPRAY, kind, NULL), >, 0.9);
  }
}

static void test_deterministic(void) {
  uint64_t first, again;
  slowest(CSIM_PKT_ADAPTIVE, CSIM_PKT_ROCE, &first);
  slowest(CSIM_PKT_ADAPTIVE, CSIM_PKT_ROCE, &again);
  g_assert_cmpuint(first, ==, again);
}

/* Frames are lost on one path: selective repeat sends again what was lost and little more, go-back-N a round trip's worth each time. */
static CsimTime lossy(CsimPktRecovery recovery, CsimPktQpStats *sum, uint64_t *lost) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  Bed bed;
  spec.recovery = recovery;
  spec.ack_timeout = 500 * CSIM_US;
  leaf_spine(&bed, &spec, 1e-3);
  shift(&bed, CSIM_PKT_ONE_PATH, 8 << 20);
  g_assert_cmpuint(bed.done, ==, 4 * ALL);
  g_assert_cmpuint(bed.landed, ==, 4 * ALL);
  *sum = total(&bed);
  *lost = 0;
  for (guint i = 0; i < csim_pkt_n_ports(bed.net); i++) *lost += csim_pkt_port_stats(bed.net, i).lost;
  CsimTime at = bed.done_at;
  clear(&bed);
  return at;
}

static void test_selective(void) {
  CsimPktQpStats selective, back;
  uint64_t lost, lost_back;
  CsimTime fast = lossy(CSIM_PKT_SELECTIVE, &selective, &lost), slow = lossy(CSIM_PKT_GO_BACK_N, &back, &lost_back);
  g_test_message("lost %" G_GUINT64_FORMAT ", resent %" G_GUINT64_FORMAT " (selective), %" G_GUINT64_FORMAT " (go-back-N)", lost,
                 selective.resent, back.resent);
  g_assert_cmpuint(selective.resent, <=, lost + selective.duplicates);
  g_assert_cmpuint(selective.resent, >, 0);
  g_assert_cmpuint(back.resent, >, 10 * selective.resent);
  g_assert_cmpint(fast, <=, slow);
}

/* Spraying over links that lose: nothing is taken for lost because it is late, the time-out finds what is. */
static void test_spray_with_loss(void) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  Bed bed;
  spec.ack_timeout = 500 * CSIM_US;
  leaf_spine(&bed, &spec, 1e-4);
  shift(&bed, CSIM_PKT_SPRAY, 4 << 20);
  CsimPktQpStats sum = total(&bed);
  g_assert_cmpuint(bed.done, ==, 4 * ALL);
  g_assert_cmpuint(bed.landed, ==, 4 * ALL);
  g_assert_cmpuint(sum.timeouts, >, 0);
  g_assert_cmpuint(sum.naks, ==, 0);
  clear(&bed);
}

/* A ring of four switches with a host each, every flow two cables on clockwise: cables are 8, 10, 12, 14 (from switch i to the next). */
enum { RING = 4 };
static void ring(Bed *bed, const CsimPktSpec *spec, guint ways, gboolean lanes) {
  CsimPktSwitch sw = {0};
  CsimPktCable cable = {100 * GBPS, 100 * CSIM_NS, 0};
  *bed = (Bed){.engine = csim_engine_new(CSIM_QUEUE_RADIX)};
  bed->handler = csim_engine_add_handler(bed->engine, "done", on_event, bed);
  bed->net = csim_pkt_net_new(bed->engine, spec);
  for (guint i = 0; i < RING; i++) csim_pkt_add_host(bed->net, "host");
  for (guint i = 0; i < RING; i++) csim_pkt_add_switch(bed->net, "switch", &sw);
  for (guint i = 0; i < RING; i++) csim_pkt_connect(bed->net, i, RING + i, &cable);
  for (guint i = 0; i < RING; i++) csim_pkt_connect(bed->net, RING + i, RING + (i + 1) % RING, &cable);
  for (guint i = 0; i < RING; i++) {
    guint on = (i + 1) % RING, end = (i + 2) % RING, behind = (i + RING - 1) % RING;
    guint there[] = {2 * i, 2 * (RING + i), 2 * (RING + on), 2 * end + 1}, other[] = {2 * i, 2 * (RING + behind) + 1, 2 * (RING + end) + 1, 2 * end + 1};
    guint back[] = {2 * end, 2 * (RING + on) + 1, 2 * (RING + i) + 1, 2 * i + 1};
    guint8 lane[] = {0, 0, on == 0, on == 0}, none[4] = {0};
    CsimPktWay both[] = {{4, there, none}, {4, other, none}};
    CsimPktQpSpec flow = {.path = there, .n_path = 4, .back = back, .n_back = 4};
    if (lanes) flow.lane = lane;
    if (ways > 1) flow.routing = CSIM_PKT_WAYS, flow.ways = both, flow.n_ways = ways;
    guint qp = csim_pkt_add_qp(bed->net, i, end, &flow, NULL);
    csim_pkt_send(bed->net, qp, 4 << 20, bed->handler, DONE, qp, 0);
  }
  csim_engine_run(bed->engine, CSIM_TIME_NEVER, 0);
}

/* Buffers that wait in a circle stand still; a second lane from the first switch on breaks it. */
static void test_lanes(void) {
  CsimPktSpec spec = csim_pkt_spec_ib();
  spec.vl_buffer = 16 * 1024;
  spec.ack_class = 2;
  spec.ack_timeout = 5 * CSIM_MS;
  Bed bed;
  ring(&bed, &spec, 1, FALSE);
  g_assert_nonnull(csim_pkt_deadlock(bed.net));
  clear(&bed);
  ring(&bed, &spec, 1, TRUE);
  g_assert_null(csim_pkt_deadlock(bed.net));
  g_assert_cmpuint(bed.done, ==, RING);
  clear(&bed);
}

/* One way: two flows on every cable clockwise. Of two ways each frame takes the emptier one: nearly the adapters' rate. */
static void test_given_ways(void) {
  double time[3];
  for (guint ways = 1; ways <= 2; ways++) {
    CsimPktSpec spec = csim_pkt_spec_ib();
    Bed bed;
    ring(&bed, &spec, ways, TRUE);
    g_assert_cmpuint(bed.done, ==, RING);
    time[ways] = (double)bed.done_at * 1e-12 * 100 * GBPS * csim_pkt_ceiling(spec.kind, spec.mtu) / (4 << 20);
    clear(&bed);
  }
  g_test_message("one way %.3f, two ways %.3f of the time alone", time[1], time[2]);
  g_assert_cmpfloat(time[1], >, 1.95);
  g_assert_cmpfloat(time[2], <, 1.15);
}

/* A cable that is down for a while, and then slow, costs just that. */
static void test_hold(void) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimTime end[3];
  for (guint k = 0; k < 3; k++) {
    Bed bed;
    leaf_spine(&bed, &spec, 0);
    guint qp = csim_pkt_add_qp(bed.net, 0, 1, NULL, NULL);
    csim_pkt_send(bed.net, qp, 1 << 20, bed.handler, DONE, qp, 0);
    csim_engine_run(bed.engine, 10 * CSIM_US, 0);
    if (k == 1) csim_pkt_hold(bed.net, 3, 60 * CSIM_US);
    if (k == 2) csim_pkt_set_rate(bed.net, 3, 200 * GBPS);
    csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
    end[k] = bed.done_at;
    clear(&bed);
  }
  double line = (double)(1 << 20) / (400.0 * GBPS * csim_pkt_ceiling(CSIM_PKT_ROCE, 4096)) * 1e12;
  g_assert_cmpfloat((double)(end[1] - end[0]), >, 49.8e6);
  g_assert_cmpfloat((double)(end[1] - end[0]), <, 50.1e6);
  g_assert_cmpfloat((double)(end[2] - end[0]), >, line - 10.0 * CSIM_US);
  g_assert_cmpfloat((double)(end[2] - end[0]), <, line);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/pkt/ways/spread", test_spread);
  g_test_add_func("/pkt/ways/deterministic", test_deterministic);
  g_test_add_func("/pkt/ways/selective", test_selective);
  g_test_add_func("/pkt/ways/spray-with-loss", test_spray_with_loss);
  g_test_add_func("/pkt/ways/lanes", test_lanes);
  g_test_add_func("/pkt/ways/given", test_given_ways);
  g_test_add_func("/pkt/ways/hold", test_hold);
  return g_test_run();
}
