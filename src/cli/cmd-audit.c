/* collsim audit: can this log, this claim, this table of pairs be true, and did NCCL do what it should? */
#include "cli/cli.h"
#include "exp/audit.h"
#include "report/audit.h"

#include <string.h>

static const char *own_path(const char *path) {
  return strcmp(path, "-") == 0 ? "/dev/stdin" : path;
}

static gboolean audit_log(CsimAudit *audit, const CsimAuditSpec *spec, const char *path, GError **error) {
  g_autoptr(CsimLog) log = csim_log_read(own_path(path), error);
  if (!log) return FALSE;
  if (log->runs->len || log->debug->len) return csim_audit_log(audit, spec, log, error);
  csim_error_set(
      error, CSIM_ERROR_SYNTAX, (CsimLoc){g_intern_string(path), 0, 0},
      "no row of nccl-tests and no line of NCCL in it; allowed: what *_perf or NCCL_DEBUG=INFO printed");
  return FALSE;
}

static gboolean audit_all(const CliArgs *args, CsimAudit *audit, const CsimAuditSpec *spec, GError **error) {
  g_autoptr(GPtrArray) claims = g_ptr_array_new(), pairs = g_ptr_array_new();
  cli_all_values(args, "claim", claims);
  cli_all_values(args, "pairs", pairs);
  if (!cli_args_n_operands(args) && claims->len == 1 && pairs->len == 1) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE,
                "nothing to audit; give a log (- for standard input), --claim or --pairs");
    return FALSE;
  }
  for (guint i = 0; i + 1 < claims->len; i++)
    if (!csim_audit_claim(audit, spec, g_ptr_array_index(claims, i), error)) return FALSE;
  for (guint i = 0; i + 1 < pairs->len; i++)
    if (!csim_audit_pairs(audit, spec, own_path(g_ptr_array_index(pairs, i)), error)) return FALSE;
  for (guint i = 0; i < cli_args_n_operands(args); i++)
    if (!audit_log(audit, spec, cli_args_operand(args, i), error)) return FALSE;
  return TRUE;
}

static int run_audit(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) variables = g_ptr_array_new();
  int n_nodes = 0, gpus_per_node = 0;
  CsimAuditSpec spec = {
      .target = cli_args_value(args, "target"),
      .collective = cli_args_value(args, "collective"),
      .sharp = cli_args_flag(args, "sharp"),
      .overrides = cli_all_values(args, "env", variables),
  };
  if (!cli_int_option(args, "nodes", 1, 1 << 20, &n_nodes, &error) ||
      !cli_int_option(args, "gpus-per-node", 1, 1 << 20, &gpus_per_node, &error))
    return cli_fail(error);
  spec.n_nodes = (guint)n_nodes;
  spec.gpus_per_node = (guint)gpus_per_node;
  g_autoptr(CsimAudit) audit = csim_audit_new();
  if (!audit_all(args, audit, &spec, &error)) return cli_fail(error);
  g_autofree char *json = cli_args_flag(args, "json") ? csim_report_audit_json(audit) : NULL;
  g_autoptr(GString) text = g_string_new(json);
  if (!json) csim_report_audit_text(text, audit, !cli_args_flag(args, "quiet"));
  int code = cli_write(cli_args_value(args, "output"), text->str);
  return code ? code : audit->findings->len ? CLI_FINDINGS : CLI_OK;
}

static const CliOption options_table[] = {
    {'c', "collective", "NAME", "the collective, where the log does not name it",
     "all_reduce|all_gather|reduce_scatter|broadcast|reduce|alltoall|sendrecv|gather|scatter|hypercube",
     NULL},
    {0, "target", "TARGET", "the hardware: dgx-h100*16, FILE.xml, cluster.json", "@target", NULL},
    {0, "claim", "TEXT",
     "a claim instead of a log: 'all_reduce 8GB 0.9ms', 'all_reduce algbw=98.7 busbw=86.4 ranks=8'", NULL,
     NULL},
    {0, "pairs", "FILE",
     "a table of pairs, as p2pBandwidthLatencyTest or nvbandwidth print it, or lines 'from to GB/s'", "@file",
     NULL},
    {0, "sharp", NULL, "the InfiniBand switches reduce (SHARP)", NULL, NULL},
    {'N', "nodes", "N", "number of nodes (as the target or the log says)", NULL, NULL},
    {'g', "gpus-per-node", "N", "GPUs used of each node", NULL, NULL},
    {'x', "env", "NAME=VALUE",
     "an NCCL variable that was set (those that the log shows are taken from there)", NULL, NULL},
    {0, "json", NULL, "one object: findings, facts, what was checked", NULL, NULL},
    {'q', "quiet", NULL, "findings only, not what was read", NULL, NULL},
    {0},
};
static const CliOption *const tables[] = {options_table, cli_options_output, NULL};

static const char *const examples[] = {
    "collsim audit run.log --target 'dgx-h100*4'",
    "is every row of the log possible, and did NCCL take the NICs, channels and rings that it should?",
    "collsim audit --claim 'all_reduce 8GB 0.9ms' --target 'dgx-h100*128' --sharp",
    "a claim against the limits of 1024 GPUs",
    NULL,
};

const CliVerb cli_verb_audit = {
    .name = "audit",
    .operands = "[LOG...]",
    .summary = "check a log or a claim against its own arithmetic, the hardware's limits and what NCCL "
               "should have done",
    .about = "Nothing is simulated. One line a finding, with the log's line; exit code 1 if there is any. "
             "Lines that begin with # say what was "
             "read. Logs: nccl-tests of any version, with or without NCCL_DEBUG=INFO (and "
             "NCCL_DEBUG_SUBSYS=ALL, which says most).",
    .tables = tables,
    .min_operands = 0,
    .max_operands = -1,
    .operand_words = "@file",
    .examples = examples,
    .run = run_audit,
};
