/* From a spec to everything that a run needs. */
#include "exp/run-private.h"

#include "exp/trace-view.h"

#include <inttypes.h>

static CsimBytes next_size(const CsimRunSpec *spec, CsimBytes size) {
  return spec->factor > 1 ? size * spec->factor : size + spec->step_bytes;
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

gboolean csim_is_multi_node_nvlink(const CsimCluster *cluster, const CsimNcclEnv *env) {
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
    .mnnvl = csim_is_multi_node_nvlink(run->cluster, run->env),
    .coll_net = run->cluster->fabric.sharp,
  };
  run->comm = csim_comm_new(&comm, run->diag, error);
  if (!run->comm) return FALSE;
  run->tuning = csim_tuning_new(run->comm, run->env, error);
  return run->tuning != NULL;
}

static gboolean load_exec(CsimRun *run, GError **error) {
  const CsimRunSpec *spec = &run->spec;
  if (spec->fidelity == CSIM_FIDELITY_MODEL && spec->trace) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "the model has no events to trace; --fidelity flow has");
    return FALSE;
  }
  if (spec->fidelity == CSIM_FIDELITY_MODEL) return TRUE;
  run->machine = csim_machine_new(run->cluster, run->catalogue, error);
  if (!run->machine) return FALSE;
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
    .no_symmetry = spec->no_symmetry,
    .trace = run->trace,
  };
  run->exec = csim_exec_new(&exec, error);
  return run->exec != NULL;
}

gboolean csim_run_load(CsimRun *run, GError **error) {
  const CsimRunSpec *spec = &run->spec;
  run->env = csim_nccl_env_new(spec->environ, spec->overrides, run->diag, error);
  if (!run->env) return FALSE;
  run->catalogue = csim_catalogue_new(spec->catalogue_file, spec->sets, error);
  if (!run->catalogue) return FALSE;
  run->cluster = csim_cluster_load(spec->target, spec->n_nodes, error);
  if (!run->cluster) return FALSE;
  return load_comm(run, error) && load_exec(run, error);
}
