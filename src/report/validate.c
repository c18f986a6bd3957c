/* report/validate.c - a validation as a table for people. */
#include "report/validate.h"

#include "base/units.h"
#include "report/report.h"
#include <math.h>
#include <string.h>

const char *csim_set_name(const CsimSetResult *result) {
  const char *name = result->set->facts[CSIM_FACT_NAME];
  return name ? name : "?";
}

char *csim_percent(double fraction, gboolean sign) {
  if (!isfinite(fraction)) return g_strdup("-");
  return g_strdup_printf(sign ? "%+.1f" : "%.1f", 100 * fraction);
}

const char *csim_set_remark(const CsimSetResult *result) {
  return result->skipped ? result->skipped : result->note;
}

static void cell(GString *out, double fraction, gboolean sign) {
  g_autofree char *text = csim_percent(fraction, sign);
  g_string_append_printf(out, " %7s", text);
}

static int name_width(const CsimValidation *v) {
  gsize width = 20;
  for (guint i = 0; i < v->sets->len; i++)
    width = MAX(width, strlen(csim_set_name((const CsimSetResult *)g_ptr_array_index(v->sets, i))));
  return (int)MIN(width, 60);
}

static void size_line(GString *out, const CsimSetResult *r, const CsimCompared *c) {
  g_autofree char *size = csim_size_text(c->measured.size);
  double measured = r->busbw_only ? c->measured.busbw_gbps : c->measured.time_us,
         predicted = r->busbw_only ? c->busbw_gbps : c->time_us;
  g_string_append_printf(out, "    %10s  %12.2f %12.2f %s %+7.1f %%  %s/%s, %d channels\n", size, measured,
                         predicted, r->busbw_only ? "GB/s" : "us  ", 100 * c->slower, csim_algo_name(c->algo),
                         c->algo == CSIM_ALGO_P2P ? "-" : csim_proto_name(c->proto), c->n_channels);
}

static void set_line(GString *out, const CsimSetResult *r, int width, gboolean verbose) {
  g_string_append_printf(out, "%-*.*s %-6s %4u", width, width, csim_set_name(r),
                         r->resolved->derive ? "derive" : "check", r->all.n);
  cell(out, r->all.median, FALSE);
  cell(out, r->all.p90, FALSE);
  cell(out, r->all.max, FALSE);
  cell(out, r->all.bias, TRUE);
  for (int c = 0; c < CSIM_N_CLASSES; c++) cell(out, r->by_class[c].median, FALSE);
  g_string_append_printf(out, "  %s%s%s%s\n", r->resolved->label, r->busbw_only ? " (busbw)" : "",
                         r->note ? "; " : "", r->note ? r->note : "");
  for (guint i = 0; verbose && i < r->rows->len; i++)
    size_line(out, r, &g_array_index(r->rows, CsimCompared, i));
}

static void kind_line(GString *out, const char *kind, const CsimKindSummary *s) {
  if (s->n_sets == 0) return;
  g_autofree char *median = csim_percent(s->median_error, FALSE),
                  *large = csim_percent(s->median_error_large, FALSE),
                  *p90 = csim_percent(s->p90_sets, FALSE);
  g_string_append_printf(out,
                         "# %s: %u sets, %u rows; median over sets of the median error %s %%, from 16 MiB %s "
                         "%%; 9 of 10 sets within %s %%\n",
                         kind, s->n_sets, s->n_rows, median, large, p90);
}

void csim_report_validation(GString *out, const CsimValidation *v, gboolean verbose) {
  int width = name_width(v);
  g_string_append_printf(out, "# errors in %%: |predicted / measured - 1|; bias: predicted time above (+) or "
                              "below (-) measured; S < 64 KiB <= M < 16 MiB <= L\n");
  g_string_append_printf(out, "%-*s %-6s %4s %7s %7s %7s %7s %7s %7s %7s  target\n", width, "# set", "kind",
                         "rows", "median", "p90", "max", "bias", "S", "M", "L");
  for (guint i = 0; i < v->sets->len; i++) {
    const CsimSetResult *r = (const CsimSetResult *)g_ptr_array_index(v->sets, i);
    if (!r->skipped || r->all.n > 0) set_line(out, r, width, verbose);
  }
  for (guint i = 0; i < v->sets->len; i++) {
    const CsimSetResult *r = (const CsimSetResult *)g_ptr_array_index(v->sets, i);
    if (r->skipped)
      g_string_append_printf(out, "%s %s: %s\n",
                             r->all.n > 0 ? "# not counted:" : "# left out:", csim_set_name(r), r->skipped);
  }
  kind_line(out, "check", &v->check);
  kind_line(out, "derive", &v->derive);
  g_string_append_printf(out, "# %u sets, %u left out; constants %08x\n", v->sets->len, v->n_skipped,
                         (guint)(v->catalogue_digest >> 32));
}
