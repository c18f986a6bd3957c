/* An audit: findings, and which part looks at what. */
#include "exp/audit-private.h"

#include <stdio.h>
#include <string.h>

static void finding_free(gpointer data) {
  CsimAuditFinding *finding = data;
  g_free(finding->text);
  g_free(finding);
}

CsimAudit *csim_audit_new(void) {
  CsimAudit *audit = g_new0(CsimAudit, 1);
  audit->findings = g_ptr_array_new_with_free_func(finding_free);
  audit->facts = g_ptr_array_new_with_free_func(g_free);
  return audit;
}

void csim_audit_free(CsimAudit *audit) {
  if (!audit) return;
  g_ptr_array_unref(audit->findings);
  g_ptr_array_unref(audit->facts);
  g_free(audit);
}

const char *csim_audit_topic_name(CsimAuditTopic topic) {
  static const char *const names[CSIM_AUDIT_N_TOPICS] = {"arithmetic", "limit",       "result",
                                                         "nccl",       "environment", "pair"};
  return names[topic];
}

CsimAuditFinding *csim_audit_find(CsimAudit *audit, CsimAuditTopic topic, CsimLoc loc, const char *format,
                                  ...) {
  va_list args;
  va_start(args, format);
  CsimAuditFinding *finding = g_new0(CsimAuditFinding, 1);
  finding->topic = topic;
  finding->loc = loc;
  finding->text = g_strdup_vprintf(format, args);
  va_end(args);
  g_ptr_array_add(audit->findings, finding);
  return finding;
}

void csim_audit_fact(CsimAudit *audit, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_ptr_array_add(audit->facts, g_strdup_vprintf(format, args));
  va_end(args);
}

gboolean audit_collective(const CsimAuditSpec *spec, CsimColl fallback, CsimColl *out, GError **error) {
  *out = fallback;
  if (!spec->collective || csim_coll_parse(spec->collective, out)) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "%s is no collective; `collsim run --help` lists them",
              spec->collective);
  return FALSE;
}

/* Hosts that one machine of the target stands for (an NVLink domain's XML has several); 0 with an error if it cannot be loaded. */
static int hosts_a_machine(const char *target, GError **error) {
  g_autoptr(CsimCluster) cluster = csim_cluster_load(target, 0, error);
  return cluster ? MAX(csim_cluster_system(cluster, 0)->n_hosts, 1) : 0;
}

CsimAuditTarget *audit_load_target(const CsimAuditSpec *spec, int n_ranks, int n_hosts,
                                   const char *const *variables, GError **error) {
  if (!spec->target) return NULL;
  CsimAuditTargetSpec target = {.target = spec->target,
                                .n_nodes = spec->n_nodes,
                                .gpus_per_node = spec->gpus_per_node,
                                .sharp = spec->sharp,
                                .overrides = variables};
  if (n_hosts > 0) {
    int hosts = hosts_a_machine(spec->target, error);
    if (!hosts) return NULL;
    int machines = (n_hosts + hosts - 1) / hosts;
    if (!target.n_nodes && !strchr(spec->target, '*')) target.n_nodes = (guint)machines;
    if (!target.gpus_per_node && n_ranks % machines == 0 && hosts == 1)
      target.gpus_per_node = (guint)(n_ranks / machines);
  }
  return csim_audit_target_new(&target, error);
}

static void check_shape(CsimAudit *audit, const CsimLogRun *run, const CsimAuditTarget *target) {
  int ranks = csim_comm_info(target->comm)->n_ranks;
  if (!run->n_ranks || run->n_ranks == ranks) return;
  csim_audit_find(audit, CSIM_AUDIT_RESULT, run->loc,
                  "the log has %d ranks on %d hosts, the target %d on %d: limits are those of the target",
                  run->n_ranks, run->n_hosts, ranks, csim_comm_info(target->comm)->n_nodes);
}

/* Variables as NCCL says it read them, then those of the spec. */
static GPtrArray *variables_of(const CsimAuditSpec *spec, const CsimLog *log, guint run) {
  GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
  g_auto(GStrv) read = audit_nccl_variables(log, run);
  for (char **v = read; *v; v++) g_ptr_array_add(all, g_strdup(*v));
  for (const char *const *v = spec->overrides; v && *v; v++) g_ptr_array_add(all, g_strdup(*v));
  g_ptr_array_add(all, NULL);
  return all;
}

