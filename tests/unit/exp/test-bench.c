/*
 * The bare workloads to the picosecond: closed forms where there are any, recurrences and a plain simulation written apart where
 * there are none; collapsed forms, queues and digests; and what is refused.
 */
#include "base/rng.h"
#include "base/units.h"
#include "collsim/error.h"
#include "exp/bench.h"

#include <stdlib.h>

static CsimBenchSpec spec_of(CsimBenchKind kind, guint n_ranks, CsimBytes bytes) {
  CsimBenchSpec spec;
  csim_bench_spec_init(&spec);
  spec.kind = kind;
  spec.n_ranks = n_ranks;
  spec.bytes = bytes;
  spec.digest = TRUE;
  return spec;
}

static CsimBenchResult run(const CsimBenchSpec *spec) {
  g_autoptr(GError) error = NULL;
  CsimBenchResult result;
  gboolean ok = csim_bench_run(spec, &result, &error);
  g_assert_no_error(error);
  g_assert_true(ok);
  return result;
}

static CsimTime wire_of(const CsimBenchSpec *spec) {
  return csim_rate_time(spec->rate, spec->bytes / (spec->kind == CSIM_BENCH_TREE ? spec->chunks : spec->n_ranks));
}

/* The dates at which ranks may start, as a run with this seed and skew draws them: the first values of its streams. */
static CsimTime start_of(const CsimBenchSpec *spec, guint rank) {
  return spec->skew ? (CsimTime)(csim_rng_at(spec->seed, rank, 0x62656e63u, 0) % ((uint64_t)spec->skew + 1)) : 0;
}

/* --- closed forms ------------------------------------------------------------------------- */

static void test_ring_closed(void) {
  static const guint ranks[] = {2, 3, 8, 17, 64, 255};
  static const CsimBytes bytes[] = {0, 5, 1000003, 64 << 20};
  for (guint i = 0; i < G_N_ELEMENTS(ranks); i++)
    for (guint k = 0; k < G_N_ELEMENTS(bytes); k++) {
      CsimBenchSpec spec = spec_of(CSIM_BENCH_RING, ranks[i], bytes[k]);
      CsimBenchResult r = run(&spec);
      CsimTime step = wire_of(&spec) + spec.latency;
      g_assert_cmpint(r.time, ==, 2 * (ranks[i] - 1) * step);
      g_assert_cmpuint(r.messages, ==, 2ull * ranks[i] * (ranks[i] - 1));
      g_assert_cmpuint(r.events, ==, r.messages); /* no port is asked twice at once */
    }
}

/* 2 x 1023 steps of 65536 B / 50 GB/s + 1 us, worked out by hand. */
static void test_known_figures(void) {
  CsimBenchSpec ring = spec_of(CSIM_BENCH_RING, 1024, 64 << 20), a2a = spec_of(CSIM_BENCH_ALLTOALL, 1024, 64 << 20);
  CsimBenchResult r = run(&ring), a = run(&a2a);
  g_assert_cmpint(r.time, ==, 2046 * INT64_C(2310720));
  g_assert_cmpuint(r.messages, ==, 2095104);
  g_assert_cmpint(a.time, ==, 1023 * INT64_C(1310720) + CSIM_US);
  g_assert_cmpuint(a.messages, ==, 1047552);
}

static void test_alltoall_closed(void) {
  static const guint ranks[] = {2, 3, 8, 17, 64, 255};
  static const CsimTime latencies[] = {0, 1, 1000000, 50000000};
  for (guint i = 0; i < G_N_ELEMENTS(ranks); i++)
    for (guint k = 0; k < G_N_ELEMENTS(latencies); k++) {
      CsimBenchSpec spec = spec_of(CSIM_BENCH_ALLTOALL, ranks[i], 1000003);
      spec.latency = latencies[k];
      CsimBenchResult r = run(&spec);
      g_assert_cmpint(r.time, ==, (ranks[i] - 1) * wire_of(&spec) + spec.latency);
      g_assert_cmpuint(r.events, ==, (guint64)ranks[i] * (ranks[i] - 1));
    }
}

/* A full tree of depth d: a level up takes latency and two messages in one port, a level down the same out of one port. Further
 * chunks follow every two messages, as long as nothing that goes down meets what still goes up: 2 (chunks - 1) messages take no
 * longer than two latencies. */
