/* collsim bench: how fast the simulator itself is on this machine. */
#include "cli/cli.h"

#include <inttypes.h>

static void print_row(const CsimRow *row, const CsimRunInfo *now, const CsimRunInfo *before) {
  double wall_s = now->wall_s - before->wall_s;
  uint64_t events = now->events - before->events;
  printf("%12" PRId64 "  %12.2f  %12" PRIu64 "  %8.3f  %12.2f\n", row->size_bytes, row->time_us, events, wall_s, wall_s > 0 ? (double)events / wall_s * 1e-6 : 0);
  fflush(stdout);
}

static int run_bench(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimRunArgs) run_args = cli_run_args(args, &error);
  if (!run_args) return cli_fail(error);
  CsimRunSpec spec = csim_run_args_spec(run_args);
  spec.interrupt = cli_interrupt();
  gint64 start_us = g_get_monotonic_time();
  g_autoptr(CsimRun) run = csim_run_new(&spec, &error);
  if (!run) return cli_fail(error);
  const CsimRunInfo *info = csim_run_info(run);
  printf("# %s: %s, %s; loaded in %.3f s\n", spec.target, info->device, csim_coll_name(spec.coll), (double)(g_get_monotonic_time() - start_us) * 1e-6);
  printf("#   size (B)     time (us)        events  wall (s)  million ev/s\n");
  CsimRunInfo before = *info;
  before.wall_s = (double)(g_get_monotonic_time() - start_us) * 1e-6;
  for (guint i = 0; i < csim_run_n_rows(run); i++) {
    CsimRow row;
    if (!csim_run_row(run, i, &row, &error)) return cli_fail(error);
    print_row(&row, info, &before);
    before = *info;
  }
  printf("# %" PRIu64 " events, %.2f s in all, at most %.0f MiB\n", info->events, info->wall_s, info->peak_rss_mib);
  return CLI_OK;
}

static const CliOption options[] = {
  {'c', "collective", "NAME", "the collective (all_reduce)", "all_reduce|all_gather|reduce_scatter|broadcast|reduce|alltoall|sendrecv", "collective"},
  {'b', "min-bytes", "SIZE", "smallest size (32M)", NULL, "min_bytes"},
  {'e', "max-bytes", "SIZE", "largest size (32M)", NULL, "max_bytes"},
  {'f', "factor", "N", "multiply the size by N from row to row", NULL, "factor"},
  {'n', "iters", "N", "back-to-back calls (20)", NULL, "iters"},
  {0, "queue", "NAME", "event queue: radix (default), heap4", "radix|heap4", "queue"},
  {0},
};
static const CliOption *const tables[] = {options, cli_options_machine, NULL};

const CliVerb cli_verb_bench = {
  .name = "bench",
  .operands = "TARGET",
  .summary = "how fast the simulator itself is: events, wall time and memory for each size",
  .tables = tables,
  .min_operands = 1,
  .max_operands = 1,
  .operand_words = "@target",
  .run = run_bench,
};
