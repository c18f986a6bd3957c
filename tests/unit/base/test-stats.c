/* Medians and percentiles. */
#include "base/stats.h"

#include <math.h>

static void test_median(void) {
  double odd[] = {5, 1, 3}, even[] = {4, 1, 2, 3}, one[] = {7};
  g_assert_cmpfloat(csim_median(odd, 3), ==, 3);
  g_assert_cmpfloat(odd[0], ==, 1);
  g_assert_cmpfloat(csim_median(even, 4), ==, 2.5);
  g_assert_cmpfloat(csim_median(one, 1), ==, 7);
  g_assert_true(isnan(csim_median(NULL, 0)));
}

/* 95 % of 20 are 19 values, of 21 they are 20. */
static void test_percentile(void) {
  double v[140];
  for (guint i = 0; i < G_N_ELEMENTS(v); i++) v[i] = i + 1;
  g_assert_cmpfloat(csim_sorted_percentile(v, 1, 95), ==, 1);
  g_assert_cmpfloat(csim_sorted_percentile(v, 20, 95), ==, 19);
  g_assert_cmpfloat(csim_sorted_percentile(v, 21, 95), ==, 20);
  g_assert_cmpfloat(csim_sorted_percentile(v, 10, 90), ==, 9);
  g_assert_cmpfloat(csim_sorted_percentile(v, 140, 95), ==, 133);
  g_assert_cmpfloat(csim_sorted_percentile(v, 140, 100), ==, 140);
  g_assert_cmpfloat(csim_sorted_percentile(v, 140, 1), ==, 2);
  g_assert_true(isnan(csim_sorted_percentile(v, 0, 50)));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/stats/median", test_median);
  g_test_add_func("/base/stats/percentile", test_percentile);
  return g_test_run();
}
