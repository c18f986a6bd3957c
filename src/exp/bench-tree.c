/*
 * exp/bench-tree.c - the bare tree: chunks up and down one heap-shaped tree.
 *
 * Chunks of a child arrive in order, so counters are all that is known of them. A leaf sends nothing but its chunks upwards, one
 * after the other: the tail of one tells the tail of the next (as in bench-alltoall.c).
 */
#include "exp/bench-private.h"

enum { EV_TAIL, EV_DELIVERED };

/* arg: where a message comes from */
enum { FROM_LEFT, FROM_RIGHT, FROM_PARENT };

typedef struct {
  uint32_t got[2];    /* chunks from each child; one that is not there has sent them all */
  uint32_t passed;    /* chunks that both have sent */
  uint32_t leaf_left; /* chunks that a leaf has still to send */
} Node;

static inline gboolean is_leaf(const Bench *b, uint32_t rank) { return 2 * rank + 1 >= b->n; }

static inline void send_up(Bench *b, uint32_t rank, CsimTime now) {
  bench_send(b, rank, now, EV_TAIL, (rank - 1) / 2, rank % 2 ? FROM_LEFT : FROM_RIGHT);
}

static inline void send_down(Bench *b, uint32_t rank, CsimTime now) {
  for (uint32_t child = 2 * rank + 1; child <= 2 * rank + 2 && child < b->n; child++)
    bench_send(b, rank, now, EV_TAIL, child, FROM_PARENT);
}

static inline void delivered(Bench *b, uint32_t rank, uint64_t from, CsimTime now) {
  if (from == FROM_PARENT) {
    send_down(b, rank, now);
    return;
  }
  Node *node = (Node *)b->own + rank;
  node->got[from]++;
  if (MIN(node->got[0], node->got[1]) == node->passed) return;
  node->passed++;
  if (rank == 0) send_down(b, 0, now);
  else send_up(b, rank, now);
}

static inline void follow(Bench *b, uint32_t leaf, CsimTime tail) {
  Node *node = (Node *)b->own + leaf;
  if (!is_leaf(b, leaf) || node->leaf_left == 0) return;
  node->leaf_left--;
  bench_follow(b, leaf, tail, EV_TAIL, (leaf - 1) / 2, leaf % 2 ? FROM_LEFT : FROM_RIGHT);
}

static void on_event(CsimEngine *engine, void *owner, const CsimEvent *event) {
  Bench *b = owner;
  CsimTime now = event->time;
  if (event->kind == EV_TAIL) {
    if (event->arg != FROM_PARENT) follow(b, 2 * event->entity + 1 + (uint32_t)event->arg, now);
    CsimTime done = bench_receive(b, event->entity, now);
    if (done > now) {
      csim_engine_at(engine, done, b->handler, EV_DELIVERED, event->entity, event->arg);
      return;
    }
  }
  delivered(b, event->entity, event->arg, now);
}

static void begin(Bench *b) {
  for (uint32_t i = 0; i < b->n; i++) {
    Node *node = (Node *)b->own + i;
    if (2 * i + 2 >= b->n) node->got[1] = UINT32_MAX;
    if (!is_leaf(b, i)) continue;
    node->leaf_left = b->spec->chunks - 1;
    send_up(b, i, 0);
  }
}

static CsimBytes message(const CsimBenchSpec *spec) { return spec->bytes / spec->chunks; }

static uint64_t messages(const CsimBenchSpec *spec) { return 2 * (uint64_t)(spec->n_ranks - 1) * spec->chunks; }

const BenchClass csim_bench_tree = {
  .name = "tree",
  .bytes_own = sizeof(Node),
  .message = message,
  .messages = messages,
  .on_event = on_event,
  .begin = begin,
};
