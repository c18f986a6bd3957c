/* collsim topo, graph, tune: what NCCL would make of a target. */
#include "cli/cli.h"
#include "exp/inspect.h"
#include "exp/tuner.h"

#include <string.h>

/* NCCL's table has five functions; the others are made of sends and receives. */
static gboolean check_function(const CsimRunSpec *spec, GError **error) {
  if (spec->coll < CSIM_N_NCCL_FUNCS) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "NCCL's table has no %s; it has all_reduce, all_gather, reduce_scatter, broadcast, reduce", csim_coll_name(spec->coll));
  return FALSE;
}

/* Sizes of `tune --simulate` when none are asked for: enough to see every switch, cheap enough for a thousand GPUs. */
static void usual_sizes(CsimRunSpec *spec) {
  spec->min_bytes = 4 << 10;
  spec->max_bytes = 64 << 20;
  spec->factor = 4;
}

/* The target loaded as for a run, nothing simulated. */
static CsimRun *load(const CliArgs *args, gboolean usual, CsimRunArgs **run_args, GError **error) {
  *run_args = cli_run_args(args, error);
  if (!*run_args) return NULL;
  CsimRunSpec spec = csim_run_args_spec(*run_args);
  if (usual) usual_sizes(&spec);
  spec.fidelity = CSIM_FIDELITY_MODEL;
  spec.interrupt = cli_interrupt();
  if (!check_function(&spec, error)) return NULL;
  CsimRun *run = csim_run_new(&spec, error);
  if (run) cli_warn_all(csim_run_info(run)->warnings);
  return run;
}

/* --- topo --- */

static int check(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimRunArgs) run_args = cli_run_args(args, &error);
  if (!run_args) return cli_fail(error);
  CsimRunSpec spec = csim_run_args_spec(run_args);
  g_autoptr(GString) text = g_string_new(NULL);
  guint n = 0;
  if (!csim_inspect_check(text, &spec, &n, &error)) return cli_fail(error);
  int code = cli_write(cli_args_value(args, "output"), text->str);
  return code ? code : n ? CLI_FINDINGS : CLI_OK;
}

static int run_topo(const CliArgs *args) {
  if (cli_args_flag(args, "check")) return check(args);
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimRunArgs) run_args = NULL;
  g_autoptr(CsimRun) run = load(args, FALSE, &run_args, &error);
  if (!run) return cli_fail(error);
  const char *dot = cli_args_value(args, "dot");
  g_autofree char *whole = dot                             ? csim_inspect_dot(run)
                           : cli_args_flag(args, "json")   ? csim_inspect_json(run, CSIM_JSON_SYSTEM)
                           : cli_args_flag(args, "matrix") ? csim_inspect_matrix(run)
                                                           : NULL;
  if (whole) return cli_write(dot ? dot : cli_args_value(args, "output"), whole);
  g_autoptr(GString) text = g_string_new(NULL);
  csim_inspect_topo(text, run);
  return cli_write(cli_args_value(args, "output"), text->str);
}

static const CliOption topo_options[] = {
  {0, "json", NULL, "nodes, links and paths, in the names of the NCCL vectors", NULL, NULL},
  {0, "matrix", NULL, "who reaches whom how, in the form of nvidia-smi topo -m", NULL, NULL},
  {0, "dot", "FILE", "the graph for Graphviz (- for standard output)", "@file", NULL},
  {0, "check", NULL, "only what is doubtful, with file, line and cost in GB/s; exit code 1 if there is anything", NULL, NULL},
  {0},
};
static const CliOption *const topo_tables[] = {topo_options, cli_options_machine, cli_options_output, NULL};

const CliVerb cli_verb_topo = {
  .name = "topo",
  .operands = "TARGET",
  .summary = "the node graph that NCCL would build: nodes, links, bandwidths, nearest NICs",
  .tables = topo_tables,
  .min_operands = 1,
  .max_operands = 1,
  .operand_words = "@target",
  .run = run_topo,
};

/* --- graph --- */

static int run_graph(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimRunArgs) run_args = NULL;
  g_autoptr(CsimRun) run = load(args, FALSE, &run_args, &error);
  if (!run) return cli_fail(error);
  const char *path = cli_args_value(args, "output");
  g_autofree char *whole = cli_args_flag(args, "xml")    ? csim_inspect_graph_xml(run)
                           : cli_args_flag(args, "json") ? csim_inspect_json(run, CSIM_JSON_GRAPHS | CSIM_JSON_CHANNELS | CSIM_JSON_TREES)
                                                         : NULL;
  if (whole) return cli_write(path, whole);
  g_autoptr(GString) text = g_string_new(NULL);
  csim_inspect_graph(text, run);
  return cli_write(path, text->str);
}

static const CliOption graph_options[] = {
  {0, "json", NULL, "graphs, channels, rings and trees, in the names of the NCCL vectors", NULL, NULL},
  {0, "xml", NULL, "the graphs in the form of NCCL_GRAPH_DUMP_FILE, which NCCL_GRAPH_FILE reads", NULL, NULL},
  {0},
};
static const CliOption *const graph_tables[] = {graph_options, cli_options_machine, cli_options_output, NULL};

