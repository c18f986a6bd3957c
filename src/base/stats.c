#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void csim_sort(double *values, guint n) {
  if (n > 0) qsort(values, n, sizeof *values, by_value);
}

double csim_sorted_median(const double *sorted, guint n) {
  return n > 0 ? (sorted[(n - 1) / 2] + sorted[n / 2]) / 2 : NAN;
}

double csim_sorted_percentile(const double *sorted, guint n, guint percent) {
  return n > 0 ? sorted[((guint64)percent * n + 99) / 100 - 1] : NAN;
}

double csim_median(double *values, guint n) {
  csim_sort(values, n);
  return csim_sorted_median(values, n);
}
