/* exp/sweep-ranks.c - a sweep over ranks. */
#include "exp/sweep-ranks.h"

#include "exp/sweep-private.h"

#include <string.h>

/* ASK: the digest of the experiment. RESULT: the point, then its JSON; asks, too. WORK: the point. STOP: nothing. */
enum { TAG_ASK, TAG_RESULT, TAG_WORK, TAG_STOP };

#define POLL_US 500 /* MPI's own waiting would keep a processor busy */

static guint get_point(const GByteArray *data) {
  guint point;
  g_assert(data->len >= sizeof point);
  memcpy(&point, data->data, sizeof point);
  return point;
}

/* --- rank 0 ------------------------------------------------------------------------------ */

typedef struct {
  CsimSweep *sweep;
  const CsimMessages *messages;
  GByteArray *data;
  int working, stopped; /* other ranks */
  GError *wrong;
} Lead;

static gpointer run_own(gpointer data) {
  csim_sweep_work((CsimSweep *)data);
  return NULL;
}

static void answer(Lead *lead, int rank) {
  guint point;
  if (!lead->wrong && csim_sweep_next(lead->sweep, &point)) {
    lead->messages->send(rank, TAG_WORK, &point, sizeof point);
    lead->working++;
  } else {
    lead->messages->send(rank, TAG_STOP, "", 0);
    lead->stopped++;
  }
}

static void take_result(Lead *lead) {
  guint point = get_point(lead->data);
  g_byte_array_append(lead->data, (const guint8 *)"", 1);
  csim_sweep_give(lead->sweep, point, (const char *)lead->data->data + sizeof point);
  lead->working--;
}

static void check_experiment(Lead *lead, int rank) {
  uint64_t digest;
  g_assert(lead->data->len == sizeof digest);
  memcpy(&digest, lead->data->data, sizeof digest);
  if (digest == lead->sweep->e->digest || lead->wrong) return;
  g_set_error(&lead->wrong, CSIM_ERROR, CSIM_ERROR_VALUE, "rank %d reads another %s; allowed: the same file on every machine", rank, lead->sweep->e->path);
}

static gboolean serve_one(Lead *lead) {
  int from, tag;
  if (!lead->messages->receive(&from, &tag, lead->data)) return FALSE;
  if (tag == TAG_RESULT) take_result(lead);
  else check_experiment(lead, from);
  answer(lead, from);
  return TRUE;
}

gboolean csim_sweep_lead(CsimSweep *sweep, const CsimMessages *messages, GError **error) {
  Lead lead = {.sweep = sweep, .messages = messages, .data = g_byte_array_new()};
  int jobs = MAX(sweep->options.jobs, 1);
  g_autoptr(GPtrArray) threads = g_ptr_array_new();
  for (int i = 0; i < jobs; i++) g_ptr_array_add(threads, g_thread_new("sweep", run_own, sweep));
  while (lead.stopped < messages->size - 1 && !csim_sweep_is_interrupted(sweep)) {
    csim_sweep_report(sweep);
    if (!serve_one(&lead)) g_usleep(POLL_US);
  }
  for (guint i = 0; i < threads->len; i++) g_thread_join((GThread *)g_ptr_array_index(threads, i));
  g_byte_array_unref(lead.data);
  if (!lead.wrong && sweep->broken) lead.wrong = g_error_copy(sweep->broken);
  if (lead.wrong) g_propagate_error(error, lead.wrong);
  return !lead.wrong;
}

/* --- the others ----------------------------------------------------------------------------- */

/* Waits for WORK or STOP; FALSE when interrupted. */
static gboolean next_order(const CsimMessages *messages, GByteArray *data, int *tag, const volatile int *interrupt) {
  int from;
  while (!messages->receive(&from, tag, data)) {
    if (interrupt && *interrupt) return FALSE;
    g_usleep(POLL_US);
  }
  return TRUE;
}

static gboolean do_work(const CsimExperiment *e, const CsimMessages *messages, CsimShare *share, GByteArray *data, const volatile int *interrupt) {
  guint point = get_point(data);
  g_autofree char *result = csim_point_result(e, point, share, interrupt);
  if (!result) return FALSE;
  g_byte_array_set_size(data, sizeof point);
  g_byte_array_append(data, (const guint8 *)result, (guint)strlen(result));
  messages->send(0, TAG_RESULT, data->data, data->len);
  return TRUE;
}

gboolean csim_sweep_follow(const CsimExperiment *e, const CsimMessages *messages, const volatile int *interrupt, GError **error) {
  g_autoptr(GByteArray) data = g_byte_array_new();
  CsimShare *share = csim_share_new(2);
  int tag = TAG_ASK;
  gboolean good = TRUE;
  messages->send(0, TAG_ASK, &e->digest, sizeof e->digest);
  while (good && tag != TAG_STOP) {
    good = next_order(messages, data, &tag, interrupt);
    if (good && tag == TAG_WORK) good = do_work(e, messages, share, data, interrupt);
  }
  csim_share_free(share);
  if (!good) g_set_error_literal(error, CSIM_ERROR, CSIM_ERROR_INTERRUPTED, "interrupted");
  return good;
}
