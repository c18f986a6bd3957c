/* exp/validate-stats.c - errors of a set, and over sets. */
#include "exp/validate.h"

#include "base/stats.h"

#include <math.h>

#define KIB64 (INT64_C(64) << 10)
#define MIB16 (INT64_C(16) << 20)

CsimErrorStats csim_error_stats(const CsimCompared *rows, guint n, CsimBytes min, CsimBytes below) {
  g_autofree double *errors = g_new(double, n + 1), *slower = g_new(double, n + 1);
  CsimErrorStats stats = {0, NAN, NAN, NAN, NAN};
  for (guint i = 0; i < n; i++) {
    if (rows[i].measured.size < min || rows[i].measured.size >= below) continue;
    errors[stats.n] = rows[i].error;
    slower[stats.n++] = rows[i].slower;
  }
  if (stats.n == 0) return stats;
  stats.median = csim_median(errors, stats.n);
  stats.p90 = csim_sorted_percentile(errors, stats.n, 90);
  stats.max = errors[stats.n - 1];
  stats.bias = csim_median(slower, stats.n);
  return stats;
}

void csim_set_result_count(CsimSetResult *result) {
  static const CsimBytes edges[CSIM_N_CLASSES + 1] = {0, KIB64, MIB16, INT64_MAX};
  const CsimCompared *rows = (const CsimCompared *)(const void *)result->rows->data;
  result->all = csim_error_stats(rows, result->rows->len, 0, INT64_MAX);
  for (int c = 0; c < CSIM_N_CLASSES; c++)
    result->by_class[c] = csim_error_stats(rows, result->rows->len, edges[c], edges[c + 1]);
}

static CsimKindSummary summarise(const GPtrArray *sets, gboolean derive) {
  CsimKindSummary s = {0, 0, NAN, NAN, NAN};
  g_autofree double *medians = g_new(double, sets->len + 1), *large = g_new(double, sets->len + 1);
  guint n_large = 0;
  for (guint i = 0; i < sets->len; i++) {
    const CsimSetResult *r = (const CsimSetResult *)g_ptr_array_index(sets, i);
    if (r->skipped || r->resolved->derive != derive || r->all.n == 0) continue;
    medians[s.n_sets++] = r->all.median;
    s.n_rows += r->all.n;
    if (r->by_class[CSIM_CLASS_L].n > 0) large[n_large++] = r->by_class[CSIM_CLASS_L].median;
  }
  s.median_error = csim_median(medians, s.n_sets);
  s.median_error_large = csim_median(large, n_large);
  s.p90_sets = csim_sorted_percentile(medians, s.n_sets, 90);
  return s;
}

void csim_validation_summarise(CsimValidation *v) {
  v->check = summarise(v->sets, FALSE);
  v->derive = summarise(v->sets, TRUE);
  v->n_skipped = 0;
  for (guint i = 0; i < v->sets->len; i++)
    v->n_skipped += ((const CsimSetResult *)g_ptr_array_index(v->sets, i))->skipped != NULL;
}

gboolean csim_validation_within(const CsimValidation *v, double tolerance) {
  for (guint i = 0; i < v->sets->len; i++) {
    const CsimSetResult *r = (const CsimSetResult *)g_ptr_array_index(v->sets, i);
    if (!r->skipped && r->all.n > 0 && r->all.median > tolerance) return FALSE;
  }
  return TRUE;
}
