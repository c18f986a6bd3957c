/* exp/tuner.c - settings tried one after the other. */
#include "exp/tuner.h"

#include "exp/run-private.h"

#include <math.h>
#include <string.h>

#define MAX_ROUNDS 3 /* over all variables; the second one rarely changes anything */

/* --- one simulation -------------------------------------------------------------------- */

typedef struct {
  const CsimRunSpec *spec;
  CsimLoaded *loaded; /* with the user's settings */
  CsimBytes size;
  uint64_t seed;
  const GPtrArray *extra; /* char*: on top of the user's */
  const char *without;    /* a variable to leave out, or NULL */
} Trial;

static gboolean is_of(const char *setting, const char *name) {
  gsize n = name ? strlen(name) : 0;
  return name && !strncmp(setting, name, n) && setting[n] == '=';
}

static GPtrArray *without(const char *const *settings, const char *name) {
  GPtrArray *kept = g_ptr_array_new();
  for (; settings && *settings; settings++)
    if (!is_of(*settings, name)) g_ptr_array_add(kept, (void *)*settings);
  return kept;
}

/* As little loaded anew as the trial's settings allow. */
static CsimRun *start(const Trial *trial, const CsimRunSpec *spec, GError **error) {
  gboolean as_it_is = (!trial->extra || trial->extra->len == 0) && !trial->without && csim_loaded_fits(trial->loaded, trial->seed);
  CsimLoaded *loaded = as_it_is ? csim_loaded_ref(trial->loaded) : csim_loaded_new_like(trial->loaded, spec, error);
  CsimRun *run = loaded ? csim_run_new_on(loaded, spec, error) : NULL;
  csim_loaded_unref(loaded);
  return run;
}

/* Time in us; NAN if it cannot be run so (no algorithm left, not simulated); < 0: interrupted. */
static double simulate(const Trial *trial) {
  g_autoptr(GPtrArray) environ = without(trial->spec->environ, trial->without), overrides = without(trial->spec->overrides, trial->without);
  g_autoptr(GError) error = NULL;
  CsimRunSpec spec = *trial->spec;
  for (guint i = 0; trial->extra && i < trial->extra->len; i++) g_ptr_array_add(overrides, g_ptr_array_index(trial->extra, i));
  g_ptr_array_add(environ, NULL);
  g_ptr_array_add(overrides, NULL);
  spec.environ = (const char *const *)environ->pdata;
  spec.overrides = (const char *const *)overrides->pdata;
  spec.min_bytes = spec.max_bytes = trial->size;
  spec.seed = trial->seed;
  g_autoptr(CsimRun) run = start(trial, &spec, &error);
  CsimRow row;
  if (run && csim_run_row(run, 0, &row, &error)) return row.n_channels ? row.time_us : NAN;
  return g_error_matches(error, CSIM_ERROR, CSIM_ERROR_INTERRUPTED) ? -1 : NAN;
}

/* --- what can matter ------------------------------------------------------------------------ */

typedef struct { const char *name, *values; gboolean between_nodes; } Variable;

/* Values between spaces. Algorithms and protocols that the target does not offer fail at once, and cost nothing. */
static const Variable of_collectives[] = {
  {"NCCL_ALGO", "Ring Tree NVLS NVLSTree CollNetDirect CollNetChain PAT", FALSE},
  {"NCCL_PROTO", "LL LL128 Simple", FALSE},
  {"NCCL_MAX_NCHANNELS", "1 2 4 8 16", FALSE},
  {"NCCL_MIN_NCHANNELS", "8 16 32", FALSE},
  {"NCCL_NTHREADS", "256 512", FALSE},
  {"NCCL_BUFFSIZE", "1048576 2097152 8388608 16777216", FALSE},
  {"NCCL_CROSS_NIC", "0 1", TRUE},
  {NULL},
};
static const Variable of_p2p[] = {
  {"NCCL_NCHANNELS_PER_NET_PEER", "1 2 4 8", TRUE},
  {"NCCL_MIN_P2P_NCHANNELS", "8 16 32", FALSE},
  {"NCCL_MAX_P2P_NCHANNELS", "1 2 4 8", FALSE},
  {"NCCL_P2P_NET_CHUNKSIZE", "65536 262144 524288", TRUE},
  {"NCCL_PXN_DISABLE", "0 1", TRUE},
  {NULL},
};

/* --- one size -------------------------------------------------------------------------------- */

typedef struct {
  const CsimRunSpec *spec;
  CsimLoaded *loaded; /* with the user's settings */
  const CsimTunerOptions *options;
  gboolean between_nodes;
  GMutex mutex;
  guint done, of;
  gboolean interrupted;
} Job;

