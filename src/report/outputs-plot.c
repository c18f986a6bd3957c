/* report/outputs-plot.c - data and scripts of an experiment's plots. What a script must set: the head of each plots/sweep-*.gp. */
#include "report/outputs.h"

#include "base/stats.h"
#include "base/units.h"
#include "report/gnuplot.h"
#include "report/outputs-links.h"
#include "report/report.h"
#include "collsim/version.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

extern const char csim_plot_sweep_lines[], csim_plot_sweep_bars[], csim_plot_sweep_heat[], csim_plot_sweep_tornado[], csim_plot_sweep_cdf[];

typedef struct {
  const CsimExperiment *e;
  const CsimOutput *o;
  const CsimTable *rows;
  GArray *selected;
  CsimPivot *pivot; /* NULL where a plot has no use for one */
  GString *data, *script;
} Plot;

/* --- pieces ------------------------------------------------------------------------------ */

static void set_text(Plot *p, const char *name, const char *text) { csim_gnuplot_text(p->script, name, text); }
static void set_int(Plot *p, const char *name, int value) { csim_gnuplot_int(p->script, name, value); }
static void put(Plot *p, double value) { csim_gnuplot_put(p->data, value); }
static void put_text(Plot *p, const char *text) { csim_gnuplot_put_text(p->data, text); }

static void put_spread(Plot *p, const CsimSpread *s) {
  put(p, s->median);
  put(p, s->min);
  put(p, s->max);
}

static const char *name_at(const GPtrArray *names, guint i) { return (const char *)g_ptr_array_index(names, i); }

static int longest(const GPtrArray *names) {
  glong most = 0;
  for (guint i = 0; i < names->len; i++) most = MAX(most, g_utf8_strlen(name_at(names, i), -1));
  return (int)most;
}

/* Is every x a number? Then it is an axis of numbers, else one of names. */
static gboolean is_numeric(const GPtrArray *names) {
  for (guint i = 0; i < names->len; i++)
    if (isnan(csim_label_number(name_at(names, i)))) return FALSE;
  return names->len > 1;
}

static gboolean is_wide(const GPtrArray *names) {
  double min = HUGE_VAL, max = 0;
  for (guint i = 0; i < names->len; i++) {
    double value = csim_label_number(name_at(names, i));
    min = MIN(min, value);
    max = MAX(max, value);
  }
  return min > 0 && max / min >= 8;
}

static guint most_repeats(const CsimPivot *pivot) {
  guint n = 0;
  for (guint i = 0; pivot && i < pivot->xs->len * pivot->series->len; i++) n = MAX(n, pivot->cells[i].n);
  return n;
}

static char *conditions(const CsimOutput *o) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < o->where->len; i++) {
    const CsimTest *test = &g_array_index(o->where, CsimTest, i);
    g_string_append_printf(out, "; %s ", test->column);
    for (guint k = 0; test->any && k < test->any->len; k++) g_string_append_printf(out, "%s%s", k ? ", " : "", name_at(test->any, k));
    if (!test->any && isfinite(test->min)) g_string_append_printf(out, "from %g ", test->min);
    if (!test->any && isfinite(test->max)) g_string_append_printf(out, "up to %g", test->max);
  }
  return g_string_free(out, FALSE);
}

/* The one text that a column holds in all selected rows, or NULL. */
static const char *common_text(const Plot *p, const char *column) {
  const char *common = NULL;
  int c = csim_table_column(p->rows, column);
  for (guint i = 0; c >= 0 && i < p->selected->len; i++) {
    const char *text = csim_table_text(p->rows, g_array_index(p->selected, guint, i), c);
    if (common && strcmp(common, text)) return NULL;
    common = text;
  }
  return common;
}

static gboolean is_of_links(const CsimOutput *o) { return o->kind == CSIM_OUTPUT_LINKS || o->kind == CSIM_OUTPUT_MAP; }

static char *own_heading(const CsimOutput *o) {
  if (o->title) return g_strdup(o->title);
  if (is_of_links(o)) return g_strdup(o->kind == CSIM_OUTPUT_MAP ? "Loads of links" : "Most used links");
  return o->x ? g_strdup_printf("%s over %s", csim_column_label(o->value), o->x) : g_strdup(csim_column_label(o->value));
}

