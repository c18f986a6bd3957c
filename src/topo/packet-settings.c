/* topo/packet-settings.c - from settings to the packet network's numbers. */
#include "topo/packet-settings.h"

#include <math.h>
#include <string.h>

#define CNP_DSCP 48
#define LEAST_IP_MTU 576
#define LEAST_MTU 256
#define XON_GAP 18432        /* SONiC's Mellanox profiles at 100 Gb/s: 18 KiB; used where XON is not given */

const char *csim_packet_tier_name(CsimPacketTier tier) {
  static const char *const names[] = {"leaf", "spine", "core"};
  return names[tier];
}

void csim_packet_settings_init(CsimPacketSettings *s) {
  *s = (CsimPacketSettings){.dscp = 26,
                            .pfc_priorities = 1 << 3,
                            .alpha = 1.0 / 8,
                            .reserve = 4096,
                            .response = -1,
                            .turnaround = -1,
                            .ecn_min = {.share = -1, .bytes = 1 << 20},
                            .ecn_max = {.share = -1, .bytes = 2 << 20},
                            .ecn_pmax = 0.05,
                            .ibcc = csim_ibcc_usual(0.25),
                            .tcp = csim_tcp_linux(),
                            .send_buffer = 4 << 20,
                            .receive_buffer = 6 << 20};
  s->priority_of[26] = 3;
  s->priority_of[CNP_DSCP] = 6;
  for (guint t = 0; t < CSIM_N_TIERS; t++) memset(s->tier[t].priority_of, -1, sizeof s->tier[t].priority_of);
}

guint csim_packet_priority(const CsimPacketSettings *s, CsimPacketTier tier, int dscp) {
  gint8 own = s->tier[tier].priority_of[dscp];
  return (guint)(own >= 0 ? own : s->priority_of[dscp]);
}

gboolean csim_packet_is_lossless(const CsimPacketSettings *s, CsimPacketTier tier, int dscp) {
  return !s->no_pfc && !s->tier[tier].no_pfc && (s->pfc_priorities >> csim_packet_priority(s, tier, dscp) & 1);
}

/* --- presets ----------------------------------------------------------------- */

static char *known_groups(const CsimCatalogue *c, const char *group) {
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  g_autofree char *prefix = g_strdup_printf("%s.", group);
  for (guint i = 0; i < csim_catalogue_n(c); i++) {
    const char *name = csim_catalogue_get(c, i)->name;
    if (!g_str_has_prefix(name, prefix)) continue;
    const char *rest = name + strlen(prefix);
    g_autofree char *own = g_strndup(rest, strcspn(rest, "."));
    if (names->len == 0 || strcmp(g_ptr_array_index(names, names->len - 1), own) != 0) g_ptr_array_add(names, g_steal_pointer(&own));
  }
  g_ptr_array_add(names, NULL);
  return g_strjoinv(", ", (char **)names->pdata);
}

static const CsimConstant *constant(const CsimCatalogue *c, const char *group, const char *name, const char *field) {
  g_autofree char *path = g_strdup_printf("%s.%s.%s", group, name, field);
  return csim_catalogue_find(c, path);
}

/* Only Ethernet switches have a buffer in the catalogue. */
static gboolean check_kind(const CsimCatalogue *c, const CsimPacketSettings *s, CsimPktKind kind, GError **error) {
  if (!s->asic) return TRUE;
  if (kind == CSIM_PKT_SLINGSHOT) {
    csim_error_set(error, CSIM_ERROR_VALUE, s->asic_loc, "a %s does not switch Slingshot; allowed there: no \"switch\"", s->asic);
    return FALSE;
  }
  if ((constant(c, "asic", s->asic, "buffer") != NULL) == (kind != CSIM_PKT_IB)) return TRUE;
  csim_error_set(error, CSIM_ERROR_VALUE, s->asic_loc, "a %s does not switch %s; allowed: %s", s->asic, kind != CSIM_PKT_IB ? "Ethernet" : "InfiniBand",
                 kind != CSIM_PKT_IB ? "spectrum-4, tomahawk-4, tomahawk-5" : "quantum-2");
  return FALSE;
}