static void put_setting(GPtrArray *settings, const char *name, const char *value) {
  for (guint i = 0; i < settings->len; i++)
    if (is_of((const char *)g_ptr_array_index(settings, i), name)) g_ptr_array_remove_index(settings, i--);
  if (value) g_ptr_array_add(settings, g_strdup_printf("%s=%s", name, value));
}

/* Tries the values of one variable on top of row->settings; TRUE if one is kept. *now: time of what is there. */
static gboolean try_variable(Job *job, CsimTunerRow *row, const Variable *variable, double *now) {
  g_auto(GStrv) values = g_strsplit(variable->values, " ", -1);
  const char *kept = NULL;
  double least = *now;
  for (char **value = values; *value && !job->interrupted; value++) {
    g_autoptr(GPtrArray) extra = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < row->settings->len; i++) g_ptr_array_add(extra, g_strdup((const char *)g_ptr_array_index(row->settings, i)));
    put_setting(extra, variable->name, *value);
    double time = simulate(&(Trial){job->spec, job->loaded, row->size_bytes, job->spec->seed, extra, NULL});
    row->tried++;
    if (time < 0) job->interrupted = TRUE;
    if (time < 0 || !(time < least)) continue;
    least = time;
    kept = *value;
  }
  if (!kept || least > *now * (1 - CSIM_TUNER_NOISE)) return FALSE;
  put_setting(row->settings, variable->name, kept);
  *now = least;
  return TRUE;
}

/* What later ones have made superfluous: a setting without which nothing is lost. */
static void drop_idle(Job *job, CsimTunerRow *row, double now) {
  for (guint i = 0; i < row->settings->len && !job->interrupted;) {
    char *setting = (char *)g_ptr_array_steal_index(row->settings, i);
    double time = simulate(&(Trial){job->spec, job->loaded, row->size_bytes, job->spec->seed, row->settings, NULL});
    row->tried++;
    if (time > 0 && time <= now * (1 + CSIM_TUNER_NOISE / 4)) {
      g_free(setting);
    } else {
      g_ptr_array_insert(row->settings, (gint)i, setting);
      i++;
    }
  }
}

static void compare_seeds(Job *job, CsimTunerRow *row) {
  g_autoptr(GArray) now = g_array_new(FALSE, FALSE, sizeof(double)), best = g_array_new(FALSE, FALSE, sizeof(double)), gain = g_array_new(FALSE, FALSE, sizeof(double));
  for (int i = 0; i < MAX(job->options->seeds, 1) && !job->interrupted; i++) {
    uint64_t seed = job->spec->seed + (uint64_t)i;
    double a = simulate(&(Trial){job->spec, job->loaded, row->size_bytes, seed, NULL, NULL}), b = a, ratio;
    if (row->settings->len) b = simulate(&(Trial){job->spec, job->loaded, row->size_bytes, seed, row->settings, NULL});
    job->interrupted |= a < 0 || b < 0;
    ratio = a / b - 1;
    g_array_append_val(now, a);
    g_array_append_val(best, b);
    g_array_append_val(gain, ratio);
  }
  row->now = csim_spread(now);
  row->best = csim_spread(best);
  row->gain = csim_spread(gain);
}

static void search_size(gpointer data, gpointer user_data) {
  CsimTunerRow *row = (CsimTunerRow *)data;
  Job *job = (Job *)user_data;
  const Variable *variables = job->spec->coll < CSIM_N_NCCL_FUNCS ? of_collectives : of_p2p;
  double now = simulate(&(Trial){job->spec, job->loaded, row->size_bytes, job->spec->seed, NULL, NULL});
  gboolean better = now > 0;
  job->interrupted |= now < 0;
  for (int round = 0; round < MAX_ROUNDS && better && !job->interrupted; round++) {
    better = FALSE;
    for (const Variable *v = variables; v->name; v++)
      if (!v->between_nodes || job->between_nodes) better |= try_variable(job, row, v, &now);
  }
  drop_idle(job, row, now);
  compare_seeds(job, row);
  g_mutex_lock(&job->mutex);
  job->done++;
  g_mutex_unlock(&job->mutex);
}

/* --- all sizes ------------------------------------------------------------------------------------ */

static void clear_row(gpointer data) { g_ptr_array_unref(((CsimTunerRow *)data)->settings); }
static void clear_verdict(gpointer data) { g_free(((CsimTunerVerdict *)data)->setting); }

static void run_sizes(CsimTuner *search, Job *job) {
  GThreadPool *pool = g_thread_pool_new(search_size, job, MAX(job->options->jobs, 1), FALSE, NULL);
  for (guint i = 0; i < search->rows->len; i++) g_thread_pool_push(pool, &g_array_index(search->rows, CsimTunerRow, i), NULL);
  for (guint done = 0; done < job->of;) {
    g_mutex_lock(&job->mutex);
    done = job->done;
    g_mutex_unlock(&job->mutex);
    if (job->options->progress) job->options->progress(done, job->of);
    if (done < job->of) g_usleep(20000);
  }
  g_thread_pool_free(pool, FALSE, TRUE);
}

