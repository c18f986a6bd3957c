/*
 * exp/compare.h - two result files side by side.
 *
 * Used by: cli (`collsim compare`), report/compare.h. Reads what `collsim run --json` or `--csv` and `collsim sweep` (results.csv) wrote.
 */
#ifndef CSIM_EXP_COMPARE_H
#define CSIM_EXP_COMPARE_H

#include "exp/results.h"

/* One row that both files have: the same collective, size, type, operation, root, and the same value on every axis. */
typedef struct {
  char *label;              /* "all_reduce 1048576", then the axes that are not the same in all rows */
  guint a, b;               /* rows in the tables */
  double time_a, time_b, busbw_a, busbw_b; /* us, GB/s; NAN where one has none */
  const char *choice_a, *choice_b;         /* "Ring/LL", owned */
  const char *bottleneck_a, *bottleneck_b; /* of the tables */
} CsimPair;

typedef struct {
  CsimTable *a, *b;
  GPtrArray *pairs;         /* CsimPair*, in order of a */
  guint only_a, only_b;     /* rows that the other file lacks */
} CsimComparison;

/* A table of results from .json or .csv. CSIM_ERROR_IO, CSIM_ERROR_SYNTAX, CSIM_ERROR_SCHEMA with the place. */
CsimTable *csim_results_read(const char *path, GError **error);
/* Takes both tables. */
CsimComparison *csim_compare(CsimTable *a, CsimTable *b);
void csim_comparison_free(CsimComparison *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimComparison, csim_comparison_free)

#endif
