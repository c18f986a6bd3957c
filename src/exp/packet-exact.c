/* exp/packet-exact.c - scenarios whose targets are arithmetic: frames, line rate, first cuts, go-back-N. */
#include "exp/packet-private.h"

#include "base/units.h"

#include <math.h>

/* ---- 1: arithmetic of headers, from the frame layouts of IEEE 802.3 and IBTA ---- */

static void check_ceilings(CsimPacketReport *report) {
  static const struct {
    int mtu;
    double roce, ib;
  } rows[] = {{256, 0.757396, 0.907801},
              {512, 0.861953, 0.951673},
              {1024, 0.925859, 0.975238},
              {2048, 0.961502, 0.987464},
              {4096, 0.980373, 0.993692}};
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    packet_near(report, rows[i].roce, csim_pkt_ceiling(CSIM_PKT_ROCE, rows[i].mtu), 1e-6, "of line rate",
                "RoCEv2 WRITE, MTU %d", rows[i].mtu);
    packet_near(report, rows[i].ib, csim_pkt_ceiling(CSIM_PKT_IB, rows[i].mtu), 1e-6, "of data rate",
                "InfiniBand WRITE, MTU %d", rows[i].mtu);
  }
}

static void check_messages(CsimPacketReport *report) {
  static const struct {
    int bytes, wire, packets;
  } rows[] = {{1, 102, 1}, {4096, 4194, 1}, {4097, 4280, 2}, {65536, 66864, 16}, {1048576, 1069584, 256}};
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    packet_near(report, rows[i].wire, (double)csim_pkt_message_wire(CSIM_PKT_ROCE, rows[i].bytes, 4096), 0,
                "bytes", "WRITE of %d B on the wire", rows[i].bytes);
    packet_near(report, rows[i].packets, (double)csim_pkt_message_packets(rows[i].bytes, 4096), 0, "packets",
                "WRITE of %d B", rows[i].bytes);
  }
  packet_near(report, 66, csim_pkt_ack_frame(CSIM_PKT_ROCE), 0, "bytes", "ACK frame");
  packet_near(report, 78, csim_pkt_cnp_frame(CSIM_PKT_ROCE), 0, "bytes", "CNP frame");
}

static void check_rates(CsimPacketReport *report) {
  static const struct {
    int gbps, frame_ps, quantum_ps;
    double pause_us;
    int headroom_5m, headroom_100m;
  } rows[] = {{100, 334240, 5120, 335.54, 34281, 46156},
              {200, 167120, 2560, 167.77, 38682, 62432},
              {400, 83560, 1280, 83.88, 68860, 116360},
              {800, 41780, 640, 41.94, 71360, 166360}};
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    CsimRate rate = (CsimRate)rows[i].gbps * GBPS;
    int quanta = csim_pkt_response_quanta(rate);
    packet_near(report, rows[i].frame_ps, (double)csim_rate_time(rate, 4178), 0, "ps",
                "frame of 4178 B on the wire at %d Gb/s", rows[i].gbps);
    packet_near(report, rows[i].quantum_ps, (double)csim_pkt_quanta_time(rate, 1), 0, "ps",
                "pause quantum at %d Gb/s", rows[i].gbps);
    packet_near(report, rows[i].pause_us, csim_time_us(csim_pkt_quanta_time(rate, CSIM_PKT_MAX_QUANTA)), 5e-4,
                "us", "longest pause at %d Gb/s", rows[i].gbps);
    packet_near(report, rows[i].headroom_5m, (double)csim_pkt_headroom(rate, 25 * CSIM_NS, quanta, 4178), 0,
                "bytes", "headroom, 5 m at %d Gb/s", rows[i].gbps);
    packet_near(report, rows[i].headroom_100m, (double)csim_pkt_headroom(rate, 500 * CSIM_NS, quanta, 4178),
                0, "bytes", "headroom, 100 m at %d Gb/s", rows[i].gbps);
  }
}

