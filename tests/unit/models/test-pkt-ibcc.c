/* InfiniBand's congestion control: table, timer, and what it does for a flow that shares a cable with an incast. */
#include "collsim/error.h"
#include "models/pkt/pkt.h"

#define GBPS ((CsimRate)125000000)

static void test_index(void) {
  CsimIbCc cc = csim_ibcc_usual(0.5);
  CsimCcti c = {0};
  cc.timer = 10 * CSIM_US;
  cc.limit = 6;
  cc.increase = 2;
  g_assert_cmpfloat(csim_ccti_delay(&c, &cc, 0), ==, 0);
  csim_ccti_becn(&c, &cc, 5 * CSIM_US);
  g_assert_cmpfloat(csim_ccti_delay(&c, &cc, 5 * CSIM_US), ==, 1); /* index 2 */
  for (guint i = 0; i < 5; i++) csim_ccti_becn(&c, &cc, 6 * CSIM_US);
  g_assert_cmpfloat(csim_ccti_delay(&c, &cc, 6 * CSIM_US), ==, 3); /* the limit */
  g_assert_cmpfloat(csim_ccti_delay(&c, &cc, 14 * CSIM_US), ==, 3);
  g_assert_cmpfloat(csim_ccti_delay(&c, &cc, 15 * CSIM_US), ==, 2.5); /* a period after the first BECN */
  g_assert_cmpfloat(csim_ccti_delay(&c, &cc, 37 * CSIM_US), ==, 1.5);
  cc.min = 1;
  g_assert_cmpfloat(csim_ccti_delay(&c, &cc, CSIM_S), ==, 0.5);
}

static void test_threshold(void) {
  g_assert_cmpint(csim_ibcc_threshold(0, 131072), ==, INT64_MAX);
  g_assert_cmpint(csim_ibcc_threshold(1, 131072), ==, 131072 * 15 / 16);
  g_assert_cmpint(csim_ibcc_threshold(15, 131072), ==, 131072 / 16);
}

typedef struct {
  double victim, incast; /* shares of a link */
  uint64_t marked, becns;
} Result;

static void nothing(CsimEngine *engine, void *owner, const CsimEvent *event) {}

/* Eight senders on one switch to a host of the other, and a ninth to its neighbour; between the switches is room for all. The last
 * 10 of 30 ms count. */
static Result incast(const CsimIbCc *cc) {
  enum { SENDERS = 8 };
  CsimPktSpec spec = csim_pkt_spec_ib();
  CsimPktSwitch sw = {0};
  CsimPktCable cable = {100 * GBPS, 100 * CSIM_NS, 0}, trunk = {1000 * GBPS, 100 * CSIM_NS, 0};
  spec.cnp_interval = 0;
  if (cc) spec.ibcc_on = TRUE, spec.ibcc = *cc;
  CsimEngine *engine = csim_engine_new(CSIM_QUEUE_RADIX);
  uint16_t handler = csim_engine_add_handler(engine, "nothing", nothing, NULL);
  CsimPktNet *net = csim_pkt_net_new(engine, &spec);
  guint a = csim_pkt_add_switch(net, "a", &sw), b = csim_pkt_add_switch(net, "b", &sw);
  for (guint i = 0; i < SENDERS + 3; i++) csim_pkt_connect(net, csim_pkt_add_host(net, "host"), i <= SENDERS ? a : b, &cable);
  csim_pkt_connect(net, a, b, &trunk);
  for (guint i = 0; i <= SENDERS; i++) {
    guint qp = csim_pkt_add_qp(net, 2 + i, 2 + SENDERS + (i < SENDERS ? 1 : 2), NULL, NULL);
    csim_pkt_send(net, qp, 1 << 30, handler, 0, 0, 0);
  }
  CsimBytes before[2], after[2];
  guint target = 2 * (SENDERS + 1) + 1, neighbour = target + 2; /* the switch's ports to them */
  csim_engine_run(engine, 20 * CSIM_MS, 0);
  before[0] = csim_pkt_port_stats(net, target).tx_bytes, before[1] = csim_pkt_port_stats(net, neighbour).tx_bytes;
  csim_engine_run(engine, 30 * CSIM_MS, 0);
  after[0] = csim_pkt_port_stats(net, target).tx_bytes, after[1] = csim_pkt_port_stats(net, neighbour).tx_bytes;
  double line = 100.0 * GBPS * 10e-3;
  Result r = {(double)(after[1] - before[1]) / line, (double)(after[0] - before[0]) / line, 0, 0};
  for (guint i = 0; i < csim_pkt_n_ports(net); i++) r.marked += csim_pkt_port_stats(net, i).marked;
  for (guint i = 0; i <= SENDERS; i++) r.becns += csim_pkt_qp_stats(net, i).cnps;
  GError *error = NULL;
  csim_pkt_check(net, &error);
  g_assert_no_error(error);
  csim_pkt_net_free(net);
  csim_engine_free(engine);
  g_test_message("%s: victim %.3f, incast %.3f of a link, %" G_GUINT64_FORMAT " marked, %" G_GUINT64_FORMAT " BECNs", cc ? "congestion control" : "nothing",
                 r.victim, r.incast, r.marked, r.becns);
  return r;
}

static void test_victim(void) {
  CsimIbCc cc = csim_ibcc_usual(0.25), off = cc;
  Result without = incast(NULL), with = incast(&cc);
  g_assert_cmpuint(without.marked + without.becns, ==, 0);
  g_assert_cmpfloat(without.victim, <, 0.2);
  g_assert_cmpfloat(without.incast, >, 0.99);
  g_assert_cmpfloat(with.victim, >, 0.97);
  g_assert_cmpfloat(with.incast, >, 0.9);
  g_assert_cmpuint(with.marked, >, 0);
  off.threshold = 0;
  g_assert_cmpuint(incast(&off).marked, ==, 0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/pkt/ibcc/index", test_index);
  g_test_add_func("/pkt/ibcc/threshold", test_threshold);
  g_test_add_func("/pkt/ibcc/victim", test_victim);
  return g_test_run();
}
