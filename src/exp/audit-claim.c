/* Claims: "all_reduce 8GB 0.9ms", "all_reduce algbw=98.7 busbw=86.4 ranks=8"; and what the limits say about a bandwidth. */
#include "exp/audit-private.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

/* --- limits ---- */

/* The catalogue's payload rates are fits to published peaks, which they meet within 3 %. */
#define PAYLOAD_TOLERANCE 1.03

static char *sharp_hint(const AuditContext *c, const CsimAuditLimit *limit) {
  if (limit->kind != CSIM_LIMIT_NIC || c->coll != CSIM_COLL_ALL_REDUCE || c->hw->sharp) return g_strdup("");
  if (limit->bytes <= 1) return g_strdup("");
  double busbw = csim_busbw_factor(c->coll, c->hw->ranks) * limit->hard * 1e-9;
  return g_strdup_printf("; SHARP would lift that to busbw %.4g", busbw);
}

static void report_limit(const AuditContext *c, CsimLoc loc, const CsimAuditLimit *limit, double algbw,
                         gboolean payload, const char *what) {
  double most = (payload ? limit->payload : limit->hard) / limit->bytes * 1e-9;
  g_autofree char *hint = sharp_hint(c, limit);
  CsimAuditFinding *f =
      csim_audit_find(c->audit, CSIM_AUDIT_LIMIT, loc,
                      "%s: %.3g times faster than %s allows%s: algbw at most %.4g, busbw %.4g GB/s%s", what,
                      algbw / most, limit->what, payload ? " after packet overheads" : "", most,
                      most * csim_busbw_factor(c->coll, c->hw->ranks), hint);
  f->factor = algbw / most;
  f->expected = most;
  f->seen = algbw;
}

void audit_check_limits(const AuditContext *c, CsimLoc loc, double algbw, const char *what) {
  if (!c->hw || c->coll == CSIM_N_COLLS) return;
  CsimAuditLimit limits[CSIM_N_LIMITS];
  guint n = csim_audit_limits(c->hw, c->coll, limits);
  for (guint i = 0; i < n; i++) {
    double hard = limits[i].hard / limits[i].bytes * 1e-9,
           payload = limits[i].payload / limits[i].bytes * 1e-9;
    if (limits[i].bytes > 0 && algbw > hard)
      report_limit(c, loc, &limits[i], algbw, FALSE, what);
    else if (limits[i].bytes > 0 && algbw > payload * PAYLOAD_TOLERANCE)
      report_limit(c, loc, &limits[i], algbw, TRUE, what);
    csim_audit_limit_clear(&limits[i]);
  }
}

/* --- reading ---- */

typedef struct {
  CsimColl coll;
  double size, time_us; /* NAN: not said */
  CsimLogNumber algbw, busbw;
  int ranks, nodes;
} Claim;

/* Numbers in prose are round: two digits. */
#define CLAIM_TOLERANCE 0.025

static CsimLogNumber prose(double value, double half) {
  return (CsimLogNumber){value, MAX(half, CLAIM_TOLERANCE * value)};
}

static gboolean refuse(GError **error, const char *word) {
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE,
              "claim: '%s' is not understood; allowed: a collective, a size (8GB, 8GiB, 8G), a time (0.9ms), "
              "algbw=GB/s, busbw=GB/s, ranks=N, nodes=N",
              word);
  return FALSE;
}

static gboolean read_bandwidth(const char *text, CsimLogNumber *out) {
  g_autofree char *number = g_strdup(text);
  char *unit = strstr(number, "GB/s");
  if (unit && !unit[4]) *unit = 0;
  return csim_log_number_parse(number, out) && out->value > 0;
}

static gboolean read_count(const char *text, int *out) {
  gint64 value;
  if (!g_ascii_string_to_signed(text, 10, 1, 1 << 24, &value, NULL)) return FALSE;
  *out = (int)value;
  return TRUE;
}

static gboolean read_named(const char *word, Claim *claim) {
  const char *value = strchr(word, '=') + 1;
  if (g_str_has_prefix(word, "algbw=")) return read_bandwidth(value, &claim->algbw);
  if (g_str_has_prefix(word, "busbw=")) return read_bandwidth(value, &claim->busbw);
  if (g_str_has_prefix(word, "ranks=")) return read_count(value, &claim->ranks);
  if (g_str_has_prefix(word, "nodes=")) return read_count(value, &claim->nodes);
  return FALSE;
}

static gboolean read_word(const char *word, Claim *claim) {
  CsimTime time;
  CsimBytes bytes;
  if (strchr(word, '=')) return read_named(word, claim);
  if (csim_coll_parse(word, &claim->coll)) return TRUE;
  if (csim_time_parse(word, &time, NULL) && time > 0) {
    claim->time_us = csim_time_us(time);
    return TRUE;
  }
  if ((!csim_bytes_parse(word, &bytes, NULL) && !csim_size_parse(word, &bytes, NULL)) || bytes <= 0)
    return FALSE;
  claim->size = (double)bytes;
  return TRUE;
}

static gboolean read_claim(const char *text, Claim *claim, GError **error) {
  g_auto(GStrv) words = g_strsplit_set(text, " \t\n,;", -1);
  for (char **word = words; *word; word++)
    if (**word && !read_word(*word, claim)) return refuse(error, *word);
  gboolean timed = !isnan(claim->size) && !isnan(claim->time_us);
  if (timed || !isnan(claim->algbw.value) || !isnan(claim->busbw.value)) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE,
              "claim: nothing to check in '%s'; give a size and a time, algbw= or busbw=", text);
  return FALSE;
}

/* --- checking ---- */

static AuditRange stretch(CsimLogNumber n) {
  return audit_range(prose(n.value, n.half));
}

