/* exp/sweep.c - the points of an experiment, divided among threads. */
#include "exp/sweep-private.h"

#include "base/hash.h"
#include "base/json-write.h"
#include "collsim/version.h"

#include <inttypes.h>
#include <string.h>

#define POLL_US 250000 /* between two looks at the progress */

/* --- what is to do ------------------------------------------------------------------------ */

static gboolean find_keys(CsimSweep *s, GError **error) {
  for (guint point = 0; point < csim_experiment_n_points(s->e); point++) {
    g_autoptr(CsimDescription) d = csim_experiment_describe(s->e, point, error);
    if (!d) return FALSE;
    g_ptr_array_add(s->keys, g_strdup_printf("%016" PRIx64, csim_description_key(d, s->e)));
  }
  return TRUE;
}

/* Points whose result is not there, each key once: equal points are one run. */
static void find_todo(CsimSweep *s) {
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint point = 0; point < s->keys->len; point++) {
    if (!csim_sweep_is_mine(s, point)) continue;
    if (csim_sweep_result(s, point)) s->reused++;
    else if (g_hash_table_add(seen, g_ptr_array_index(s->keys, point))) g_array_append_val(s->todo, point);
  }
}

static void count_stale(CsimSweep *s) {
  g_autoptr(GHashTable) valid = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint point = 0; point < s->keys->len; point++) g_hash_table_add(valid, g_ptr_array_index(s->keys, point));
  for (guint i = 0; i < s->store->stored->len; i++) s->stale += !g_hash_table_contains(valid, g_ptr_array_index(s->store->stored, i));
}

CsimSweep *csim_sweep_new(const CsimExperiment *e, const CsimSweepOptions *options, GError **error) {
  g_autoptr(CsimSweep) s = g_new0(CsimSweep, 1);
  s->e = e;
  s->options = *options;
  s->keys = g_ptr_array_new_with_free_func(g_free);
  s->todo = g_array_new(FALSE, FALSE, sizeof(guint));
  s->share = csim_share_new((guint)MAX(options->jobs, 1) + 1);
  g_mutex_init(&s->mutex);
  g_cond_init(&s->cond);
  s->store = csim_store_new(options->folder, options->shard, options->n_shards, error);
  if (!s->store || !find_keys(s, error)) return NULL;
  find_todo(s);
  count_stale(s);
  return g_steal_pointer(&s);
}

void csim_sweep_free(CsimSweep *s) {
  if (!s) return;
  csim_store_free(s->store);
  csim_share_free(s->share);
  g_ptr_array_unref(s->keys);
  g_array_unref(s->todo);
  g_clear_error(&s->broken);
  g_mutex_clear(&s->mutex);
  g_cond_clear(&s->cond);
  g_free(s);
}

/* --- piece by piece -------------------------------------------------------------------------- */

gboolean csim_sweep_is_interrupted(const CsimSweep *s) { return s->options.interrupt && *s->options.interrupt; }

gboolean csim_sweep_next(CsimSweep *s, guint *point) {
  g_mutex_lock(&s->mutex);
  gboolean more = s->next < s->todo->len && !s->broken && !csim_sweep_is_interrupted(s);
  if (more) *point = g_array_index(s->todo, guint, s->next++);
  g_mutex_unlock(&s->mutex);
  return more;
}

char *csim_sweep_compute(CsimSweep *s, guint point) { return csim_point_result(s->e, point, s->share, s->options.interrupt); }

void csim_sweep_give(CsimSweep *s, guint point, const char *result) {
  g_mutex_lock(&s->mutex);
  if (!s->broken) csim_store_append(s->store, s->e, point, (const char *)g_ptr_array_index(s->keys, point), result, &s->broken);
  s->done++;
  g_cond_signal(&s->cond);
  g_mutex_unlock(&s->mutex);
}

void csim_sweep_count(CsimSweep *s, guint *done, guint *of) {
  g_mutex_lock(&s->mutex);
  *done = s->done;
  *of = s->todo->len;
  g_mutex_unlock(&s->mutex);
}

/* --- on threads --------------------------------------------------------------------------------- */

void csim_sweep_work(CsimSweep *s) {
  guint point;
  while (csim_sweep_next(s, &point)) {
    g_autofree char *result = csim_sweep_compute(s, point);
    if (!result) break;
    csim_sweep_give(s, point, result);
  }
}

static gpointer work(gpointer data) {
  csim_sweep_work((CsimSweep *)data);
  return NULL;
}

void csim_sweep_report(CsimSweep *s) {
  guint done, of;
  csim_sweep_count(s, &done, &of);
  if (s->options.progress && of > 0) s->options.progress(done, of, s->options.data);
}

/* Until everything is done, or nobody goes on. */
static void wait_for(CsimSweep *s) {
  for (gboolean over = FALSE; !over;) {
    csim_sweep_report(s);
    g_mutex_lock(&s->mutex);
    over = s->done >= s->todo->len || s->broken || csim_sweep_is_interrupted(s);
    if (!over) g_cond_wait_until(&s->cond, &s->mutex, g_get_monotonic_time() + POLL_US);
    g_mutex_unlock(&s->mutex);
  }
}

