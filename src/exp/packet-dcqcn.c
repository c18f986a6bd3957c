/* exp/packet-dcqcn.c - scenarios of DCQCN: joins, common starts, ConnectX's machine, a victim, and the speed
 * of it all. */
#include "exp/packet-private.h"

/* Switch and thresholds of the independent runs: dynamic XOFF 1/8, gap 3 KB; Kmin 4B KB, Kmax 16B KB, Pmax
 * 0.2 (at 40 Gb/s 5, 200 KB, 1 %). */
static CsimPktSwitch marking_switch(int gbps, CsimBytes buffer) {
  CsimPktSwitch sw = {
      .buffer = buffer, .headroom = 1000000000, .alpha = 1.0 / 8, .xon_gap = 3000, .lossy_alpha = 1};
  csim_pkt_switch_ecn(&sw, (CsimRate)gbps * GBPS, 1 << 3);
  if (gbps == 40) sw.ecn_min = 5000, sw.ecn_max = 200000, sw.ecn_pmax = 0.01;
  return sw;
}

static CsimPktSpec published(int gbps, uint64_t seed) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  spec.seed = seed;
  spec.mtu = gbps >= 400 ? 4096 : 1024;
  spec.dcqcn_on = TRUE;
  spec.dcqcn = csim_dcqcn_paper((CsimRate)gbps * GBPS / 1000);
  return spec;
}

/* ---- 6-8: steady_state_vs_fluid.csv, columns of the independent simulation; ours is one run of another
 * generator ---- */

typedef struct {
  int gbps;
  guint n;
  double mean_queue_kb, cnps_per_ms;
} SteadyRow;

static void steady(CsimPacketReport *report, const SteadyRow *row) {
  CsimPktSpec spec = published(row->gbps, 1);
  CsimPktSwitch sw = marking_switch(row->gbps, 64000000);
  CsimPktCable cable = {.rate = (CsimRate)row->gbps * GBPS, .delay = CSIM_US};
  CsimBytes packets = row->gbps == 40 ? 1953125 : 4882812;
  g_autoptr(Bed) bed = bed_star(&spec, &sw, row->n, &cable);
  bed_send(bed, packets / row->n * spec.mtu, CSIM_MS);
  bed_run(bed, CSIM_TIME_NEVER, report);
  BedResult result = bed_result(bed);
  double ceiling = row->gbps * csim_pkt_ceiling(CSIM_PKT_ROCE, spec.mtu);
  packet_near(report, row->mean_queue_kb, result.mean_queue * 1e-3, 0.15, "kB",
              "mean queue, %u flows at %d Gb/s", row->n, row->gbps);
  packet_at_least(report, 0.99, result.jain, "Jain", "%u flows at %d Gb/s", row->n, row->gbps);
  packet_at_least(report, 0.98 * ceiling, result.goodput_gbps, "Gb/s",
                  "98 %% of the ceiling, %u flows at %d Gb/s", row->n, row->gbps);
  packet_near(report, row->cnps_per_ms, (double)result.cnps / row->n / ((double)result.makespan * 1e-9), 0.2,
              "CNP/ms", "per flow, %u flows at %d Gb/s", row->n, row->gbps);
}

void packet_steady_state(CsimPacketReport *report) {
  static const SteadyRow rows[] = {
      {40, 2, 25.2, 1.983},    {40, 4, 56.5, 2.478},     {40, 8, 123.4, 3.060},   {40, 16, 177.0, 3.528},
      {40, 32, 178.5, 3.812},  {100, 2, 376.4, 2.376},   {100, 4, 391.7, 2.647},  {100, 8, 395.7, 3.018},
      {100, 16, 422.4, 3.539}, {100, 32, 471.2, 4.161},  {400, 2, 1506.9, 2.492}, {400, 4, 1565.1, 2.697},
      {400, 8, 1601.5, 3.043}, {400, 16, 1674.4, 3.519}, {400, 32, 1852.6, 4.082}};
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) steady(report, &rows[i]);
}

/* ---- 10: independent_single_bottleneck.csv, paper and paper_ati; a common start depends on the draws, so
 * the mean of eight seeds ---- */

