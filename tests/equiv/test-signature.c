/*
 * Lanes with equal signatures have equal streams of primitives, offsets aside.
 */
#include "../unit/algos/toy.h"

static gboolean same_streams(const CsimPlan *plan, CsimLane a, CsimLane b) {
  CsimPlanCursor at_a, at_b;
  CsimPrim p, q;
  csim_plan_start(plan, a, &at_a);
  csim_plan_start(plan, b, &at_b);
  for (;;) {
    gboolean more_a = csim_plan_next(plan, &at_a, &p), more_b = csim_plan_next(plan, &at_b, &q);
    if (!more_a || !more_b) return more_a == more_b;
    if (p.flags != q.flags || p.more != q.more || p.recv_peer != q.recv_peer || p.send_peer != q.send_peer || p.bytes != q.bytes) return FALSE;
  }
}

/* Compares every lane with those of rank 0; returns how many were told to be like one of them. */
static guint check_plan(const CsimPlan *plan) {
  const CsimPlanSpec *spec = csim_plan_spec(plan);
  guint alike = 0;
  for (int c = 0; c < spec->n_channels; c++)
    for (int r = 1; r < spec->shape->n_ranks; r++)
      for (int i = 0; i < csim_plan_lanes(plan, r, c); i++)
        for (int k = 0; k < csim_plan_lanes(plan, 0, c); k++) {
          CsimLane a = {r, c, i}, b = {0, c, k};
          if (csim_plan_signature(plan, a) != csim_plan_signature(plan, b)) continue;
          g_assert_true(same_streams(plan, a, b));
          alike++;
        }
  return alike;
}

static guint check(CsimColl coll, CsimAlgo algo, int n, CsimBytes bytes, CsimBytes chunk) {
  g_autoptr(Toy) toy = toy_new_even(n, 4, 2);
  g_autoptr(CsimPlan) plan = toy_plan(toy, coll, algo, 0, bytes, 16, chunk);
  return check_plan(plan);
}

static void test_equal(void) {
  static const CsimColl rings[] = {CSIM_COLL_ALL_REDUCE, CSIM_COLL_ALL_GATHER, CSIM_COLL_REDUCE_SCATTER, CSIM_COLL_BROADCAST, CSIM_COLL_REDUCE};
  for (CsimBytes bytes = 16; bytes < 40000; bytes += 1008)
    for (int n = 2; n < 14; n += 3) {
      for (guint i = 0; i < G_N_ELEMENTS(rings); i++) check(rings[i], CSIM_ALGO_RING, n, bytes, 512);
      check(CSIM_COLL_ALL_REDUCE, CSIM_ALGO_TREE, n, bytes, 512);
      check(CSIM_COLL_ALLTOALL, CSIM_ALGO_P2P, n, bytes, 512);
      check(CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS_TREE, n, bytes, 512);
    }
}

/* 2 channels x 8 ranks x 512 B a loop: every rank is like rank 0 on both channels, with a short last loop too if it is even. */
static void test_found(void) {
  g_assert_cmpuint(check(CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, 8, 2 * 8 * 512 * 3, 512), ==, 14);
  g_assert_cmpuint(check(CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, 8, 2 * 8 * (512 * 3 + 128), 512), ==, 14);
  g_assert_cmpuint(check(CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, 8, 2 * 8 * 512 * 3 + 16, 512), <, 14);
  g_assert_cmpuint(check(CSIM_COLL_ALL_GATHER, CSIM_ALGO_RING, 8, 5008, 512), ==, 14);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/signature/equal-streams", test_equal);
  g_test_add_func("/signature/found", test_found);
  return g_test_run();
}
