#include "report/plot.h"

#include "collsim/version.h"

#include <glib/gstdio.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

extern const char csim_plot_template[];

#define FONT "DejaVu Sans"

static gboolean is_svg(const char *path) { return g_str_has_suffix(path, ".svg"); }

static gboolean font_present(void) {
  g_autofree char *answer = NULL;
  const char *argv[] = {"fc-match", FONT, NULL};
  gboolean ran = g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &answer, NULL, NULL, NULL);
  return ran && strstr(answer, "DejaVu");
}

gboolean csim_plot_check(const char *path, GError **error) {
  if (!is_svg(path) && !g_str_has_suffix(path, ".png")) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "%s: plots are .svg or .png", path);
    return FALSE;
  }
  g_autofree char *gnuplot = g_find_program_in_path("gnuplot");
  if (!gnuplot) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "--plot needs gnuplot, which is not installed (Debian: gnuplot-nox)");
    return FALSE;
  }
  if (!is_svg(path) && !font_present()) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "a PNG needs the font " FONT " (Debian: fontconfig fonts-dejavu-core); an SVG does not");
    return FALSE;
  }
  return TRUE;
}

/* gnuplot's single-quoted text knows one escape: the doubled quote. */
static void append_variable(GString *out, const char *name, const char *text) {
  g_autoptr(GString) quoted = g_string_new(text);
  g_string_replace(quoted, "'", "''", 0);
  g_string_replace(quoted, "\n", " ", 0);
  g_string_append_printf(out, "%s = '%s'\n", name, quoted->str);
}

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
  append_variable(out, "heading", heading);
  append_variable(out, "subheading", subheading);
  append_variable(out, "source", source);
}

char *csim_plot_script(const char *path, const char *data_path, const CsimReport *report) {
  GString *out = g_string_new(NULL);
  g_autoptr(GPtrArray) series = list_series(report);
  g_string_append_printf(out, "term_svg = %d\nn_series = %u\n", is_svg(path), series->len);
  append_variable(out, "output", path);
  append_variable(out, "data", data_path);
  append_texts(out, report);
  for (guint i = 0; i < series->len; i++) {
    g_autofree char *name = g_strdup_printf("series_%u", i + 1);
    append_variable(out, name, g_ptr_array_index(series, i));
  }
  g_string_append(out, csim_plot_template);
  return g_string_free(out, FALSE);
}

static char *data_text(const CsimReport *report) {
  g_autoptr(GPtrArray) series = list_series(report);
  GString *out = g_string_new("# size_bytes time_us busbw_gbps series\n");
  for (guint i = 0; i < report->rows->len; i++) {
    const CsimRow *row = &g_array_index(report->rows, CsimRow, i);
    if (!row->n_channels) continue;
    g_autofree char *name = series_name(row);
    guint index = 0;
    g_ptr_array_find_with_equal_func(series, name, g_str_equal, &index);
    char time[G_ASCII_DTOSTR_BUF_SIZE], busbw[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_printf(out, "%" PRId64 " %s %s %u\n", row->size_bytes, g_ascii_formatd(time, sizeof time, "%.9g", row->time_us),
                           g_ascii_formatd(busbw, sizeof busbw, "%.9g", row->busbw_gbps), index + 1);
  }
  return g_string_free(out, FALSE);
}

static gboolean run_gnuplot(const char *script_path, const char *path, GError **error) {
  const char *argv[] = {"gnuplot", script_path, NULL};
  g_autofree char *words = NULL;
  int status = 0;
  if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &words, &status, error)) return FALSE;
  if (status == 0) return TRUE;
  g_strdelimit(g_strstrip(words), "\n", ' ');
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: gnuplot failed: %s", path, words);
  return FALSE;
}

static gboolean draw(const char *folder, const char *path, const CsimReport *report, GError **error) {
  g_autofree char *data_path = g_build_filename(folder, "run.dat", NULL);
  g_autofree char *script_path = g_build_filename(folder, "run.gp", NULL);
  g_autofree char *data = data_text(report);
  g_autofree char *script = csim_plot_script(path, data_path, report);
  gboolean drawn = g_file_set_contents(data_path, data, -1, error) && g_file_set_contents(script_path, script, -1, error) &&
                   run_gnuplot(script_path, path, error);
  g_unlink(data_path);
  g_unlink(script_path);
  return drawn;
}

gboolean csim_plot_write(const char *path, const CsimReport *report, GError **error) {
  g_autoptr(GPtrArray) series = list_series(report);
  if (series->len == 0) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "%s: nothing to plot; there is no row of more than 0 bytes", path);
    return FALSE;
  }
  g_autofree char *folder = g_dir_make_tmp("collsim-XXXXXX", error);
  if (!folder) return FALSE;
  gboolean drawn = draw(folder, path, report, error);
  g_rmdir(folder);
  return drawn;
}
