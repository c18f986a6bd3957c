/*
 * exp/bench-private.h - ports and messages of the bare workloads; for bench*.c only.
 */
#ifndef CSIM_EXP_BENCH_PRIVATE_H
#define CSIM_EXP_BENCH_PRIVATE_H

#include "exp/bench.h"

typedef struct { CsimTime out_free, in_free; } BenchPort;

/* What the one rank of a collapsed run was like after the last step: dates as distances from then. */
typedef struct {
  gboolean known;
  CsimTime now, out_free, in_free;
} BenchState;

typedef struct Bench {
  const CsimBenchSpec *spec;
  CsimEngine *engine;
  uint16_t handler;
  guint n;       /* ranks simulated */
  CsimTime wire; /* a message in a port */
  CsimTime latency;
  BenchPort *ports;
  CsimTime end;
  void *own; /* of the workload */
  BenchState state;
  uint64_t steps_jumped;
} Bench;

/* One workload. `bytes_own`: zeroed memory for Bench.own, a rank. */
typedef struct {
  const char *name;
  gsize bytes_own;
  gboolean alike; /* ranks do the same at the same time if they start together */
  CsimBytes (*message)(const CsimBenchSpec *spec);
  uint64_t (*messages)(const CsimBenchSpec *spec);
  CsimHandler on_event;
  void (*begin)(Bench *b); /* schedules the first messages */
} BenchClass;
extern const BenchClass csim_bench_ring, csim_bench_alltoall, csim_bench_tree;

/* Takes `from`'s port at `ready` or when it is free; an event of this kind, entity and arg comes when the message's tail would. */
static inline void bench_send(Bench *b, uint32_t from, CsimTime ready, uint16_t kind, uint32_t entity, uint64_t arg) {
  BenchPort *port = &b->ports[from];
  CsimTime start = MAX(ready, port->out_free);
  port->out_free = start + b->wire;
  csim_engine_at(b->engine, start + b->wire + b->latency, b->handler, kind, entity, arg);
}

/* The message behind one whose tail comes now, from a port that has nothing else to send in between. */
static inline void bench_follow(Bench *b, uint32_t from, CsimTime tail, uint16_t kind, uint32_t entity, uint64_t arg) {
  b->ports[from].out_free = tail + b->wire - b->latency;
  csim_engine_at(b->engine, tail + b->wire, b->handler, kind, entity, arg);
}

/* A tail at `to`; returns when the message is delivered. */
static inline CsimTime bench_receive(Bench *b, uint32_t to, CsimTime now) {
  BenchPort *port = &b->ports[to];
  CsimTime done = MAX(now, port->in_free + b->wire);
  port->in_free = done;
  if (done > b->end) b->end = done;
  return done;
}

/* For a collapsed run, when nothing is under way and *left steps are to come: if the last step left the rank as the one before
 * it did, puts all its dates later by all steps but one. Returns by how much. */
CsimTime csim_bench_jump(Bench *b, CsimTime now, uint32_t *left);

#endif
