/*
 * report/plot.h - busbw and time over size as a picture, drawn by gnuplot.
 *
 * Used by: cli (--plot). The template is plots/run.gp, compiled into the binary.
 */
#ifndef CSIM_REPORT_PLOT_H
#define CSIM_REPORT_PLOT_H

#include "report/report.h"

/* CSIM_ERROR_IO with gnuplot's own words if it fails; CSIM_ERROR_VALUE if there is no row of more than 0 bytes. */
gboolean csim_plot_write(const char *path, const CsimReport *report, GError **error);

#endif