static void test_tree_closed(void) {
  for (guint depth = 1; depth <= 9; depth++)
    for (guint chunks = 1; chunks <= 9; chunks += 4) {
      CsimBenchSpec spec = spec_of(CSIM_BENCH_TREE, (2u << depth) - 1, 900001);
      spec.chunks = chunks;
      CsimTime wire = wire_of(&spec);
      spec.latency = chunks * wire + 17;
      CsimBenchResult r = run(&spec);
      g_assert_cmpint(r.time, ==, 2 * depth * (spec.latency + 2 * wire) + 2 * (chunks - 1) * wire);
      g_assert_cmpuint(r.messages, ==, 2ull * (spec.n_ranks - 1) * chunks);
    }
}

/* Two ranks: chunks go up one after the other, and each comes down at once. */
static void test_tree_pair(void) {
  for (guint chunks = 1; chunks <= 64; chunks *= 4) {
    CsimBenchSpec spec = spec_of(CSIM_BENCH_TREE, 2, 1 << 20);
    spec.chunks = chunks;
    g_assert_cmpint(run(&spec).time, ==, (chunks + 1) * wire_of(&spec) + 2 * spec.latency);
  }
}

/* --- ranks that start at different times: recurrences --------------------------------------- */

static CsimTime ring_recurrence(const CsimBenchSpec *spec) {
  guint n = spec->n_ranks;
  CsimTime wire = wire_of(spec);
  g_autofree CsimTime *start = g_new(CsimTime, n), *got = g_new(CsimTime, n), *now = g_new(CsimTime, n);
  for (guint i = 0; i < n; i++) {
    start[i] = start_of(spec, i);
    got[i] = -wire;
  }
  for (guint step = 0; step < 2 * (n - 1); step++) {
    for (guint i = 0; i < n; i++) now[i] = MAX(start[(i + n - 1) % n] + wire + spec->latency, got[i] + wire);
    for (guint i = 0; i < n; i++) start[i] = MAX(now[i], start[i] + wire);
    memcpy(got, now, n * sizeof *got);
  }
  CsimTime end = 0;
  for (guint i = 0; i < n; i++) end = MAX(end, got[i]);
  return end;
}

static int by_date(gconstpointer a, gconstpointer b) {
  CsimTime x = *(const CsimTime *)a, y = *(const CsimTime *)b;
  return x < y ? -1 : x > y;
}

/* The tails at each rank are known beforehand; its port takes them in order. */
static CsimTime alltoall_sorted(const CsimBenchSpec *spec) {
  guint n = spec->n_ranks;
  CsimTime wire = wire_of(spec), end = 0;
  g_autofree CsimTime *tails = g_new(CsimTime, n);
  for (guint to = 0; to < n; to++) {
    CsimTime done = -wire;
    for (guint round = 1; round < n; round++) tails[round - 1] = start_of(spec, (to + n - round) % n) + round * wire + spec->latency;
    qsort(tails, n - 1, sizeof *tails, by_date);
    for (guint k = 0; k + 1 < n; k++) done = MAX(tails[k], done + wire);
    end = MAX(end, done);
  }
  return end;
}

static void test_skew(void) {
  for (guint64 seed = 1; seed <= 40; seed++) {
    CsimBenchSpec spec = spec_of(seed % 2 ? CSIM_BENCH_RING : CSIM_BENCH_ALLTOALL, 2 + (guint)(seed * 7 % 61), 1 << 20);
    spec.seed = seed;
    spec.skew = (CsimTime)(seed * seed) * 50 * CSIM_NS;
    spec.latency = (CsimTime)(seed % 5) * 300 * CSIM_NS;
    g_assert_cmpint(run(&spec).time, ==, spec.kind == CSIM_BENCH_RING ? ring_recurrence(&spec) : alltoall_sorted(&spec));
  }
}

/* --- trees in general: a plain simulation, a list searched from end to end --------------------- */

typedef struct {
  CsimTime date;
  guint order, to, chunk;
  int from; /* 0 left, 1 right, 2 parent */
  gboolean delivered;
} Item;

typedef struct {
  const CsimBenchSpec *spec;
  GArray *items;
  guint order;
  CsimTime *out, *in, end;
  guint *sent, *got; /* got: [rank][chunk][side] */
} Plain;

static void plain_send(Plain *p, guint from, guint to, int side, guint chunk, CsimTime ready) {
  CsimTime wire = wire_of(p->spec), start = MAX(ready, p->out[from]);
  Item item = {start + wire + p->spec->latency, p->order++, to, chunk, side, FALSE};
  p->out[from] = start + wire;
  g_array_append_val(p->items, item);
}