static void set_headings(Plot *p) {
  const CsimOutput *o = p->o;
  g_autofree char *where = conditions(o), *heading = own_heading(o);
  const char *target = common_text(p, "ranks") ? common_text(p, "target") : NULL, *collective = common_text(p, "collective");
  guint repeats = most_repeats(p->pivot);
  g_autofree char *spread = repeats > 1 && o->kind != CSIM_OUTPUT_CDF ? g_strdup_printf("; median of %u%s", repeats, o->kind == CSIM_OUTPUT_HEAT ? "" : ", bars from least to most") : g_strdup("");
  g_autofree char *subheading = g_strdup_printf("%s%s%s%s%s", collective ? collective : p->e->name, target ? " on " : "", target ? target : "", where, spread);
  g_autofree char *file = g_path_get_basename(p->e->path);
  g_autofree char *source = g_strdup_printf("collsim %s, %s: %s, digest %08x", COLLSIM_VERSION, p->e->name, file, (guint)(p->e->digest >> 32));
  set_text(p, "heading", heading);
  set_text(p, "subheading", subheading);
  set_text(p, "source", source);
}

/* A number says nothing without its axis: "nodes 2", "NCCL_IB_QPS_PER_CONNECTION 4". Sizes do. */
static char *series_label(const Plot *p, guint s) {
  const char *axis = p->o->series, *label = name_at(p->pivot->series, s);
  if (!axis) return g_strdup("");
  const char *dot = strrchr(axis, '.'), *end = label + strlen(label);
  gboolean bare = end > label && g_ascii_isdigit(end[-1]) && !isnan(csim_label_number(label));
  return bare ? g_strdup_printf("%s %s", dot ? dot + 1 : axis, label) : g_strdup(label);
}

static void set_series(Plot *p) {
  int chars = 0;
  set_int(p, "n_series", (int)p->pivot->series->len);
  for (guint s = 0; s < p->pivot->series->len; s++) {
    g_autofree char *name = g_strdup_printf("series_%u", s + 1), *label = series_label(p, s);
    set_text(p, name, label);
    chars = MAX(chars, (int)g_utf8_strlen(label, -1));
  }
  set_int(p, "key_chars", chars);
  set_int(p, "with_key", p->o->series != NULL);
}

/* --- lines and scaling: a block a series: x median min max [of time: median min max] "x" -------- */

/* A label at a tic: sizes short, and only so many of them. */
static char *tic_label(const GPtrArray *xs, guint x, gboolean sizes) {
  guint step = (xs->len + 8) / 9;
  return !sizes ? g_strdup(name_at(xs, x)) : x % step ? g_strdup("") : csim_size_text((CsimBytes)csim_label_number(name_at(xs, x)));
}

/* Do the values go over more than most of a decade? Then a logarithmic axis shows them best; a narrow span would have one number at it. */
static gboolean spans_decades(const CsimPivot *v) {
  double min = HUGE_VAL, max = 0;
  for (guint i = 0; i < v->xs->len * v->series->len; i++) {
    if (v->cells[i].n == 0) continue;
    min = MIN(min, v->cells[i].min);
    max = MAX(max, v->cells[i].max);
  }
  return min > 0 && max / min >= 8;
}

static const char *lines(Plot *p) {
  const CsimPivot *v = p->pivot;
  gboolean numeric = is_numeric(v->xs), sizes = !strcmp(p->o->x, "size_bytes") || !strcmp(p->o->x, "size"), two = !strcmp(p->o->value, "busbw_gbps");
  g_autoptr(CsimPivot) times = two ? csim_pivot_new(p->rows, p->selected, p->o->x, p->o->series, "time_us") : NULL;
  for (guint s = 0; s < v->series->len; s++) {
    for (guint x = 0; x < v->xs->len; x++) {
      if (csim_pivot_cell(v, x, s)->n == 0) continue; /* a gap would break the line */
      put(p, numeric ? csim_label_number(name_at(v->xs, x)) : x);
      put_spread(p, csim_pivot_cell(v, x, s));
      if (times) put_spread(p, csim_pivot_cell(times, x, s));
      else g_string_append(p->data, " 0 0 0");
      g_autofree char *label = tic_label(v->xs, x, numeric && sizes);
      put_text(p, label);
      g_string_append_c(p->data, '\n');
    }
    g_string_append(p->data, "\n\n");
  }
  set_series(p);
  set_int(p, "panels", two ? 2 : 1);
  set_int(p, "log_x", numeric && is_wide(v->xs));
  set_int(p, "named", !numeric || sizes || v->xs->len <= 12);
  set_int(p, "n_x", (int)v->xs->len);
  set_int(p, "x_chars", numeric ? 1 : longest(v->xs));
  set_int(p, "log_y", !strcmp(p->o->value, "time_us") && spans_decades(v));
  set_int(p, "log_time", times && spans_decades(times));
  set_int(p, "spread", most_repeats(v) > 1);
  set_text(p, "x_label", csim_column_label(p->o->x));
  set_text(p, "y_label", csim_column_label(p->o->value));
  return csim_plot_sweep_lines;
}

