/* The packet network: exact times, conservation, pauses, losses, errors, pools, determinism. */
#include "collsim/error.h"
#include "models/pkt/pkt.h"

#include <string.h>

#define GBPS ((CsimRate)125000000)

typedef struct {
  CsimEngine *engine;
  CsimPktNet *net;
  guint n;
  CsimTime done_at;
  guint done;
  uint64_t last_arg;
  uint16_t handler;
} Bed;

static void on_done(CsimEngine *engine, void *owner, const CsimEvent *event) {
  Bed *bed = owner;
  bed->done++;
  bed->done_at = event->time;
  bed->last_arg = event->arg;
}

static CsimPktSwitch big_switch(void) {
  return (CsimPktSwitch){
      .buffer = 32000000, .headroom = 1000000, .alpha = 1.0 / 8, .xon_gap = 3000, .lossy_alpha = 1};
}

/* Node 0 the switch, 1 the receiver, 2.. n senders; the switch's port to the receiver is 0, from sender i it
 * is 3 + 2 i. */
static void star(Bed *bed, CsimQueueKind queue, const CsimPktSpec *spec, const CsimPktSwitch *sw, guint n,
                 const CsimPktCable *cable) {
  *bed = (Bed){.engine = csim_engine_new(queue), .n = n};
  csim_engine_set_digest(bed->engine, TRUE);
  bed->handler = csim_engine_add_handler(bed->engine, "done", on_done, bed);
  bed->net = csim_pkt_net_new(bed->engine, spec);
  csim_pkt_add_switch(bed->net, "switch", sw);
  csim_pkt_add_host(bed->net, "receiver");
  csim_pkt_connect(bed->net, 0, 1, cable);
  for (guint i = 0; i < n; i++) csim_pkt_connect(bed->net, csim_pkt_add_host(bed->net, "sender"), 0, cable);
  for (guint i = 0; i < n; i++) g_assert_cmpuint(csim_pkt_add_qp(bed->net, 2 + i, 1, NULL, NULL), ==, i);
}

static void send_all(Bed *bed, CsimBytes bytes) {
  for (guint i = 0; i < bed->n; i++) csim_pkt_send(bed->net, i, bytes, bed->handler, 0, i, 0);
}

static void check(Bed *bed) {
  GError *error = NULL;
  csim_pkt_check(bed->net, &error);
  g_assert_no_error(error);
}

static void clear(Bed *bed) {
  csim_pkt_net_free(bed->net);
  csim_engine_free(bed->engine);
}

static const CsimPktCable cable_100 = {.rate = 100 * 125000000LL, .delay = CSIM_US};

/* One packet: its time on two links, the ACK's on two, four cables, and the switch's latency both ways. */
static void test_one_packet(void) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = big_switch();
  Bed bed;
  sw.latency = 500 * CSIM_NS;
  star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 1, &cable_100);
  send_all(&bed, 1);
  csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
  g_assert_cmpint(bed.done_at, ==, 2 * 102 * 80 + 2 * 86 * 80 + 4 * CSIM_US + 2 * 500 * CSIM_NS);
  check(&bed);
  clear(&bed);
}

/* Cut-through: the second link starts 64 bytes after the first. An ACK likewise. */
static void test_cut_through(void) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = big_switch();
  Bed bed;
  sw.cut_through = TRUE;
  star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 1, &cable_100);
  send_all(&bed, 4096);
  csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
  g_assert_cmpint(bed.done_at, ==, (64 + 4194) * 80 + (64 + 86) * 80 + 4 * CSIM_US);
  check(&bed);
  clear(&bed);
}

