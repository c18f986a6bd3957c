/* exp/packet-paths.c - scenarios of ECMP: the link with most flows decides. */
#include "exp/packet-private.h"

#include "base/rng.h"

enum { LEAVES = 8, HOSTS = 8, SPINES = 8, ALL = LEAVES * HOSTS };

static gboolean leaves_home(const uint32_t *to, guint n, guint per_leaf) {
  for (guint i = 0; i < n; i++)
    if (to[i] / per_leaf == i / per_leaf) return FALSE;
  return TRUE;
}

/* Swaps what stays at home with random others until nothing does. */
void bed_permutation(Bed *bed, guint n, guint per_leaf, uint64_t seed) {
  g_autofree uint32_t *to = g_new(uint32_t, n);
  CsimRng rng;
  csim_rng_init(&rng, seed, 0, 0);
  for (guint i = 0; i < n; i++) to[i] = i;
  csim_rng_shuffle(&rng, to, n);
  while (!leaves_home(to, n, per_leaf))
    for (guint i = 0; i < n; i++) {
      if (to[i] / per_leaf != i / per_leaf) continue;
      guint other = (guint)csim_rng_below(&rng, n);
      uint32_t keep = to[i];
      to[i] = to[other];
      to[other] = keep;
    }
  for (guint i = 0; i < n; i++) bed_qp(bed, i, to[i]);
}

/* Flows on the busiest link. */
static guint max_load(Bed *bed) {
  g_autofree guint *load = g_new0(guint, csim_pkt_n_ports(bed->net));
  guint most = 0;
  for (guint qp = 0; qp < bed->n_qps; qp++) {
    const guint16 *ports;
    guint n = csim_pkt_qp_path(bed->net, qp, &ports);
    for (guint i = 0; i < n; i++) {
      guint flows = ++load[ports[i]];
      most = MAX(most, flows);
    }
  }
  return most;
}

static Bed *new_bed(CsimPktSpec *spec, uint64_t seed) {
  CsimPktCable cable = {.rate = 100 * (CsimRate)GBPS, .delay = CSIM_US};
  CsimPktSwitch sw = csim_pkt_switch_hpcc(cable.rate, cable.delay);
  *spec = csim_pkt_spec_roce();
  spec->seed = seed;
  spec->mtu = 1024;
  sw.headroom = 100000;
  return bed_leaf_spine(spec, &sw, LEAVES, HOSTS, SPINES, &cable);
}

/* S / C of the validation list: the time of a message alone at the payload ceiling. */
static double alone_us(const CsimPktSpec *spec, CsimBytes bytes) {
  return (double)bytes / (100.0 * GBPS * csim_pkt_ceiling(spec->kind, spec->mtu)) * 1e6;
}

/* With the way there and back of the last frame and its ACK: four links of 1 us each way. */
static void run(CsimPacketReport *report, Bed *bed, const CsimPktSpec *spec, double tolerance,
                const char *name, guint number) {
  CsimBytes bytes = 10000384;
  guint load = max_load(bed);
  bed_send(bed, bytes, 0);
  bed_run(bed, CSIM_TIME_NEVER, report);
  BedResult result = bed_result(bed);
  double bound = load * alone_us(spec, bytes), ours = (double)result.makespan * 1e-6;
  packet_near(report, bound + 8, ours, tolerance, "us", "makespan, %s %u, busiest link %u flows", name,
              number, load);
  packet_at_least(report, bound, ours, "us", "no faster than the busiest link, %s %u", name, number);
  packet_near(report, 0, (double)(result.drops + result.unfinished), 0, "drops", "%s %u", name, number);
}

void packet_ecmp(CsimPacketReport *report) {
  for (guint seed = 1; seed <= 4; seed++) {
    CsimPktSpec spec;
    g_autoptr(Bed) bed = new_bed(&spec, seed);
    bed_permutation(bed, ALL, HOSTS, seed);
    run(report, bed, &spec, 0.05, "permutation", seed);
  }
}

void packet_ring(CsimPacketReport *report) {
  for (guint stride = 1; stride <= 8; stride += 7) {
    CsimPktSpec spec;
    g_autoptr(Bed) bed = new_bed(&spec, 1);
    for (guint i = 0; i < ALL; i++) bed_qp(bed, i, (i + stride) % ALL);
    run(report, bed, &spec, stride == 1 ? 0.01 : 0.05, "stride", stride);
  }
}
