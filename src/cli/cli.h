/*
 * cli/cli.h - what the verbs share: registry, option tables, errors, output.
 *
 * Used by: cmd-*.c. Implemented in main.c (registry), common.c.
 */
#ifndef CSIM_CLI_CLI_H
#define CSIM_CLI_CLI_H

#include "cli/options.h"
#include "exp/args.h"

#include <stdio.h>

/* Every verb, in the order of help; NULL-ended. */
extern const CliVerb *const cli_verbs[];
extern const CliVerb cli_verb_run, cli_verb_topo, cli_verb_graph, cli_verb_tune, cli_verb_sweep, cli_verb_compare, cli_verb_conformance, cli_verb_audit, cli_verb_validate, cli_verb_probe, cli_verb_env, cli_verb_algos,
  cli_verb_models, cli_verb_packet, cli_verb_bench, cli_verb_help, cli_verb_version;
const CliVerb *cli_verb_find(const char *name); /* NULL if there is none */

/* Tables that several verbs take. */
extern const CliOption cli_options_machine[]; /* -N, -g, --gpus, -x, --algo, --proto */
extern const CliOption cli_options_constants[]; /* --set, --catalogue */
extern const CliOption cli_options_output[];  /* -o */

/* Prints "collsim: message", or the message alone if it starts with a place, to stderr; returns the exit code for the error. */
int cli_fail(const GError *error);
void cli_warn(const char *format, ...) G_GNUC_PRINTF(1, 2);
void cli_warn_all(const GPtrArray *warnings); /* char* */

/* Every given option that has a key, operand 0 as the target, and NCCL's variables from the environment and its files. */
CsimRunArgs *cli_run_args(const CliArgs *args, GError **error);
/* values.c: an option that is not given leaves *out alone. FALSE with one line that names the option, what was given and what is allowed. */
gboolean cli_int_option(const CliArgs *args, const char *name, int min, int max, int *out, GError **error); /* min at least 0 */
gboolean cli_uint64_option(const CliArgs *args, const char *name, uint64_t min, uint64_t max, uint64_t *out, GError **error);
gboolean cli_number_option(const CliArgs *args, const char *name, double min, double max, double *out, GError **error);
/* parse: csim_size_parse, csim_rate_parse, csim_time_parse. */
gboolean cli_unit_option(const CliArgs *args, const char *name, gboolean (*parse)(const char *, int64_t *, GError **), int64_t *out, GError **error);
/* Every value given, borrowed, NULL-ended, appended to `out`. */
const char *const *cli_all_values(const CliArgs *args, const char *name, GPtrArray *out);
/* The option as the user may write it, "-j/--jobs: ", in front of what is wrong with its value. */
void cli_prefix_option(GError **error, const CliOption *option);

/* "collsim run dgx-h100 -b 1G": the command line so far, quoted for a shell. Static. */
const char *cli_command_line(void);

/* Where -o says, else stdout. NULL and an error if it cannot be written. Close with cli_close_output, which reports a full disk. */
FILE *cli_open_output(const char *path, GError **error);
gboolean cli_close_output(FILE *file, const char *path, GError **error);
/* Writes a whole text there; exit code. */
int cli_write(const char *path, const char *text);

/* Ctrl-C: non-zero once it was pressed. The handler is installed on the first call; a second Ctrl-C ends the program at once. */
const volatile int *cli_interrupt(void);
/* progress.c: one line on stderr, redrawn a few times a second, only if that is a terminal that can, and after half a second. */
void cli_progress(guint done, guint of, const char *what); /* "[###...] 3/11 sizes, 42 s"; of at least 1 */
void cli_progress_even(guint done, guint of, const char *what); /* the same for things that take about as long each: also the time left */
void cli_progress_clear(void); /* takes the line away, before anything else is printed */

/* help.c, complete.c, man.c */
void cli_print_help(FILE *out);
void cli_print_verb_help(FILE *out, const CliVerb *verb);
void cli_print_man(FILE *out);
int cli_complete(char **words);
void cli_print_targets(const char *start); /* names of shipped nodes that start so, a line each */

#endif