static gboolean same_settings(const GPtrArray *a, const GPtrArray *b) {
  if (a->len != b->len) return FALSE;
  for (guint i = 0; i < a->len; i++)
    if (strcmp((const char *)g_ptr_array_index(a, i), (const char *)g_ptr_array_index(b, i))) return FALSE;
  return TRUE;
}

/* Geometric mean over sizes of now / with these settings; 0 if one size cannot be run with them. */
static double gain_everywhere(const CsimTuner *search, Job *job, const GPtrArray *settings) {
  double sum = 0;
  for (guint i = 0; i < search->rows->len; i++) {
    const CsimTunerRow *row = &g_array_index(search->rows, CsimTunerRow, i);
    double time = same_settings(settings, row->settings) ? row->best.median : simulate(&(Trial){job->spec, job->loaded, row->size_bytes, job->spec->seed, settings, NULL});
    if (!(time > 0)) return 0;
    sum += log(row->now.median / time);
  }
  return exp(sum / search->rows->len);
}

static void find_common(CsimTuner *search, Job *job) {
  double most = 1 + CSIM_TUNER_NOISE;
  search->common = -1;
  for (guint i = 0; i < search->rows->len && !job->interrupted; i++) {
    const GPtrArray *settings = g_array_index(search->rows, CsimTunerRow, i).settings;
    gboolean seen = settings->len == 0;
    for (guint k = 0; k < i; k++) seen |= same_settings(settings, g_array_index(search->rows, CsimTunerRow, k).settings);
    double gain = seen ? 0 : gain_everywhere(search, job, settings);
    if (gain <= most) continue;
    most = gain;
    search->common = (int)i;
    search->common_gain = gain - 1;
  }
}

/* Each variable that is set, left out. */
static void judge(CsimTuner *search, Job *job, const CsimNcclEnvItem *item) {
  CsimTunerVerdict v = {g_strdup_printf("%s=%s", item->name, item->value), INFINITY, 0, 0};
  for (guint i = 0; i < search->rows->len && !job->interrupted; i++) {
    const CsimTunerRow *row = &g_array_index(search->rows, CsimTunerRow, i);
    double with = simulate(&(Trial){job->spec, job->loaded, row->size_bytes, job->spec->seed, NULL, NULL});
    double ratio = with / simulate(&(Trial){job->spec, job->loaded, row->size_bytes, job->spec->seed, NULL, item->name});
    if (isnan(ratio)) continue;
    v.least = MIN(v.least, ratio);
    if (ratio > v.most) v.at_most = row->size_bytes;
    v.most = MAX(v.most, ratio);
  }
  g_array_append_val(search->verdicts, v);
}

static void add_rows(CsimTuner *search, const CsimRun *run) {
  for (guint i = 0; i < csim_run_n_rows(run); i++) {
    CsimTunerRow row = {.size_bytes = g_array_index(run->wishes, CsimBytes, i), .settings = g_ptr_array_new_with_free_func(g_free)};
    g_array_append_val(search->rows, row);
  }
}

CsimTuner *csim_tuner(const CsimRunSpec *spec, const CsimTunerOptions *options, GError **error) {
  g_autoptr(CsimRun) run = csim_run_new(spec, error);
  if (!run) return NULL;
  g_autoptr(CsimTuner) search = g_new0(CsimTuner, 1);
  search->n_ranks = csim_run_info(run)->n_ranks;
  search->rows = g_array_new(FALSE, FALSE, sizeof(CsimTunerRow));
  search->verdicts = g_array_new(FALSE, FALSE, sizeof(CsimTunerVerdict));
  g_array_set_clear_func(search->rows, clear_row);
  g_array_set_clear_func(search->verdicts, clear_verdict);
  add_rows(search, run);
  Job job = {.spec = spec, .loaded = run->loaded, .options = options, .between_nodes = run->info.n_nodes > 1, .of = search->rows->len};
  g_mutex_init(&job.mutex);
  run_sizes(search, &job);
  find_common(search, &job);
  g_autoptr(GPtrArray) items = csim_nccl_env_report(run->env);
  for (guint i = 0; i < items->len && !job.interrupted; i++) judge(search, &job, (const CsimNcclEnvItem *)g_ptr_array_index(items, i));
  g_mutex_clear(&job.mutex);
  if (!job.interrupted) return g_steal_pointer(&search);
  g_set_error_literal(error, CSIM_ERROR, CSIM_ERROR_INTERRUPTED, "interrupted");
  return NULL;
}

void csim_tuner_free(CsimTuner *search) {
  if (!search) return;
  g_array_unref(search->rows);
  g_array_unref(search->verdicts);
  g_free(search);
}
