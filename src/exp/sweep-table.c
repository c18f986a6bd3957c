/* exp/sweep-table.c - stored results as tables. */
#include "exp/sweep-private.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

static void add_column(CsimTable *table, const char *name) { g_ptr_array_add(table->columns, g_strdup(name)); }

static gboolean is_axis(const CsimExperiment *e, const char *name) { return csim_experiment_find_axis(e, name) >= 0; }

/* Axes, the repeat, then the results' columns that no axis has taken. */
static void add_columns(CsimTable *table, const CsimExperiment *e) {
  for (guint i = 0; i < e->axes->len; i++) add_column(table, ((const CsimAxis *)g_ptr_array_index(e->axes, i))->name);
  if (e->repeats > 1) add_column(table, "repeat");
}

static void add_result_columns(CsimTable *table, const CsimExperiment *e) {
  for (const char *const *column = csim_result_columns(); *column; column++)
    if (!is_axis(e, *column)) add_column(table, *column);
}

static void set_axes(CsimTable *table, GPtrArray *row, const CsimExperiment *e, guint point) {
  for (guint i = 0; i < e->axes->len; i++) csim_table_set(table, row, (int)i, g_strdup(csim_experiment_value(e, point, i)->label));
  if (e->repeats > 1) csim_table_set(table, row, (int)e->axes->len, g_strdup_printf("%u", csim_experiment_repeat(e, point) + 1));
}

/* Text or number of a member, as it stands in the store. */
static char *cell(const cJSON *value) {
  if (cJSON_IsString(value)) return g_strdup(value->valuestring);
  if (cJSON_IsNull(value)) return g_strdup("");
  return csim_number_text(value->valuedouble, value->valuedouble == floor(value->valuedouble) ? "%.17g" : "%.9g");
}

/* Columns that axes have taken keep the axis's label. */
static void set_members(CsimTable *table, GPtrArray *row, const CsimExperiment *e, const cJSON *object) {
  const cJSON *member;
  cJSON_ArrayForEach(member, object) {
    if (cJSON_IsArray(member) || cJSON_IsObject(member) || is_axis(e, member->string)) continue;
    csim_table_set(table, row, csim_table_column(table, member->string), cell(member));
  }
}

typedef void (*RowFn)(CsimTable *table, const CsimExperiment *e, guint point, const cJSON *result, const cJSON *row);

static void add_row(CsimTable *table, const CsimExperiment *e, guint point, const cJSON *result, const cJSON *r) {
  GPtrArray *row = csim_table_add_row(table);
  set_axes(table, row, e, point);
  set_members(table, row, e, result);
  if (r) set_members(table, row, e, r);
}

static void add_links(CsimTable *table, const CsimExperiment *e, guint point, const cJSON *result, const cJSON *r) {
  const cJSON *link;
  cJSON_ArrayForEach(link, cJSON_GetObjectItemCaseSensitive(r, "links")) {
    GPtrArray *row = csim_table_add_row(table);
    set_axes(table, row, e, point);
    set_members(table, row, e, r);
    set_members(table, row, e, link);
  }
}

/* Each row of each point; a point that failed is one row without numbers. */
static void each_row(const CsimSweep *s, CsimTable *table, RowFn fn) {
  for (guint point = 0; point < s->keys->len; point++) {
    const char *text = csim_sweep_result(s, point);
    cJSON *result = text ? cJSON_Parse(text) : NULL;
    const cJSON *row, *rows = cJSON_GetObjectItemCaseSensitive(result, "rows");
    if (result && !rows) fn(table, s->e, point, result, NULL);
    cJSON_ArrayForEach(row, rows) fn(table, s->e, point, result, row);
    cJSON_Delete(result);
  }
}

CsimTable *csim_sweep_table(const CsimSweep *s) {
  CsimTable *table = csim_table_new();
  add_columns(table, s->e);
  add_result_columns(table, s->e);
  each_row(s, table, add_row);
  return table;
}

