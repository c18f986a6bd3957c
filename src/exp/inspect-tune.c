#include "exp/inspect.h"

#include "exp/run-private.h"

#include <inttypes.h>
#include <string.h>

/* --- NCCL's table and choice --- */

static void append_entries(GString *out, const CsimTuning *tuning, CsimColl coll) {
  g_string_append_printf(out, "%s\n  %-14s %-7s %12s %12s %9s\n", csim_coll_name(coll), "algorithm", "proto", "latency(us)", "bw(GB/s)", "threads");
  for (int i = 0; i < CSIM_N_ALGOS * CSIM_N_PROTOS; i++) {
    CsimAlgo algo = (CsimAlgo)(i / CSIM_N_PROTOS);
    CsimProto proto = (CsimProto)(i % CSIM_N_PROTOS);
    CsimTuneEntry entry = csim_tuning_entry(tuning, coll, algo, proto);
    if (entry.bw <= 0) continue;
    g_string_append_printf(out, "  %-14s %-7s %12.1f %12.1f %9d\n", csim_algo_name(algo), csim_proto_name(proto), (double)entry.lat, (double)entry.bw,
                           csim_tuning_max_threads(tuning, algo, proto));
  }
}

static gboolean same_pair(const CsimChoice *a, const CsimChoice *b) {
  return a->algo == b->algo && a->proto == b->proto && a->n_channels == b->n_channels && a->n_threads == b->n_threads;
}

/* "from 64KiB: Ring/LL, 8 channels, 512 threads": a line only where the choice changes. */
static void append_choices(GString *out, const CsimRun *run, CsimColl coll) {
  CsimChoice before = {.n_channels = -1};
  int n_ranks = csim_comm_info(run->comm)->n_ranks;
  for (CsimBytes size = 8; size <= INT64_C(16) << 30; size *= 2) {
    CsimBytes whole = coll == CSIM_COLL_ALL_GATHER || coll == CSIM_COLL_REDUCE_SCATTER ? size / n_ranks * n_ranks : size;
    CsimChoice choice;
    if (whole == 0 || !csim_tuning_choose(run->tuning, coll, run->spec.type, CSIM_OP_SUM, whole, &choice, NULL) || same_pair(&choice, &before)) continue;
    g_string_append_printf(out, "  from %11" PRId64 " B  %s/%s, up to %d channel%s of %d threads, %.1f us\n", size, csim_algo_name(choice.algo), csim_proto_name(choice.proto),
                           choice.n_channels, choice.n_channels == 1 ? "" : "s", choice.n_threads, (double)choice.time_us);
    before = choice;
  }
  if (before.n_channels < 0) g_string_append(out, "  no algorithm is allowed\n");
}

void csim_inspect_tune(GString *out, const CsimRun *run, CsimColl coll) {
  static const CsimColl order[] = {CSIM_COLL_ALL_REDUCE, CSIM_COLL_ALL_GATHER, CSIM_COLL_REDUCE_SCATTER, CSIM_COLL_BROADCAST, CSIM_COLL_REDUCE};
  g_string_append_printf(out, "%s: %s; NCCL's cost table and choice\n", run->spec.target, run->info.device);
  for (guint i = 0; i < G_N_ELEMENTS(order); i++) {
    if (coll != CSIM_N_COLLS && coll != order[i]) continue;
    g_string_append_c(out, '\n');
    append_entries(out, run->tuning, order[i]);
    append_choices(out, run, order[i]);
  }
}

/* --- what the simulator finds fastest --- */

typedef struct { CsimAlgo algo; CsimProto proto; } Pair;

/* Pairs that the table offers for the collective. */
static GArray *list_pairs(const CsimRun *run) {
  GArray *pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
  for (int i = 0; i < CSIM_N_ALGOS * CSIM_N_PROTOS; i++) {
    Pair pair = {(CsimAlgo)(i / CSIM_N_PROTOS), (CsimProto)(i % CSIM_N_PROTOS)};
    if (csim_tuning_entry(run->tuning, run->spec.coll, pair.algo, pair.proto).bw > 0) g_array_append_val(pairs, pair);
  }
  return pairs;
}

