/* collsim bench: how fast the simulator itself is on this machine. */
#include "base/units.h"
#include "cli/cli.h"
#include "collsim/error.h"
#include "exp/packet-scenarios.h"
#include "report/bench.h"

#include <inttypes.h>
#include <string.h>

/* --- a target: NCCL's whole data path ---------------------------------------------- */

static void print_row(const CsimRow *row, const CsimRunInfo *now, const CsimRunInfo *before) {
  double wall_s = now->wall_s - before->wall_s;
  uint64_t events = now->events - before->events;
  printf("%12" PRId64 "  %12.2f  %12" PRIu64 "  %8.3f  %12.2f\n", row->size_bytes, row->time_us, events, wall_s, wall_s > 0 ? (double)events / wall_s * 1e-6 : 0);
  fflush(stdout);
}

static int run_target(const CliArgs *args) {
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

/* --- a bare workload: messages only ---------------------------------------------------- */

/* What may stand with which of the two. */
static const char *const for_both[] = {"min-bytes", "nodes", "queue", NULL};
static const char *const for_bare[] = {"rate", "latency", "chunks", "skew", "seed", "collapse", "no-jump", "digest", "json", NULL};

static gboolean check_options(const CliArgs *args, gboolean bare, GError **error) {
  for (guint i = 0; i < cli_args_n_given(args); i++) {
    const char *name = cli_args_given(args, i).option->name;
    if (g_strv_contains(for_both, name) || g_strv_contains(for_bare, name) == bare) continue;
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--%s says nothing to %s", name, bare ? "a bare workload" : "a target; it is for ring, alltoall and tree");
    return FALSE;
  }
  return TRUE;
}

static gboolean read_counts(const CliArgs *args, CsimBenchSpec *spec, GError **error) {
  uint64_t ranks = spec->n_ranks, chunks = spec->chunks;
  if (!cli_uint64_option(args, "nodes", 2, CSIM_BENCH_MAX_RANKS, &ranks, error) || !cli_uint64_option(args, "chunks", 1, CSIM_BENCH_MAX_CHUNKS, &chunks, error) ||
      !cli_uint64_option(args, "seed", 0, UINT64_MAX, &spec->seed, error)) return FALSE;
  spec->n_ranks = (guint)ranks;
  spec->chunks = (guint)chunks;
  return TRUE;
}

static gboolean read_spec(const CliArgs *args, CsimBenchSpec *spec, GError **error) {
  const char *queue = cli_args_value(args, "queue");
  if (!read_counts(args, spec, error) || !cli_unit_option(args, "min-bytes", csim_size_parse, &spec->bytes, error) ||
      !cli_unit_option(args, "rate", csim_rate_parse, &spec->rate, error) || !cli_unit_option(args, "latency", csim_time_parse, &spec->latency, error) ||
      !cli_unit_option(args, "skew", csim_time_parse, &spec->skew, error)) return FALSE;
  if (queue && strcmp(queue, "radix") && strcmp(queue, "heap4")) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--queue: \"%s\" is not possible; allowed: radix, heap4", queue);
    return FALSE;
  }
  if (queue && !strcmp(queue, "heap4")) spec->queue = CSIM_QUEUE_HEAP4;
  if (cli_args_flag(args, "no-jump") && !cli_args_flag(args, "collapse")) {
    g_set_error_literal(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--no-jump goes with --collapse");
    return FALSE;
  }
  if (cli_args_flag(args, "collapse")) spec->form = cli_args_flag(args, "no-jump") ? CSIM_BENCH_ONE_RANK : CSIM_BENCH_JUMP;
  spec->digest = cli_args_flag(args, "digest");
  return TRUE;
}

static int run_bare(const CliArgs *args, CsimBenchKind kind) {
  g_autoptr(GError) error = NULL;
  CsimBenchSpec spec;
  CsimBenchResult result;
  csim_bench_spec_init(&spec);
  spec.kind = kind;
  spec.interrupt = cli_interrupt();
  if (!check_options(args, TRUE, &error) || !read_spec(args, &spec, &error) || !csim_bench_run(&spec, &result, &error)) return cli_fail(error);
  g_autoptr(CsimBenchPeers) peers = csim_bench_peers_new(&spec);
  g_autofree char *text = (cli_args_flag(args, "json") ? csim_report_bench_json : csim_report_bench_text)(&spec, &result, peers);
  return cli_write(NULL, text);
}

/* --- packets ------------------------------------------------------------------------------ */

/* Frames put on links a second of CPU time, for two loads of 64 hosts. */
static int run_packets(void) {
  g_autoptr(CsimPacketReport) report = csim_packet_report_new();
  csim_packet_scenario_find("speed", NULL)->run(report);
  for (guint i = 0; i < report->checks->len; i++) {
    const CsimPacketCheck *check = &g_array_index(report->checks, CsimPacketCheck, i);
    if (check->kind == CSIM_CHECK_INFO) printf("%-12.6g  %s: %s\n", check->ours, check->unit, check->what);
  }
  printf("# %" PRIu64 " packet hops, %" PRIu64 " events, %.2f s of CPU time\n", report->hops, report->events, report->cpu_s);
  return CLI_OK;
}

static int run_bench(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  CsimBenchKind kind;
  if (!strcmp(cli_args_operand(args, 0), "packet")) return run_packets();
  if (csim_bench_parse(cli_args_operand(args, 0), &kind)) return run_bare(args, kind);
  return check_options(args, FALSE, &error) ? run_target(args) : cli_fail(error);
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

static const CliOption bare_options[] = {
  {0, "rate", "RATE", "bare workloads: rate of a rank's ports (50GB/s)", NULL, NULL},
  {0, "latency", "TIME", "bare workloads: from port to port (1us)", NULL, NULL},
  {0, "chunks", "N", "bare tree: parts of the buffer (64)", NULL, NULL},
  {0, "skew", "TIME", "bare workloads: ranks start at random dates from 0 to this (0us)", NULL, NULL},
  {0, "seed", "N", "bare workloads: seed of those dates (1)", NULL, NULL},
  {0, "collapse", NULL, "bare ring, alltoall: one rank stands for all; when its state repeats, all further steps at once", NULL, NULL},
  {0, "no-jump", NULL, "with --collapse: every step", NULL, NULL},
  {0, "digest", NULL, "bare workloads: also print a digest of all events", NULL, NULL},
  {0, "json", NULL, "bare workloads: figures as JSON", NULL, NULL},
  {0},
};
static const CliOption *const tables[] = {options, bare_options, cli_options_machine, NULL};

static const char *const examples[] = {
  "collsim bench dgx-h100*64 --algo Ring", "NCCL's ring on 512 GPUs",
  "collsim bench ring -N 4096", "33.5 million messages, as other simulators are measured with",
  "collsim bench alltoall -N 1024 -b 64M --json", "for scripts",
  NULL,
};

const CliVerb cli_verb_bench = {
  .name = "bench",
  .operands = "TARGET|ring|alltoall|tree|packet",
  .summary = "how fast the simulator itself is: events, time and memory",
  .about = "With a target: a collective as `collsim run` simulates it. With ring, alltoall or tree: the bare messages of that pattern "
           "on the event engine, with no NCCL in between, -N ranks (1024) and -b bytes a rank (64M); other simulators' times for the "
           "same messages are printed beside it. With packet: packet hops a second of CPU time.",
  .examples = examples,
  .tables = tables,
  .min_operands = 1,
  .max_operands = 1,
  .operand_words = "@target",
  .run = run_bench,
};
