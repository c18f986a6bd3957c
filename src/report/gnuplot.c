#include "report/gnuplot.h"

#include "collsim/error.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define FONT "DejaVu Sans"

static gboolean is_svg(const char *path) { return g_str_has_suffix(path, ".svg"); }

static gboolean font_present(void) {
  g_autofree char *answer = NULL;
  const char *argv[] = {"fc-match", FONT, NULL};
  gboolean ran = g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &answer, NULL, NULL, NULL);
  return ran && strstr(answer, "DejaVu");
}

gboolean csim_gnuplot_check(const char *path, GError **error) {
  if (!is_svg(path) && !g_str_has_suffix(path, ".png")) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "%s: plots are .svg or .png", path);
    return FALSE;
  }
  g_autofree char *gnuplot = g_find_program_in_path("gnuplot");
  if (!gnuplot) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "a plot needs gnuplot, which is not installed (Debian: gnuplot-nox)");
    return FALSE;
  }
  if (!is_svg(path) && !font_present()) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "a PNG needs the font " FONT " (Debian: fontconfig fonts-dejavu-core); an SVG does not");
    return FALSE;
  }
  return TRUE;
}

/* gnuplot's single-quoted text knows one escape: the doubled quote. */
void csim_gnuplot_text(GString *script, const char *name, const char *text) {
  g_autoptr(GString) quoted = g_string_new(text);
  g_string_replace(quoted, "'", "''", 0);
  g_string_replace(quoted, "\n", " ", 0);
  g_string_append_printf(script, "%s = '%s'\n", name, quoted->str);
}

void csim_gnuplot_int(GString *script, const char *name, int value) { g_string_append_printf(script, "%s = %d\n", name, value); }

void csim_gnuplot_put(GString *data, double value) {
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf(data, " %s", isnan(value) ? "NaN" : g_ascii_formatd(digits, sizeof digits, "%.9g", value));
}

void csim_gnuplot_put_text(GString *data, const char *text) {
  g_autofree char *plain = g_strdelimit(g_strdup(text), "\"\n\\", ' ');
  g_string_append_printf(data, " \"%s\"", plain);
}

static gboolean run(const char *script_path, const char *path, GError **error) {
  const char *argv[] = {"gnuplot", script_path, NULL};
  g_autofree char *words = NULL;
  int status = 0;
  if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &words, &status, error)) return FALSE;
  if (status == 0) return TRUE; /* it warns of axes that hold one value only, and draws them */
  g_strdelimit(g_strstrip(words), "\n", ' ');
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: gnuplot failed: %s", path, words);
  return FALSE;
}

gboolean csim_gnuplot_draw(const char *path, const char *variables, const char *template, const char *data, GError **error) {
  g_autofree char *folder = g_dir_make_tmp("collsim-XXXXXX", error);
  if (!folder) return FALSE;
  g_autofree char *data_path = g_build_filename(folder, "plot.dat", NULL), *script_path = g_build_filename(folder, "plot.gp", NULL);
  g_autoptr(GString) script = g_string_new(variables);
  csim_gnuplot_int(script, "term_svg", is_svg(path));
  csim_gnuplot_text(script, "output", path);
  csim_gnuplot_text(script, "data", data_path);
  g_string_append(script, template);
  gboolean drawn = g_file_set_contents(data_path, data, -1, error) && g_file_set_contents(script_path, script->str, -1, error) &&
                   run(script_path, path, error);
  g_unlink(data_path);
  g_unlink(script_path);
  g_rmdir(folder);
  return drawn;
}
