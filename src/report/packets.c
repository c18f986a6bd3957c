#include "report/packets.h"

#include "base/json-write.h"

#include <inttypes.h>

/* --- JSON ------------------------------------------------------------------------------------------------------------- */

static void json_port(GString *out, const CsimPacketPort *p) {
  const CsimPktPortStats *s = &p->stats;
  g_string_append_c(out, '{');
  csim_jsonw_member_string(out, "port", p->name);
  csim_jsonw_member_int(out, "packets", (gint64)s->tx_packets);
  csim_jsonw_member_int(out, "wire_bytes", s->tx_bytes);
  csim_jsonw_member_number(out, "busy", p->busy);
  csim_jsonw_member_int(out, "marked", (gint64)s->marked);
  csim_jsonw_member_int(out, "pauses_received", (gint64)s->pauses_received);
  csim_jsonw_member_int(out, "pauses_sent", (gint64)s->pauses_sent);
  csim_jsonw_member_number(out, "paused_us", (double)s->paused * 1e-6);
  csim_jsonw_member_int(out, "dropped", (gint64)p->arrived_dropped);
  csim_jsonw_member_int(out, "lost", (gint64)s->lost);
  csim_jsonw_member_int(out, "max_queue_bytes", s->max_queue);
  csim_jsonw_member_number(out, "mean_queue_bytes", s->mean_queue);
  csim_jsonw_member_int(out, "max_ingress_bytes", s->max_ingress);
  g_string_append_c(out, '}');
}

static double flow_gbps(const CsimPktQpStats *s) {
  return s->last_ack > s->first_post ? (double)s->acked / ((double)(s->last_ack - s->first_post) * 1e-12) * 1e-9 : 0;
}

static void json_flow(GString *out, const CsimPacketFlow *f) {
  const CsimPktQpStats *s = &f->stats;
  g_string_append_c(out, '{');
  csim_jsonw_member_string(out, "flow", f->name);
  csim_jsonw_member_int(out, "from", f->from);
  csim_jsonw_member_int(out, "to", f->to);
  csim_jsonw_member_int(out, "channel", f->channel);
  csim_jsonw_member_int(out, "messages", (gint64)s->messages);
  csim_jsonw_member_int(out, "bytes", s->acked);
  csim_jsonw_member_number(out, "gbps", flow_gbps(s));
  csim_jsonw_member_int(out, "packets", (gint64)s->packets);
  csim_jsonw_member_int(out, "resent", (gint64)s->resent);
  csim_jsonw_member_int(out, "out_of_sequence", (gint64)s->out_of_order);
  csim_jsonw_member_int(out, "ecn_marked", (gint64)s->marked);
  csim_jsonw_member_int(out, "cnp_handled", (gint64)s->cnps);
  csim_jsonw_member_int(out, "rate_cuts", (gint64)s->cuts);
  csim_jsonw_member_int(out, "packet_seq_err", (gint64)s->naks);
  csim_jsonw_member_int(out, "local_ack_timeout_err", (gint64)s->timeouts);
  g_string_append_c(out, '}');
}

static void json_totals(GString *out, const CsimPacketTotals *t) {
  csim_jsonw_member_int(out, "hops", (gint64)t->hops);
  csim_jsonw_member_int(out, "sent", (gint64)t->packets);
  csim_jsonw_member_int(out, "resent", (gint64)t->resent);
  csim_jsonw_member_int(out, "marked", (gint64)t->marked);
  csim_jsonw_member_int(out, "cnps", (gint64)t->cnps);
  csim_jsonw_member_int(out, "pauses", (gint64)t->pauses);
  csim_jsonw_member_number(out, "paused_us", (double)t->paused * 1e-6);
  csim_jsonw_member_int(out, "dropped", (gint64)t->dropped);
  csim_jsonw_member_int(out, "lost", (gint64)t->lost);
  csim_jsonw_member_int(out, "storms", (gint64)t->storms);
  csim_jsonw_member_int(out, "naks", (gint64)t->naks);
  csim_jsonw_member_int(out, "timeouts", (gint64)t->timeouts);
  csim_jsonw_member_int(out, "out_of_order", (gint64)t->out_of_order);
}

