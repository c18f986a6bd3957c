/* The rows of a run against each other: S / t, the busbw factor, the average; and against the hardware. */
#include "exp/audit-private.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

/* --- ranges ---- */

AuditRange audit_range(CsimLogNumber number) {
  return (AuditRange){number.value - number.half, number.value + number.half};
}

AuditRange audit_divide(AuditRange a, AuditRange b) {
  return (AuditRange){MAX(a.lo, 0) / b.hi, b.lo > 0 ? a.hi / b.lo : INFINITY};
}

static AuditRange meet(AuditRange a, AuditRange b) {
  return (AuditRange){MAX(a.lo, b.lo), MIN(a.hi, b.hi)};
}

/* Beyond the printed digits: figures copied by hand are often rounded once more. No two things that we tell apart are so near. */
#define ROUNDED_AGAIN 5e-4

gboolean audit_overlap(AuditRange a, AuditRange b) {
  return a.lo <= b.hi * (1 + ROUNDED_AGAIN) && b.lo <= a.hi * (1 + ROUNDED_AGAIN);
}

double audit_apart(AuditRange a, AuditRange b) {
  if (audit_overlap(a, b)) return 1;
  return a.lo > b.hi ? a.lo / MAX(b.hi, 1e-12) : b.lo / MAX(a.hi, 1e-12);
}

/* --- factors ---- */

static gboolean holds(AuditRange ratio, double factor) {
  return audit_overlap(ratio, (AuditRange){factor, factor});
}

/* Names of the collectives whose factor for n ranks lies in the range; NULL if there are none. */
static char *fitting(AuditRange ratio, int n) {
  g_autoptr(GString) names = g_string_new(NULL);
  static const CsimColl order[] = {CSIM_COLL_ALL_REDUCE, CSIM_COLL_ALL_GATHER, CSIM_COLL_REDUCE_SCATTER,
                                   CSIM_COLL_ALLTOALL,   CSIM_COLL_GATHER,     CSIM_COLL_SCATTER,
                                   CSIM_COLL_BROADCAST,  CSIM_COLL_REDUCE,     CSIM_COLL_SENDRECV};
  for (guint i = 0; i < G_N_ELEMENTS(order); i++)
    if (holds(ratio, csim_busbw_factor(order[i], n)))
      g_string_append_printf(names, "%s%s", names->len ? ", " : "", csim_coll_name(order[i]));
  return names->len ? g_strdup(names->str) : NULL;
}

/* Ranks for which the ratio is the collective's; 0 if no whole number is. */
static int ranks_of_ratio(AuditRange ratio, CsimColl coll) {
  for (int n = 2; n <= 4096; n++)
    if (holds(ratio, csim_busbw_factor(coll, n))) return n;
  return 0;
}

static double middle(AuditRange ratio) {
  return isfinite(ratio.hi) ? (ratio.lo + ratio.hi) / 2 : ratio.lo;
}

char *audit_factor_text(AuditRange ratio, CsimColl stated, int n) {
  g_autoptr(GString) text = g_string_new(NULL);
  g_autofree char *names = n ? fitting(ratio, n) : NULL;
  if (names)
    g_string_append_printf(text, "factor %.4g is that of %s for %d ranks", middle(ratio), names, n);
  else if (n)
    g_string_append_printf(text, "factor %.4g is no collective's for %d ranks", middle(ratio), n);
  else
    g_string_append_printf(text, "factor %.4g", middle(ratio));
  if (stated == CSIM_N_COLLS) return g_strdup(text->str);
  if (n) g_string_append_printf(text, "; %s's is %.4g", csim_coll_name(stated), csim_busbw_factor(stated, n));
  int fits = ranks_of_ratio(ratio, stated);
  if (fits && fits != n)
    g_string_append_printf(text, "%s %s's for %d ranks", n ? ", and that factor would be" : " would be",
                           csim_coll_name(stated), fits);
  return g_strdup(text->str);
}

/* --- one side of a row ---- */

typedef struct {
  const AuditContext *c;
  const CsimLogRun *run;
  AuditRange ratio; /* what all rows leave for busbw / algbw */
  CsimAuditFinding *bandwidth, *factor, *wrong, *early;
  CsimLoc
      fastest_loc; /* the row that asks most of the hardware, as algbw over what latency-free hardware gives */
  double fastest_algbw;
  char *fastest_text;
  double busbw_sum, busbw_half;
  guint busbw_n;
} Check;

