/* exp/sweep-point.c - one point of a sweep: its rows as JSON. */
#include "exp/sweep-private.h"

#include "exp/bottleneck.h"

#include <inttypes.h>
#include <math.h>
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

static void add_text(GString *out, const char *key, const char *text) {
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  g_string_append_printf(out, "%s\"%s\": \"", strchr("{[", out->str[out->len - 1]) ? "" : ", ", key);
  for (const char *c = valid; *c; c++) {
    if (*c == '"' || *c == '\\') g_string_append_c(out, '\\');
    g_string_append_c(out, (guchar)*c < 0x20 ? ' ' : *c);
  }
  g_string_append_c(out, '"');
}

static void add_number(GString *out, const char *key, double value) {
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf(out, ", \"%s\": %s", key, isfinite(value) ? g_ascii_formatd(digits, sizeof digits, "%.9g", value) : "null");
}

static void add_int(GString *out, const char *key, gint64 value) { g_string_append_printf(out, ", \"%s\": %" PRId64, key, value); }

static void add_shares(GString *out, const CsimRow *row) {
  const CsimBreakdown *w = &row->where;
  add_text(out, "bottleneck", row->bottleneck);
  add_text(out, "busiest", row->busiest);
  add_number(out, "busiest_share", w->busiest_share);
  add_number(out, "launch", w->launch);
  add_number(out, "overhead", w->overhead);
  add_number(out, "copy", w->copy);
  add_number(out, "link", w->link);
  add_number(out, "wait", w->wait);
  add_number(out, "credit", w->credit);
}

static void add_link(GString *out, const CsimRowLink *l) {
  add_text(out, "name", l->name);
  add_number(out, "capacity_gbps", (double)l->capacity * 1e-9);
  add_number(out, "bytes", l->bytes);
  add_number(out, "use", l->use);
  add_number(out, "busy", l->busy);
  add_number(out, "saturated", l->saturated);
  add_int(out, "peak", l->peak);
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
  add_text(out, link, l->name);
  add_number(out, use, l->use);
  add_number(out, busy, l->busy);
  add_number(out, saturated, l->saturated);
  add_int(out, peak, l->peak);
}

static void add_row(GString *out, const CsimRow *r) {
  g_string_append_c(out, '{');
  add_text(out, "collective", csim_coll_name(r->coll));
  add_int(out, "size_bytes", r->size_bytes);
  add_int(out, "count", r->count);
  add_text(out, "type", csim_type_name(r->type));
  add_text(out, "redop", csim_perf_has_op(r->coll) ? csim_op_name(r->op) : "none");
  add_int(out, "root", r->root);
  add_text(out, "algo", r->n_channels ? csim_algo_name(r->choice.algo) : "none");
  add_text(out, "proto", r->n_channels ? csim_proto_name(r->choice.proto) : "none");
  add_int(out, "channels", r->n_channels);
  add_int(out, "threads", r->choice.n_threads);
  add_number(out, "time_us", r->time_us);
  add_number(out, "algbw_gbps", r->algbw_gbps);
  add_number(out, "busbw_gbps", r->busbw_gbps);
  add_shares(out, r);
  add_load(out, "top", &r->top);
  add_load(out, "fabric", &r->fabric);
  if (r->links) add_links(out, r->links);
}

static void add_head(GString *out, const CsimDescription *d, const CsimRunInfo *info) {
  char digest[17];
  g_snprintf(digest, sizeof digest, "%016" PRIx64, info->digest);
  add_text(out, "target", d->target ? d->target : info->device);
  add_int(out, "nodes", info->n_nodes);
  add_int(out, "ranks", info->n_ranks);
  add_text(out, "fidelity", csim_fidelity_name(info->fidelity));
  g_string_append_printf(out, ", \"seed\": %" PRIu64, info->seed);
  add_text(out, "digest", digest);
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
  if (d && d->target) add_text(out, "target", d->target);
  add_text(out, "error", error->message);
  return g_string_free(g_string_append_c(out, '}'), FALSE);
}
