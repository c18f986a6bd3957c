/*
 * report/trace.h - a run's trace as Chrome trace JSON, for chrome://tracing and ui.perfetto.dev.
 *
 * Used by: cli (--trace). Ranks are processes, channels threads, primitives spans (with their bytes), links counters in GB/s.
 * Times are microseconds with six decimals, that is picoseconds, exactly.
 */
#ifndef CSIM_REPORT_TRACE_H
#define CSIM_REPORT_TRACE_H

#include "exp/trace-view.h"

/* Written piece by piece; CSIM_ERROR_IO, or CSIM_ERROR_VALUE when nothing was recorded. */
gboolean csim_trace_write(const char *path, const CsimRun *run, GError **error);

#endif
