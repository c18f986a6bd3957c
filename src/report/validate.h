/*
 * report/validate.h - a validation as text, JSON, CSV, Markdown and plots.
 *
 * Used by: `collsim validate`. Everything but the plots is appended to a GString; nothing here prints.
 */
#ifndef CSIM_REPORT_VALIDATE_H
#define CSIM_REPORT_VALIDATE_H

#include "exp/validate.h"

/* A line a set, what was left out and why, the summary. verbose: every size too. */
void csim_report_validation(GString *out, const CsimValidation *validation, gboolean verbose);
/* {"sets": [...], "summary": {...}}; verbose: each set with its "sizes". */
void csim_report_validation_json(GString *out, const CsimValidation *validation, gboolean verbose);
/* A line a size of every set that was run, with what was measured and predicted. */
void csim_report_validation_csv(GString *out, const CsimValidation *validation);
/* docs/accuracy.md. date: "2026-11-30"; command: what makes the page again. */
void csim_report_validation_markdown(GString *out, const CsimValidation *validation, const char *date,
                                     const char *command);

/* A page a set into folder/NAME.svg (made if it is missing), drawn by gnuplot, and NAME.png where its font is; *n_pages is how many. */
gboolean csim_report_validation_plots(const CsimValidation *validation, const char *folder, guint *n_pages,
                                      GError **error);

/* The file of a set's page in that folder. Caller frees. */
char *csim_validation_plot_name(const char *set_name);

/* "all_reduce", "8.3 %", "-" for NAN: pieces that the forms share. Callers free. */
const char *csim_set_name(const CsimSetResult *result);
char *csim_percent(double fraction, gboolean sign);
/* What stands beside a set's row: its skip reason, its note, or NULL. */
const char *csim_set_remark(const CsimSetResult *result);

#endif
