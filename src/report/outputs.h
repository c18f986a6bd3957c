/*
 * report/outputs.h - the tables and plots that an experiment asks for (exp/experiment.h, CsimOutput).
 *
 * Used by: cli (`collsim sweep`). Implemented in outputs.c (tables), outputs-plot.c (data and scripts), plots/sweep-*.gp (templates, compiled in).
 */
#ifndef CSIM_REPORT_OUTPUTS_H
#define CSIM_REPORT_OUTPUTS_H

#include "exp/results.h"

/* Every output of e, in order: tables go to `text` as Markdown and to files of their own; plots to files in folder. tables.md gets all tables.
 * links: rows of links.csv, or NULL. CSIM_ERROR_UNSUPPORTED without gnuplot, CSIM_ERROR_IO, CSIM_ERROR_VALUE for a plot with nothing in it. */
gboolean csim_outputs_write(const CsimExperiment *e, const CsimTable *rows, const CsimTable *links, const char *folder, GString *text, GError **error);

/* One plot. */
gboolean csim_output_plot(const CsimExperiment *e, const CsimOutput *o, const CsimTable *rows, const CsimTable *links, const char *folder, GError **error);

/* "time (us)" and so on; a column without a known unit is its own name. */
const char *csim_column_label(const char *column);
/* Bandwidths: more is better. */
gboolean csim_column_is_gain(const char *column);
/* Four digits: "1234", "12.34", "0.001234". Caller frees. */
char *csim_short_number(double value);

#endif