static void test_sizes(void) {
  static const CsimBytes sizes[] = {0, 1, 4095, 4096, 4097, 100000};
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = big_switch();
  Bed bed;
  star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 3, &cable_100);
  for (guint k = 0; k < G_N_ELEMENTS(sizes); k++) send_all(&bed, sizes[k]);
  csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
  g_assert_cmpuint(bed.done, ==, 3 * G_N_ELEMENTS(sizes));
  for (guint i = 0; i < 3; i++) {
    CsimPktQpStats stats = csim_pkt_qp_stats(bed.net, i);
    g_assert_cmpint(stats.acked, ==, stats.posted);
    g_assert_cmpuint(stats.packets, ==, 1 + 1 + 1 + 1 + 2 + 25);
    g_assert_cmpuint(stats.resent, ==, 0);
  }
  check(&bed);
  clear(&bed);
}

/* In the middle of a run too. */
static void test_conservation(void) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = big_switch();
  CsimPktCable cable = cable_100;
  Bed bed;
  cable.loss = 0.01;
  spec.ack_timeout = 100 * CSIM_US;
  spec.retry_count = 1000000;
  spec.dcqcn_on = TRUE;
  csim_pkt_switch_ecn(&sw, 100 * GBPS, 1 << 3);
  star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 8, &cable);
  send_all(&bed, 3000000);
  for (int t = 1; t < 400; t++) {
    csim_engine_run(bed.engine, t * 2500 * CSIM_NS, 0);
    check(&bed);
  }
  csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
  check(&bed);
  g_assert_cmpuint(bed.done, ==, 8);
  clear(&bed);
}

/* A pausable class drops nothing, the same traffic in a lossy one does, and gets through by retransmission.
 */
static void test_lossy(void) {
  for (int lossy = 0; lossy < 2; lossy++) {
    CsimPktSpec spec = csim_pkt_spec_roce();
    CsimPktSwitch sw = big_switch();
    uint64_t drops = 0;
    Bed bed;
    sw.buffer = 500000;
    spec.ack_timeout = 200 * CSIM_US;
    spec.retry_count = 1000000;
    if (lossy) spec.pfc_mask = 0;
    star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 4, &cable_100);
    send_all(&bed, 2000000);
    csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
    for (guint i = 0; i < csim_pkt_n_ports(bed.net); i++) drops += csim_pkt_port_stats(bed.net, i).dropped;
    g_assert_true(lossy ? drops > 0 : drops == 0);
    g_assert_cmpuint(bed.done, ==, 4);
    check(&bed);
    clear(&bed);
  }
}

/* Nothing gets through: time-outs until the retries are used up, then the error, and no completion. */
static void test_retry_exceeded(void) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = big_switch();
  CsimPktCable cable = cable_100;
  Bed bed;
  cable.loss = 1;
  spec.ack_timeout = csim_pkt_ack_timeout(14);
  star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 1, &cable);
  send_all(&bed, 10000);
  csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
  CsimPktQpStats stats = csim_pkt_qp_stats(bed.net, 0);
  g_assert_true(stats.failed);
  g_assert_cmpuint(stats.timeouts, ==, 8);
  g_assert_cmpuint(bed.done, ==, 0);
  g_assert_cmpint(csim_engine_now(bed.engine), ==, 8 * csim_pkt_ack_timeout(14));
  g_assert_nonnull(strstr(csim_pkt_qp_error(bed.net, 0), "retry counter exceeded"));
  check(&bed);
  clear(&bed);
}

/* A stuck receiver stops its sender and one that shares the sender's host's switch ports, until it lets go.
 */
static void test_stuck_nic(void) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = big_switch();
  Bed bed;
  star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 2, &cable_100);
  guint victim = csim_pkt_add_qp(bed.net, 2, 3, NULL, NULL);
  csim_pkt_host_pause(bed.net, 1, 3, TRUE);
  csim_engine_run(bed.engine, 10 * CSIM_US, 0);
  csim_pkt_send(bed.net, 0, 20000000, bed.handler, 0, 0, 0);
  csim_engine_run(bed.engine, 5 * CSIM_MS, 0);
  csim_pkt_send(bed.net, victim, 4096, bed.handler, 0, 0, 0);
  csim_engine_run(bed.engine, 10 * CSIM_MS, 0);
  g_assert_cmpuint(bed.done, ==, 0);
  g_assert_cmpint(csim_pkt_port_stats(bed.net, 2).paused, >, 7 * CSIM_MS);
  g_assert_null(csim_pkt_find_deadlock(bed.net));
  csim_pkt_host_pause(bed.net, 1, 3, FALSE);
  csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
  g_assert_cmpuint(bed.done, ==, 2);
  check(&bed);
  clear(&bed);
}

