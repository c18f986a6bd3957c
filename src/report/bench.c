/* report/bench.c - a bare workload's figures. */
#include "report/bench.h"

#include "base/units.h"
#include "collsim/version.h"
#include "base/json-write.h"

#include <inttypes.h>
#include <math.h>

static const char *const form_names[] = {"full", "one-rank", "jump"};

static const char *queue_name(const CsimBenchSpec *spec) { return spec->queue == CSIM_QUEUE_HEAP4 ? "heap4" : "radix"; }

/* --- text ---------------------------------------------------------------------------- */

static void head(GString *out, const CsimBenchSpec *spec, const CsimBenchResult *r) {
  char size[CSIM_UNIT_BUF], message[CSIM_UNIT_BUF], rate[CSIM_UNIT_BUF], latency[CSIM_UNIT_BUF], skew[CSIM_UNIT_BUF];
  g_string_append_printf(out, "# bare %s of %u ranks, %s a rank", csim_bench_name(spec->kind), spec->n_ranks, csim_bytes_format(spec->bytes, size));
  if (spec->kind == CSIM_BENCH_TREE) g_string_append_printf(out, " in %u chunks", spec->chunks);
  g_string_append_printf(out, ": messages of %s, ports of %s, %s", csim_bytes_format(r->message, message), csim_rate_format(spec->rate, rate),
                         csim_time_format(spec->latency, latency));
  if (spec->skew > 0) g_string_append_printf(out, ", starts within %s (seed %" PRIu64 ")", csim_time_format(spec->skew, skew), spec->seed);
  g_string_append_printf(out, "; %s queue\n", queue_name(spec));
  if (spec->form != CSIM_BENCH_FULL)
    g_string_append_printf(out, "# collapsed: one rank stands for all, %" PRIu64 " steps at once\n", r->steps_jumped);
}

static void figures(GString *out, const CsimBenchSpec *spec, const CsimBenchResult *r) {
  g_string_append_printf(out, "simulated         %" PRId64 ".%06d us\n", r->time / CSIM_US, (int)(r->time % CSIM_US));
  g_string_append_printf(out, "messages          %" PRIu64 "\n", r->messages);
  g_string_append_printf(out, "events            %" PRIu64 "\n", r->events);
  if (spec->digest) g_string_append_printf(out, "digest            %016" PRIx64 "\n", r->digest);
  g_string_append_printf(out, "CPU               %.4f s, the whole process %.4f s (user and system)\n", r->cpu_s, r->process_cpu_s);
  g_string_append_printf(out, "wall              %.4f s\n", r->wall_s);
  if (r->cpu_s > 0) g_string_append_printf(out, "million messages  %.2f a CPU second\n", (double)r->messages / r->cpu_s * 1e-6);
  g_string_append_printf(out, "peak memory       %.1f MiB\n", r->peak_rss_mib);
}

static void others(GString *out, const CsimBenchResult *r, const CsimBenchPeers *peers) {
  if (peers->rows->len == 0) return;
  g_string_append_printf(out, "# others, the same messages (%s)\n#     CPU (s)    ours x   MiB     load         tool\n", peers->source);
  for (guint i = 0; i < peers->rows->len; i++) {
    const CsimBenchPeer *p = &g_array_index(peers->rows, CsimBenchPeer, i);
    g_string_append_printf(out, "# %11.3f", p->cpu_s);
    if (r->process_cpu_s > 0) g_string_append_printf(out, " %9.1f", p->cpu_s / r->process_cpu_s);
    else g_string_append_printf(out, " %9s", "-");
    if (p->rss_mib > 0) g_string_append_printf(out, " %7.1f", p->rss_mib);
    else g_string_append_printf(out, " %7s", "< 15");
    g_string_append_printf(out, "  %-11s  %s\n", p->load, p->tool);
  }
}

char *csim_report_bench_text(const CsimBenchSpec *spec, const CsimBenchResult *result, const CsimBenchPeers *peers) {
  GString *out = g_string_new(NULL);
  head(out, spec, result);
  figures(out, spec, result);
  others(out, result, peers);
  return g_string_free(out, FALSE);
}

/* --- JSON ---------------------------------------------------------------------------- */

static void json_setting(GString *out, const CsimBenchSpec *spec, const CsimBenchResult *r) {
  csim_jsonw_member_string(out, "collsim", COLLSIM_VERSION);
  csim_jsonw_member_string(out, "workload", csim_bench_name(spec->kind));
  csim_jsonw_member_int(out, "ranks", spec->n_ranks);
  csim_jsonw_member_int(out, "bytes", spec->bytes);
  if (spec->kind == CSIM_BENCH_TREE) csim_jsonw_member_int(out, "chunks", spec->chunks);
  csim_jsonw_member_int(out, "message_bytes", r->message);
  csim_jsonw_member_int(out, "rate", spec->rate);
  csim_jsonw_member_int(out, "latency_ps", spec->latency);
  csim_jsonw_member_int(out, "skew_ps", spec->skew);
  csim_jsonw_member_uint(out, "seed", spec->seed);
  csim_jsonw_member_string(out, "queue", queue_name(spec));
  csim_jsonw_member_string(out, "form", form_names[spec->form]);
}

static void json_figures(GString *out, const CsimBenchSpec *spec, const CsimBenchResult *r) {
  csim_jsonw_member_int(out, "simulated_ps", r->time);
  csim_jsonw_member_int(out, "messages", (gint64)r->messages);
  csim_jsonw_member_int(out, "events", (gint64)r->events);
  csim_jsonw_member_int(out, "ranks_simulated", r->ranks_simulated);
  csim_jsonw_member_int(out, "steps_jumped", (gint64)r->steps_jumped);
  if (spec->digest) csim_jsonw_member_digest(out, "digest", r->digest);
  csim_jsonw_member_number(out, "cpu_s", r->cpu_s);
  csim_jsonw_member_number(out, "wall_s", r->wall_s);
  csim_jsonw_member_number(out, "process_cpu_s", r->process_cpu_s);
  csim_jsonw_member_number(out, "peak_rss_mib", r->peak_rss_mib);
}

static void json_peer(GString *out, const CsimBenchPeer *p) {
  g_string_append_c(out, '{');
  csim_jsonw_member_string(out, "tool", p->tool);
  csim_jsonw_member_number(out, "cpu_s", p->cpu_s);
  csim_jsonw_member_number(out, "peak_rss_mib", p->rss_mib > 0 ? p->rss_mib : NAN); /* NAN: null */
  csim_jsonw_member_string(out, "load", p->load);
  g_string_append_c(out, '}');
}

char *csim_report_bench_json(const CsimBenchSpec *spec, const CsimBenchResult *result, const CsimBenchPeers *peers) {
  GString *out = g_string_new("{");
  json_setting(out, spec, result);
  json_figures(out, spec, result);
  csim_jsonw_key(out, "peers");
  g_string_append_c(out, '[');
  for (guint i = 0; i < peers->rows->len; i++) {
    if (i > 0) g_string_append(out, ", ");
    json_peer(out, &g_array_index(peers->rows, CsimBenchPeer, i));
  }
  g_string_append_c(out, ']');
  csim_jsonw_member_string(out, "peers_source", peers->source);
  g_string_append(out, "}\n");
  return g_string_free(out, FALSE);
}
