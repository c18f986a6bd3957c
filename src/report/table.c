/*
 * nccl-tests' table (nccl-tests 2.19.6, src/util.cu): the same columns at the same places as far as busbw of the out-of-place
 * half, so that scripts that cut columns go on working; then what NCCL chose.
 */
#include "report/report.h"

#include "collsim/version.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TIME_WIDTH 7
#define BW_WIDTH 6

static const char *test_name(CsimColl coll, char *buf, gsize size) {
  g_snprintf(buf, size, "%s_perf", csim_coll_name(coll));
  return buf;
}

/* Two decimals, fewer when the column is too narrow, exponent form when even none fit. Always width characters or more. */
static void append_number(GString *out, double value, int width) {
  char digits[32];
  for (int decimals = 2; decimals >= 0; decimals--) {
    g_snprintf(digits, sizeof digits, "%.*f", decimals, value);
    if ((int)strlen(digits) <= width) break;
    if (decimals == 0) g_snprintf(digits, sizeof digits, "%.1e", value);
  }
  g_string_append_printf(out, "  %*s", width, digits);
}

/* How nccl-tests would be started for this launch: threads and GPUs a process. */
static void append_settings(GString *out, const CsimReport *report) {
  const CsimRunSpec *spec = report->spec;
  int local = MAX(report->info->n_ranks / MAX((int)report->info->n_nodes, 1), 1);
  g_string_append_printf(out, "# nThread %d nGpus %d minBytes %" PRId64 " maxBytes %" PRId64 " step: ", spec->launch == CSIM_LAUNCH_THREAD ? local : 1,
                         spec->launch == CSIM_LAUNCH_SINGLE ? local : 1, spec->min_bytes, spec->max_bytes);
  if (spec->factor > 1) g_string_append_printf(out, "%d(factor)", spec->factor);
  else g_string_append_printf(out, "%" PRId64 "(bytes)", spec->step_bytes);
  g_string_append_printf(out, " warmup iters: 0 iters: %d agg iters: 1 validation: 0 graph: 0 unalign: 0\n", spec->iters);
}

static void begin(GString *out, const CsimReport *report) {
  const CsimRunInfo *info = report->info;
  char name[64];
  g_string_append_printf(out, "# collsim version %s nccl-tests-layout=2.19.6 nccl-behaviour=2.30\n", COLLSIM_VERSION);
  g_string_append_printf(out, "# Collective test starting: %s\n", test_name(report->spec->coll, name, sizeof name));
  append_settings(out, report);
  g_string_append(out, "#\n# Simulated devices\n");
  g_string_append_printf(out, "#  Ranks 0-%d on %s: %s; fidelity %s, seed %" PRIu64 "\n#\n", info->n_ranks - 1, info->target, info->device,
                         csim_fidelity_name(info->fidelity), info->seed);
  g_string_append(out, "#                                                              out-of-place\n"
                       "#       size         count      type   redop    root     time   algbw   busbw           algo   proto  channels\n"
                       "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n");
}

static void row(GString *out, const CsimReport *report, const CsimRow *r) {
  g_string_append_printf(out, "%12" PRId64 "  %12" PRId64 "  %8s  %6s  %6d", r->size_bytes, r->count, csim_type_name(r->type), csim_row_redop(r), r->root);
  append_number(out, r->time_us, TIME_WIDTH);
  append_number(out, r->algbw_gbps, BW_WIDTH);
  append_number(out, r->busbw_gbps, BW_WIDTH);
  g_string_append_printf(out, "  %13s  %6s  %8d\n", csim_row_algo(r), csim_row_proto(r), r->n_channels);
}

static double mean_busbw(const GArray *rows) {
  double sum = 0;
  for (guint i = 0; i < rows->len; i++) sum += g_array_index(rows, CsimRow, i).busbw_gbps;
  return rows->len ? sum / rows->len : 0;
}

static void end(GString *out, const CsimReport *report) {
  char name[64];
  if (!report->complete) g_string_append_printf(out, "# Interrupted after %u sizes\n", report->rows->len);
  g_string_append_printf(out, "# %-20s : %g \n", "Avg bus bandwidth", mean_busbw(report->rows));
  if (report->spec->digest) g_string_append_printf(out, "# %-20s : %016" PRIx64 "\n", "Digest", report->info->digest);
  g_string_append_printf(out, "# %-20s : %s\n#\n", "Made by", report->command);
  g_string_append_printf(out, "# Collective test concluded: %s\n", test_name(report->spec->coll, name, sizeof name));
}

const CsimReportFormat csim_report_table = {begin, row, end};
