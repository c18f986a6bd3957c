/*
 * cli/options.h - table-driven options: one table a verb gives parsing, --help, completion and the man page.
 *
 * Used by: every cmd-*.c (declares a table), main.c (parses), help.c, complete.c, man.c (print it).
 *
 * Grammar: --name VALUE, --name=VALUE, --flag, -l VALUE, -lVALUE, flags may be bundled (-qv); `--` ends the options;
 * options and positional arguments may mix. A value may start with '-' only in the '=' form or attached to its letter.
 */
#ifndef CSIM_CLI_OPTIONS_H
#define CSIM_CLI_OPTIONS_H

#include <glib.h>

typedef struct {
  char letter;       /* 0: none */
  const char *name;  /* long name without dashes */
  const char *arg;   /* what stands for the value in help ("SIZE"); NULL: a flag */
  const char *help;  /* one line, no full stop */
  const char *words; /* completion of the value: "process|thread|single", or "@file", "@target"; NULL: none */
  const char *key;   /* name of the setting in a run's description (exp/args.h); NULL: the verb reads it itself */
} CliOption;

typedef struct CliArgs CliArgs;

typedef struct {
  const char *name;
  const char *operands; /* "TARGET", "VECTORS..."; "" for none */
  const char *summary;  /* one line */
  const char *about;    /* paragraphs for help and man page; NULL: none */
  const CliOption *const *tables; /* NULL-ended list of tables, each ended by a NULL name */
  int min_operands, max_operands; /* max -1: any number */
  const char *operand_words;      /* as CliOption.words */
  const char *const *examples;    /* "command line", "what it shows", ..., NULL; or NULL */
  int (*run)(const CliArgs *args); /* returns the exit code */
} CliVerb;

/* Exit codes: part of the contract with scripts. */
enum { CLI_OK = 0, CLI_FINDINGS = 1, CLI_USAGE = 2, CLI_LIMIT = 3, CLI_BUG = 70, CLI_INTERRUPTED = 130 };

/* argv: what follows the verb, NULL-ended, borrowed for the life of the result. NULL and a CSIM_ERROR_VALUE error that names the
 * nearest option for an unknown one. */
CliArgs *cli_args_parse(const CliVerb *verb, char **argv, GError **error);
void cli_args_free(CliArgs *args);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CliArgs, cli_args_free)

const CliVerb *cli_args_verb(const CliArgs *args);
gboolean cli_args_flag(const CliArgs *args, const char *name);       /* given at least once */
const char *cli_args_value(const CliArgs *args, const char *name);   /* last one given, or NULL */
guint cli_args_n_operands(const CliArgs *args);
const char *cli_args_operand(const CliArgs *args, guint i);          /* NULL past the end */

/* Everything given, in order of the command line. */
typedef struct { const CliOption *option; const char *value; } CliGiven; /* value NULL for flags */
guint cli_args_n_given(const CliArgs *args);
CliGiven cli_args_given(const CliArgs *args, guint i);

/* Calls fn for each option of the verb, in table order. */
void cli_verb_foreach_option(const CliVerb *verb, void (*fn)(const CliOption *option, void *data), void *data);

#endif
