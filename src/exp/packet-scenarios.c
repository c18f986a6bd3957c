/* exp/packet-scenarios.c - the list, checks, and the networks that scenarios run on. */
#include "exp/packet-private.h"

#include "base/diag.h"
#include "collsim/error.h"

#include <math.h>
#include <string.h>
#include <time.h>

const CsimPacketScenario csim_packet_scenarios[] = {
    {"frames", "1", "bytes of frames, packets of messages, payload ceilings, headroom, time-outs",
     packet_frames},
    {"line-rate", "2", "one flow over a switch at 100 and 400 Gb/s", packet_line_rate},
    {"pfc-incast", "3", "N:1 with PFC alone, N = 2..64 at 40, 100 and 400 Gb/s", packet_pfc_incast},
    {"static-xoff", "4", "how far an ingress account goes past a static XOFF", packet_static_xoff},
    {"headroom", "5", "headroom that just suffices, and one frame less", packet_headroom},
    {"steady-state", "6-8", "DCQCN as published, flows joining 1 ms apart, 0.4 s: queue, fairness, CNPs",
     packet_steady_state},
    {"first-cuts", "9", "rate and alpha after the first two CNPs", packet_first_cuts},
    {"together", "10", "8:1 at 100 Gb/s, all at once at line rate, both rules for the target rate",
     packet_together},
    {"connectx", "11", "ConnectX's machine with the HPCC authors' settings, all at once", packet_connectx},
    {"victim", "12", "7:1 incast and a flow that shares only the way between the leaves", packet_victim},
    {"go-back-n", "13", "one flow over lossy links", packet_go_back_n},
    {"go-back-0", "14", "4 MB messages, one frame in 256 lost", packet_go_back_0},
    {"ecmp", "15", "random permutations over 8 leaves and 8 spines, PFC alone", packet_ecmp},
    {"ring", "16", "host i to i + 1, and to i + 8", packet_ring},
    {"ib-credits", "17", "InfiniBand buffers below rate times loop", packet_ib_credits},
    {"deadlock", "18", "three switches in a ring, every flow two links on", packet_deadlock},
    {"storm", "-", "a NIC that pauses for ever: its victims, with and without a PFC watchdog", packet_storm},
    {"speed", "-", "64 hosts at 400 Gb/s with DCQCN: frames put on links per second of CPU time",
     packet_speed},
    {0},
};

const CsimPacketScenario *csim_packet_scenario_find(const char *name, GError **error) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (const CsimPacketScenario *s = csim_packet_scenarios; s->name; s++) {
    if (!strcmp(s->name, name)) return s;
    g_ptr_array_add(names, (void *)s->name);
  }
  g_ptr_array_add(names, NULL);
  const char *near = csim_nearest(name, (const char *const *)names->pdata);
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_REFERENCE, "no packet scenario \"%s\"; %s%s", name,
              near ? "did you mean " : "`collsim packet-scenarios --list` names them", near ? near : "");
  return NULL;
}

/* ---- checks ---- */

CsimPacketReport *csim_packet_report_new(void) {
  CsimPacketReport *report = g_new0(CsimPacketReport, 1);
  report->checks = g_array_new(FALSE, FALSE, sizeof(CsimPacketCheck));
  return report;
}

void csim_packet_report_free(CsimPacketReport *report) {
  if (!report) return;
  for (guint i = 0; i < report->checks->len; i++)
    g_free(g_array_index(report->checks, CsimPacketCheck, i).what);
  g_array_free(report->checks, TRUE);
  g_free(report);
}

static gboolean passes(const CsimPacketCheck *check) {
  switch (check->kind) {
  case CSIM_CHECK_AT_LEAST:
    return check->ours >= check->target;
  case CSIM_CHECK_AT_MOST:
    return check->ours <= check->target;
  case CSIM_CHECK_NEAR:
    return fabs(check->ours - check->target) <= check->tolerance * fabs(check->target);
  default:
    return TRUE;
  }
}

static void add_check(CsimPacketReport *report, CsimPacketCheck check, const char *format,
                      va_list arguments) {
  check.what = g_strdup_vprintf(format, arguments);
  check.pass = passes(&check);
  g_array_append_val(report->checks, check);
}

void packet_near(CsimPacketReport *report, double target, double ours, double tolerance, const char *unit,
                 const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_check(
      report,
      (CsimPacketCheck){
          .unit = unit, .kind = CSIM_CHECK_NEAR, .target = target, .ours = ours, .tolerance = tolerance},
      format, arguments);
  va_end(arguments);
}

void packet_at_least(CsimPacketReport *report, double target, double ours, const char *unit,
                     const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_check(report,
            (CsimPacketCheck){.unit = unit, .kind = CSIM_CHECK_AT_LEAST, .target = target, .ours = ours},
            format, arguments);
  va_end(arguments);
}

void packet_at_most(CsimPacketReport *report, double target, double ours, const char *unit,
                    const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_check(report,
            (CsimPacketCheck){.unit = unit, .kind = CSIM_CHECK_AT_MOST, .target = target, .ours = ours},
            format, arguments);
  va_end(arguments);
}

void packet_info(CsimPacketReport *report, double ours, const char *unit, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_check(report, (CsimPacketCheck){.unit = unit, .kind = CSIM_CHECK_INFO, .target = NAN, .ours = ours},
            format, arguments);
  va_end(arguments);
}

/* ---- beds ---- */

