#include "exp/run.h"

#include "exp/bottleneck.h"
#include "exp/device.h"
#include "base/hash.h"
#include "base/units.h"

#include <inttypes.h>
#include <sys/resource.h>

struct CsimRun {
  CsimRunSpec spec;
  CsimRunInfo info;
  GArray *wishes; /* CsimBytes: the sizes asked for */
  CsimDiag *diag;
  CsimNcclEnv *env;
  CsimCluster *cluster;
  CsimComm *comm;
  CsimTuning *tuning;
  CsimCatalogue *catalogue;
  CsimMachine *machine; /* with exec: NULL for the model */
  CsimExec *exec;
  gint64 started_us;
};

const char *csim_fidelity_name(CsimFidelity fidelity) {
  static const char *const names[] = {"model", "flow", "packet"};
  return names[fidelity];
}

void csim_run_spec_init(CsimRunSpec *spec) {
  *spec = (CsimRunSpec){
    .coll = CSIM_COLL_ALL_REDUCE,
    .type = CSIM_TYPE_FLOAT,
    .op = CSIM_OP_SUM,
    .min_bytes = 32 << 20,
    .max_bytes = 32 << 20,
    .step_bytes = 1 << 20,
    .iters = 20,
    .launch = CSIM_LAUNCH_PROCESS,
    .fidelity = CSIM_FIDELITY_FLOW,
    .seed = 1,
    .queue = CSIM_QUEUE_RADIX,
  };
}

static CsimBytes next_size(const CsimRunSpec *spec, CsimBytes size) {
  return spec->factor > 1 ? size * spec->factor : size + spec->step_bytes;
}

/* The sizes of nccl-tests' loop, from min to max by factor or step. */
static GArray *list_sizes(const CsimRunSpec *spec, GError **error) {
  g_autoptr(GArray) sizes = g_array_new(FALSE, FALSE, sizeof(CsimBytes));
  if (spec->min_bytes > spec->max_bytes) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "smallest size %" PRId64 " is above the largest, %" PRId64, spec->min_bytes, spec->max_bytes);
    return NULL;
  }
  if (spec->min_bytes < spec->max_bytes && (spec->factor > 1 ? spec->min_bytes == 0 : spec->step_bytes == 0)) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "sizes would never grow: start above 0 with a factor, or step by more than 0");
    return NULL;
  }
  for (CsimBytes size = spec->min_bytes; size <= spec->max_bytes; size = next_size(spec, size)) {
    if (sizes->len == CSIM_RUN_MAX_ROWS) {
      g_set_error(error, CSIM_ERROR, CSIM_ERROR_LIMIT, "more than %d sizes between %" PRId64 " and %" PRId64 "; a factor makes fewer",
                  CSIM_RUN_MAX_ROWS, spec->min_bytes, spec->max_bytes);
      return NULL;
    }
    g_array_append_val(sizes, size);
    if (spec->min_bytes == spec->max_bytes || size > INT64_MAX / 2048 || next_size(spec, size) <= size) break;
  }
  return g_steal_pointer(&sizes);
}

/* "0,2,4" as numbers; NULL without error for NULL. */
static GArray *parse_gpus(const char *text, GError **error) {
  if (!text) return NULL;
  g_autoptr(GArray) gpus = g_array_new(FALSE, FALSE, sizeof(int));
  g_auto(GStrv) words = g_strsplit(text, ",", -1);
  for (char **word = words; *word; word++) {
    gint64 dev;
    if (!g_ascii_string_to_signed(g_strstrip(*word), 10, 0, 1023, &dev, NULL)) {
      g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "\"%s\" in the list of GPUs \"%s\" is no device number; such as 0,2,4", *word, text);
      return NULL;
    }
    int value = (int)dev;
    g_array_append_val(gpus, value);
  }
  return g_steal_pointer(&gpus);
}

/* Hosts of one XML are one NVLink domain unless NCCL_MNNVL_ENABLE=0. */
static gboolean is_multi_node_nvlink(const CsimCluster *cluster, const CsimNcclEnv *env) {
  if (csim_nccl_env_int(env, "NCCL_MNNVL_ENABLE", 2) == 0) return FALSE;
  for (guint i = 0; i < cluster->systems->len; i++)
    if (((const CsimSystem *)g_ptr_array_index(cluster->systems, i))->n_hosts > 1) return TRUE;
  return FALSE;
}

