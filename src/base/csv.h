/*
 * base/csv.h - one cell of a comma-separated line (RFC 4180).
 */
#ifndef CSIM_BASE_CSV_H
#define CSIM_BASE_CSV_H

#include <glib.h>

/* Appends `text` as one cell: as it is, or in quotes if it holds a comma, a quote or the end of a line. */
void csim_csv_append_cell(GString *out, const char *text);

#endif
