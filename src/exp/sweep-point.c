/* exp/sweep-point.c - one point of a sweep: its rows as JSON. */
#include "exp/sweep-private.h"

#include "base/json-write.h"

#include <string.h>

/* --- what points share ---------------------------------------------------------------- */

typedef struct {
  char *text;
  CsimLoaded *loaded;
} Entry;

struct CsimShare {
  GMutex mutex;
  guint keep;
  GQueue entries; /* Entry*, the latest used first */
};

CsimShare *csim_share_new(guint keep) {
  CsimShare *share = g_new0(CsimShare, 1);
  g_mutex_init(&share->mutex);
  share->keep = keep;
  return share;
}

static void free_entry(gpointer data) {
  Entry *entry = (Entry *)data;
  g_free(entry->text);
  csim_loaded_unref(entry->loaded);
  g_free(entry);
}

void csim_share_free(CsimShare *share) {
  if (!share) return;
  g_queue_clear_full(&share->entries, free_entry);
  g_mutex_clear(&share->mutex);
  g_free(share);
}

/* Settings that say what is done with a machine, not what it is (run.h, CsimLoaded). */
static gboolean is_of_call(const char *key) {
  static const char *const keys[] = {"collective", "type", "redop", "root", "size", "min_bytes", "max_bytes", "step_bytes", "factor", "iters", "launch",
                                     "host", "fidelity", "seed", "queue", "no_symmetry", "digest", "target", NULL};
  return g_strv_contains(keys, key);
}

static char *machine_text(const CsimDescription *d) {
  GString *text = g_string_new(d->load_target);
  for (guint i = 0; i < d->keys->len; i++) {
    const char *key = (const char *)g_ptr_array_index(d->keys, i);
    if (!is_of_call(key)) g_string_append_printf(text, "\n%s=%s", key, (const char *)g_ptr_array_index(d->values, i));
  }
  return g_string_free(text, FALSE);
}

static CsimLoaded *find(CsimShare *share, const char *text, uint64_t seed) {
  CsimLoaded *found = NULL;
  g_mutex_lock(&share->mutex);
  for (GList *link = share->entries.head; link && !found; link = link->next) {
    Entry *entry = (Entry *)link->data;
    if (strcmp(entry->text, text) || !csim_loaded_fits(entry->loaded, seed)) continue;
    found = csim_loaded_ref(entry->loaded);
    g_queue_unlink(&share->entries, link);
    g_queue_push_head_link(&share->entries, link);
  }
  g_mutex_unlock(&share->mutex);
  return found;
}

static void remember(CsimShare *share, char *text, CsimLoaded *loaded) {
  Entry *entry = g_new(Entry, 1), *oldest = NULL;
  *entry = (Entry){text, csim_loaded_ref(loaded)};
  g_mutex_lock(&share->mutex);
  g_queue_push_head(&share->entries, entry);
  if (share->entries.length > share->keep) oldest = (Entry *)g_queue_pop_tail(&share->entries);
  g_mutex_unlock(&share->mutex);
  if (oldest) free_entry(oldest);
}

/* A reference for the caller. */
static CsimLoaded *load(CsimShare *share, const CsimDescription *d, const CsimRunSpec *spec, GError **error) {
  g_autofree char *text = machine_text(d);
  CsimLoaded *loaded = find(share, text, spec->seed);
  if (loaded) return loaded;
  loaded = csim_loaded_new(spec, error);
  if (loaded) remember(share, g_steal_pointer(&text), loaded);
  return loaded;
}

/* --- JSON, with nothing in it that differs from run to run --------------------------------- */

static void add_shares(GString *out, const CsimRow *row) {
  const CsimBreakdown *w = &row->where;
  csim_jsonw_member_string(out, "bottleneck", row->bottleneck);
  csim_jsonw_member_string(out, "busiest", row->busiest);
  csim_jsonw_member_number(out, "busiest_share", w->busiest_share);
  csim_jsonw_member_number(out, "launch", w->launch);
  csim_jsonw_member_number(out, "overhead", w->overhead);
  csim_jsonw_member_number(out, "copy", w->copy);
  csim_jsonw_member_number(out, "link", w->link);
  csim_jsonw_member_number(out, "wait", w->wait);
  csim_jsonw_member_number(out, "credit", w->credit);
}

static void add_link(GString *out, const CsimRowLink *l) {
  csim_jsonw_member_string(out, "name", l->name);
  csim_jsonw_member_number(out, "capacity_gbps", (double)l->capacity * 1e-9);
  csim_jsonw_member_number(out, "bytes", l->bytes);
  csim_jsonw_member_number(out, "use", l->use);
  csim_jsonw_member_number(out, "busy", l->busy);
  csim_jsonw_member_number(out, "saturated", l->saturated);
  csim_jsonw_member_int(out, "peak", l->peak);
}

