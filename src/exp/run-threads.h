/*
 * exp/run-threads.h - the sizes of one run on several threads, with the rows, digests and order of one thread.
 *
 * Used by: cli (`collsim run -j`). Every thread has a run of its own on what is loaded once (CsimLoaded); nothing else is shared.
 */
#ifndef CSIM_EXP_RUN_THREADS_H
#define CSIM_EXP_RUN_THREADS_H

#include "exp/run.h"

typedef struct CsimRunThreads CsimRunThreads;
/* Starts computing. jobs: threads, at least 1; no more than sizes are used. run must outlive it and is not asked for rows meanwhile. */
CsimRunThreads *csim_run_threads_new(CsimRun *run, int jobs, GError **error);
/* Stops at the sizes in flight. */
void csim_run_threads_free(CsimRunThreads *threads);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimRunThreads, csim_run_threads_free)
/* As csim_run_row, to be called for 0, 1, 2 ...: waits for that row. csim_run_info(run) counts it from then on. */
gboolean csim_run_threads_row(CsimRunThreads *threads, guint i, CsimRow *out, GError **error);

#endif
