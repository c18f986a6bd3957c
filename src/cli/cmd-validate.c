/* collsim validate: what was measured beside what is predicted. */
#include "cli/cmd-live.h"
#include "cli/probe-args.h"
#include "exp/validate.h"
#include "report/validate.h"

#include <string.h>

#define DEFAULT_LIMIT_S 60 /* a set; a sweep of 1 KiB to 1 GiB on 64 GPUs takes a second or two */

/* --- what is asked -------------------------------------------------------------- */

static gboolean read_sets(const CliArgs *args, GPtrArray *sets, GError **error) {
  const char *index = cli_args_value(args, "index");
  for (guint i = 0; i < cli_args_n_operands(args); i++) {
    const char *path = cli_args_operand(args, i);
    gboolean folder = g_file_test(path, G_FILE_TEST_IS_DIR);
    if (!folder && index) {
      g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--index describes a folder, and %s is none", path);
      return FALSE;
    }
    if (!(folder ? csim_measured_folder(sets, path, index, error) : csim_measured_file(sets, path, error)))
      return FALSE;
  }
  return TRUE;
}

/* --only: sets whose name holds one of the words. */
static void keep_only(GPtrArray *sets, const char *words) {
  g_auto(GStrv) list = g_strsplit(words ? words : "", ",", -1);
  for (guint i = 0; words && i < sets->len;) {
    const char *name = ((const CsimMeasuredSet *)g_ptr_array_index(sets, i))->facts[CSIM_FACT_NAME];
    gboolean found = FALSE;
    for (char **word = list; *word && !found; word++) found = name && **word && strstr(name, *word);
    if (found)
      i++;
    else
      g_ptr_array_remove_index(sets, i);
  }
}

static void progress(guint done, guint of, void *data) {
  cli_progress(done, of, "sets");
}

/* --- what comes out ------------------------------------------------------------- */

static void print(const CliArgs *args, const CsimValidation *v, GString *out) {
  gboolean verbose = cli_args_flag(args, "verbose");
  g_autoptr(GDateTime) now = g_date_time_new_now_utc();
  g_autofree char *date = g_date_time_format(now, "%Y-%m-%d");
  const char *limit = cli_args_value(args, "limit");
  g_autofree char *command = g_strdup_printf("./dev accuracy%s%s", limit ? " --limit " : "", limit ? limit : "");
  if (cli_args_flag(args, "json"))
    csim_report_validation_json(out, v, verbose);
  else if (cli_args_flag(args, "csv"))
    csim_report_validation_csv(out, v);
  else if (cli_args_flag(args, "markdown"))
    csim_report_validation_markdown(out, v, date, command);
  else
    csim_report_validation(out, v, verbose);
}

static gboolean write_plots(const CliArgs *args, const CsimValidation *v, GError **error) {
  const char *folder = cli_args_value(args, "plot");
  guint n = 0;
  if (!folder) return TRUE;
  gboolean drawn = csim_report_validation_plots(v, folder, &n, error);
  if (drawn) fprintf(stderr, "%u pages in %s\n", n, folder);
  return drawn;
}

static int finish(const CliArgs *args, const CsimValidation *v, double tolerance) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GString) out = g_string_new(NULL);
  cli_progress_clear();
  print(args, v, out);
  int code = cli_write(cli_args_value(args, "output"), out->str);
  if (code != CLI_OK) return code;
  if (!write_plots(args, v, &error)) return cli_fail(error);
  if (*cli_interrupt()) return CLI_INTERRUPTED;
  return tolerance < 0 || csim_validation_within(v, tolerance) ? CLI_OK : CLI_FINDINGS;
}

static gboolean read_options(const CliArgs *args, CsimValidateOptions *options, double *tolerance,
                             GError **error) {
  double percent = -1;
  const char *fidelity = cli_args_value(args, "fidelity");
  if (!cli_int_option(args, "jobs", 1, 1024, &options->jobs, error) ||
      !cli_number_option(args, "limit", 0, 1e6, &options->limit_s, error) ||
      !cli_uint64_option(args, "seed", 0, UINT64_MAX, &options->seed, error) ||
      !cli_number_option(args, "tolerance", 0, 1e6, &percent, error))
    return FALSE;
  *tolerance = percent / 100;
  options->has_fidelity = fidelity != NULL;
  if (!fidelity || csim_fidelity_parse(fidelity, &options->fidelity)) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--fidelity: \"%s\" is not known; model, flow or packet", fidelity);
  return FALSE;
}

