/* report/live.c - a live validation for people: a page in Markdown and HTML, a table for a terminal. */
#include "report/live.h"

#include "base/units.h"
#include "collsim/version.h"
#include "probe/nccl.h"
#include "report/report.h"
#include "report/validate.h"
#include <inttypes.h>
#include <string.h>

/* --- a page in either form ---------------------------------------------------------- */

typedef struct {
  GString *out;
  gboolean html;
} Page;

static void text(Page *p, const char *words) {
  g_autofree char *escaped = p->html ? g_markup_escape_text(words, -1) : g_strdup(words);
  g_string_append(p->out, escaped);
}

static void heading(Page *p, int level, const char *words) {
  if (p->html)
    g_string_append_printf(p->out, "<h%d>", level);
  else
    g_string_append_printf(p->out, "%s%.*s ", level > 1 ? "\n" : "", level, "######");
  text(p, words);
  if (p->html) g_string_append_printf(p->out, "</h%d>", level);
  g_string_append(p->out, "\n");
}

static void paragraph(Page *p, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void paragraph(Page *p, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *words = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_string_append(p->out, p->html ? "<p>" : "\n");
  text(p, words);
  g_string_append(p->out, p->html ? "</p>\n" : "\n");
}

/* cells: NULL-ended. */
static void row(Page *p, const char *const *cells, gboolean head) {
  const char *open = !p->html ? " " : head ? "<th>" : "<td>", *close = !p->html ? " |" : head ? "</th>" : "</td>";
  g_string_append(p->out, p->html ? "<tr>" : "|");
  for (int i = 0; cells[i]; i++) {
    g_string_append(p->out, open);
    text(p, cells[i]);
    g_string_append(p->out, close);
  }
  g_string_append(p->out, p->html ? "</tr>\n" : "\n");
}

static void table_begin(Page *p, const char *const *head) {
  g_string_append(p->out, p->html ? "<table>\n" : "\n");
  row(p, head, TRUE);
  if (p->html) return;
  for (int i = 0; head[i]; i++) g_string_append(p->out, "|---");
  g_string_append(p->out, "|\n");
}

static void table_end(Page *p) {
  if (p->html) g_string_append(p->out, "</table>\n");
}

/* --- sets ------------------------------------------------------------------------- */

static const CsimSetResult *set_at(const CsimValidation *v, guint i) {
  return v && i < v->sets->len ? (const CsimSetResult *)g_ptr_array_index(v->sets, i) : NULL;
}

static void add_errors(GPtrArray *cells, const CsimSetResult *r) {
  g_ptr_array_add(cells, csim_percent(r->all.median, FALSE));
  g_ptr_array_add(cells, csim_percent(r->by_class[CSIM_CLASS_L].median, FALSE));
  g_ptr_array_add(cells, csim_percent(r->all.p90, FALSE));
  g_ptr_array_add(cells, csim_percent(r->all.bias, TRUE));
}

static void set_row(Page *p, const CsimLive *live, guint i) {
  g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
  const CsimSetResult *before = set_at(live->before, i), *after = set_at(live->after, i);
  g_ptr_array_add(cells, g_strdup(csim_set_name(before)));
  g_ptr_array_add(cells, g_strdup_printf("%u", before->all.n));
  add_errors(cells, before);
  if (after) add_errors(cells, after);
  g_ptr_array_add(cells, g_strdup(csim_set_remark(before) ? csim_set_remark(before) : ""));
  g_ptr_array_add(cells, NULL);
  row(p, (const char *const *)cells->pdata, FALSE);
}

static void sets(Page *p, const CsimLive *live) {
  static const char *const plain[] = {"series", "sizes", "median", "from 16 MiB", "p90", "bias", "", NULL};
  static const char *const both[] = {"series", "sizes", "median", "from 16 MiB", "p90", "bias", "calibrated: median", "from 16 MiB",
                                     "p90", "bias", "", NULL};
  heading(p, 2, "Series");
  paragraph(p, "Errors in %%: |predicted / measured - 1| of the time of a call. Bias: predicted time above (+) or below (-) the measured.");
  table_begin(p, live->after ? both : plain);
  for (guint i = 0; i < live->before->sets->len; i++) set_row(p, live, i);
  table_end(p);
}

static void size_rows(Page *p, const CsimSetResult *r) {
  static const char *const head[] = {"size", "measured us", "predicted us", "error %", "algorithm", NULL};
  heading(p, 3, csim_set_name(r));
  table_begin(p, head);
  for (guint i = 0; i < r->rows->len; i++) {
    const CsimCompared *c = &g_array_index(r->rows, CsimCompared, i);
    g_autofree char *size = csim_size_text(c->measured.size), *error = csim_percent(c->slower, TRUE);
    g_autofree char *measured = csim_number_text(c->measured.time_us, "%.1f"), *predicted = csim_number_text(c->time_us, "%.1f");
    g_autofree char *algo = g_strdup_printf("%s/%s, %d channels", csim_algo_name(c->algo),
                                            c->algo == CSIM_ALGO_P2P ? "-" : csim_proto_name(c->proto), c->n_channels);
    row(p, (const char *const[]){size, measured, predicted, error, algo, NULL}, FALSE);
  }
  table_end(p);
}

static void sizes(Page *p, const CsimLive *live) {
  heading(p, 2, "Sizes");
  for (guint i = 0; i < live->before->sets->len; i++)
    if (set_at(live->before, i)->rows->len > 0) size_rows(p, set_at(live->before, i));
}

/* --- the rest of the page ----------------------------------------------------------- */

static void facts(Page *p, const CsimLive *live, const char *command) {
  g_autofree char *version = csim_nccl_version_text(live->facts.nccl_version);
  heading(p, 1, "Predicted and measured on live hardware");
  paragraph(p, "%s: %s, NCCL %s, CUDA driver interface %d.%d. collsim %s, constants %016" PRIx64 ". Made by: %s", live->date,
            live->target, version, live->facts.cuda_version / 1000, live->facts.cuda_version % 1000 / 10, COLLSIM_VERSION,
            live->before->catalogue_digest, command);
  paragraph(p, "Predictions were written before the first run of NCCL (predictions.csv, SHA-256 %s); %u of them differ from those compared "
               "here. Wrong elements in NCCL's results: %" G_GUINT64_FORMAT ".",
            live->predictions_digest, live->n_changed, live->wrong);
}

static void constants(Page *p, const CsimLive *live) {
  static const char *const head[] = {"constant", "shipped", "measured here", "by", NULL};
  if (live->constants->len == 0) return;
  heading(p, 2, "Calibration");
  paragraph(p, "From basic probes only, never from the collectives above.");
  table_begin(p, head);
  for (guint i = 0; i < live->constants->len; i++) {
    const CsimLiveConstant *c = (const CsimLiveConstant *)g_ptr_array_index(live->constants, i);
    row(p, (const char *const[]){c->name, c->old, c->value, c->from, NULL}, FALSE);
  }
  table_end(p);
}

static void summary(Page *p, const CsimLive *live) {
  static const char *const head[] = {"", "series", "sizes", "median of medians", "the same from 16 MiB", "9 of 10 series within", NULL};
  const CsimValidation *const list[] = {live->before, live->after};
  static const char *const names[] = {"as shipped", "calibrated"};
  table_begin(p, head);
  for (int i = 0; i < 2; i++) {
    if (!list[i]) continue;
    const CsimKindSummary *s = &list[i]->check;
    g_autofree char *n = g_strdup_printf("%u", s->n_sets), *rows = g_strdup_printf("%u", s->n_rows);
    g_autofree char *median = csim_percent(s->median_error, FALSE), *large = csim_percent(s->median_error_large, FALSE);
    g_autofree char *p90 = csim_percent(s->p90_sets, FALSE);
    row(p, (const char *const[]){names[i], n, rows, median, large, p90, NULL}, FALSE);
  }
  table_end(p);
}

static void plots(Page *p, const CsimLive *live, guint n) {
  if (n == 0) return;
  heading(p, 2, "Plots");
  for (guint i = 0; i < live->before->sets->len; i++) {
    const CsimSetResult *r = set_at(live->before, i);
    if (r->rows->len == 0) continue;
    g_autofree char *file = csim_validation_plot_name(csim_set_name(r));
    g_string_append_printf(p->out, p->html ? "<p><img src=\"plots/%s\" alt=\"%s\"></p>\n" : "![%2$s](plots/%1$s)\n", file,
                           csim_set_name(r));
  }
}

static char *page_text(const CsimLive *live, const char *command, guint n_plots, gboolean html) {
  Page p = {g_string_new(NULL), html};
  if (html)
    g_string_append(p.out, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>collsim: predicted and measured</title>\n"
                           "<style>body{font:14px sans-serif;max-width:70em;margin:2em auto}td,th{padding:.1em .6em;text-align:right;"
                           "border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}</style>\n<body>\n");
  facts(&p, live, command);
  summary(&p, live);
  sets(&p, live);
  constants(&p, live);
  plots(&p, live, n_plots);
  sizes(&p, live);
  if (html) g_string_append(p.out, "</body></html>\n");
  return g_string_free(p.out, FALSE);
}

/* Without gnuplot the page has tables only. */
gboolean csim_report_live(const CsimLive *live, const char *folder, const char *command, guint *n_plots, GError **error) {
  g_autofree char *plot_folder = g_build_filename(folder, "plots", NULL), *markdown_path = g_build_filename(folder, "report.md", NULL);
  g_autofree char *html_path = g_build_filename(folder, "report.html", NULL);
  if (!csim_report_validation_plots(live->before, plot_folder, n_plots, NULL)) *n_plots = 0;
  g_autofree char *markdown = page_text(live, command, *n_plots, FALSE), *html = page_text(live, command, *n_plots, TRUE);
  return g_file_set_contents(markdown_path, markdown, -1, error) && g_file_set_contents(html_path, html, -1, error);
}

/* --- terminal --------------------------------------------------------------------- */

void csim_report_live_text(GString *out, const CsimLive *live) {
  g_string_append_printf(out, "# %s; predictions made before: SHA-256 %.16s\n", live->target, live->predictions_digest);
  csim_report_validation(out, live->before, FALSE);
  if (!live->after) return;
  g_string_append(out, "\n# calibrated by basic probes:");
  for (guint i = 0; i < live->constants->len; i++) {
    const CsimLiveConstant *c = (const CsimLiveConstant *)g_ptr_array_index(live->constants, i);
    g_string_append_printf(out, "%s %s=%s (was %s)", i ? "," : "", c->name, c->value, c->old);
  }
  g_string_append_c(out, '\n');
  csim_report_validation(out, live->after, FALSE);
}
