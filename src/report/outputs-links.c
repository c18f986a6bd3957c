/* report/outputs-links.c - loads of links as plots: the most used ones as bars, and all of a fabric as a map of who is joined to whom. */
#include "report/outputs-links.h"

#include "report/gnuplot.h"

#include <math.h>
#include <string.h>

extern const char csim_plot_sweep_heat[], csim_plot_sweep_tornado[];

#define MOST_BARS 30
#define MOST_NUMBERS 24 /* columns of a map with numbers in its cells */

/* --- loads over the selected runs, in percent of the links' capacity ----------------------------------- */

typedef struct {
  const char *name;
  double sum, min, max;
  guint n;
} Load;

static int by_sum(gconstpointer a, gconstpointer b) {
  const Load *x = (const Load *)a, *y = (const Load *)b;
  return x->sum < y->sum ? 1 : x->sum > y->sum ? -1 : strcmp(x->name, y->name);
}

static void add_load(GArray *loads, GHashTable *index, const char *name, double use) {
  gpointer at = NULL;
  if (!g_hash_table_lookup_extended(index, name, NULL, &at)) {
    Load load = {.name = name, .min = use, .max = use};
    at = GUINT_TO_POINTER(loads->len);
    g_hash_table_insert(index, (gpointer)name, at);
    g_array_append_val(loads, load);
  }
  Load *load = &g_array_index(loads, Load, GPOINTER_TO_UINT(at));
  load->sum += use;
  load->min = MIN(load->min, use);
  load->max = MAX(load->max, use);
  load->n++;
}

/* Are two rows of links of one run? Then all cells before the link's name are alike. */
static gboolean same_run(const CsimTable *rows, guint a, guint b, int name) {
  for (int i = 0; i < name; i++)
    if (strcmp(csim_table_text(rows, a, i), csim_table_text(rows, b, i))) return FALSE;
  return TRUE;
}

/* A link that a run does not list carried nothing there, or little. *runs: how many there were. */
static GArray *loads_of(const CsimTable *rows, const GArray *selected, guint *runs) {
  GArray *loads = g_array_new(FALSE, TRUE, sizeof(Load));
  g_autoptr(GHashTable) index = g_hash_table_new(g_str_hash, g_str_equal);
  int name = csim_table_column(rows, "name"), use = csim_table_column(rows, "use");
  *runs = 0;
  for (guint i = 0; i < selected->len; i++) {
    guint row = g_array_index(selected, guint, i);
    *runs += i == 0 || !same_run(rows, g_array_index(selected, guint, i - 1), row, name);
    add_load(loads, index, csim_table_text(rows, row, name), 100 * csim_table_number(rows, row, use));
  }
  for (guint i = 0; i < loads->len; i++) {
    Load *load = &g_array_index(loads, Load, i);
    if (load->n < *runs) load->min = 0;
  }
  g_array_sort(loads, by_sum);
  return loads;
}

/* --- bars: as a tornado, "name" mean min max ---------------------------------------------------------------- */

const char *csim_output_links_bars(const CsimTable *rows, const GArray *selected, GString *data, GString *script) {
  guint runs;
  g_autoptr(GArray) loads = loads_of(rows, selected, &runs);
  int n = (int)MIN(loads->len, MOST_BARS);
  glong margin = 0;
  for (int i = n; i-- > 0;) { /* the most used is drawn on top */
    const Load *load = &g_array_index(loads, Load, i);
    margin = MAX(margin, g_utf8_strlen(load->name, -1));
    csim_gnuplot_put_text(data, load->name);
    csim_gnuplot_put(data, load->sum / runs);
    csim_gnuplot_put(data, load->min);
    csim_gnuplot_put(data, load->max);
    g_string_append_c(data, '\n');
  }
  csim_gnuplot_int(script, "n_x", n);
  csim_gnuplot_int(script, "margin", (int)margin);
  csim_gnuplot_int(script, "spread", runs > 1);
  csim_gnuplot_int(script, "reference", 100);
  csim_gnuplot_int(script, "decimals", 0);
  csim_gnuplot_text(script, "y_label", runs > 1 ? "use of the link's capacity over the call (%): mean, least to most" : "use of the link's capacity over the call (%)");
  return csim_plot_sweep_tornado;
}

/* --- map: a field, from one end to the other ------------------------------------------------------------------ */

/* "leaf0-spine3.1 up": row "leaf0 up", column "spine3". "leaf0 trunk up": "leaf0 up", "trunk". "node0/nic1 in": "node0 in", "nic1". */
static void split(const char *name, char **row, char **column) {
  const char *space = strrchr(name, ' '), *cut = strpbrk(name, "-/ "), *dot = strrchr(name, '.');
  if (!space || !cut || cut >= space) {
    *row = g_strdup(name);
    *column = g_strdup("");
    return;
  }
  const char *end = *cut == '-' && dot > cut ? dot : space; /* cables of one pair are one cell */
  g_autofree char *from = g_strndup(name, (gsize)(cut - name));
  *row = g_strconcat(from, space, NULL);
  *column = g_strndup(cut + 1, (gsize)(end - cut - 1));
}

