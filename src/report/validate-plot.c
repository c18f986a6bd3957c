/* report/validate-plot.c - a page a set: measured and predicted over size, the error below. */
#include "report/validate.h"

#include "report/plot.h"
#include "collsim/version.h"
#include <glib/gstdio.h>
#include <inttypes.h>
#include <string.h>

extern const char csim_validate_template[];

/* gnuplot's single-quoted text knows one escape: the doubled quote. */
static void variable(GString *out, const char *name, const char *text) {
  g_autoptr(GString) quoted = g_string_new(text);
  g_string_replace(quoted, "'", "''", 0);
  g_string_replace(quoted, "\n", " ", 0);
  g_string_append_printf(out, "%s = '%s'\n", name, quoted->str);
}

static void number(GString *out, double value) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf(out, " %s", g_ascii_formatd(text, sizeof text, "%.9g", value));
}

static char *data_text(const CsimSetResult *r) {
  GString *out = g_string_new("# size_bytes measured predicted error_percent\n");
  for (guint i = 0; i < r->rows->len; i++) {
    const CsimCompared *c = &g_array_index(r->rows, CsimCompared, i);
    g_string_append_printf(out, "%" PRId64, c->measured.size);
    number(out, r->busbw_only ? c->measured.busbw_gbps : c->measured.time_us);
    number(out, r->busbw_only ? c->busbw_gbps : c->time_us);
    number(out, 100 * c->slower);
    g_string_append_c(out, '\n');
  }
  return g_string_free(out, FALSE);
}

static char *script_text(const CsimSetResult *r, const char *path, const char *data_path, uint64_t digest) {
  GString *out = g_string_new(NULL);
  g_autofree char *median = csim_percent(r->all.median, FALSE), *p90 = csim_percent(r->all.p90, FALSE);
  g_autofree char *subheading = g_strdup_printf(
      "%s on %s; error %s %% median, %s %% p90%s", csim_coll_name(r->set->coll), r->resolved->label, median,
      p90, r->resolved->derive ? "; constants were derived from it" : "");
  g_autofree char *source =
      g_strdup_printf("collsim %s, constants %08x", COLLSIM_VERSION, (guint)(digest >> 32));
  variable(out, "output", path);
  variable(out, "data", data_path);
  variable(out, "heading", csim_set_name(r));
  variable(out, "subheading", subheading);
  variable(out, "source", source);
  variable(out, "quantity", r->busbw_only ? "bus bandwidth (GB/s)" : "time (us)");
  g_string_append_printf(out, "log_y = %d\n", !r->busbw_only);
  g_string_append(out, csim_validate_template);
  return g_string_free(out, FALSE);
}

static gboolean run_gnuplot(const char *script_path, const char *path, GError **error) {
  const char *argv[] = {"gnuplot", script_path, NULL};
  g_autofree char *words = NULL;
  int status = 0;
  if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &words, &status, error))
    return FALSE;
  if (status == 0) return TRUE;
  g_strdelimit(g_strstrip(words), "\n", ' ');
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: gnuplot failed: %s", path, words);
  return FALSE;
}

/* Names of sets are anybody's: only letters, digits and -_. become part of a file's name. */
char *csim_validation_plot_name(const char *name) {
  g_autofree char *file = g_strdup_printf("%s.svg", name);
  g_strcanon(file, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", '-');
  return g_strdup(file[0] == '.' ? file + 1 : file);
}

static char *page_path(const char *folder, const char *name) {
  g_autofree char *file = csim_validation_plot_name(name);
  return g_build_filename(folder, file, NULL);
}

static gboolean draw(const char *temporary, const char *folder, const CsimSetResult *r, uint64_t digest,
                     GError **error) {
  g_autofree char *data_path = g_build_filename(temporary, "set.dat", NULL),
                  *script_path = g_build_filename(temporary, "set.gp", NULL);
  g_autofree char *path = page_path(folder, csim_set_name(r));
  g_autofree char *data = data_text(r), *script = script_text(r, path, data_path, digest);
  gboolean drawn = g_file_set_contents(data_path, data, -1, error) &&
                   g_file_set_contents(script_path, script, -1, error) &&
                   run_gnuplot(script_path, path, error);
  g_unlink(data_path);
  g_unlink(script_path);
  return drawn;
}

gboolean csim_report_validation_plots(const CsimValidation *v, const char *folder, guint *n_pages,
                                      GError **error) {
  *n_pages = 0;
  if (!csim_plot_check("page.svg", error)) return FALSE;
  if (g_mkdir_with_parents(folder, 0777)) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: cannot be made", folder);
    return FALSE;
  }
  g_autofree char *temporary = g_dir_make_tmp("collsim-XXXXXX", error);
  if (!temporary) return FALSE;
  gboolean drawn = TRUE;
  for (guint i = 0; i < v->sets->len && drawn; i++) {
    const CsimSetResult *r = (const CsimSetResult *)g_ptr_array_index(v->sets, i);
    if (r->rows->len == 0) continue;
    drawn = draw(temporary, folder, r, v->catalogue_digest, error);
    *n_pages += drawn;
  }
  g_rmdir(temporary);
  return drawn;
}
