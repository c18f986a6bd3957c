/* From a spec to everything that a run needs. */
#include "exp/run-private.h"

#include "exp/trace-view.h"

#include <inttypes.h>

/* NO_SIZE: beyond any. */
#define NO_SIZE INT64_MAX
static CsimBytes next_size(const CsimRunSpec *spec, CsimBytes size) {
  CsimBytes next;
  gboolean beyond = spec->factor > 1 ? __builtin_mul_overflow(size, spec->factor, &next) : __builtin_add_overflow(size, spec->step_bytes, &next);
  return beyond ? NO_SIZE : next;
}

/* The sizes of nccl-tests' loop, from min to max by factor or step. */
GArray *csim_run_sizes(const CsimRunSpec *spec, GError **error) {
  g_autoptr(GArray) sizes = g_array_new(FALSE, FALSE, sizeof(CsimBytes));
  if (spec->min_bytes > spec->max_bytes) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "smallest size %" PRId64 " is above the largest, %" PRId64, spec->min_bytes, spec->max_bytes);
    return NULL;
  }
  if (spec->min_bytes < spec->max_bytes && (spec->factor > 1 ? spec->min_bytes == 0 : spec->step_bytes == 0)) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "sizes would never grow: start above 0 with a factor, or step by more than 0");
    return NULL;
  }
  for (CsimBytes size = spec->min_bytes, next; size <= spec->max_bytes; size = next) {
    if (sizes->len == CSIM_RUN_MAX_ROWS) {
      g_set_error(error, CSIM_ERROR, CSIM_ERROR_LIMIT, "more than %d sizes between %" PRId64 " and %" PRId64 "; a factor makes fewer",
                  CSIM_RUN_MAX_ROWS, spec->min_bytes, spec->max_bytes);
      return NULL;
    }
    g_array_append_val(sizes, size);
    next = next_size(spec, size);
    if (next <= size || next == NO_SIZE) break; /* one size needs no step */
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

gboolean csim_is_multi_node_nvlink(const CsimCluster *cluster, const CsimNcclEnv *env) {
  if (csim_nccl_env_int(env, "NCCL_MNNVL_ENABLE", 2) == 0) return FALSE;
  for (guint i = 0; i < cluster->systems->len; i++)
    if (((const CsimSystem *)g_ptr_array_index(cluster->systems, i))->n_hosts > 1) return TRUE;
  return FALSE;
}

/* --- what runs share ---------------------------------------------------------------- */

static gboolean load_comm(CsimLoaded *loaded, const CsimRunSpec *spec, GError **error) {
  GError *wrong = NULL;
  g_autoptr(GArray) gpus = parse_gpus(spec->gpus, &wrong);
  if (wrong) {
    g_propagate_error(error, wrong);
    return FALSE;
  }
  CsimCommSpec comm = {
    .cluster = loaded->cluster,
    .env = loaded->env,
    .gpus = gpus ? (const int *)gpus->data : NULL,
    .n_gpus = gpus ? gpus->len : spec->gpus_per_node,
    .mnnvl = csim_is_multi_node_nvlink(loaded->cluster, loaded->env),
    .coll_net = loaded->cluster->fabric.sharp,
  };
  loaded->comm = csim_comm_new(&comm, loaded->diag, error);
  if (!loaded->comm) return FALSE;
  csim_nccl_env_check_comm(loaded->env, loaded->comm, loaded->diag);
  loaded->tuning = csim_tuning_new(loaded->comm, loaded->env, error);
  return loaded->tuning != NULL;
}

/* NCCL 2.30 asks the driver for host memory on the GPU's own NUMA node (cuMemCreate), wherever the process runs; without that - switched off, a driver
 * before CUDA 12.6, a container that may not set memory policies - it maps /dev/shm, whose pages lie where they are first touched. */
static gboolean buffers_follow(const CsimNcclEnv *env) { return csim_nccl_env_int(env, "NCCL_CUMEM_HOST_ENABLE", -1) == 0; }

CsimCluster *csim_run_load_cluster(const CsimRunSpec *spec, const CsimNcclEnv *env, GError **error) {
  CsimClusterOptions options = {.n_nodes = spec->n_nodes, .placement = spec->placement, .faults = spec->faults, .seed = spec->seed,
                                .hca = csim_nccl_env_text(env, "NCCL_IB_HCA"), .buffers_follow = buffers_follow(env)};
  return csim_cluster_load_with(spec->target, &options, error);
}

static gboolean load_machine(CsimLoaded *loaded, const CsimRunSpec *spec, GError **error) {
  loaded->catalogue = csim_catalogue_new(spec->catalogue_file, spec->sets, error);
  if (!loaded->catalogue) return FALSE;
  loaded->cluster = csim_run_load_cluster(spec, loaded->env, error);
  loaded->seed = spec->seed;
  loaded->whole_fabric = spec->whole_fabric;
  return loaded->cluster != NULL;
}

/* The variables that decide which adapters there are and where host buffers lie. */
static gboolean has_same_machine(const CsimNcclEnv *a, const CsimNcclEnv *b) {
  return g_strcmp0(csim_nccl_env_text(a, "NCCL_IB_HCA"), csim_nccl_env_text(b, "NCCL_IB_HCA")) == 0 && buffers_follow(a) == buffers_follow(b);
}

static gboolean share_machine(CsimLoaded *loaded, CsimLoaded *other, uint64_t seed) {
  CsimLoaded *base = other->base ? other->base : other;
  if (!csim_loaded_fits(base, seed) || !has_same_machine(base->env, loaded->env)) return FALSE;
  loaded->base = csim_loaded_ref(base);
  loaded->catalogue = base->catalogue;
  loaded->cluster = base->cluster;
  loaded->seed = base->seed;
  return TRUE;
}

static gboolean load_all(CsimLoaded *loaded, CsimLoaded *base, const CsimRunSpec *spec, GError **error) {
  loaded->env = csim_nccl_env_new(spec->environ, spec->overrides, loaded->diag, error);
  if (!loaded->env) return FALSE;
  gboolean machine = (base && share_machine(loaded, base, spec->seed)) || load_machine(loaded, spec, error);
  return machine && load_comm(loaded, spec, error);
}

CsimLoaded *csim_loaded_new(const CsimRunSpec *spec, GError **error) { return csim_loaded_new_like(NULL, spec, error); }

CsimLoaded *csim_loaded_new_like(CsimLoaded *other, const CsimRunSpec *spec, GError **error) {
  CsimLoaded *loaded = g_new0(CsimLoaded, 1);
  loaded->refs = 1;
  loaded->diag = csim_diag_new();
  g_mutex_init(&loaded->mutex);
  if (load_all(loaded, other, spec, error)) return loaded;
  csim_loaded_unref(loaded);
  return NULL;
}

CsimLoaded *csim_loaded_ref(CsimLoaded *loaded) {
  g_atomic_int_inc(&loaded->refs);
  return loaded;
}

gboolean csim_loaded_fits(const CsimLoaded *loaded, uint64_t seed) { return !loaded->cluster->seeded || loaded->seed == seed; }

void csim_loaded_unref(CsimLoaded *loaded) {
  if (!loaded || !g_atomic_int_dec_and_test(&loaded->refs)) return;
  csim_machine_free(loaded->machine);
  csim_tuning_free(loaded->tuning);
  csim_comm_free(loaded->comm);
  if (!loaded->base) {
    csim_catalogue_free(loaded->catalogue);
    csim_cluster_free(loaded->cluster);
  }
  csim_loaded_unref(loaded->base);
  csim_nccl_env_free(loaded->env);
  csim_diag_free(loaded->diag);
  g_clear_error(&loaded->no_machine);
  g_mutex_clear(&loaded->mutex);
  g_free(loaded);
}

/* Made by the first run that simulates: NCCL's own prediction needs none. */
static const CsimMachine *shared_machine(CsimLoaded *loaded, GError **error) {
  if (loaded->base) return shared_machine(loaded->base, error);
  g_mutex_lock(&loaded->mutex);
  CsimMachineOptions options = {.seed = loaded->seed, .keep_all = loaded->whole_fabric};
  if (!loaded->machine && !loaded->no_machine)
    loaded->machine = csim_machine_new_with(loaded->cluster, loaded->catalogue, &options, &loaded->no_machine);
  const CsimMachine *machine = loaded->machine;
  if (!machine && error) *error = g_error_copy(loaded->no_machine);
  g_mutex_unlock(&loaded->mutex);
  return machine;
}

/* --- what is one run's own -------------------------------------------------------------- */

/* Settings of switches and adapters are checked at every fidelity, if there are any. */
static gboolean check_packets(CsimRun *run, GError **error) {
  CsimPacketOptions options = csim_exec_packet_options(run->env, run->spec.seed);
  if (run->spec.fidelity != CSIM_FIDELITY_PACKET && !csim_packet_settings_given(run->machine)) return TRUE;
  run->own_diag = csim_diag_new();
  return csim_packet_fabric_check(run->machine, &options, run->own_diag, error);
}

static gboolean load_exec(CsimRun *run, GError **error) {
  const CsimRunSpec *spec = &run->spec;
  if (spec->fidelity == CSIM_FIDELITY_MODEL && spec->trace) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "the model has no events to trace; --fidelity flow has");
    return FALSE;
  }
  if (spec->packet_series && spec->fidelity != CSIM_FIDELITY_PACKET) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "a series of queues needs --fidelity packet");
    return FALSE;
  }
  if (spec->fidelity == CSIM_FIDELITY_MODEL) return TRUE;
  run->machine = shared_machine(run->loaded, error);
  if (!run->machine) return FALSE;
  if (!check_packets(run, error)) return FALSE;
  if (spec->trace) run->trace = csim_trace_new(CSIM_RUN_TRACE_MAX);
  CsimExecSpec exec = {
    .machine = run->machine,
    .comm = run->comm,
    .tuning = run->tuning,
    .env = run->env,
    .seed = spec->seed,
    .launch = spec->launch,
    .virtual_machine = spec->virtual_machine,
    .iters = spec->iters,
    .queue = spec->queue,
    .interrupt = spec->interrupt,
    .digest = TRUE, /* about 2 ns an event; so the digest of a run does not depend on who asks for it */
    .packets = spec->fidelity == CSIM_FIDELITY_PACKET,
    .packet_series = spec->packet_series,
    .no_symmetry = spec->no_symmetry,
    .keep_links = spec->whole_fabric,
    .trace = run->trace,
  };
  run->exec = csim_exec_new(&exec, error);
  return run->exec != NULL;
}

gboolean csim_run_load(CsimRun *run, CsimLoaded *loaded, GError **error) {
  run->loaded = csim_loaded_ref(loaded);
  run->diag = loaded->diag;
  run->env = loaded->env;
  run->cluster = loaded->cluster;
  run->comm = loaded->comm;
  run->tuning = loaded->tuning;
  run->catalogue = loaded->catalogue;
  return load_exec(run, error);
}
