/* exp/validate-run.c - the prediction for one measured set, with a limit on its time. */
#include "exp/validate.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

/* --- the clock ------------------------------------------------------------------ */

#define POLL_US 50000 /* how often the watch looks at the caller's interrupt */

/* A thread that raises `stop` when the time is over or the caller is interrupted; the run looks at it between events. The time is
 * what the running thread used of a processor, so that a busy machine changes nothing. */
typedef struct {
  volatile int stop;
  gboolean over, done; /* over: by time */
  double limit_s;      /* 0: none */
  clockid_t clock;     /* of the running thread */
  const volatile int *interrupt;
  GMutex mutex;
  GCond cond;
  GThread *thread;
} Watch;

static double seconds(clockid_t clock) {
  struct timespec now;
  return clock_gettime(clock, &now) == 0 ? (double)now.tv_sec + (double)now.tv_nsec * 1e-9 : 0;
}

static gpointer watch_main(gpointer data) {
  Watch *w = (Watch *)data;
  g_mutex_lock(&w->mutex);
  while (!w->done && !w->stop) {
    w->over = w->limit_s > 0 && seconds(w->clock) >= w->limit_s;
    if (w->over || (w->interrupt && *w->interrupt))
      w->stop = 1;
    else
      g_cond_wait_until(&w->cond, &w->mutex, g_get_monotonic_time() + POLL_US);
  }
  g_mutex_unlock(&w->mutex);
  return NULL;
}

static void watch_start(Watch *w, double limit_s, const volatile int *interrupt) {
  w->stop = 0;
  w->over = w->done = FALSE;
  w->limit_s = 0;
  if (limit_s > 0 && pthread_getcpuclockid(pthread_self(), &w->clock) == 0)
    w->limit_s = seconds(w->clock) + limit_s;
  w->interrupt = interrupt;
  g_mutex_init(&w->mutex);
  g_cond_init(&w->cond);
  w->thread = g_thread_new("validate-watch", watch_main, w);
}

static void watch_end(Watch *w) {
  g_mutex_lock(&w->mutex);
  w->done = TRUE;
  g_cond_signal(&w->cond);
  g_mutex_unlock(&w->mutex);
  g_thread_join(w->thread);
  g_mutex_clear(&w->mutex);
  g_cond_clear(&w->cond);
}

/* --- comparison ----------------------------------------------------------------- */

static void compare(CsimSetResult *result, const CsimMeasuredRow *measured, const CsimRow *row) {
  CsimCompared c = {
      .measured = *measured,
      .time_us = row->time_us,
      .busbw_gbps = row->busbw_gbps,
      .algo = row->choice.algo,
      .proto = row->choice.proto,
      .n_channels = row->n_channels,
  };
  if (row->time_us <= 0) return; /* nothing to move at this size */
  if (measured->time_us <= 0 && measured->busbw_gbps <= 0) {
    c.error = c.slower = NAN; /* a prediction only */
  } else if (result->busbw_only) {
    c.error = fabs(row->busbw_gbps / measured->busbw_gbps - 1);
    c.slower = measured->busbw_gbps / row->busbw_gbps - 1;
  } else {
    c.slower = row->time_us / measured->time_us - 1;
    c.error = fabs(c.slower);
  }
  g_array_append_val(result->rows, c);
}

/* Rows with a time are compared in time; busbw counts only where no row has one. */
static gboolean is_usable(const CsimSetResult *result, const CsimMeasuredRow *row, gboolean predict) {
  return predict ? TRUE : result->busbw_only ? row->busbw_gbps > 0 : row->time_us > 0;
}

static gboolean is_busbw_only(const CsimMeasuredSet *set) {
  for (guint i = 0; i < set->rows->len; i++)
    if (g_array_index(set->rows, CsimMeasuredRow, i).time_us > 0) return FALSE;
  return TRUE;
}

/* --- runs ----------------------------------------------------------------------- */

static int common_factor(const CsimMeasuredRow *rows, guint n) {
  if (n < 2 || rows[1].size % rows[0].size || rows[1].type != rows[0].type) return 0;
  return (int)MIN(rows[1].size / rows[0].size, 1 << 20);
}

/* How many rows from the first on are one run of sizes with a factor: what a run takes at once. At least 1. */
static guint chain(const CsimMeasuredRow *rows, guint n, int *factor) {
  guint len = 1;
  *factor = common_factor(rows, n);
  while (*factor > 1 && len < n && rows[len].size == rows[len - 1].size * *factor &&
         rows[len].type == rows[0].type)
    len++;
  return len;
}

