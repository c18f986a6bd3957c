/*
 * report/packets.h - the packet network's counters and series as text.
 *
 * Used by: json.c, explain.c, cli (--series, --series-plot).
 */
#ifndef CSIM_REPORT_PACKETS_H
#define CSIM_REPORT_PACKETS_H

#include "report/report.h"

/* `, "packets": {totals, "ports": [...], "flows": [...]}`. Names are part of the interface: additions only. */
void csim_packets_json(GString *out, const CsimPacketLog *log);
/* Totals and the worst ports, indented as the rest of the explanation. */
void csim_packets_explain(GString *out, const CsimPacketLog *log);
/* The last row's series: time_us,port,queue_bytes,rate_gbps,paused (gbps: GB/s). CSIM_ERROR_VALUE without one, CSIM_ERROR_IO. */
gboolean csim_packets_series_write(const char *path, const CsimReport *report, GError **error);
/* packets-plot.c: the same drawn, of the four worst ports that show; path as csim_gnuplot_check allows. Errors also as csim_gnuplot_draw. */
gboolean csim_packets_series_plot(const char *path, const CsimReport *report, GError **error);
/* The row whose series `path` is to hold: the last, if it moved packets; else NULL and CSIM_ERROR_VALUE. */
const CsimRow *csim_packets_series_row(const char *path, const CsimReport *report, GError **error);

#endif