/* "leaf2" before "leaf10". */
static int by_name(gconstpointer a, gconstpointer b) {
  const char *x = *(const char *const *)a, *y = *(const char *const *)b;
  while (*x && *x == *y && !g_ascii_isdigit(*x)) x++, y++;
  if (!g_ascii_isdigit(*x) || !g_ascii_isdigit(*y)) return (guchar)*x - (guchar)*y;
  char *x_end, *y_end;
  guint64 i = g_ascii_strtoull(x, &x_end, 10), k = g_ascii_strtoull(y, &y_end, 10);
  if (i != k) return i < k ? -1 : 1;
  const char *x_rest = x_end, *y_rest = y_end;
  return by_name(&x_rest, &y_rest);
}

typedef struct {
  GPtrArray *rows, *columns; /* char*, each once, in order */
  GHashTable *cells;         /* "row\ncolumn" -> double*: of several cables the most used */
} Map;

static void note(GPtrArray *names, const char *name) {
  if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL)) g_ptr_array_add(names, g_strdup(name));
}

static void add_cell(Map *map, const char *name, double value) {
  g_autofree char *row = NULL, *column = NULL;
  split(name, &row, &column);
  note(map->rows, row);
  note(map->columns, column);
  char *key = g_strconcat(row, "\n", column, NULL);
  double *cell = (double *)g_hash_table_lookup(map->cells, key);
  if (cell) *cell = MAX(*cell, value);
  else g_hash_table_insert(map->cells, g_strdup(key), g_memdup2(&value, sizeof value));
  g_free(key);
}

static Map make_map(const GArray *loads, guint runs) {
  Map map = {g_ptr_array_new_with_free_func(g_free), g_ptr_array_new_with_free_func(g_free), g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
  for (guint i = 0; i < loads->len; i++) {
    const Load *load = &g_array_index(loads, Load, i);
    add_cell(&map, load->name, load->sum / runs);
  }
  g_ptr_array_sort(map.rows, by_name);
  g_ptr_array_sort(map.columns, by_name);
  return map;
}

static void put_cell(GString *data, const Map *map, guint x, guint y) {
  const char *row = (const char *)g_ptr_array_index(map->rows, y), *column = (const char *)g_ptr_array_index(map->columns, x);
  g_autofree char *key = g_strconcat(row, "\n", column, NULL);
  const double *cell = (const double *)g_hash_table_lookup(map->cells, key);
  g_autofree char *text = cell && map->columns->len <= MOST_NUMBERS ? g_strdup_printf("%.0f", *cell) : g_strdup("");
  g_string_append_printf(data, "%u %u", x, y);
  csim_gnuplot_put(data, cell ? *cell : 0);
  csim_gnuplot_put_text(data, text);
  csim_gnuplot_put_text(data, column);
  csim_gnuplot_put_text(data, row);
  g_string_append_c(data, '\n');
}

static int longest(const GPtrArray *names) {
  glong most = 0;
  for (guint i = 0; i < names->len; i++) most = MAX(most, g_utf8_strlen((const char *)g_ptr_array_index(names, i), -1));
  return (int)most;
}

const char *csim_output_links_map(const CsimTable *rows, const GArray *selected, GString *data, GString *script) {
  guint runs;
  g_autoptr(GArray) loads = loads_of(rows, selected, &runs);
  Map map = make_map(loads, runs);
  for (guint y = 0; y < map.rows->len; y++)
    for (guint x = 0; x < map.columns->len; x++) put_cell(data, &map, x, y);
  csim_gnuplot_int(script, "n_x", (int)map.columns->len);
  csim_gnuplot_int(script, "n_y", (int)map.rows->len);
  csim_gnuplot_int(script, "margin", longest(map.rows));
  csim_gnuplot_int(script, "x_chars", longest(map.columns));
  csim_gnuplot_int(script, "cell", map.columns->len <= MOST_NUMBERS ? 52 : 14);
  csim_gnuplot_int(script, "top", 100);
  csim_gnuplot_text(script, "x_label", "the other end");
  csim_gnuplot_text(script, "y_label", "one end, and which way");
  csim_gnuplot_text(script, "value_label", runs > 1 ? "mean use of the capacity over the call (%)" : "use of the capacity over the call (%)");
  g_ptr_array_unref(map.rows);
  g_ptr_array_unref(map.columns);
  g_hash_table_unref(map.cells);
  return csim_plot_sweep_heat;
}
