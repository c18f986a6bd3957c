/*
 * tests/unit/algos/test-mutants.c - can the verifier fail? Plans with one primitive broken, each in each
 * way, must all be refused.
 */
#include "toy.h"

#include "algos/plan-private.h"

#include <string.h>

typedef enum {
  KEEP,
  SKIP,
  TWICE,
  NO_SRC,
  NO_DST,
  NO_SEND,
  ADD_SRC,
  SHIFT_SRC,
  SHIFT_DST,
  SHORTER,
  N_CHANGES
} Change;

/* One primitive of one lane is changed. Plans know nothing of their caller, so this stands beside them. */
static struct {
  PlanNext real;
  CsimLane lane;
  int step, seen;
  Change change;
  gboolean changed, repeat;
  CsimPrim last;
} mutant;

static gboolean is_target(CsimLane l) {
  return l.rank == mutant.lane.rank && l.channel == mutant.lane.channel && l.index == mutant.lane.index;
}

static gboolean drop(CsimPrim *p, guint flag) {
  if (!(p->flags & flag)) return FALSE;
  p->flags = (uint16_t)(p->flags & ~flag);
  if (flag == CSIM_PRIM_SEND) p->send_peer = CSIM_PEER_NONE;
  return TRUE;
}

static gboolean shift(CsimPrim *p, guint flag, CsimBytes *offset) {
  if (!(p->flags & flag)) return FALSE;
  *offset += *offset > 0 ? -1 : 1;
  return TRUE;
}

/* FALSE if this change means nothing for the primitive. */
static gboolean change(CsimPrim *p, Change how) {
  switch (how) {
  case NO_SRC:
    return (p->flags & CSIM_PRIM_RECV) && drop(p, CSIM_PRIM_SRC);
  case NO_DST:
    return drop(p, CSIM_PRIM_DST);
  case NO_SEND:
    return drop(p, CSIM_PRIM_SEND);
  case ADD_SRC:
    if (!(p->flags & CSIM_PRIM_RECV) || (p->flags & CSIM_PRIM_SRC)) return FALSE;
    p->flags |= CSIM_PRIM_SRC;
    p->src_offset = p->dst_offset;
    return TRUE;
  case SHIFT_SRC:
    return shift(p, CSIM_PRIM_SRC, &p->src_offset);
  case SHIFT_DST:
    return shift(p, CSIM_PRIM_DST, &p->dst_offset);
  case SHORTER:
    p->bytes--;
    return TRUE;
  default:
    return TRUE;
  }
}

static gboolean broken_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out) {
  if (is_target(cursor->lane) && mutant.repeat) {
    mutant.repeat = FALSE;
    *out = mutant.last;
    return TRUE;
  }
  if (!mutant.real(plan, cursor, out)) return FALSE;
  if (!is_target(cursor->lane) || mutant.seen++ != mutant.step) return TRUE;
  if (out->bytes == 0 || (out->flags & (CSIM_PRIM_BATCH_END | CSIM_PRIM_KERNEL_END))) return TRUE;
  mutant.changed = change(out, mutant.change);
  if (mutant.change == SKIP) return mutant.real(plan, cursor, out);
  mutant.repeat = mutant.change == TWICE;
  mutant.last = *out;
  return TRUE;
}

/* TRUE if the plan is still found good. */
static gboolean survives(CsimPlan *plan, CsimLane lane, int step, Change how, char **message) {
  g_autoptr(GError) error = NULL;
  memset(&mutant, 0, sizeof mutant);
  mutant.real = plan->next;
  mutant.lane = lane;
  mutant.step = step;
  mutant.change = how;
  plan->next = broken_next;
  gboolean good = csim_plan_verify(plan, 8, &error);
  plan->next = mutant.real;
  g_assert(good == (error == NULL));
  if (message) *message = g_strdup(error ? error->message : "");
  return good;
}

static int count_steps(const CsimPlan *plan, CsimLane lane) {
  CsimPlanCursor cursor;
  CsimPrim p;
  int n = 0;
  csim_plan_start(plan, lane, &cursor);
  while (csim_plan_next(plan, &cursor, &p)) n++;
  return n;
}

