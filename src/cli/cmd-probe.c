/* collsim probe: measures this machine through CUDA, NCCL and verbs. */
#include "cli/cli.h"
#include "probe/copies.h"
#include "probe/nccl-run.h"
#include "probe/sockets.h"

#include "base/units.h"
#include <string.h>

/* --- values ----------------------------------------------------------------------- */

static gboolean int_option(const CliArgs *args, const char *name, int min, int max, int *out, GError **error) {
  const char *text = cli_args_value(args, name);
  gint64 value;
  if (!text) return TRUE;
  if (g_ascii_string_to_signed(text, 10, min, max, &value, NULL)) {
    *out = (int)value;
    return TRUE;
  }
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--%s: \"%s\" is no whole number from %d to %d", name, text, min, max);
  return FALSE;
}

static gboolean size_option(const CliArgs *args, const char *name, CsimBytes *out, GError **error) {
  const char *text = cli_args_value(args, name);
  if (!text || csim_size_parse(text, out, error)) return TRUE;
  g_prefix_error(error, "--%s: ", name);
  return FALSE;
}

static gboolean seconds_option(const CliArgs *args, double *out, GError **error) {
  int value = (int)*out;
  if (!int_option(args, "limit", 0, 1000000, &value, error)) return FALSE;
  *out = value;
  return TRUE;
}

static gboolean sizes(const CliArgs *args, CsimBytes *min, CsimBytes *max, int *factor, GError **error) {
  if (!size_option(args, "minbytes", min, error) || !size_option(args, "maxbytes", max, error) ||
      !int_option(args, "stepfactor", 2, 1 << 20, factor, error))
    return FALSE;
  if (*min >= 4 && *min <= *max) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "sizes from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " bytes; allowed: from 4 on, not falling",
              *min, *max);
  return FALSE;
}

static gboolean launch_option(const CliArgs *args, CsimProbeLaunch *out, GError **error) {
  const char *text = cli_args_value(args, "launch");
  if (!text) return TRUE;
  for (int i = 0; csim_probe_launch_names[i]; i++)
    if (!strcmp(text, csim_probe_launch_names[i])) {
      *out = (CsimProbeLaunch)i;
      return TRUE;
    }
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--launch: \"%s\" is not known; process, thread or single", text);
  return FALSE;
}

/* "all_reduce,alltoall", "all" or nothing: every one that NCCL has. */
static gboolean coll_option(const CliArgs *args, GArray *out, GError **error) {
  const char *text = cli_args_value(args, "collective");
  g_auto(GStrv) words = g_strsplit(text ? text : "all_reduce", ",", -1);
  for (char **word = words; *word; word++) {
    CsimColl coll;
    if (!strcmp(*word, "all")) {
      for (int c = 0; c < CSIM_COLL_HYPERCUBE; c++) {
        CsimColl each = (CsimColl)c;
        g_array_append_val(out, each);
      }
    } else if (csim_coll_parse(*word, &coll)) {
      g_array_append_val(out, coll);
    } else {
      g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE,
                  "-c: \"%s\" is no collective; all, all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall, "
                  "sendrecv, gather, scatter",
                  *word);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean variables(const CliArgs *args, GPtrArray *out, GError **error) {
  for (guint i = 0; i < cli_args_n_given(args); i++) {
    CliGiven given = cli_args_given(args, i);
    if (strcmp(given.option->name, "env")) continue;
    if (!g_str_has_prefix(given.value, "NCCL_") || !strchr(given.value, '=')) {
      g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "-x: \"%s\" is not NCCL_NAME=VALUE", given.value);
      return FALSE;
    }
    g_ptr_array_add(out, (void *)given.value);
  }
  g_ptr_array_add(out, NULL);
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
  if (!sizes(args, &options.min, &options.max, &options.factor, &error) ||
      !int_option(args, "gpu", 0, 1023, &options.gpu, &error) || !seconds_option(args, &options.limit_s, &error) ||
      !csim_probe_gpus(&gpus, &error))
    return cli_fail(error);
  csim_probe_copies(&options, rows, &error);
  g_autoptr(CsimProbeTable) table = csim_copies_table(rows, &gpus);
  return finish(args, table, error);
}

static gboolean nccl_options(const CliArgs *args, CsimNcclOptions *o, GError **error) {
  o->library = cli_args_value(args, "nccl");
  o->netns = cli_args_value(args, "netns");
  o->dump = cli_args_value(args, "dump");
  return sizes(args, &o->min, &o->max, &o->factor, error) && launch_option(args, &o->launch, error) &&
         int_option(args, "gpus", 1, 1024, &o->n_gpus, error) &&
         int_option(args, "ranks", 2, CSIM_PROBE_MAX_RANKS, &o->n_ranks, error) &&
         int_option(args, "iters", 1, 100000, &o->iters, error) && int_option(args, "warmup", 0, 100000, &o->warmups, error) &&
         seconds_option(args, &o->limit_s, error);
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
  if (!coll_option(args, colls, &error) || !variables(args, given, &error) || !nccl_options(args, &options, &error))
    return cli_fail(error);
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
  if (!int_option(args, "ranks", 2, CSIM_SOCKET_MAX_RANKS, &options.n_ranks, &error) ||
      !seconds_option(args, &options.limit_s, &error))
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
    {'b', "minbytes", "SIZE", "smallest size (copies 4, nccl 8)", NULL, NULL},
    {'e', "maxbytes", "SIZE", "largest size (copies 1G, nccl 128M)", NULL, NULL},
    {'f', "stepfactor", "N", "factor between sizes (copies 4, nccl 2)", NULL, NULL},
    {0, "limit", "SECONDS", "kill the probe after so long, 0: never (copies 300, nccl 600, sockets 60)", NULL, NULL},
    {0, "json", NULL, "one JSON object in place of CSV", NULL, NULL},
    {0},
};
static const CliOption copies_table[] = {
    {0, "gpu", "N", "copies: the GPU that is looked at, with its host and the next GPU (0)", NULL, NULL},
    {0},
};
static const CliOption nccl_table[] = {
    {'c', "collective", "LIST", "nccl: collectives, a comma between them, or all (all_reduce)",
     "all|all_reduce|all_gather|reduce_scatter|broadcast|reduce|alltoall|sendrecv|gather|scatter", NULL},
    {'g', "gpus", "N", "nccl: the first N GPUs (all that are visible)", NULL, NULL},
    {0, "ranks", "N", "nccl, sockets: so many; more than GPUs share them as hosts of their own (one a GPU)", NULL, NULL},
    {0, "launch", "HOW", "nccl: a process or thread a rank, or a single thread for all (process)", "process|thread|single", NULL},
    {'n', "iters", "N", "nccl: timed calls, back to back (20)", NULL, NULL},
    {'w', "warmup", "N", "nccl: calls before them (5)", NULL, NULL},
    {'x', "env", "NCCL_X=V", "nccl: a variable for the ranks; may be repeated", NULL, NULL},
    {0, "netns", "PREFIX", "nccl, sockets: rank N runs in network namespace PREFIXN (as root)", NULL, NULL},
    {0, "nccl", "FILE", "nccl: the library (libnccl.so.2)", "@file", NULL},
    {0, "dump", "DIR", "nccl: what NCCL says of itself in a pass before: topo.xml, graph.xml, nccl.log", "@file", NULL},
    {0, "tag", "TEXT", "nccl: name of the series in the table (default)", NULL, NULL},
    {0},
};
static const CliOption *const tables[] = {common, copies_table, nccl_table, cli_options_output, NULL};

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