static gboolean check_preset(const CsimCatalogue *c, const char *group, const char *name, CsimLoc loc, GError **error) {
  if (!name || constant(c, group, name, "rate")) return TRUE;
  g_autofree char *known = known_groups(c, group);
  csim_error_set(error, CSIM_ERROR_REFERENCE, loc, "no %s is called '%.60s'; allowed: %s", strcmp(group, "asic") == 0 ? "switch" : "adapter", name,
                 known);
  return FALSE;
}

CsimTime csim_packet_switch_latency(const CsimPacketSettings *s, const CsimCatalogue *c, CsimTime fallback) {
  const CsimConstant *latency = s->asic ? constant(c, "asic", s->asic, "latency") : NULL;
  return latency ? latency->time : fallback;
}

/* One that is not named is the slowest of the catalogue that has its rate; there may be none. */
static const char *adapter_of(const CsimPacketSettings *s, const CsimPacketMachine *m, const CsimCatalogue *c) {
  static const char *const by_rate[] = {"connectx-6-dx", "connectx-7"};
  if (s->adapter) return s->adapter;
  for (guint i = 0; i < G_N_ELEMENTS(by_rate); i++)
    if (csim_catalogue_rate(c, "adapter.%s.rate", by_rate[i]) >= m->nic) return by_rate[i];
  return NULL;
}

/* Messages a second; 0: no limit. */
static double message_rate(const CsimPacketSettings *s, const CsimPacketMachine *m, const CsimCatalogue *c) {
  const char *adapter = adapter_of(s, m, c);
  if (s->message_rate > 0) return s->message_rate;
  if (!adapter || (m->kind != CSIM_PKT_IB && m->kind != CSIM_PKT_ROCE)) return 0;
  const CsimConstant *rate = constant(c, "adapter", adapter, "message_rate");
  return rate ? rate->number : 0;
}

static CsimBytes buffer_of(const CsimPacketSettings *s, const CsimCatalogue *c) {
  return csim_catalogue_bytes(c, "asic.%s.buffer", s->asic ? s->asic : "spectrum-4");
}

/* --- packets ------------------------------------------------------------------ */

static gboolean is_rdma_mtu(int mtu) { return mtu == 256 || mtu == 512 || mtu == 1024 || mtu == 2048 || mtu == 4096; }

static gboolean payload(const CsimPacketMachine *m, const CsimCatalogue *c, int *mtu, GError **error) {
  static const char *const transports[] = {"roce", "ib", "slingshot", "efa", "socket"};
  int least = m->kind == CSIM_PKT_TCP ? LEAST_IP_MTU : LEAST_MTU;
  *mtu = m->mtu > 0 ? m->mtu : (int)csim_catalogue_bytes(c, "%s.mtu", transports[m->kind]);
  if (m->kind != CSIM_PKT_IB && m->kind != CSIM_PKT_ROCE) {
    gboolean ok = *mtu >= least && *mtu <= CSIM_PKT_MAX_MTU;
    if (!ok) csim_error_set(error, CSIM_ERROR_VALUE, CSIM_LOC_NONE, "an MTU of %d has no packets; allowed over %s: %d to %d", *mtu, transports[m->kind], least, CSIM_PKT_MAX_MTU);
    if (m->kind == CSIM_PKT_TCP) *mtu -= CSIM_PKT_TCP_HEADER;
    return ok;
  }
  if (!is_rdma_mtu(*mtu) && m->kind == CSIM_PKT_ROCE) *mtu = csim_pkt_roce_mtu(*mtu);
  if (is_rdma_mtu(*mtu)) return TRUE;
  csim_error_set(error, CSIM_ERROR_VALUE, CSIM_LOC_NONE,
                 "an MTU of %d has no packets; allowed: 256, 512, 1024, 2048, 4096, and an Ethernet MTU of 352 or more for roce", m->mtu);
  return FALSE;
}

static CsimDcqcn dcqcn_profile(const CsimPacketSettings *s, const CsimPacketMachine *m) {
  switch (s->profile) {
  case CSIM_PACKET_DCQCN_PAPER: return csim_dcqcn_paper(m->nic / 1000); /* 40 Mb/s at 40 Gb/s */
  case CSIM_PACKET_DCQCN_HPCC: return csim_dcqcn_hpcc(m->nic);
  default: return csim_dcqcn_connectx();
  }
}

