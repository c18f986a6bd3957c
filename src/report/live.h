/*
 * report/live.h - a live validation as a page: what ran where, what was predicted before, what came out.
 *
 * Used by: `collsim validate --live`.
 */
#ifndef CSIM_REPORT_LIVE_H
#define CSIM_REPORT_LIVE_H

#include "exp/live.h"

/* folder/report.md and folder/report.html, with plots in folder/plots where gnuplot is there (*plots: how many). nccl: NCCL's version
 * as text; command: what made it. FALSE: a file cannot be written. */
gboolean csim_report_live(const CsimLive *live, const char *folder, const char *command, guint *plots, GError **error);
/* The table of sets for a terminal: errors before and, with calibration, after. */
void csim_report_live_text(GString *out, const CsimLive *live);

#endif
