/* exp/results.c - tables of texts, and what is counted over them. */
#include "exp/results.h"

#include "base/csv.h"
#include "base/diag.h"
#include "base/stats.h"

#include <math.h>
#include <string.h>

const char *const *csim_result_columns(void) {
  static const char *const columns[] = {"target", "nodes", "ranks", "fidelity", "seed", "collective", "size_bytes", "count", "type", "redop", "root", "algo",
                                        "proto", "channels", "threads", "time_us", "algbw_gbps", "busbw_gbps", "bottleneck", "busiest", "busiest_share",
                                        "launch", "overhead", "copy", "link", "wait", "credit", "top_link", "top_use", "top_busy", "top_saturated", "top_peak",
                                        "fabric_link", "fabric_use", "fabric_busy", "fabric_saturated", "fabric_peak",
                                        "marked", "pauses", "paused_us", "dropped", "resent", "timeouts", "digest", "error", NULL};
  return columns;
}

CsimTable *csim_table_new(void) {
  CsimTable *table = g_new0(CsimTable, 1);
  table->columns = g_ptr_array_new_with_free_func(g_free);
  table->rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  return table;
}

void csim_table_free(CsimTable *table) {
  if (!table) return;
  g_ptr_array_unref(table->columns);
  g_ptr_array_unref(table->rows);
  g_free(table);
}

int csim_table_column(const CsimTable *table, const char *name) {
  for (guint i = 0; name && i < table->columns->len; i++)
    if (!strcmp((const char *)g_ptr_array_index(table->columns, i), name)) return (int)i;
  return -1;
}

double csim_table_number(const CsimTable *table, guint row, int column) { return csim_label_number(csim_table_text(table, row, column)); }

GPtrArray *csim_table_add_row(CsimTable *table) {
  GPtrArray *row = g_ptr_array_new_full(table->columns->len, g_free);
  for (guint i = 0; i < table->columns->len; i++) g_ptr_array_add(row, g_strdup(""));
  g_ptr_array_add(table->rows, row);
  return row;
}

void csim_table_set(CsimTable *table, GPtrArray *row, int column, char *text) {
  if (column < 0) {
    g_free(text);
    return;
  }
  g_free(row->pdata[column]);
  row->pdata[column] = text;
}

/* --- CSV ----------------------------------------------------------------------------- */

static void append_line(GString *out, const GPtrArray *cells) {
  for (guint i = 0; i < cells->len; i++) {
    if (i) g_string_append_c(out, ',');
    csim_csv_append_cell(out, (const char *)g_ptr_array_index(cells, i));
  }
  g_string_append(out, "\r\n");
}

void csim_table_to_csv(const CsimTable *table, GString *out) {
  append_line(out, table->columns);
  for (guint i = 0; i < table->rows->len; i++) append_line(out, (const GPtrArray *)g_ptr_array_index(table->rows, i));
}

static void end_line(const char **at, guint *line) {
  if (**at == '\r') ++*at;
  if (**at == '\n') ++*at;
  ++*line;
}

/* One line of cells; NULL with an error. */
static GPtrArray *read_line(const char *name, const char **at, guint *line, GError **error) {
  GPtrArray *cells = g_ptr_array_new_with_free_func(g_free);
  for (;; ++*at) {
    char *cell = csim_csv_read_cell(at);
    if (!cell) {
      csim_error_set(error, CSIM_ERROR_SYNTAX, (CsimLoc){g_intern_string(name), *line, cells->len + 1}, "a quoted cell does not end; allowed: CSV by RFC 4180");
      g_ptr_array_unref(cells);
      return NULL;
    }
    g_ptr_array_add(cells, cell);
    if (**at != ',') break;
  }
  end_line(at, line);
  return cells;
}

