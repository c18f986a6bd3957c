/*
 * base/rng.h - random streams that depend on nothing but (seed, entity, purpose).
 *
 * Used by: everything that draws (placement, ECMP seeds, jitter, loss). Two
 * entities never share a stream, and adding a draw in one place changes no
 * draw elsewhere: a run stays comparable when a model is refined.
 *
 * Source: Philox4x32-10 of Salmon, Moraes, Dror, Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3" (SC 2011). The seed is the key; entity (64
 * bits), purpose (32) and the block number (32) are the counter, so different
 * streams are different blocks of one permutation and cannot overlap.
 */
#ifndef CSIM_BASE_RNG_H
#define CSIM_BASE_RNG_H

#include <glib.h>
#include <stdint.h>

typedef struct {
  uint64_t seed, entity;
  uint32_t purpose;
  uint32_t block; /* next block */
  uint64_t spare; /* second half of the last block */
  gboolean has_spare;
} CsimRng;

/* A stream of 2^33 values. purpose: a number that names the use, one a use. */
void csim_rng_init(CsimRng *rng, uint64_t seed, uint64_t entity, uint32_t purpose);
uint64_t csim_rng_next(CsimRng *rng);
double csim_rng_uniform(CsimRng *rng);                            /* [0, 1), 53 bits */
uint64_t csim_rng_below(CsimRng *rng, uint64_t n);                /* 0..n-1, n > 0, without bias */
int64_t csim_rng_range(CsimRng *rng, int64_t lo, int64_t hi);     /* lo..hi, both included, lo <= hi */
void csim_rng_shuffle(CsimRng *rng, uint32_t *items, uint32_t n); /* every order equally likely */

/* Value `index` of a stream, without state. */
uint64_t csim_rng_at(uint64_t seed, uint64_t entity, uint32_t purpose, uint64_t index);

/* The bare permutation, for tests against the published vectors. */
void csim_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
