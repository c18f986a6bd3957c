/* exp/run-threads.c - sizes on threads. */
#include "exp/run-threads.h"

#include "exp/run-private.h"

typedef struct {
  CsimRow row;
  uint64_t events;
  GError *error;
  gboolean done;
} Slot;

struct CsimRunThreads {
  CsimRun *run;
  GPtrArray *runs, *threads; /* CsimRun*, GThread* */
  Slot *slots;
  guint n, next;
  gboolean stop;
  GMutex mutex; /* of next, stop and the slots */
  GCond cond;   /* a slot was filled */
};

typedef struct { CsimRunThreads *threads; CsimRun *run; } Worker;

static gboolean take(CsimRunThreads *t, guint *i) {
  g_mutex_lock(&t->mutex);
  gboolean more = t->next < t->n && !t->stop;
  if (more) *i = t->next++;
  g_mutex_unlock(&t->mutex);
  return more;
}

static void give(CsimRunThreads *t, guint i, Slot slot) {
  slot.done = TRUE;
  g_mutex_lock(&t->mutex);
  t->slots[i] = slot;
  t->stop |= slot.error != NULL; /* later rows would not be printed */
  g_cond_broadcast(&t->cond);
  g_mutex_unlock(&t->mutex);
}

static gpointer work(gpointer data) {
  Worker *worker = (Worker *)data;
  guint i;
  while (take(worker->threads, &i)) {
    Slot slot = {0};
    uint64_t before = worker->run->info.events;
    csim_run_compute(worker->run, i, &slot.row, &slot.error);
    slot.events = worker->run->info.events - before;
    give(worker->threads, i, slot);
  }
  g_free(worker);
  return NULL;
}

static void start(CsimRunThreads *t, CsimRun *run) {
  Worker *worker = g_new(Worker, 1);
  *worker = (Worker){t, run};
  g_ptr_array_add(t->threads, g_thread_new("sizes", work, worker));
}

CsimRunThreads *csim_run_threads_new(CsimRun *run, int jobs, GError **error) {
  g_autoptr(CsimRunThreads) t = g_new0(CsimRunThreads, 1);
  t->run = run;
  t->n = csim_run_n_rows(run);
  t->slots = g_new0(Slot, t->n);
  t->runs = g_ptr_array_new_with_free_func((GDestroyNotify)csim_run_free);
  t->threads = g_ptr_array_new();
  g_mutex_init(&t->mutex);
  g_cond_init(&t->cond);
  for (int i = 0; i < MIN(MAX(jobs, 1), (int)t->n); i++) {
    CsimRun *own = csim_run_new_on(run->loaded, &run->spec, error);
    if (!own) return NULL;
    g_ptr_array_add(t->runs, own);
  }
  for (guint i = 0; i < t->runs->len; i++) start(t, (CsimRun *)g_ptr_array_index(t->runs, i));
  return g_steal_pointer(&t);
}

void csim_run_threads_free(CsimRunThreads *t) {
  if (!t) return;
  g_mutex_lock(&t->mutex);
  t->stop = TRUE;
  g_mutex_unlock(&t->mutex);
  for (guint i = 0; i < t->threads->len; i++) g_thread_join((GThread *)g_ptr_array_index(t->threads, i));
  for (guint i = 0; i < t->n; i++) g_clear_error(&t->slots[i].error);
  g_ptr_array_unref(t->threads);
  g_ptr_array_unref(t->runs);
  g_mutex_clear(&t->mutex);
  g_cond_clear(&t->cond);
  g_free(t->slots);
  g_free(t);
}

gboolean csim_run_threads_row(CsimRunThreads *t, guint i, CsimRow *out, GError **error) {
  Slot *slot = &t->slots[i];
  g_mutex_lock(&t->mutex);
  while (!slot->done) g_cond_wait(&t->cond, &t->mutex);
  g_mutex_unlock(&t->mutex);
  if (slot->error) {
    g_propagate_error(error, g_steal_pointer(&slot->error));
    return FALSE;
  }
  *out = slot->row;
  csim_run_account(t->run, out, slot->events);
  csim_run_keep_packets(t->run, out->packets);
  csim_run_keep_links(t->run, out->links);
  return TRUE;
}