Bed *bed_new(const CsimPktSpec *spec) {
  Bed *bed = g_new0(Bed, 1);
  bed->engine = csim_engine_new(CSIM_QUEUE_RADIX);
  bed->net = csim_pkt_net_new(bed->engine, spec);
  return bed;
}

void bed_free(Bed *bed) {
  if (!bed) return;
  csim_pkt_net_free(bed->net);
  csim_engine_free(bed->engine);
  g_free(bed);
}

void bed_qp(Bed *bed, guint src, guint dst) {
  guint qp = csim_pkt_add_qp(bed->net, src, dst, NULL, NULL);
  g_assert(qp == bed->n_qps);
  bed->n_qps++;
}

Bed *bed_star(const CsimPktSpec *spec, const CsimPktSwitch *sw, guint n, const CsimPktCable *cable) {
  Bed *bed = bed_new(spec);
  guint center = csim_pkt_add_switch(bed->net, "switch", sw),
        receiver = csim_pkt_add_host(bed->net, "receiver");
  bed->bottleneck = csim_pkt_connect(bed->net, center, receiver, cable);
  for (guint i = 0; i < n; i++) {
    g_autofree char *name = g_strdup_printf("sender%u", i);
    csim_pkt_connect(bed->net, csim_pkt_add_host(bed->net, name), center, cable);
  }
  for (guint i = 0; i < n; i++) bed_qp(bed, receiver + 1 + i, receiver);
  return bed;
}

static guint add_named(Bed *bed, const char *kind, guint i, const CsimPktSwitch *sw) {
  g_autofree char *name = g_strdup_printf("%s%u", kind, i);
  return sw ? csim_pkt_add_switch(bed->net, name, sw) : csim_pkt_add_host(bed->net, name);
}

Bed *bed_leaf_spine(const CsimPktSpec *spec, const CsimPktSwitch *sw, guint leaves, guint hosts, guint spines,
                    const CsimPktCable *cable) {
  Bed *bed = bed_new(spec);
  guint first_leaf = leaves * hosts, first_spine = first_leaf + leaves;
  for (guint h = 0; h < leaves * hosts; h++) add_named(bed, "host", h, NULL);
  for (guint l = 0; l < leaves; l++) add_named(bed, "leaf", l, sw);
  for (guint s = 0; s < spines; s++) add_named(bed, "spine", s, sw);
  for (guint h = 0; h < leaves * hosts; h++) csim_pkt_connect(bed->net, h, first_leaf + h / hosts, cable);
  for (guint l = 0; l < leaves; l++)
    for (guint s = 0; s < spines; s++) csim_pkt_connect(bed->net, first_leaf + l, first_spine + s, cable);
  return bed;
}

void bed_send(Bed *bed, CsimBytes bytes, CsimTime stagger) {
  for (guint i = 0; i < bed->n_qps; i++)
    csim_pkt_send_at(bed->net, i * stagger, i, bytes, CSIM_PKT_SILENT, 0, 0, 0);
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void bed_run(Bed *bed, CsimTime until, CsimPacketReport *report) {
  g_autoptr(GError) error = NULL;
  uint64_t hops = csim_pkt_hops(bed->net), events = csim_engine_stats(bed->engine).events;
  double start = cpu_seconds();
  csim_engine_run(bed->engine, until, 0);
  report->cpu_s += cpu_seconds() - start;
  report->hops += csim_pkt_hops(bed->net) - hops;
  report->events += csim_engine_stats(bed->engine).events - events;
  if (!csim_pkt_check(bed->net, &error)) packet_near(report, 0, 1, 0, "errors", "%s", error->message);
}

static void add_qp_result(Bed *bed, guint qp, BedResult *sum, double *rates, double *squares) {
  CsimPktQpStats stats = csim_pkt_qp_stats(bed->net, qp);
  CsimTime time = stats.last_ack - stats.first_post;
  double rate = time > 0 ? (double)stats.acked / (double)time : 0;
  if (stats.acked != stats.posted) sum->unfinished++;
  sum->makespan = MAX(sum->makespan, stats.last_ack);
  sum->goodput_gbps += (double)stats.acked * 8e3;
  sum->cnps += stats.cnps;
  sum->marked += stats.marked;
  *rates += rate;
  *squares += rate * rate;
}

static void add_port_result(Bed *bed, guint port, BedResult *sum) {
  CsimPktPortStats stats = csim_pkt_port_stats(bed->net, port);
  sum->drops += stats.dropped;
  sum->pauses += stats.pauses_sent;
  sum->max_queue = MAX(sum->max_queue, stats.max_queue);
  sum->max_ingress = MAX(sum->max_ingress, stats.max_ingress);
  sum->max_headroom = MAX(sum->max_headroom, stats.max_headroom);
  if (port == bed->bottleneck) sum->mean_queue = stats.mean_queue;
}

BedResult bed_result(Bed *bed) {
  BedResult sum = {0};
  double rates = 0, squares = 0;
  for (guint i = 0; i < bed->n_qps; i++) add_qp_result(bed, i, &sum, &rates, &squares);
  for (guint i = 0; i < csim_pkt_n_ports(bed->net); i++) add_port_result(bed, i, &sum);
  if (sum.makespan > 0) sum.goodput_gbps /= (double)sum.makespan;
  if (squares > 0) sum.jain = rates * rates / (bed->n_qps * squares);
  return sum;
}
