/* exp/validate.c - all sets of a validation, on one or several threads. */
#include "exp/validate.h"

static void free_result(gpointer data) {
  CsimSetResult *r = (CsimSetResult *)data;
  csim_measured_set_free(r->set);
  csim_resolved_free(r->resolved);
  g_array_unref(r->rows);
  g_free(r->skipped);
  g_free(r->note);
  g_free(r);
}

static CsimSetResult *result_new(CsimMeasuredSet *set, const CsimValidateOptions *options) {
  CsimSetResult *r = g_new0(CsimSetResult, 1);
  r->set = set;
  r->rows = g_array_new(FALSE, FALSE, sizeof(CsimCompared));
  r->resolved = options->target ? csim_targets_given(options->targets, set, options->target)
                                : csim_targets_resolve(options->targets, set);
  if (options->target) {
    r->resolved->virtual_machine |= options->virtual_machine;
    if (options->label) csim_resolved_label(r->resolved, options->label);
  }
  r->skipped = g_strdup(r->resolved->skip);
  csim_set_result_count(r);
  return r;
}

/* The user's constants come after a site's. */
static void add_constants(CsimResolved *resolved, const char *const *constants) {
  g_ptr_array_set_size(resolved->constants, (gint)resolved->constants->len - 1); /* its NULL */
  for (guint i = 0; constants && constants[i]; i++)
    g_ptr_array_add(resolved->constants, g_strdup(constants[i]));
  g_ptr_array_add(resolved->constants, NULL);
}

typedef struct {
  const CsimValidateOptions *options;
  GMutex mutex;
  GCond cond;
  guint done;
} Pool;

static gboolean is_interrupted(const CsimValidateOptions *options) {
  return options->interrupt && *options->interrupt;
}

static gboolean is_wanted(const CsimSetResult *r, const CsimValidateOptions *options) {
  return r->resolved->target && !r->set->unusable && (!r->skipped || options->all);
}

static void work(gpointer data, gpointer user_data) {
  Pool *pool = (Pool *)user_data;
  CsimSetResult *r = (CsimSetResult *)data;
  if (is_interrupted(pool->options)) {
    if (!r->skipped) r->skipped = g_strdup("interrupted");
  } else {
    csim_validate_set(r, pool->options);
  }
  g_mutex_lock(&pool->mutex);
  pool->done++;
  g_cond_signal(&pool->cond);
  g_mutex_unlock(&pool->mutex);
}

static void report(const CsimValidateOptions *options, guint done, guint of) {
  if (options->progress) options->progress(done, of, options->data);
}

/* Results lie in order of the input whoever makes them. */
static void run_pool(const GPtrArray *wanted, const CsimValidateOptions *options) {
  Pool pool = {.options = options};
  g_mutex_init(&pool.mutex);
  g_cond_init(&pool.cond);
  GThreadPool *threads = g_thread_pool_new(work, &pool, MAX(options->jobs, 1), FALSE, NULL);
  for (guint i = 0; i < wanted->len; i++) g_thread_pool_push(threads, g_ptr_array_index(wanted, i), NULL);
  g_mutex_lock(&pool.mutex);
  while (pool.done < wanted->len) {
    guint done = pool.done;
    g_mutex_unlock(&pool.mutex);
    report(options, done, wanted->len);
    g_mutex_lock(&pool.mutex);
    if (pool.done == done)
      g_cond_wait_until(&pool.cond, &pool.mutex, g_get_monotonic_time() + G_USEC_PER_SEC / 4);
  }
  g_mutex_unlock(&pool.mutex);
  g_thread_pool_free(threads, FALSE, TRUE);
  g_mutex_clear(&pool.mutex);
  g_cond_clear(&pool.cond);
}

static uint64_t catalogue_digest(const CsimValidateOptions *options) {
  CsimCatalogue *catalogue = csim_catalogue_new(options->catalogue_file, options->constants, NULL);
  uint64_t digest = catalogue ? csim_catalogue_digest(catalogue) : 0;
  csim_catalogue_free(catalogue);
  return digest;
}

CsimValidation *csim_validate(GPtrArray *sets, const CsimValidateOptions *options) {
  CsimValidation *v = g_new0(CsimValidation, 1);
  g_autoptr(GPtrArray) wanted = g_ptr_array_new();
  v->sets = g_ptr_array_new_with_free_func(free_result);
  for (guint i = 0; i < sets->len; i++) {
    CsimSetResult *r = result_new((CsimMeasuredSet *)g_ptr_array_index(sets, i), options);
    add_constants(r->resolved, options->constants);
    g_ptr_array_add(v->sets, r);
    if (is_wanted(r, options)) g_ptr_array_add(wanted, r);
  }
  g_ptr_array_set_free_func(sets, NULL);
  g_ptr_array_set_size(sets, 0);
  run_pool(wanted, options);
  v->catalogue_digest = catalogue_digest(options);
  csim_validation_summarise(v);
  return v;
}

void csim_validation_free(CsimValidation *v) {
  if (!v) return;
  g_ptr_array_unref(v->sets);
  g_free(v);
}
