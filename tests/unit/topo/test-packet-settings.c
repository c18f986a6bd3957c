/* Settings of switches and adapters: read, worked out, and found to contradict each other. */
#include "topo/packet-fabric.h"

#include <string.h>

typedef struct {
  CsimCatalogue *catalogue;
  CsimCluster *cluster;
  CsimMachine *machine;
  CsimDiag *diag;
} Setup;

static const CsimPacketOptions options = {.seed = 1, .timeout = 20, .retry_count = 7, .traffic_class = -1};

static char *target(const char *fabric) {
  return g_strdup_printf("{\"nodes\": [{\"count\": 4, \"xml\": \"hgx-a800\"}], \"fabric\": {%s}}", fabric);
}

static void set_up(Setup *s, const char *fabric) {
  GError *error = NULL;
  g_autofree char *text = target(fabric);
  s->catalogue = csim_catalogue_new(NULL, NULL, &error);
  g_assert_no_error(error);
  s->cluster = csim_cluster_load(text, 0, &error);
  g_assert_no_error(error);
  s->machine = csim_machine_new(s->cluster, s->catalogue, &error);
  g_assert_no_error(error);
  s->diag = csim_diag_new();
}

static void clear(Setup *s) {
  csim_machine_free(s->machine);
  csim_cluster_free(s->cluster);
  csim_catalogue_free(s->catalogue);
  csim_diag_free(s->diag);
}

/* The one warning that the fabric gives starts so; NULL: there is none. */
static void assert_finding(const char *fabric, const CsimPacketOptions *o, const char *says) {
  Setup s;
  GError *error = NULL;
  set_up(&s, fabric);
  csim_packet_fabric_check(s.machine, o, s.diag, &error);
  g_assert_no_error(error);
  guint found = 0;
  for (guint i = 0; i < csim_diag_n(s.diag); i++) {
    const CsimFinding *f = csim_diag_get(s.diag, i);
    if (f->severity < CSIM_FINDING_WARNING) continue;
    g_test_message("%s: %s", fabric, f->text);
    found++;
    if (says) g_assert_nonnull(strstr(f->text, says));
  }
  g_assert_cmpuint(found, ==, says ? 1 : 0);
  clear(&s);
}

