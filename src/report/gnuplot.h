/*
 * report/gnuplot.h - pictures drawn by gnuplot: a script of variables, a template of plots/ behind it, and a file of data.
 *
 * Used by: plot.c (a run), packets-plot.c (ports over time), outputs-plot.c (an experiment), validate-plot.c (a set of measurements). A script is a GString to which each sets
 * its template's variables; `term_svg`, `output` and `data` are set here.
 */
#ifndef CSIM_REPORT_GNUPLOT_H
#define CSIM_REPORT_GNUPLOT_H

#include <glib.h>

/* Whether a plot can be made there at all: .svg or .png, gnuplot installed, for .png also the font (without one gnuplot draws a picture
 * with no text, and says nothing). CSIM_ERROR_VALUE or CSIM_ERROR_UNSUPPORTED. */
gboolean csim_gnuplot_check(const char *path, GError **error);

void csim_gnuplot_text(GString *script, const char *name, const char *text); /* any text: quoted; a line's end becomes a blank */
void csim_gnuplot_int(GString *script, const char *name, int value);

/* In a line of data, with a blank before it: a number ("NaN" if it is none), a text in double quotes (which it then cannot hold). */
void csim_gnuplot_put(GString *data, double value);
void csim_gnuplot_put_text(GString *data, const char *text);

/* Draws through files of its own in a temporary folder. CSIM_ERROR_IO with gnuplot's own words if it fails. */
gboolean csim_gnuplot_draw(const char *path, const char *variables, const char *template, const char *data, GError **error);

#endif
