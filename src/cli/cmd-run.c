/* collsim run: the nccl-tests table of a cluster that need not exist. */
#include "cli/cli.h"
#include "exp/run-threads.h"
#include "report/gnuplot.h"
#include "report/packets.h"
#include "report/plot.h"
#include "report/report.h"
#include "report/trace.h"

#include <string.h>

static const CliOption options[] = {
  {'c', "collective", "NAME", "all_reduce (default), all_gather, reduce_scatter, broadcast, reduce, alltoall, sendrecv, gather, scatter, hypercube",
   "all_reduce|all_gather|reduce_scatter|broadcast|reduce|alltoall|sendrecv|gather|scatter|hypercube", "collective"},
  {'b', "min-bytes", "SIZE", "smallest size (32M); K, M, G are powers of 1024", NULL, "min_bytes"},
  {'e', "max-bytes", "SIZE", "largest size (32M)", NULL, "max_bytes"},
  {'f', "factor", "N", "multiply the size by N from row to row", NULL, "factor"},
  {'i', "step", "SIZE", "or add this much (1M)", NULL, "step_bytes"},
  {'d', "type", "NAME", "element type: float (default), half, bfloat16, int8 ...",
   "int8|uint8|int32|uint32|int64|uint64|half|float|double|bfloat16|f8e4m3|f8e5m2", "type"},
  {0, "redop", "NAME", "reduction: sum (default), prod, min, max, avg", "sum|prod|min|max|avg", "redop"},
  {'r', "root", "RANK", "root of broadcast, reduce, gather, scatter (0)", NULL, "root"},
  {'n', "iters", "N", "back-to-back calls; the time is their period (20)", NULL, "iters"},
  {0, "launch", "HOW", "how the host drives the GPUs: process (default), thread, single", "process|thread|single", "launch"},
  {0, "host", "KIND", "bare (default) metal or vm: in a virtual machine a launch costs more", "bare|vm", "host"},
  {0, "fidelity", "NAME", "flow (default): simulate; packet: with switch queues, PFC, ECN, credits; model: NCCL's own prediction", "model|flow|packet", "fidelity"},
  {0, "seed", "N", "seed of every random stream (1)", NULL, "seed"},
  {0, "queue", "NAME", "event queue: radix (default), heap4; the result is the same", "radix|heap4", "queue"},
  {'j', "jobs", "N", "sizes at once (as many as processors, up to 8); the output is the same", NULL, NULL},
  {0, "no-symmetry", NULL, "simulate also the ranks that must behave like others; slower, the same times", NULL, "no_symmetry"},
  {0, "whole-fabric", NULL, "leave no switch-to-switch link out, also those that cannot be the limit, so that all loads show; slower, times alike to 0.1 %", NULL, "whole_fabric"},
  {0},
};

static const CliOption outputs[] = {
  {0, "json", NULL, "one JSON object", NULL, NULL},
  {0, "csv", NULL, "one line a size", NULL, NULL},
  {0, "explain", NULL, "after the table: share of the time by stage, and the binding link", NULL, NULL},
  {0, "links", "N", "how many of the most used links --json (8) and --explain (4) name", NULL, NULL},
  {0, "digest", NULL, "digest of the whole event history, under the table", NULL, "digest"},
  {0, "trace", "FILE", "what happens in the largest size, for chrome://tracing or ui.perfetto.dev (JSON)", "@file", NULL},
  {0, "series", "FILE", "queue, rate and pauses of the worst ports over time in the largest size, at packet fidelity (CSV)", "@file", NULL},
  {0, "series-plot", "FILE", "the same, drawn by gnuplot (.svg or .png)", "@file", NULL},
  {0, "plot", "FILE", "busbw and time over size, drawn by gnuplot (.svg or .png)", "@file", NULL},
  {'q', "quiet", NULL, "no warnings", NULL, NULL},
  {0},
};

