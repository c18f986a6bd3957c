#include "cli/cli.h"

#include "base/diag.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

const CliOption cli_options_machine[] = {
  {'N', "nodes", "N", "number of nodes, in place of the target's", NULL, "nodes"},
  {'g', "gpus-per-node", "N", "use the first N GPUs of every node", NULL, "gpus_per_node"},
  {0, "gpus", "LIST", "use these GPUs of every node, such as 0,2,4", NULL, "gpus"},
  {0, "placement", "ORDER", "which of the cluster's nodes and in what order, such as random,seed=3 or by-leaf,nodes=64; -N is then the job's nodes", NULL, "placement"},
  {0, "fault", "WHAT", "break something, such as link:leaf0-spine1.0, nic:node3/nic2:rate=0.5, gpu:node3/gpu2:clock=0.7; may be repeated", NULL, "fault"},
  {'x', "env", "NCCL_X=V", "set a NCCL variable; wins over the environment; may be repeated", NULL, "env"},
  {0, "algo", "NAMES", "the same as -x NCCL_ALGO=NAMES", "Ring|Tree|NVLS|NVLSTree|CollNetDirect|CollNetChain|PAT", "algo"},
  {0, "proto", "NAMES", "the same as -x NCCL_PROTO=NAMES", "LL|LL128|Simple", "proto"},
  {0},
};

const CliOption cli_options_constants[] = {
  {0, "set", "NAME=VALUE", "one constant of the hardware catalogue, such as gpu.h100.simple_o=900ns; may be repeated", NULL, "set"},
  {0, "catalogue", "FILE", "constants laid over the catalogue (JSON, as data/hardware.json)", "@file", "catalogue"},
  {0},
};

const CliOption cli_options_output[] = {
  {'o', "output", "FILE", "write there instead of standard output", "@file", NULL},
  {0},
};

static int exit_code(const GError *error) {
  if (error->domain != CSIM_ERROR) return CLI_USAGE;
  switch (error->code) {
  case CSIM_ERROR_LIMIT: return CLI_LIMIT;
  case CSIM_ERROR_INTERRUPTED: return CLI_INTERRUPTED;
  default: return CLI_USAGE;
  }
}

/* "file:12:3: ..." goes out as it is, so that editors jump there. */
static gboolean has_place(const char *message) {
  const char *colon = strchr(message, ':');
  return colon && colon > message && !memchr(message, ' ', (gsize)(colon - message)) && g_ascii_isdigit(colon[1]);
}

static void print_message(const char *message) {
  cli_progress_clear();
  fprintf(stderr, "%s%s\n", has_place(message) ? "" : "collsim: ", message);
}

int cli_fail(const GError *error) {
  print_message(error->message);
  return exit_code(error);
}

void cli_warn(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  print_message(text);
}

void cli_warn_all(const GPtrArray *warnings) {
  for (guint i = 0; i < warnings->len; i++) cli_warn("%s", (const char *)g_ptr_array_index(warnings, i));
}

CsimRunArgs *cli_run_args(const CliArgs *args, GError **error) {
  g_autoptr(CsimRunArgs) run = csim_run_args_new();
  csim_run_args_use_environment(run);
  const char *target = cli_args_operand(args, 0);
  if (target && !csim_run_args_set(run, "target", target, error)) return NULL;
  for (guint i = 0; i < cli_args_n_given(args); i++) {
    CliGiven given = cli_args_given(args, i);
    if (!given.option->key || csim_run_args_set(run, given.option->key, given.value ? given.value : "true", error)) continue;
    cli_prefix_option(error, given.option);
    return NULL;
  }
  return g_steal_pointer(&run);
}

FILE *cli_open_output(const char *path, GError **error) {
  if (!path || !strcmp(path, "-")) return stdout;
  FILE *file = fopen(path, "w");
  if (!file) g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: cannot be written: %s", path, g_strerror(errno));
  return file;
}

gboolean cli_close_output(FILE *file, const char *path, GError **error) {
  gboolean failed = fflush(file) != 0 || ferror(file);
  int cause = errno;
  if (file != stdout && fclose(file) != 0) failed = TRUE;
  if (failed) g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: cannot be written: %s", path ? path : "standard output", g_strerror(cause));
  return !failed;
}

int cli_write(const char *path, const char *text) {
  g_autoptr(GError) error = NULL;
  FILE *file = cli_open_output(path, &error);
  if (!file) return cli_fail(error);
  fputs(text, file);
  return cli_close_output(file, path, &error) ? CLI_OK : cli_fail(error);
}

/* --- Ctrl-C --- */

static volatile int interrupted;

static void on_interrupt(int signal_number) {
  interrupted = 1;
  signal(signal_number, SIG_DFL); /* the second one ends the program */
}

const volatile int *cli_interrupt(void) {
  signal(SIGINT, on_interrupt);
  return &interrupted;
}
