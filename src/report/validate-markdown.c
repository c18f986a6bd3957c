/* report/validate-markdown.c - docs/accuracy.md: the worst sets first, what is known about why, what was left out. */
#include "report/validate.h"

#include "collsim/version.h"
#include <inttypes.h>
#include <string.h>

/* --- order ---------------------------------------------------------------------- */

static int by_error(gconstpointer a, gconstpointer b) {
  const CsimSetResult *x = *(const CsimSetResult *const *)a, *y = *(const CsimSetResult *const *)b;
  if (x->all.median != y->all.median) return x->all.median > y->all.median ? -1 : 1;
  return strcmp(csim_set_name(x), csim_set_name(y));
}

static int by_reason(gconstpointer a, gconstpointer b) {
  const CsimSetResult *x = *(const CsimSetResult *const *)a, *y = *(const CsimSetResult *const *)b;
  int order = strcmp(x->skipped, y->skipped);
  return order ? order : strcmp(csim_set_name(x), csim_set_name(y));
}

static GPtrArray *counted(const CsimValidation *v, gboolean derive) {
  GPtrArray *out = g_ptr_array_new();
  for (guint i = 0; i < v->sets->len; i++) {
    CsimSetResult *r = (CsimSetResult *)g_ptr_array_index(v->sets, i);
    if (!r->skipped && r->resolved->derive == derive && r->all.n > 0) g_ptr_array_add(out, r);
  }
  g_ptr_array_sort(out, by_error);
  return out;
}

/* --- lines ---------------------------------------------------------------------- */

static void cell(GString *out, double fraction, gboolean sign) {
  g_autofree char *text = csim_percent(fraction, sign);
  g_string_append_printf(out, " %s |", text);
}

static void set_line(GString *out, const CsimSetResult *r) {
  g_string_append_printf(out, "| %s | %s%s | %u |", csim_set_name(r), r->resolved->label,
                         r->busbw_only ? " (busbw)" : "", r->all.n);
  cell(out, r->all.median, FALSE);
  cell(out, r->all.p90, FALSE);
  cell(out, r->all.max, FALSE);
  cell(out, r->all.bias, TRUE);
  for (int c = 0; c < CSIM_N_CLASSES; c++) cell(out, r->by_class[c].median, FALSE);
  const char *why = r->resolved->why, *note = r->note;
  g_string_append_printf(out, " %s%s%s |\n", note ? note : "", note && why ? "; " : "", why ? why : "");
}

static void table(GString *out, const char *title, const GPtrArray *sets) {
  g_string_append_printf(out,
                         "\n## %s\n\n| set | target | rows | median | p90 | max | bias | S | M | L | what is "
                         "known |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
                         title);
  for (guint i = 0; i < sets->len; i++) set_line(out, (const CsimSetResult *)g_ptr_array_index(sets, i));
}

static void kind_line(GString *out, const char *kind, const CsimKindSummary *s) {
  g_string_append_printf(out, "| %s | %u | %u |", kind, s->n_sets, s->n_rows);
  cell(out, s->median_error, FALSE);
  cell(out, s->median_error_large, FALSE);
  cell(out, s->p90_sets, FALSE);
  g_string_append_c(out, '\n');
}

static void left_out(GString *out, const CsimValidation *v) {
  g_autoptr(GPtrArray) sets = g_ptr_array_new();
  for (guint i = 0; i < v->sets->len; i++) {
    CsimSetResult *r = (CsimSetResult *)g_ptr_array_index(v->sets, i);
    if (r->skipped) g_ptr_array_add(sets, r);
  }
  g_ptr_array_sort(sets, by_reason);
  g_string_append(out, "\n## Left out\n");
  const char *reason = "";
  for (guint i = 0; i < sets->len; i++) {
    const CsimSetResult *r = (const CsimSetResult *)g_ptr_array_index(sets, i);
    g_string_append_printf(out, !strcmp(reason, r->skipped) ? ", %s%s" : "\n* %s: %s",
                           !strcmp(reason, r->skipped) ? "" : r->skipped, csim_set_name(r));
    reason = r->skipped;
  }
  g_string_append_c(out, '\n');
}

void csim_report_validation_markdown(GString *out, const CsimValidation *v, const char *date,
                                     const char *command) {
  g_autoptr(GPtrArray) check = counted(v, FALSE), derive = counted(v, TRUE);
  g_string_append_printf(out,
                         "# Accuracy\n\nEvery published or own measurement that we have, and what the "
                         "simulator says, worst first. Made by `%s` on %s with collsim %s, constants "
                         "%016" PRIx64 " (one catalogue for all). Do not edit: rules, splits and "
                                       "explanations are in `experiments/validation/targets.json`.\n\n",
                         command, date, COLLSIM_VERSION, v->catalogue_digest);
  g_string_append(out, "Errors in %: |predicted / measured - 1| of the time, or of busbw where a set has "
                       "nothing else. Bias: predicted time above (+) or below (-) the "
                       "measured. S: below 64 KiB, M: below 16 MiB, L: from 16 MiB, medians. *check*: no "
                       "constant was fitted on it; *derive*: some were.\n\n"
                       "| | sets | rows | median over sets of the median error | the same from 16 MiB | 9 of "
                       "10 sets within |\n|---|---|---|---|---|---|\n");
  kind_line(out, "check", &v->check);
  kind_line(out, "derive", &v->derive);
  table(out, "Check", check);
  table(out, "Derive", derive);
  left_out(out, v);
}