static const CliOption *const tables[] = {options, cli_options_machine, cli_options_constants, outputs, cli_options_output, NULL};

static const CsimReportFormat *chosen_format(const CliArgs *args, GError **error) {
  gboolean json = cli_args_flag(args, "json"), csv = cli_args_flag(args, "csv");
  const char *path = cli_args_value(args, "output");
  if (json && csv) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--json and --csv exclude each other");
    return NULL;
  }
  if (!json && !csv && path) {
    json = g_str_has_suffix(path, ".json");
    csv = g_str_has_suffix(path, ".csv");
  }
  return json ? &csim_report_json : csv ? &csim_report_csv : &csim_report_table;
}

/* Everything that a bad file name could spoil is checked before the first second of simulation. */
static gboolean check_files(const CliArgs *args, GError **error) {
  const char *const plots[] = {cli_args_value(args, "plot"), cli_args_value(args, "series-plot")};
  for (guint i = 0; i < G_N_ELEMENTS(plots); i++)
    if (plots[i] && !csim_gnuplot_check(plots[i], error)) return FALSE;
  return TRUE;
}

static void put(FILE *file, GString *text) {
  fwrite(text->str, 1, text->len, file);
  fflush(file); /* rows show as they are ready, also in a pipe */
  g_string_truncate(text, 0);
}

/* Sizes at once when the user has not said: memory is that of as many runs. */
#define JOBS_MOST 8

/* The run's own thread, or several; a trace is of the run itself. */
static gboolean start_threads(const CliArgs *args, CsimRun *run, CsimRunThreads **threads, GError **error) {
  int n = (int)MIN(g_get_num_processors(), JOBS_MOST);
  *threads = NULL;
  if (!cli_int_option(args, "jobs", 1, 1024, &n, error)) return FALSE;
  if (n == 1 || csim_run_n_rows(run) == 1 || cli_args_value(args, "trace")) return TRUE;
  *threads = csim_run_threads_new(run, n, error);
  return *threads != NULL;
}

/* Computes and prints row by row. FALSE with an error; an interruption is no error: report->complete is FALSE then. */
static gboolean print_rows(CsimRun *run, CsimRunThreads *threads, CsimReport *report, const CsimReportFormat *format, FILE *file, GError **error) {
  g_autoptr(GString) text = g_string_new(NULL);
  guint n = csim_run_n_rows(run);
  if (format->begin) format->begin(text, report);
  put(file, text);
  for (guint i = 0; i < n; i++) {
    CsimRow row;
    GError *wrong = NULL;
    cli_progress(i, n, "sizes");
    if (!(threads ? csim_run_threads_row(threads, i, &row, &wrong) : csim_run_row(run, i, &row, &wrong))) {
      report->complete = FALSE;
      if (!g_error_matches(wrong, CSIM_ERROR, CSIM_ERROR_INTERRUPTED)) {
        g_propagate_error(error, wrong);
        return FALSE;
      }
      g_error_free(wrong);
      break;
    }
    g_array_append_val(report->rows, row);
    cli_progress_clear();
    if (format->row) format->row(text, report, &row);
    put(file, text);
  }
  cli_progress_clear();
  if (format->end) format->end(text, report);
  put(file, text);
  return TRUE;
}

static gboolean write_extras(const CliArgs *args, CsimRun *run, const CsimReport *report, FILE *file, GError **error) {
  if (cli_args_flag(args, "explain")) {
    g_autoptr(GString) text = g_string_new(NULL);
    csim_report_explain(text, report);
    put(file, text);
  }
  const char *trace = cli_args_value(args, "trace"), *plot = cli_args_value(args, "plot");
  const char *series = cli_args_value(args, "series"), *series_plot = cli_args_value(args, "series-plot");
  if (trace && !csim_trace_write(trace, run, error)) return FALSE;
  if (series && !csim_packets_series_write(series, report, error)) return FALSE;
  if (series_plot && !csim_packets_series_plot(series_plot, report, error)) return FALSE;
  return !plot || csim_plot_write(plot, report, error);
}

