#include "collsim/request.h"

#include "exp/args.h"
#include "report/report.h"

struct CsimRequest {
  CsimRunArgs *args;
};

struct CsimResult {
  GArray *rows; /* CsimRow */
  GPtrArray *warnings;
  int n_ranks;
  char *json;
};

CsimRequest *csim_request_new(const char *target) {
  CsimRequest *request = g_new0(CsimRequest, 1);
  request->args = csim_run_args_new();
  csim_run_args_set(request->args, "target", target, NULL); /* any text is a target until it is loaded */
  return request;
}

void csim_request_free(CsimRequest *request) {
  if (!request) return;
  csim_run_args_free(request->args);
  g_free(request);
}

gboolean csim_request_set(CsimRequest *request, const char *key, const char *value, GError **error) {
  return csim_run_args_set(request->args, key, value, error);
}

void csim_request_use_environment(CsimRequest *request) { csim_run_args_use_environment(request->args); }

static char *to_json(CsimRun *run, GArray *rows) {
  g_autoptr(GString) text = g_string_new(NULL);
  CsimReport report = {csim_run_info(run), csim_run_spec(run), "libcollsim", rows, TRUE};
  csim_report_json.end(text, &report);
  return g_string_free(g_steal_pointer(&text), FALSE);
}

static CsimResult *result_of(CsimRun *run, GArray *rows) {
  const CsimRunInfo *info = csim_run_info(run);
  CsimResult *result = g_new0(CsimResult, 1);
  result->rows = g_array_ref(rows);
  result->warnings = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < info->warnings->len; i++) g_ptr_array_add(result->warnings, g_strdup(g_ptr_array_index(info->warnings, i)));
  g_ptr_array_add(result->warnings, NULL);
  result->n_ranks = info->n_ranks;
  result->json = to_json(run, rows);
  return result;
}

CsimResult *csim_request_run(const CsimRequest *request, GError **error) {
  CsimRunSpec spec = csim_run_args_spec(request->args);
  g_autoptr(CsimRun) run = csim_run_new(&spec, error);
  if (!run) return NULL;
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(CsimRow));
  for (guint i = 0; i < csim_run_n_rows(run); i++) {
    CsimRow row;
    if (!csim_run_row(run, i, &row, error)) return NULL;
    g_array_append_val(rows, row);
  }
  return result_of(run, rows);
}

void csim_result_free(CsimResult *result) {
  if (!result) return;
  g_array_unref(result->rows);
  g_ptr_array_unref(result->warnings);
  g_free(result->json);
  g_free(result);
}

int csim_result_n_ranks(const CsimResult *result) { return result->n_ranks; }
guint csim_result_n_rows(const CsimResult *result) { return result->rows->len; }

CsimResultRow csim_result_row(const CsimResult *result, guint i) {
  const CsimRow *row = &g_array_index(result->rows, CsimRow, i);
  return (CsimResultRow){
    .size_bytes = row->size_bytes,
    .count = row->count,
    .time_us = row->time_us,
    .algbw_gbps = row->algbw_gbps,
    .busbw_gbps = row->busbw_gbps,
    .algo = csim_row_algo(row),
    .proto = csim_row_proto(row),
    .n_channels = row->n_channels,
    .n_threads = row->choice.n_threads,
    .bottleneck = row->bottleneck,
  };
}

const char *const *csim_result_warnings(const CsimResult *result) { return (const char *const *)result->warnings->pdata; }
char *csim_result_to_json(const CsimResult *result) { return g_strdup(result->json); }