void packet_together(CsimPacketReport *report) {
  static const struct {
    CsimDcqcnTarget rule;
    double makespan_ms;
    const char *name;
  } rules[] = {{CSIM_DCQCN_TARGET_ALWAYS, 26.521, "published rule"},
               {CSIM_DCQCN_TARGET_AFTER_INCREASE, 23.551, "ConnectX's rule"}};
  CsimPktSwitch sw = marking_switch(100, 32000000);
  CsimPktCable cable = {.rate = 100 * (CsimRate)GBPS, .delay = CSIM_US};
  for (guint r = 0; r < G_N_ELEMENTS(rules); r++) {
    double makespan = 0, queue = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
      CsimPktSpec spec = published(100, seed);
      spec.dcqcn.target = rules[r].rule;
      g_autoptr(Bed) bed = bed_star(&spec, &sw, 8, &cable);
      bed_send(bed, 31249408, 0);
      bed_run(bed, CSIM_TIME_NEVER, report);
      BedResult result = bed_result(bed);
      makespan += (double)result.makespan * 1e-9 / 8;
      queue += (double)result.max_queue * 1e-6 / 8;
    }
    packet_near(report, rules[r].makespan_ms, makespan, 0.15, "ms", "makespan, %s, mean of 8 seeds",
                rules[r].name);
    packet_near(report, 4.016, queue, 0.05, "MB", "largest queue, %s, mean of 8 seeds", rules[r].name);
  }
}

/* ---- 11: independent_connectx_profile.csv (goodput over its ceiling, largest queue), variant hpcc_rule ----
 */

void packet_connectx(CsimPacketReport *report) {
  static const struct {
    guint n;
    CsimBytes bytes;
    double share, queue_mb;
  } rows[] = {{2, 125000000, 0.959, 0.81},
              {4, 62500000, 0.957, 1.10},
              {8, 31250000, 0.866, 2.29},
              {16, 15625000, 0.901, 4.11},
              {64, 3906000, 0.870, 31.5}};
  CsimPktSwitch sw = marking_switch(100, 32 * 1024 * 1024);
  CsimPktCable cable = {.rate = 100 * (CsimRate)GBPS, .delay = CSIM_US};
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    double share = 0, queue = 0, jain = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
      CsimPktSpec spec = csim_pkt_spec_roce();
      spec.seed = seed;
      spec.mtu = 1000;
      spec.dcqcn_on = TRUE;
      spec.dcqcn = csim_dcqcn_hpcc(cable.rate);
      spec.cnp_interval = 0;
      g_autoptr(Bed) bed = bed_star(&spec, &sw, rows[i].n, &cable);
      bed_send(bed, rows[i].bytes, 0);
      bed_run(bed, CSIM_TIME_NEVER, report);
      BedResult result = bed_result(bed);
      share += result.goodput_gbps / (100 * csim_pkt_ceiling(CSIM_PKT_ROCE, 1000)) / 4;
      queue += (double)result.max_queue * 1e-6 / 4;
      jain += result.jain / 4;
    }
    packet_near(report, rows[i].share, share, 0.10, "of ceiling", "goodput, %u:1, mean of 4 seeds",
                rows[i].n);
    packet_near(report, rows[i].queue_mb, queue, 0.20, "MB", "largest queue, %u:1, mean of 4 seeds",
                rows[i].n);
    if (rows[i].n <= 16) packet_at_least(report, 0.99, jain, "Jain", "%u:1, mean of 4 seeds", rows[i].n);
  }
}

/* ---- 12: peer_victim.csv (hpcc-ns3): 100 Gb/s hosts, 400 Gb/s between leaves, 8 MiB buffers, 20 MB each
 * ---- */

static CsimPktSwitch victim_switch(int egress_gbps, int ingress_gbps, gboolean marks) {
  /* hpcc-ns3 doubles alpha with the ratio of port speeds: 1/8 for 100 Gb/s ports, 1/2 for 400. */
  CsimPktSwitch sw = {.buffer = 8 * 1024 * 1024,
                      .reserve = 4096,
                      .headroom = 1000000,
                      .alpha = ingress_gbps == 400 ? 0.5 : 0.125,
                      .xon_gap = 3000,
                      .lossy_alpha = 1};
  csim_pkt_switch_ecn(&sw, (CsimRate)egress_gbps * GBPS, marks ? 1 << 3 : 0);
  return sw;
}

static Bed *victim_bed(const CsimPktSpec *spec) {
  CsimPktSwitch near = victim_switch(400, 100, spec->dcqcn_on),
                middle = victim_switch(400, 400, spec->dcqcn_on),
                far = victim_switch(100, 400, spec->dcqcn_on);
  CsimPktCable access = {.rate = 100 * (CsimRate)GBPS, .delay = CSIM_US},
               trunk = {.rate = 400 * (CsimRate)GBPS, .delay = CSIM_US};
  Bed *bed = bed_new(spec);
  guint leaf = csim_pkt_add_switch(bed->net, "leaf0", &near),
        spine = csim_pkt_add_switch(bed->net, "spine", &middle),
        leaf1 = csim_pkt_add_switch(bed->net, "leaf1", &far);
  csim_pkt_connect(bed->net, leaf, spine, &trunk);
  csim_pkt_connect(bed->net, spine, leaf1, &trunk);
  for (guint i = 0; i < 10; i++)
    csim_pkt_connect(bed->net, csim_pkt_add_host(bed->net, "host"), i < 8 ? leaf : leaf1, &access);
  for (guint i = 0; i < 8; i++) bed_qp(bed, 3 + i, i == 7 ? 12 : 11);
  return bed;
}

