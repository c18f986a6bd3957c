/* report/compare.c - what two result files have in common, and where they differ. */
#include "report/compare.h"

#include "base/json-write.h"

#include <math.h>
#include <string.h>

/* "Ring/LL -> Tree/LL", or one of them where nothing changed. */
static char *change(const char *a, const char *b) { return strcmp(a, b) ? g_strdup_printf("%s -> %s", a, b) : g_strdup(a); }

static void append_pair(GString *out, const CsimPair *p, int width) {
  g_autofree char *choice = change(p->choice_a, p->choice_b), *bottleneck = change(p->bottleneck_a, p->bottleneck_b);
  g_string_append_printf(out, "%-*s  %11.2f %11.2f  %7.3f  %8.2f %8.2f  %s; %s\n", width, p->label, p->time_a, p->time_b, p->time_b / p->time_a, p->busbw_a, p->busbw_b, choice,
                         bottleneck);
}

/* "12 rows; B takes 0.912 of A's time in the median (0.85 to 1.02)" */
static void append_summary(GString *out, const CsimComparison *c) {
  g_autoptr(GArray) ratios = g_array_new(FALSE, FALSE, sizeof(double));
  for (guint i = 0; i < c->pairs->len; i++) {
    const CsimPair *p = (const CsimPair *)g_ptr_array_index(c->pairs, i);
    double ratio = p->time_b / p->time_a;
    if (!isnan(ratio)) g_array_append_val(ratios, ratio);
  }
  CsimSpread s = csim_spread(ratios);
  g_string_append_printf(out, "%u rows", c->pairs->len);
  if (s.n) g_string_append_printf(out, "; B takes %.3f of A's time in the median (%.3f to %.3f)", s.median, s.min, s.max);
  if (c->only_a) g_string_append_printf(out, "; %u only in A", c->only_a);
  if (c->only_b) g_string_append_printf(out, "; %u only in B", c->only_b);
  g_string_append_c(out, '\n');
}

void csim_report_comparison(GString *out, const CsimComparison *c, const char *name_a, const char *name_b) {
  int width = 10;
  for (guint i = 0; i < c->pairs->len; i++) width = MAX(width, (int)strlen(((const CsimPair *)g_ptr_array_index(c->pairs, i))->label));
  g_string_append_printf(out, "A: %s\nB: %s\n\n", name_a, name_b);
  g_string_append_printf(out, "%-*s  %11s %11s  %7s  %8s %8s  %s\n", width, "row (bytes)", "A (us)", "B (us)", "B/A", "A (GB/s)", "B (GB/s)", "choice; bottleneck");
  for (guint i = 0; i < c->pairs->len; i++) append_pair(out, (const CsimPair *)g_ptr_array_index(c->pairs, i), width);
  g_string_append_c(out, '\n');
  append_summary(out, c);
}

void csim_report_comparison_json(GString *out, const CsimComparison *c, const char *name_a, const char *name_b) {
  g_string_append_c(out, '{');
  csim_jsonw_member_string(out, "a", name_a);
  csim_jsonw_member_string(out, "b", name_b);
  csim_jsonw_key(out, "rows");
  g_string_append_c(out, '[');
  for (guint i = 0; i < c->pairs->len; i++) {
    const CsimPair *p = (const CsimPair *)g_ptr_array_index(c->pairs, i);
    g_string_append(out, i ? ",\n  {" : "\n  {");
    csim_jsonw_member_string(out, "row", p->label);
    csim_jsonw_member_number(out, "time_us_a", p->time_a);
    csim_jsonw_member_number(out, "time_us_b", p->time_b);
    csim_jsonw_member_number(out, "ratio", p->time_b / p->time_a);
    csim_jsonw_member_number(out, "busbw_gbps_a", p->busbw_a);
    csim_jsonw_member_number(out, "busbw_gbps_b", p->busbw_b);
    csim_jsonw_member_string(out, "choice_a", p->choice_a);
    csim_jsonw_member_string(out, "choice_b", p->choice_b);
    csim_jsonw_member_string(out, "bottleneck_a", p->bottleneck_a);
    csim_jsonw_member_string(out, "bottleneck_b", p->bottleneck_b);
    g_string_append_c(out, '}');
  }
  g_string_append(out, c->pairs->len ? "\n]" : "]");
  csim_jsonw_member_int(out, "only_a", c->only_a);
  csim_jsonw_member_int(out, "only_b", c->only_b);
  g_string_append(out, "}\n");
}