/* With a machine-readable form on standard output, the explanation must not mix with it. */
static gboolean check_mix(const CliArgs *args, const CsimReportFormat *format, GError **error) {
  if (!cli_args_flag(args, "explain") || format == &csim_report_table) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--explain is text; it goes with the table, not with --json or --csv");
  return FALSE;
}

static gboolean run_to(const CliArgs *args, CsimRun *run, CsimReport *report, const CsimReportFormat *format, GError **error) {
  const char *path = cli_args_value(args, "output");
  g_autoptr(CsimRunThreads) threads = NULL;
  FILE *file = start_threads(args, run, &threads, error) ? cli_open_output(path, error) : NULL;
  if (!file) return FALSE;
  gboolean done = print_rows(run, threads, report, format, file, error) && write_extras(args, run, report, file, error);
  return cli_close_output(file, path, done ? error : NULL) && done;
}

/* How many links a row is to name; the machine-readable form has room for more. */
static gboolean read_links(const CliArgs *args, const CsimReportFormat *format, guint *links, GError **error) {
  const char *text = cli_args_value(args, "links");
  gint64 n = format == &csim_report_json ? 8 : cli_args_flag(args, "explain") ? 4 : 0;
  if (text && !g_ascii_string_to_signed(text, 10, 0, 100000, &n, NULL)) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--links: \"%s\" is not possible; allowed: a whole number from 0 to 100000", text);
    return FALSE;
  }
  *links = (guint)n;
  return TRUE;
}

static int run_verb(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  const CsimReportFormat *format = chosen_format(args, &error);
  if (!format || !check_mix(args, format, &error) || !check_files(args, &error)) return cli_fail(error);
  g_autoptr(CsimRunArgs) run_args = cli_run_args(args, &error);
  if (!run_args) return cli_fail(error);
  CsimRunSpec spec = csim_run_args_spec(run_args);
  spec.interrupt = cli_interrupt();
  spec.trace = cli_args_value(args, "trace") != NULL;
  spec.packet_series = cli_args_value(args, "series") || cli_args_value(args, "series-plot");
  if (!read_links(args, format, &spec.links, &error)) return cli_fail(error);
  g_autoptr(CsimRun) run = csim_run_new(&spec, &error);
  if (!run) return cli_fail(error);
  if (!cli_args_flag(args, "quiet")) cli_warn_all(csim_run_info(run)->warnings);
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(CsimRow));
  CsimReport report = {csim_run_info(run), csim_run_spec(run), cli_command_line(), rows, TRUE};
  if (!run_to(args, run, &report, format, &error)) return cli_fail(error);
  return report.complete ? CLI_OK : CLI_INTERRUPTED;
}

static const char *const examples[] = {
  "collsim run 'dgx-h100*128' -b 1M -e 1G -f 2", "1024 GPUs, all_reduce, 1 MiB to 1 GiB",
  "collsim run topo.xml -c all_gather -b 8 -e 8G -f 2 --json -o rows.json", "your own node, from NCCL_TOPO_DUMP_FILE",
  "collsim run 'dgx-h100*4' -b 1G --algo Tree --proto Simple --explain", "force a choice and see where the time goes",
  NULL,
};

const CliVerb cli_verb_run = {
  .name = "run",
  .operands = "TARGET",
  .summary = "simulate a collective over a range of sizes, printed as nccl-tests prints it",
  .about = "TARGET is a shipped node with a count (dgx-h100*128), an NCCL topology file (FILE.xml or FILE.xml*16), or a cluster (FILE.json).\n\n"
           "NCCL_* variables are taken from the environment, ~/.nccl.conf and /etc/nccl.conf as NCCL does it; -x wins over them.",
  .tables = tables,
  .min_operands = 1,
  .max_operands = 1,
  .operand_words = "@target",
  .examples = examples,
  .run = run_verb,
};
