/* collsim compare: two result files side by side. */
#include "cli/cli.h"
#include "exp/compare.h"
#include "report/compare.h"

#include <math.h>

/* Rows of which one is longer than the other by more than so much, or that the other file lacks. */
static guint count_beyond(const CsimComparison *c, double percent) {
  guint n = c->only_a + c->only_b;
  for (guint i = 0; i < c->pairs->len; i++) {
    const CsimPair *p = (const CsimPair *)g_ptr_array_index(c->pairs, i);
    n += !(fabs(p->time_b / p->time_a - 1) <= percent / 100) && !(isnan(p->time_a) && isnan(p->time_b));
  }
  return n;
}

static int run_compare(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  double tolerance = -1; /* none */
  const char *names[] = {cli_args_operand(args, 0), cli_args_operand(args, 1)};
  if (!cli_number_option(args, "tolerance", 0, HUGE_VAL, &tolerance, &error)) return cli_fail(error);
  CsimTable *a = csim_results_read(names[0], &error), *b = a ? csim_results_read(names[1], &error) : NULL;
  if (!b) {
    csim_table_free(a);
    return cli_fail(error);
  }
  g_autoptr(CsimComparison) c = csim_compare(a, b);
  g_autoptr(GString) text = g_string_new(NULL);
  if (cli_args_flag(args, "json")) csim_report_comparison_json(text, c, names[0], names[1]);
  else csim_report_comparison(text, c, names[0], names[1]);
  int code = cli_write(cli_args_value(args, "output"), text->str);
  if (code != CLI_OK || tolerance < 0) return code;
  return count_beyond(c, tolerance) ? CLI_FINDINGS : CLI_OK;
}

static const CliOption options_table[] = {
  {0, "tolerance", "PERCENT", "exit code 1 if a time differs by more, or a row is missing", NULL, NULL},
  {0, "json", NULL, "one JSON object", NULL, NULL},
  {0},
};
static const CliOption *const tables[] = {options_table, cli_options_output, NULL};

static const char *const examples[] = {
  "collsim compare before.json after.json", "what a change of a setting or of collsim itself made of every size",
  "collsim compare old/results.csv new/results.csv --tolerance 5", "two sweeps; exit code 1 if one row moved by more than 5 %",
  NULL,
};

const CliVerb cli_verb_compare = {
  .name = "compare",
  .operands = "A B",
  .summary = "two result files side by side: ratio per row, choice and bottleneck then and now",
  .about = "A and B are what `collsim run --json` or `--csv` wrote, or results.csv of `collsim sweep`. Rows are the same if collective, size, type, operation, "
           "root and all axes are.",
  .tables = tables,
  .min_operands = 2,
  .max_operands = 2,
  .operand_words = "@file",
  .examples = examples,
  .run = run_compare,
};
