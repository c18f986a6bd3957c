/* exp/packet-lossless.c - scenarios of PFC and of InfiniBand's credits: incast, XOFF, headroom, deadlock. */
#include "exp/packet-private.h"

/* The switch of the independent single-bottleneck runs: dynamic XOFF at 1/8 of that buffer, gap 3 KB, no PFC
 * response time. */
static CsimPktSwitch plain_switch(CsimBytes buffer) {
  return (CsimPktSwitch){
      .buffer = buffer, .headroom = 1000000000, .alpha = 1.0 / 8, .xon_gap = 3000, .lossy_alpha = 1};
}

static int mtu_of(int gbps) {
  return gbps >= 400 ? 4096 : 1024;
}

/* ---- 3: roce-scenarios, independent_single_bottleneck.csv, profile pfconly ---- */

static void incast(CsimPacketReport *report, int gbps, CsimBytes buffer, guint n, CsimBytes bytes) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = plain_switch(buffer);
  CsimPktCable cable = {.rate = (CsimRate)gbps * GBPS, .delay = CSIM_US};
  spec.mtu = mtu_of(gbps);
  g_autoptr(Bed) bed = bed_star(&spec, &sw, n, &cable);
  bed_send(bed, bytes, 0);
  bed_run(bed, CSIM_TIME_NEVER, report);
  BedResult result = bed_result(bed);
  packet_near(report, gbps * csim_pkt_ceiling(CSIM_PKT_ROCE, spec.mtu), result.goodput_gbps, 1e-3, "Gb/s",
              "%u:1 at %d Gb/s", n, gbps);
  packet_at_least(report, n == 64 ? 0.9999 : 0.99995, result.jain, "Jain", "%u:1 at %d Gb/s", n, gbps);
  packet_near(report, 0, (double)(result.drops + result.unfinished), 0, "drops", "%u:1 at %d Gb/s", n, gbps);
}

void packet_pfc_incast(CsimPacketReport *report) {
  static const struct {
    int gbps;
    CsimBytes buffer, total;
  } links[] = {{40, 12000000, 99999744}, {100, 32000000, 249999360}, {400, 128000000, 999997440}};
  for (guint i = 0; i < G_N_ELEMENTS(links); i++)
    for (guint n = 2; n <= 64; n *= 2) {
      int mtu = mtu_of(links[i].gbps);
      incast(report, links[i].gbps, links[i].buffer, n, links[i].total / n / mtu * mtu);
    }
}

/*
 * ---- 4: the same file, rows incast_static_xoff ----
 * XOFF, one frame over it, and what comes in at line rate for two cable delays. With two senders of which
 * each gets half of the egress all the time, an account fills at half the rate while the PAUSE is on its way:
 * then the figure is a limit.
 */

static void check_ingress(CsimPacketReport *report, guint n, double target, double ours, double two_frames,
                          int gbps) {
  if (n == 2)
    packet_at_most(report, target * (1 + two_frames), ours, "bytes",
                   "largest ingress account, 2:1 in step, %d Gb/s", gbps);
  else
    packet_near(report, target, ours, two_frames, "bytes", "largest ingress account, %u:1, %d Gb/s", n, gbps);
}

void packet_static_xoff(CsimPacketReport *report) {
  static const struct {
    int gbps;
    CsimBytes xoff;
    guint n;
    CsimBytes bytes, ingress;
  } rows[] = {{100, 200000, 2, 124999680, 225888}, {100, 200000, 8, 31249408, 225888},
              {100, 200000, 32, 7812096, 225888},  {400, 500000, 2, 499998720, 602910},
              {400, 500000, 8, 124997632, 602910}, {400, 500000, 32, 31248384, 602910}};
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CsimPktSpec spec = csim_pkt_spec_roce();
    CsimPktSwitch sw = plain_switch(1000000000);
    CsimPktCable cable = {.rate = (CsimRate)rows[i].gbps * GBPS, .delay = CSIM_US};
    spec.mtu = mtu_of(rows[i].gbps);
    sw.alpha = 0;
    sw.xoff = rows[i].xoff;
    g_autoptr(Bed) bed = bed_star(&spec, &sw, rows[i].n, &cable);
    bed_send(bed, rows[i].bytes, 0);
    bed_run(bed, CSIM_TIME_NEVER, report);
    double two_frames = 2.0 * csim_pkt_data_frame(CSIM_PKT_ROCE, spec.mtu, FALSE) / (double)rows[i].ingress;
    check_ingress(report, rows[i].n, (double)rows[i].ingress, (double)bed_result(bed).max_ingress, two_frames,
                  rows[i].gbps);
  }
}

/* ---- 5 ---- */