static double gbps_of(const CsimPktQpStats *stats) {
  return (double)stats->acked * 8e3 / (double)(stats->last_ack - stats->first_post);
}

/* Goodput of the victim and the mean of the others. */
static void victim_run(CsimPacketReport *report, const CsimPktSpec *spec, double *victim, double *incast) {
  g_autoptr(Bed) bed = victim_bed(spec);
  bed_send(bed, 20000000, 0);
  bed_run(bed, CSIM_TIME_NEVER, report);
  for (guint i = 0; i < 8; i++) {
    CsimPktQpStats stats = csim_pkt_qp_stats(bed->net, i);
    if (i == 7)
      *victim += gbps_of(&stats);
    else
      *incast += gbps_of(&stats) / 7;
  }
  packet_near(report, 0, (double)bed_result(bed).drops, 0, "drops", "seed %d", (int)spec->seed);
}

/* The queue to the spine just reaches Kmin: whether the victim is marked once or not is a draw, so the mean
 * of eight seeds. */
static void victim_mean(CsimPacketReport *report, CsimPktSpec *spec, double target, const char *name) {
  double victim = 0, incast = 0;
  for (spec->seed = 1; spec->seed <= 8; spec->seed++) victim_run(report, spec, &victim, &incast);
  packet_near(report, target, victim / 8, 0.25, "Gb/s", "victim, %s, mean of 8 seeds", name);
}

void packet_victim(CsimPacketReport *report) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  double victim = 0, incast = 0;
  spec.mtu = 1000;
  victim_run(report, &spec, &victim, &incast);
  packet_near(report, 14.0, victim, 0.05, "Gb/s", "victim, PFC alone");
  packet_near(report, incast, victim, 0.05, "Gb/s", "victim against an incast flow, PFC alone");
  spec.dcqcn_on = TRUE;
  spec.cnp_interval = 0; /* there every ACK of a marked packet notifies */
  spec.dcqcn = csim_dcqcn_hpcc(100 * (CsimRate)GBPS);
  victim_mean(report, &spec, 68.4, "ConnectX's machine");
  spec.dcqcn.alpha_period = spec.dcqcn.timer = 55 * CSIM_US;
  spec.dcqcn.cut_period = 50 * CSIM_US;
  spec.dcqcn.threshold = 5;
  victim_mean(report, &spec, 52.4, "the same with the paper's timers");
}

/* ---- speed: hops/s of CPU time, printed and not judged, since machines differ ---- */

static void timed_run(CsimPacketReport *report, Bed *bed, CsimBytes bytes, guint times, const char *what) {
  double before_s = report->cpu_s;
  uint64_t before = report->hops;
  for (guint i = 0; i < times; i++) bed_send(bed, bytes, 0);
  bed_run(bed, CSIM_TIME_NEVER, report);
  packet_info(report, (double)(report->hops - before) * 1e-6, "M hops", "%s", what);
  packet_info(report, (double)(report->hops - before) * 1e-6 / (report->cpu_s - before_s), "M hops/s", "%s",
              what);
  packet_near(report, 0, bed_result(bed).unfinished, 0, "flows", "unfinished, %s", what);
}

/* A ring all_reduce of 64 MiB sends 126 MiB from each host to the next. */
void packet_speed(CsimPacketReport *report) {
  CsimPktSpec spec = published(400, 1);
  CsimPktSwitch sw = marking_switch(400, 128000000);
  CsimPktCable cable = {.rate = 400 * (CsimRate)GBPS, .delay = CSIM_US};
  g_autoptr(Bed) leaves = bed_leaf_spine(&spec, &sw, 8, 8, 8, &cable);
  bed_permutation(leaves, 64, 8, 1);
  timed_run(report, leaves, 32 << 20, 1, "permutation over leaves and spines");
  g_autoptr(Bed) ring = bed_leaf_spine(&spec, &sw, 1, 64, 1, &cable);
  for (guint i = 0; i < 64; i++) bed_qp(ring, i, (i + 1) % 64);
  timed_run(report, ring, 1 << 20, 126, "ring of 64 hosts on one switch");
}