/* The target as the run had it. Variables of the log that NCCL's rules refuse are a finding, and are left out. *wrong: set on failure. */
static CsimAuditTarget *target_of(CsimAudit *audit, const CsimAuditSpec *spec, const CsimLog *log, guint run,
                                  int ranks, int hosts, GError **wrong) {
  g_autoptr(GPtrArray) variables = variables_of(spec, log, run);
  CsimAuditTarget *target =
      audit_load_target(spec, ranks, hosts, (const char *const *)variables->pdata, wrong);
  if (target || !g_error_matches(*wrong, CSIM_ERROR, CSIM_ERROR_NCCL)) return target;
  csim_audit_find(audit, CSIM_AUDIT_ENV, CSIM_LOC_NONE,
                  "with the variables of the log the target gives: %s; it is taken without them",
                  (*wrong)->message);
  g_clear_error(wrong);
  return audit_load_target(spec, ranks, hosts, spec->overrides, wrong);
}

static void run_facts(CsimAudit *audit, const CsimLogRun *run, CsimColl coll) {
  if (!run->rows->len) return;
  g_autofree char *ranks =
      run->n_ranks ? g_strdup_printf("%d ranks", run->n_ranks) : g_strdup("unknown number of ranks");
  g_autofree char *hosts = run->n_hosts
                               ? g_strdup_printf(" on %d host%s", run->n_hosts, run->n_hosts == 1 ? "" : "s")
                               : g_strdup("");
  csim_audit_fact(audit, "run at line %u: %s, %s%s, %u row%s%s%s", run->loc.line,
                  coll == CSIM_N_COLLS ? "collective not named" : csim_coll_name(coll), ranks, hosts,
                  run->rows->len, run->rows->len == 1 ? "" : "s", run->nccl_version ? ", NCCL " : "",
                  run->nccl_version ? run->nccl_version : "");
}

static gboolean audit_one_run(CsimAudit *audit, const CsimAuditSpec *spec, const CsimLog *log, guint index,
                              GError **error) {
  const CsimLogRun *run = csim_log_run(log, index);
  CsimColl coll;
  GError *wrong = NULL;
  if (!audit_collective(spec, run->coll_from ? run->coll : CSIM_N_COLLS, &coll, error)) return FALSE;
  g_autoptr(CsimAuditTarget) target = target_of(audit, spec, log, index, run->n_ranks, run->n_hosts, &wrong);
  if (wrong) {
    g_propagate_error(error, wrong);
    return FALSE;
  }
  CsimAuditHardware hw = {0};
  if (target) hw = csim_audit_hardware(target, spec->sharp);
  AuditContext context = {audit, coll, run->n_ranks ? run->n_ranks : hw.ranks, target ? &hw : NULL};
  run_facts(audit, run, coll);
  if (target) check_shape(audit, run, target);
  audit_run(&context, run);
  audit_nccl(audit, log, index, target);
  return TRUE;
}

/* "comm ... nRanks 16 nNodes 2" of the lines that belong to no run; FALSE if there is no line at all. */
static gboolean shape_of_rest(const CsimLog *log, guint index, int *ranks, int *nodes) {
  gboolean any = FALSE;
  *ranks = *nodes = 0;
  for (guint i = 0; i < log->debug->len; i++) {
    const CsimLogDebug *line = csim_log_debug(log, i);
    if (line->run != index) continue;
    any = TRUE;
    const char *text = g_str_has_prefix(line->text, "comm ") ? strstr(line->text, " nRanks ") : NULL;
    if (text) sscanf(text, " nRanks %d nNodes %d", ranks, nodes);
  }
  if (*ranks < 1 || *nodes < 1 || *ranks > 1 << 20 || *nodes > *ranks) *ranks = *nodes = 0;
  return any;
}

/* NCCL lines after the last run, or without any. */
static gboolean audit_rest(CsimAudit *audit, const CsimAuditSpec *spec, const CsimLog *log, GError **error) {
  int ranks, nodes;
  GError *wrong = NULL;
  if (!shape_of_rest(log, log->runs->len, &ranks, &nodes)) return TRUE;
  g_autoptr(CsimAuditTarget) target = target_of(audit, spec, log, log->runs->len, ranks, nodes, &wrong);
  if (wrong) {
    g_propagate_error(error, wrong);
    return FALSE;
  }
  audit_nccl(audit, log, log->runs->len, target);
  return TRUE;
}

gboolean csim_audit_log(CsimAudit *audit, const CsimAuditSpec *spec, const CsimLog *log, GError **error) {
  audit->n_runs += log->runs->len;
  audit->n_nccl_lines += log->debug->len;
  for (guint i = 0; i < log->runs->len; i++) {
    audit->n_rows += csim_log_run(log, i)->rows->len;
    if (!audit_one_run(audit, spec, log, i, error)) return FALSE;
  }
  return audit_rest(audit, spec, log, error);
}
