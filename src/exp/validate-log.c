/* exp/validate-log.c - sets out of an nccl-tests log: one a run. */
#include "exp/validate.h"

#include "exp/logs.h"
#include "base/file.h"
#include <math.h>
#include <string.h>

static double positive(double value) {
  return isfinite(value) && value > 0 ? value : 0;
}

static void take_row(CsimMeasuredSet *set, const CsimLogRow *log) {
  const CsimLogSide *side = log->has_out ? &log->out : &log->in;
  CsimMeasuredRow row = {
      .size = log->size,
      .type = CSIM_TYPE_FLOAT,
      .op = CSIM_OP_SUM,
      .time_us = positive(side->time_us.value),
      .busbw_gbps = positive(side->busbw.value),
      .loc = log->loc,
  };
  csim_type_parse(log->type, &row.type);
  csim_op_parse(log->redop, &row.op);
  if (row.size > 0 && (row.time_us > 0 || row.busbw_gbps > 0)) g_array_append_val(set->rows, row);
}

/* One process with several GPUs a thread, several threads, or a process a GPU: what "nThread 1 nGpus 8" says. */
static void take_launch(CsimMeasuredSet *set, const CsimLogRun *run) {
  if (run->threads <= 0 || run->gpus <= 0) return;
  set->has_launch = TRUE;
  set->launch = run->gpus > 1      ? CSIM_LAUNCH_SINGLE
                : run->threads > 1 ? CSIM_LAUNCH_THREAD
                                   : CSIM_LAUNCH_PROCESS;
}

static const char *device_name(const CsimLogRun *run) {
  return run->devices->len ? g_array_index(run->devices, CsimLogDevice, 0).name : NULL;
}

static char *run_name(const char *path, const CsimLogRun *run, guint i, guint n) {
  g_autofree char *base = g_path_get_basename(path);
  if (n == 1) return g_steal_pointer(&base);
  const char *coll = run->coll_from == CSIM_LOG_COLL_UNKNOWN ? "?" : csim_coll_name(run->coll);
  return g_strdup_printf("%s:%u:%s", base, i + 1, coll);
}

/* The variables that NCCL says it read: "NCCL_ALGO set by environment to Ring." */
static char *told_variables(const CsimLog *log, guint run) {
  GString *env = g_string_new(NULL);
  for (guint i = 0; i < log->debug->len; i++) {
    const CsimLogDebug *line = csim_log_debug(log, i);
    const char *set = strstr(line->text, " set by environment to ");
    if (line->run != run || !set || !g_str_has_prefix(line->text, "NCCL_")) continue;
    g_autofree char *name = g_strndup(line->text, (gsize)(set - line->text));
    g_autofree char *value = g_strdup(set + strlen(" set by environment to "));
    gsize n = strlen(value);
    if (n > 0 && value[n - 1] == '.') value[n - 1] = '\0';
    g_autofree char *word = g_strdup_printf("%s=%s", name, value);
    if (!strstr(env->str, word)) g_string_append_printf(env, "%s%s", env->len ? " " : "", word);
  }
  return g_string_free(env, FALSE);
}

static CsimMeasuredSet *set_of_run(const char *path, const CsimLog *log, guint i) {
  const CsimLogRun *run = csim_log_run(log, i);
  CsimMeasuredSet *set = csim_measured_set_new();
  g_autofree char *name = run_name(path, run, i, log->runs->len), *env = told_variables(log, i);
  csim_measured_fact(set, CSIM_FACT_NAME, name);
  csim_measured_fact(set, CSIM_FACT_FILE, path);
  csim_measured_fact(set, CSIM_FACT_HARDWARE, device_name(run));
  csim_measured_fact(set, CSIM_FACT_NCCL, run->nccl_version);
  csim_measured_fact(set, CSIM_FACT_ENV, env);
  set->has_coll = run->coll_from != CSIM_LOG_COLL_UNKNOWN;
  set->coll = run->coll;
  if (set->has_coll)
    csim_measured_fact(set, CSIM_FACT_COLLECTIVE, csim_coll_name(run->coll));
  else
    set->unusable = g_strdup(
        "the log does not say which collective it is (no command line, no \"Collective test starting\")");
  set->n_gpus = (guint)MAX(run->n_ranks, 0);
  set->n_nodes = (guint)MAX(run->n_hosts, 0);
  set->iters = run->iters;
  take_launch(set, run);
  for (guint k = 0; k < run->rows->len; k++) take_row(set, csim_log_row(run, k));
  csim_measured_set_settle(set);
  if (set->rows->len == 0 && !set->unusable) set->unusable = g_strdup("no row with a time or busbw");
  return set;
}

static gboolean read_log(GPtrArray *sets, const char *path, GError **error) {
  g_autoptr(CsimLog) log = csim_log_read(path, error);
  if (!log) return FALSE;
  for (guint i = 0; i < log->runs->len; i++) g_ptr_array_add(sets, set_of_run(path, log, i));
  if (log->runs->len > 0) return TRUE;
  CsimMeasuredSet *set = csim_measured_set_new();
  g_autofree char *base = g_path_get_basename(path);
  csim_measured_fact(set, CSIM_FACT_NAME, base);
  csim_measured_fact(set, CSIM_FACT_FILE, path);
  set->unusable = g_strdup("no row of nccl-tests in it");
  g_ptr_array_add(sets, set);
  return TRUE;
}

gboolean csim_measured_file(GPtrArray *sets, const char *path, GError **error) {
  if (!g_str_has_suffix(path, ".csv")) return read_log(sets, path, error);
  gsize length;
  g_autofree char *text = csim_file_read(path, CSIM_FILE_LIMIT, &length, error);
  return text && csim_measured_csv(sets, path, text, length, error);
}