/* The spec with one algorithm and protocol forced, simulated. `texts` keeps what it points to. */
static CsimRun *forced_run(const CsimRun *run, Pair pair, GPtrArray *texts, GError **error) {
  CsimRunSpec spec = run->spec;
  GPtrArray *overrides = g_ptr_array_new();
  for (const char *const *text = spec.overrides; text && *text; text++) g_ptr_array_add(overrides, (void *)*text);
  char *algo = g_strdup_printf("NCCL_ALGO=%s", csim_algo_name(pair.algo)), *proto = g_strdup_printf("NCCL_PROTO=%s", csim_proto_name(pair.proto));
  g_ptr_array_add(texts, algo);
  g_ptr_array_add(texts, proto);
  g_ptr_array_add(overrides, algo);
  g_ptr_array_add(overrides, proto);
  g_ptr_array_add(overrides, NULL);
  spec.overrides = (const char *const *)overrides->pdata;
  spec.fidelity = CSIM_FIDELITY_FLOW;
  CsimLoaded *loaded = csim_loaded_new_like(run->loaded, &spec, error);
  CsimRun *forced = loaded ? csim_run_new_on(loaded, &spec, error) : NULL;
  csim_loaded_unref(loaded);
  g_ptr_array_unref(overrides); /* only looked at while loading */
  return forced;
}

static void note_result(CsimTuneRow *row, const CsimRow *simulated, Pair pair) {
  row->size_bytes = simulated->size_bytes;
  if (row->best_us == 0 || simulated->time_us < row->best_us) {
    row->best_us = simulated->time_us;
    row->best_algo = pair.algo;
    row->best_proto = pair.proto;
  }
  if (row->choice_algo == pair.algo && row->choice_proto == pair.proto) row->choice_us = simulated->time_us;
}

/* FALSE with an error; a pair that cannot be simulated (yet) is left out. */
static gboolean simulate_pair(const CsimRun *run, Pair pair, GArray *rows, GError **error) {
  g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GError) wrong = NULL;
  g_autoptr(CsimRun) forced = forced_run(run, pair, texts, &wrong);
  for (guint i = 0; forced && i < rows->len; i++) {
    CsimRow simulated;
    if (!csim_run_row(forced, i, &simulated, &wrong)) break;
    if (simulated.n_channels) note_result(&g_array_index(rows, CsimTuneRow, i), &simulated, pair);
  }
  if (!wrong || g_error_matches(wrong, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED) || g_error_matches(wrong, CSIM_ERROR, CSIM_ERROR_NCCL)) return TRUE;
  g_propagate_error(error, g_steal_pointer(&wrong));
  return FALSE;
}

static gboolean list_choices(const CsimRun *run, GArray *rows, GError **error) {
  for (guint i = 0; i < rows->len; i++) {
    CsimTuneRow *row = &g_array_index(rows, CsimTuneRow, i);
    CsimPerfSize size = csim_perf_size(run->spec.coll, run->spec.type, run->info.n_ranks, g_array_index(run->wishes, CsimBytes, i));
    CsimChoice choice = {0};
    if (size.count && !csim_tuning_choose(run->tuning, run->spec.coll, run->spec.type, run->spec.op, size.size_bytes, &choice, error)) return FALSE;
    *row = (CsimTuneRow){.size_bytes = size.size_bytes, .choice_algo = choice.algo, .choice_proto = choice.proto};
  }
  return TRUE;
}

GArray *csim_inspect_fastest(const CsimRun *run, CsimTuneProgress progress, GError **error) {
  g_autoptr(GArray) pairs = list_pairs(run);
  g_autoptr(GArray) rows = g_array_sized_new(FALSE, TRUE, sizeof(CsimTuneRow), run->wishes->len);
  g_array_set_size(rows, run->wishes->len);
  if (!list_choices(run, rows, error)) return NULL;
  for (guint i = 0; i < pairs->len; i++) {
    progress(i, pairs->len);
    if (!simulate_pair(run, g_array_index(pairs, Pair, i), rows, error)) return NULL;
  }
  return g_steal_pointer(&rows);
}

void csim_inspect_fastest_text(GString *out, const GArray *rows, CsimColl coll) {
  g_string_append_printf(out, "\nsimulated %s\n  %12s  %-16s %10s  %-16s %10s\n", csim_coll_name(coll), "size(B)", "NCCL's choice", "time(us)", "fastest", "time(us)");
  for (guint i = 0; i < rows->len; i++) {
    const CsimTuneRow *row = &g_array_index(rows, CsimTuneRow, i);
    if (row->best_us == 0) continue;
    g_autofree char *choice = g_strdup_printf("%s/%s", csim_algo_name(row->choice_algo), csim_proto_name(row->choice_proto));
    g_autofree char *best = g_strdup_printf("%s/%s", csim_algo_name(row->best_algo), csim_proto_name(row->best_proto));
    g_string_append_printf(out, "  %12" PRId64 "  %-16s %10.2f  %-16s %10.2f", row->size_bytes, choice, row->choice_us, best, row->best_us);
    if (strcmp(choice, best) && row->choice_us > 0) g_string_append_printf(out, "  %.1f %% faster", (1 - row->best_us / row->choice_us) * 100);
    g_string_append_c(out, '\n');
  }
}
