/* collsim probe: measures this machine through CUDA, NCCL and verbs. */
#include "cli/probe-args.h"
#include "probe/copies.h"
#include "probe/nccl-run.h"
#include "probe/sockets.h"
#include "probe/verbs.h"

#include <string.h>

static gboolean limit_option(const CliArgs *args, double *out, GError **error) {
  int value = (int)*out;
  if (!cli_int_option(args, "limit", 0, 1000000, &value, error)) return FALSE;
  *out = value;
  return TRUE;
}

/* --- output ----------------------------------------------------------------------- */

static int print(const CliArgs *args, const CsimProbeTable *table) {
  g_autoptr(GString) out = g_string_new(NULL);
  cli_progress_clear();
  if (cli_args_flag(args, "json"))
    csim_probe_table_json(table, out);
  else
    csim_probe_table_csv(table, out);
  return cli_write(cli_args_value(args, "output"), out->str);
}

/* What was measured before an error is worth printing; the error's code is what counts. */
static int finish(const CliArgs *args, const CsimProbeTable *table, const GError *error) {
  int code = !error || csim_probe_table_n_rows(table) > 0 ? print(args, table) : CLI_OK;
  return error ? cli_fail(error) : code;
}

/* --- probes ----------------------------------------------------------------------- */

static void progress_tests(guint done, guint of, void *data) {
  cli_progress(done, of, "tests");
}
static void progress_sizes(guint done, guint of, void *data) {
  cli_progress(done, of, "sizes");
}

static int probe_copies(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(CsimCopyRow));
  CsimCopyOptions options;
  CsimGpuFacts gpus;
  csim_copy_options_init(&options);
  options.interrupt = cli_interrupt();
  options.progress = progress_tests;
  if (!cli_probe_sizes(args, &options.min, &options.max, &options.factor, &error) ||
      !cli_int_option(args, "gpu", 0, 1023, &options.gpu, &error) || !limit_option(args, &options.limit_s, &error) ||
      !csim_probe_gpus(&gpus, &error))
    return cli_fail(error);
  csim_probe_copies(&options, rows, &error);
  g_autoptr(CsimProbeTable) table = csim_copies_table(rows, &gpus);
  return finish(args, table, error);
}

static guint64 count_wrong(const GArray *rows) {
  guint64 wrong = 0;
  for (guint i = 0; i < rows->len; i++) wrong += g_array_index(rows, CsimNcclRow, i).wrong;
  return wrong;
}

static int probe_nccl(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(CsimNcclRow)), colls = g_array_new(FALSE, FALSE, sizeof(CsimColl));
  g_autoptr(GPtrArray) given = g_ptr_array_new();
  const char *tag = cli_args_value(args, "tag");
  CsimNcclOptions options;
  CsimNcclFacts facts;
  csim_nccl_options_init(&options);
  options.interrupt = cli_interrupt();
  options.progress = progress_sizes;
  options.limit_s = 600;
  if (!cli_probe_colls(args, "all_reduce", colls, &error) || !cli_probe_variables(args, given, &error) ||
      !cli_nccl_options(args, &options, &error) || !limit_option(args, &options.limit_s, &error))
    return cli_fail(error);
  options.dump = cli_args_value(args, "dump");
  options.colls = (const CsimColl *)(const void *)colls->data;
  options.n_colls = colls->len;
  options.variables = (const char *const *)given->pdata;
  csim_probe_nccl(&options, rows, &facts, &error);
  g_autoptr(CsimProbeTable) table = csim_nccl_table_new();
  csim_nccl_table_add(table, tag ? tag : "default", &options, &facts, rows);
  int code = finish(args, table, error);
  guint64 wrong = count_wrong(rows);
  if (wrong == 0) return code;
  cli_warn("%" G_GUINT64_FORMAT " wrong elements: see the column \"wrong\"", wrong);
  return code == CLI_OK ? CLI_FINDINGS : code;
}

