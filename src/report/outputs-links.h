/*
 * report/outputs-links.h - the two plots of link loads.
 *
 * Used by: outputs-plot.c. rows: links.csv (exp/sweep.h), selected: the rows that count (guint), of one or several runs, over which the mean is
 * taken. Each appends its data and its template's variables, and returns the template.
 */
#ifndef CSIM_REPORT_OUTPUTS_LINKS_H
#define CSIM_REPORT_OUTPUTS_LINKS_H

#include "exp/results.h"

const char *csim_output_links_bars(const CsimTable *rows, const GArray *selected, GString *data, GString *script);
const char *csim_output_links_map(const CsimTable *rows, const GArray *selected, GString *data, GString *script);

#endif
