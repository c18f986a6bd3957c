/* Queue pairs, balanced routes, cables that flap: what they must and must not do to a call's time. */
#include "lab.h"

#define HASHED "{\"nodes\": [{\"count\": %d, \"xml\": \"dgx-h100\"}], \"fabric\": {\"routing\": \"%s\", \"transport\": \"roce\", \"radix\": 16}, \"placement\": {\"order\": \"spread\"}%s}"

/* us; qps: as the variable's value, or NULL */
static double time_of(const char *target, const char *qps, gboolean split, uint64_t seed, uint64_t *digest) {
  g_autofree char *pairs = g_strdup_printf("NCCL_IB_QPS_PER_CONNECTION=%s", qps ? qps : "1");
  const char *overrides[] = {"NCCL_ALGO=Ring", "NCCL_PROTO=Simple", pairs, split ? "NCCL_IB_SPLIT_DATA_ON_QPS=1" : NULL, NULL};
  CsimExecSpec spec = {.iters = 1, .seed = seed, .digest = TRUE};
  g_autoptr(Lab) lab = lab_new(target, 1, overrides, lab_ideal, &spec);
  CsimExecResult result = lab_call(lab, CSIM_COLL_ALL_REDUCE, 16 << 20);
  if (digest) *digest = result.digest;
  return result.time_us;
}

static char *hashed(int nodes, const char *routing, const char *rest) { return g_strdup_printf(HASHED, nodes, routing, rest); }

/* On one switch nothing tells flows apart: queue pairs change nothing at all. */
static void test_no_effect(void) {
  static const char *const targets[] = {"dgx-h100*4", "{\"nodes\": [{\"count\": 20, \"xml\": \"dgx-h100\"}], \"fabric\": {\"radix\": 16, \"routing\": \"static\"}}"};
  for (gsize i = 0; i < G_N_ELEMENTS(targets); i++) {
    uint64_t one, four;
    g_assert_cmpfloat(time_of(targets[i], NULL, FALSE, 1, &one), ==, time_of(targets[i], "4", TRUE, 1, &four));
    g_assert_cmpuint(one, ==, four);
  }
}

/* A fabric that is no limit: pieces take together what a message takes. Messages in turn go side by side, so that each comes later, and a ring
 * waits for its messages. */
static void test_uncontended(void) {
  g_autofree char *target = g_strdup_printf("{\"nodes\": [{\"count\": 2, \"xml\": \"dgx-h100\"}], \"fabric\": {\"kind\": \"fat-tree\", \"tiers\": 2, \"radix\": 16, \"link_rate\": \"3200Gb/s\", "
                                            "\"transport\": \"roce\", \"routing\": \"ecmp\"}}");
  double one = time_of(target, NULL, FALSE, 1, NULL);
  g_assert_cmpfloat_with_epsilon(time_of(target, "4", FALSE, 1, NULL), one, 0.06 * one);
  g_assert_cmpfloat_with_epsilon(time_of(target, "4", TRUE, 1, NULL), one, 0.02 * one);
}

/* Where hashes collide, more of them average out; and the seed draws them. */
static void test_collisions(void) {
  g_autofree char *target = hashed(24, "ecmp", "");
  double one = 0, rotated = 0, split = 0, least = 1e9, most = 0;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    double t = time_of(target, NULL, FALSE, seed, NULL);
    one += t / 6;
    least = MIN(least, t);
    most = MAX(most, t);
    rotated += time_of(target, "8", FALSE, seed, NULL) / 6;
    split += time_of(target, "8", TRUE, seed, NULL) / 6;
  }
  g_test_message("24 nodes, mean of 6 seeds: %.0f us with one queue pair (%.0f to %.0f), %.0f with eight in turn, %.0f split", one, least, most, rotated, split);
  g_assert_cmpfloat(split, <, 0.9 * one);
  g_assert_cmpfloat(rotated, <, 0.9 * one);
  g_assert_cmpfloat(most, >, 1.05 * least);
}

/* Perfect spreading is a bound for hashing. */
static void test_bound(void) {
  g_autofree char *ecmp = hashed(24, "ecmp", ""), *adaptive = hashed(24, "adaptive", "");
  g_assert_cmpfloat(time_of(adaptive, NULL, FALSE, 1, NULL), <=, time_of(ecmp, "8", TRUE, 1, NULL));
}

