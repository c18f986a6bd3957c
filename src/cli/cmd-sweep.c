/* collsim sweep: an experiment file's points, on threads, shards or MPI ranks. */
#include "cli/cli.h"
#include "cli/messages.h"
#include "exp/sweep-ranks.h"
#include "report/outputs.h"

#include <string.h>

/* --- what is asked -------------------------------------------------------------------------- */

/* "2/4": the third of four, as $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT of an array from 0. */
static gboolean read_shard(const CliArgs *args, CsimSweepOptions *options, GError **error) {
  const char *text = cli_args_value(args, "shard");
  options->n_shards = 1;
  if (!text) return TRUE;
  g_auto(GStrv) parts = g_strsplit(text, "/", 2);
  guint64 shard, n;
  gboolean good = parts[0] && parts[1] && g_ascii_string_to_unsigned(parts[1], 10, 1, 100000, &n, NULL) && g_ascii_string_to_unsigned(parts[0], 10, 0, n - 1, &shard, NULL);
  if (!good) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--shard: \"%s\" is not possible; allowed: I/N with I from 0 to N-1", text);
    return FALSE;
  }
  options->shard = (guint)shard;
  options->n_shards = (guint)n;
  return TRUE;
}

static gboolean read_options(const CliArgs *args, CsimSweepOptions *options, GError **error) {
  if (!cli_int_option(args, "jobs", 1, 1024, &options->jobs, error) || !read_shard(args, options, error)) return FALSE;
  if (!cli_args_flag(args, "merge") || options->n_shards == 1) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--merge puts all shards together; it goes without --shard");
  return FALSE;
}

static void progress(guint done, guint of, void *data) { cli_progress_even(done, of, "points"); }

/* --- what came out ----------------------------------------------------------------------------- */

static void print_summary(const CsimExperiment *e, const CsimSweepOptions *options, const CsimSweepSummary *s) {
  g_autofree char *shard = options->n_shards > 1 ? g_strdup_printf(", shard %u/%u", options->shard, options->n_shards) : g_strdup("");
  printf("%s%s: %u points, %u computed, %u were there; results in %s\n", e->name, shard, s->points, s->computed, s->reused, options->folder);
  if (s->stale) printf("%u stored results are of other input, and are left out\n", s->stale);
  if (s->failed) printf("%u points could not be run; the first: %s\n", s->failed, s->first_failure);
  if (s->missing) printf("%u points are missing; the same command goes on\n", s->missing);
}

/* Tables to standard output, plots to the folder; nothing while points are missing. */
static gboolean write_outputs(const CliArgs *args, const CsimSweep *sweep, const CsimExperiment *e, const CsimSweepOptions *options, GError **error) {
  g_autoptr(CsimTable) rows = csim_sweep_table(sweep), links = csim_sweep_links(sweep);
  g_autoptr(GString) text = g_string_new(NULL);
  if (!csim_outputs_write(e, rows, links, options->folder, text, error)) return FALSE;
  if (!cli_args_flag(args, "quiet") && text->len > 0) printf("\n%s", text->str);
  return TRUE;
}

static int finish(const CliArgs *args, CsimSweep *sweep, const CsimExperiment *e, const CsimSweepOptions *options) {
  g_autoptr(GError) error = NULL;
  CsimSweepSummary summary;
  cli_progress_clear();
  if (!csim_sweep_finish(sweep, &summary, &error)) return cli_fail(error);
  if (!cli_args_flag(args, "quiet")) print_summary(e, options, &summary);
  gboolean found = summary.failed > 0 || summary.missing > 0, whole = summary.missing == 0 && options->n_shards == 1;
  csim_sweep_summary_clear(&summary);
  if (whole && !write_outputs(args, sweep, e, options, &error)) return cli_fail(error);
  if (*cli_interrupt()) return CLI_INTERRUPTED;
  return found ? CLI_FINDINGS : CLI_OK;
}

/* Where results go if nothing is said: beside the experiment, named after it. */
static char *default_folder(const CsimExperiment *e) {
  g_autofree char *name = g_strconcat(e->name, ".results", NULL);
  return g_strdelimit(g_steal_pointer(&name), "/ ", '-');
}

/* Alone, or as rank 0 of several. */
static int lead(const CliArgs *args, const CsimExperiment *e, const CsimSweepOptions *options, const CsimMessages *messages) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimSweep) sweep = csim_sweep_new(e, options, &error);
  if (!sweep) return cli_fail(error);
  gboolean done = cli_args_flag(args, "merge") || (messages ? csim_sweep_lead(sweep, messages, &error) : csim_sweep_run(sweep, &error));
  return done ? finish(args, sweep, e, options) : cli_fail(error);
}

static int run_sweep(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  const CsimMessages *messages = NULL;
  CsimSweepOptions options = {.jobs = 1, .interrupt = cli_interrupt(), .progress = progress};
  if (!read_options(args, &options, &error)) return cli_fail(error);
  g_autoptr(CsimExperiment) e = csim_experiment_read(cli_args_operand(args, 0), &error);
  if (!e || !cli_messages(&messages, &error)) return cli_fail(error);
  g_autofree char *folder = default_folder(e);
  options.folder = cli_args_value(args, "out") ? cli_args_value(args, "out") : folder;
  int code = CLI_OK;
  if (!messages || messages->rank == 0) code = lead(args, e, &options, messages);
  else if (!csim_sweep_follow(e, messages, options.interrupt, &error)) code = cli_fail(error);
  if (messages && code <= CLI_FINDINGS) messages->finish(); /* else mpirun sees the exit code, and ends the others */
  return code;
}

static const CliOption options_table[] = {
  {'j', "jobs", "N", "points at once (1)", NULL, NULL},
  {0, "out", "DIR", "folder of the results (NAME.results)", "@file", NULL},
  {0, "shard", "I/N", "only every N-th point from the I-th on: one task of an array", NULL, NULL},
  {0, "merge", NULL, "compute nothing; put the results of all shards together", NULL, NULL},
  {'q', "quiet", NULL, "print nothing but errors", NULL, NULL},
  {0},
};
static const CliOption *const tables[] = {options_table, NULL};

static const char *const examples[] = {
  "collsim sweep experiments/ndr-1024/experiment.json -j 2 --out ndr-1024", "a shipped experiment, with its tables and plots",
  "collsim sweep question.json --shard $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT --out results", "one task of a Slurm array",
  "collsim sweep question.json --merge --out results", "when all of them are done",
  NULL,
};

const CliVerb cli_verb_sweep = {
  .name = "sweep",
  .operands = "EXPERIMENT.json",
  .summary = "run every point of an experiment, with tables and plots",
  .about = "Results are kept one by one: a killed sweep goes on where it was, and only what was changed is computed anew. The files are the "
           "same however the work was divided.",
  .tables = tables,
  .min_operands = 1,
  .max_operands = 1,
  .operand_words = "@file",
  .examples = examples,
  .run = run_sweep,
};
