/* exp/bench-ring.c - the bare ring: one event a message, three numbers a rank. */
#include "exp/bench-private.h"

enum { EV_TAIL, EV_DELIVERED };

/* Bench.own: messages that a rank has still to send. */
static inline void send_next(Bench *b, uint32_t rank, CsimTime ready) {
  uint32_t next = rank + 1 == b->n ? 0 : rank + 1;
  ((uint32_t *)b->own)[rank]--;
  bench_send(b, rank, ready, EV_TAIL, next, 0);
}

static inline void delivered(Bench *b, uint32_t rank, CsimTime now) {
  uint32_t *left = (uint32_t *)b->own + rank;
  if (*left == 0) return;
  send_next(b, rank, now + csim_bench_jump(b, now, left));
}

static void on_event(CsimEngine *engine, void *owner, const CsimEvent *event) {
  Bench *b = owner;
  CsimTime now = event->time;
  if (event->kind == EV_TAIL) {
    CsimTime done = bench_receive(b, event->entity, now);
    if (done > now) {
      csim_engine_at(engine, done, b->handler, EV_DELIVERED, event->entity, 0);
      return;
    }
  }
  delivered(b, event->entity, now);
}

static void begin(Bench *b) {
  for (uint32_t i = 0; i < b->n; i++) ((uint32_t *)b->own)[i] = 2 * (b->spec->n_ranks - 1);
  for (uint32_t i = 0; i < b->n; i++) send_next(b, i, 0);
}

static CsimBytes message(const CsimBenchSpec *spec) { return spec->bytes / spec->n_ranks; }

static uint64_t messages(const CsimBenchSpec *spec) { return 2 * (uint64_t)spec->n_ranks * (spec->n_ranks - 1); }

const BenchClass csim_bench_ring = {
  .name = "ring",
  .bytes_own = sizeof(uint32_t),
  .alike = TRUE,
  .message = message,
  .messages = messages,
  .on_event = on_event,
  .begin = begin,
};
