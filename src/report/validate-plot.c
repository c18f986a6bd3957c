/* report/validate-plot.c - a page a set: measured and predicted over size, the error below. */
#include "report/validate.h"

#include "report/gnuplot.h"
#include "collsim/version.h"
#include <inttypes.h>
#include <string.h>

extern const char csim_validate_template[];

static char *data_text(const CsimSetResult *r) {
  GString *out = g_string_new("# size_bytes measured predicted error_percent\n");
  for (guint i = 0; i < r->rows->len; i++) {
    const CsimCompared *c = &g_array_index(r->rows, CsimCompared, i);
    g_string_append_printf(out, "%" PRId64, c->measured.size);
    csim_gnuplot_put(out, r->busbw_only ? c->measured.busbw_gbps : c->measured.time_us);
    csim_gnuplot_put(out, r->busbw_only ? c->busbw_gbps : c->time_us);
    csim_gnuplot_put(out, 100 * c->slower);
    g_string_append_c(out, '\n');
  }
  return g_string_free(out, FALSE);
}

static char *variables(const CsimSetResult *r, uint64_t digest) {
  GString *out = g_string_new(NULL);
  g_autofree char *median = csim_percent(r->all.median, FALSE), *p90 = csim_percent(r->all.p90, FALSE);
  g_autofree char *subheading = g_strdup_printf(
      "%s on %s; error %s %% median, %s %% p90%s", csim_coll_name(r->set->coll), r->resolved->label, median,
      p90, r->resolved->derive ? "; constants were derived from it" : "");
  g_autofree char *source =
      g_strdup_printf("collsim %s, constants %08x", COLLSIM_VERSION, (guint)(digest >> 32));
  csim_gnuplot_text(out, "heading", csim_set_name(r));
  csim_gnuplot_text(out, "subheading", subheading);
  csim_gnuplot_text(out, "source", source);
  csim_gnuplot_text(out, "quantity", r->busbw_only ? "bus bandwidth (GB/s)" : "time (us)");
  csim_gnuplot_int(out, "log_y", !r->busbw_only);
  return g_string_free(out, FALSE);
}

/* Names of sets are anybody's: only letters, digits and -_. become part of a file's name. */
static char *file_name(const char *name, const char *ending) {
  g_autofree char *file = g_strconcat(name, ending, NULL);
  g_strcanon(file, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", '-');
  return g_strdup(file[0] == '.' ? file + 1 : file);
}

char *csim_validation_plot_name(const char *name) { return file_name(name, ".svg"); }

static gboolean draw(const char *folder, const CsimSetResult *r, uint64_t digest, const char *ending, GError **error) {
  g_autofree char *file = file_name(csim_set_name(r), ending), *path = g_build_filename(folder, file, NULL);
  g_autofree char *data = data_text(r), *script = variables(r, digest);
  return csim_gnuplot_draw(path, script, csim_validate_template, data, error);
}

gboolean csim_report_validation_plots(const CsimValidation *v, const char *folder, guint *n_pages,
                                      GError **error) {
  *n_pages = 0;
  if (!csim_gnuplot_check("page.svg", error)) return FALSE;
  if (g_mkdir_with_parents(folder, 0777)) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: cannot be made", folder);
    return FALSE;
  }
  gboolean drawn = TRUE, png = csim_gnuplot_check("page.png", NULL);
  for (guint i = 0; i < v->sets->len && drawn; i++) {
    const CsimSetResult *r = (const CsimSetResult *)g_ptr_array_index(v->sets, i);
    if (r->rows->len == 0) continue;
    drawn = draw(folder, r, v->catalogue_digest, ".svg", error) && (!png || draw(folder, r, v->catalogue_digest, ".png", error));
    *n_pages += drawn;
  }
  return drawn;
}
