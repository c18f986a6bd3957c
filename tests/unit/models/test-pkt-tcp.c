/* TCP in the packet network: rates, windows, losses, time-outs, and that one run is like another. */
#include "base/units.h"
#include "models/pkt/pkt.h"

#include <math.h>

#define GBPS ((CsimRate)125000000)
#define MSS 8948

typedef struct {
  CsimEngine *engine;
  CsimPktNet *net;
  guint n, done;
  CsimTime done_at;
  uint16_t handler;
} Bed;

static const CsimTcpControl controls[] = {CSIM_TCP_CUBIC, CSIM_TCP_RENO, CSIM_TCP_BBR};

static void on_done(CsimEngine *engine, void *owner, const CsimEvent *event) {
  Bed *bed = owner;
  (void)engine;
  bed->done++;
  bed->done_at = event->time;
}

static CsimPktSpec tcp_spec(CsimTcpControl control) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  spec.kind = CSIM_PKT_TCP;
  spec.mtu = MSS;
  spec.data_class = spec.ack_class = spec.cnp_class = 0;
  spec.strict_mask = spec.pfc_mask = 0;
  spec.tcp = csim_tcp_linux();
  spec.tcp.control = control;
  return spec;
}

/* Node 0 the switch, 1 the receiver, 2.. n senders; the switch's port to the receiver is 0. */
static void star(Bed *bed, CsimQueueKind queue, const CsimPktSpec *spec, CsimBytes room, guint n, const CsimPktCable *cable) {
  CsimPktSwitch sw = {.queue = room, .buffer = room * (n + 1), .lossy_alpha = 1};
  *bed = (Bed){.engine = csim_engine_new(queue), .n = n};
  csim_engine_set_digest(bed->engine, TRUE);
  bed->handler = csim_engine_add_handler(bed->engine, "done", on_done, bed);
  bed->net = csim_pkt_net_new(bed->engine, spec);
  csim_pkt_add_switch(bed->net, "switch", &sw);
  csim_pkt_add_host(bed->net, "receiver");
  csim_pkt_connect(bed->net, 0, 1, cable);
  for (guint i = 0; i < n; i++) csim_pkt_connect(bed->net, csim_pkt_add_host(bed->net, "sender"), 0, cable);
  for (guint i = 0; i < n; i++) g_assert_cmpuint(csim_pkt_add_qp(bed->net, 2 + i, 1, NULL, NULL), ==, i);
}

/* Everybody's message; in the end every frame and byte has its place. */
static CsimTime transfer(Bed *bed, CsimBytes bytes) {
  GError *error = NULL;
  for (guint i = 0; i < bed->n; i++) csim_pkt_send(bed->net, i, bytes, bed->handler, 0, i, 0);
  csim_engine_run(bed->engine, CSIM_TIME_NEVER, 0);
  csim_pkt_check(bed->net, &error);
  g_assert_no_error(error);
  return bed->done_at;
}

static void clear(Bed *bed) {
  csim_pkt_net_free(bed->net);
  csim_engine_free(bed->engine);
}

static const CsimPktCable cable_4 = {.rate = 4 * GBPS, .delay = 5 * CSIM_US};

static void test_frames(void) {
  g_assert_cmpint(csim_pkt_wire(CSIM_PKT_TCP, csim_pkt_data_frame(CSIM_PKT_TCP, MSS, TRUE)), ==, 9000 + 38);
  g_assert_cmpint(csim_pkt_data_frame(CSIM_PKT_TCP, 1448, FALSE), ==, 1518);
  g_assert_cmpint(csim_pkt_wire(CSIM_PKT_TCP, csim_pkt_ack_frame(CSIM_PKT_TCP)), ==, 90);
  g_assert_cmpint(csim_tcp_linux().window, ==, 3 << 20);
}

/* A lone connection fills the line, and every second segment is acknowledged. */
static void test_line(void) {
  for (guint c = 0; c < G_N_ELEMENTS(controls); c++) {
    CsimPktSpec spec = tcp_spec(controls[c]);
    Bed bed;
    star(&bed, CSIM_QUEUE_RADIX, &spec, 25000000, 1, &cable_4);
    double line = csim_time_us(csim_rate_time(4 * GBPS, csim_pkt_message_wire(CSIM_PKT_TCP, 64 << 20, MSS))), took = csim_time_us(transfer(&bed, 64 << 20));
    CsimPktQpStats stats = csim_pkt_qp_stats(bed.net, 0);
    g_test_message("control %d: %.1f us, the line alone %.1f", (int)controls[c], took, line);
    g_assert_cmpfloat(took, >, line);
    g_assert_cmpfloat(took, <, 1.02 * line);
    g_assert_cmpuint(stats.resent, ==, 0);
    g_assert_cmpfloat_with_epsilon((double)stats.acks, (double)stats.packets / 2, 20);
    clear(&bed);
  }
}

