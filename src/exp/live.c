/* exp/live.c - predictions beside what this machine does: the steps in their order. */
#include "exp/live-private.h"

#include "probe/copies.h"
#include "probe/sockets.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#define QUICK (INT64_C(1) << 20)

typedef struct {
  const CsimLiveOptions *options;
  CsimLive *live;
  GPtrArray *series; /* LiveSeries* */
  GArray *copies, *sockets;
  CsimProbeTable *table;
  LiveTarget target;
  CsimValidation *predictions;
} Run;

/* --- files ------------------------------------------------------------------------ */

static void say(const Run *r, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void say(const Run *r, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  if (r->options->step) r->options->step(text, r->options->data);
}

static char *path_of(const Run *r, const char *name) {
  return g_build_filename(r->options->folder, name, NULL);
}

static gboolean write_file(const Run *r, const char *name, const char *text, GError **error) {
  g_autofree char *path = path_of(r, name);
  return g_file_set_contents(path, text, -1, error);
}

static gboolean write_table(const Run *r, const char *name, const CsimProbeTable *table, GError **error) {
  g_autoptr(GString) text = g_string_new(NULL);
  csim_probe_table_csv(table, text);
  return write_file(r, name, text->str, error);
}

static gboolean make_folder(const Run *r, GError **error) {
  if (g_mkdir_with_parents(r->options->folder, 0777) == 0) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: cannot be made a folder: %s", r->options->folder, g_strerror(errno));
  return FALSE;
}

/* --- basic probes ----------------------------------------------------------------- */

static gboolean dump(Run *r, GError **error) {
  g_autofree char *folder = path_of(r, "nccl"), *topo = g_build_filename(folder, "topo.xml", NULL);
  CsimNcclOptions o = r->options->nccl;
  o.dump = folder;
  say(r, "NCCL's topology");
  return csim_probe_nccl_dump(&o, &r->live->facts, error) &&
         live_target(r->options, &r->live->facts, topo, &r->target, error);
}

static gboolean probe_copies(Run *r, GError **error) {
  CsimCopyOptions o;
  CsimGpuFacts gpus;
  csim_copy_options_init(&o);
  o.interrupt = r->options->nccl.interrupt;
  if (r->options->nccl.max < QUICK) o.max = QUICK; /* small sizes only: a trial, not a calibration of rates */
  say(r, "copies");
  if (!csim_probe_gpus(&gpus, error) || !csim_probe_copies(&o, r->copies, error)) return FALSE;
  g_autoptr(CsimProbeTable) table = csim_copies_table(r->copies, &gpus);
  return write_table(r, "copies.csv", table, error);
}

static gboolean probe_sockets(Run *r, GError **error) {
  const CsimNcclOptions *n = &r->options->nccl;
  CsimSocketOptions o = {.n_ranks = r->live->facts.n_hosts, .netns = n->netns, .limit_s = 60, .interrupt = n->interrupt};
  if (o.n_ranks < 2) return TRUE;
  say(r, "sockets");
  if (!csim_probe_sockets(&o, r->sockets, error)) return FALSE;
  g_autoptr(CsimProbeTable) table = csim_sockets_table(r->sockets);
  return write_table(r, "sockets.csv", table, error);
}

/* --- constants -------------------------------------------------------------------- */

static gboolean calibrate(Run *r, GError **error) {
  CsimLive *live = r->live;
  if (!r->options->calibrate) return TRUE;
  g_autoptr(CsimCatalogue) catalogue =
      csim_catalogue_new(r->options->validate.catalogue_file, (const char *const *)r->target.constants->pdata, error);
  if (!catalogue) return FALSE;
  g_autofree char *topo = path_of(r, "nccl/topo.xml"), *model = NULL;
  CsimLiveBasics basics = {.copies = r->copies, .sockets = r->sockets, .n_ranks = live->facts.n_ranks, .nic_gbps = r->target.nic_gbps};
  if (!live_gpu_model(topo, catalogue, &model, &basics, error)) return FALSE;
  basics.gpu_model = model;
  g_ptr_array_unref(live->constants);
  live->constants = csim_live_calibrate(&basics, catalogue);
  g_autofree char *source = g_strdup_printf("collsim validate --live --calibrate, %s, %s", live->facts.gpu, live->date);
  g_autofree char *json = csim_live_constants_json(live->constants, source);
  return g_file_set_contents(r->options->calibrate, json, -1, error);
}

/* --- predictions and runs ---------------------------------------------------------- */

static gboolean predict(Run *r, GError **error) {
  CsimLive *live = r->live;
  say(r, "predictions");
  GPtrArray *sets = live_empty_sets(r->options, r->series, &live->facts);
  r->predictions = live_validate(r->options, &r->target, sets, TRUE, NULL);
  g_ptr_array_unref(sets);
  g_autofree char *csv = live_predictions_csv(r->predictions, r->target.label, live->date);
  live->predictions_digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, csv, -1);
  return write_file(r, "predictions.csv", csv, error);
}

