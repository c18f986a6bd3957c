/*
 * report/report.h - result rows in, text out: table, CSV, JSON, explanation.
 *
 * Used by: cli, lib. A form is what it writes before the rows, for each row as it is ready,
 * and after the last. Everything is appended to a GString; nothing here prints.
 */
#ifndef CSIM_REPORT_REPORT_H
#define CSIM_REPORT_REPORT_H

#include "exp/run.h"

typedef struct {
  const CsimRunInfo *info;
  const CsimRunSpec *spec;
  const char *command; /* the command line that makes this again */
  GArray *rows;        /* CsimRow, those that are ready */
  gboolean complete;   /* FALSE: interrupted, rows are missing */
} CsimReport;

typedef struct {
  void (*begin)(GString *out, const CsimReport *report);
  void (*row)(GString *out, const CsimReport *report, const CsimRow *row);
  void (*end)(GString *out, const CsimReport *report);
} CsimReportFormat; /* each function may be NULL: writes nothing then */

extern const CsimReportFormat csim_report_table, csim_report_csv, csim_report_json;

/* Share of time by stage and the binding link of each row, as text. */
void csim_report_explain(GString *out, const CsimReport *report);

#endif