/* size / time against algbw. */
static void check_algbw(const AuditContext *c, const Claim *claim, double computed) {
  if (isnan(computed) || isnan(claim->algbw.value)) return;
  AuditRange range = {computed * (1 - CLAIM_TOLERANCE), computed * (1 + CLAIM_TOLERANCE)};
  double apart = audit_apart(range, stretch(claim->algbw));
  if (apart <= 1) return;
  apart = MAX(computed, claim->algbw.value) / MIN(computed, claim->algbw.value);
  csim_audit_find(c->audit, CSIM_AUDIT_ARITHMETIC, CSIM_LOC_NONE,
                  "contradicts itself %.3g times: size over time is %.4g GB/s, algbw is given as %.4g", apart,
                  computed, claim->algbw.value)
      ->factor = apart;
}

/* size / time x factor against busbw. */
static void check_busbw(const AuditContext *c, const Claim *claim, double computed) {
  if (isnan(computed) || isnan(claim->busbw.value) || !isnan(claim->algbw.value) || c->ranks < 2) return;
  double busbw = computed * csim_busbw_factor(c->coll, c->ranks);
  AuditRange range = {busbw * (1 - CLAIM_TOLERANCE), busbw * (1 + CLAIM_TOLERANCE)};
  if (audit_overlap(range, stretch(claim->busbw))) return;
  double apart = MAX(busbw, claim->busbw.value) / MIN(busbw, claim->busbw.value);
  csim_audit_find(c->audit, CSIM_AUDIT_ARITHMETIC, CSIM_LOC_NONE,
                  "contradicts itself %.3g times: size over time is algbw %.4g, so busbw %.4g as %s on %d "
                  "ranks, but busbw is given as %.4g",
                  apart, computed, busbw, csim_coll_name(c->coll), c->ranks, claim->busbw.value)
      ->factor = apart;
}

static void check_ratio(const AuditContext *c, const Claim *claim) {
  if (isnan(claim->algbw.value) || isnan(claim->busbw.value)) return;
  AuditRange ratio = audit_divide(audit_range(claim->busbw), audit_range(claim->algbw));
  g_autofree char *text = audit_factor_text(ratio, c->coll, c->ranks);
  double factor = c->coll < CSIM_N_COLLS && c->ranks > 1 ? csim_busbw_factor(c->coll, c->ranks) : NAN;
  if (isnan(factor) || audit_overlap(ratio, (AuditRange){factor, factor})) {
    csim_audit_fact(c->audit, "busbw / algbw: %s", text);
    return;
  }
  csim_audit_find(c->audit, CSIM_AUDIT_ARITHMETIC, CSIM_LOC_NONE, "busbw %.4g over algbw %.4g is not %s: %s",
                  claim->busbw.value, claim->algbw.value, csim_coll_name(c->coll), text)
      ->factor = audit_apart(ratio, (AuditRange){factor, factor});
}

/* Each of the three ways in which a claim states a speed, for itself. */
static void check_speeds(const AuditContext *c, const Claim *claim, double computed) {
  if (!isnan(computed)) {
    char size_text[CSIM_UNIT_BUF], time_text[CSIM_UNIT_BUF];
    csim_bytes_format((CsimBytes)claim->size, size_text);
    csim_time_format(csim_time_from_us(claim->time_us), time_text);
    g_autofree char *what = g_strdup_printf("%s in %s", size_text, time_text);
    audit_check_limits(c, CSIM_LOC_NONE, computed, what);
  }
  if (!isnan(claim->algbw.value)) {
    g_autofree char *what = g_strdup_printf("algbw %.4g GB/s", claim->algbw.value);
    audit_check_limits(c, CSIM_LOC_NONE, claim->algbw.value - claim->algbw.half, what);
  }
  if (isnan(claim->busbw.value) || c->coll == CSIM_N_COLLS || c->ranks < 2) return;
  g_autofree char *what = g_strdup_printf("busbw %.4g GB/s", claim->busbw.value);
  audit_check_limits(c, CSIM_LOC_NONE,
                     (claim->busbw.value - claim->busbw.half) / csim_busbw_factor(c->coll, c->ranks), what);
}

static void check_claim(const AuditContext *c, const Claim *claim) {
  double computed = claim->size * 1e-3 / claim->time_us;
  check_algbw(c, claim, computed);
  check_busbw(c, claim, computed);
  check_ratio(c, claim);
  check_speeds(c, claim, computed);
}

static const CsimLogNumber unsaid = {NAN, 0};

gboolean csim_audit_claim(CsimAudit *audit, const CsimAuditSpec *spec, const char *text, GError **error) {
  Claim claim = {.coll = CSIM_N_COLLS, .size = NAN, .time_us = NAN, .algbw = unsaid, .busbw = unsaid};
  if (!read_claim(text, &claim, error) || !audit_collective(spec, claim.coll, &claim.coll, error))
    return FALSE;
  GError *wrong = NULL;
  g_autoptr(CsimAuditTarget) target =
      audit_load_target(spec, claim.ranks, claim.nodes, spec->overrides, &wrong);
  if (wrong) {
    g_propagate_error(error, wrong);
    return FALSE;
  }
  CsimAuditHardware hw = {0};
  if (target) hw = csim_audit_hardware(target, spec->sharp);
  AuditContext context = {audit, claim.coll, claim.ranks ? claim.ranks : hw.ranks, target ? &hw : NULL};
  if (target && claim.ranks && claim.ranks != hw.ranks)
    csim_audit_fact(audit, "the claim is about %d ranks, the target has %d: limits are those of the target",
                    claim.ranks, hw.ranks);
  audit->n_claims++;
  check_claim(&context, &claim);
  return TRUE;
}