/* NVIDIA's parameters over the profile's. */
static void lay_rp(const CsimPacketSettings *s, CsimDcqcn *d) {
  const double *v = s->rp;
  guint on = s->rp_given;
  if (on >> CSIM_RP_G & 1) d->g = 1 - v[CSIM_RP_G] / 1024;
  if (on >> CSIM_RP_INITIAL_ALPHA & 1) d->initial_alpha = v[CSIM_RP_INITIAL_ALPHA] / 1024;
  if (on >> CSIM_RP_ALPHA_PERIOD & 1) d->alpha_period = (CsimTime)v[CSIM_RP_ALPHA_PERIOD];
  if (on >> CSIM_RP_CUT_PERIOD & 1) d->cut_period = (CsimTime)v[CSIM_RP_CUT_PERIOD];
  if (on >> CSIM_RP_TIMER & 1) d->timer = (CsimTime)v[CSIM_RP_TIMER];
  if (on >> CSIM_RP_BYTES & 1) d->byte_counter = (CsimBytes)v[CSIM_RP_BYTES];
  if (on >> CSIM_RP_THRESHOLD & 1) d->threshold = (int)v[CSIM_RP_THRESHOLD];
  if (on >> CSIM_RP_AI & 1) d->ai = (CsimRate)v[CSIM_RP_AI];
  if (on >> CSIM_RP_HAI & 1) d->hai = (CsimRate)v[CSIM_RP_HAI];
  if (on >> CSIM_RP_MIN_RATE & 1) d->min_rate = (CsimRate)v[CSIM_RP_MIN_RATE];
  if (on >> CSIM_RP_MIN_FACTOR & 1) d->min_factor = v[CSIM_RP_MIN_FACTOR] / 100;
  if (on >> CSIM_RP_CLAMP & 1) d->target = v[CSIM_RP_CLAMP] > 0 ? CSIM_DCQCN_TARGET_ALWAYS : CSIM_DCQCN_TARGET_AFTER_INCREASE;
}

static CsimTime cnp_interval(const CsimPacketSettings *s) {
  if (s->rp_given >> CSIM_RP_CNP_INTERVAL & 1) return (CsimTime)s->rp[CSIM_RP_CNP_INTERVAL];
  return s->profile == CSIM_PACKET_DCQCN_PAPER ? 50 * CSIM_US : s->profile == CSIM_PACKET_DCQCN_HPCC ? 0 : 4 * CSIM_US;
}

static int data_dscp(const CsimPacketSettings *s, const CsimPacketOptions *o) { return o->traffic_class > 0 ? o->traffic_class >> 2 & 63 : s->dscp; }

static void roce_spec(const CsimPacketSettings *s, const CsimPacketMachine *m, const CsimPacketOptions *o, CsimPktSpec *spec) {
  guint data = csim_packet_priority(s, CSIM_TIER_LEAF, data_dscp(s, o)), cnp = csim_packet_priority(s, CSIM_TIER_LEAF, CNP_DSCP);
  spec->data_class = spec->ack_class = data;
  spec->cnp_class = cnp;
  spec->strict_mask = cnp == data ? 0 : (guint8)(1u << cnp);
  spec->pfc_mask = s->no_pfc ? 0 : s->pfc_priorities;
  spec->recovery = s->recovery;
  spec->dcqcn_on = s->profile != CSIM_PACKET_DCQCN_OFF;
  spec->dcqcn = dcqcn_profile(s, m);
  lay_rp(s, &spec->dcqcn);
  spec->cnp_interval = cnp_interval(s);
  spec->pause_response = s->response >= 0 ? s->response : csim_pkt_quanta_time(m->nic, csim_pkt_response_quanta(m->nic));
}

/* Off unless asked for, as fabrics come. */
static void ib_spec(const CsimPacketSettings *s, CsimPktSpec *spec) {
  spec->ibcc_on = s->ibcc_on;
  spec->ibcc = s->ibcc;
  if (s->ibcc_on) spec->cnp_interval = 0; /* a BECN for every FECN */
}

/* --- switches ----------------------------------------------------------------- */

static CsimBytes level(const CsimPacketLevel *l, CsimBytes share) {
  return l->share >= 0 ? (CsimBytes)(l->share * (double)share) : l->bytes;
}

static guint n_lossless(const CsimPacketSettings *s) { return s->no_pfc ? 0 : (guint)__builtin_popcount(s->pfc_priorities); }

