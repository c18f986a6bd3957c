/* collsim probe: measures this machine through CUDA, NCCL and verbs. */
#include "cli/probe-args.h"
#include "probe/copies.h"
#include "probe/nccl-run.h"
#include "probe/sockets.h"

#include <string.h>

static gboolean limit_option(const CliArgs *args, double *out, GError **error) {
  int value = (int)*out;
  if (!cli_int_option(args, "limit", 0, 1000000, &value, error)) return FALSE;
  *out = value;
  return TRUE;
}

/* --- output ----------------------------------------------------------------------- */

static int print(const CliArgs *args, const CsimProbeTable *table) {
  g_autoptr(GString) out = g_string_new(NULL);
  cli_progress_clear();
  if (cli_args_flag(args, "json"))
    csim_probe_table_json(table, out);
  else
    csim_probe_table_csv(table, out);
  return cli_write(cli_args_value(args, "output"), out->str);
}

/* What was measured before an error is worth printing; the error's code is what counts. */
static int finish(const CliArgs *args, const CsimProbeTable *table, const GError *error) {
  int code = !error || csim_probe_table_n_rows(table) > 0 ? print(args, table) : CLI_OK;
  return error ? cli_fail(error) : code;
}

/* --- probes ----------------------------------------------------------------------- */

static void progress_tests(guint done, guint of, void *data) {
  cli_progress(done, of, "tests");
}
static void progress_sizes(guint done, guint of, void *data) {
  cli_progress(done, of, "sizes");
}

static int probe_copies(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(CsimCopyRow));
  CsimCopyOptions options;
  CsimGpuFacts gpus;
  csim_copy_options_init(&options);
  options.interrupt = cli_interrupt();
  options.progress = progress_tests;
  if (!cli_probe_sizes(args, &options.min, &options.max, &options.factor, &error) ||
      !cli_int_option(args, "gpu", 0, 1023, &options.gpu, &error) || !limit_option(args, &options.limit_s, &error) ||
      !csim_probe_gpus(&gpus, &error))
    return cli_fail(error);
  csim_probe_copies(&options, rows, &error);
  g_autoptr(CsimProbeTable) table = csim_copies_table(rows, &gpus);
  return finish(args, table, error);
}

static guint64 count_wrong(const GArray *rows) {
  guint64 wrong = 0;
  for (guint i = 0; i < rows->len; i++) wrong += g_array_index(rows, CsimNcclRow, i).wrong;
  return wrong;
}

static int probe_nccl(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(CsimNcclRow)), colls = g_array_new(FALSE, FALSE, sizeof(CsimColl));
  g_autoptr(GPtrArray) given = g_ptr_array_new();
  const char *tag = cli_args_value(args, "tag");
  CsimNcclOptions options;
  CsimNcclFacts facts;
  csim_nccl_options_init(&options);
  options.interrupt = cli_interrupt();
  options.progress = progress_sizes;
  options.limit_s = 600;
  if (!cli_probe_colls(args, "all_reduce", colls, &error) || !cli_probe_variables(args, given, &error) ||
      !cli_nccl_options(args, &options, &error) || !limit_option(args, &options.limit_s, &error))
    return cli_fail(error);
  options.dump = cli_args_value(args, "dump");
  options.colls = (const CsimColl *)(const void *)colls->data;
  options.n_colls = colls->len;
  options.variables = (const char *const *)given->pdata;
  csim_probe_nccl(&options, rows, &facts, &error);
  g_autoptr(CsimProbeTable) table = csim_nccl_table_new();
  csim_nccl_table_add(table, tag ? tag : "default", &options, &facts, rows);
  int code = finish(args, table, error);
  guint64 wrong = count_wrong(rows);
  if (wrong == 0) return code;
  cli_warn("%" G_GUINT64_FORMAT " wrong elements: see the column \"wrong\"", wrong);
  return code == CLI_OK ? CLI_FINDINGS : code;
}

static int probe_sockets(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(CsimSocketRow));
  CsimSocketOptions options = {
      .n_ranks = 2, .netns = cli_args_value(args, "netns"), .limit_s = 60, .interrupt = cli_interrupt()};
  if (!cli_int_option(args, "ranks", 2, CSIM_SOCKET_MAX_RANKS, &options.n_ranks, &error) ||
      !limit_option(args, &options.limit_s, &error))
    return cli_fail(error);
  csim_probe_sockets(&options, rows, &error);
  g_autoptr(CsimProbeTable) table = csim_sockets_table(rows);
  return finish(args, table, error);
}

static const struct {
  const char *name;
  int (*run)(const CliArgs *args);
} probes[] = {{"copies", probe_copies}, {"nccl", probe_nccl}, {"sockets", probe_sockets}};

static int run_probe(const CliArgs *args) {
  const char *name = cli_args_operand(args, 0);
  for (guint i = 0; i < G_N_ELEMENTS(probes); i++)
    if (!strcmp(name, probes[i].name)) return probes[i].run(args);
  cli_warn("no probe \"%s\"; copies, nccl or sockets", name);
  return CLI_USAGE;
}

/* --- tables ----------------------------------------------------------------------- */

static const CliOption common[] = {
    {0, "limit", "SECONDS", "kill the probe after so long, 0: never (copies 300, nccl 600, sockets 60)", NULL, NULL},
    {0, "json", NULL, "one JSON object in place of CSV", NULL, NULL},
    {0},
};
static const CliOption copies_table[] = {
    {0, "gpu", "N", "copies: the GPU that is looked at, with its host and the next GPU (0)", NULL, NULL},
    {0},
};
static const CliOption nccl_table[] = {
    {0, "dump", "DIR", "nccl: what NCCL says of itself in a pass before: topo.xml, graph.xml, nccl.log", "@file", NULL},
    {0, "tag", "TEXT", "nccl: name of the series in the table (default)", NULL, NULL},
    {0},
};
static const CliOption *const tables[] = {cli_options_probe_sizes, common, copies_table, cli_options_nccl, nccl_table, cli_options_output, NULL};

static const char *const examples[] = {
    "collsim probe copies -o copies.csv",
    "copies between GPU, host and peer GPU, launches, flag latency",
    "collsim probe nccl -c all -b 8 -e 1G --dump nccl/ -o nccl.csv",
    "every collective on all GPUs, with topology, graphs and tuning table of NCCL",
    "collsim probe nccl --ranks 4 -e 64M",
    "four ranks, on one GPU if there is one, over NCCL's sockets (start nvidia-cuda-mps-control -d before)",
    NULL,
};

const CliVerb cli_verb_probe = {
    .name = "probe",
    .operands = "copies|nccl|sockets",
    .summary = "measure this machine's GPUs and NCCL",
    .about = "Loads the NVIDIA driver's library and NCCL at run time; says in one line what is missing. Each result of "
             "NCCL is checked. The CSV starts with facts of the machine and is what `collsim validate` reads.",
    .tables = tables,
    .min_operands = 1,
    .max_operands = 1,
    .operand_words = "copies|nccl|sockets",
    .examples = examples,
    .run = run_probe,
};
