/*
 * The bare ring (src/exp/bench.h) as a plain loop over a 4-ary heap: 16-byte events, no engine, no statistics. A yardstick of the
 * machine: other simulators were measured beside such a loop, and their figures here would be theirs there times the ratio of the two.
 *
 *   bench-loop [RANKS]     64 MiB, 50 GB/s, 1 us
 */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int64_t time;
  uint32_t order, rank;
} Event;

typedef struct {
  Event *events;
  uint32_t n, pushed;
} Heap;

static int before(Event a, Event b) { return a.time < b.time || (a.time == b.time && (int32_t)(a.order - b.order) < 0); }

static void push(Heap *h, int64_t time, uint32_t rank) {
  Event e = {time, h->pushed++, rank};
  uint32_t at = h->n++;
  for (; at > 0 && before(e, h->events[(at - 1) / 4]); at = (at - 1) / 4) h->events[at] = h->events[(at - 1) / 4];
  h->events[at] = e;
}

static Event pop(Heap *h) {
  Event first = h->events[0], last = h->events[--h->n];
  uint32_t at = 0;
  while (4 * at + 1 < h->n) {
    uint32_t best = 4 * at + 1;
    for (uint32_t i = best + 1; i < 4 * at + 5 && i < h->n; i++)
      if (before(h->events[i], h->events[best])) best = i;
    if (!before(h->events[best], last)) break;
    h->events[at] = h->events[best];
    at = best;
  }
  h->events[at] = last;
  return first;
}

int main(int argc, char **argv) {
  uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : 1024, steps = 2 * (n - 1);
  int64_t bytes = (INT64_C(64) << 20) / n, wire = bytes * 20, now = 0; /* 20 ps a byte */
  Heap heap = {.events = malloc((n + 1) * sizeof(Event))};
  int64_t *out_free = calloc(n, sizeof *out_free);
  uint32_t *left = malloc(n * sizeof *left);
  uint64_t events = 0;
  double start = cpu_seconds();
  for (uint32_t i = 0; i < n; i++) {
    left[i] = steps - 1;
    out_free[i] = wire;
    push(&heap, wire + 1000000, (i + 1) % n);
  }
  for (; heap.n > 0; events++) {
    Event e = pop(&heap);
    now = e.time;
    if (left[e.rank] == 0) continue;
    left[e.rank]--;
    int64_t begin = now > out_free[e.rank] ? now : out_free[e.rank];
    out_free[e.rank] = begin + wire;
    push(&heap, begin + wire + 1000000, e.rank + 1 == n ? 0 : e.rank + 1);
  }
  printf("{\"ranks\": %u, \"events\": %" PRIu64 ", \"simulated_ps\": %" PRId64 ", \"cpu_s\": %.4f}\n", n, events, now, cpu_seconds() - start);
  free(heap.events);
  free(out_free);
  free(left);
  return 0;
}