/* Traffic both ways, so that a PAUSE may have to wait for a frame of ours. Returns the headroom used. */
static BedResult headroom_run(CsimPacketReport *report, int gbps, CsimTime delay, CsimBytes headroom) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = plain_switch(1000000000);
  CsimPktCable cable = {.rate = (CsimRate)gbps * GBPS, .delay = delay};
  sw.alpha = 0;
  sw.xoff = 100000;
  sw.headroom = headroom;
  spec.pause_response = csim_pkt_quanta_time(cable.rate, csim_pkt_response_quanta(cable.rate));
  g_autoptr(Bed) bed = bed_star(&spec, &sw, 4, &cable);
  for (guint i = 0; i < 4; i++) bed_qp(bed, 1, 2 + i);
  bed_send(bed, 40960000, 0);
  bed_run(bed, 4 * CSIM_MS, report);
  return bed_result(bed);
}

void packet_headroom(CsimPacketReport *report) {
  static const int rates[] = {100, 400};
  static const int metres[] = {5, 100, 300};
  for (guint r = 0; r < G_N_ELEMENTS(rates); r++)
    for (guint m = 0; m < G_N_ELEMENTS(metres); m++) {
      CsimRate rate = (CsimRate)rates[r] * GBPS;
      CsimTime delay = metres[m] * 5 * CSIM_NS;
      int frame = csim_pkt_data_frame(CSIM_PKT_ROCE, 4096, FALSE);
      CsimBytes formula =
          csim_pkt_headroom(rate, delay, csim_pkt_response_quanta(rate), csim_pkt_wire(CSIM_PKT_ROCE, frame));
      CsimBytes need = headroom_run(report, rates[r], delay, 1000000000).max_headroom;
      packet_at_most(report, (double)formula, (double)need, "bytes",
                     "headroom used, %d m at %d Gb/s, against the formula", metres[m], rates[r]);
      packet_near(report, 0, (double)headroom_run(report, rates[r], delay, formula).drops, 0, "drops",
                  "headroom by the formula, %d m at %d Gb/s", metres[m], rates[r]);
      packet_near(report, 0, (double)headroom_run(report, rates[r], delay, need).drops, 0, "drops",
                  "headroom that was used, %d m at %d Gb/s", metres[m], rates[r]);
      packet_at_least(report, 1, (double)headroom_run(report, rates[r], delay, need - frame).drops, "drops",
                      "one frame less, %d m at %d Gb/s", metres[m], rates[r]);
    }
}

/* ---- a stuck NIC: who else stands still, and for how long ---- */

enum { STUCK = 0, SENDERS = 7, FIRST = 8 }; /* host 0 is stuck, 8 to 14 send to it over the spines, and to its neighbours 1 to 7 */

static Bed *storm_bed(CsimTime watchdog) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktCable cable = {.rate = 100 * (CsimRate)GBPS, .delay = CSIM_US};
  CsimPktSwitch sw = csim_pkt_switch_hpcc(cable.rate, cable.delay);
  spec.ack_timeout = 20 * CSIM_MS;
  spec.ack_class = 6;
  sw.headroom = 100000;
  sw.watchdog = watchdog;
  Bed *bed = bed_leaf_spine(&spec, &sw, 2, 8, 4, &cable);
  for (guint i = 0; i < SENDERS; i++) bed_qp(bed, FIRST + i, STUCK);
  for (guint i = 0; i < SENDERS; i++) bed_qp(bed, FIRST + i, 1 + i);
  csim_pkt_host_pause(bed->net, STUCK, spec.data_class, TRUE);
  return bed;
}

/* Victims that are done by `until`. */
static guint victims_done(Bed *bed) {
  guint done = 0;
  for (guint qp = SENDERS; qp < 2 * SENDERS; qp++) {
    CsimPktQpStats stats = csim_pkt_qp_stats(bed->net, qp);
    done += stats.acked == stats.posted;
  }
  return done;
}

static void storm(CsimPacketReport *report, CsimTime watchdog, guint expected, const char *name) {
  g_autoptr(Bed) bed = storm_bed(watchdog);
  bed_send(bed, 20000000, 0);
  bed_run(bed, 15 * CSIM_MS, report);
  guint64 storms = 0;
  for (guint i = 0; i < csim_pkt_n_ports(bed->net); i++) storms += csim_pkt_port_stats(bed->net, i).storms;
  packet_near(report, expected, victims_done(bed), 0, "flows", "%s: of 7 victims, done within 15 ms", name);
  packet_near(report, watchdog > 0, (double)storms, 0, "ports", "%s: taken for stuck", name);
  packet_info(report, (double)bed_result(bed).pauses, "PAUSEs", "%s", name);
}

void packet_storm(CsimPacketReport *report) {
  storm(report, 0, 0, "one NIC pauses for ever");
  storm(report, 4 * CSIM_MS, 7, "the same, watchdog of 4 ms");
}

/* ---- 17: two hosts on a cable; IBTA vol. 1, 7.9: a credit's loop bounds the rate ---- */