void csim_packets_json(GString *out, const CsimPacketLog *log) {
  csim_jsonw_key(out, "packets");
  g_string_append_c(out, '{');
  json_totals(out, &log->totals);
  csim_jsonw_key(out, "ports");
  g_string_append_c(out, '[');
  for (guint i = 0; i < log->ports->len; i++) {
    g_string_append(out, i ? ",\n       " : "\n       ");
    json_port(out, &g_array_index(log->ports, CsimPacketPort, i));
  }
  g_string_append_c(out, ']');
  csim_jsonw_key(out, "flows");
  g_string_append_c(out, '[');
  for (guint i = 0; i < log->flows->len; i++) {
    g_string_append(out, i ? ",\n       " : "\n       ");
    json_flow(out, &g_array_index(log->flows, CsimPacketFlow, i));
  }
  g_string_append(out, "]}");
}

/* --- explanation -------------------------------------------------------------------------------------------------------- */

#define WORST 4

static void explain_port(GString *out, const CsimPacketPort *p, CsimTime duration) {
  const CsimPktPortStats *s = &p->stats;
  g_string_append_printf(out, "    %-24s %5.1f %% busy, queue %.1f KiB at most (%.1f mean)", p->name, 100 * p->busy, (double)s->max_queue / 1024,
                         s->mean_queue / 1024);
  if (s->paused > 0) g_string_append_printf(out, ", paused %.1f %% of the time", 100 * (double)s->paused / (double)MAX(duration, 1));
  if (s->marked) g_string_append_printf(out, ", %" PRIu64 " marked", s->marked);
  if (p->arrived_dropped) g_string_append_printf(out, ", %" PRIu64 " dropped", p->arrived_dropped);
  if (s->lost) g_string_append_printf(out, ", %" PRIu64 " lost", s->lost);
  g_string_append_c(out, '\n');
}

void csim_packets_explain(GString *out, const CsimPacketLog *log) {
  const CsimPacketTotals *t = &log->totals;
  g_string_append_printf(out, "  packets: %" PRIu64 " sent, %" PRIu64 " again; %" PRIu64 " marked, %" PRIu64 " CNPs; %" PRIu64 " pauses (%.1f us in all); %" PRIu64
                              " dropped, %" PRIu64 " lost; %" PRIu64 " NAKs, %" PRIu64 " time-outs\n",
                         t->packets, t->resent, t->marked, t->cnps, t->pauses, (double)t->paused * 1e-6, t->dropped, t->lost, t->naks, t->timeouts);
  g_string_append(out, "  worst ports (drops, then pauses, then queue):\n");
  for (guint i = 0; i < MIN(log->ports->len, WORST); i++) explain_port(out, &g_array_index(log->ports, CsimPacketPort, i), log->duration);
}

/* --- series -------------------------------------------------------------------------------------------------------------- */

static void series_rows(GString *out, const CsimPacketLog *log, const CsimPacketSeries *series) {
  const char *name = g_array_index(log->ports, CsimPacketPort, series->port).name;
  for (guint k = 0; k < log->n_samples; k++) {
    const CsimPacketSample *s = &series->samples[k];
    char time[G_ASCII_DTOSTR_BUF_SIZE], rate[G_ASCII_DTOSTR_BUF_SIZE], paused[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(time, sizeof time, "%.9g", (double)(log->step * (k + 1)) * 1e-6);
    g_ascii_formatd(rate, sizeof rate, "%.6g", (double)s->rate * 1e-9);
    g_ascii_formatd(paused, sizeof paused, "%.4g", (double)s->paused);
    g_string_append_printf(out, "%s,%s,%" PRId64 ",%s,%s\n", time, name, (gint64)s->queue, rate, paused);
  }
}

const CsimRow *csim_packets_series_row(const char *path, const CsimReport *report, GError **error) {
  const CsimRow *row = report->rows->len ? &g_array_index(report->rows, CsimRow, report->rows->len - 1) : NULL;
  if (row && row->packets && row->packets->series->len > 0) return row;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "%s: no series; there is no row that moved packets", path);
  return NULL;
}

gboolean csim_packets_series_write(const char *path, const CsimReport *report, GError **error) {
  const CsimRow *row = csim_packets_series_row(path, report, error);
  if (!row) return FALSE;
  g_autoptr(GString) out = g_string_new("time_us,port,queue_bytes,rate_gbps,paused\n");
  const CsimPacketLog *log = row->packets;
  for (guint i = 0; i < log->series->len; i++) series_rows(out, log, &g_array_index(log->series, CsimPacketSeries, i));
  return g_file_set_contents(path, out->str, (gssize)out->len, error);
}
