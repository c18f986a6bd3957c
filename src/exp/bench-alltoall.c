/*
 * exp/bench-alltoall.c - the bare all-to-all: one event a message, and one pending event a rank.
 *
 * A rank's sends follow each other with nothing between them, so that the tail of one tells the tail of the next: that one is
 * scheduled when the first arrives, however many are to come. Nothing waits for a delivery, so it needs no event of its own.
 */
#include "exp/bench-private.h"

/* The entity is the sender and arg the round, 1 to N-1. */
static void on_event(CsimEngine *engine, void *owner, const CsimEvent *event) {
  Bench *b = owner;
  uint32_t round = (uint32_t)event->arg, to = event->entity, left = b->spec->n_ranks - 1 - round;
  if (b->n > 1) {
    to += round;
    if (to >= b->n) to -= b->n;
  }
  bench_receive(b, to, event->time);
  if (left == 0) return;
  CsimTime tail = event->time + csim_bench_jump(b, event->time, &left);
  bench_follow(b, event->entity, tail, 0, event->entity, b->spec->n_ranks - left);
}

static void begin(Bench *b) {
  for (uint32_t i = 0; i < b->n; i++) bench_send(b, i, 0, 0, i, 1);
}

static CsimBytes message(const CsimBenchSpec *spec) { return spec->bytes / spec->n_ranks; }

static uint64_t messages(const CsimBenchSpec *spec) { return (uint64_t)spec->n_ranks * (spec->n_ranks - 1); }

const BenchClass csim_bench_alltoall = {
  .name = "alltoall",
  .alike = TRUE,
  .message = message,
  .messages = messages,
  .on_event = on_event,
  .begin = begin,
};
