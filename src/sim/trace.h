/*
 * sim/trace.h - what happened when, as binary records.
 *
 * Used by: exec and models (write), report (reads, makes Chrome trace JSON of it after the run).
 * Implemented in trace.c.
 *
 * A span is a named stretch of time on a track (a track is a number that the writer gives meaning: rank and
 * channel, a proxy, ...); a counter is a value that holds from a date on (the rate of a link). Records are 32 bytes,
 * kept in order of writing. Writers hold a CsimTrace* that is NULL when nobody looks: use the inline
 * forms, which cost one predicted branch then.
 */
#ifndef CSIM_SIM_TRACE_H
#define CSIM_SIM_TRACE_H

#include "collsim/types.h"

typedef struct CsimTrace CsimTrace;

typedef enum { CSIM_TRACE_SPAN, CSIM_TRACE_COUNTER } CsimTraceKind;

typedef struct {
  CsimTime begin; /* a counter's date */
  union {
    CsimTime end; /* span */
    double value; /* counter */
  };
  uint32_t track; /* span: the writer's track; counter: the link or other subject */
  uint32_t name;  /* from csim_trace_name */
  uint32_t kind;  /* CsimTraceKind */
  uint32_t arg;   /* free: a step, a peer */
} CsimTraceRecord;

/* max_records: 0 for no bound; beyond the bound records are dropped and counted. */
CsimTrace *csim_trace_new(gsize max_records);
void csim_trace_free(CsimTrace *trace); /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimTrace, csim_trace_free)

/* The number of a name; the same text gives the same number. Copied. Not for hot code: ask once. */
uint32_t csim_trace_name(CsimTrace *trace, const char *text);
const char *csim_trace_name_text(const CsimTrace *trace, uint32_t name); /* "?" for an unknown number */

void csim_trace_add(CsimTrace *trace, const CsimTraceRecord *record);

static inline void csim_trace_add_span(CsimTrace *trace, uint32_t track, uint32_t name, CsimTime begin,
                                       CsimTime end, uint32_t arg) {
  if (G_LIKELY(trace == NULL)) return;
  CsimTraceRecord r = {.begin = begin, .track = track, .name = name, .kind = CSIM_TRACE_SPAN, .arg = arg};
  r.end = end;
  csim_trace_add(trace, &r);
}

static inline void csim_trace_add_counter(CsimTrace *trace, uint32_t link, uint32_t name, CsimTime at,
                                          double value) {
  if (G_LIKELY(trace == NULL)) return;
  CsimTraceRecord r = {.begin = at, .track = link, .name = name, .kind = CSIM_TRACE_COUNTER};
  r.value = value;
  csim_trace_add(trace, &r);
}

gsize csim_trace_n(const CsimTrace *trace);
/* Record i < n, in order of writing (a span is written when it ends). Borrowed. */
const CsimTraceRecord *csim_trace_get(const CsimTrace *trace, gsize i);
gsize csim_trace_dropped(const CsimTrace *trace);
/* Forgets the records; names and memory stay. */
void csim_trace_clear(CsimTrace *trace);

#endif
