/* Random streams and hashes: published vectors, independence, uniformity. */
#include "base/hash.h"
#include "base/rng.h"
#include <string.h>

/* Known answers of Philox4x32-10 from the Random123 distribution (kat_vectors). */
static void test_vectors(void) {
  static const struct {
    uint32_t counter[4], key[2], out[4];
  } cases[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    uint32_t out[4];
    csim_philox4x32(cases[i].counter, cases[i].key, out);
    g_assert_cmpmem(out, sizeof out, cases[i].out, sizeof out);
  }
}

static void test_stream(void) {
  CsimRng rng;
  csim_rng_init(&rng, 0, 0, 0);
  g_assert_cmpuint(csim_rng_next(&rng), ==, UINT64_C(0xe169c58d6627e8d5));
  g_assert_cmpuint(csim_rng_next(&rng), ==, UINT64_C(0x9b00dbd8bc57ac4c));
  csim_rng_init(&rng, 42, 7, 3);
  for (uint64_t i = 0; i < 100; i++) g_assert_cmpuint(csim_rng_next(&rng), ==, csim_rng_at(42, 7, 3, i));
}

/* No value of a stream turns up in a neighbouring one. */
static void test_independent(void) {
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  for (uint64_t seed = 0; seed < 5; seed++)
    for (uint64_t entity = 0; entity < 20; entity++)
      for (uint32_t purpose = 0; purpose < 5; purpose++)
        for (uint64_t i = 0; i < 40; i++) {
          uint64_t value = csim_rng_at(seed, entity << (entity * 3), purpose, i);
          g_assert_true(g_hash_table_add(seen, g_memdup2(&value, sizeof value)));
        }
}

/* Correlation of 0/1 draws between neighbouring entities: 64000 bits agree in half, within five sigma. */
static void test_uncorrelated(void) {
  int agree = 0, n = 1000;
  for (int i = 0; i < n; i++)
    agree +=
        64 - __builtin_popcountll(csim_rng_at(1, 10, 0, (uint64_t)i) ^ csim_rng_at(1, 11, 0, (uint64_t)i));
  g_assert_cmpint(ABS(agree - 32 * n), <, 5 * 127); /* sigma = sqrt(64000) / 2 = 126.5 */
}

static void test_uniform(void) {
  CsimRng rng;
  double sum = 0, low = 1, high = 0;
  csim_rng_init(&rng, 3, 0, 0);
  for (int i = 0; i < 100000; i++) {
    double u = csim_rng_uniform(&rng);
    g_assert_true(u >= 0 && u < 1);
    sum += u;
    low = MIN(low, u);
    high = MAX(high, u);
  }
  g_assert_cmpfloat(ABS(sum / 100000 - 0.5), <, 5 * 0.000913); /* sigma = 1 / sqrt(12 n) */
  g_assert_cmpfloat(low, <, 0.001);
  g_assert_cmpfloat(high, >, 0.999);
}

static void test_below(void) {
  CsimRng rng;
  int counts[6] = {0};
  csim_rng_init(&rng, 4, 0, 0);
  for (int i = 0; i < 60000; i++) counts[csim_rng_below(&rng, 6)]++;
  for (int i = 0; i < 6; i++) g_assert_cmpint(ABS(counts[i] - 10000), <, 5 * 92); /* sigma = sqrt(n p q) */
  for (int i = 0; i < 100; i++) g_assert_cmpuint(csim_rng_below(&rng, 1), ==, 0);
  /* n just above 2^63: nearly half of the words are rejected, and the result still reaches both ends. */
  gboolean upper = FALSE, lower = FALSE;
  for (int i = 0; i < 100; i++) {
    uint64_t v = csim_rng_below(&rng, (UINT64_C(1) << 63) + 1);
    upper |= v > UINT64_C(1) << 62;
    lower |= v < UINT64_C(1) << 62;
  }
  g_assert_true(upper && lower);
}

static void test_range(void) {
  CsimRng rng;
  gboolean seen[5] = {0};
  csim_rng_init(&rng, 5, 0, 0);
  for (int i = 0; i < 200; i++) {
    int64_t v = csim_rng_range(&rng, -2, 2);
    g_assert_true(v >= -2 && v <= 2);
    seen[v + 2] = TRUE;
  }
  for (int i = 0; i < 5; i++) g_assert_true(seen[i]);
  g_assert_cmpint(csim_rng_range(&rng, INT64_MAX, INT64_MAX), ==, INT64_MAX);
  csim_rng_range(&rng, INT64_MIN, INT64_MAX);
}

static void test_shuffle(void) {
  int counts[6] = {0};
  for (uint64_t seed = 0; seed < 6000; seed++) {
    CsimRng rng;
    uint32_t v[3] = {0, 1, 2};
    csim_rng_init(&rng, seed, 0, 0);
    csim_rng_shuffle(&rng, v, 3);
    g_assert_cmpuint(v[0] + v[1] + v[2], ==, 3);
    counts[v[0] * 2 + (v[1] > v[2])]++;
  }
  for (int i = 0; i < 6; i++) g_assert_cmpint(ABS(counts[i] - 1000), <, 5 * 29);
}

/* Vectors of the FNV authors' test suite for 64-bit FNV-1a. */
static void test_hash(void) {
  g_assert_cmpuint(csim_hash_bytes(CSIM_HASH_INIT, "", 0), ==, UINT64_C(0xcbf29ce484222325));
  g_assert_cmpuint(csim_hash_bytes(CSIM_HASH_INIT, "a", 1), ==, UINT64_C(0xaf63dc4c8601ec8c));
  g_assert_cmpuint(csim_hash_bytes(CSIM_HASH_INIT, "foobar", 6), ==, UINT64_C(0x85944171f73967e8));
  g_assert_cmpuint(csim_hash_u32(CSIM_HASH_INIT, 0x04030201), ==,
                   csim_hash_bytes(CSIM_HASH_INIT, "\1\2\3\4", 4));
  g_assert_cmpuint(csim_hash_u64(CSIM_HASH_INIT, UINT64_C(0x0807060504030201)), ==,
                   csim_hash_bytes(CSIM_HASH_INIT, "\1\2\3\4\5\6\7\10", 8));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/rng/vectors", test_vectors);
  g_test_add_func("/rng/stream", test_stream);
  g_test_add_func("/rng/independent", test_independent);
  g_test_add_func("/rng/uncorrelated", test_uncorrelated);
  g_test_add_func("/rng/uniform", test_uniform);
  g_test_add_func("/rng/below", test_below);
  g_test_add_func("/rng/range", test_range);
  g_test_add_func("/rng/shuffle", test_shuffle);
  g_test_add_func("/hash/vectors", test_hash);
  return g_test_run();
}