CsimTable *csim_sweep_links(const CsimSweep *s) {
  static const char *const columns[] = {"size_bytes", "time_us", "name", "capacity_gbps", "bytes", "use", "busy", "saturated", "peak", NULL};
  if (!s->e->links) return NULL;
  CsimTable *table = csim_table_new();
  add_columns(table, s->e);
  for (int i = 0; columns[i]; i++)
    if (!is_axis(s->e, columns[i])) add_column(table, columns[i]);
  each_row(s, table, add_links);
  return table;
}

/* --- over repeats ---------------------------------------------------------------------- */

static const char *const values[] = {"time_us", "busbw_gbps", NULL};
static const char *const kept[] = {"nodes", "ranks", "collective", "size_bytes", "algo", "proto", "channels", NULL};

/* Rows that differ in nothing but the repeat: the axes and the size. */
static char *group_of(const CsimExperiment *e, const CsimTable *rows, guint row) {
  GString *text = g_string_new(csim_table_text(rows, row, csim_table_column(rows, "size_bytes")));
  for (guint i = 0; i < e->axes->len; i++) g_string_append_printf(text, "\n%s", csim_table_text(rows, row, (int)i));
  return g_string_free(text, FALSE);
}

static void set_spread(CsimTable *table, GPtrArray *row, const char *name, GArray *numbers) {
  static const char *const parts[] = {"min", "median", "p95", "max"};
  CsimSpread spread = csim_spread(numbers);
  const double of[] = {spread.min, spread.median, spread.p95, spread.max};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++) {
    g_autofree char *column = g_strdup_printf("%s_%s", name, parts[i]);
    csim_table_set(table, row, csim_table_column(table, column), csim_number_text(of[i], "%.9g"));
  }
}

static void add_group(CsimTable *table, const CsimExperiment *e, const CsimTable *rows, const GArray *members) {
  GPtrArray *row = csim_table_add_row(table);
  guint first = g_array_index(members, guint, 0);
  for (guint i = 0; i < e->axes->len; i++) csim_table_set(table, row, (int)i, g_strdup(csim_table_text(rows, first, (int)i)));
  for (int i = 0; kept[i]; i++)
    if (!is_axis(e, kept[i])) csim_table_set(table, row, csim_table_column(table, kept[i]), g_strdup(csim_table_text(rows, first, csim_table_column(rows, kept[i]))));
  csim_table_set(table, row, csim_table_column(table, "repeats"), g_strdup_printf("%u", members->len));
  for (int i = 0; values[i]; i++) {
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint k = 0; k < members->len; k++) {
      double number = csim_table_number(rows, g_array_index(members, guint, k), csim_table_column(rows, values[i]));
      if (!isnan(number)) g_array_append_val(numbers, number);
    }
    set_spread(table, row, values[i], numbers);
  }
}

static void add_summary_columns(CsimTable *table, const CsimExperiment *e) {
  static const char *const spreads[] = {"time_us_min", "time_us_median", "time_us_p95", "time_us_max", "busbw_gbps_min", "busbw_gbps_median", "busbw_gbps_p95",
                                        "busbw_gbps_max", NULL};
  for (guint i = 0; i < e->axes->len; i++) add_column(table, ((const CsimAxis *)g_ptr_array_index(e->axes, i))->name);
  for (int i = 0; kept[i]; i++)
    if (!is_axis(e, kept[i])) add_column(table, kept[i]);
  add_column(table, "repeats");
  for (int i = 0; spreads[i]; i++) add_column(table, spreads[i]);
}

CsimTable *csim_sweep_summary_table(const CsimExperiment *e, const CsimTable *rows) {
  CsimTable *table = csim_table_new();
  g_autoptr(GHashTable) groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GPtrArray) order = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
  add_summary_columns(table, e);
  for (guint row = 0; row < rows->rows->len; row++) {
    char *name = group_of(e, rows, row);
    GArray *members = (GArray *)g_hash_table_lookup(groups, name);
    if (!members) {
      members = g_array_new(FALSE, FALSE, sizeof(guint));
      g_ptr_array_add(order, members);
      g_hash_table_insert(groups, g_strdup(name), members);
    }
    g_array_append_val(members, row);
    g_free(name);
  }
  for (guint i = 0; i < order->len; i++) add_group(table, e, rows, (const GArray *)g_ptr_array_index(order, i));
  return table;
}
