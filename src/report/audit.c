/* An audit for people and for scripts. */
#include "report/audit.h"

#include "base/json-write.h"

static void append_place(GString *out, CsimLoc loc) {
  if (!loc.file)
    g_string_append(out, "claim: ");
  else if (!loc.line)
    g_string_append_printf(out, "%s: ", loc.file);
  else
    g_string_append_printf(out, "%s:%u: ", loc.file, loc.line);
}

static void append_checked(GString *out, const CsimAudit *a) {
  const struct {
    guint n;
    const char *one, *many;
  } counts[] = {{a->n_claims, "claim", "claims"},
                {a->n_runs, "run", "runs"},
                {a->n_rows, "row", "rows"},
                {a->n_nccl_lines, "line of NCCL", "lines of NCCL"},
                {a->n_pairs, "pair", "pairs"}};
  const char *comma = "";
  for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
    if (!counts[i].n) continue;
    g_string_append_printf(out, "%s%u %s", comma, counts[i].n,
                           counts[i].n == 1 ? counts[i].one : counts[i].many);
    comma = ", ";
  }
  if (!*comma) g_string_append(out, "nothing");
}

void csim_report_audit_text(GString *out, const CsimAudit *audit, gboolean facts) {
  for (guint i = 0; facts && i < audit->facts->len; i++)
    g_string_append_printf(out, "# %s\n", (const char *)g_ptr_array_index(audit->facts, i));
  for (guint i = 0; i < audit->findings->len; i++) {
    const CsimAuditFinding *f = g_ptr_array_index(audit->findings, i);
    append_place(out, f->loc);
    g_string_append(out, f->text);
    if (f->more) g_string_append_printf(out, " (and %u more like it)", f->more);
    g_string_append_c(out, '\n');
  }
  append_checked(out, audit);
  g_string_append(out, " checked, ");
  if (audit->findings->len)
    g_string_append_printf(out, "%u finding%s\n", audit->findings->len, audit->findings->len == 1 ? "" : "s");
  else
    g_string_append(out, "nothing found\n");
}

static void append_finding(GString *out, const CsimAuditFinding *f) {
  g_string_append(out, "\n    {");
  csim_jsonw_member_string(out, "topic", csim_audit_topic_name(f->topic));
  csim_jsonw_member_string(out, "file", f->loc.file ? f->loc.file : "");
  csim_jsonw_member_int(out, "line", f->loc.line);
  csim_jsonw_member_string(out, "text", f->text);
  if (f->factor > 0) csim_jsonw_member_number(out, "factor", f->factor);
  if (f->expected != 0 || f->seen != 0) {
    csim_jsonw_member_number(out, "expected", f->expected);
    csim_jsonw_member_number(out, "seen", f->seen);
  }
  csim_jsonw_member_int(out, "more", f->more);
  g_string_append_c(out, '}');
}

static void append_counts(GString *out, const CsimAudit *a) {
  csim_jsonw_key(out, "checked");
  g_string_append_c(out, '{');
  csim_jsonw_member_int(out, "claims", a->n_claims);
  csim_jsonw_member_int(out, "runs", a->n_runs);
  csim_jsonw_member_int(out, "rows", a->n_rows);
  csim_jsonw_member_int(out, "nccl_lines", a->n_nccl_lines);
  csim_jsonw_member_int(out, "pairs", a->n_pairs);
  g_string_append_c(out, '}');
}

char *csim_report_audit_json(const CsimAudit *audit) {
  GString *out = g_string_new("{");
  csim_jsonw_key(out, "findings");
  g_string_append_c(out, '[');
  for (guint i = 0; i < audit->findings->len; i++) {
    if (i) g_string_append_c(out, ',');
    append_finding(out, g_ptr_array_index(audit->findings, i));
  }
  g_string_append(out, audit->findings->len ? "\n  ]" : "]");
  csim_jsonw_key(out, "facts");
  g_string_append_c(out, '[');
  for (guint i = 0; i < audit->facts->len; i++) {
    g_string_append(out, i ? ", " : "");
    csim_jsonw_string(out, g_ptr_array_index(audit->facts, i));
  }
  g_string_append_c(out, ']');
  append_counts(out, audit);
  g_string_append(out, "}\n");
  return g_string_free(out, FALSE);
}
