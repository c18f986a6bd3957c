/*
 * tests/bench/bench.h - CPU time and a small random stream for benchmarks.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <time.h>

static inline double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* xorshift64: 1 ns, so that what is measured is not the random numbers. */
static inline uint64_t bench_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

#endif