static void break_lane(CsimPlan *plan, CsimLane lane, int *n_mutants) {
  for (int step = 0, n = count_steps(plan, lane); step < n; step++)
    for (Change how = SKIP; how < N_CHANGES; how++) {
      gboolean good = survives(plan, lane, step, how, NULL);
      if (mutant.changed && good)
        g_error("change %d of step %d of rank %d channel %d lane %d is not noticed", how, step, lane.rank,
                lane.channel, lane.index);
      *n_mutants += mutant.changed;
    }
}

static void break_all(CsimColl coll, CsimAlgo algo, int n, int per_node) {
  g_autoptr(Toy) toy = toy_new_even(n, per_node, 2);
  g_autoptr(CsimPlan) plan = toy_plan(toy, coll, algo, 1, 300, 16, 64);
  int n_mutants = 0;
  g_assert_true(survives(plan, (CsimLane){0, 0, 0}, 0, KEEP, NULL));
  for (int rank = 0; rank < n; rank++)
    for (int c = 0; c < 2; c++)
      for (int i = 0; i < csim_plan_lanes(plan, rank, c); i++)
        break_lane(plan, (CsimLane){rank, c, i}, &n_mutants);
  g_test_message("%d mutants refused", n_mutants);
  g_assert_cmpint(n_mutants, >, 50);
}

typedef struct {
  const char *name;
  CsimColl coll;
  CsimAlgo algo;
  int n, per_node;
} Case;

static const Case cases[] = {
    {"ring/all_reduce", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, 5, 2},
    {"ring/all_gather", CSIM_COLL_ALL_GATHER, CSIM_ALGO_RING, 5, 2},
    {"ring/reduce_scatter", CSIM_COLL_REDUCE_SCATTER, CSIM_ALGO_RING, 5, 2},
    {"ring/broadcast", CSIM_COLL_BROADCAST, CSIM_ALGO_RING, 5, 2},
    {"ring/reduce", CSIM_COLL_REDUCE, CSIM_ALGO_RING, 5, 2},
    {"tree/all_reduce", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_TREE, 7, 2},
    {"nvls/all_reduce", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS, 4, 4},
    {"nvls/all_gather", CSIM_COLL_ALL_GATHER, CSIM_ALGO_NVLS, 4, 4},
    {"nvls/reduce_scatter", CSIM_COLL_REDUCE_SCATTER, CSIM_ALGO_NVLS, 4, 4},
    {"nvlstree/all_reduce", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS_TREE, 6, 2},
    {"pat/all_gather", CSIM_COLL_ALL_GATHER, CSIM_ALGO_PAT, 7, 1},
    {"pat/reduce_scatter", CSIM_COLL_REDUCE_SCATTER, CSIM_ALGO_PAT, 7, 1},
    {"collnetchain/all_reduce", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_COLLNET_CHAIN, 6, 2},
    {"collnetdirect/all_reduce", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_COLLNET_DIRECT, 6, 3},
    {"collnetdirect/all_gather", CSIM_COLL_ALL_GATHER, CSIM_ALGO_COLLNET_DIRECT, 4, 2},
    {"collnetdirect/reduce_scatter", CSIM_COLL_REDUCE_SCATTER, CSIM_ALGO_COLLNET_DIRECT, 4, 2},
    {"nvls-network/all_reduce", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS, 6, 3},
    {"nvls-network/all_gather", CSIM_COLL_ALL_GATHER, CSIM_ALGO_NVLS, 4, 2},
    {"nvls-network/reduce_scatter", CSIM_COLL_REDUCE_SCATTER, CSIM_ALGO_NVLS, 4, 2},
    {"p2p/sendrecv", CSIM_COLL_SENDRECV, CSIM_ALGO_P2P, 5, 5},
    {"p2p/alltoall", CSIM_COLL_ALLTOALL, CSIM_ALGO_P2P, 5, 5},
    {"p2p/gather", CSIM_COLL_GATHER, CSIM_ALGO_P2P, 10, 5},
    {"p2p/scatter", CSIM_COLL_SCATTER, CSIM_ALGO_P2P, 10, 5},
    {"p2p/hypercube", CSIM_COLL_HYPERCUBE, CSIM_ALGO_P2P, 4, 2},
};

static void test_case(gconstpointer data) {
  const Case *c = data;
  break_all(c->coll, c->algo, c->n, c->per_node);
}