const CliVerb cli_verb_graph = {
  .name = "graph",
  .operands = "TARGET",
  .summary = "the rings, trees and channels that NCCL would search out",
  .tables = graph_tables,
  .min_operands = 1,
  .max_operands = 1,
  .operand_words = "@target",
  .run = run_graph,
};

/* --- tune --- */

static void show_progress(guint done, guint of) { cli_progress(done, of, "algorithm and protocol pairs"); }

static gboolean append_fastest(GString *text, const CsimRun *run, GError **error) {
  g_autoptr(GArray) rows = csim_inspect_fastest(run, show_progress, error);
  if (!rows) return FALSE;
  csim_inspect_fastest_text(text, rows, csim_run_spec(run)->coll);
  csim_inspect_switches_text(text, rows, csim_run_spec(run)->coll);
  return TRUE;
}

static void show_sizes(guint done, guint of) { cli_progress(done, of, "sizes"); }

static int run_search(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  CsimTunerOptions options = {.jobs = 1, .seeds = 5, .progress = show_sizes};
  if (!cli_int_option(args, "jobs", 1, 1024, &options.jobs, &error) || !cli_int_option(args, "seeds", 1, 1024, &options.seeds, &error)) return cli_fail(error);
  g_autoptr(CsimRunArgs) run_args = cli_run_args(args, &error);
  if (!run_args) return cli_fail(error);
  CsimRunSpec spec = csim_run_args_spec(run_args);
  spec.interrupt = cli_interrupt();
  g_autoptr(CsimTuner) search = csim_tuner(&spec, &options, &error);
  if (!search) return cli_fail(error);
  g_autoptr(GString) text = g_string_new(NULL);
  cli_progress_clear();
  if (cli_args_flag(args, "json")) csim_tuner_json(text, search, &spec);
  else csim_tuner_text(text, search, &spec);
  return cli_write(cli_args_value(args, "output"), text->str);
}

static int run_tune(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  if (cli_args_flag(args, "search")) return run_search(args);
  gboolean simulate = cli_args_flag(args, "simulate"), sized = cli_args_value(args, "min-bytes") || cli_args_value(args, "max-bytes");
  g_autoptr(CsimRunArgs) run_args = NULL;
  g_autoptr(CsimRun) run = load(args, simulate && !sized, &run_args, &error);
  if (!run) return cli_fail(error);
  g_autoptr(GString) text = g_string_new(NULL);
  if (cli_args_flag(args, "json")) {
    g_autofree char *json = csim_inspect_json(run, CSIM_JSON_TUNING);
    g_string_append(text, json);
  } else {
    csim_inspect_tune(text, run, cli_args_value(args, "collective") ? csim_run_spec(run)->coll : CSIM_N_COLLS);
    if (simulate && !append_fastest(text, run, &error)) return cli_fail(error);
  }
  return cli_write(cli_args_value(args, "output"), text->str);
}

static const CliOption tune_options[] = {
  {'c', "collective", "NAME", "only this one: all_reduce, all_gather, reduce_scatter, broadcast, reduce", "all_reduce|all_gather|reduce_scatter|broadcast|reduce", "collective"},
  {0, "json", NULL, "the table, thresholds and choices, in the names of the NCCL vectors", NULL, NULL},
  {0, "simulate", NULL, "also simulate every algorithm and protocol (4K to 64M by 4, or -b, -e, -f): the fastest at each size, and the sizes where it and NCCL's table switch", NULL, NULL},
  {0, "search", NULL, "find the NCCL variables with which each size simulates fastest; an export block, its gain over seeds, what present settings do", NULL, NULL},
  {0, "seeds", "N", "of a search: seeds for the spread of a gain (5)", NULL, NULL},
  {'j', "jobs", "N", "of a search: sizes at once (1)", NULL, NULL},
  {'b', "min-bytes", "SIZE", "smallest size to simulate", NULL, "min_bytes"},
  {'e', "max-bytes", "SIZE", "largest size to simulate", NULL, "max_bytes"},
  {'f', "factor", "N", "multiply the size by N from row to row", NULL, "factor"},
  {0},
};
static const CliOption *const tune_tables[] = {tune_options, cli_options_machine, cli_options_constants, cli_options_output, NULL};

static const char *const tune_examples[] = {
  "collsim tune 'dgx-h100*4' --search -b 64K -e 64M -f 8 -x NCCL_PROTO=Simple", "which settings would be better, and what does this one cost?",
  "collsim tune 'dgx-h100*4' -c all_reduce --simulate", "where does NCCL's choice lose, by how much, and where should it switch?",
  NULL,
};

const CliVerb cli_verb_tune = {
  .name = "tune",
  .operands = "TARGET",
  .summary = "NCCL's cost table and its choice over sizes, against what simulates fastest",
  .tables = tune_tables,
  .min_operands = 1,
  .max_operands = 1,
  .operand_words = "@target",
  .examples = tune_examples,
  .run = run_tune,
};