static void test_findings(void) {
  static const struct {
    const char *fabric, *says;
  } cases[] = {
      {"\"transport\": \"ib\"", NULL},
      {"\"transport\": \"roce\"", NULL},
      {"\"transport\": \"roce\", \"switch\": \"tomahawk-5\", \"adapter\": \"connectx-6-dx\"", NULL},
      {"\"transport\": \"roce\", \"roce\": {\"pfc\": {\"xoff\": \"70%\", \"xon\": \"50%\"}, \"ecn\": {\"min\": \"20%\", \"max\": \"60%\"}}", NULL},
      {"\"transport\": \"roce\", \"roce\": {\"pfc\": {\"xoff\": \"40%\"}, \"ecn\": {\"min\": \"50%\", \"max\": \"80%\"}}", "paused before DCQCN hears"},
      {"\"transport\": \"roce\", \"roce\": {\"pfc\": {\"xoff\": \"70%\"}, \"ecn\": {\"min\": \"30%\", \"max\": \"80%\"}}", "paused before it is marked"},
      {"\"transport\": \"roce\", \"roce\": {\"pfc\": {\"headroom\": \"10KiB\"}}", "KiB of headroom"},
      {"\"transport\": \"roce\", \"roce\": {\"pfc\": {\"headroom\": \"4MiB\"}, \"ecn\": false, \"dcqcn\": false}", "leaves nothing of the buffer"},
      {"\"transport\": \"roce\", \"roce\": {\"leaf\": {\"priority_of_dscp\": {\"26\": 0}}}", "DSCP 26 is priority 0 on leaf"},
      {"\"transport\": \"roce\", \"roce\": {\"leaf\": {\"pfc\": false}}", "lossy on that hop"},
      {"\"transport\": \"roce\", \"roce\": {\"dscp\": 8}", "DSCP 8 is priority 0"},
      {"\"transport\": \"roce\", \"roce\": {\"leaf\": {\"mtu\": 1500}}", "pass an MTU of 1500"},
      {"\"transport\": \"roce\", \"roce\": {\"priority_of_dscp\": {\"48\": 3}}", "they wait in the queue that they report"},
      {"\"transport\": \"roce\", \"roce\": {\"ecn\": false}", "no sender will ever slow down"},
      {"\"transport\": \"roce\", \"roce\": {\"dcqcn\": false}", "nobody listens"},
      {"\"transport\": \"roce\", \"roce\": {\"pfc\": false, \"ecn\": false, \"dcqcn\": false}", "neither PFC nor DCQCN"},
      {"\"transport\": \"ib\", \"ib\": {\"vl_buffer\": \"4224B\"}", "a lane's buffer of 4 KiB"},
      {"\"transport\": \"ib\", \"switch\": \"quantum-2\", \"link_rate\": \"800Gb/s\"", "ports of 800 Gb/s"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) assert_finding(cases[i].fabric, &options, cases[i].says);
}

/* NCCL_IB_TC=32 is DSCP 8, which nobody protects. */
static void test_traffic_class(void) {
  CsimPacketOptions o = options;
  o.traffic_class = 32;
  assert_finding("\"transport\": \"roce\"", &o, "DSCP 8 is priority 0");
  o.traffic_class = 104;
  assert_finding("\"transport\": \"roce\"", &o, NULL);
}

static void assert_refused(const char *fabric, const char *says) {
  g_autofree char *text = target(fabric);
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimCatalogue) catalogue = csim_catalogue_new(NULL, NULL, NULL);
  g_autoptr(CsimCluster) cluster = csim_cluster_load(text, 0, &error);
  g_autoptr(CsimMachine) machine = cluster ? csim_machine_new(cluster, catalogue, &error) : NULL;
  gboolean ok = machine && csim_packet_fabric_check(machine, &options, NULL, &error);
  g_assert_false(ok);
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, says));
  g_assert_true(g_str_has_prefix(error->message, "<target>:1:"));
}

static void test_refused(void) {
  assert_refused("\"switch\": \"tomahawk-9\"", "allowed: quantum-2, spectrum-4, tomahawk-4, tomahawk-5");
  assert_refused("\"switch\": \"tomahawk-4\"", "does not switch InfiniBand");
  assert_refused("\"transport\": \"roce\", \"switch\": \"quantum-2\"", "does not switch Ethernet");
  assert_refused("\"adapter\": \"connectx-2\"", "allowed: connectx-6-dx, connectx-7");
  assert_refused("\"transport\": \"roce\", \"roce\": {\"pfc\": {\"xoff\": \"50%\", \"xon\": \"70%\"}}", "XON is above XOFF");
  assert_refused("\"transport\": \"roce\", \"roce\": {\"pfc\": {\"xon\": \"70%\"}}", "xon without xoff");
  assert_refused("\"transport\": \"roce\", \"roce\": {\"pfc\": {\"xoff\": \"170%\"}}", "is no level");
  assert_refused("\"transport\": \"roce\", \"roce\": {\"ecn\": {\"min\": \"3MiB\"}}", "min is above its max");
  assert_refused("\"transport\": \"roce\", \"roce\": {\"ecn\": {\"pmax\": \"often\"}}", "is no share");
  assert_refused("\"transport\": \"roce\", \"roce\": {\"dcqcn\": {\"rpg_ai_rat\": \"5Mb/s\"}}", "rpg_ai_rate");
  assert_refused("\"transport\": \"roce\", \"roce\": {\"priority_of_dscp\": {\"64\": 1}}", "is no DSCP");
  assert_refused("\"transport\": \"ib\", \"ib\": {\"vl_buffer\": \"1MiB\"}", "at most 128KiB");
}

