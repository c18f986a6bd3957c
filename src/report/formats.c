#include "report/report.h"

#include <inttypes.h>
#include <string.h>

static const CsimReportFormat *const formats[] = {&csim_report_table, &csim_report_csv, &csim_report_json, NULL};

const CsimReportFormat *csim_report_format(const char *name) {
  for (const CsimReportFormat *const *format = formats; *format; format++)
    if (!strcmp((*format)->name, name)) return *format;
  return NULL;
}

const char *csim_row_algo(const CsimRow *row) { return row->n_channels ? csim_algo_name(row->choice.algo) : "none"; }
const char *csim_row_proto(const CsimRow *row) { return row->n_channels ? csim_proto_name(row->choice.proto) : "none"; }
const char *csim_row_redop(const CsimRow *row) { return csim_perf_has_op(row->coll) ? csim_op_name(row->op) : "none"; }

double csim_report_mean_busbw(const CsimReport *report) {
  double sum = 0;
  for (guint i = 0; i < report->rows->len; i++) sum += g_array_index(report->rows, CsimRow, i).busbw_gbps;
  return report->rows->len ? sum / report->rows->len : 0;
}