static int probe_sockets(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(CsimSocketRow));
  CsimSocketOptions options = {
      .n_ranks = 2, .netns = cli_args_value(args, "netns"), .limit_s = 60, .interrupt = cli_interrupt()};
  if (!cli_int_option(args, "ranks", 2, CSIM_SOCKET_MAX_RANKS, &options.n_ranks, &error) ||
      !limit_option(args, &options.limit_s, &error))
    return cli_fail(error);
  csim_probe_sockets(&options, rows, &error);
  g_autoptr(CsimProbeTable) table = csim_sockets_table(rows);
  return finish(args, table, error);
}

/* "write_bw,send_lat"; nothing: all. */
static gboolean test_option(const CliArgs *args, CsimVerbsOptions *o, GError **error) {
  const char *text = cli_args_value(args, "tests");
  if (!text) return TRUE;
  g_auto(GStrv) words = g_strsplit(text, ",", -1);
  memset(o->tests, 0, sizeof o->tests);
  for (char **word = words; *word; word++) {
    int i = 0;
    while (i < CSIM_N_VERBS_TESTS && strcmp(*word, csim_verbs_test_names[i])) i++;
    if (i == CSIM_N_VERBS_TESTS) {
      g_autofree char *names = g_strjoinv(", ", (char **)csim_verbs_test_names);
      g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--tests: \"%s\" is not known; %s", *word, names);
      return FALSE;
    }
    o->tests[i] = TRUE;
  }
  return TRUE;
}

static gboolean verbs_options(const CliArgs *args, CsimVerbsOptions *o, GError **error) {
  o->device = cli_args_value(args, "device");
  o->peer_device = cli_args_value(args, "peer-device");
  o->connect = cli_args_value(args, "connect");
  o->gpu = cli_args_flag(args, "gpu-memory");
  return cli_probe_sizes(args, &o->min, &o->max, &o->factor, error) && test_option(args, o, error) &&
         cli_int_option(args, "ib-port", 1, 255, &o->port, error) &&
         cli_int_option(args, "gid-index", 0, 255, &o->gid_index, error) && cli_int_option(args, "mtu", 256, 4096, &o->mtu, error) &&
         cli_int_option(args, "qps", 1, CSIM_VERBS_MAX_QPS, &o->qps, error) &&
         cli_int_option(args, "depth", 1, CSIM_VERBS_MAX_DEPTH, &o->depth, error) &&
         cli_int_option(args, "inline", 0, 4096, &o->inline_bytes, error) &&
         cli_int_option(args, "iters", 1, 100000, &o->iters, error) && cli_int_option(args, "listen", 1, 65535, &o->listen, error) &&
         limit_option(args, &o->limit_s, error);
}

static gboolean check_verbs(const CsimVerbsOptions *o, GError **error) {
  if (o->max > CSIM_VERBS_MAX_SIZE) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "verbs: messages of up to 1G, as queue pairs have it");
    return FALSE;
  }
  if (!o->listen || !o->connect) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--listen is for one end and --connect for the other");
  return FALSE;
}

static guint64 count_wrong_bytes(const GArray *rows) {
  guint64 wrong = 0;
  for (guint i = 0; i < rows->len; i++) wrong += g_array_index(rows, CsimVerbsRow, i).wrong;
  return wrong;
}

static int probe_verbs(const CliArgs *args) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(CsimVerbsRow));
  CsimVerbsOptions options;
  CsimVerbsFacts facts;
  csim_verbs_options_init(&options);
  options.interrupt = cli_interrupt();
  if (!verbs_options(args, &options, &error) || !check_verbs(&options, &error)) return cli_fail(error);
  csim_probe_verbs(&options, rows, &facts, &error);
  if (options.listen && !error) return CLI_OK; /* the rows are at the other end */
  g_autoptr(CsimProbeTable) table = csim_verbs_table(&options, &facts, rows);
  int code = finish(args, table, error);
  guint64 wrong = count_wrong_bytes(rows);
  if (wrong == 0) return code;
  cli_warn("%" G_GUINT64_FORMAT " wrong bytes: see the column \"wrong\"", wrong);
  return code == CLI_OK ? CLI_FINDINGS : code;
}

static const struct {
  const char *name;
  int (*run)(const CliArgs *args);
} probes[] = {{"copies", probe_copies}, {"nccl", probe_nccl}, {"sockets", probe_sockets}, {"verbs", probe_verbs}};