/* A NIC that takes in nothing: PAUSE or no credits until it is well again, then everything arrives; without PFC what comes is dropped. */
static void stop(const CsimPktSpec *spec, gboolean lossless) {
  CsimPktSwitch sw = big_switch();
  Bed bed;
  star(&bed, CSIM_QUEUE_RADIX, spec, &sw, 2, &cable_100);
  csim_pkt_host_stop(bed.net, 1, TRUE);
  send_all(&bed, 1000000);
  csim_engine_run(bed.engine, 2 * CSIM_MS, 0);
  g_assert_cmpuint(bed.done, ==, 0);
  csim_pkt_host_stop(bed.net, 1, FALSE);
  csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
  g_assert_cmpuint(bed.done, ==, 2);
  uint64_t resent = csim_pkt_qp_stats(bed.net, 0).resent + csim_pkt_qp_stats(bed.net, 1).resent;
  if (lossless) g_assert_cmpuint(resent, ==, 0);
  else g_assert_cmpuint(resent, >, 0);
  check(&bed);
  clear(&bed);
}

static void test_stop(void) {
  CsimPktSpec roce = csim_pkt_spec_roce(), ib = csim_pkt_spec_ib(), lossy = roce;
  lossy.pfc_mask = 0;
  lossy.ack_timeout = CSIM_MS;
  stop(&roce, TRUE);
  stop(&ib, TRUE);
  stop(&lossy, FALSE);
}

/* 1000 messages of a packet from two queue pairs of one NIC, at most one every 500 ns: that is what they take. */
static void test_message_rate(void) {
  for (guint k = 0; k < 2; k++) {
    CsimPktSpec spec = csim_pkt_spec_roce();
    CsimPktSwitch sw = big_switch();
    Bed bed;
    spec.message_gap = k ? 500 * CSIM_NS : 0;
    star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 1, &cable_100);
    g_assert_cmpuint(csim_pkt_add_qp(bed.net, 2, 1, NULL, NULL), ==, 1);
    for (guint i = 0; i < 1000; i++) csim_pkt_send(bed.net, i % 2, 64, bed.handler, 0, 0, 0);
    csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
    g_assert_cmpuint(bed.done, ==, 1000);
    if (k) g_assert_cmpint(bed.done_at, >, 999 * 500 * CSIM_NS);
    if (k) g_assert_cmpint(bed.done_at, <, 1010 * 500 * CSIM_NS);
    else g_assert_cmpint(bed.done_at, <, 100 * 500 * CSIM_NS);
    check(&bed);
    clear(&bed);
  }
}

/* The same NIC, and switches with a watchdog: what is for it is thrown away, the victim runs, and when the NIC is well again so does everything. */
static void test_watchdog(void) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = big_switch();
  Bed bed;
  sw.watchdog = CSIM_MS;
  spec.ack_timeout = 4 * CSIM_MS;
  star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 2, &cable_100);
  guint victim = csim_pkt_add_qp(bed.net, 2, 3, NULL, NULL);
  csim_pkt_host_pause(bed.net, 1, 3, TRUE);
  csim_engine_run(bed.engine, 10 * CSIM_US, 0);
  csim_pkt_send(bed.net, 0, 20000000, bed.handler, 0, 0, 0);
  csim_engine_run(bed.engine, 5 * CSIM_MS, 0);
  csim_pkt_send(bed.net, victim, 4096, bed.handler, 0, 0, 7);
  csim_engine_run(bed.engine, 7 * CSIM_MS, 0);
  g_assert_cmpuint(bed.done, ==, 1);
  g_assert_cmpuint(bed.last_arg, ==, 7);
  CsimPktPortStats out = csim_pkt_port_stats(bed.net, 0);
  g_assert_cmpuint(out.storms, ==, 1);
  g_assert_cmpuint(out.storm_drops, >, 0);
  check(&bed);
  csim_pkt_host_pause(bed.net, 1, 3, FALSE);
  csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
  g_assert_cmpuint(bed.done, ==, 2);
  g_assert_cmpuint(csim_pkt_port_stats(bed.net, 0).storms, ==, 1);
  check(&bed);
  clear(&bed);
}

