/* Where the time of the slowest rank went, row by row. */
#include "report/report.h"

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

/* with_meanings: say what each stage is. Once is enough. */
static void append_row(GString *out, const CsimReport *report, const CsimRow *r, gboolean with_meanings) {
  g_autofree char *size = csim_report_size(r->size_bytes);
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
}

void csim_report_explain(GString *out, const CsimReport *report) {
  for (guint i = 0; i < report->rows->len; i++) append_row(out, report, &g_array_index(report->rows, CsimRow, i), i == 0);
}