CsimTable *csim_table_from_csv(const char *name, const char *text, GError **error) {
  g_autoptr(CsimTable) table = csim_table_new();
  guint line = 1;
  const char *at = text;
  GPtrArray *head = read_line(name, &at, &line, error);
  if (!head) return NULL;
  g_ptr_array_unref(table->columns);
  table->columns = head;
  while (*at) {
    guint first = line;
    GPtrArray *cells = read_line(name, &at, &line, error);
    if (!cells) return NULL;
    g_ptr_array_add(table->rows, cells);
    if (cells->len == head->len) continue;
    csim_error_set(error, CSIM_ERROR_SCHEMA, (CsimLoc){g_intern_string(name), first, 1}, "%u cells under %u columns; allowed: as many as columns", cells->len, head->len);
    return NULL;
  }
  return g_steal_pointer(&table);
}

/* --- selecting and counting ----------------------------------------------------------------- */

static gboolean passes(const CsimTable *table, guint row, const GArray *tests) {
  for (guint i = 0; i < tests->len; i++) {
    const CsimTest *test = &g_array_index(tests, CsimTest, i);
    int column = csim_table_column(table, test->column);
    if (column < 0 || !csim_test_matches(test, csim_table_text(table, row, column))) return FALSE;
  }
  return TRUE;
}

GArray *csim_table_select(const CsimTable *table, const GArray *tests) {
  GArray *selected = g_array_new(FALSE, FALSE, sizeof(guint));
  for (guint row = 0; row < table->rows->len; row++)
    if (passes(table, row, tests)) g_array_append_val(selected, row);
  return selected;
}

CsimSpread csim_spread(GArray *numbers) {
  guint n = numbers->len;
  if (n == 0) return (CsimSpread){0, NAN, NAN, NAN, NAN};
  double *v = (double *)(void *)numbers->data;
  csim_sort(v, n);
  return (CsimSpread){n, v[0], csim_sorted_median(v, n), csim_sorted_percentile(v, n, 95), v[n - 1]};
}

static guint note(GPtrArray *names, const char *name) {
  guint i;
  for (i = 0; i < names->len; i++)
    if (!strcmp((const char *)g_ptr_array_index(names, i), name)) return i;
  g_ptr_array_add(names, (void *)name);
  return i;
}

CsimPivot *csim_pivot_new(const CsimTable *table, const GArray *selected, const char *x, const char *series, const char *value) {
  CsimPivot *p = g_new0(CsimPivot, 1);
  int cx = csim_table_column(table, x), cs = csim_table_column(table, series), cv = csim_table_column(table, value);
  p->xs = g_ptr_array_new();
  p->series = g_ptr_array_new();
  for (guint i = 0; i < selected->len; i++) {
    guint row = g_array_index(selected, guint, i);
    note(p->xs, csim_table_text(table, row, cx));
    note(p->series, csim_table_text(table, row, cs));
  }
  guint n = p->xs->len * p->series->len;
  p->texts = g_new0(const char *, n);
  GArray **lists = g_new(GArray *, n);
  for (guint i = 0; i < n; i++) lists[i] = g_array_new(FALSE, FALSE, sizeof(double));
  for (guint i = 0; i < selected->len; i++) {
    guint row = g_array_index(selected, guint, i);
    double number = csim_table_number(table, row, cv);
    guint cell = note(p->xs, csim_table_text(table, row, cx)) * p->series->len + note(p->series, csim_table_text(table, row, cs));
    if (!isnan(number)) g_array_append_val(lists[cell], number);
    if (!p->texts[cell]) p->texts[cell] = csim_table_text(table, row, cv);
  }
  p->cells = g_new(CsimSpread, n);
  for (guint i = 0; i < n; i++) {
    p->cells[i] = csim_spread(lists[i]);
    g_array_unref(lists[i]);
  }
  g_free(lists);
  return p;
}

void csim_pivot_free(CsimPivot *p) {
  if (!p) return;
  g_ptr_array_unref(p->xs);
  g_ptr_array_unref(p->series);
  g_free(p->cells);
  g_free(p->texts);
  g_free(p);
}