gboolean csim_sweep_run(CsimSweep *s, GError **error) {
  int jobs = MIN(MAX(s->options.jobs, 1), MAX((int)s->todo->len, 1));
  g_autoptr(GPtrArray) threads = g_ptr_array_new();
  for (int i = 0; i < jobs; i++) g_ptr_array_add(threads, g_thread_new("sweep", work, s));
  wait_for(s);
  for (guint i = 0; i < threads->len; i++) g_thread_join((GThread *)g_ptr_array_index(threads, i));
  if (s->broken && error) *error = g_error_copy(s->broken);
  return !s->broken;
}

/* --- the end ---------------------------------------------------------------------------------------- */

/* What went wrong at a point, from its result; NULL if nothing did. Caller frees. */
static char *failure(const char *result) {
  static const char mark[] = "\"error\": ";
  const char *at = strstr(result, mark);
  if (!at || strstr(result, "\"rows\": [")) return NULL;
  cJSON *object = cJSON_Parse(result);
  char *text = g_strdup(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "error")));
  cJSON_Delete(object);
  return text;
}

static void count_results(const CsimSweep *s, CsimSweepSummary *summary) {
  for (guint point = 0; point < s->keys->len; point++) {
    const char *result = csim_sweep_result(s, point);
    if (!csim_sweep_is_mine(s, point)) continue;
    summary->points++;
    summary->missing += result == NULL;
    char *wrong = result ? failure(result) : NULL;
    if (!wrong) continue;
    summary->failed++;
    if (summary->first_failure) g_free(wrong);
    else summary->first_failure = wrong;
  }
}

/* The lines of the shard, or of everything that is there. */
static gboolean write_lines(const CsimSweep *s, GError **error) {
  g_autoptr(GString) text = g_string_new(NULL);
  g_autofree char *name = g_path_get_basename(s->store->path);
  for (guint point = 0; point < s->keys->len; point++) {
    const char *result = csim_sweep_result(s, point);
    if (result && csim_sweep_is_mine(s, point)) csim_store_line(text, s->e, point, (const char *)g_ptr_array_index(s->keys, point), result);
  }
  return csim_store_replace(s->store, name, text, error);
}

static gboolean write_table(const CsimSweep *s, const char *name, CsimTable *table, GError **error) {
  g_autoptr(GString) text = g_string_new(NULL);
  if (!table) return TRUE;
  csim_table_to_csv(table, text);
  csim_table_free(table);
  return csim_store_replace(s->store, name, text, error);
}

static gboolean write_provenance(const CsimSweep *s, GError **error) {
  g_autoptr(GString) text = g_string_new("{");
  uint64_t results = CSIM_HASH_INIT;
  for (guint point = 0; point < s->keys->len; point++) results = csim_hash_bytes(results, csim_sweep_result(s, point), strlen(csim_sweep_result(s, point)));
  csim_jsonw_member_string(text, "collsim", COLLSIM_VERSION);
  csim_jsonw_member_string(text, "experiment", s->e->name);
  csim_jsonw_member_digest(text, "experiment_digest", s->e->digest);
  csim_jsonw_member_string(text, "model_digest", csim_model_digest);
  csim_jsonw_member_digest(text, "catalogue_digest", csim_constants_digest());
  csim_jsonw_member_int(text, "points", s->keys->len);
  csim_jsonw_member_digest(text, "results_digest", results);
  g_string_append(text, "}\n");
  return csim_store_replace(s->store, "provenance.json", text, error);
}

static gboolean write_tables(const CsimSweep *s, GError **error) {
  CsimTable *rows = csim_sweep_table(s), *summary = s->e->repeats > 1 ? csim_sweep_summary_table(s->e, rows) : NULL;
  gboolean summarised = write_table(s, "summary.csv", summary, error);
  return write_table(s, "results.csv", rows, summarised ? error : NULL) && summarised && write_table(s, "links.csv", csim_sweep_links(s), error) &&
         write_provenance(s, error);
}

static gboolean is_whole(const CsimSweep *s) {
  for (guint point = 0; point < s->keys->len; point++)
    if (!csim_sweep_result(s, point)) return FALSE;
  return TRUE;
}

gboolean csim_sweep_finish(CsimSweep *s, CsimSweepSummary *summary, GError **error) {
  *summary = (CsimSweepSummary){.reused = s->reused, .computed = s->done, .stale = s->stale};
  count_results(s, summary);
  if (s->broken) {
    if (error) *error = g_error_copy(s->broken);
    return FALSE;
  }
  return write_lines(s, error) && (s->options.n_shards > 1 || !is_whole(s) || write_tables(s, error));
}

void csim_sweep_summary_clear(CsimSweepSummary *summary) { g_clear_pointer(&summary->first_failure, g_free); }
