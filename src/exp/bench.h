/*
 * exp/bench.h - bare workloads: the messages of a collective and nothing else, as other simulators are measured with.
 *
 * Used by: `collsim bench ring|alltoall|tree`, tests. Implemented in bench.c (what they share), bench-ring.c, bench-alltoall.c,
 * bench-tree.c; bench-peers.c has other simulators' figures for the same workloads.
 *
 * No NCCL, no GPUs, no fabric: N ranks, each with one port out and one port in, both of the same rate. A message of m bytes
 * takes the sender's port for m / rate (one message at a time, in order of asking), and then travels for `latency`; its tail
 * would arrive at start + m / rate + latency. The receiver's port takes one message at a time in order of tails: a message is
 * delivered at the later of its tail and the delivery before it + m / rate. The dates are exact (whole picoseconds, m / rate
 * rounded up); ties go in the order in which events were scheduled.
 *
 *   ring      all-reduce: 2(N-1) steps; in each, rank i sends floor(bytes / N) to i+1; it begins the next step when what it
 *             receives in this one has been delivered. 2N(N-1) messages.
 *   alltoall  N-1 rounds; in round k, rank i sends floor(bytes / N) to i+k; sends follow each other, receives are always
 *             posted. N(N-1) messages.
 *   tree      one heap-shaped tree (parent (i-1)/2); floor(bytes / chunks) go up chunk by chunk as soon as both children's are
 *             there, and from the root down again. 2(N-1) x chunks messages.
 */
#ifndef CSIM_EXP_BENCH_H
#define CSIM_EXP_BENCH_H

#include "sim/engine.h"

typedef enum { CSIM_BENCH_RING, CSIM_BENCH_ALLTOALL, CSIM_BENCH_TREE, CSIM_N_BENCHES } CsimBenchKind;
const char *csim_bench_name(CsimBenchKind kind); /* "ring" */
gboolean csim_bench_parse(const char *text, CsimBenchKind *out);

typedef enum {
  CSIM_BENCH_FULL,     /* every rank */
  CSIM_BENCH_ONE_RANK, /* ranks that do the same at the same time: one of them, which is its own neighbour */
  CSIM_BENCH_JUMP      /* and once its state repeats from one step to the next, all further steps but the last at once */
} CsimBenchForm;

#define CSIM_BENCH_MAX_RANKS 1000000
#define CSIM_BENCH_MAX_CHUNKS 1000000

typedef struct {
  CsimBenchKind kind;
  guint n_ranks;   /* 2 to CSIM_BENCH_MAX_RANKS */
  CsimBytes bytes; /* a rank's buffer */
  guint chunks;    /* of a tree: 1 to CSIM_BENCH_MAX_CHUNKS */
  CsimRate rate;   /* of a port, above 0 */
  CsimTime latency;
  CsimTime skew; /* rank i sends nothing before a date drawn from 0 to this, by (seed, i) */
  uint64_t seed;
  CsimQueueKind queue;
  CsimBenchForm form;
  gboolean digest;
  const volatile int *interrupt; /* NULL: none */
} CsimBenchSpec;
/* ring, 1024 ranks, 64 MiB, 64 chunks, 50 GB/s, 1 us, no skew, seed 1, radix queue, every rank. */
void csim_bench_spec_init(CsimBenchSpec *spec);

typedef struct {
  CsimTime time;         /* of the last delivery */
  CsimBytes message;     /* bytes of one */
  uint64_t messages;     /* of the workload, whatever stands for them */
  uint64_t events;       /* executed */
  guint ranks_simulated;
  uint64_t steps_jumped;
  uint64_t digest;       /* of all events, in order; 0 if not asked for */
  double cpu_s, wall_s;  /* of the event loop and what it needs; user and system */
  double process_cpu_s, peak_rss_mib; /* of the process, since it began */
} CsimBenchResult;

/* FALSE with CSIM_ERROR_VALUE (out of range), CSIM_ERROR_UNSUPPORTED (a collapsed form of ranks that are not alike: a tree, or
 * skew), CSIM_ERROR_LIMIT (dates beyond 2^62 ps possible), CSIM_ERROR_INTERRUPTED. */
gboolean csim_bench_run(const CsimBenchSpec *spec, CsimBenchResult *out, GError **error);

/* What others take for the same messages: data/peers.json. */
typedef struct {
  const char *tool, *load; /* static; load: of the machine while it was measured */
  double cpu_s, rss_mib;   /* rss_mib 0: below what could be measured */
} CsimBenchPeer;

typedef struct {
  const char *source; /* static */
  GArray *rows;       /* CsimBenchPeer, in the file's order */
} CsimBenchPeers;
/* Those for this kind, ranks, bytes and (tree) chunks; maybe none. */
CsimBenchPeers *csim_bench_peers_new(const CsimBenchSpec *spec);
void csim_bench_peers_free(CsimBenchPeers *peers); /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimBenchPeers, csim_bench_peers_free)

#endif
