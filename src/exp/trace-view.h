/*
 * exp/trace-view.h - the recorded trace of a run, in the words of ranks, channels and links.
 *
 * Used by: report (Chrome trace). Recorded when the spec's trace is set; it is that of the row computed last.
 */
#ifndef CSIM_EXP_TRACE_VIEW_H
#define CSIM_EXP_TRACE_VIEW_H

#include "exp/run.h"

/* Records kept at most; later ones are dropped and counted. */
#define CSIM_RUN_TRACE_MAX 2000000

typedef struct {
  gboolean is_span;
  CsimTime begin, end;   /* end of spans only */
  const char *name;      /* span: the primitive ("recvReduceSend"); counter: what is counted ("rate") */
  int rank, channel;     /* span */
  CsimBytes bytes;       /* span, rounded down to KiB */
  CsimLinkId link;       /* counter */
  double value;          /* counter: bytes/s */
} CsimTraceItem;

gsize csim_run_trace_n(const CsimRun *run); /* 0 if nothing was recorded */
CsimTraceItem csim_run_trace_get(const CsimRun *run, gsize i);
gsize csim_run_trace_dropped(const CsimRun *run);
char *csim_run_link_name(const CsimRun *run, CsimLinkId link); /* caller frees */
char *csim_run_rank_name(const CsimRun *run, int rank);        /* "rank 9 (node 1, GPU 1)"; caller frees */

#endif