/* Cables between the same two nodes are told apart. */
static void test_names(void) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = big_switch();
  CsimEngine *engine = csim_engine_new(CSIM_QUEUE_RADIX);
  CsimPktNet *net = csim_pkt_net_new(engine, &spec);
  csim_pkt_add_switch(net, "leaf0", &sw);
  csim_pkt_add_switch(net, "spine0", &sw);
  csim_pkt_add_switch(net, "spine1", &sw);
  csim_pkt_connect(net, 0, 1, &cable_100);
  csim_pkt_connect(net, 0, 2, &cable_100);
  csim_pkt_connect(net, 0, 1, &cable_100);
  const char *const names[] = {"leaf0 -> spine0 #0", "spine0 -> leaf0 #0", "leaf0 -> spine1", "spine1 -> leaf0", "leaf0 -> spine0 #1", "spine0 -> leaf0 #1"};
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *name = csim_pkt_port_name(net, i);
    g_assert_cmpstr(name, ==, names[i]);
  }
  csim_pkt_net_free(net);
  csim_engine_free(engine);
}

/* A pause ends by itself when it is not refreshed: here the PAUSE asks for ten quanta at a time. */
static void test_expiry(void) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = big_switch();
  Bed bed;
  spec.pause_quanta = 10;
  sw.alpha = 0;
  sw.xoff = 20000;
  star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 4, &cable_100);
  send_all(&bed, 1000000);
  csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
  g_assert_cmpuint(bed.done, ==, 4);
  g_assert_cmpint(csim_pkt_port_stats(bed.net, 2).paused, >, 0);
  check(&bed);
  clear(&bed);
}

/* The receiver has each message once and in order, though frames and ACKs are lost; alone, it has it an ACK's
 * way before the sender knows. */
static void test_watch(void) {
  for (int lossy = 0; lossy < 2; lossy++) {
    CsimPktSpec spec = csim_pkt_spec_roce();
    CsimPktSwitch sw = big_switch();
    CsimPktCable cable = cable_100;
    Bed bed;
    cable.loss = lossy ? 0.02 : 0;
    spec.ack_timeout = 50 * CSIM_US;
    spec.retry_count = 1000000;
    star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 1, &cable);
    csim_pkt_watch(bed.net, 0, bed.handler, 1, 7);
    for (int i = 0; i < 200; i++) csim_pkt_send(bed.net, 0, i * 100, CSIM_PKT_SILENT, 0, 0, 0);
    csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
    g_assert_cmpuint(bed.done, ==, 200);
    g_assert_cmpuint(bed.last_arg, ==, 199);
    if (!lossy)
      g_assert_cmpint(csim_pkt_qp_stats(bed.net, 0).last_ack - bed.done_at, ==, 2 * 86 * 80 + 2 * CSIM_US);
    check(&bed);
    clear(&bed);
  }
}

/* One packet in flight: each waits for the ACK of the one before, though ACKs are asked for every 16. */
static void test_window(void) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = big_switch();
  Bed bed;
  spec.window = 1;
  star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 1, &cable_100);
  send_all(&bed, 10 * 4096);
  csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
  g_assert_cmpint(bed.done_at, ==, 10 * (2 * 4178 * 80 + 2 * 86 * 80 + 4 * CSIM_US) + 2 * 16 * 80);
  g_assert_cmpuint(csim_pkt_qp_stats(bed.net, 0).timeouts, ==, 0);
  check(&bed);
  clear(&bed);
}