static void plain_delivered(Plain *p, const Item *m) {
  guint n = p->spec->n_ranks, left = 2 * m->to + 1, right = left + 1;
  guint *got = p->got + 2 * (m->to * p->spec->chunks + m->chunk);
  if (m->from < 2) got[m->from] = 1;
  if (m->from < 2 && !(got[0] && (got[1] || right >= n))) return;
  if (m->from < 2 && m->to > 0) {
    plain_send(p, m->to, (m->to - 1) / 2, m->to % 2 ? 0 : 1, m->chunk, m->date);
    return;
  }
  if (left < n) plain_send(p, m->to, left, 2, m->chunk, m->date);
  if (right < n) plain_send(p, m->to, right, 2, m->chunk, m->date);
}

static Item plain_take(Plain *p) {
  guint best = 0;
  for (guint i = 1; i < p->items->len; i++) {
    const Item *a = &g_array_index(p->items, Item, i), *b = &g_array_index(p->items, Item, best);
    if (a->date < b->date || (a->date == b->date && a->order < b->order)) best = i;
  }
  Item item = g_array_index(p->items, Item, best);
  g_array_remove_index(p->items, best);
  return item;
}

/* A leaf asks for its port again when the chunk before has come to its parent, at the date at which that left the port. */
static void plain_follow(Plain *p, const Item *m) {
  guint leaf = 2 * m->to + 1 + (guint)m->from;
  if (m->from == 2 || 2 * leaf + 1 < p->spec->n_ranks || m->chunk + 1 == p->spec->chunks) return;
  plain_send(p, leaf, m->to, m->from, m->chunk + 1, 0);
}

static CsimTime plain_tree(const CsimBenchSpec *spec) {
  guint n = spec->n_ranks;
  CsimTime wire = wire_of(spec);
  g_autofree CsimTime *out = g_new0(CsimTime, n), *in = g_new0(CsimTime, n);
  g_autofree guint *got = g_new0(guint, 2 * n * spec->chunks);
  g_autoptr(GArray) items = g_array_new(FALSE, FALSE, sizeof(Item));
  Plain p = {.spec = spec, .items = items, .out = out, .in = in, .got = got};
  for (guint i = 0; i < n; i++) {
    out[i] = start_of(spec, i);
    in[i] = -wire;
  }
  for (guint i = n / 2; i < n; i++) plain_send(&p, i, (i - 1) / 2, i % 2 ? 0 : 1, 0, 0);
  while (items->len > 0) {
    Item m = plain_take(&p);
    if (!m.delivered) {
      plain_follow(&p, &m);
      CsimTime done = in[m.to] = MAX(m.date, in[m.to] + wire);
      p.end = MAX(p.end, done);
      if (done > m.date) {
        Item later = {done, p.order++, m.to, m.chunk, m.from, TRUE};
        g_array_append_val(items, later);
        continue;
      }
    }
    plain_delivered(&p, &m);
  }
  return p.end;
}

static void test_tree_plain(void) {
  for (guint64 seed = 1; seed <= 60; seed++) {
    CsimBenchSpec spec = spec_of(CSIM_BENCH_TREE, 2 + (guint)(seed * 11 % 70), 1000003);
    spec.seed = seed;
    spec.chunks = 1 + (guint)(seed * 5 % 23);
    spec.latency = (CsimTime)(seed % 4) * 400 * CSIM_NS;
    spec.skew = seed % 3 ? (CsimTime)seed * 100 * CSIM_NS : 0;
    g_assert_cmpint(run(&spec).time, ==, plain_tree(&spec));
  }
}

/* --- the same from every form ------------------------------------------------------------------- */

static void test_collapsed(void) {
  static const guint ranks[] = {2, 3, 4, 5, 64, 333};
  for (guint i = 0; i < 2 * G_N_ELEMENTS(ranks); i++) {
    CsimBenchSpec spec = spec_of(i % 2 ? CSIM_BENCH_RING : CSIM_BENCH_ALLTOALL, ranks[i / 2], 1000003);
    CsimBenchResult full = run(&spec);
    spec.form = CSIM_BENCH_ONE_RANK;
    CsimBenchResult one = run(&spec);
    spec.form = CSIM_BENCH_JUMP;
    CsimBenchResult jump = run(&spec);
    g_assert_cmpint(full.time, ==, one.time);
    g_assert_cmpint(full.time, ==, jump.time);
    g_assert_cmpuint(one.events * spec.n_ranks, ==, full.events);
    g_assert_cmpuint(jump.events + jump.steps_jumped, ==, one.events);
    g_assert_cmpuint(jump.events, <=, 3);
    g_assert_cmpuint(jump.messages, ==, full.messages);
    g_assert_cmpuint(jump.ranks_simulated, ==, 1);
  }
}