/* --- bars: "x", then median min max of each series -------------------------------------------------- */

static const char *bars(Plot *p) {
  const CsimPivot *v = p->pivot;
  for (guint x = 0; x < v->xs->len; x++) {
    put_text(p, name_at(v->xs, x));
    for (guint s = 0; s < v->series->len; s++) put_spread(p, csim_pivot_cell(v, x, s));
    g_string_append_c(p->data, '\n');
  }
  set_series(p);
  set_int(p, "n_x", (int)v->xs->len);
  set_int(p, "margin", longest(v->xs));
  set_int(p, "spread", most_repeats(v) > 1);
  set_text(p, "y_label", csim_column_label(p->o->value));
  return csim_plot_sweep_bars;
}

/* --- heat: x y value "value" "x" "y" -------------------------------------------------------------------- */

static const char *heat(Plot *p) {
  const CsimPivot *v = p->pivot;
  for (guint s = 0; s < v->series->len; s++)
    for (guint x = 0; x < v->xs->len; x++) {
      g_autofree char *text = csim_short_number(csim_pivot_cell(v, x, s)->median);
      g_string_append_printf(p->data, "%u %u", x, s);
      put(p, csim_pivot_cell(v, x, s)->median);
      put_text(p, text);
      put_text(p, name_at(v->xs, x));
      put_text(p, name_at(v->series, s));
      g_string_append_c(p->data, '\n');
    }
  set_int(p, "n_x", (int)v->xs->len);
  set_int(p, "n_y", (int)v->series->len);
  set_int(p, "cell", 84);
  set_int(p, "top", 0);
  set_int(p, "margin", longest(v->series));
  set_int(p, "x_chars", longest(v->xs));
  set_text(p, "x_label", csim_column_label(p->o->x));
  set_text(p, "y_label", csim_column_label(p->o->series));
  set_text(p, "value_label", csim_column_label(p->o->value));
  return csim_plot_sweep_heat;
}

/* --- tornado: "x" percent min max ---------------------------------------------------------------------------- */

typedef struct {
  const char *name;
  double percent, min, max;
} Effect;

static int by_effect(gconstpointer a, gconstpointer b) {
  double x = fabs(((const Effect *)a)->percent), y = fabs(((const Effect *)b)->percent);
  return x < y ? -1 : x > y; /* the largest is drawn on top */
}

static GArray *effects(const Plot *p) {
  const CsimPivot *v = p->pivot;
  GArray *list = g_array_new(FALSE, FALSE, sizeof(Effect));
  double base = NAN;
  for (guint x = 0; x < v->xs->len; x++)
    if (p->o->base ? !strcmp(name_at(v->xs, x), p->o->base) : x == 0) base = csim_pivot_cell(v, x, 0)->median;
  for (guint x = 0; x < v->xs->len; x++) {
    const CsimSpread *s = csim_pivot_cell(v, x, 0);
    Effect effect = {name_at(v->xs, x), (s->median / base - 1) * 100, (s->min / base - 1) * 100, (s->max / base - 1) * 100};
    if (s->n && (p->o->base ? strcmp(effect.name, p->o->base) : x > 0)) g_array_append_val(list, effect);
  }
  g_array_sort(list, by_effect);
  return list;
}

static const char *tornado(Plot *p) {
  g_autoptr(GArray) list = effects(p);
  for (guint i = 0; i < list->len; i++) {
    const Effect *effect = &g_array_index(list, Effect, i);
    put_text(p, effect->name);
    put(p, effect->percent);
    put(p, effect->min);
    put(p, effect->max);
    g_string_append_c(p->data, '\n');
  }
  g_autofree char *label = g_strdup_printf("%s: change from \"%s\" (%%)", csim_column_label(p->o->value), p->o->base ? p->o->base : name_at(p->pivot->xs, 0));
  set_int(p, "n_x", (int)list->len);
  set_int(p, "margin", longest(p->pivot->xs));
  set_int(p, "spread", most_repeats(p->pivot) > 1);
  set_int(p, "reference", 0);
  set_int(p, "decimals", 1);
  set_text(p, "y_label", label);
  return csim_plot_sweep_tornado;
}