void packet_frames(CsimPacketReport *report) {
  static const struct {
    int exponent;
    double s;
  } timeouts[] = {{14, 0.0671}, {16, 0.2684}, {18, 1.0737}, {20, 4.2950}, {22, 17.1799}};
  static const struct {
    int ports;
    double bytes;
  } shares[] = {{1, 3555556}, {8, 2000000}, {64, 444444}};
  static const struct {
    int ethernet, roce;
  } mtus[] = {{1500, 1024}, {2200, 2048}, {4192, 4096}, {9000, 4096}};
  check_ceilings(report);
  check_messages(report);
  check_rates(report);
  for (guint i = 0; i < G_N_ELEMENTS(timeouts); i++)
    packet_near(report, timeouts[i].s, (double)csim_pkt_ack_timeout(timeouts[i].exponent) * 1e-12, 5e-4, "s",
                "local ACK timeout %d", timeouts[i].exponent);
  for (guint i = 0; i < G_N_ELEMENTS(shares); i++)
    packet_near(report, shares[i].bytes, csim_pkt_dynamic_share(1.0 / 8, 32e6, shares[i].ports), 1e-5,
                "bytes", "XOFF, alpha 1/8 of 32 MB, %d ports", shares[i].ports);
  for (guint i = 0; i < G_N_ELEMENTS(mtus); i++)
    packet_near(report, mtus[i].roce, csim_pkt_roce_mtu(mtus[i].ethernet), 0, "bytes",
                "RoCE MTU on Ethernet MTU %d", mtus[i].ethernet);
}

/* ---- 2 ---- */

static void line_rate(CsimPacketReport *report, int gbps, int mtu) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = csim_pkt_switch_hpcc((CsimRate)gbps * GBPS, CSIM_US);
  CsimPktCable cable = {.rate = (CsimRate)gbps * GBPS, .delay = CSIM_US};
  CsimBytes bytes = INT64_C(1000) * 1000 * mtu;
  spec.mtu = mtu;
  g_autoptr(Bed) bed = bed_star(&spec, &sw, 1, &cable);
  bed_send(bed, bytes, 0);
  bed_run(bed, CSIM_TIME_NEVER, report);
  /* Start-up: the first frame on the first link, both cables, and the ACK's way back. */
  CsimTime wire = csim_rate_time(cable.rate, csim_pkt_message_wire(CSIM_PKT_ROCE, bytes, mtu));
  CsimTime rest =
      csim_rate_time(cable.rate,
                     csim_pkt_wire(CSIM_PKT_ROCE, csim_pkt_data_frame(CSIM_PKT_ROCE, mtu, TRUE))) +
      2 * csim_rate_time(cable.rate, csim_pkt_wire(CSIM_PKT_ROCE, csim_pkt_ack_frame(CSIM_PKT_ROCE))) +
      4 * cable.delay;
  BedResult result = bed_result(bed);
  packet_near(report, gbps * csim_pkt_ceiling(CSIM_PKT_ROCE, mtu), result.goodput_gbps, 5e-4, "Gb/s",
              "goodput at %d Gb/s, MTU %d", gbps, mtu);
  packet_near(report, (double)(wire + rest), (double)result.makespan, 0, "ps",
              "completion at %d Gb/s, MTU %d", gbps, mtu);
}

void packet_line_rate(CsimPacketReport *report) {
  line_rate(report, 100, 1024);
  line_rate(report, 400, 4096);
}

/* ---- 9: Zhu et al., SIGCOMM 2015, section 3: the first CNPs of a flow at line rate ---- */

void packet_first_cuts(CsimPacketReport *report) {
  CsimDcqcn params = csim_dcqcn_paper(GBPS / 10);
  CsimRp rp;
  csim_rp_init(&rp, &params, 100 * (CsimRate)GBPS);
  packet_near(report, 100, csim_rp_rate(&rp, 10 * CSIM_US) / GBPS, 1e-9, "Gb/s", "no CNP yet");
  csim_rp_cnp(&rp, 100 * CSIM_US);
  packet_near(report, 50, csim_rp_rate(&rp, 100 * CSIM_US) / GBPS, 1e-9, "Gb/s", "first CNP, alpha 1");
  csim_rp_cnp(&rp, 150 * CSIM_US);
  packet_near(report, 25, csim_rp_rate(&rp, 150 * CSIM_US) / GBPS, 1e-9, "Gb/s",
              "second CNP 50 us later, alpha 1");
  packet_near(report, 50, rp.target / GBPS, 1e-9, "Gb/s", "target after it, published rule");
  packet_near(report, 37.5, csim_rp_rate(&rp, 205 * CSIM_US) / GBPS, 1e-9, "Gb/s",
              "55 us later: half way to the target");
  csim_rp_cnp(&rp, 210 * CSIM_US);
  packet_near(report, 255.0 / 256, (rp.alpha - 1.0 / 256) / (255.0 / 256), 1e-9, "alpha",
              "after one period without a CNP");
  params.target = CSIM_DCQCN_TARGET_AFTER_INCREASE;
  csim_rp_init(&rp, &params, 100 * (CsimRate)GBPS);
  csim_rp_cnp(&rp, 100 * CSIM_US);
  csim_rp_cnp(&rp, 150 * CSIM_US);
  packet_near(report, 100, rp.target / GBPS, 1e-9, "Gb/s", "target after two cuts in a row, ConnectX's rule");
}

