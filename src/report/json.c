/* One object a run. Scripts depend on the names: additions only. gbps is 1e9 bytes/s, as nccl-tests prints it. */
#include "base/json-write.h"
#include "report/packets.h"
#include "report/report.h"

#include "collsim/version.h"

static void append_link(GString *out, const CsimRowLink *l) {
  g_string_append_c(out, '{');
  csim_jsonw_member_string(out, "name", l->name);
  csim_jsonw_member_number(out, "capacity_gbps", (double)l->capacity * 1e-9);
  csim_jsonw_member_number(out, "bytes", l->bytes);
  csim_jsonw_member_number(out, "use", l->use);
  csim_jsonw_member_number(out, "busy", l->busy);
  csim_jsonw_member_number(out, "saturated", l->saturated);
  csim_jsonw_member_int(out, "peak", l->peak);
  g_string_append_c(out, '}');
}

static void append_links(GString *out, const GArray *links) {
  csim_jsonw_key(out, "links");
  g_string_append_c(out, '[');
  for (guint i = 0; i < links->len; i++) {
    g_string_append(out, i ? ",\n       " : "\n       ");
    append_link(out, &g_array_index(links, CsimRowLink, i));
  }
  g_string_append_c(out, ']');
}

static void append_row(GString *out, const CsimRow *r) {
  g_string_append(out, "\n    {");
  csim_row_json(out, r);
  csim_jsonw_member_string(out, "bottleneck", r->bottleneck);
  if (r->links) append_links(out, r->links);
  if (r->packets) csim_packets_json(out, r->packets);
  g_string_append_c(out, '}');
}

static void append_rows(GString *out, const CsimReport *report) {
  csim_jsonw_key(out, "rows");
  g_string_append_c(out, '[');
  for (guint i = 0; i < report->rows->len; i++) {
    if (i) g_string_append_c(out, ',');
    append_row(out, &g_array_index(report->rows, CsimRow, i));
  }
  g_string_append(out, report->rows->len ? "\n  ]" : "]");
}

static void append_stats(GString *out, const CsimRunInfo *info) {
  csim_jsonw_key(out, "stats");
  g_string_append_c(out, '{');
  csim_jsonw_member_int(out, "events", (gint64)info->events);
  csim_jsonw_member_number(out, "wall_s", info->wall_s);
  csim_jsonw_member_number(out, "peak_rss_mib", info->peak_rss_mib);
  g_string_append_c(out, '}');
}

static void append_warnings(GString *out, const CsimRunInfo *info) {
  csim_jsonw_key(out, "warnings");
  g_string_append_c(out, '[');
  for (guint i = 0; i < info->warnings->len; i++) {
    if (i) g_string_append(out, ", ");
    csim_jsonw_string(out, g_ptr_array_index(info->warnings, i));
  }
  g_string_append_c(out, ']');
}

static void end(GString *out, const CsimReport *report) {
  const CsimRunInfo *info = report->info;
  g_string_append_c(out, '{');
  csim_jsonw_member_string(out, "collsim", COLLSIM_VERSION);
  csim_jsonw_member_string(out, "target", info->target);
  csim_jsonw_member_int(out, "nodes", info->n_nodes);
  csim_jsonw_member_int(out, "ranks", info->n_ranks);
  csim_jsonw_member_string(out, "fidelity", csim_fidelity_name(info->fidelity));
  csim_jsonw_member_uint(out, "seed", info->seed);
  csim_jsonw_member_digest(out, "digest", info->digest);
  csim_jsonw_member_digest(out, "catalogue_digest", info->catalogue_digest);
  csim_jsonw_member_string(out, "devices", info->device);
  csim_jsonw_member_string(out, "command", report->command);
  csim_jsonw_key(out, "complete");
  g_string_append(out, report->complete ? "true" : "false");
  append_rows(out, report);
  append_stats(out, info);
  append_warnings(out, info);
  g_string_append(out, "}\n");
}

const CsimReportFormat csim_report_json = {NULL, NULL, end};
