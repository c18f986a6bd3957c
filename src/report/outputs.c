/* report/outputs.c - tables of an experiment, as Markdown and CSV. */
#include "report/outputs.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

const char *csim_column_label(const char *column) {
  static const char *const labels[][2] = {
    {"time_us", "time (us)"}, {"busbw_gbps", "bus bandwidth (GB/s)"}, {"algbw_gbps", "algorithm bandwidth (GB/s)"}, {"size_bytes", "message size (bytes)"},
    {"size", "message size (bytes)"}, {"ranks", "GPUs"}, {"nodes", "nodes"}, {"channels", "channels"}, {"busiest_share", "busiest link saturated (share of time)"},
    {"wait", "waiting for data (share of time)"}, {"credit", "waiting for a slot (share of time)"}, {"copy", "GPU copy (share of time)"},
    {"top_use", "use of the most used link (share of its capacity)"}, {"top_busy", "most used link with traffic (share of time)"},
    {"top_saturated", "most used link full (share of time)"}, {"top_peak", "most used link: transfers at once, at most"},
    {"fabric_use", "most used link of the fabric (share of its capacity)"}, {"fabric_busy", "most used link of the fabric with traffic (share of time)"},
    {"fabric_saturated", "most used link of the fabric full (share of time)"}, {"fabric_peak", "most used link of the fabric: transfers at once, at most"},
    {"marked", "packets marked by ECN"}, {"pauses", "PAUSE frames"}, {"paused_us", "paused, all ports (us)"}, {"dropped", "frames dropped"},
    {"resent", "packets sent again"}, {"timeouts", "time-outs"},
    {"link", "link sharing (share of time)"}, {"overhead", "overhead (share of time)"}, {"launch", "launch (share of time)"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(labels); i++)
    if (!strcmp(labels[i][0], column)) return labels[i][1];
  return column;
}

gboolean csim_column_is_gain(const char *column) { return g_str_has_suffix(column, "bw_gbps"); }

char *csim_short_number(double value) {
  if (isnan(value)) return g_strdup("-");
  if (fabs(value) >= 1000) return g_strdup_printf("%.0f", value);
  return g_strdup_printf("%.4g", value);
}

/* --- table ------------------------------------------------------------------------------ */

static guint find_name(const GPtrArray *names, const char *name) {
  guint i;
  for (i = 0; i < names->len; i++)
    if (name && !strcmp((const char *)g_ptr_array_index(names, i), name)) break;
  return i;
}

/* "12.3", "12.3 [11.9, 13]" where repeats differ, "12.3 (+4.5 %)" beside a base; what is no number as it is, of the first repeat. */
static char *cell_text(const CsimPivot *p, guint x, guint series, const CsimSpread *base) {
  const CsimSpread *cell = csim_pivot_cell(p, x, series);
  const char *plain = p->texts[x * p->series->len + series];
  if (cell->n == 0 && plain && plain[0]) return g_strdup(plain);
  GString *out = g_string_new(NULL);
  g_autofree char *median = csim_short_number(cell->median), *min = csim_short_number(cell->min), *max = csim_short_number(cell->max);
  g_string_append(out, median);
  if (cell->n > 1 && strcmp(min, max)) g_string_append_printf(out, " [%s, %s]", min, max);
  if (cell->n && base && base->n && base != cell && base->median != 0) g_string_append_printf(out, " (%+.1f %%)", (cell->median / base->median - 1) * 100);
  return g_string_free(out, FALSE);
}

static void append_heading(GString *out, const CsimOutput *o) {
  if (o->title) g_string_append_printf(out, "### %s\n\n", o->title);
  else g_string_append_printf(out, "### %s over %s\n\n", csim_column_label(o->value), o->x);
}

static void append_row(GString *out, const GPtrArray *cells) {
  for (guint i = 0; i < cells->len; i++) g_string_append_printf(out, "| %s ", (const char *)g_ptr_array_index(cells, i));
  g_string_append(out, "|\n");
}

static void append_rule(GString *out, guint n) {
  for (guint i = 0; i < n; i++) g_string_append(out, i ? "|--:" : "|:--");
  g_string_append(out, "|\n");
}

static void table_rows(GString *out, const CsimOutput *o, const CsimPivot *p) {
  guint base = find_name(p->series, o->base), n = p->series->len;
  g_autoptr(GPtrArray) head = g_ptr_array_new();
  g_ptr_array_add(head, (void *)o->x);
  for (guint s = 0; s < n; s++) g_ptr_array_add(head, o->series ? g_ptr_array_index(p->series, s) : (void *)csim_column_label(o->value));
  append_row(out, head);
  append_rule(out, n + 1);
  for (guint x = 0; x < p->xs->len; x++) {
    g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(cells, g_strdup((const char *)g_ptr_array_index(p->xs, x)));
    for (guint s = 0; s < n; s++) g_ptr_array_add(cells, cell_text(p, x, s, base < n ? csim_pivot_cell(p, x, base) : NULL));
    append_row(out, cells);
  }
}

/* --- best --------------------------------------------------------------------------------- */

static guint best_series(const CsimPivot *p, guint x, gboolean gain) {
  guint best = 0;
  for (guint s = 1; s < p->series->len; s++) {
    double value = csim_pivot_cell(p, x, s)->median, before = csim_pivot_cell(p, x, best)->median;
    if (isnan(before) || (gain ? value > before : value < before)) best = s;
  }
  return best;
}

static void best_rows(GString *out, const CsimOutput *o, const CsimPivot *p) {
  gboolean gain = csim_column_is_gain(o->value);
  guint base = find_name(p->series, o->base), n = p->series->len;
  g_string_append_printf(out, "| %s | best %s | %s | %s | gain |\n", o->x, o->series ? o->series : "", csim_column_label(o->value), o->base ? o->base : "base");
  append_rule(out, 5);
  for (guint x = 0; x < p->xs->len; x++) {
    guint best = best_series(p, x, gain);
    const CsimSpread *cell = csim_pivot_cell(p, x, best), *other = base < n ? csim_pivot_cell(p, x, base) : NULL;
    g_autofree char *value = cell_text(p, x, best, NULL), *before = other ? cell_text(p, x, base, NULL) : g_strdup("-");
    double ratio = !other || !other->n ? NAN : gain ? cell->median / other->median : other->median / cell->median;
    g_autofree char *percent = isnan(ratio) ? g_strdup("-") : g_strdup_printf("%.1f %%", (ratio - 1) * 100);
    g_string_append_printf(out, "| %s | %s | %s | %s | %s |\n", (const char *)g_ptr_array_index(p->xs, x), (const char *)g_ptr_array_index(p->series, best), value, before,
                           percent);
  }
}

static void output_table(const CsimOutput *o, const CsimTable *rows, GString *out) {
  g_autoptr(GArray) selected = csim_table_select(rows, o->where);
  g_autoptr(CsimPivot) p = csim_pivot_new(rows, selected, o->x, o->series, o->value);
  append_heading(out, o);
  if (p->xs->len == 0) g_string_append(out, "(no row)\n");
  else if (o->kind == CSIM_OUTPUT_BEST) best_rows(out, o, p);
  else table_rows(out, o, p);
  g_string_append_c(out, '\n');
}

/* --- files ---------------------------------------------------------------------------------- */

static void pivot_to_csv(const CsimOutput *o, const CsimTable *rows, GString *out) {
  g_autoptr(GArray) selected = csim_table_select(rows, o->where);
  g_autoptr(CsimPivot) p = csim_pivot_new(rows, selected, o->x, o->series, o->value);
  g_autoptr(CsimTable) table = csim_table_new();
  g_ptr_array_add(table->columns, g_strdup(o->x));
  for (guint s = 0; s < p->series->len; s++) g_ptr_array_add(table->columns, g_strdup(o->series ? (const char *)g_ptr_array_index(p->series, s) : o->value));
  for (guint x = 0; x < p->xs->len; x++) {
    GPtrArray *row = csim_table_add_row(table);
    csim_table_set(table, row, 0, g_strdup((const char *)g_ptr_array_index(p->xs, x)));
    for (guint s = 0; s < p->series->len; s++) {
      csim_table_set(table, row, (int)s + 1, csim_number_text(csim_pivot_cell(p, x, s)->median, "%.9g"));
    }
  }
  csim_table_to_csv(table, out);
}

static gboolean write_file(const char *folder, const char *name, const GString *text, GError **error) {
  g_autofree char *path = g_build_filename(folder, name, NULL);
  return g_file_set_contents(path, text->str, (gssize)text->len, error);
}

static gboolean write_table(const CsimOutput *o, const CsimTable *rows, const char *folder, GString *text, GError **error) {
  g_autoptr(GString) own = g_string_new(NULL), csv = g_string_new(NULL);
  output_table(o, rows, own);
  g_string_append_len(text, own->str, (gssize)own->len);
  if (!o->file) return TRUE;
  if (g_str_has_suffix(o->file, ".csv")) pivot_to_csv(o, rows, csv);
  return write_file(folder, o->file, csv->len ? csv : own, error);
}

gboolean csim_outputs_write(const CsimExperiment *e, const CsimTable *rows, const CsimTable *links, const char *folder, GString *text, GError **error) {
  gsize before = text->len;
  for (guint i = 0; i < e->outputs->len; i++) {
    const CsimOutput *o = (const CsimOutput *)g_ptr_array_index(e->outputs, i);
    gboolean table = o->kind == CSIM_OUTPUT_TABLE || o->kind == CSIM_OUTPUT_BEST;
    if (!(table ? write_table(o, rows, folder, text, error) : csim_output_plot(e, o, rows, links, folder, error))) return FALSE;
  }
  if (text->len == before) return TRUE;
  g_autoptr(GString) tables = g_string_new(text->str + before);
  return write_file(folder, "tables.md", tables, error);
}