static void test_queues(void) {
  for (guint i = 0; i < 2 * CSIM_N_BENCHES; i++) {
    CsimBenchSpec spec = spec_of((CsimBenchKind)(i / 2), 97, 1 << 20);
    if (i % 2) spec.skew = 20 * CSIM_US;
    CsimBenchResult radix = run(&spec);
    spec.queue = CSIM_QUEUE_HEAP4;
    CsimBenchResult heap = run(&spec);
    g_assert_cmpint(radix.time, ==, heap.time);
    g_assert_cmpuint(radix.events, ==, heap.events);
    g_assert_cmphex(radix.digest, ==, heap.digest);
    g_assert_cmphex(radix.digest, !=, 0);
  }
}

/* --- refusals, names, peers ------------------------------------------------------------------------ */

static void refuse(CsimBenchSpec spec, int code, const char *text) {
  g_autoptr(GError) error = NULL;
  CsimBenchResult result;
  g_assert_false(csim_bench_run(&spec, &result, &error));
  g_assert_error(error, CSIM_ERROR, code);
  g_assert_nonnull(strstr(error->message, text));
}

static void test_refused(void) {
  CsimBenchSpec good = spec_of(CSIM_BENCH_RING, 8, 1 << 20), bad = good;
  bad.n_ranks = 1;
  refuse(bad, CSIM_ERROR_VALUE, "2 to 1000000");
  bad = good;
  bad.rate = 0;
  refuse(bad, CSIM_ERROR_VALUE, "a rate above 0");
  bad = good;
  bad.rate = 1;
  bad.bytes = INT64_MAX / 2;
  refuse(bad, CSIM_ERROR_LIMIT, "the limit is");
  bad = good;
  bad.form = CSIM_BENCH_JUMP;
  bad.skew = 1;
  refuse(bad, CSIM_ERROR_UNSUPPORTED, "different times");
  bad.skew = 0;
  bad.kind = CSIM_BENCH_TREE;
  refuse(bad, CSIM_ERROR_UNSUPPORTED, "tree");
  bad.form = CSIM_BENCH_FULL;
  bad.chunks = 0;
  refuse(bad, CSIM_ERROR_VALUE, "chunks");
}

static void test_interrupted(void) {
  static const volatile int pressed = 1;
  CsimBenchSpec spec = spec_of(CSIM_BENCH_RING, 256, 1 << 20);
  spec.interrupt = &pressed;
  refuse(spec, CSIM_ERROR_INTERRUPTED, "interrupted");
}

static void test_names(void) {
  CsimBenchKind kind;
  for (guint i = 0; i < CSIM_N_BENCHES; i++) {
    g_assert_true(csim_bench_parse(csim_bench_name((CsimBenchKind)i), &kind));
    g_assert_cmpint(kind, ==, i);
  }
  g_assert_false(csim_bench_parse("rings", &kind));
}

static void test_peers(void) {
  CsimBenchSpec ring = spec_of(CSIM_BENCH_RING, 1024, 64 << 20), other = spec_of(CSIM_BENCH_RING, 1023, 64 << 20);
  CsimBenchSpec tree = spec_of(CSIM_BENCH_TREE, 4096, 64 << 20);
  g_autoptr(CsimBenchPeers) some = csim_bench_peers_new(&ring), none = csim_bench_peers_new(&other), one = csim_bench_peers_new(&tree);
  g_assert_cmpuint(some->rows->len, >=, 4);
  g_assert_cmpuint(none->rows->len, ==, 0);
  g_assert_cmpuint(one->rows->len, ==, 1);
  g_assert_cmpfloat(g_array_index(one->rows, CsimBenchPeer, 0).cpu_s, ==, 2.752);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/exp/bench/ring-closed", test_ring_closed);
  g_test_add_func("/exp/bench/known-figures", test_known_figures);
  g_test_add_func("/exp/bench/alltoall-closed", test_alltoall_closed);
  g_test_add_func("/exp/bench/tree-closed", test_tree_closed);
  g_test_add_func("/exp/bench/tree-pair", test_tree_pair);
  g_test_add_func("/exp/bench/skew", test_skew);
  g_test_add_func("/exp/bench/tree-plain", test_tree_plain);
  g_test_add_func("/exp/bench/collapsed", test_collapsed);
  g_test_add_func("/exp/bench/queues", test_queues);
  g_test_add_func("/exp/bench/refused", test_refused);
  g_test_add_func("/exp/bench/interrupted", test_interrupted);
  g_test_add_func("/exp/bench/names", test_names);
  g_test_add_func("/exp/bench/peers", test_peers);
  return g_test_run();
}
