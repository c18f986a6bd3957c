/* collsim conformance: do we decide exactly as NCCL does? */
#include "cli/cli.h"
#include "exp/conformance.h"

#include <string.h>

typedef struct { guint files, equal, unreadable; } Score;

static void print_json(cJSON *array) {
  char *text = cJSON_Print(array);
  puts(text);
  cJSON_free(text);
}

/* One vector; a file that cannot be read counts as different, and makes the exit code that of bad input. */
static void compare(const char *path, const CsimConformanceOptions *options, cJSON *array, Score *score) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimConformance) result = csim_conformance_file(path, options, &error);
  score->files++;
  if (!result) {
    cli_fail(error);
    score->unreadable++;
    return;
  }
  score->equal += result->differences->len == 0;
  if (array) {
    cJSON_AddItemToArray(array, csim_conformance_json(result));
    return;
  }
  g_autofree char *text = csim_conformance_text(result);
  printf("%s%s", text, g_str_has_suffix(text, "\n") ? "" : "\n");
  fflush(stdout);
}

static int run_conformance(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) paths = g_ptr_array_new();
  for (guint i = 0; i < cli_args_n_operands(args); i++) g_ptr_array_add(paths, (void *)cli_args_operand(args, i));
  g_ptr_array_add(paths, NULL);
  g_autoptr(GPtrArray) files = csim_conformance_expand((const char *const *)paths->pdata, &error);
  if (!files) return cli_fail(error);
  CsimConformanceOptions options = {.topologies = cli_args_value(args, "topologies")};
  cJSON *array = cli_args_flag(args, "json") ? cJSON_CreateArray() : NULL;
  const volatile int *interrupt = cli_interrupt();
  Score score = {0};
  for (guint i = 0; i < files->len && !*interrupt; i++) {
    cli_progress(i, files->len, "files");
    compare(g_ptr_array_index(files, i), &options, array, &score);
  }
  cli_progress_clear();
  if (array) print_json(array);
  cJSON_Delete(array);
  fprintf(array ? stderr : stdout, "%u files, %u equal, %u different\n", score.files, score.equal, score.files - score.equal);
  return *interrupt ? CLI_INTERRUPTED : score.unreadable ? CLI_USAGE : score.equal == score.files ? CLI_OK : CLI_FINDINGS;
}

static const CliOption options_table[] = {
  {0, "topologies", "DIR", "where the topology files are (default: topologies-real beside the vectors' folder)", "@file", NULL},
  {0, "json", NULL, "a JSON array, one object a file; the summary goes to standard error", NULL, NULL},
  {0},
};
static const CliOption *const tables[] = {options_table, NULL};

const CliVerb cli_verb_conformance = {
  .name = "conformance",
  .operands = "VECTORS...",
  .summary = "compare graphs, rings, trees, tables and choices with vectors of NCCL itself",
  .about = "VECTORS are files or folders. Per file: equal, or the first difference of each field with both values. The last line is "
           "`N files, N equal, N different`; the exit code is 1 if any differs.",
  .tables = tables,
  .min_operands = 1,
  .max_operands = -1,
  .operand_words = "@file",
  .run = run_conformance,
};
