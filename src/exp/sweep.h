/*
 * exp/sweep.h - runs the points of an experiment, on threads, and keeps every result as soon as it is there.
 *
 * Used by: cli (`collsim sweep`), sweep-ranks.h. Implemented in sweep.c (work), sweep-point.c (one point), sweep-store.c (files), sweep-table.c.
 *
 * The store is a folder:
 *   points.jsonl         one line a finished point: {"point", "key", "result": {...}, "axes": {...}}; while a sweep runs in order of finishing, at its
 *                        end rewritten in order of points. Of a shard: points-I-of-N.jsonl.
 *   results.csv          one line a row, axes first; summary.csv: min, median, 95th percentile and max over repeats.
 *   links.csv            loads of the busiest links, if the experiment asks for them.
 *   provenance.json      version, digests of the constants and of the experiment.
 * A result is found again by its key: a digest of all that decides it (version, constants, merged description, contents of named files). So a killed
 * sweep goes on where it was, and what was changed is computed anew. The files are the same byte by byte however the work was divided or interrupted.
 */
#ifndef CSIM_EXP_SWEEP_H
#define CSIM_EXP_SWEEP_H

#include "exp/experiment.h"
#include "exp/results.h"

typedef struct {
  const char *folder;
  int jobs;               /* threads */
  guint shard, n_shards;  /* points with index % n_shards == shard; n_shards 1: all */
  const volatile int *interrupt; /* may be NULL */
  void (*progress)(guint done, guint of, void *data); /* called from csim_sweep_run's thread; may be NULL */
  void *data;
} CsimSweepOptions;

typedef struct {
  guint points;   /* of the experiment, or of the shard */
  guint reused;   /* were there already */
  guint computed;
  guint failed;   /* of all, those that could not be run; their rows say why */
  guint missing;  /* interrupted, or of other shards */
  guint stale;    /* stored lines that belong to other input, and count no more */
  char *first_failure; /* its message, or NULL */
} CsimSweepSummary;

typedef struct CsimSweep CsimSweep;
/* Opens the store and finds what is to do. e and options->folder must outlive it. CSIM_ERROR_IO: not a folder that can be written, or another sweep
 * is writing the same file; CSIM_ERROR_REFERENCE for a path of a setting that leads nowhere. */
CsimSweep *csim_sweep_new(const CsimExperiment *e, const CsimSweepOptions *options, GError **error);
void csim_sweep_free(CsimSweep *sweep);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimSweep, csim_sweep_free)

/* Computes all that is to do. FALSE only if a result cannot be stored; an interruption leaves points missing. */
gboolean csim_sweep_run(CsimSweep *sweep, GError **error);

/* The same piece by piece, for those who divide the work themselves; safe from several threads. */
gboolean csim_sweep_next(CsimSweep *sweep, guint *point);  /* FALSE: nothing left, or interrupted */
char *csim_sweep_compute(CsimSweep *sweep, guint point);   /* the result as JSON, or NULL: interrupted. Caller frees. */
void csim_sweep_give(CsimSweep *sweep, guint point, const char *result); /* stores it; a failure is reported by csim_sweep_finish */
void csim_sweep_count(CsimSweep *sweep, guint *done, guint *of); /* of what was to do */

/* Puts the lines in order, and, if no point of the experiment is missing, writes the tables. */
gboolean csim_sweep_finish(CsimSweep *sweep, CsimSweepSummary *summary, GError **error);
void csim_sweep_summary_clear(CsimSweepSummary *summary);

/* All rows that the store holds for the experiment, in order; after csim_sweep_finish. */
CsimTable *csim_sweep_table(const CsimSweep *sweep);
CsimTable *csim_sweep_summary_table(const CsimExperiment *e, const CsimTable *rows); /* over repeats */
CsimTable *csim_sweep_links(const CsimSweep *sweep);                                  /* NULL if no loads are kept */

#endif
