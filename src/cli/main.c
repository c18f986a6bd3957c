/* collsim: finds the verb, parses its table, runs it. */
#include "cli/cli.h"

#include "base/diag.h"
#include "collsim/version.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

const CliVerb *const cli_verbs[] = {&cli_verb_run, &cli_verb_topo, &cli_verb_graph, &cli_verb_tune, &cli_verb_sweep, &cli_verb_compare, &cli_verb_conformance, &cli_verb_audit, &cli_verb_validate, &cli_verb_probe, &cli_verb_env, &cli_verb_algos, &cli_verb_models, &cli_verb_packet, &cli_verb_bench, &cli_verb_help, &cli_verb_version, NULL};

const CliVerb *cli_verb_find(const char *name) {
  for (const CliVerb *const *verb = cli_verbs; *verb; verb++)
    if (!strcmp((*verb)->name, name)) return *verb;
  return NULL;
}

static char *command_line;
const char *cli_command_line(void) { return command_line; }

/* As a shell takes it, quoted only where it must be. */
static char *quote_command(char **argv) {
  GString *line = g_string_new("collsim");
  for (char **word = argv + 1; *word; word++) {
    g_autofree char *quoted = g_shell_quote(*word);
    gboolean plain = **word && !(*word)[strspn(*word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%")];
    g_string_append_printf(line, " %s", plain ? *word : quoted);
  }
  return g_string_free(line, FALSE);
}

/* A failed assertion is our bug, and has its own exit code. */
static void on_abort(int signal_number) {
  static const char text[] = "collsim: this is a bug in collsim, not in your input; please report it with the command line and the message above\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(CLI_BUG);
  _exit(CLI_BUG);
}

static int unknown_verb(const char *name) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (const CliVerb *const *verb = cli_verbs; *verb; verb++) g_ptr_array_add(names, (void *)(*verb)->name);
  g_ptr_array_add(names, NULL);
  const char *near = csim_nearest(name, (const char *const *)names->pdata);
  if (near) cli_warn("no verb \"%s\"; did you mean \"%s\"?", name, near);
  else cli_warn("no verb \"%s\"; `collsim help` lists them", name);
  return CLI_USAGE;
}

static gboolean asks_help(char **argv) {
  for (; *argv && strcmp(*argv, "--"); argv++)
    if (!strcmp(*argv, "--help") || !strcmp(*argv, "-h")) return TRUE;
  return FALSE;
}

static int run_verb(const CliVerb *verb, char **argv) {
  if (asks_help(argv)) {
    cli_print_verb_help(stdout, verb);
    return CLI_OK;
  }
  g_autoptr(GError) error = NULL;
  g_autoptr(CliArgs) args = cli_args_parse(verb, argv, &error);
  return args ? verb->run(args) : cli_fail(error);
}

/* Words that scripts of ours use; not for people, so not listed. */
static gboolean run_hidden(char **argv, int *code) {
  if (!strcmp(argv[1], "__complete")) *code = cli_complete(argv + 2);
  else if (!strcmp(argv[1], "__man")) cli_print_man(stdout);
  else return FALSE;
  return TRUE;
}

static int dispatch(char **argv) {
  int code = CLI_OK;
  if (!argv[1]) {
    cli_print_help(stderr);
    return CLI_USAGE;
  }
  if (run_hidden(argv, &code)) return code;
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) return run_verb(&cli_verb_help, argv + 2);
  if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) return run_verb(&cli_verb_version, argv + 2);
  const CliVerb *verb = cli_verb_find(argv[1]);
  return verb ? run_verb(verb, argv + 2) : unknown_verb(argv[1]);
}

int main(int argc, char **argv) {
  signal(SIGABRT, on_abort);
  command_line = quote_command(argv);
  int code = dispatch(argv);
  g_free(command_line);
  return code;
}