static uint64_t digest_of(CsimQueueKind queue, uint64_t seed) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = big_switch();
  Bed bed;
  spec.seed = seed;
  spec.dcqcn_on = TRUE;
  csim_pkt_switch_ecn(&sw, 100 * GBPS, 1 << 3);
  star(&bed, queue, &spec, &sw, 6, &cable_100);
  send_all(&bed, 2000000);
  csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
  uint64_t digest = csim_engine_digest(bed.engine);
  clear(&bed);
  return digest;
}

static void test_deterministic(void) {
  g_assert_cmpuint(digest_of(CSIM_QUEUE_RADIX, 1), ==, digest_of(CSIM_QUEUE_RADIX, 1));
  g_assert_cmpuint(digest_of(CSIM_QUEUE_RADIX, 1), ==, digest_of(CSIM_QUEUE_HEAP4, 1));
  g_assert_cmpuint(digest_of(CSIM_QUEUE_RADIX, 1), !=, digest_of(CSIM_QUEUE_RADIX, 2));
}

/* The second like round asks the system for nothing. */
static void test_no_allocation(void) {
  for (int ib = 0; ib < 2; ib++) {
    CsimPktSpec spec = ib ? csim_pkt_spec_ib() : csim_pkt_spec_roce();
    CsimPktSwitch sw = big_switch();
    Bed bed;
    star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 8, &cable_100);
    send_all(&bed, 4000000);
    csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
    uint64_t before = csim_pkt_system_allocs(bed.net);
    send_all(&bed, 4000000);
    csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
    g_assert_cmpuint(csim_pkt_system_allocs(bed.net), ==, before);
    g_assert_cmpuint(bed.done, ==, 16);
    check(&bed);
    clear(&bed);
  }
}

/* InfiniBand incast: nothing dropped, no buffer beyond what was advertised, the receiver's link full. */
static void test_ib_incast(void) {
  CsimPktSpec spec = csim_pkt_spec_ib();
  CsimPktSwitch sw = {.cut_through = TRUE};
  CsimPktCable cable = {.rate = 400 * GBPS, .delay = 250 * CSIM_NS};
  Bed bed;
  star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 8, &cable);
  send_all(&bed, 10000000);
  csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
  double gbps = 8e7 * 8e3 / (double)bed.done_at;
  g_assert_cmpfloat_with_epsilon(gbps, 400 * csim_pkt_ceiling(CSIM_PKT_IB, 4096), 1);
  for (guint i = 0; i < 8; i++)
    g_assert_cmpint(csim_pkt_port_stats(bed.net, 3 + 2 * i).max_ingress, <=, spec.vl_buffer);
  check(&bed);
  clear(&bed);
}

/* Data and ACKs in two classes that share by bytes, both ways over the same links: full rate less the ACKs'
 * bytes. */
static void test_two_classes(void) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = big_switch();
  Bed bed;
  spec.ack_class = 0;
  spec.ack_every = 1;
  star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 1, &cable_100);
  csim_pkt_add_qp(bed.net, 1, 2, NULL, NULL);
  bed.n = 2;
  send_all(&bed, 4096 * 10000);
  csim_engine_run(bed.engine, CSIM_TIME_NEVER, 0);
  double gbps = 4096 * 10000 * 8e3 / (double)bed.done_at;
  g_assert_cmpuint(bed.done, ==, 2);
  g_assert_cmpfloat_with_epsilon(gbps, 100.0 * 4096 / (4178 + 86), 0.2); /* start-up: 4 us of 3.4 ms */
  check(&bed);
  clear(&bed);
}

