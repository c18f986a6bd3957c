/*
 * exp/results.h - a sweep's rows as a table of texts: read from its store, cut, grouped, counted.
 *
 * Used by: sweep.h (writes CSV), compare.h, report (tables and plots of an experiment). A cell is the text that stands in the CSV; numbers are
 * read from it, so that what is drawn is what was written.
 */
#ifndef CSIM_EXP_RESULTS_H
#define CSIM_EXP_RESULTS_H

#include "exp/experiment.h"

typedef struct {
  GPtrArray *columns; /* char* */
  GPtrArray *rows;    /* GPtrArray* of char*, as many as columns; "" where a row has no value */
} CsimTable;

CsimTable *csim_table_new(void);
void csim_table_free(CsimTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimTable, csim_table_free)

/* Columns of every row, in order; NULL-ended, static. Axes' columns come before them and hide those of the same name. */
const char *const *csim_result_columns(void);

int csim_table_column(const CsimTable *table, const char *name); /* -1: none */
static inline const char *csim_table_text(const CsimTable *table, guint row, int column) {
  return column < 0 ? "" : (const char *)g_ptr_array_index((const GPtrArray *)g_ptr_array_index(table->rows, row), (guint)column);
}
double csim_table_number(const CsimTable *table, guint row, int column); /* NAN: no number */
/* Adds a row of empty cells and returns it; cells are owned by the table. */
GPtrArray *csim_table_add_row(CsimTable *table);
void csim_table_set(CsimTable *table, GPtrArray *row, int column, char *text); /* takes text */

/* RFC 4180. The reader takes what the writer wrote and what spreadsheets make of it; CSIM_ERROR_SYNTAX with the place. */
void csim_table_to_csv(const CsimTable *table, GString *out);
CsimTable *csim_table_from_csv(const char *name, const char *text, GError **error);

/* Rows that pass every test, as indices (guint). A test of a column that is not there passes nothing. */
GArray *csim_table_select(const CsimTable *table, const GArray *tests);

typedef struct { guint n; double min, median, p95, max; } CsimSpread;
/* Of numbers (double), which are sorted in place. n = 0: all NAN. p95: the smallest that at least 95 % do not exceed. */
CsimSpread csim_spread(GArray *numbers);

/* A value over x for each series: rows of one (x, series) are repeats, and become one cell. */
typedef struct {
  GPtrArray *xs, *series; /* char*, borrowed: in order of appearance */
  CsimSpread *cells;      /* [x * series->len + series] */
  const char **texts;     /* the same: what stands in the first row of each; NULL: none */
} CsimPivot;
CsimPivot *csim_pivot_new(const CsimTable *table, const GArray *selected, const char *x, const char *series, const char *value);
void csim_pivot_free(CsimPivot *pivot);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimPivot, csim_pivot_free)
static inline const CsimSpread *csim_pivot_cell(const CsimPivot *p, guint x, guint series) { return &p->cells[x * p->series->len + series]; }

#endif
