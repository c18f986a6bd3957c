/* topo/packet-json.c - "switch", "adapter", "roce", "ib", "tcp" and "loss" of a cluster's fabric. */
#include "base/units.h"
#include "topo/packet-settings.h"

#include <string.h>

#define MAX_TCP_WINDOW (8 << 20)
#define MAX_LEVEL (CsimBytes)(INT64_C(1) << 34)

static gboolean is_false(const CsimJson *value) {
  return value && csim_json_type(value) == CSIM_JSON_BOOL;
}

/* false, or an object. NULL: absent or false. */
static CsimJson *object_or_false(CsimJson *parent, const char *name, gboolean *off) {
  CsimJson *value = csim_json_get(parent, name, CSIM_JSON_OPTIONAL);
  gboolean on = TRUE;
  if (!value) return NULL;
  if (is_false(value)) {
    csim_json_as_bool(value, &on);
    *off = !on;
    return NULL;
  }
  *off = FALSE;
  return csim_json_is(value, CSIM_JSON_OBJECT) ? value : NULL;
}

static void read_preset(CsimJson *fabric, const char *name, const char **out, CsimLoc *loc) {
  const char *text = NULL;
  if (!csim_json_text(fabric, name, CSIM_JSON_OPTIONAL, &text)) return;
  *out = g_intern_string(text);
  *loc = csim_json_loc(csim_json_get(fabric, name, CSIM_JSON_OPTIONAL));
}

/* "70%" or "96KiB". */
static void read_level(CsimJson *object, const char *name, CsimPacketLevel *level) {
  CsimJson *value = csim_json_get(object, name, CSIM_JSON_OPTIONAL);
  const char *text = NULL;
  if (!value || !csim_json_as_text(value, &text)) return;
  *level = (CsimPacketLevel){.given = TRUE, .share = -1, .loc = csim_json_loc(value)};
  char *end = NULL;
  double percent = g_ascii_strtod(text, &end);
  g_autoptr(GError) error = NULL;
  if (end != text && strcmp(end, "%") == 0 && percent >= 0 && percent <= 100)
    level->share = percent / 100;
  else if (!csim_bytes_parse(text, &level->bytes, &error) || level->bytes < 0 || level->bytes > MAX_LEVEL)
    csim_json_error(value, CSIM_ERROR_VALUE, "'%.40s' is no level; allowed: bytes (96KiB) or 0%% to 100%% of a port's share of the buffer", text);
}

/* "5%" or a number from 0 to 1. */
static void read_share(CsimJson *object, const char *name, double *share) {
  CsimJson *value = csim_json_get(object, name, CSIM_JSON_OPTIONAL);
  if (!value) return;
  if (csim_json_type(value) == CSIM_JSON_NUMBER) {
    csim_json_as_double(value, 0, 1, share);
    return;
  }
  const char *text = NULL;
  char *end = NULL;
  if (!csim_json_as_text(value, &text)) return;
  double percent = g_ascii_strtod(text, &end);
  if (end == text || strcmp(end, "%") != 0 || percent < 0 || percent > 100)
    csim_json_error(value, CSIM_ERROR_VALUE, "'%.40s' is no share; allowed: 0%% to 100%%, or a number from 0 to 1", text);
  else
    *share = percent / 100;
}

/* {"26": 3, "48": 6} */
static void read_priorities(CsimJson *map, gint8 *priority_of) {
  for (CsimJson *v = csim_json_first(map); v; v = csim_json_next(v)) {
    gint64 dscp = 0, priority = 0;
    if (!g_ascii_string_to_signed(csim_json_key(v), 10, 0, 63, &dscp, NULL))
      csim_json_error(v, CSIM_ERROR_VALUE, "'%.40s' is no DSCP; allowed: \"0\" to \"63\"", csim_json_key(v));
    else if (csim_json_as_int(v, 0, CSIM_PKT_CLASSES - 1, &priority))
      priority_of[dscp] = (gint8)priority;
  }
}

