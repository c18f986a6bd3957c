/* Where the time of the slowest rank went, row by row. */
#include "report/report.h"

#include "base/units.h"
#include "exp/bottleneck.h"
#include "report/packets.h"

#include <math.h>

#define BAR 30 /* characters for 100 % */

static void append_stage(GString *out, const CsimStage *stage, double share, gboolean with_meaning) {
  char bar[BAR + 1] = "";
  int filled = CLAMP((int)lround(share * BAR), 0, BAR);
  for (int i = 0; i < BAR; i++) bar[i] = i < filled ? '#' : '.';
  g_string_append_printf(out, "  %-15s %5.1f %%  %s%s%s\n", stage->name, share * 100, bar, with_meaning ? "  " : "", with_meaning ? stage->meaning : "");
}

static void append_link(GString *out, const CsimRowLink *l) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double bytes = l->bytes;
  guint unit = 0;
  for (; bytes >= 1024 && unit + 1 < G_N_ELEMENTS(units); unit++) bytes /= 1024;
  g_string_append_printf(out, "    %-24s %5.1f %% of %7.2f GB/s; %6.1f %s a call", l->name, 100 * l->use, (double)l->capacity * 1e-9, bytes, units[unit]);
  if (l->peak == 0) { /* NVLS: no flows, so no times */
    g_string_append(out, "\n");
    return;
  }
  g_string_append_printf(out, ", traffic %5.1f %%, full %5.1f %% of the time, at most %u at once\n", 100 * l->busy, 100 * l->saturated, l->peak);
}

/* Links alike (rings load all of a node's ports alike) come in the machine's order. */
static void append_links(GString *out, const GArray *links) {
  if (links->len) g_string_append(out, "  most used links:\n");
  for (guint i = 0; i < links->len; i++) append_link(out, &g_array_index(links, CsimRowLink, i));
}

/* with_meanings: say what each stage is. Once is enough. */
static void append_row(GString *out, const CsimReport *report, const CsimRow *r, gboolean with_meanings) {
  g_autofree char *size = csim_size_text(r->size_bytes);
  g_string_append_printf(out, "\n%s of %s on %d ranks: %.2f us", csim_coll_name(r->coll), size, report->info->n_ranks, r->time_us);
  if (!r->n_channels) {
    g_string_append(out, "; nothing to move\n");
    return;
  }
  g_string_append_printf(out, " with %s/%s, %d channels of %d threads\n", csim_row_algo(r), csim_row_proto(r), r->n_channels, r->choice.n_threads);
  if (report->info->fidelity == CSIM_FIDELITY_MODEL) {
    g_string_append(out, "  NCCL's own prediction; --fidelity flow shows where the time goes\n");
    return;
  }
  guint n;
  const CsimStage *stages = csim_stages(&n);
  for (guint i = 0; i < n; i++) append_stage(out, &stages[i], csim_stage_share(&stages[i], &r->where), with_meanings);
  if (r->packets) csim_packets_explain(out, r->packets);
  if (r->busiest[0])
    g_string_append_printf(out, "  %s link: %s, saturated %.1f %% of the time\n", csim_link_binds(r) ? "binding" : "busiest", r->busiest,
                           r->where.busiest_share * 100);
  if (r->links) append_links(out, r->links);
}

void csim_report_explain(GString *out, const CsimReport *report) {
  for (guint i = 0; i < report->rows->len; i++) append_row(out, report, &g_array_index(report->rows, CsimRow, i), i == 0);
}
