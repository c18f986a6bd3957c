/* collsim env, algos, models: what exists, one line each. */
#include "cli/cli.h"
#include "exp/lists.h"

#include <string.h>

static int run_env(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GString) text = g_string_new(NULL);
  const char *name = cli_args_operand(args, 0);
  if (!name) csim_list_vars(text);
  else if (!csim_list_var(text, name, &error)) return cli_fail(error);
  return cli_write(NULL, text->str);
}

static int run_algos(const CliArgs *args) {
  g_autoptr(GString) text = g_string_new(NULL);
  csim_list_algos(text);
  return cli_write(NULL, text->str);
}

static int run_models(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimRunArgs) run = cli_run_args(args, &error);
  if (!run) return cli_fail(error);
  CsimRunSpec spec = csim_run_args_spec(run);
  g_autoptr(GString) text = g_string_new(NULL);
  if (!csim_list_models(text, &spec, cli_args_flag(args, "assumptions"), cli_args_flag(args, "json"), &error)) return cli_fail(error);
  return cli_write(cli_args_value(args, "output"), text->str);
}

/* Shipped nodes, and nothing if the word is a path already. */
void cli_print_targets(const char *start) {
  g_autoptr(GString) text = g_string_new(NULL);
  csim_list_targets(text);
  g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
  for (char **line = lines; *line; line++) {
    (*line)[strcspn(*line, "\t")] = '\0';
    if (**line && g_str_has_prefix(*line, start)) puts(*line);
  }
}

const CliVerb cli_verb_env = {
  .name = "env",
  .operands = "[NAME]",
  .summary = "the NCCL_* variables: default, effect, and whether the simulator acts on them",
  .max_operands = 1,
  .run = run_env,
};

const CliVerb cli_verb_algos = {
  .name = "algos",
  .operands = "",
  .summary = "the algorithms and the collectives each one does",
  .run = run_algos,
};

static const CliOption model_options[] = {
  {0, "assumptions", NULL, "only the constants that nobody has measured", NULL, NULL},
  {0, "json", NULL, "a JSON array", NULL, NULL},
  {0},
};
static const CliOption *const model_tables[] = {model_options, cli_options_constants, cli_options_output, NULL};

const CliVerb cli_verb_models = {
  .name = "models",
  .operands = "",
  .summary = "every constant of the hardware catalogue, with its source",
  .tables = model_tables,
  .run = run_models,
};