static void read_pfc(CsimJson *roce, CsimPacketSettings *s) {
  CsimJson *pfc = object_or_false(roce, "pfc", &s->no_pfc);
  if (!pfc) return;
  CsimJson *list = csim_json_array(pfc, "priorities", CSIM_JSON_OPTIONAL);
  if (list) s->pfc_priorities = 0;
  for (CsimJson *v = csim_json_first(list); v; v = csim_json_next(v)) {
    int64_t priority = 0;
    if (csim_json_as_int(v, 0, CSIM_PKT_CLASSES - 1, &priority)) s->pfc_priorities |= (guint8)(1u << priority);
  }
  read_level(pfc, "xoff", &s->xoff);
  read_level(pfc, "xon", &s->xon);
  csim_json_double(pfc, "alpha", CSIM_JSON_OPTIONAL, 1.0 / 256, 128, &s->alpha);
  if (csim_json_bytes(pfc, "headroom", CSIM_JSON_OPTIONAL, &s->headroom.bytes)) {
    s->headroom.given = TRUE;
    s->headroom.loc = csim_json_loc(csim_json_get(pfc, "headroom", CSIM_JSON_OPTIONAL));
  }
  csim_json_bytes(pfc, "reserve", CSIM_JSON_OPTIONAL, &s->reserve);
  csim_json_time(pfc, "response", CSIM_JSON_OPTIONAL, &s->response);
  csim_json_time(pfc, "watchdog", CSIM_JSON_OPTIONAL, &s->watchdog);
  if (s->xon.given && !s->xoff.given)
    csim_json_error(pfc, CSIM_ERROR_SCHEMA, "xon without xoff; allowed: both, or alpha (dynamic thresholds) alone");
}

static void read_ecn(CsimJson *roce, CsimPacketSettings *s) {
  CsimJson *ecn = object_or_false(roce, "ecn", &s->no_ecn);
  if (!ecn) return;
  read_level(ecn, "min", &s->ecn_min);
  read_level(ecn, "max", &s->ecn_max);
  read_share(ecn, "pmax", &s->ecn_pmax);
}

typedef enum { AS_NUMBER, AS_TIME, AS_BYTES, AS_RATE } RpUnit;
/* NVIDIA's names: mlxconfig's and sysfs's in small letters (DOCA "DCQCN CC Parameters"). */
static const struct {
  const char *name;
  CsimPacketRp which;
  RpUnit unit;
  double min, max;
} rp_names[] = {
    {"dce_tcp_g", CSIM_RP_G, AS_NUMBER, 1, 1023},
    {"initial_alpha_value", CSIM_RP_INITIAL_ALPHA, AS_NUMBER, 0, 1024},
    {"dce_tcp_rtt", CSIM_RP_ALPHA_PERIOD, AS_TIME, 0, 0},
    {"rate_reduce_monitor_period", CSIM_RP_CUT_PERIOD, AS_TIME, 0, 0},
    {"rpg_time_reset", CSIM_RP_TIMER, AS_TIME, 0, 0},
    {"rpg_byte_reset", CSIM_RP_BYTES, AS_BYTES, 0, 0},
    {"rpg_threshold", CSIM_RP_THRESHOLD, AS_NUMBER, 1, 31},
    {"rpg_ai_rate", CSIM_RP_AI, AS_RATE, 0, 0},
    {"rpg_hai_rate", CSIM_RP_HAI, AS_RATE, 0, 0},
    {"rpg_min_rate", CSIM_RP_MIN_RATE, AS_RATE, 0, 0},
    {"rpg_min_dec_fac", CSIM_RP_MIN_FACTOR, AS_NUMBER, 0, 100},
    {"clamp_tgt_rate", CSIM_RP_CLAMP, AS_NUMBER, 0, 1},
    {"min_time_between_cnps", CSIM_RP_CNP_INTERVAL, AS_TIME, 0, 0},
};

static gboolean read_rp_value(CsimJson *dcqcn, guint i, double *out) {
  const char *name = rp_names[i].name;
  CsimTime time = 0;
  CsimBytes bytes = 0;
  CsimRate rate = 0;
  gboolean have = FALSE;
  switch (rp_names[i].unit) {
  case AS_NUMBER: return csim_json_double(dcqcn, name, CSIM_JSON_OPTIONAL, rp_names[i].min, rp_names[i].max, out);
  case AS_TIME:
    have = csim_json_time(dcqcn, name, CSIM_JSON_OPTIONAL, &time);
    *out = (double)time;
    break;
  case AS_BYTES:
    have = csim_json_bytes(dcqcn, name, CSIM_JSON_OPTIONAL, &bytes);
    *out = (double)bytes;
    break;
  case AS_RATE:
    have = csim_json_rate(dcqcn, name, CSIM_JSON_OPTIONAL, &rate);
    *out = (double)rate;
    break;
  }
  return have;
}

