/* RFC 4180; the first columns name the run, units are in the names, gbps is 1e9 bytes/s as nccl-tests prints it. */
#include "report/report.h"

#include "base/csv.h"
#include <inttypes.h>

static void append_number(GString *out, double value) {
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf(out, ",%s", g_ascii_formatd(digits, sizeof digits, "%.9g", value));
}

static void begin(GString *out, const CsimReport *report) {
  g_string_append(out, "target,nodes,ranks,fidelity,seed,collective,size_bytes,count,type,redop,root,algo,proto,channels,threads,"
                       "time_us,algbw_gbps,busbw_gbps,bottleneck\r\n");
}

static void row(GString *out, const CsimReport *report, const CsimRow *r) {
  const CsimRunInfo *info = report->info;
  csim_csv_append_cell(out, info->target);
  g_string_append_printf(out, ",%u,%d,%s,%" PRIu64, info->n_nodes, info->n_ranks, csim_fidelity_name(info->fidelity), info->seed);
  g_string_append_printf(out, ",%s,%" PRId64 ",%" PRId64 ",%s,%s,%d", csim_coll_name(r->coll), r->size_bytes, r->count, csim_type_name(r->type), csim_row_redop(r), r->root);
  g_string_append_printf(out, ",%s,%s,%d,%d", csim_row_algo(r), csim_row_proto(r), r->n_channels, r->choice.n_threads);
  append_number(out, r->time_us);
  append_number(out, r->algbw_gbps);
  append_number(out, r->busbw_gbps);
  g_string_append_c(out, ',');
  csim_csv_append_cell(out, r->bottleneck);
  g_string_append(out, "\r\n");
}

const CsimReportFormat csim_report_csv = {begin, row, NULL};