/* Keeps the gravest of a kind: a later, graver one takes the place of the text. */
static void keep(Check *k, CsimAuditFinding **slot, CsimAuditTopic topic, CsimLoc loc, double factor,
                 char *text) {
  g_autofree char *owned = text;
  if (!*slot) {
    *slot = csim_audit_find(k->c->audit, topic, loc, "%s", owned);
    (*slot)->factor = factor;
    return;
  }
  (*slot)->more++;
  if (factor <= (*slot)->factor) return;
  g_free((*slot)->text);
  (*slot)->text = g_steal_pointer(&owned);
  (*slot)->loc = loc;
  (*slot)->factor = factor;
}

/* The bytes that nccl-tests divides by the time: hypercube leaves a rank's own block out. */
static double moved_bytes(const AuditContext *c, const CsimLogRow *row) {
  gboolean less = c->coll == CSIM_COLL_HYPERCUBE && c->ranks > 1;
  return less ? (double)row->size * (c->ranks - 1) / c->ranks : (double)row->size;
}

static void check_bandwidth(Check *k, const CsimLogRow *row, const CsimLogSide *side, const char *which) {
  if (isnan(side->time_us.value) || isnan(side->algbw.value) || side->time_us.value <= 0) return;
  double bytes = moved_bytes(k->c, row);
  AuditRange computed = audit_divide((AuditRange){bytes * 1e-3, bytes * 1e-3}, audit_range(side->time_us));
  double apart = audit_apart(computed, audit_range(side->algbw));
  if (apart <= 1) return;
  keep(k, &k->bandwidth, CSIM_AUDIT_ARITHMETIC, row->loc, apart,
       g_strdup_printf("%s: %.0f bytes in %.6g us are %.5g GB/s, but algbw says %.6g: %.3g times apart",
                       which, bytes, side->time_us.value, bytes * 1e-3 / side->time_us.value,
                       side->algbw.value, apart));
}

static void check_factor(Check *k, const CsimLogRow *row, const CsimLogSide *side, const char *which) {
  if (isnan(side->algbw.value) || isnan(side->busbw.value)) return;
  AuditRange ratio = audit_divide(audit_range(side->busbw), audit_range(side->algbw));
  k->ratio = meet(k->ratio, ratio);
  k->busbw_sum += side->busbw.value;
  k->busbw_half += side->busbw.half;
  k->busbw_n++;
  if (k->c->coll == CSIM_N_COLLS || k->c->ranks < 2) return;
  double factor = csim_busbw_factor(k->c->coll, k->c->ranks);
  if (holds(ratio, factor)) return;
  g_autofree char *text = audit_factor_text(ratio, k->c->coll, k->c->ranks);
  keep(k, &k->factor, CSIM_AUDIT_ARITHMETIC, row->loc, audit_apart(ratio, (AuditRange){factor, factor}),
       g_strdup_printf("%s: busbw %.6g is not algbw %.6g times the factor of %s: %s", which,
                       side->busbw.value, side->algbw.value, csim_coll_name(k->c->coll), text));
}

static void check_wrong(Check *k, const CsimLogRow *row, const CsimLogSide *side, const char *which) {
  /* Older versions print the largest error here, far below 1 when all is well. */
  if (isnan(side->wrong) || side->wrong < 1) return;
  keep(k, &k->wrong, CSIM_AUDIT_RESULT, row->loc, side->wrong,
       g_strdup_printf("%s: %g wrong values: the data is corrupt, the times mean nothing", which,
                       side->wrong));
}

/* Shortest published times of a call in which every rank needs every other's data: 5.1 us on one node (2 H100, CUDA graphs), 18.3 us on
 * several (2 nodes of GH200); nccl-tests figures up to 2026. The margin is assumed: what is a little faster may be new hardware. */
#define SHORTEST_ONE_NODE_US 5.1
#define SHORTEST_NODES_US 18.3
#define SHORTEST_MARGIN 0.8

static gboolean needs_everybody(CsimColl coll) {
  return coll == CSIM_COLL_ALL_REDUCE || coll == CSIM_COLL_ALL_GATHER || coll == CSIM_COLL_REDUCE_SCATTER;
}

static void check_early(Check *k, const CsimLogRow *row, const CsimLogSide *side, const char *which) {
  gboolean nodes = k->c->hw && k->c->hw->nodes > 1;
  double best = nodes ? SHORTEST_NODES_US : SHORTEST_ONE_NODE_US,
         t = side->time_us.value + side->time_us.half;
  if (!needs_everybody(k->c->coll) || k->c->ranks < 2 || row->size == 0 || isnan(t) ||
      t >= SHORTEST_MARGIN * best)
    return;
  keep(k, &k->early, CSIM_AUDIT_LIMIT, row->loc, best / MAX(side->time_us.value, 1e-3),
       g_strdup_printf("%s: %.6g us; the shortest published call on %s took %.1f us", which,
                       side->time_us.value, nodes ? "several nodes" : "one node", best));
}

