/* report/packets-plot.c - what the worst ports of a packet network did over time, as a picture. */
#include "report/packets.h"

#include "base/units.h"
#include "report/gnuplot.h"
#include "collsim/version.h"

#include <inttypes.h>

extern const char csim_packet_series_template[];

#define PORTS 4 /* more lines are a tangle */
#define POINTS 64 /* of a line, at most */
#define VISIBLE 0.01 /* share of a panel's height */

static CsimPacketSample peak_of(const CsimPacketLog *log, const CsimPacketSeries *series) {
  CsimPacketSample most = {0};
  for (guint k = 0; k < log->n_samples; k++) {
    const CsimPacketSample *s = &series->samples[k];
    most = (CsimPacketSample){MAX(most.queue, s->queue), MAX(most.rate, s->rate), MAX(most.paused, s->paused)};
  }
  return most;
}

/* The first ones, the worst, without those that would lie on the bottom of every panel; CsimPacketSeries*, borrowed. */
static GPtrArray *choose(const CsimPacketLog *log) {
  GPtrArray *chosen = g_ptr_array_new();
  CsimPacketSample most = {0};
  for (guint i = 0; i < log->series->len; i++) {
    CsimPacketSample p = peak_of(log, &g_array_index(log->series, CsimPacketSeries, i));
    most = (CsimPacketSample){MAX(most.queue, p.queue), MAX(most.rate, p.rate), MAX(most.paused, p.paused)};
  }
  for (guint i = 0; i < log->series->len && chosen->len < PORTS; i++) {
    CsimPacketSeries *series = &g_array_index(log->series, CsimPacketSeries, i);
    CsimPacketSample p = peak_of(log, series);
    if (p.queue > VISIBLE * most.queue || p.rate > VISIBLE * most.rate || p.paused > VISIBLE) g_ptr_array_add(chosen, series);
  }
  return chosen;
}

/* Samples that one point of the picture stands for: what goes up and down within a line's width is a block of colour. */
static guint samples_a_point(const CsimPacketLog *log) { return MAX(1, (log->n_samples + POINTS - 1) / POINTS); }

/* The largest queue, the mean rate and share. */
static CsimPacketSample merge(const CsimPacketSample *samples, guint n) {
  CsimPacketSample all = {0};
  for (guint k = 0; k < n; k++) {
    all.queue = MAX(all.queue, samples[k].queue);
    all.rate += samples[k].rate / (float)n;
    all.paused += samples[k].paused / (float)n;
  }
  return all;
}

static void append_port(GString *out, const CsimPacketLog *log, const CsimPacketSeries *series) {
  guint every = samples_a_point(log);
  for (guint k = 0; k < log->n_samples; k += every) {
    guint n = MIN(every, log->n_samples - k);
    CsimPacketSample s = merge(series->samples + k, n);
    csim_gnuplot_put(out, (double)(log->step * (k + n)) * 1e-6);
    csim_gnuplot_put(out, (double)s.queue / 1024);
    csim_gnuplot_put(out, (double)s.rate * 1e-9);
    csim_gnuplot_put(out, (double)s.paused);
    g_string_append_c(out, '\n');
  }
  g_string_append(out, "\n\n");
}

static char *data_text(const CsimPacketLog *log, const GPtrArray *ports) {
  GString *out = g_string_new("# time_us queue_kib rate_gbps paused\n");
  for (guint i = 0; i < ports->len; i++) append_port(out, log, (const CsimPacketSeries *)g_ptr_array_index(ports, i));
  return g_string_free(out, FALSE);
}

static void append_texts(GString *out, const CsimReport *report, const CsimRow *row, const GPtrArray *ports) {
  const CsimRunInfo *info = report->info;
  g_autofree char *size = csim_size_text(row->size_bytes);
  char step[CSIM_UNIT_BUF];
  g_autofree char *heading = g_strdup_printf("%s of %s on %s", csim_coll_name(report->spec->coll), size,
                                             *info->target == '{' ? "a described cluster" : info->target);
  g_autofree char *subheading = g_strdup_printf("%d ranks, %s / %s: the most troubled %u of %u ports; a point is %s (of a queue the most)", info->n_ranks,
                                                csim_row_algo(row), csim_row_proto(row), ports->len, row->packets->ports->len,
                                                csim_time_format(row->packets->step * samples_a_point(row->packets), step));
  g_autofree char *source = g_strdup_printf("collsim %s, fidelity %s, seed %" PRIu64 ", constants %08x", COLLSIM_VERSION, csim_fidelity_name(info->fidelity),
                                            info->seed, (guint)(info->catalogue_digest >> 32));
  csim_gnuplot_text(out, "heading", heading);
  csim_gnuplot_text(out, "subheading", subheading);
  csim_gnuplot_text(out, "source", source);
}

static char *variables(const CsimReport *report, const CsimRow *row, const GPtrArray *ports) {
  GString *out = g_string_new(NULL);
  const CsimPacketLog *log = row->packets;
  append_texts(out, report, row, ports);
  csim_gnuplot_int(out, "n_ports", (int)ports->len);
  csim_gnuplot_int(out, "n_samples", (int)(log->n_samples / samples_a_point(log)));
  csim_gnuplot_int(out, "paused", log->totals.paused > 0);
  for (guint i = 0; i < ports->len; i++) {
    const CsimPacketSeries *series = (const CsimPacketSeries *)g_ptr_array_index(ports, i);
    g_autofree char *name = g_strdup_printf("port_%u", i + 1);
    csim_gnuplot_text(out, name, g_array_index(log->ports, CsimPacketPort, series->port).name);
  }
  return g_string_free(out, FALSE);
}

gboolean csim_packets_series_plot(const char *path, const CsimReport *report, GError **error) {
  const CsimRow *row = csim_packets_series_row(path, report, error);
  if (!row) return FALSE;
  g_autoptr(GPtrArray) ports = choose(row->packets);
  g_autofree char *script = variables(report, row, ports), *data = data_text(row->packets, ports);
  return csim_gnuplot_draw(path, script, csim_packet_series_template, data, error);
}