static void read_dcqcn(CsimJson *roce, CsimPacketSettings *s) {
  static const char *const profiles[] = {"connectx", "paper", "hpcc", NULL};
  gboolean off = FALSE;
  int profile = (int)s->profile;
  CsimJson *dcqcn = object_or_false(roce, "dcqcn", &off);
  if (off) s->profile = CSIM_PACKET_DCQCN_OFF;
  if (!dcqcn) return;
  if (csim_json_choice(dcqcn, "profile", CSIM_JSON_OPTIONAL, profiles, &profile)) s->profile = (CsimPacketDcqcn)profile;
  for (guint i = 0; i < G_N_ELEMENTS(rp_names); i++) {
    double value = 0;
    if (!read_rp_value(dcqcn, i, &value)) continue;
    s->rp[rp_names[i].which] = value;
    s->rp_given |= 1u << rp_names[i].which;
  }
}

static void read_tier(CsimJson *roce, CsimPacketTier which, CsimPacketSettings *s) {
  CsimPacketTierSettings *t = &s->tier[which];
  CsimJson *tier = csim_json_object(roce, csim_packet_tier_name(which), CSIM_JSON_OPTIONAL);
  int64_t mtu = 0;
  gboolean pfc = TRUE;
  if (!tier) return;
  if (csim_json_int(tier, "mtu", CSIM_JSON_OPTIONAL, 352, 65536, &mtu)) {
    t->mtu = (int)mtu;
    t->mtu_loc = csim_json_loc(csim_json_get(tier, "mtu", CSIM_JSON_OPTIONAL));
  }
  if (csim_json_bool(tier, "pfc", CSIM_JSON_OPTIONAL, &pfc)) {
    t->no_pfc = !pfc;
    t->pfc_loc = csim_json_loc(csim_json_get(tier, "pfc", CSIM_JSON_OPTIONAL));
  }
  CsimJson *map = csim_json_object(tier, "priority_of_dscp", CSIM_JSON_OPTIONAL);
  t->priority_loc = csim_json_loc(map);
  read_priorities(map, t->priority_of);
}

static void read_roce(CsimJson *roce, CsimPacketSettings *s) {
  static const char *const recoveries[] = {"go-back-n", "go-back-0", "selective", NULL};
  int recovery = (int)s->recovery;
  int64_t dscp = s->dscp;
  s->roce_loc = csim_json_loc(roce);
  csim_json_int(roce, "dscp", CSIM_JSON_OPTIONAL, 0, 63, &dscp);
  s->dscp = (int)dscp;
  read_priorities(csim_json_object(roce, "priority_of_dscp", CSIM_JSON_OPTIONAL), s->priority_of);
  csim_json_choice(roce, "recovery", CSIM_JSON_OPTIONAL, recoveries, &recovery);
  s->recovery = (CsimPktRecovery)recovery;
  read_pfc(roce, s);
  read_ecn(roce, s);
  read_dcqcn(roce, s);
  for (guint t = 0; t < CSIM_N_TIERS; t++) read_tier(roce, (CsimPacketTier)t, s);
}

static void read_table(CsimJson *control, CsimIbCc *cc) {
  double step = 0;
  guint n = 0;
  CsimJson *list = csim_json_array(control, "cct", CSIM_JSON_OPTIONAL);
  if (csim_json_double(control, "cct_step", CSIM_JSON_OPTIONAL, 0.125, 128, &step)) {
    CsimIbCc usual = csim_ibcc_usual(step);
    memcpy(cc->table, usual.table, sizeof cc->table);
    if (list) csim_json_error(list, CSIM_ERROR_SCHEMA, "a table and a step; allowed: one of them");
  }
  for (CsimJson *v = csim_json_first(list); v; v = csim_json_next(v)) {
    if (n == CSIM_IBCC_ENTRIES) {
      csim_json_error(v, CSIM_ERROR_VALUE, "more entries than a table has; allowed: %d", CSIM_IBCC_ENTRIES);
      return;
    }
    csim_json_as_double(v, 0, 16383, &cc->table[n++]);
  }
  for (guint i = n; n > 0 && i < CSIM_IBCC_ENTRIES; i++) cc->table[i] = cc->table[n - 1];
}

