/* base/rng.c - Philox4x32-10 and what is drawn from it. */
#include "base/rng.h"

/* Multipliers and key steps of the paper's table 2 and section 4.3. */
#define M0 UINT32_C(0xD2511F53)
#define M1 UINT32_C(0xCD9E8D57)
#define W0 UINT32_C(0x9E3779B9)
#define W1 UINT32_C(0xBB67AE85)
#define ROUNDS 10

void csim_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  uint32_t k0 = key[0], k1 = key[1];
  for (int i = 0; i < ROUNDS; i++) {
    uint64_t p0 = (uint64_t)M0 * c0, p1 = (uint64_t)M1 * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)p1;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)p0;
    k0 += W0;
    k1 += W1;
  }
  out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

static void block(uint64_t seed, uint64_t entity, uint32_t purpose, uint32_t number, uint64_t out[2]) {
  uint32_t counter[4] = {number, purpose, (uint32_t)entity, (uint32_t)(entity >> 32)};
  uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, words[4];
  csim_philox4x32(counter, key, words);
  out[0] = (uint64_t)words[1] << 32 | words[0];
  out[1] = (uint64_t)words[3] << 32 | words[2];
}

void csim_rng_init(CsimRng *rng, uint64_t seed, uint64_t entity, uint32_t purpose) {
  *rng = (CsimRng){.seed = seed, .entity = entity, .purpose = purpose};
}

uint64_t csim_rng_next(CsimRng *rng) {
  if (rng->has_spare) {
    rng->has_spare = FALSE;
    return rng->spare;
  }
  uint64_t pair[2];
  block(rng->seed, rng->entity, rng->purpose, rng->block++, pair);
  rng->spare = pair[1];
  rng->has_spare = TRUE;
  return pair[0];
}

uint64_t csim_rng_at(uint64_t seed, uint64_t entity, uint32_t purpose, uint64_t index) {
  uint64_t pair[2];
  block(seed, entity, purpose, (uint32_t)(index / 2), pair);
  return pair[index % 2];
}

double csim_rng_uniform(CsimRng *rng) {
  return (double)(csim_rng_next(rng) >> 11) * 0x1p-53;
}

uint64_t csim_rng_below(CsimRng *rng, uint64_t n) {
  g_assert(n > 0);
  /* Lemire, "Fast random integer generation in an interval" (2019): the high word of a product, rejecting
   * the few low words that would favour some results. */
  unsigned __int128 product = (unsigned __int128)csim_rng_next(rng) * n;
  if ((uint64_t)product < n) {
    uint64_t reject_below = -n % n;
    while ((uint64_t)product < reject_below) product = (unsigned __int128)csim_rng_next(rng) * n;
  }
  return (uint64_t)(product >> 64);
}

int64_t csim_rng_range(CsimRng *rng, int64_t lo, int64_t hi) {
  g_assert(lo <= hi);
  uint64_t width = (uint64_t)hi - (uint64_t)lo + 1;
  uint64_t offset = width == 0 ? csim_rng_next(rng) : csim_rng_below(rng, width);
  return (int64_t)((uint64_t)lo + offset);
}

void csim_rng_shuffle(CsimRng *rng, uint32_t *items, uint32_t n) {
  for (uint32_t i = n; i > 1; i--) {
    uint32_t j = (uint32_t)csim_rng_below(rng, i);
    uint32_t kept = items[i - 1];
    items[i - 1] = items[j];
    items[j] = kept;
  }
}