/* --- cdf: a block a series: value share ----------------------------------------------------------------------------- */

static GArray *values_of(const Plot *p, const char *series) {
  GArray *values = g_array_new(FALSE, FALSE, sizeof(double));
  int cs = csim_table_column(p->rows, p->o->series), cv = csim_table_column(p->rows, p->o->value);
  for (guint i = 0; i < p->selected->len; i++) {
    guint row = g_array_index(p->selected, guint, i);
    double value = csim_table_number(p->rows, row, cv);
    if (!isnan(value) && !strcmp(csim_table_text(p->rows, row, cs), series)) g_array_append_val(values, value);
  }
  csim_sort((double *)(void *)values->data, values->len);
  return values;
}

static const char *cdf(Plot *p) {
  for (guint s = 0; s < p->pivot->series->len; s++) {
    g_autoptr(GArray) values = values_of(p, name_at(p->pivot->series, s));
    for (guint i = 0; i < values->len; i++) {
      if (i == 0) g_string_append_printf(p->data, "%.9g 0\n", g_array_index(values, double, 0)); /* the first step starts at the axis */
      put(p, g_array_index(values, double, i));
      put(p, 100.0 * (i + 1) / values->len);
      g_string_append_c(p->data, '\n');
    }
    g_string_append(p->data, "\n\n");
  }
  set_series(p);
  set_text(p, "x_label", csim_column_label(p->o->value));
  return csim_plot_sweep_cdf;
}

/* --- drawing ------------------------------------------------------------------------------------------------------------- */

static const char *fill(Plot *p) {
  switch (p->o->kind) {
  case CSIM_OUTPUT_BARS: return bars(p);
  case CSIM_OUTPUT_HEAT: return heat(p);
  case CSIM_OUTPUT_TORNADO: return tornado(p);
  case CSIM_OUTPUT_CDF: return cdf(p);
  case CSIM_OUTPUT_LINKS: return csim_output_links_bars(p->rows, p->selected, p->data, p->script);
  case CSIM_OUTPUT_MAP: return csim_output_links_map(p->rows, p->selected, p->data, p->script);
  default: return lines(p);
  }
}

static gboolean draw(const Plot *p, const char *template, const char *folder, const char *file, GError **error) {
  g_autofree char *path = g_build_filename(folder, file, NULL);
  return csim_gnuplot_check(path, error) && csim_gnuplot_draw(path, p->script->str, template, p->data->str, error);
}

/* NAME.svg, NAME.png, or NAME for both. */
static gboolean draw_files(const Plot *p, const char *template, const char *folder, GError **error) {
  const char *file = p->o->file;
  g_autofree char *svg = g_strconcat(file, ".svg", NULL), *png = g_strconcat(file, ".png", NULL);
  return strchr(file, '.') ? draw(p, template, folder, file, error) : draw(p, template, folder, svg, error) && draw(p, template, folder, png, error);
}

gboolean csim_output_plot(const CsimExperiment *e, const CsimOutput *o, const CsimTable *rows, const CsimTable *link_rows, const char *folder, GError **error) {
  const CsimTable *table = is_of_links(o) ? link_rows : rows;
  Plot p = {e, o, table, csim_table_select(table, o->where), NULL, g_string_new(NULL), g_string_new(NULL)};
  gboolean drawn = FALSE;
  if (!is_of_links(o)) p.pivot = csim_pivot_new(table, p.selected, o->x, o->series, o->value);
  if (p.selected->len == 0) {
    csim_error_set(error, CSIM_ERROR_VALUE, o->loc, "nothing to plot in %s; 'where' leaves no row", o->file);
  } else {
    const char *template = fill(&p);
    set_headings(&p);
    drawn = draw_files(&p, template, folder, error);
  }
  csim_pivot_free(p.pivot);
  g_array_unref(p.selected);
  g_string_free(p.data, TRUE);
  g_string_free(p.script, TRUE);
  return drawn;
}