static int run_probe(const CliArgs *args) {
  const char *name = cli_args_operand(args, 0);
  for (guint i = 0; i < G_N_ELEMENTS(probes); i++)
    if (!strcmp(name, probes[i].name)) return probes[i].run(args);
  cli_warn("no probe \"%s\"; copies, nccl, sockets or verbs", name);
  return CLI_USAGE;
}

/* --- tables ----------------------------------------------------------------------- */

static const CliOption common[] = {
    {0, "limit", "SECONDS", "kill the probe after so long, 0: never (copies 300, nccl 600, sockets 60, verbs 120)", NULL, NULL},
    {0, "json", NULL, "one JSON object in place of CSV", NULL, NULL},
    {0},
};
static const CliOption copies_table[] = {
    {0, "gpu", "N", "copies: the GPU that is looked at, with its host and the next GPU (0)", NULL, NULL},
    {0},
};
static const CliOption nccl_table[] = {
    {0, "dump", "DIR", "nccl: what NCCL says of itself in a pass before: topo.xml, graph.xml, nccl.log", "@file", NULL},
    {0, "tag", "TEXT", "nccl: name of the series in the table (default)", NULL, NULL},
    {0},
};
static const CliOption verbs_table[] = {
    {0, "tests", "LIST", "verbs: these only (all)", "write_bw|read_bw|send_bw|write_lat|read_lat|send_lat", NULL},
    {0, "device", "NAME", "verbs: RDMA device (the first)", NULL, NULL},
    {0, "peer-device", "NAME", "verbs: device of the other end, in this process (as --device)", NULL, NULL},
    {0, "listen", "PORT", "verbs: be the other end for another host", NULL, NULL},
    {0, "connect", "HOST:PORT", "verbs: the other end listens there", NULL, NULL},
    {0, "ib-port", "N", "verbs: port of the device (1)", NULL, NULL},
    {0, "gid-index", "N", "verbs: entry of the port's GID table (RoCE v2 with an IPv4 address, else 0)", NULL, NULL},
    {0, "mtu", "BYTES", "verbs: path MTU (the port's own)", "256|512|1024|2048|4096", NULL},
    {0, "qps", "N", "verbs: queue pairs of the bandwidth tests (1)", NULL, NULL},
    {0, "depth", "N", "verbs: messages under way on each (16)", NULL, NULL},
    {0, "inline", "BYTES", "verbs: messages of up to so many bytes go with the request (0)", NULL, NULL},
    {0, "gpu-memory", NULL, "verbs: buffers on GPU 0, through nvidia-peermem or dmabuf", NULL, NULL},
    {0},
};
static const CliOption *const tables[] = {cli_options_probe_sizes, common, copies_table, cli_options_nccl, nccl_table, verbs_table,
                                         cli_options_output, NULL};

static const char *const examples[] = {
    "collsim probe copies -o copies.csv",
    "copies between GPU, host and peer GPU, launches, flag latency",
    "collsim probe nccl -c all -b 8 -e 1G --dump nccl/ -o nccl.csv",
    "every collective on all GPUs, with topology, graphs and tuning table of NCCL",
    "collsim probe nccl --ranks 4 -e 64M",
    "four ranks, on one GPU if there is one, over NCCL's sockets (start nvidia-cuda-mps-control -d before)",
    "collsim probe verbs --listen 18515   and on another host:   collsim probe verbs --connect HOST:18515",
    "RDMA write, read and send between two hosts",
    NULL,
};

const CliVerb cli_verb_probe = {
    .name = "probe",
    .operands = "copies|nccl|sockets|verbs",
    .summary = "measure this machine's GPUs, NCCL, TCP and RDMA",
    .about = "Loads the NVIDIA driver's library, NCCL and libibverbs at run time; says in one line what is missing. Each result of "
             "NCCL is checked. The CSV starts with facts of the machine and is what `collsim validate` reads.",
    .tables = tables,
    .min_operands = 1,
    .max_operands = 1,
    .operand_words = "copies|nccl|sockets|verbs",
    .examples = examples,
    .run = run_probe,
};