static void credits(CsimPacketReport *report, int gbps, int metres, int kib) {
  CsimPktSpec spec = csim_pkt_spec_ib();
  CsimPktCable cable = {.rate = (CsimRate)gbps * GBPS, .delay = metres * 5 * CSIM_NS};
  int frame = csim_pkt_data_frame(CSIM_PKT_IB, 4096, FALSE);
  spec.vl_buffer = kib * 1024;
  g_autoptr(Bed) bed = bed_new(&spec);
  csim_pkt_connect(bed->net, csim_pkt_add_host(bed->net, "a"), csim_pkt_add_host(bed->net, "b"), &cable);
  bed_qp(bed, 0, 1);
  bed_send(bed, INT64_C(4096) * 20000, 0);
  bed_run(bed, CSIM_TIME_NEVER, report);
  double wire_gbps = bed_result(bed).goodput_gbps / csim_pkt_ceiling(CSIM_PKT_IB, 4096);
  CsimTime loop = 2 * cable.delay + spec.credit_turnaround + (CsimTime)frame * CSIM_S / cable.rate;
  packet_near(report, csim_pkt_credit_packets_gbps(cable.rate, spec.vl_buffer, loop, frame), wire_gbps, 0.03,
              "Gb/s", "%d Gb/s, %d m, %d KiB: whole packets per loop", gbps, metres, kib);
  packet_at_most(report, csim_pkt_credit_ceiling_gbps(cable.rate, spec.vl_buffer, loop), wire_gbps, "Gb/s",
                 "%d Gb/s, %d m, %d KiB: upper bound", gbps, metres, kib);
}

void packet_ib_credits(CsimPacketReport *report) {
  static const int rates[] = {200, 400}, metres[] = {5, 50, 100}, kib[] = {16, 32, 64, 128};
  for (guint r = 0; r < G_N_ELEMENTS(rates); r++)
    for (guint m = 0; m < G_N_ELEMENTS(metres); m++)
      for (guint k = 0; k < G_N_ELEMENTS(kib); k++) credits(report, rates[r], metres[m], kib[k]);
}

/* ---- 18 ---- */

/* Host i to host i + 2: by the two links clockwise, or by the one the other way (a path without a cycle). */
static Bed *triangle(const CsimPktSpec *spec, gboolean clockwise) {
  CsimPktSwitch sw = plain_switch(1000000000);
  CsimPktCable cable = {.rate = 100 * (CsimRate)GBPS, .delay = CSIM_US};
  guint up[3], next[3];
  sw.alpha = 0;
  sw.xoff = 50000;
  Bed *bed = bed_new(spec);
  for (guint i = 0; i < 3; i++) csim_pkt_add_host(bed->net, i == 0 ? "h0" : i == 1 ? "h1" : "h2");
  for (guint i = 0; i < 3; i++) csim_pkt_add_switch(bed->net, i == 0 ? "s0" : i == 1 ? "s1" : "s2", &sw);
  for (guint i = 0; i < 3; i++) up[i] = csim_pkt_connect(bed->net, i, 3 + i, &cable);
  for (guint i = 0; i < 3; i++) next[i] = csim_pkt_connect(bed->net, 3 + i, 3 + (i + 1) % 3, &cable);
  for (guint i = 0; i < 3; i++) {
    guint to = (i + 2) % 3, path[] = {up[i], next[i], next[(i + 1) % 3], up[to] + 1};
    CsimPktQpSpec around = {.path = path, .n_path = 4};
    csim_pkt_add_qp(bed->net, i, to, clockwise ? &around : NULL, NULL);
    bed->n_qps++;
  }
  return bed;
}

static void ring_of_switches(CsimPacketReport *report, const CsimPktSpec *spec, const char *name,
                             gboolean clockwise) {
  g_autoptr(Bed) bed = triangle(spec, clockwise);
  bed_send(bed, 20480000, 0);
  bed_run(bed, 100 * CSIM_MS, report);
  const char *cycle = csim_pkt_deadlock(bed->net);
  const char *way = clockwise ? "two links clockwise" : "shortest path";
  packet_near(report, clockwise, cycle != NULL, 0, "deadlocks", "%s, %s%s%s", name, way, cycle ? ": " : "",
              cycle ? cycle : "");
  packet_near(report, clockwise ? 3 : 0, bed_result(bed).unfinished, 0, "flows", "%s, %s: unfinished", name,
              way);
}

void packet_deadlock(CsimPacketReport *report) {
  CsimPktSpec roce = csim_pkt_spec_roce(), ib = csim_pkt_spec_ib();
  roce.ack_timeout = ib.ack_timeout = 5 * CSIM_MS;
  roce.ack_class = 6; /* else the ACKs stand in the same queues */
  ib.ack_class = 1;
  ib.vl_buffer = 16 * 1024;
  for (guint clockwise = 0; clockwise < 2; clockwise++) {
    ring_of_switches(report, &roce, "PFC, XOFF 50 kB", clockwise);
    ring_of_switches(report, &ib, "InfiniBand, 16 KiB per lane", clockwise);
  }
}
