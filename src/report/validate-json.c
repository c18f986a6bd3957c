/* report/validate-json.c - a validation as JSON and CSV. */
#include "report/validate.h"

#include "base/csv.h"
#include "base/json-write.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- sizes ---------------------------------------------------------------------- */

/* What was not measured is 0 in a row, and null here. */
static double nan_if_none(double value) {
  return value > 0 ? value : NAN;
}

static void size_object(GString *out, const CsimCompared *c) {
  g_string_append_c(out, '{');
  csim_jsonw_member_int(out, "size_bytes", c->measured.size);
  csim_jsonw_member_string(out, "type", csim_type_name(c->measured.type));
  csim_jsonw_member_number(out, "measured_time_us", nan_if_none(c->measured.time_us));
  csim_jsonw_member_number(out, "measured_busbw_gbps", nan_if_none(c->measured.busbw_gbps));
  csim_jsonw_member_number(out, "time_us", c->time_us);
  csim_jsonw_member_number(out, "busbw_gbps", c->busbw_gbps);
  csim_jsonw_member_number(out, "error", c->error);
  csim_jsonw_member_number(out, "bias", c->slower);
  csim_jsonw_member_string(out, "algo", csim_algo_name(c->algo));
  csim_jsonw_member_string(out, "proto", c->algo == CSIM_ALGO_P2P ? "none" : csim_proto_name(c->proto));
  csim_jsonw_member_int(out, "channels", c->n_channels);
  g_string_append_c(out, '}');
}

static void size_array(GString *out, const CsimSetResult *r) {
  csim_jsonw_key(out, "sizes");
  g_string_append_c(out, '[');
  for (guint i = 0; i < r->rows->len; i++) {
    if (i > 0) g_string_append(out, ", ");
    size_object(out, &g_array_index(r->rows, CsimCompared, i));
  }
  g_string_append_c(out, ']');
}

/* --- sets ----------------------------------------------------------------------- */

static void text_array(GString *out, const char *key, const GPtrArray *texts) {
  csim_jsonw_key(out, key);
  g_string_append_c(out, '[');
  for (guint i = 0; i + 1 < texts->len; i++) { /* the last is NULL */
    if (i > 0) g_string_append(out, ", ");
    csim_jsonw_string(out, (const char *)g_ptr_array_index(texts, i));
  }
  g_string_append_c(out, ']');
}

/* The contract's names; of the classes all three, "large" being L. */
static void errors(GString *out, const CsimSetResult *r) {
  csim_jsonw_member_int(out, "rows", r->all.n);
  csim_jsonw_member_number(out, "median_error", r->all.median);
  csim_jsonw_member_number(out, "median_error_small", r->by_class[CSIM_CLASS_S].median);
  csim_jsonw_member_number(out, "median_error_medium", r->by_class[CSIM_CLASS_M].median);
  csim_jsonw_member_number(out, "median_error_large", r->by_class[CSIM_CLASS_L].median);
  csim_jsonw_member_number(out, "p90_error", r->all.p90);
  csim_jsonw_member_number(out, "max_error", r->all.max);
  csim_jsonw_member_number(out, "bias", r->all.bias);
}

static void set_object(GString *out, const CsimSetResult *r, gboolean verbose) {
  g_string_append_c(out, '{');
  csim_jsonw_member_string(out, "name", csim_set_name(r));
  csim_jsonw_member_string(out, "target", r->resolved->label);
  csim_jsonw_member_string(out, "kind", r->resolved->derive ? "derive" : "check");
  csim_jsonw_member_string(out, "collective",
                           r->set->has_coll ? csim_coll_name(r->set->coll) : r->set->facts[CSIM_FACT_COLLECTIVE]);
  errors(out, r);
  csim_jsonw_member_string(out, "skipped", r->skipped);
  csim_jsonw_member_string(out, "note", r->note);
  csim_jsonw_member_string(out, "compared", r->busbw_only ? "busbw" : "time");
  csim_jsonw_member_int(out, "nodes", r->set->n_nodes);
  csim_jsonw_member_int(out, "ranks", r->set->n_gpus);
  text_array(out, "variables", r->resolved->variables);
  csim_jsonw_member_string(out, "derived_constants", r->resolved->derive_from);
  csim_jsonw_member_string(out, "why", r->resolved->why);
  csim_jsonw_member_number(out, "wall_s", r->wall_s);
  if (verbose) size_array(out, r);
  g_string_append_c(out, '}');
}

static void kind_object(GString *out, const char *key, const CsimKindSummary *s) {
  csim_jsonw_key(out, key);
  g_string_append_c(out, '{');
  csim_jsonw_member_int(out, "sets", s->n_sets);
  csim_jsonw_member_int(out, "rows", s->n_rows);
  csim_jsonw_member_number(out, "median_error", s->median_error);
  csim_jsonw_member_number(out, "median_error_large", s->median_error_large);
  csim_jsonw_member_number(out, "p90_of_sets", s->p90_sets);
  g_string_append_c(out, '}');
}

void csim_report_validation_json(GString *out, const CsimValidation *v, gboolean verbose) {
  g_string_append(out, "{\"sets\": [");
  for (guint i = 0; i < v->sets->len; i++) {
    g_string_append(out, i > 0 ? ",\n  " : "\n  ");
    set_object(out, (const CsimSetResult *)g_ptr_array_index(v->sets, i), verbose);
  }
  g_string_append(out, "],\n \"summary\": {");
  csim_jsonw_member_int(out, "sets", v->sets->len);
  csim_jsonw_member_int(out, "skipped", v->n_skipped);
  kind_object(out, "check", &v->check);
  kind_object(out, "derive", &v->derive);
  csim_jsonw_member_digest(out, "catalogue", v->catalogue_digest);
  g_string_append(out, "}}\n");
}

/* --- CSV ------------------------------------------------------------------------ */

static void csv_number(GString *out, double value) {
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_c(out, ',');
  if (value > 0) g_string_append(out, g_ascii_formatd(number, sizeof number, "%.6g", value));
}

static void csv_signed(GString *out, double value) {
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf(out, ",%s", g_ascii_formatd(number, sizeof number, "%.5f", value));
}

void csim_report_validation_csv(GString *out, const CsimValidation *v) {
  g_string_append(out, "set,kind,target,collective,size_bytes,type,measured_time_us,measured_busbw_gbps,time_"
                       "us,busbw_gbps,error,bias,algo,proto,channels\n");
  for (guint i = 0; i < v->sets->len; i++) {
    const CsimSetResult *r = (const CsimSetResult *)g_ptr_array_index(v->sets, i);
    for (guint k = 0; k < r->rows->len; k++) {
      const CsimCompared *c = &g_array_index(r->rows, CsimCompared, k);
      csim_csv_append_cell(out, csim_set_name(r));
      g_string_append_printf(out, ",%s,", r->resolved->derive ? "derive" : "check");
      csim_csv_append_cell(out, r->resolved->label);
      g_string_append_printf(out, ",%s,%" PRId64 ",%s", csim_coll_name(r->set->coll), c->measured.size,
                             csim_type_name(c->measured.type));
      csv_number(out, c->measured.time_us);
      csv_number(out, c->measured.busbw_gbps);
      csv_number(out, c->time_us);
      csv_number(out, c->busbw_gbps);
      csv_signed(out, c->error);
      csv_signed(out, c->slower);
      g_string_append_printf(out, ",%s,%s,%d\n", csim_algo_name(c->algo),
                             c->algo == CSIM_ALGO_P2P ? "none" : csim_proto_name(c->proto), c->n_channels);
    }
  }
}