/* On a long way the first windows are 10, 20 and 40 segments: 70 take three round trips and their last one's way. */
static void test_slow_start(void) {
  static const CsimPktCable far = {.rate = 100 * GBPS, .delay = 10 * CSIM_MS};
  static const int segments[] = {10, 30, 70};
  for (int rounds = 1; rounds <= 3; rounds++) {
    CsimPktSpec spec = tcp_spec(CSIM_TCP_CUBIC);
    Bed bed;
    star(&bed, CSIM_QUEUE_RADIX, &spec, 25000000, 1, &far);
    double trips = (double)transfer(&bed, (CsimBytes)segments[rounds - 1] * MSS) / (double)(40 * CSIM_MS);
    g_assert_cmpfloat_with_epsilon(trips, rounds, 0.01);
    clear(&bed);
  }
}

/* Mean window under random loss: RFC 9438 eq. 6 for CUBIC, 1.22 / sqrt(p) for Reno (Mathis et al. 1997). Both are for losses at even distances;
 * random ones come several to a window, which is cut once for them, and leave more (Reno: 1.31 / sqrt(p), Ott, Kemperman, Mathis 1996). */
static double mean_window(CsimTcpControl control, double loss, CsimTime rtt) {
  CsimPktSpec spec = tcp_spec(control);
  CsimPktCable cable = {.rate = 800 * GBPS, .delay = rtt / 4, .loss = loss / 2};
  Bed bed;
  spec.tcp.window = INT64_C(8000) * MSS;
  star(&bed, CSIM_QUEUE_RADIX, &spec, INT64_C(1) << 34, 1, &cable);
  transfer(&bed, INT64_C(200000) * MSS); /* slow start is not part of it */
  CsimTime from = bed.done_at;
  double took = (double)(transfer(&bed, INT64_C(800000) * MSS) - from);
  g_assert_cmpuint(csim_pkt_qp_stats(bed.net, 0).cuts, >, 50);
  clear(&bed);
  return 800000 * (double)rtt / took;
}

static void test_response(void) {
  double cubic = mean_window(CSIM_TCP_CUBIC, 2e-4, 100 * CSIM_MS), reno = mean_window(CSIM_TCP_RENO, 2e-4, 100 * CSIM_MS);
  double cubic_law = pow(0.4 * 3.7 / (4 * 0.3), 0.25) * pow(0.1 / 2e-4, 0.75), reno_law = 1.22 / sqrt(2e-4);
  g_test_message("CUBIC: %.0f segments, by its law %.0f; Reno %.0f, %.0f", cubic, cubic_law, reno, reno_law);
  g_assert_cmpfloat(cubic / cubic_law, >, 0.9);
  g_assert_cmpfloat(cubic / cubic_law, <, 1.25);
  g_assert_cmpfloat(reno / reno_law, >, 0.9);
  g_assert_cmpfloat(reno / reno_law, <, 1.15);
}

/* A frame of a hundred is lost either way, at all rates everything arrives once. */
static void test_loss(void) {
  for (guint c = 0; c < G_N_ELEMENTS(controls); c++) {
    CsimPktSpec spec = tcp_spec(controls[c]);
    CsimPktCable cable = cable_4;
    Bed bed;
    cable.loss = 0.01;
    star(&bed, CSIM_QUEUE_RADIX, &spec, 25000000, 3, &cable);
    transfer(&bed, 16 << 20);
    g_assert_cmpuint(bed.done, ==, 3);
    for (guint i = 0; i < 3; i++) {
      CsimPktQpStats stats = csim_pkt_qp_stats(bed.net, i);
      g_assert_cmpint(stats.acked, ==, 16 << 20);
      g_assert_cmpuint(stats.received, ==, ((16 << 20) + MSS - 1) / MSS);
      g_assert_cmpuint(stats.resent, >, 20);
      g_assert_cmpuint(stats.duplicates, <=, stats.resent);
    }
    clear(&bed);
  }
}

/* Ports with little room: what overflows is lost and sent again; nothing waits for a time-out of 200 ms for long. */
static void test_small_queue(void) {
  for (guint c = 0; c < G_N_ELEMENTS(controls); c++) {
    CsimPktSpec spec = tcp_spec(controls[c]);
    Bed bed;
    star(&bed, CSIM_QUEUE_RADIX, &spec, 300000, 4, &cable_4);
    double line = 4 * csim_time_us(csim_rate_time(4 * GBPS, csim_pkt_message_wire(CSIM_PKT_TCP, 64 << 20, MSS))), took = csim_time_us(transfer(&bed, 64 << 20));
    CsimPktPortStats port = csim_pkt_port_stats(bed.net, 0);
    g_test_message("control %d: %.0f us, the line alone %.0f; largest queue %" G_GINT64_FORMAT, (int)controls[c], took, line, port.max_queue);
    g_assert_cmpint(port.max_queue, <=, 300000);
    g_assert_cmpfloat(took, <, 1.5 * line);
    clear(&bed);
  }
}

