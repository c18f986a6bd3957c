/*
 * base/csv.h - cells of comma-separated lines (RFC 4180).
 *
 * Used by: whatever writes a table for spreadsheets, and what reads one back.
 */
#ifndef CSIM_BASE_CSV_H
#define CSIM_BASE_CSV_H

#include <glib.h>

/* Appends `text` as one cell: as it is, or in quotes if it holds a comma, a quote or the end of a line. */
void csim_csv_append_cell(GString *out, const char *text);

/* The cell at *at, which is left at what ended it: a comma, a line's end, the text's end. NULL: a quote that never closes, or text behind
 * one. Caller frees. */
char *csim_csv_read_cell(const char **at);
/* The cells of one line, NULL-ended; NULL as above. Free with g_strfreev. */
char **csim_csv_split(const char *line);

#endif