/* ---- 13, 14 ---- */

static Bed *lossy_bed(CsimPktRecovery recovery, int mtu, double loss) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  CsimPktSwitch sw = csim_pkt_switch_hpcc(100 * (CsimRate)GBPS, CSIM_US);
  CsimPktCable cable = {.rate = 100 * (CsimRate)GBPS, .delay = CSIM_US, .loss = loss};
  spec.mtu = mtu;
  spec.ack_every = 1;
  spec.recovery = recovery;
  spec.ack_timeout = 500 * CSIM_US;
  spec.retry_count = G_MAXINT;
  return bed_star(&spec, &sw, 1, &cable);
}

/*
 * Time per packet: t (1 + W p / (1 - p)) + p (p + p_reverse) T (roce-scenarios, peer_go_back_n.csv, "formula
 * with stall"). W, in packets from the lost one's start to the rewind: the next packet's three times (its own
 * and two links), both cables twice, the NAK's two, half a packet under way.
 */
static double goodput_with_stall(int mtu, double link_loss, CsimTime stall) {
  double t = csim_pkt_wire(CSIM_PKT_ROCE, csim_pkt_data_frame(CSIM_PKT_ROCE, mtu, FALSE)) * 80.0,
         p = 1 - (1 - link_loss) * (1 - link_loss);
  double w = (3 * t + 4.0 * CSIM_US + 2 * 86 * 80.0) / t + 0.5;
  return mtu * 8e3 / (t * (1 + w * p / (1 - p)) + p * (p + p) * (double)stall);
}

void packet_go_back_n(CsimPacketReport *report) {
  static const struct {
    double loss, tolerance;
    int packets;
  } rows[] = {{0, 0.03, 100000},     {1e-5, 0.03, 1000000}, {1e-4, 0.03, 1000000},
              {1e-3, 0.03, 1000000}, {5e-3, 0.15, 300000},  {1e-2, 0.15, 300000}};
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(Bed) bed = lossy_bed(CSIM_PKT_GO_BACK_N, 1000, rows[i].loss);
    bed_send(bed, (CsimBytes)rows[i].packets * 1000, 0);
    bed_run(bed, CSIM_TIME_NEVER, report);
    BedResult result = bed_result(bed);
    packet_near(report, goodput_with_stall(1000, rows[i].loss, 500 * CSIM_US), result.goodput_gbps,
                rows[i].tolerance, "Gb/s", "loss %g per link", rows[i].loss);
    packet_near(report, 0, result.unfinished, 0, "flows", "unfinished, loss %g", rows[i].loss);
  }
}

/* Guo et al., SIGCOMM 2016: 4 MB messages never get through when one frame in 256 is lost; with go-back-N
 * they do. */
void packet_go_back_0(CsimPacketReport *report) {
  static const CsimPktRecovery rules[] = {CSIM_PKT_GO_BACK_0, CSIM_PKT_GO_BACK_N};
  for (guint i = 0; i < 2; i++) {
    g_autoptr(Bed) bed = lossy_bed(rules[i], 1024, 1.0 / 512);
    for (guint k = 0; k < 100; k++) bed_send(bed, 4 * 1024 * 1024, 0);
    bed_run(bed, 100 * CSIM_MS, report);
    CsimPktQpStats stats = csim_pkt_qp_stats(bed->net, 0);
    double acked = (double)stats.acked / 1048576;
    if (rules[i] == CSIM_PKT_GO_BACK_0)
      packet_near(report, 0, acked, 0, "MiB", "delivered in 100 ms, go-back-0");
    else
      packet_at_least(report, 4, acked, "MiB", "delivered in 100 ms, go-back-N");
    packet_at_least(report, 100000, (double)stats.packets, "packets", "sent in 100 ms");
  }
}
