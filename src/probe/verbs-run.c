/* probe/verbs-run.c - both ends of the verbs probe: in one process, or one on each of two hosts. */
#include "probe/verbs-private.h"

#include "probe/child.h"
#include <string.h>
#include <unistd.h>

#define MAX_ROWS 1024
#define LINE 64

typedef struct {
  CsimChildHeader header;
  CsimVerbsFacts facts;
  guint n;
  CsimVerbsRow rows[MAX_ROWS];
} Shared;

void csim_verbs_options_init(CsimVerbsOptions *options) {
  *options = (CsimVerbsOptions){.port = 1, .gid_index = -1, .qps = 1, .depth = 16, .iters = 1000, .min = 8, .max = 1 << 20, .factor = 8, .limit_s = 120};
  for (int i = 0; i < CSIM_N_VERBS_TESTS; i++) options->tests[i] = TRUE;
}

/* --- A ------------------------------------------------------------------------------ */

static gboolean is_possible(const CsimVerbsOptions *o, int test) {
  return o->tests[test] && !(o->gpu && (test == CSIM_VERBS_WRITE_LAT || test == CSIM_VERBS_SEND_LAT));
}

static gboolean lead_all(End *a, Shared *shared, GError **error) {
  const CsimVerbsOptions *o = a->options;
  for (int test = 0; test < CSIM_N_VERBS_TESTS; test++)
    for (CsimBytes size = o->min; is_possible(o, test) && size <= o->max; size *= o->factor) {
      if (shared->n == MAX_ROWS) return TRUE;
      if (!verbs_test_lead(a, (CsimVerbsTest)test, size, &shared->rows[shared->n], error)) return FALSE;
      shared->n++;
      g_atomic_int_inc(&shared->header.done);
    }
  return verbs_say(a->channel, error, "end");
}

static gboolean be_a(End *a, Shared *shared, GError **error) {
  if (!verbs_exchange(a, error) || !verbs_end_connect(a, error)) return FALSE;
  shared->facts = a->facts;
  char line[LINE];
  return verbs_say(a->channel, error, "connected") && verbs_hear(a->channel, line, sizeof line, error) && lead_all(a, shared, error);
}

/* --- B ------------------------------------------------------------------------------ */

static gboolean be_b(End *b, GError **error) {
  char line[LINE];
  return verbs_exchange(b, error) && verbs_end_connect(b, error) && verbs_say(b->channel, error, "connected") &&
         verbs_hear(b->channel, line, sizeof line, error) && verbs_test_serve(b, error);
}

typedef struct {
  const CsimVerbsOptions *options;
  int channel;
  Shared *shared;
} Partner;

static gpointer partner_main(gpointer data) {
  const Partner *p = (const Partner *)data;
  const char *device = p->options->peer_device ? p->options->peer_device : p->options->device;
  g_autoptr(GError) error = NULL;
  End b;
  gboolean ok = verbs_end_open(&b, p->options, device, &error);
  b.channel = p->channel;
  if (!ok || !be_b(&b, &error)) csim_child_fail(p->shared, error); /* the parent then ends the process that A waits in */
  if (b.v) verbs_end_close(&b);
  return NULL;
}

/* --- a process ------------------------------------------------------------------------ */

static gboolean both_here(const CsimVerbsOptions *o, Shared *shared, GError **error) {
  int pair[2];
  End a;
  if (!csim_verbs_open(error) || !verbs_channel_pair(pair, error)) return FALSE;
  Partner partner = {o, pair[1], shared};
  GThread *thread = g_thread_new("verbs-b", partner_main, &partner);
  gboolean ok = verbs_end_open(&a, o, o->device, error);
  a.channel = pair[0];
  ok = ok && be_a(&a, shared, error);
  if (!ok) return FALSE; /* B may wait for ever: the process ends */
  g_thread_join(thread);
  verbs_end_close(&a);
  return TRUE;
}

static gboolean one_here(const CsimVerbsOptions *o, Shared *shared, GError **error) {
  End end;
  if (!verbs_end_open(&end, o, o->device, error)) return FALSE;
  end.channel = o->listen > 0 ? verbs_channel_listen(o->listen, error) : verbs_channel_connect(o->connect, error);
  gboolean ok = end.channel >= 0 && (o->listen > 0 ? be_b(&end, error) : be_a(&end, shared, error));
  if (end.channel >= 0) close(end.channel);
  verbs_end_close(&end);
  return ok;
}

static gboolean work(guint index, gpointer data, gconstpointer options, GError **error) {
  const CsimVerbsOptions *o = (const CsimVerbsOptions *)options;
  Shared *shared = (Shared *)data;
  return o->listen > 0 || o->connect ? one_here(o, shared, error) : both_here(o, shared, error);
}

gboolean csim_probe_verbs(const CsimVerbsOptions *options, GArray *rows, CsimVerbsFacts *facts, GError **error) {
  Shared *shared = (Shared *)csim_shared_new(sizeof *shared, error);
  if (!shared) return FALSE;
  CsimChildren children = {.n = 1, .work = work, .shared = shared, .options = options, .limit_s = options->limit_s, .interrupt = options->interrupt};
  gboolean ok = csim_children_run(&children, error);
  g_array_append_vals(rows, shared->rows, shared->n);
  *facts = shared->facts;
  csim_shared_free(shared, sizeof *shared);
  return ok;
}