static gboolean load_comm(CsimRun *run, GError **error) {
  const CsimRunSpec *spec = &run->spec;
  GError *wrong = NULL;
  g_autoptr(GArray) gpus = parse_gpus(spec->gpus, &wrong);
  if (wrong) {
    g_propagate_error(error, wrong);
    return FALSE;
  }
  CsimCommSpec comm = {
    .cluster = run->cluster,
    .env = run->env,
    .gpus = gpus ? (const int *)gpus->data : NULL,
    .n_gpus = gpus ? gpus->len : spec->gpus_per_node,
    .mnnvl = is_multi_node_nvlink(run->cluster, run->env),
    .coll_net = run->cluster->fabric.sharp,
  };
  run->comm = csim_comm_new(&comm, run->diag, error);
  if (!run->comm) return FALSE;
  run->tuning = csim_tuning_new(run->comm, run->env, error);
  return run->tuning != NULL;
}

static gboolean load_exec(CsimRun *run, GError **error) {
  const CsimRunSpec *spec = &run->spec;
  if (spec->fidelity == CSIM_FIDELITY_PACKET) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "packet fidelity is not there yet; flow and model are");
    return FALSE;
  }
  if (spec->fidelity == CSIM_FIDELITY_MODEL) return TRUE;
  run->machine = csim_machine_new(run->cluster, run->catalogue, error);
  if (!run->machine) return FALSE;
  CsimExecSpec exec = {
    .machine = run->machine,
    .comm = run->comm,
    .tuning = run->tuning,
    .env = run->env,
    .seed = spec->seed,
    .launch = spec->launch,
    .iters = spec->iters,
    .queue = spec->queue,
    .interrupt = spec->interrupt,
    .digest = spec->digest,
  };
  run->exec = csim_exec_new(&exec, error);
  return run->exec != NULL;
}

static gboolean load(CsimRun *run, GError **error) {
  const CsimRunSpec *spec = &run->spec;
  run->env = csim_nccl_env_new(spec->environ, spec->overrides, run->diag, error);
  if (!run->env) return FALSE;
  run->catalogue = csim_catalogue_new(spec->catalogue_file, spec->sets, error);
  if (!run->catalogue) return FALSE;
  run->cluster = csim_cluster_load(spec->target, spec->n_nodes, error);
  if (!run->cluster) return FALSE;
  return load_comm(run, error) && load_exec(run, error);
}

/* What the ranks decide: roots, and shapes that a test refuses. */
static gboolean check_ranks(const CsimRun *run, GError **error) {
  int n = run->info.n_ranks;
  CsimColl coll = run->spec.coll;
  if (csim_perf_has_root(coll) && run->spec.root >= n) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "root %d does not exist; ranks are 0 to %d", run->spec.root, n - 1);
    return FALSE;
  }
  if (coll == CSIM_COLL_HYPERCUBE && (n & (n - 1))) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "hypercube needs a power of two ranks, not %d", n);
    return FALSE;
  }
  return TRUE;
}

static void add_warnings(GPtrArray *warnings, const CsimDiag *diag) {
  for (guint i = 0; i < csim_diag_n(diag); i++) {
    const CsimFinding *finding = csim_diag_get(diag, i);
    if (finding->severity >= CSIM_FINDING_WARNING) g_ptr_array_add(warnings, csim_finding_format(finding));
  }
}

static void fill_info(CsimRun *run) {
  CsimRunInfo *info = &run->info;
  info->target = run->spec.target;
  info->n_nodes = run->cluster->n_nodes;
  info->n_ranks = csim_comm_info(run->comm)->n_ranks;
  info->fidelity = run->spec.fidelity;
  info->seed = run->spec.seed;
  info->digest = CSIM_HASH_INIT;
  info->catalogue_digest = csim_catalogue_digest(run->catalogue);
  info->device = csim_device_text(run->cluster, run->comm, run->catalogue);
  add_warnings(info->warnings, run->cluster->diag);
  add_warnings(info->warnings, run->diag);
}

CsimRun *csim_run_new(const CsimRunSpec *spec, GError **error) {
  g_autoptr(CsimRun) run = g_new0(CsimRun, 1);
  run->started_us = g_get_monotonic_time();
  run->spec = *spec;
  run->diag = csim_diag_new();
  run->info.warnings = g_ptr_array_new_with_free_func(g_free);
  run->wishes = list_sizes(spec, error);
  if (!run->wishes || !load(run, error)) return NULL;
  fill_info(run);
  return check_ranks(run, error) ? g_steal_pointer(&run) : NULL;
}

