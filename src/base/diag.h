/*
 * base/diag.h - places in files, and a collector of several findings.
 *
 * Used by: readers and loaders. A parsed object keeps its CsimLoc for ever, so
 * that an error found late still points at the line that caused it.
 */
#ifndef CSIM_BASE_DIAG_H
#define CSIM_BASE_DIAG_H

#include "collsim/error.h"
#include <stdint.h>

typedef struct {
  const char *file; /* interned (g_intern_string); NULL: no place */
  uint32_t line;    /* from 1 */
  uint32_t col;     /* from 1, in bytes */
} CsimLoc;

#define CSIM_LOC_NONE ((CsimLoc){NULL, 0, 0})

/* g_set_error with "file:line:col: " in front (left out as far as loc is unknown). */
void csim_error_set(GError **error, CsimErrorCode code, CsimLoc loc, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* Puts the place in front of an error that has none yet. */
void csim_error_prefix_loc(GError **error, CsimLoc loc);

typedef enum { CSIM_FINDING_NOTE, CSIM_FINDING_WARNING, CSIM_FINDING_ERROR } CsimSeverity;

typedef struct {
  CsimSeverity severity;
  CsimErrorCode code; /* meaningful for errors */
  CsimLoc loc;
  char *text;         /* one line, no place in front */
  double cost_gbps;   /* bandwidth that this finding costs, 1e9 bytes/s; 0 unknown or none */
} CsimFinding;

#define CSIM_DIAG_MAX 20 /* errors kept; later ones are only counted */

typedef struct CsimDiag CsimDiag;
CsimDiag *csim_diag_new(void);
void csim_diag_free(CsimDiag *diag); /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimDiag, csim_diag_free)

/* diag may be NULL everywhere: the finding is dropped. Identical findings (same place and text) are kept once. */
void csim_diag_add(CsimDiag *diag, CsimSeverity severity, CsimErrorCode code, CsimLoc loc, const char *format, ...) G_GNUC_PRINTF(5, 6);
/* As csim_diag_add for a warning with its cost in GB/s. */
void csim_diag_cost(CsimDiag *diag, CsimLoc loc, double cost_gbps, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* An error from a function that reports by GError, with the place that it carries (or `fallback` when it has none). */
void csim_diag_add_error(CsimDiag *diag, const GError *error, CsimLoc fallback);
/* TRUE when another error would only be counted (or nobody listens): time to stop looking for more. */
gboolean csim_diag_full(const CsimDiag *diag);
guint csim_diag_count(const CsimDiag *diag, CsimSeverity at_least);
guint csim_diag_n(const CsimDiag *diag);
const CsimFinding *csim_diag_get(const CsimDiag *diag, guint i); /* in order of arrival */
char *csim_finding_format(const CsimFinding *f); /* "file:line:col: warning: text (costs 12 GB/s)"; caller frees */
/* First error as a GError, with "(and N more)" when there are; FALSE if there was one. */
gboolean csim_diag_check(const CsimDiag *diag, GError **error);

/* The candidate nearest to `name` (at most 2 edits or 1/3 of its length, and fewer than half of its
 * letters; upper and lower case are alike), or NULL. candidates: NULL-ended. */
const char *csim_nearest(const char *name, const char *const *candidates);
/* The end of a message about a wrong name: "; did you mean 'x'?" or "; allowed: a, b, c" (at most 16); caller frees. */
char *csim_suggest(const char *name, const char *const *candidates);

#endif
