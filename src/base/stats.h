/*
 * base/stats.h - medians and percentiles of a few numbers, by one rule everywhere.
 *
 * Used by: probes, results, validation, audits, reports. No number is NAN.
 */
#ifndef CSIM_BASE_STATS_H
#define CSIM_BASE_STATS_H

#include <glib.h>

void csim_sort(double *values, guint n); /* smallest first */
/* Of n sorted values; NAN of none. The median of an even number of them is the mean of the two in the middle; a percentile is the
 * smallest value that at least so many of 100 do not exceed (percent 1 to 100). */
double csim_sorted_median(const double *sorted, guint n);
double csim_sorted_percentile(const double *sorted, guint n, guint percent);
double csim_median(double *values, guint n); /* sorts them */

#endif