/* Percentages are of (buffer - headroom of all ports) / ports; NVIDIA's parameters lie over the profile. */
static void test_numbers(void) {
  Setup s;
  GError *error = NULL;
  set_up(&s, "\"transport\": \"roce\", \"radix\": 32, \"switch\": \"tomahawk-4\", \"mtu\": 1500, \"roce\": {\"pfc\": {\"xoff\": \"70%\", \"xon\": \"50%\", "
             "\"headroom\": \"100KiB\"}, \"ecn\": {\"min\": \"30%\", \"max\": \"60%\", \"pmax\": \"7%\"}, "
             "\"dcqcn\": {\"profile\": \"paper\", \"rpg_ai_rate\": \"80Mb/s\", \"dce_tcp_g\": 1019, \"rpg_threshold\": 3}}");
  CsimPacketMachine m = {.nic = 25000000000, .link = 25000000000, .delay = {25000, 25000, 25000}, .latency = 700000, .ports = 32, .mtu = 1500};
  CsimPacketPlan plan;
  csim_packet_plan(&s.cluster->fabric.packet, &m, &options, s.catalogue, &plan, &error);
  g_assert_no_error(error);
  CsimBytes share = (113000000 - 32 * 102400) / 32;
  const CsimPktSwitch *leaf = &plan.tier[CSIM_TIER_LEAF];
  g_assert_cmpint(plan.share, ==, share);
  g_assert_cmpint(leaf->xoff, ==, (CsimBytes)(0.7 * (double)share));
  g_assert_cmpint(leaf->xoff - leaf->xon_gap, ==, (CsimBytes)(0.5 * (double)share));
  g_assert_cmpint(leaf->ecn_min, ==, (CsimBytes)(0.3 * (double)share));
  g_assert_cmpfloat(leaf->ecn_pmax, ==, 0.07);
  g_assert_cmpint(leaf->headroom, ==, 102400);
  g_assert_cmpint(plan.spec.mtu, ==, 1024);
  g_assert_cmpuint(plan.spec.data_class, ==, 3);
  g_assert_cmpuint(plan.spec.cnp_class, ==, 6);
  g_assert_cmpint(plan.spec.dcqcn.ai, ==, 10000000);
  g_assert_cmpint(plan.spec.dcqcn.threshold, ==, 3);
  g_assert_cmpfloat_with_epsilon(plan.spec.dcqcn.g, 5.0 / 1024, 1e-12);
  g_assert_cmpint(plan.spec.dcqcn.timer, ==, 55 * CSIM_US);
  g_assert_cmpint(plan.spec.cnp_interval, ==, 50 * CSIM_US);
  clear(&s);
}

/* An adapter that is not named is one of its rate. */
static void test_message_rate(void) {
  static const struct {
    const char *fabric;
    CsimPktKind kind;
    CsimRate nic;
    double rate; /* 0: no limit */
  } cases[] = {
      {"\"transport\": \"ib\"", CSIM_PKT_IB, 25000000000, 215e6},
      {"\"transport\": \"ib\"", CSIM_PKT_IB, 50000000000, 330e6},
      {"\"transport\": \"ib\"", CSIM_PKT_IB, 100000000000, 0},
      {"\"transport\": \"roce\", \"adapter\": \"connectx-7\"", CSIM_PKT_ROCE, 25000000000, 330e6},
      {"\"transport\": \"roce\", \"message_rate\": 1e6", CSIM_PKT_ROCE, 25000000000, 1e6},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Setup s;
    GError *error = NULL;
    CsimPacketPlan plan;
    set_up(&s, cases[i].fabric);
    CsimPacketMachine m = {.kind = cases[i].kind, .nic = cases[i].nic, .link = cases[i].nic, .ports = 8, .tiers = 1, .mtu = 4096};
    csim_packet_plan(&s.cluster->fabric.packet, &m, &options, s.catalogue, &plan, &error);
    g_assert_no_error(error);
    g_assert_cmpint(plan.spec.message_gap, ==, cases[i].rate > 0 ? (CsimTime)(1e12 / cases[i].rate) : 0);
    clear(&s);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/packet-settings/findings", test_findings);
  g_test_add_func("/packet-settings/traffic-class", test_traffic_class);
  g_test_add_func("/packet-settings/refused", test_refused);
  g_test_add_func("/packet-settings/numbers", test_numbers);
  g_test_add_func("/packet-settings/message-rate", test_message_rate);
  return g_test_run();
}