/* CUBIC and Reno fill what the buffers at the ends allow, BBR keeps to about twice what fills the way. */
static void test_queues(void) {
  CsimBytes queue[G_N_ELEMENTS(controls)];
  for (guint c = 0; c < G_N_ELEMENTS(controls); c++) {
    CsimPktSpec spec = tcp_spec(controls[c]);
    Bed bed;
    star(&bed, CSIM_QUEUE_RADIX, &spec, 25000000, 3, &cable_4);
    double line = 3 * csim_time_us(csim_rate_time(4 * GBPS, csim_pkt_message_wire(CSIM_PKT_TCP, 64 << 20, MSS)));
    g_assert_cmpfloat(csim_time_us(transfer(&bed, 64 << 20)), <, 1.02 * line);
    queue[c] = csim_pkt_port_stats(bed.net, 0).max_queue;
    g_assert_cmpuint(csim_pkt_port_stats(bed.net, 0).dropped, ==, 0);
    clear(&bed);
  }
  g_assert_cmpint(queue[0], >, 5000000);
  g_assert_cmpint(queue[2], <, queue[0] / 2);
}

/* With a send buffer a message is done before it has arrived: at once if all of it fits in (2 windows of 10 segments, each counted as 16 KiB and a bit: 37), else when the rest does. */
static void test_send_buffer(void) {
  static const CsimPktCable far = {.rate = 100 * GBPS, .delay = 10 * CSIM_MS};
  static const struct { int segments; CsimTime done; } rows[] = {{37, 0}, {38, 40 * CSIM_MS}, {100, 80 * CSIM_MS}};
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CsimPktSpec spec = tcp_spec(CSIM_TCP_CUBIC);
    Bed bed;
    spec.tcp.send_buffer = 4 << 20;
    star(&bed, CSIM_QUEUE_RADIX, &spec, 25000000, 1, &far);
    CsimTime done = transfer(&bed, (CsimBytes)rows[i].segments * MSS);
    g_assert_cmpfloat_with_epsilon(csim_time_us(done), csim_time_us(rows[i].done), 100);
    g_assert_cmpuint(bed.done, ==, 1);
    g_assert_cmpint(csim_pkt_qp_stats(bed.net, 0).acked, ==, (CsimBytes)rows[i].segments * MSS);
    clear(&bed);
  }
}

/* Nobody answers: fifteen time-outs, each twice the one before up to two minutes, then the error that a socket gives. */
static void test_dead(void) {
  CsimPktSpec spec = tcp_spec(CSIM_TCP_CUBIC);
  Bed bed;
  star(&bed, CSIM_QUEUE_RADIX, &spec, 25000000, 1, &cable_4);
  csim_pkt_host_stop(bed.net, 1, TRUE);
  transfer(&bed, 1 << 20);
  g_assert_cmpuint(bed.done, ==, 0);
  g_assert_cmpuint(csim_pkt_qp_stats(bed.net, 0).timeouts, ==, 16);
  g_assert_cmpstr(csim_pkt_qp_error(bed.net, 0), ==, "connection timed out (ETIMEDOUT)");
  clear(&bed);
}

static void test_same(void) {
  for (guint c = 0; c < G_N_ELEMENTS(controls); c++) {
    uint64_t digest[2];
    for (int k = 0; k < 2; k++) {
      CsimPktSpec spec = tcp_spec(controls[c]);
      CsimPktCable cable = cable_4;
      Bed bed;
      cable.loss = 0.001;
      star(&bed, k == 0 ? CSIM_QUEUE_RADIX : CSIM_QUEUE_HEAP4, &spec, 400000, 3, &cable);
      transfer(&bed, 8 << 20);
      digest[k] = csim_engine_digest(bed.engine);
      clear(&bed);
    }
    g_assert_cmpuint(digest[0], ==, digest[1]);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/tcp/frames", test_frames);
  g_test_add_func("/tcp/line", test_line);
  g_test_add_func("/tcp/slow-start", test_slow_start);
  g_test_add_func("/tcp/response", test_response);
  g_test_add_func("/tcp/loss", test_loss);
  g_test_add_func("/tcp/small-queue", test_small_queue);
  g_test_add_func("/tcp/queues", test_queues);
  g_test_add_func("/tcp/send-buffer", test_send_buffer);
  g_test_add_func("/tcp/dead", test_dead);
  g_test_add_func("/tcp/same", test_same);
  return g_test_run();
}