/* With what is still inside the switch, on its way to the place where it is counted. */
static CsimBytes headroom_needed(const CsimPacketMachine *m, const CsimPktSpec *spec, CsimPacketTier tier) {
  CsimRate rate = MAX(m->nic, m->link);
  int quanta = (int)ceil((double)spec->pause_response / (double)csim_pkt_quanta_time(rate, 1));
  CsimBytes inside = (CsimBytes)ceil((double)rate * (double)m->latency * 1e-12);
  return inside + csim_pkt_headroom(rate, m->delay[tier], quanta, csim_pkt_wire(spec->kind, csim_pkt_data_frame(spec->kind, spec->mtu, TRUE)));
}

/* What a port holds of the buffer once all headroom is set aside. */
static CsimBytes port_share(const CsimPacketSettings *s, const CsimPacketMachine *m, CsimBytes buffer, CsimBytes headroom) {
  return MAX(0, buffer - (CsimBytes)m->ports * n_lossless(s) * headroom) / MAX(m->ports, 1);
}

static guint8 lossy_classes(const CsimPacketSettings *s, const CsimPktSpec *spec, CsimPacketTier tier, int dscp) {
  return csim_packet_is_lossless(s, tier, dscp) ? 0 : (guint8)(1u << spec->data_class);
}

static void roce_switch(const CsimPacketSettings *s, const CsimPacketMachine *m, const CsimPacketOptions *o, CsimBytes buffer, CsimPacketTier tier,
                        CsimPacketPlan *plan) {
  CsimPktSwitch *sw = &plan->tier[tier];
  plan->needed_headroom[tier] = headroom_needed(m, &plan->spec, tier);
  sw->headroom = s->headroom.given ? s->headroom.bytes : plan->needed_headroom[tier];
  CsimBytes share = port_share(s, m, buffer, sw->headroom);
  if (tier == CSIM_TIER_LEAF) plan->share = share;
  sw->buffer = share * m->ports;
  sw->reserve = s->no_pfc ? 0 : MIN(s->reserve, share);
  sw->alpha = s->xoff.given ? 0 : s->alpha;
  sw->xoff = level(&s->xoff, share);
  sw->xon_gap = s->xon.given ? MAX(0, sw->xoff - level(&s->xon, share)) : XON_GAP;
  sw->lossy_alpha = 1;
  sw->ecn_min = level(&s->ecn_min, share);
  sw->ecn_max = level(&s->ecn_max, share);
  sw->ecn_pmax = s->ecn_pmax;
  sw->ecn_mask = s->no_ecn ? 0 : (guint8)(1u << plan->spec.data_class);
  sw->watchdog = s->watchdog;
  sw->lossy_mask = lossy_classes(s, &plan->spec, tier, data_dscp(s, o));
  if (s->tier[tier].mtu > 0) sw->max_frame = csim_pkt_data_frame(CSIM_PKT_ROCE, csim_pkt_roce_mtu(s->tier[tier].mtu), TRUE);
}

static gboolean check_levels(const CsimPacketSettings *s, const CsimPktSwitch *sw, CsimBytes share, GError **error) {
  if (s->xon.given && level(&s->xon, share) > sw->xoff)
    csim_error_set(error, CSIM_ERROR_VALUE, s->xon.loc, "XON is above XOFF; allowed: at most XOFF");
  else if (sw->ecn_min > sw->ecn_max)
    csim_error_set(error, CSIM_ERROR_VALUE, s->ecn_min.loc, "ECN's min is above its max; allowed: at most max");
  else
    return TRUE;
  return FALSE;
}

/* --- transports without PFC --------------------------------------------------- */

/* Bytes that fill a quiet path between the two farthest adapters and back. */
static double quiet_product(const CsimPacketMachine *m, const CsimPktSpec *spec) {
  CsimTime way = 0;
  for (guint t = 0; t < MAX(m->tiers, 1); t++) way += 2 * m->delay[t] + (t == 0 ? 1 : 2) * m->latency;
  int frame = csim_pkt_wire(spec->kind, csim_pkt_data_frame(spec->kind, spec->mtu, TRUE));
  return (double)m->nic * 1e-12 * (double)(2 * way) + 2.0 * frame;
}

/* A connection has so many quiet products under way, and is acknowledged often enough not to wait for it. */
static void limit_flight(const CsimPacketMachine *m, double products, CsimPktSpec *spec) {
  spec->window = MAX((int64_t)ceil(products * quiet_product(m, spec) / spec->mtu), 4);
  spec->ack_every = (int)CLAMP(spec->window / 4, 1, spec->ack_every);
}

