#include "report/plot.h"

#include "report/gnuplot.h"
#include "collsim/version.h"

#include <inttypes.h>

extern const char csim_plot_template[];

static char *series_name(const CsimRow *row) { return g_strdup_printf("%s / %s", csim_row_algo(row), csim_row_proto(row)); }

/* Names of the algorithm and protocol pairs in order of appearance; char*. */
static GPtrArray *list_series(const CsimReport *report) {
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < report->rows->len; i++) {
    const CsimRow *row = &g_array_index(report->rows, CsimRow, i);
    g_autofree char *name = series_name(row);
    if (row->n_channels && !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL)) g_ptr_array_add(names, g_steal_pointer(&name));
  }
  return names;
}

static void append_texts(GString *out, const CsimReport *report) {
  const CsimRunInfo *info = report->info;
  g_autofree char *heading = g_strdup_printf("%s on %s", csim_coll_name(report->spec->coll), info->target);
  g_autofree char *subheading = g_strdup_printf("%d ranks: %s", info->n_ranks, info->device);
  g_autofree char *source = g_strdup_printf("collsim %s, fidelity %s, seed %" PRIu64 ", constants %08x", COLLSIM_VERSION, csim_fidelity_name(info->fidelity),
                                            info->seed, (guint)(info->catalogue_digest >> 32));
  csim_gnuplot_text(out, "heading", heading);
  csim_gnuplot_text(out, "subheading", subheading);
  csim_gnuplot_text(out, "source", source);
}

static char *variables(const CsimReport *report, const GPtrArray *series) {
  GString *out = g_string_new(NULL);
  csim_gnuplot_int(out, "n_series", (int)series->len);
  append_texts(out, report);
  for (guint i = 0; i < series->len; i++) {
    g_autofree char *name = g_strdup_printf("series_%u", i + 1);
    csim_gnuplot_text(out, name, (const char *)g_ptr_array_index(series, i));
  }
  return g_string_free(out, FALSE);
}

static char *data_text(const CsimReport *report, GPtrArray *series) {
  GString *out = g_string_new("# size_bytes time_us busbw_gbps series\n");
  for (guint i = 0; i < report->rows->len; i++) {
    const CsimRow *row = &g_array_index(report->rows, CsimRow, i);
    if (!row->n_channels) continue;
    g_autofree char *name = series_name(row);
    guint index = 0;
    g_ptr_array_find_with_equal_func(series, name, g_str_equal, &index);
    g_string_append_printf(out, "%" PRId64, row->size_bytes);
    csim_gnuplot_put(out, row->time_us);
    csim_gnuplot_put(out, row->busbw_gbps);
    g_string_append_printf(out, " %u\n", index + 1);
  }
  return g_string_free(out, FALSE);
}

gboolean csim_plot_write(const char *path, const CsimReport *report, GError **error) {
  g_autoptr(GPtrArray) series = list_series(report);
  if (series->len == 0) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "%s: nothing to plot; there is no row of more than 0 bytes", path);
    return FALSE;
  }
  g_autofree char *script = variables(report, series), *data = data_text(report, series);
  return csim_gnuplot_draw(path, script, csim_plot_template, data, error);
}
