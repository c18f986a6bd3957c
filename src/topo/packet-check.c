/* topo/packet-check.c - settings that work against each other, before anything runs. */
#include "base/units.h"
#include "topo/packet-settings.h"

#include <math.h>

typedef struct {
  const CsimPacketSettings *s;
  const CsimPacketMachine *m;
  const CsimPacketPlan *plan;
  guint tiers;
  int dscp;
  CsimDiag *diag;
} Check;

static void warn(const Check *c, CsimLoc loc, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void warn(const Check *c, CsimLoc loc, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  csim_diag_add(c->diag, CSIM_FINDING_WARNING, CSIM_ERROR_VALUE, loc.file ? loc : c->s->roce_loc, "%s", text);
}

static double kib(CsimBytes bytes) { return (double)bytes / 1024; }

/* XOFF of one congested port; with a dynamic threshold what a port alone can get. */
static CsimBytes xoff_of(const CsimPktSwitch *sw) {
  return sw->alpha > 0 ? sw->reserve + (CsimBytes)(csim_pkt_dynamic_share(sw->alpha, (double)sw->buffer, 1)) : sw->xoff;
}

/* ECN must bite before PFC. The egress queue sees all ports' frames, an ingress account its own, so one port alone is the worst case. */
static void check_ecn_before_pfc(const Check *c) {
  const CsimPktSwitch *sw = &c->plan->tier[CSIM_TIER_LEAF];
  CsimBytes xoff = xoff_of(sw);
  if (c->s->no_pfc || c->s->no_ecn) return;
  if (sw->ecn_min >= xoff)
    warn(c, c->s->ecn_min.loc, "ECN marks from %.0f KiB on, but PFC stops a port at %.0f KiB: senders are paused before DCQCN hears of anything",
         kib(sw->ecn_min), kib(xoff));
  else if (sw->ecn_max > xoff)
    warn(c, c->s->ecn_max.loc,
         "ECN marks every packet only at %.0f KiB, but PFC stops a port at %.0f KiB: traffic that comes by one port is paused before it is marked for certain",
         kib(sw->ecn_max), kib(xoff));
}

static void check_headroom(const Check *c) {
  if (c->s->no_pfc || !c->s->headroom.given) return;
  for (guint t = 0; t < c->tiers; t++) {
    CsimBytes needed = c->plan->needed_headroom[t], have = c->s->headroom.bytes;
    if (have >= needed) continue;
    warn(c, c->s->headroom.loc, "%.1f KiB of headroom; a %s switch with %.0f m of cable needs %.1f KiB a port and priority, or PFC drops packets",
         kib(have), csim_packet_tier_name((CsimPacketTier)t), (double)c->m->delay[t] / 5000, kib(needed));
    return;
  }
}

static void check_buffer(const Check *c) {
  const CsimPktSwitch *sw = &c->plan->tier[CSIM_TIER_LEAF];
  if (c->plan->share > sw->reserve) return;
  warn(c, c->s->headroom.loc, "headroom of %.1f KiB for %d lossless priorities on %u ports leaves nothing of the buffer to share", kib(sw->headroom),
       __builtin_popcount(c->s->pfc_priorities), c->m->ports);
}

static void check_priorities(const Check *c) {
  for (guint t = 0; t < c->tiers; t++) {
    CsimPacketTier tier = (CsimPacketTier)t;
    const CsimPacketTierSettings *own = &c->s->tier[t];
    guint priority = csim_packet_priority(c->s, tier, c->dscp);
    if (c->s->no_pfc || csim_packet_is_lossless(c->s, tier, c->dscp)) continue;
    warn(c, own->no_pfc ? own->pfc_loc : own->priority_loc, "DSCP %d is priority %u on %s switches, which PFC does not protect there: RoCE is lossy on that hop",
         c->dscp, priority, csim_packet_tier_name(tier));
    if (!own->no_pfc && own->priority_of[c->dscp] < 0) return; /* on all tiers alike */
  }
}

static void check_cnp(const Check *c) {
  if (c->s->profile == CSIM_PACKET_DCQCN_OFF || c->s->no_ecn || c->plan->spec.cnp_class != c->plan->spec.data_class) return;
  warn(c, CSIM_LOC_NONE, "CNPs (DSCP 48) share priority %u with the data: they wait in the queue that they report", c->plan->spec.data_class);
}

static void check_control(const Check *c) {
  gboolean dcqcn = c->s->profile != CSIM_PACKET_DCQCN_OFF;
  if (dcqcn && c->s->no_ecn) warn(c, CSIM_LOC_NONE, "DCQCN is on but no switch marks (ecn: false): no sender will ever slow down");
  if (!dcqcn && !c->s->no_ecn) warn(c, CSIM_LOC_NONE, "switches mark (ECN) but DCQCN is off: nobody listens");
  if (!dcqcn && c->s->no_pfc) warn(c, CSIM_LOC_NONE, "neither PFC nor DCQCN: congestion drops packets, and go-back-N sends a round trip's worth again for each");
}

/* The IP packet of a full frame must fit. */
static void check_mtu(const Check *c) {
  int payload = c->plan->spec.mtu;
  for (guint t = 0; t < c->tiers; t++) {
    int mtu = c->s->tier[t].mtu;
    if (mtu == 0 || csim_pkt_roce_mtu(mtu) >= payload) continue;
    warn(c, c->s->tier[t].mtu_loc, "%s switches pass an MTU of %d, adapters send %d bytes of payload: full packets are dropped without a word and queue pairs die",
         csim_packet_tier_name((CsimPacketTier)t), mtu, payload);
  }
  if (payload > 1024) return;
  csim_diag_add(c->diag, CSIM_FINDING_NOTE, CSIM_ERROR_VALUE, c->s->roce_loc,
                "an MTU of %d gives RoCE packets of %d bytes: %.1f %% of the wire is payload, %.1f %% with 4096 (Ethernet MTU 4192 and more)",
                c->m->mtu, payload, 100 * csim_pkt_ceiling(CSIM_PKT_ROCE, payload), 100 * csim_pkt_ceiling(CSIM_PKT_ROCE, 4096));
}

static void check_ibcc(const Check *c) {
  const CsimIbCc *cc = &c->s->ibcc;
  if (!c->s->ibcc_on) return;
  if (cc->threshold == 0) warn(c, c->s->ibcc_loc, "congestion control with threshold 0: no switch marks");
  if (cc->increase == 0 || cc->limit == 0 || cc->table[cc->limit] <= 0)
    warn(c, c->s->ibcc_loc, "congestion control that never delays (ccti_increase, ccti_limit, cct): no sender will ever slow down");
}

static void check_lane(const Check *c) {
  const CsimPktSpec *spec = &c->plan->spec;
  CsimRate rate = MAX(c->m->nic, c->m->link);
  CsimTime delay = 0;
  for (guint t = 0; t < c->tiers; t++) delay = MAX(delay, c->m->delay[t]);
  int frame = csim_pkt_data_frame(CSIM_PKT_IB, spec->mtu, TRUE);
  double got = csim_pkt_credit_packets_gbps(rate, spec->vl_buffer, 2 * delay + spec->credit_turnaround + csim_rate_time(rate, frame), frame);
  double line = (double)rate * 8e-9;
  if (got < 0.995 * line)
    warn(c, c->s->vl_loc, "a lane's buffer of %.0f KiB lets %.0f of %.0f Gb/s through %.0f m of cable", kib(spec->vl_buffer), got, line,
         (double)delay / 5000);
}

static void check_presets(const Check *c, const CsimCatalogue *catalogue) {
  if (c->s->asic) {
    CsimRate port = csim_catalogue_rate(catalogue, "asic.%s.rate", c->s->asic);
    guint ports = (guint)csim_catalogue_number(catalogue, "asic.%s.ports", c->s->asic);
    CsimRate all = port * ports;
    if (MAX(c->m->nic, c->m->link) * c->m->ports > all)
      warn(c, c->s->asic_loc, "%u ports of %.0f Gb/s; a %s has %u of %.0f Gb/s", c->m->ports, (double)MAX(c->m->nic, c->m->link) * 8e-9, c->s->asic, ports,
           (double)port * 8e-9);
  }
  if (!c->s->adapter) return;
  CsimRate rate = csim_catalogue_rate(catalogue, "adapter.%s.rate", c->s->adapter);
  if (c->m->nic > rate)
    warn(c, c->s->adapter_loc, "the topology's adapters run at %.0f Gb/s; a %s has at most %.0f Gb/s", (double)c->m->nic * 8e-9, c->s->adapter,
         (double)rate * 8e-9);
}

void csim_packet_settings_check(const CsimPacketSettings *s, const CsimPacketMachine *m, const CsimPacketPlan *plan, guint tiers,
                                const CsimPacketOptions *o, const CsimCatalogue *catalogue, CsimDiag *diag) {
  Check c = {s, m, plan, MIN(tiers, CSIM_N_TIERS), o->traffic_class > 0 ? o->traffic_class >> 2 & 63 : s->dscp, diag};
  check_presets(&c, catalogue);
  if (m->kind == CSIM_PKT_IB) {
    check_lane(&c);
    check_ibcc(&c);
    return;
  }
  if (m->kind != CSIM_PKT_ROCE) return;
  check_mtu(&c);
  check_priorities(&c);
  check_cnp(&c);
  check_control(&c);
  check_ecn_before_pfc(&c);
  check_headroom(&c);
  if (!s->no_pfc) check_buffer(&c);
}