static void lossy_spec(CsimPktSpec *spec) {
  spec->data_class = spec->ack_class = spec->cnp_class = 0;
  spec->strict_mask = spec->pfc_mask = 0;
  spec->dcqcn_on = FALSE;
}

static void tcp_spec(const CsimPacketSettings *s, const CsimPacketMachine *m, CsimPktSpec *spec) {
  lossy_spec(spec);
  spec->tcp = s->tcp;
  spec->tcp.window = csim_tcp_window(s->send_buffer, s->receive_buffer);
  spec->tcp.send_buffer = s->send_buffer;
  spec->tcp.ack_delay = m->endpoint;
}

static void srd_spec(const CsimPacketMachine *m, const CsimCatalogue *c, CsimPktSpec *spec) {
  lossy_spec(spec);
  spec->recovery = CSIM_PKT_SELECTIVE;
  spec->ack_timeout = csim_catalogue_time(c, "efa.resend");
  limit_flight(m, csim_catalogue_number(c, "efa.inflight"), spec);
}

static void lossy_switch(const CsimPacketSettings *s, const CsimPacketMachine *m, CsimBytes buffer, CsimPktSwitch *sw) {
  sw->buffer = s->queue > 0 ? s->queue * m->ports : buffer;
  sw->queue = s->queue;
  sw->lossy_alpha = 1;
}

static void set_transport(const CsimPacketSettings *s, const CsimPacketMachine *m, const CsimPacketOptions *o, const CsimCatalogue *c, CsimPktSpec *spec) {
  switch (m->kind) {
  case CSIM_PKT_ROCE: roce_spec(s, m, o, spec); break;
  case CSIM_PKT_IB: ib_spec(s, spec); break;
  case CSIM_PKT_SLINGSHOT: limit_flight(m, csim_catalogue_number(c, "slingshot.inflight"), spec); break;
  case CSIM_PKT_SRD: srd_spec(m, c, spec); break;
  case CSIM_PKT_TCP: tcp_spec(s, m, spec); break;
  }
}

static void set_switch(const CsimPacketSettings *s, const CsimPacketMachine *m, const CsimPacketOptions *o, const CsimCatalogue *c, CsimPacketTier tier,
                       CsimPacketPlan *plan) {
  if (m->kind == CSIM_PKT_ROCE) roce_switch(s, m, o, buffer_of(s, c), tier, plan);
  else if (!csim_pkt_has_credits(m->kind)) lossy_switch(s, m, buffer_of(s, c), &plan->tier[tier]);
  plan->tier[tier].latency = m->latency;
  plan->tier[tier].cut_through = TRUE;
}

gboolean csim_packet_plan(const CsimPacketSettings *s, const CsimPacketMachine *m, const CsimPacketOptions *o, const CsimCatalogue *c,
                          CsimPacketPlan *plan, GError **error) {
  *plan = (CsimPacketPlan){.spec = csim_pkt_has_credits(m->kind) ? csim_pkt_spec_ib() : csim_pkt_spec_roce()};
  CsimPktSpec *spec = &plan->spec;
  if (!check_preset(c, "asic", s->asic, s->asic_loc, error) || !check_preset(c, "adapter", s->adapter, s->adapter_loc, error) ||
      !check_kind(c, s, m->kind, error) || !payload(m, c, &spec->mtu, error))
    return FALSE;
  spec->kind = m->kind;
  spec->seed = o->seed;
  spec->ack_timeout = csim_pkt_ack_timeout(o->timeout);
  spec->retry_count = o->retry_count;
  double messages = message_rate(s, m, c);
  if (messages > 0) spec->message_gap = (CsimTime)(CSIM_S / messages);
  if (s->vl_buffer > 0) spec->vl_buffer = s->vl_buffer;
  if (s->turnaround >= 0) spec->credit_turnaround = s->turnaround;
  set_transport(s, m, o, c, spec);
  for (guint t = 0; t < CSIM_N_TIERS; t++) set_switch(s, m, o, c, (CsimPacketTier)t, plan);
  return m->kind != CSIM_PKT_ROCE || check_levels(s, &plan->tier[0], plan->share, error);
}