/* The row that is hardest to believe for the limits, which all grow with the size: the one of most algbw. */
static void note_fastest(Check *k, const CsimLogRow *row, const CsimLogSide *side, const char *which) {
  if (isnan(side->time_us.value) || row->size == 0) return;
  double algbw = moved_bytes(k->c, row) * 1e-3 / (side->time_us.value + side->time_us.half);
  if (algbw <= k->fastest_algbw) return;
  char size[CSIM_UNIT_BUF];
  k->fastest_algbw = algbw;
  k->fastest_loc = row->loc;
  g_free(k->fastest_text);
  k->fastest_text =
      g_strdup_printf("%s: %s in %.6g us", which, csim_bytes_format(row->size, size), side->time_us.value);
}

static void check_side(Check *k, const CsimLogRow *row, const CsimLogSide *side, const char *which) {
  check_bandwidth(k, row, side, which);
  check_factor(k, row, side, which);
  check_wrong(k, row, side, which);
  check_early(k, row, side, which);
  note_fastest(k, row, side, which);
}

/* --- a run ---- */

static void check_average(Check *k) {
  const CsimLogRun *run = k->run;
  if (isnan(run->avg_busbw.value) || !k->busbw_n) return;
  double mean = k->busbw_sum / k->busbw_n, half = k->busbw_half / k->busbw_n;
  AuditRange rows = {mean - half, mean + half};
  double apart = audit_apart(audit_range(run->avg_busbw), rows);
  if (apart <= 1) return;
  csim_audit_find(
      k->c->audit, CSIM_AUDIT_ARITHMETIC, run->avg_loc,
      "average busbw %.6g is not that of the %u values above, %.6g: rows are missing, or one was changed",
      run->avg_busbw.value, k->busbw_n, mean)
      ->factor = apart;
}

/* What the factor says about a run that names no collective, or no number of ranks. */
static void tell_factor(const Check *k) {
  const AuditContext *c = k->c;
  gboolean bounded = k->ratio.lo <= k->ratio.hi && isfinite(k->ratio.hi) && k->ratio.hi - k->ratio.lo < 0.02;
  if (!bounded || (c->coll != CSIM_N_COLLS && c->ranks)) return;
  g_autofree char *text = audit_factor_text(k->ratio, c->coll, c->ranks);
  if (c->coll == CSIM_N_COLLS || ranks_of_ratio(k->ratio, c->coll))
    csim_audit_fact(c->audit, "busbw / algbw: %s", text);
  else
    csim_audit_find(c->audit, CSIM_AUDIT_ARITHMETIC, k->run->loc,
                    "busbw / algbw: %s; that is %s's for no number of ranks", text, csim_coll_name(c->coll));
}

/* Two ranks on one GPU: mpirun -np 16 with -g 8 is 128 ranks. */
static void check_devices(const Check *k) {
  const GArray *devices = k->run->devices;
  for (guint i = 0; i < MIN(devices->len, 4096); i++) {
    const CsimLogDevice *a = &g_array_index(devices, CsimLogDevice, i);
    for (guint j = 0; j < i && *a->bus; j++) {
      const CsimLogDevice *b = &g_array_index(devices, CsimLogDevice, j);
      if (strcmp(a->bus, b->bus) != 0 || strcmp(a->host, b->host) != 0) continue;
      csim_audit_find(
          k->c->audit, CSIM_AUDIT_RESULT, k->run->loc,
          "ranks %d and %d share the GPU %s of %s; ranks are processes x threads (-t) x GPUs (-g)", b->rank,
          a->rank, a->bus, a->host);
      return;
    }
  }
}

void audit_run(const AuditContext *c, const CsimLogRun *run) {
  Check k = {.c = c, .run = run, .ratio = {0, INFINITY}};
  for (guint i = 0; i < run->rows->len; i++) {
    const CsimLogRow *row = csim_log_row(run, i);
    if (row->has_out) check_side(&k, row, &row->out, "out of place");
    if (row->has_in) check_side(&k, row, &row->in, "in place");
  }
  if (k.fastest_text) audit_check_limits(c, k.fastest_loc, k.fastest_algbw, k.fastest_text);
  check_average(&k);
  check_devices(&k);
  tell_factor(&k);
  g_free(k.fastest_text);
}