/* Four ways, then four ways each: with one hash everywhere the second choice repeats the first. */
static guint ways_used(gboolean one_hash) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = big_switch();
  gboolean used[8][8] = {{FALSE}};
  guint n = 0;
  spec.one_hash = one_hash;
  CsimEngine *engine = csim_engine_new(CSIM_QUEUE_RADIX);
  CsimPktNet *net = csim_pkt_net_new(engine, &spec);
  for (guint i = 0; i < 2; i++) csim_pkt_add_host(net, "host");
  for (guint i = 0; i < 10; i++) csim_pkt_add_switch(net, "switch", &sw); /* 2: first; 3-6; 7-10; 11: last */
  csim_pkt_connect(net, 0, 2, &cable_100);
  csim_pkt_connect(net, 1, 11, &cable_100);
  guint first = csim_pkt_connect(net, 2, 3, &cable_100);
  for (guint i = 1; i < 4; i++) csim_pkt_connect(net, 2, 3 + i, &cable_100);
  guint second = csim_pkt_connect(net, 3, 7, &cable_100);
  for (guint i = 1; i < 16; i++) csim_pkt_connect(net, 3 + i / 4, 7 + i % 4, &cable_100);
  for (guint i = 0; i < 4; i++) csim_pkt_connect(net, 7 + i, 11, &cable_100);
  for (guint i = 0; i < 256; i++) {
    CsimPktQpSpec flow = {.udp_port = (guint16)(0xc000 + i)};
    const guint16 *path;
    guint qp = csim_pkt_add_qp(net, 0, 1, &flow, NULL);
    g_assert_cmpuint(csim_pkt_qp_path(net, qp, &path), ==, 5);
    used[(path[1] - first) / 2][(path[2] - second) / 2 % 4] = TRUE;
  }
  for (guint i = 0; i < 64; i++) n += used[i / 8][i % 8];
  csim_pkt_net_free(net);
  csim_engine_free(engine);
  return n;
}

static void test_polarisation(void) {
  g_assert_cmpuint(ways_used(FALSE), ==, 16);
  g_assert_cmpuint(ways_used(TRUE), ==, 4);
}

static void test_errors(void) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = big_switch();
  GError *error = NULL;
  Bed bed;
  star(&bed, CSIM_QUEUE_RADIX, &spec, &sw, 0, &cable_100);
  clear(&bed);
  CsimEngine *engine = csim_engine_new(CSIM_QUEUE_RADIX);
  CsimPktNet *net = csim_pkt_net_new(engine, &spec);
  csim_pkt_add_host(net, "a");
  csim_pkt_add_host(net, "b");
  g_assert_cmpuint(csim_pkt_add_qp(net, 0, 1, NULL, &error), ==, G_MAXUINT32);
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_ROUTE);
  g_error_free(error);
  csim_pkt_net_free(net);
  csim_engine_free(engine);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/pkt/one-packet", test_one_packet);
  g_test_add_func("/pkt/cut-through", test_cut_through);
  g_test_add_func("/pkt/sizes", test_sizes);
  g_test_add_func("/pkt/conservation", test_conservation);
  g_test_add_func("/pkt/lossy", test_lossy);
  g_test_add_func("/pkt/retry-exceeded", test_retry_exceeded);
  g_test_add_func("/pkt/stuck-nic", test_stuck_nic);
  g_test_add_func("/pkt/stop", test_stop);
  g_test_add_func("/pkt/message-rate", test_message_rate);
  g_test_add_func("/pkt/watchdog", test_watchdog);
  g_test_add_func("/pkt/names", test_names);
  g_test_add_func("/pkt/expiry", test_expiry);
  g_test_add_func("/pkt/watch", test_watch);
  g_test_add_func("/pkt/window", test_window);
  g_test_add_func("/pkt/deterministic", test_deterministic);
  g_test_add_func("/pkt/no-allocation", test_no_allocation);
  g_test_add_func("/pkt/ib-incast", test_ib_incast);
  g_test_add_func("/pkt/two-classes", test_two_classes);
  g_test_add_func("/pkt/polarisation", test_polarisation);
  g_test_add_func("/pkt/errors", test_errors);
  return g_test_run();
}