/* Names of the annex's attributes, in small letters. */
static void read_congestion_control(CsimJson *ib, CsimPacketSettings *s) {
  gboolean off = FALSE;
  CsimJson *control = object_or_false(ib, "congestion_control", &off);
  CsimIbCc *cc = &s->ibcc;
  if (!control) return;
  s->ibcc_on = TRUE;
  s->ibcc_loc = csim_json_loc(control);
  struct {
    const char *name;
    int max, *out;
  } numbers[] = {{"threshold", 15, &cc->threshold}, {"marking_rate", 65535, &cc->marking_rate}, {"ccti_increase", 127, &cc->increase},
                 {"ccti_limit", CSIM_IBCC_ENTRIES - 1, &cc->limit}, {"ccti_min", CSIM_IBCC_ENTRIES - 1, &cc->min}};
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
    int64_t value = *numbers[i].out;
    csim_json_int(control, numbers[i].name, CSIM_JSON_OPTIONAL, 0, numbers[i].max, &value);
    *numbers[i].out = (int)value;
  }
  csim_json_bool(control, "victim_mask", CSIM_JSON_OPTIONAL, &cc->victims);
  csim_json_time(control, "ccti_timer", CSIM_JSON_OPTIONAL, &cc->timer);
  read_table(control, cc);
  if (cc->timer < CSIM_IBCC_TICK) csim_json_error(control, CSIM_ERROR_VALUE, "ccti_timer below its unit; allowed: 1.024us to 67ms");
  if (cc->min > cc->limit) csim_json_error(control, CSIM_ERROR_VALUE, "ccti_min above ccti_limit; allowed: at most ccti_limit");
}

static void read_ib(CsimJson *ib, CsimPacketSettings *s) {
  read_congestion_control(ib, s);
  if (csim_json_bytes(ib, "vl_buffer", CSIM_JSON_OPTIONAL, &s->vl_buffer)) s->vl_loc = csim_json_loc(csim_json_get(ib, "vl_buffer", CSIM_JSON_OPTIONAL));
  if (s->vl_buffer > 2048 * CSIM_PKT_IB_BLOCK)
    csim_json_error(csim_json_get(ib, "vl_buffer", CSIM_JSON_OPTIONAL), CSIM_ERROR_VALUE, "more than credits can say; allowed: at most 128KiB a lane");
  csim_json_time(ib, "credit_turnaround", CSIM_JSON_OPTIONAL, &s->turnaround);
}

/* As Linux names them: tcp_congestion_control, tcp_wmem, tcp_rmem; the least time-out and the delay of ACKs are routes' rto_min and the kernel's. */
static void read_tcp(CsimJson *tcp, CsimPacketSettings *s) {
  static const char *const controls[] = {"cubic", "reno", "bbr", NULL};
  int control = (int)s->tcp.control;
  s->tcp_loc = csim_json_loc(tcp);
  if (csim_json_choice(tcp, "congestion_control", CSIM_JSON_OPTIONAL, controls, &control)) s->tcp.control = (CsimTcpControl)control;
  csim_json_bytes(tcp, "send_buffer", CSIM_JSON_OPTIONAL, &s->send_buffer);
  csim_json_bytes(tcp, "receive_buffer", CSIM_JSON_OPTIONAL, &s->receive_buffer);
  csim_json_bytes(tcp, "queue", CSIM_JSON_OPTIONAL, &s->queue);
  csim_json_time(tcp, "rto_min", CSIM_JSON_OPTIONAL, &s->tcp.min_rto);
  csim_json_time(tcp, "delayed_ack", CSIM_JSON_OPTIONAL, &s->tcp.delayed_ack);
  if (csim_tcp_window(s->send_buffer, s->receive_buffer) > MAX_TCP_WINDOW)
    csim_json_error(tcp, CSIM_ERROR_VALUE, "buffers for a window above what the model keeps; allowed: 8MiB at the sender or 16MiB at the receiver");
}

void csim_packet_settings_read(CsimJson *fabric, CsimPacketSettings *s) {
  CsimJson *roce = csim_json_object(fabric, "roce", CSIM_JSON_OPTIONAL), *ib = csim_json_object(fabric, "ib", CSIM_JSON_OPTIONAL);
  CsimJson *tcp = csim_json_object(fabric, "tcp", CSIM_JSON_OPTIONAL);
  read_preset(fabric, "switch", &s->asic, &s->asic_loc);
  read_preset(fabric, "adapter", &s->adapter, &s->adapter_loc);
  csim_json_double(fabric, "loss", CSIM_JSON_OPTIONAL, 0, 0.5, &s->loss);
  csim_json_double(fabric, "message_rate", CSIM_JSON_OPTIONAL, 1e3, 1e12, &s->message_rate);
  if (roce) read_roce(roce, s);
  if (ib) read_ib(ib, s);
  if (tcp) read_tcp(tcp, s);
  s->given = roce || ib || tcp || s->asic || s->adapter;
}
