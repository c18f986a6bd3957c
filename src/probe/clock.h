/* probe/clock.h - host time for measurements, in microseconds with the clock's own resolution. */
#ifndef CSIM_PROBE_CLOCK_H
#define CSIM_PROBE_CLOCK_H

#include <time.h>

static inline double csim_probe_now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

#endif