void csim_run_free(CsimRun *run) {
  if (!run) return;
  csim_exec_free(run->exec);
  csim_machine_free(run->machine);
  csim_catalogue_free(run->catalogue);
  csim_tuning_free(run->tuning);
  csim_comm_free(run->comm);
  csim_cluster_free(run->cluster);
  csim_nccl_env_free(run->env);
  csim_diag_free(run->diag);
  g_free(run->info.device);
  g_ptr_array_unref(run->info.warnings);
  g_clear_pointer(&run->wishes, g_array_unref);
  g_free(run);
}

const CsimRunInfo *csim_run_info(const CsimRun *run) { return &run->info; }
const CsimRunSpec *csim_run_spec(const CsimRun *run) { return &run->spec; }
guint csim_run_n_rows(const CsimRun *run) { return run->wishes->len; }

/* NCCL's own prediction, with no simulation. */
static gboolean row_by_model(CsimRun *run, CsimRow *row, GError **error) {
  if (row->coll >= CSIM_N_NCCL_FUNCS) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "NCCL has no cost model for %s; --fidelity flow simulates it", csim_coll_name(row->coll));
    return FALSE;
  }
  if (!csim_tuning_choose(run->tuning, row->coll, row->type, row->op, row->size_bytes, &row->choice, error)) return FALSE;
  CsimPart parts[CSIM_MAX_CHANNELS];
  csim_tuning_split(run->tuning, row->coll, &row->choice, row->type, row->count, parts, &row->n_channels);
  row->time_us = row->choice.time_us;
  return TRUE;
}

static gboolean row_by_exec(CsimRun *run, CsimRow *row, GError **error) {
  CsimCall call = {row->coll, row->type, row->op, row->count, MAX(row->root, 0)};
  CsimExecResult result;
  if (!csim_exec_call(run->exec, &call, &result, error)) return FALSE;
  row->choice = result.choice;
  row->n_channels = result.n_channels;
  row->time_us = result.time_us;
  row->where = result.where;
  row->digest = result.digest;
  run->info.events += result.events;
  csim_name_bottleneck(run->machine, row);
  return TRUE;
}

/* FNV-1a over what the row decided; a flow run adds the digest of its whole history. */
static void digest_row(CsimRun *run, CsimRow *row) {
  uint64_t parts[] = {(uint64_t)row->coll, (uint64_t)row->count, (uint64_t)row->choice.algo, (uint64_t)row->choice.proto,
                      (uint64_t)row->n_channels, (uint64_t)csim_time_from_us(row->time_us), row->digest};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++) run->info.digest = csim_hash_u64(run->info.digest, parts[i]);
}

static void update_cost(CsimRunInfo *info, gint64 started_us) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  info->peak_rss_mib = (double)usage.ru_maxrss / 1024; /* Linux counts KiB */
  info->wall_s = (double)(g_get_monotonic_time() - started_us) * 1e-6;
}

gboolean csim_run_row(CsimRun *run, guint i, CsimRow *out, GError **error) {
  const CsimRunSpec *spec = &run->spec;
  int n_ranks = run->info.n_ranks;
  CsimPerfSize size = csim_perf_size(spec->coll, spec->type, n_ranks, g_array_index(run->wishes, CsimBytes, i));
  *out = (CsimRow){
    .coll = spec->coll,
    .type = spec->type,
    .op = spec->op,
    .root = csim_perf_has_root(spec->coll) ? spec->root : -1,
    .size_bytes = size.size_bytes,
    .count = size.count,
    .where.busiest = UINT32_MAX,
  };
  if (size.count > 0) {
    gboolean done = spec->fidelity == CSIM_FIDELITY_MODEL ? row_by_model(run, out, error) : row_by_exec(run, out, error);
    if (!done) return FALSE;
    out->algbw_gbps = (double)size.algbw_bytes / out->time_us * 1e-3;
    out->busbw_gbps = out->algbw_gbps * csim_busbw_factor(spec->coll, n_ranks);
  }
  digest_row(run, out);
  update_cost(&run->info, run->started_us);
  return TRUE;
}
