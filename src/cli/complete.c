/* Words for shell completion: `collsim __complete WORDS... CURRENT` prints one candidate a line. data/completions calls it. */
#include "cli/cli.h"

#include "report/report.h"

#include <string.h>

typedef struct { const CliOption *found; const char *word; } Find;

static void find_option(const CliOption *option, void *data) {
  Find *find = data;
  const char *word = find->word;
  gboolean hit = g_str_has_prefix(word, "--") ? !strcmp(word + 2, option->name) : word[0] == '-' && word[1] == option->letter && option->letter && !word[2];
  if (hit) find->found = option;
}

static void print_option(const CliOption *option, void *data) {
  g_autofree char *name = g_strconcat("--", option->name, NULL);
  if (g_str_has_prefix(name, data)) puts(name);
}

static void print_words(const char *words, const char *start) {
  g_auto(GStrv) list = g_strsplit(words, "|", -1);
  for (char **word = list; *word; word++)
    if (g_str_has_prefix(*word, start)) puts(*word);
}

static void print_verbs(const char *start) {
  for (const CliVerb *const *verb = cli_verbs; *verb; verb++)
    if (g_str_has_prefix((*verb)->name, start)) puts((*verb)->name);
}

/* "@file" is left to the shell: the script sees no candidate and completes file names. */
static void print_values(const char *words, const char *start) {
  if (!words || !strcmp(words, "@file")) return;
  if (!strcmp(words, "@verb")) print_verbs(start);
  else if (!strcmp(words, "@target")) cli_print_targets(start);
  else print_words(words, start);
}

int cli_complete(char **words) {
  guint n = g_strv_length(words);
  if (n == 0) return CLI_USAGE;
  const char *current = words[n - 1];
  const CliVerb *verb = n > 1 ? cli_verb_find(words[0]) : NULL;
  if (n == 1) print_verbs(current);
  if (!verb) return CLI_OK;
  Find before = {NULL, words[n - 2]};
  if (n > 2) cli_verb_foreach_option(verb, find_option, &before);
  if (before.found && before.found->arg) print_values(before.found->words, current);
  else if (current[0] == '-') cli_verb_foreach_option(verb, print_option, (void *)current);
  else print_values(verb->operand_words, current);
  return CLI_OK;
}
