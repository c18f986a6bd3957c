/* nccl-tests' arithmetic: counts, size column, busbw factors; hand-calculated from nccl-tests 2.19.6's rules. */
#include "base/perf.h"

static void test_factors(void) {
  g_assert_cmpfloat(csim_busbw_factor(CSIM_COLL_ALL_REDUCE, 8), ==, 1.75);
  g_assert_cmpfloat(csim_busbw_factor(CSIM_COLL_ALL_GATHER, 8), ==, 0.875);
  g_assert_cmpfloat(csim_busbw_factor(CSIM_COLL_REDUCE_SCATTER, 8), ==, 0.875);
  g_assert_cmpfloat(csim_busbw_factor(CSIM_COLL_ALLTOALL, 8), ==, 0.875);
  g_assert_cmpfloat(csim_busbw_factor(CSIM_COLL_GATHER, 8), ==, 0.875);
  g_assert_cmpfloat(csim_busbw_factor(CSIM_COLL_SCATTER, 8), ==, 0.875);
  g_assert_cmpfloat(csim_busbw_factor(CSIM_COLL_BROADCAST, 8), ==, 1);
  g_assert_cmpfloat(csim_busbw_factor(CSIM_COLL_REDUCE, 8), ==, 1);
  g_assert_cmpfloat(csim_busbw_factor(CSIM_COLL_SENDRECV, 8), ==, 1);
  g_assert_cmpfloat(csim_busbw_factor(CSIM_COLL_HYPERCUBE, 8), ==, 1);
}

typedef struct {
  CsimColl coll;
  CsimType type;
  int n_ranks;
  CsimBytes wish, count, size, moved;
} Case;

static void test_sizes(void) {
  static const Case cases[] = {
    {CSIM_COLL_ALL_REDUCE, CSIM_TYPE_FLOAT, 8, 1 << 20, 262144, 1 << 20, 1 << 20},
    {CSIM_COLL_ALL_REDUCE, CSIM_TYPE_FLOAT, 8, 10, 2, 8, 8},
    {CSIM_COLL_BROADCAST, CSIM_TYPE_INT8, 3, 7, 7, 7, 7},
    {CSIM_COLL_SENDRECV, CSIM_TYPE_DOUBLE, 3, 64, 8, 64, 64},
    {CSIM_COLL_ALL_GATHER, CSIM_TYPE_FLOAT, 8, 1 << 20, 32768, 1 << 20, 1 << 20},
    /* 1000 B over 3 ranks: 250 floats, 83 a rank, 80 after rounding down to 16 B */
    {CSIM_COLL_REDUCE_SCATTER, CSIM_TYPE_FLOAT, 3, 1000, 80, 960, 960},
    /* less than 16 B a rank is nothing */
    {CSIM_COLL_ALL_GATHER, CSIM_TYPE_FLOAT, 8, 64, 0, 0, 0},
    {CSIM_COLL_ALLTOALL, CSIM_TYPE_HALF, 8, 4096, 256, 4096, 4096},
    /* hypercube counts the n-1 blocks that travel */
    {CSIM_COLL_HYPERCUBE, CSIM_TYPE_FLOAT, 4, 4096, 256, 4096, 3072},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    CsimPerfSize size = csim_perf_size(cases[i].coll, cases[i].type, cases[i].n_ranks, cases[i].wish);
    g_assert_cmpint(size.count, ==, cases[i].count);
    g_assert_cmpint(size.size_bytes, ==, cases[i].size);
    g_assert_cmpint(size.algbw_bytes, ==, cases[i].moved);
  }
}

static void test_columns(void) {
  g_assert_true(csim_perf_has_op(CSIM_COLL_ALL_REDUCE));
  g_assert_true(csim_perf_has_op(CSIM_COLL_REDUCE_SCATTER));
  g_assert_false(csim_perf_has_op(CSIM_COLL_ALL_GATHER));
  g_assert_true(csim_perf_has_root(CSIM_COLL_BROADCAST));
  g_assert_true(csim_perf_has_root(CSIM_COLL_GATHER));
  g_assert_false(csim_perf_has_root(CSIM_COLL_ALL_REDUCE));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/perf/factors", test_factors);
  g_test_add_func("/perf/sizes", test_sizes);
  g_test_add_func("/perf/columns", test_columns);
  return g_test_run();
}
