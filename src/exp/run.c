#include "exp/run-private.h"

#include "exp/bottleneck.h"
#include "exp/device.h"
#include "base/hash.h"
#include "base/units.h"

#include <sys/resource.h>

/* What the number of ranks and the fidelity make of the collective. */
static gboolean check_collective(const CsimRun *run, GError **error) {
  int n = run->info.n_ranks;
  CsimColl coll = run->spec.coll;
  if (csim_perf_has_root(coll) && run->spec.root >= n) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "root %d does not exist; ranks are 0 to %d", run->spec.root, n - 1);
    return FALSE;
  }
  if (coll >= CSIM_N_NCCL_FUNCS && run->spec.fidelity == CSIM_FIDELITY_MODEL) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "NCCL has no cost model for %s; --fidelity flow simulates it", csim_coll_name(coll));
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
  if (run->own_diag) add_warnings(info->warnings, run->own_diag);
  if (run->cluster->loss > 0 && run->spec.fidelity != CSIM_FIDELITY_PACKET)
    g_ptr_array_add(info->warnings, g_strdup("packet loss has no effect at this fidelity; --fidelity packet has it"));
  if (run->cluster->stuck && run->spec.fidelity != CSIM_FIDELITY_PACKET)
    g_ptr_array_add(info->warnings, g_strdup("a stuck NIC has no effect at this fidelity; --fidelity packet has it"));
  if (run->cluster->bound_in_vain)
    g_ptr_array_add(info->warnings, g_strdup("a bound process has its host buffers near its GPU all the same, so the binding has no effect; "
                                             "-x NCCL_CUMEM_HOST_ENABLE=0 has it"));
}

CsimRun *csim_run_new_on(CsimLoaded *loaded, const CsimRunSpec *spec, GError **error) {
  g_autoptr(CsimRun) run = g_new0(CsimRun, 1);
  run->started_us = g_get_monotonic_time();
  run->spec = *spec;
  run->info.warnings = g_ptr_array_new_with_free_func(g_free);
  run->wishes = csim_run_sizes(spec, error);
  if (!run->wishes || !csim_run_load(run, loaded, error)) return NULL;
  fill_info(run);
  return check_collective(run, error) ? g_steal_pointer(&run) : NULL;
}

CsimRun *csim_run_new(const CsimRunSpec *spec, GError **error) {
  gint64 started_us = g_get_monotonic_time();
  g_autoptr(GArray) sizes = csim_run_sizes(spec, error); /* before anything is loaded: a wrong range is said at once */
  CsimLoaded *loaded = sizes ? csim_loaded_new(spec, error) : NULL;
  CsimRun *run = loaded ? csim_run_new_on(loaded, spec, error) : NULL;
  csim_loaded_unref(loaded);
  if (run) run->started_us = started_us;
  return run;
}

void csim_run_free(CsimRun *run) {
  if (!run) return;
  csim_exec_free(run->exec);
  csim_diag_free(run->own_diag);
  g_clear_pointer(&run->link_lists, g_ptr_array_unref);
  g_clear_pointer(&run->packet_logs, g_ptr_array_unref);
  csim_trace_free(run->trace);
  csim_loaded_unref(run->loaded);
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
  if (!csim_tuning_choose(run->tuning, row->coll, row->type, row->op, row->size_bytes, &row->choice, error)) return FALSE;
  CsimPart parts[CSIM_MAX_CHANNELS];
  csim_tuning_split(run->tuning, row->coll, &row->choice, row->type, row->count, parts, &row->n_channels);
  row->time_us = row->choice.time_us;
  return TRUE;
}

static void unref_log(gpointer log) { csim_packet_log_unref(log); }

void csim_run_keep_packets(CsimRun *run, CsimPacketLog *log) {
  if (!log) return;
  if (!run->packet_logs) run->packet_logs = g_ptr_array_new_with_free_func(unref_log);
  g_ptr_array_add(run->packet_logs, csim_packet_log_ref(log));
}

void csim_run_keep_links(CsimRun *run, const GArray *links) {
  if (!links) return;
  if (!run->link_lists) run->link_lists = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
  g_ptr_array_add(run->link_lists, g_array_ref((GArray *)links));
}

static gboolean row_by_exec(CsimRun *run, CsimRow *row, GError **error) {
  CsimCall call = {row->coll, row->type, row->op, row->count, MAX(row->root, 0)};
  CsimExecResult result;
  if (run->trace) csim_trace_clear(run->trace);
  if (!csim_exec_call(run->exec, &call, &result, error)) return FALSE;
  row->choice = result.choice;
  row->n_channels = result.n_channels;
  row->time_us = result.time_us;
  row->where = result.where;
  row->digest = result.digest;
  run->info.events += result.events;
  csim_name_bottleneck(run->machine, row);
  csim_run_read_links(run, &result, row);
  row->packets = csim_exec_packets(run->exec);
  csim_run_keep_packets(run, row->packets);
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

gboolean csim_run_compute(CsimRun *run, guint i, CsimRow *out, GError **error) {
  const CsimRunSpec *spec = &run->spec;
  int n_ranks = run->info.n_ranks;
  CsimPerfSize size = csim_perf_size(spec->coll, spec->type, n_ranks, g_array_index(run->wishes, CsimBytes, i));
  if (spec->interrupt && *spec->interrupt) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_INTERRUPTED, "interrupted");
    return FALSE;
  }
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
  return TRUE;
}

void csim_run_account(CsimRun *run, CsimRow *row, uint64_t events) {
  run->info.events += events;
  digest_row(run, row);
  update_cost(&run->info, run->started_us);
}

gboolean csim_run_row(CsimRun *run, guint i, CsimRow *out, GError **error) {
  if (!csim_run_compute(run, i, out, error)) return FALSE;
  csim_run_account(run, out, 0); /* its events were counted where they happened */
  return TRUE;
}