/* A router that looks at loads does no worse than one that does not, over a torus in a bad order. */
static void test_balanced(void) {
  static const char form[] = "{\"nodes\": [{\"count\": 16, \"xml\": \"dgx-h100\"}], \"fabric\": {\"kind\": \"torus\", \"dims\": [4, 4], \"routing\": \"%s\"}, "
                             "\"placement\": {\"order\": \"random\", \"seed\": %d}}";
  double fixed = 0, balanced = 0;
  for (int seed = 1; seed <= 5; seed++) {
    g_autofree char *a = g_strdup_printf(form, "static", seed), *b = g_strdup_printf(form, "adaptive", seed);
    uint64_t once, again;
    fixed += time_of(a, NULL, FALSE, 1, NULL);
    balanced += time_of(b, NULL, FALSE, 1, &once);
    time_of(b, NULL, FALSE, 1, &again);
    g_assert_cmpuint(once, ==, again);
  }
  g_test_message("torus, five orders: %.0f us in dimension order, %.0f balanced", fixed / 5, balanced / 5);
  g_assert_cmpfloat(balanced, <=, fixed);
}

/* Down half of the time: between whole and half of its rate, and at no loss where it is on no way. */
static void test_flapping(void) {
  g_autofree char *whole = hashed(16, "static", ""),
                  *flaps = hashed(16, "static", ", \"faults\": [{\"kind\": \"link\", \"at\": \"leaf0-*\", \"period\": \"200us\", \"down\": \"100us\"}]"),
                  *half = hashed(16, "static", ", \"faults\": [{\"kind\": \"link\", \"at\": \"leaf0-*\", \"rate\": 0.5}]"),
                  *elsewhere = hashed(16, "static", ", \"faults\": [{\"kind\": \"link\", \"at\": \"leaf5-*\", \"period\": \"200us\", \"down\": \"100us\"}]");
  double t = time_of(whole, NULL, FALSE, 1, NULL), f = time_of(flaps, NULL, FALSE, 1, NULL), h = time_of(half, NULL, FALSE, 1, NULL);
  g_test_message("16 nodes: %.0f us whole, %.0f with a leaf's cables flapping, %.0f with half their rate", t, f, h);
  g_assert_cmpfloat(f, >, 1.2 * t);
  g_assert_cmpfloat_with_epsilon(f, h, 0.5 * h);
  g_assert_cmpfloat_with_epsilon(time_of(elsewhere, NULL, FALSE, 1, NULL), t, 1e-3 * t);
  uint64_t one, same, other;
  time_of(flaps, NULL, FALSE, 1, &one);
  time_of(flaps, NULL, FALSE, 1, &same);
  time_of(flaps, NULL, FALSE, 2, &other);
  g_assert_cmpuint(one, ==, same);
  g_assert_cmpuint(one, !=, other);
}

/* A slow GPU slows everybody, by no more than its own clock. */
static void test_slow_gpu(void) {
  double whole = time_of("dgx-h100*4", NULL, FALSE, 1, NULL);
  double slow = time_of("{\"nodes\": [{\"count\": 4, \"xml\": \"dgx-h100\"}], \"faults\": [{\"kind\": \"gpu\", \"at\": \"node2/gpu0\", \"clock\": 0.25}]}", NULL, FALSE, 1, NULL);
  g_test_message("%.0f us whole, %.0f with one GPU at a quarter of its clock", whole, slow);
  g_assert_cmpfloat(slow, >, 1.05 * whole);
  g_assert_cmpfloat(slow, <=, 4 * whole);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/network/qps/no-effect", test_no_effect);
  g_test_add_func("/network/qps/uncontended", test_uncontended);
  g_test_add_func("/network/qps/collisions", test_collisions);
  g_test_add_func("/network/bound", test_bound);
  g_test_add_func("/network/balanced", test_balanced);
  g_test_add_func("/network/flapping", test_flapping);
  g_test_add_func("/network/slow-gpu", test_slow_gpu);
  return g_test_run();
}