/* --- what it says ---------------------------------------------------------------------------------- */

static void assert_says(CsimPlan *plan, CsimLane lane, int step, Change how, const char *text) {
  g_autofree char *message = NULL;
  g_assert_false(survives(plan, lane, step, how, &message));
  if (!strstr(message, text)) g_error("\"%s\" does not say \"%s\"", message, text);
}

static void test_messages(void) {
  g_autoptr(Toy) toy = toy_new_even(3, 3, 1);
  for (int i = 0; i < 3; i++) toy->order[0][i] = toy->position[0][i] = i;
  g_autoptr(CsimPlan) plan = toy_plan(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, 0, 48, 16, 16);
  CsimLane lane = {1, 0, 0};

  assert_says(plan, lane, 1, SHORTER,
              "all_reduce Ring: rank 1 channel 0 ring: recvReduceSend expects 15 bytes and rank 0 sends 16");
  assert_says(plan, lane, 1, SHIFT_SRC, "recvReduceSend adds different elements at byte 0 of the message");
  assert_says(plan, lane, 3, ADD_SRC, "adds a contribution twice at byte 0 of the message");
  assert_says(plan, lane, 4, NO_DST, "rank 1: output byte 32 is never stored");
  assert_says(plan, lane, 4, TWICE,
              "dead-lock; rank 1 channel 0 ring waits for data from rank 0, who has ended");
  assert_says(plan, lane, 1, NO_SRC, "has the contributions of ranks 0,2; should have 0-2");
  assert_says(plan, lane, 2, SHIFT_DST, "output byte");
  assert_says(plan, lane, 3, NO_SEND, "dead-lock");
}

/* A ring with room for one message only: everybody waits for room. */
static void test_deadlock(void) {
  g_autoptr(Toy) toy = toy_new_even(4, 4, 1);
  g_autoptr(CsimPlan) plan = toy_plan(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, 0, 64, 16, 16);
  g_autoptr(GError) error = NULL;
  g_assert_false(csim_plan_verify(plan, 1, &error));
  g_assert_nonnull(strstr(error->message, "dead-lock; rank 0 channel 0 ring waits for room towards rank "));
}

static CsimPeer wrong_peer(const CsimPlan *plan, CsimLane lane, gboolean send, int i) {
  CsimPeer peer = plan_ring.peer(plan, lane, send, i);
  if (send && lane.rank == 2) peer.rank = lane.rank;
  return peer;
}

static void test_unpaired(void) {
  g_autoptr(Toy) toy = toy_new_even(4, 4, 1);
  g_autoptr(CsimPlan) plan = toy_plan(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, 0, 64, 16, 16);
  g_autoptr(GError) error = NULL;
  PlanClass broken = plan_ring;
  broken.peer = wrong_peer;
  plan->class = &broken;
  g_assert_false(csim_plan_verify(plan, 2, &error));
  g_assert_nonnull(strstr(error->message, "has no "));
  plan->class = &plan_ring;
}

static void test_cut_element(void) {
  g_autoptr(Toy) toy = toy_new_even(3, 3, 1);
  CsimPlanPart part = {0, 48, 10};
  CsimPlanSpec spec = {.coll = CSIM_COLL_BROADCAST,
                       .algo = CSIM_ALGO_RING,
                       .count_bytes = 48,
                       .elem_bytes = 4,
                       .n_channels = 1,
                       .parts = &part,
                       .align_bytes = 16,
                       .shape = &toy->shape};
  g_autoptr(CsimPlan) plan = csim_plan_new(&spec, NULL);
  g_autoptr(GError) error = NULL;
  g_assert_false(csim_plan_verify(plan, 2, &error));
  g_assert_nonnull(strstr(error->message, "cuts an element of 4 bytes"));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = g_strdup_printf("/algos/mutants/%s", cases[i].name);
    g_test_add_data_func(path, &cases[i], test_case);
  }
  g_test_add_func("/algos/mutants/messages", test_messages);
  g_test_add_func("/algos/mutants/deadlock", test_deadlock);
  g_test_add_func("/algos/mutants/unpaired", test_unpaired);
  g_test_add_func("/algos/mutants/cut-element", test_cut_element);
  return g_test_run();
}
