/*
 * sim/trace.c - the record buffer: chunks that grow and are never moved.
 */
#include "sim/trace.h"

#define CHUNK 65536 /* records: 2 MiB */

G_STATIC_ASSERT(sizeof(CsimTraceRecord) == 32);

struct CsimTrace {
  GPtrArray *chunks; /* CsimTraceRecord[CHUNK] */
  gsize n, max, dropped;
  GPtrArray *names;
  GHashTable *name_index; /* text -> index + 1; for look-up only, never iterated */
};

CsimTrace *csim_trace_new(gsize max_records) {
  CsimTrace *trace = g_new0(CsimTrace, 1);
  trace->chunks = g_ptr_array_new_with_free_func(g_free);
  trace->names = g_ptr_array_new_with_free_func(g_free);
  trace->name_index = g_hash_table_new(g_str_hash, g_str_equal);
  trace->max = max_records ? max_records : G_MAXSIZE;
  return trace;
}

void csim_trace_free(CsimTrace *trace) {
  if (!trace) return;
  g_ptr_array_unref(trace->chunks);
  g_hash_table_unref(trace->name_index);
  g_ptr_array_unref(trace->names);
  g_free(trace);
}

uint32_t csim_trace_name(CsimTrace *trace, const char *text) {
  guint known = GPOINTER_TO_UINT(g_hash_table_lookup(trace->name_index, text));
  if (known) return known - 1;
  char *copy = g_strdup(text);
  g_ptr_array_add(trace->names, copy);
  g_hash_table_insert(trace->name_index, copy, GUINT_TO_POINTER(trace->names->len));
  return trace->names->len - 1;
}

const char *csim_trace_name_text(const CsimTrace *trace, uint32_t name) {
  return name < trace->names->len ? g_ptr_array_index(trace->names, name) : "?";
}

void csim_trace_add(CsimTrace *trace, const CsimTraceRecord *record) {
  if (trace->n == trace->max) {
    trace->dropped++;
    return;
  }
  if (trace->n / CHUNK == trace->chunks->len)
    g_ptr_array_add(trace->chunks, g_new(CsimTraceRecord, CHUNK));
  CsimTraceRecord *chunk = g_ptr_array_index(trace->chunks, trace->n / CHUNK);
  chunk[trace->n++ % CHUNK] = *record;
}

gsize csim_trace_n(const CsimTrace *trace) { return trace->n; }

const CsimTraceRecord *csim_trace_get(const CsimTrace *trace, gsize i) {
  g_assert(i < trace->n);
  const CsimTraceRecord *chunk = g_ptr_array_index(trace->chunks, i / CHUNK);
  return &chunk[i % CHUNK];
}

gsize csim_trace_dropped(const CsimTrace *trace) { return trace->dropped; }

void csim_trace_clear(CsimTrace *trace) {
  trace->n = 0;
  trace->dropped = 0;
}