static int run_validate(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(csim_measured_set_free),
                       constants = g_ptr_array_new();
  double tolerance;
  CsimValidateOptions options = {
      .target = cli_args_value(args, "target"),
      .limit_s = DEFAULT_LIMIT_S,
      .jobs = 1,
      .seed = 1,
      .all = cli_args_flag(args, "all"),
      .catalogue_file = cli_args_value(args, "catalogue"),
      .constants = cli_all_values(args, "set", constants),
      .interrupt = cli_interrupt(),
      .progress = progress,
  };
  if (!read_options(args, &options, &tolerance, &error)) return cli_fail(error);
  g_autoptr(CsimTargets) targets = csim_targets_load(cli_args_value(args, "targets"), &error);
  options.targets = targets;
  if (!targets) return cli_fail(error);
  if (cli_args_value(args, "live")) return cli_run_live(args, &options, tolerance);
  if (cli_args_n_operands(args) == 0) {
    cli_warn("`collsim validate` needs LOG|CSV|DIR...; `collsim validate --help` shows how");
    return CLI_USAGE;
  }
  if (!read_sets(args, sets, &error)) return cli_fail(error);
  keep_only(sets, cli_args_value(args, "only"));
  if (sets->len == 0) {
    cli_warn("nothing to validate: no set of measurements there");
    return CLI_USAGE;
  }
  g_autoptr(CsimValidation) v = csim_validate(sets, &options);
  return finish(args, v, tolerance);
}

static const CliOption options_table[] = {
    {0, "target", "TARGET",
     "what it was measured on, for every set (as in `collsim run`); otherwise rules find it", "@target",
     NULL},
    {0, "index", "INDEX.tsv", "what is known of the files of a folder (default: INDEX.tsv in it)", "@file",
     NULL},
    {0, "targets", "FILE", "rules from descriptions to targets (default: those compiled in)", "@file", NULL},
    {0, "only", "WORDS", "only sets whose name holds one of these words, a comma between them", NULL, NULL},
    {0, "all", NULL, "also run sets that are described too thinly to count", NULL, NULL},
    {0, "tolerance", "PERCENT", "exit code 1 if a set's median error is larger", NULL, NULL},
    {0, "limit", "SECONDS", "processor time for a set, 0: none (60)", NULL, NULL},
    {'j', "jobs", "N", "sets at once (1)", NULL, NULL},
    {0, "fidelity", "NAME", "model (NCCL's own prediction), flow or packet for every set (default: flow, or as a rule says)", "model|flow|packet", NULL},
    {0, "seed", "N", "seed of every random stream (1)", NULL, NULL},
    {'v', "verbose", NULL, "every size", NULL, NULL},
    {0, "json", NULL, "one JSON object", NULL, NULL},
    {0, "csv", NULL, "one line a size", NULL, NULL},
    {0, "markdown", NULL, "the accuracy page", NULL, NULL},
    {0, "plot", "DIR", "a page a set: measured, predicted, error; drawn by gnuplot (SVG, and PNG if its font is there)", "@file", NULL},
    {0},
};
static const CliOption *const tables[] = {options_table, cli_options_live, cli_options_probe_sizes, cli_options_nccl,
                                         cli_options_constants, cli_options_output, NULL};

static const char *const examples[] = {
    "collsim validate nccl-tests.log --target 'dgx-h100*4' -v",
    "your own log beside the prediction, size by size",
    "collsim validate --index INDEX.tsv measurements/ -j 2",
    "a folder of sets, mapped by what the index says of each",
    "collsim validate --live report/ -e 1G --forced --calibrate mine.json",
    "this machine's own GPUs: predict, run NCCL, compare; report/report.html",
    NULL,
};

const CliVerb cli_verb_validate = {
    .name = "validate",
    .operands = "LOG|CSV|DIR...",
    .summary = "compare measured collectives with what is predicted",
    .about = "Reads nccl-tests output as printed, CSV tables, and folders of both. The error of each set is "
             "printed, and what was left out with the reason.",
    .tables = tables,
    .min_operands = 0,
    .max_operands = -1,
    .operand_words = "@file",
    .examples = examples,
    .run = run_validate,
};