static gboolean run_series(Run *r, const LiveSeries *series, GError **error) {
  CsimNcclOptions o = live_series_options(r->options, series);
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(CsimNcclRow));
  CsimNcclFacts facts;
  say(r, "%s", series->tag);
  gboolean ok = csim_probe_nccl(&o, rows, &facts, error);
  csim_nccl_table_add(r->table, series->tag, &o, &facts, rows);
  for (guint i = 0; i < rows->len; i++) r->live->wrong += g_array_index(rows, CsimNcclRow, i).wrong;
  return ok;
}

/* A forced algorithm that NCCL refuses ends its own series only. */
static gboolean measure(Run *r, GError **error) {
  r->table = csim_nccl_table_new();
  for (guint i = 0; i < r->series->len; i++) {
    g_autoptr(GError) own = NULL;
    const LiveSeries *series = (const LiveSeries *)g_ptr_array_index(r->series, i);
    if (run_series(r, series, &own)) continue;
    if (i == 0 || own->code == CSIM_ERROR_INTERRUPTED) {
      g_propagate_error(error, g_steal_pointer(&own));
      return FALSE;
    }
    g_autofree char *key = g_strdup_printf("failed %s", series->tag);
    csim_probe_table_fact(r->table, key, "%s", own->message);
  }
  return write_table(r, "nccl.csv", r->table, error);
}

static GPtrArray *read_back(const Run *r) {
  GPtrArray *sets = g_ptr_array_new_with_free_func(csim_measured_set_free);
  g_autoptr(GString) text = g_string_new(NULL);
  csim_probe_table_csv(r->table, text);
  csim_measured_csv(sets, "nccl.csv", text->str, text->len, NULL);
  for (guint i = 0; i < sets->len; i++) {
    CsimMeasuredSet *set = (CsimMeasuredSet *)g_ptr_array_index(sets, i);
    g_autofree char *name = live_set_name(set->facts[CSIM_FACT_TAG], (int)set->n_gpus, set->coll);
    csim_measured_fact(set, CSIM_FACT_NAME, name);
  }
  return sets;
}

/* Rows of predictions.csv that the comparison predicts otherwise. Sets come in the same order; sizes are matched. */
static guint count_changed(const CsimValidation *first, const CsimValidation *then) {
  guint n = 0;
  for (guint i = 0; i < MIN(first->sets->len, then->sets->len); i++) {
    const GArray *a = ((const CsimSetResult *)g_ptr_array_index(first->sets, i))->rows;
    const GArray *b = ((const CsimSetResult *)g_ptr_array_index(then->sets, i))->rows;
    for (guint k = 0, j = 0; k < a->len && j < b->len; k++) {
      const CsimCompared *x = &g_array_index(a, CsimCompared, k), *y = &g_array_index(b, CsimCompared, j);
      if (x->measured.size != y->measured.size) continue;
      n += x->time_us != y->time_us;
      j++;
    }
  }
  return n;
}

static void compare(Run *r) {
  g_autoptr(GPtrArray) sets = read_back(r), again = read_back(r);
  say(r, "comparison");
  r->live->before = live_validate(r->options, &r->target, sets, FALSE, NULL);
  r->live->n_changed = count_changed(r->predictions, r->live->before);
  if (r->options->calibrate) r->live->after = live_validate(r->options, &r->target, again, FALSE, r->options->calibrate);
}

/* --- whole ------------------------------------------------------------------------ */

static CsimLive *live_new(void) {
  g_autoptr(GDateTime) now = g_date_time_new_now_utc();
  CsimLive *live = g_new0(CsimLive, 1);
  live->date = g_date_time_format(now, "%Y-%m-%d %H:%M UTC");
  live->constants = g_ptr_array_new();
  return live;
}

CsimLive *csim_live(const CsimLiveOptions *options, GError **error) {
  g_autoptr(CsimLive) live = live_new();
  Run r = {.options = options, .live = live, .series = live_series(options)};
  r.copies = g_array_new(FALSE, FALSE, sizeof(CsimCopyRow));
  r.sockets = g_array_new(FALSE, FALSE, sizeof(CsimSocketRow));
  gboolean ok = make_folder(&r, error) && dump(&r, error) && probe_copies(&r, error) && probe_sockets(&r, error) &&
                calibrate(&r, error) && predict(&r, error) && measure(&r, error);
  if (ok) compare(&r);
  live->target = g_strdup(r.target.label);
  live_target_clear(&r.target);
  g_ptr_array_unref(r.series);
  g_array_unref(r.copies);
  g_array_unref(r.sockets);
  csim_probe_table_free(r.table);
  csim_validation_free(r.predictions);
  return ok ? g_steal_pointer(&live) : NULL;
}

void csim_live_free(CsimLive *live) {
  if (!live) return;
  g_free(live->date);
  g_free(live->target);
  g_free(live->predictions_digest);
  g_ptr_array_unref(live->constants);
  csim_validation_free(live->before);
  csim_validation_free(live->after);
  g_free(live);
}
