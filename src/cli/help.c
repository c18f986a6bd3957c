/* help, version, and --help of every verb, from the verbs' tables. */
#include "cli/cli.h"

#include "collsim/version.h"

#include <string.h>

enum { OPTION_COLUMN = 28, WIDTH = 100 };

/* Words wrapped at WIDTH, later lines indented. */
static void print_wrapped(FILE *out, const char *text, int column, int indent) {
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  for (char **word = words; *word; word++) {
    int length = (int)strlen(*word);
    if (word != words && column + 1 + length > WIDTH) {
      fprintf(out, "\n%*s", indent, "");
      column = indent;
    } else if (word != words) {
      fputc(' ', out);
      column++;
    }
    fputs(*word, out);
    column += length;
  }
  fputc('\n', out);
}

static char *option_usage(const CliOption *option) {
  g_autofree char *letter = option->letter ? g_strdup_printf("-%c, ", option->letter) : g_strdup("    ");
  return g_strdup_printf("  %s--%s%s%s", letter, option->name, option->arg ? " " : "", option->arg ? option->arg : "");
}

static void print_option(const CliOption *option, void *data) {
  FILE *out = data;
  g_autofree char *usage = option_usage(option);
  int length = (int)strlen(usage);
  fputs(usage, out);
  if (length + 2 > OPTION_COLUMN) {
    fputc('\n', out);
    length = 0;
  }
  fprintf(out, "%*s", OPTION_COLUMN - length, "");
  print_wrapped(out, option->help, OPTION_COLUMN, OPTION_COLUMN);
}

static void print_examples(FILE *out, const CliVerb *verb) {
  if (!verb->examples) return;
  fputs("\nExamples\n", out);
  for (const char *const *line = verb->examples; *line; line += 2) fprintf(out, "  # %s\n  %s\n", line[1], line[0]);
}

static void print_about(FILE *out, const char *about) {
  g_auto(GStrv) paragraphs = g_strsplit(about, "\n\n", -1);
  for (char **paragraph = paragraphs; *paragraph; paragraph++) {
    fputc('\n', out);
    print_wrapped(out, *paragraph, 0, 0);
  }
}

void cli_print_verb_help(FILE *out, const CliVerb *verb) {
  gboolean has_options = verb->tables && verb->tables[0];
  fprintf(out, "collsim %s%s%s%s\n%s\n", verb->name, *verb->operands ? " " : "", verb->operands, has_options ? " [OPTIONS]" : "", verb->summary);
  if (verb->about) print_about(out, verb->about);
  if (has_options) fputs("\nOptions\n", out);
  cli_verb_foreach_option(verb, print_option, out);
  print_examples(out, verb);
}

void cli_print_help(FILE *out) {
  fputs("collsim VERB [OPTIONS] ...\nHow long does this collective take on that GPU cluster, why, and what would change it?\n\nVerbs\n", out);
  for (const CliVerb *const *verb = cli_verbs; *verb; verb++) fprintf(out, "  %-12s %s\n", (*verb)->name, (*verb)->summary);
  fputs("\n`collsim VERB --help` shows a verb's options; `man collsim` shows all.\n\nExamples\n"
        "  collsim run 'dgx-h100*128' -b 1M -e 1G -f 2\n"
        "  collsim run topo.xml -c all_gather -b 8 -e 8G -f 2 --json\n"
        "\nExit codes: 0 fine, 1 findings, 2 bad usage or input, 3 limit reached, 70 a bug, 130 interrupted.\n",
        out);
}

static int run_help(const CliArgs *args) {
  const char *name = cli_args_operand(args, 0);
  const CliVerb *verb = name ? cli_verb_find(name) : NULL;
  if (name && !verb) {
    cli_warn("no verb \"%s\"; `collsim help` lists them", name);
    return CLI_USAGE;
  }
  if (verb) cli_print_verb_help(stdout, verb);
  else cli_print_help(stdout);
  return CLI_OK;
}

static int run_version(const CliArgs *args) {
  printf("collsim %s\n", COLLSIM_VERSION);
  return CLI_OK;
}

const CliVerb cli_verb_help = {
  .name = "help",
  .operands = "[VERB]",
  .summary = "this list, or a verb's options",
  .max_operands = 1,
  .operand_words = "@verb",
  .run = run_help,
};

const CliVerb cli_verb_version = {
  .name = "version",
  .operands = "",
  .summary = "the release",
  .run = run_version,
};
