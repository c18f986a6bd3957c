#include "report/trace.h"

#include "base/json-write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

typedef struct {
  const CsimRun *run;
  FILE *file;
  GString *text;       /* what is not written yet */
  GHashTable *threads; /* rank << 8 | channel of those named already */
  GHashTable *links;   /* CsimLinkId -> name */
} Writer;

#define FLUSH_BYTES (1 << 20)

static void flush_if(Writer *w, gsize above) {
  if (w->text->len <= above) return;
  fwrite(w->text->str, 1, w->text->len, w->file);
  g_string_truncate(w->text, 0);
}

/* Starts an event: comma, brace, phase. */
static void open_event(Writer *w, const char *phase, int pid, int tid) {
  g_string_append_printf(w->text, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", phase, pid, tid);
}

/* `,"key":` and picoseconds as microseconds. */
static void append_time(GString *out, const char *key, CsimTime ps) {
  g_string_append_printf(out, ",\"%s\":%" PRId64 ".%06" PRId64, key, ps / CSIM_US, ps % CSIM_US);
}

static void append_name(GString *out, const char *name) {
  g_string_append(out, ",\"name\":");
  csim_jsonw_string(out, name);
}

static void name_track(Writer *w, const char *what, int pid, int tid, const char *name) {
  open_event(w, "M", pid, tid);
  append_name(w->text, what);
  g_string_append(w->text, ",\"args\":{\"name\":");
  csim_jsonw_string(w->text, name);
  g_string_append(w->text, "}}");
}

/* Names process and thread when they first show up. */
static void announce(Writer *w, int rank, int channel) {
  g_autofree char *thread = g_strdup_printf("channel %d", channel);
  if (g_hash_table_add(w->threads, GINT_TO_POINTER(rank << 8 | 255))) {
    g_autofree char *process = csim_run_rank_name(w->run, rank);
    name_track(w, "process_name", rank, 0, process);
  }
  if (g_hash_table_add(w->threads, GINT_TO_POINTER(rank << 8 | channel))) name_track(w, "thread_name", rank, channel, thread);
}

static void write_span(Writer *w, const CsimTraceItem *item) {
  announce(w, item->rank, item->channel);
  open_event(w, "X", item->rank, item->channel);
  append_name(w->text, item->name);
  append_time(w->text, "ts", item->begin);
  append_time(w->text, "dur", item->end - item->begin);
  g_string_append_printf(w->text, ",\"args\":{\"bytes\":%" PRId64 "}}", item->bytes);
}

static const char *link_name(Writer *w, CsimLinkId link) {
  gpointer key = GUINT_TO_POINTER(link);
  char *name = g_hash_table_lookup(w->links, key);
  if (!name) g_hash_table_insert(w->links, key, name = csim_run_link_name(w->run, link));
  return name;
}

static void write_counter(Writer *w, const CsimTraceItem *item) {
  int links_process = csim_run_info(w->run)->n_ranks;
  open_event(w, "C", links_process, 0);
  append_name(w->text, link_name(w, item->link));
  append_time(w->text, "ts", item->begin);
  g_string_append(w->text, ",\"args\":{\"GB/s\":");
  csim_jsonw_number(w->text, item->value * 1e-9);
  g_string_append(w->text, "}}");
}

static void write_head(Writer *w) {
  const CsimRunInfo *info = csim_run_info(w->run);
  g_string_append(w->text, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"target\":");
  csim_jsonw_string(w->text, info->target);
  g_string_append_printf(w->text, ",\"ranks\":%d,\"dropped\":%" G_GSIZE_FORMAT "},\"traceEvents\":[\n", info->n_ranks, csim_run_trace_dropped(w->run));
  g_string_append_printf(w->text, "{\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"links\"}}", info->n_ranks);
}

static void write_all(Writer *w) {
  write_head(w);
  for (gsize i = 0; i < csim_run_trace_n(w->run); i++) {
    CsimTraceItem item = csim_run_trace_get(w->run, i);
    if (item.is_span) write_span(w, &item);
    else write_counter(w, &item);
    flush_if(w, FLUSH_BYTES);
  }
  g_string_append(w->text, "\n]}\n");
  flush_if(w, 0);
}

gboolean csim_trace_write(const char *path, const CsimRun *run, GError **error) {
  if (csim_run_trace_n(run) == 0) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "%s: nothing to trace; no size moved a byte", path);
    return FALSE;
  }
  FILE *file = fopen(path, "w");
  if (!file) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: cannot be written: %s", path, g_strerror(errno));
    return FALSE;
  }
  Writer w = {run, file, g_string_new(NULL), g_hash_table_new(NULL, NULL), g_hash_table_new_full(NULL, NULL, NULL, g_free)};
  write_all(&w);
  gboolean failed = ferror(file);
  failed |= fclose(file) != 0;
  if (failed) g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: cannot be written: %s", path, g_strerror(errno));
  g_string_free(w.text, TRUE);
  g_hash_table_unref(w.threads);
  g_hash_table_unref(w.links);
  return !failed;
}
