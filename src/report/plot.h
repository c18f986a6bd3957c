/*
 * report/plot.h - busbw and time over size as a picture, drawn by gnuplot.
 *
 * Used by: cli (--plot). The template is plots/run.gp, compiled into the binary.
 */
#ifndef CSIM_REPORT_PLOT_H
#define CSIM_REPORT_PLOT_H

#include "report/report.h"

/* Whether a plot can be made there at all: .svg or .png, gnuplot installed, for .png also the font (without one gnuplot draws a picture
 * with no text, and says nothing). CSIM_ERROR_VALUE or CSIM_ERROR_UNSUPPORTED. */
gboolean csim_plot_check(const char *path, GError **error);
/* CSIM_ERROR_IO with gnuplot's own words if it fails; CSIM_ERROR_VALUE if there is no row of more than 0 bytes. */
gboolean csim_plot_write(const char *path, const CsimReport *report, GError **error);

/* The complete gnuplot script, for tests: variables, then the template. */
char *csim_plot_script(const char *path, const char *data_path, const CsimReport *report);

#endif
