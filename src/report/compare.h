/*
 * report/compare.h - a comparison of two result files as text and JSON.
 *
 * Used by: cli (`collsim compare`).
 */
#ifndef CSIM_REPORT_COMPARE_H
#define CSIM_REPORT_COMPARE_H

#include "exp/compare.h"

/* A line a row: both times, their ratio, both bandwidths, and choice and bottleneck where they changed. Then a summary. */
void csim_report_comparison(GString *out, const CsimComparison *c, const char *name_a, const char *name_b);
/* {"a", "b", "rows": [{"row", "time_us_a", "time_us_b", "ratio", "busbw_gbps_a", ..., "choice_a", ..., "bottleneck_a", ...}], "only_a", "only_b"} */
void csim_report_comparison_json(GString *out, const CsimComparison *c, const char *name_a, const char *name_b);

#endif