static void fill_spec(CsimRunSpec *spec, const CsimSetResult *result, const CsimValidateOptions *options,
                      const Watch *watch) {
  const CsimResolved *resolved = result->resolved;
  csim_run_spec_init(spec);
  spec->target = resolved->target;
  spec->n_nodes = resolved->n_nodes;
  spec->gpus_per_node = resolved->gpus_per_node;
  spec->coll = result->set->coll;
  spec->iters = resolved->iters;
  spec->launch = resolved->launch;
  spec->virtual_machine = resolved->virtual_machine;
  spec->fidelity = options->has_fidelity ? options->fidelity : resolved->fidelity;
  spec->seed = options->seed;
  spec->overrides = (const char *const *)resolved->variables->pdata;
  spec->catalogue_file = options->catalogue_file;
  spec->sets = (const char *const *)resolved->constants->pdata;
  spec->interrupt = &watch->stop;
}

/* A size whose algorithm is not simulated (NCCL's choice changes with size) does not end its set. TRUE: error is dealt with. */
static gboolean leave_out(CsimSetResult *result, GError *error) {
  if (!g_error_matches(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED)) return FALSE;
  result->n_left_out++;
  g_free(result->note);
  result->note = g_strdup_printf("%s (%u of %u sizes)", error->message, result->n_left_out, result->set->rows->len);
  g_error_free(error);
  return TRUE;
}

static gboolean run_chain(CsimSetResult *result, CsimLoaded *loaded, CsimRunSpec *spec, const CsimMeasuredRow *rows, guint n,
                          int factor, gboolean predict, GError **error) {
  spec->type = rows[0].type;
  spec->op = rows[0].op;
  spec->min_bytes = rows[0].size;
  spec->max_bytes = rows[n - 1].size;
  spec->factor = MAX(factor, 2);
  g_autoptr(CsimRun) run = csim_run_new_on(loaded, spec, error);
  if (!run) return FALSE;
  int have = csim_run_info(run)->n_ranks;
  if (result->set->n_gpus > 0 && have != (int)result->set->n_gpus) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "the target gives %d ranks, the set has %u", have,
                result->set->n_gpus);
    return FALSE;
  }
  for (guint i = 0; i < n; i++) {
    CsimRow row;
    GError *own = NULL;
    if (!is_usable(result, &rows[i], predict)) continue;
    if (csim_run_row(run, i, &row, &own))
      compare(result, &rows[i], &row);
    else if (!leave_out(result, own)) {
      g_propagate_error(error, own);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean run_all(CsimSetResult *result, CsimRunSpec *spec, gboolean predict, GError **error) {
  const CsimMeasuredRow *rows = (const CsimMeasuredRow *)(const void *)result->set->rows->data;
  guint n = result->set->rows->len;
  gboolean ok = TRUE;
  CsimLoaded *loaded = n > 0 ? csim_loaded_new(spec, error) : NULL;
  for (guint i = 0, len; loaded && ok && i < n; i += len) {
    int factor;
    len = chain(rows + i, n - i, &factor);
    ok = run_chain(result, loaded, spec, rows + i, len, factor, predict, error);
  }
  csim_loaded_unref(loaded);
  return ok && (loaded || n == 0);
}

/* Every rank talks to every other: setting that up alone, which the watch cannot stop, takes minutes from here on. */
#define MAX_PAIRS (512 * 512)

static gboolean is_too_large(const CsimSetResult *result) {
  guint64 n = result->set->n_gpus;
  return result->set->coll == CSIM_COLL_ALLTOALL && n * n > MAX_PAIRS;
}

/* What came before an error counts; a set without any row is skipped with the error as the reason. */
static void settle(CsimSetResult *result, const Watch *watch, const CsimValidateOptions *options,
                   const GError *error) {
  guint done = result->rows->len, of = result->set->rows->len;
  g_autofree char *why = NULL;
  if (watch->over)
    why = g_strdup_printf("time limit of %g s", options->limit_s);
  else if (error)
    why = g_strdup(error->message);
  csim_set_result_count(result);
  if (!why && done == 0 && result->n_left_out > 0) why = g_strdup(result->note);
  if (result->skipped || !why) return;
  g_clear_pointer(&result->note, g_free);
  if (done == 0)
    result->skipped = g_steal_pointer(&why);
  else
    result->note = g_strdup_printf("%s after %u of %u sizes", why, done, of);
}

void csim_validate_set(CsimSetResult *result, const CsimValidateOptions *options) {
  g_autoptr(GError) error = NULL;
  CsimRunSpec spec;
  Watch watch;
  gint64 started = g_get_monotonic_time();
  if (is_too_large(result)) {
    if (!result->skipped)
      result->skipped =
          g_strdup_printf("time limit: an alltoall of %u ranks is not set up", result->set->n_gpus);
    return;
  }
  result->busbw_only = is_busbw_only(result->set);
  watch_start(&watch, options->limit_s, options->interrupt);
  fill_spec(&spec, result, options, &watch);
  run_all(result, &spec, options->predict, &error);
  watch_end(&watch);
  result->wall_s = (double)(g_get_monotonic_time() - started) * 1e-6;
  settle(result, &watch, options, error);
}