static void add_links(GString *out, const GArray *links) {
  g_string_append(out, ", \"links\": [");
  for (guint i = 0; i < links->len; i++) {
    g_string_append(out, i ? ", {" : "{");
    add_link(out, &g_array_index(links, CsimRowLink, i));
    g_string_append_c(out, '}');
  }
  g_string_append_c(out, ']');
}

/* Columns of the results: "top_link", "top_use", ... */
static void add_load(GString *out, const char *what, const CsimRowLink *l) {
  g_autofree char *link = g_strconcat(what, "_link", NULL), *use = g_strconcat(what, "_use", NULL), *busy = g_strconcat(what, "_busy", NULL),
                  *saturated = g_strconcat(what, "_saturated", NULL), *peak = g_strconcat(what, "_peak", NULL);
  if (!l->name[0]) return;
  csim_jsonw_member_string(out, link, l->name);
  csim_jsonw_member_number(out, use, l->use);
  csim_jsonw_member_number(out, busy, l->busy);
  csim_jsonw_member_number(out, saturated, l->saturated);
  csim_jsonw_member_int(out, peak, l->peak);
}

/* Counters of the whole network, at packet fidelity. */
static void add_packets(GString *out, const CsimPacketTotals *t) {
  csim_jsonw_member_int(out, "marked", (gint64)t->marked);
  csim_jsonw_member_int(out, "pauses", (gint64)t->pauses);
  csim_jsonw_member_number(out, "paused_us", (double)t->paused * 1e-6);
  csim_jsonw_member_int(out, "dropped", (gint64)t->dropped);
  csim_jsonw_member_int(out, "resent", (gint64)t->resent);
  csim_jsonw_member_int(out, "timeouts", (gint64)t->timeouts);
}

static void add_row(GString *out, const CsimRow *r) {
  g_string_append_c(out, '{');
  csim_row_json(out, r);
  add_shares(out, r);
  add_load(out, "top", &r->top);
  add_load(out, "fabric", &r->fabric);
  if (r->packets) add_packets(out, &r->packets->totals);
  if (r->links) add_links(out, r->links);
}

static void add_head(GString *out, const CsimDescription *d, const CsimRunInfo *info) {
  csim_jsonw_member_string(out, "target", d->target ? d->target : info->device);
  csim_jsonw_member_int(out, "nodes", info->n_nodes);
  csim_jsonw_member_int(out, "ranks", info->n_ranks);
  csim_jsonw_member_string(out, "fidelity", csim_fidelity_name(info->fidelity));
  csim_jsonw_member_uint(out, "seed", info->seed);
  csim_jsonw_member_digest(out, "digest", info->digest);
}

/* --- running ------------------------------------------------------------------------------------ */

static gboolean add_rows(GString *out, CsimRun *run, GError **error) {
  for (guint i = 0; i < csim_run_n_rows(run); i++) {
    CsimRow row;
    if (!csim_run_row(run, i, &row, error)) return FALSE;
    if (i) g_string_append(out, ", ");
    add_row(out, &row);
    g_string_append_c(out, '}');
  }
  return TRUE;
}

static gboolean run_point(GString *out, const CsimExperiment *e, const CsimDescription *d, CsimShare *share, const volatile int *interrupt, GError **error) {
  g_autoptr(CsimRunArgs) args = csim_description_args(d, error);
  if (!args) return FALSE;
  CsimRunSpec spec = csim_run_args_spec(args);
  spec.interrupt = interrupt;
  spec.links = e->links;
  spec.links_of_fabric = e->links_of_fabric;
  spec.whole_fabric |= e->links_of_fabric;
  CsimLoaded *loaded = load(share, d, &spec, error);
  g_autoptr(CsimRun) run = loaded ? csim_run_new_on(loaded, &spec, error) : NULL;
  csim_loaded_unref(loaded);
  g_autoptr(GString) rows = g_string_new("[");
  if (!run || !add_rows(rows, run, error)) return FALSE;
  add_head(out, d, csim_run_info(run));
  g_string_append_printf(out, ", \"rows\": %s]", rows->str);
  return TRUE;
}

char *csim_point_result(const CsimExperiment *e, guint point, CsimShare *share, const volatile int *interrupt) {
  g_autoptr(GError) error = NULL;
  GString *out = g_string_new("{");
  g_autoptr(CsimDescription) d = csim_experiment_describe(e, point, &error);
  if (d && run_point(out, e, d, share, interrupt, &error)) return g_string_free(g_string_append_c(out, '}'), FALSE);
  if (g_error_matches(error, CSIM_ERROR, CSIM_ERROR_INTERRUPTED)) {
    g_string_free(out, TRUE);
    return NULL;
  }
  g_string_assign(out, "{");
  if (d && d->target) csim_jsonw_member_string(out, "target", d->target);
  csim_jsonw_member_string(out, "error", error->message);
  return g_string_free(g_string_append_c(out, '}'), FALSE);
}
