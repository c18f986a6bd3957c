/*
 * tests/unit/algos/test-plan.c - closed forms: how many primitives, how many bytes, in which order; what is
 * refused.
 */
#include "toy.h"

#include "collsim/error.h"

#include <string.h>

typedef struct {
  int prims, sends, recvs;
  int messages; /* whole ones, to all peers together */
  CsimBytes sent, copied;
} Count;

/* All lanes of one rank. A multicast or a send to all children counts once a peer. */
static Count count_rank(const CsimPlan *plan, int rank) {
  Count count = {0};
  for (int c = 0; c < csim_plan_spec(plan)->n_channels; c++)
    for (int i = 0; i < csim_plan_lanes(plan, rank, c); i++) {
      CsimPlanCursor cursor;
      CsimPrim p;
      csim_plan_start(plan, (CsimLane){rank, c, i}, &cursor);
      while (csim_plan_next(plan, &cursor, &p)) {
        int to = csim_peer_count(p.send_peer, csim_plan_n_peers(plan, cursor.lane, TRUE));
        count.prims++;
        count.sends += (p.flags & CSIM_PRIM_SEND) != 0;
        count.recvs += (p.flags & CSIM_PRIM_RECV) != 0;
        count.sent += to * p.bytes;
        count.messages += to - p.more;
        if (!(p.flags & (CSIM_PRIM_RECV | CSIM_PRIM_SEND))) count.copied += p.bytes;
      }
    }
  return count;
}

static CsimBytes total_sent(const CsimPlan *plan) {
  CsimBytes sent = 0;
  for (int r = 0; r < csim_plan_spec(plan)->shape->n_ranks; r++) sent += count_rank(plan, r).sent;
  return sent;
}

static CsimPlan *small_plan(const Toy *toy, CsimColl coll, CsimAlgo algo, CsimBytes bytes, CsimBytes chunk) {
  return toy_plan(toy, coll, algo, 0, bytes, 16, chunk);
}

/* --- bytes ----------------------------------------------------------------------------------------- */

/* Whatever the size: every byte takes as many hops as the algorithm says, over all ranks together. */
static void test_total_bytes(void) {
  static const CsimBytes sizes[] = {1, 97, 4096, 5003};
  for (int n = 2; n <= 17; n++)
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
      CsimBytes s = sizes[i];
      g_autoptr(Toy) toy = toy_new_even(n, n, 3), nodes = toy_new_even(n, 4, 3);
      struct {
        const Toy *toy;
        CsimColl coll;
        CsimAlgo algo;
        CsimBytes sent;
      } rows[] = {
          {nodes, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, 2 * (n - 1) * s},
          {nodes, CSIM_COLL_ALL_GATHER, CSIM_ALGO_RING, n * (n - 1) * s},
          {nodes, CSIM_COLL_REDUCE_SCATTER, CSIM_ALGO_RING, n * (n - 1) * s},
          {nodes, CSIM_COLL_BROADCAST, CSIM_ALGO_RING, (n - 1) * s},
          {nodes, CSIM_COLL_REDUCE, CSIM_ALGO_RING, (n - 1) * s},
          {nodes, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_TREE, 2 * (n - 1) * s},
          {toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS, 2 * n * s},
          {toy, CSIM_COLL_ALL_GATHER, CSIM_ALGO_NVLS, n * n * s},
          {toy, CSIM_COLL_REDUCE_SCATTER, CSIM_ALGO_NVLS, n * n * s},
          {nodes, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS_TREE, 2 * n * s + 2 * (nodes->n_nodes - 1) * s},
          {nodes, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_COLLNET_CHAIN, (2 * n - nodes->n_nodes) * s},
          {nodes, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_COLLNET_DIRECT, (2 * n - nodes->n_nodes) * s},
          {nodes, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS, nodes->n_nodes > 1 ? (2 * n + nodes->n_nodes) * s : 2 * n * s},
          {nodes, CSIM_COLL_ALL_GATHER, CSIM_ALGO_PAT, n * (n - 1) * s},
          {nodes, CSIM_COLL_REDUCE_SCATTER, CSIM_ALGO_PAT, n * (n - 1) * s},
          {nodes, CSIM_COLL_SENDRECV, CSIM_ALGO_P2P, n * s},
          {nodes, CSIM_COLL_ALLTOALL, CSIM_ALGO_P2P, n * (n - 1) * s},
          {nodes, CSIM_COLL_GATHER, CSIM_ALGO_P2P, (n - 1) * s},
          {nodes, CSIM_COLL_SCATTER, CSIM_ALGO_P2P, (n - 1) * s},
      };
      for (guint k = 0; k < G_N_ELEMENTS(rows); k++) {
        g_autoptr(CsimPlan) plan = small_plan(rows[k].toy, rows[k].coll, rows[k].algo, s, 64);
        g_assert_cmpint(total_sent(plan), ==, rows[k].sent);
      }
    }
}

/* When the size divides, every rank sends the same. */
static void test_bytes_of_a_rank(void) {
  for (int n = 2; n <= 16; n++) {
    g_autoptr(Toy) toy = toy_new_even(n, n, 2);
    CsimBytes s = 2 * 3 * 16 * n; /* channels * loops * bytes * ranks */
    g_autoptr(CsimPlan) all_reduce = small_plan(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, s, 16);
    g_autoptr(CsimPlan) all_gather = small_plan(toy, CSIM_COLL_ALL_GATHER, CSIM_ALGO_RING, s, 16);
    g_autoptr(CsimPlan) alltoall = small_plan(toy, CSIM_COLL_ALLTOALL, CSIM_ALGO_P2P, s, 16);
    for (int r = 0; r < n; r++) {
      g_assert_cmpint(count_rank(all_reduce, r).sent, ==, 2 * (n - 1) * s / n);
      g_assert_cmpint(count_rank(all_gather, r).sent, ==, (n - 1) * s);
      g_assert_cmpint(count_rank(alltoall, r).sent, ==, (n - 1) * s);
      g_assert_cmpint(count_rank(alltoall, r).copied, ==, s);
    }
  }
}

/* Two trees: with an even number of nodes no one-GPU node sends more than twice its data, the two halves
 * together. */
static void test_double_tree_load(void) {
  for (int n = 2; n <= 32; n += 2) {
    g_autoptr(Toy) toy = toy_new_even(n, 1, 2);
    g_autoptr(CsimPlan) plan = small_plan(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_TREE, 2048, 64);
    for (int r = 0; r < n; r++) g_assert_cmpint(count_rank(plan, r).sent, <=, 2 * 2048);
  }
}

/* --- steps ----------------------------------------------------------------------------------------- */

static void test_ring_steps(void) {
  for (int n = 2; n <= 12; n++) {
    g_autoptr(Toy) toy = toy_new_even(n, n, 1);
    CsimBytes s = 5 * 16 * n - 3; /* four full loops and a shorter one */
    g_autoptr(CsimPlan) all_reduce = small_plan(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, s, 16);
    g_autoptr(CsimPlan) gather = small_plan(toy, CSIM_COLL_ALL_GATHER, CSIM_ALGO_RING, 75, 16);
    g_autoptr(CsimPlan) scatter = small_plan(toy, CSIM_COLL_REDUCE_SCATTER, CSIM_ALGO_RING, 75, 16);
    for (int r = 0; r < n; r++) {
      Count count = count_rank(all_reduce, r);
      g_assert_cmpint(count.prims, ==, 5 * (2 * n - 1));
      g_assert_cmpint(count.sends, ==, 5 * (2 * n - 2));
      g_assert_cmpint(count.recvs, ==, 5 * (2 * n - 2));
      g_assert_cmpint(count_rank(gather, r).prims, ==, 5 * n);
      g_assert_cmpint(count_rank(scatter, r).prims, ==, 5 * n);
    }
  }
}

static CsimPlan *one_part(const Toy *toy, CsimPlanPart part, CsimBytes bytes) {
  CsimPlanSpec spec = {.coll = CSIM_COLL_ALL_REDUCE,
                       .algo = CSIM_ALGO_RING,
                       .count_bytes = bytes,
                       .elem_bytes = 4,
                       .n_channels = 1,
                       .parts = &part,
                       .align_bytes = 16,
                       .shape = &toy->shape};
  CsimPlan *plan = csim_plan_new(&spec, NULL);
  g_assert_nonnull(plan);
  return plan;
}

/* The worked examples of the fact sheet (NCCL 2.30 rules, 8 ranks): 1 GiB over 24 channels Simple, 64 KiB
 * over two LL. */
static void test_last_loop(void) {
  g_autoptr(Toy) toy = toy_new_even(8, 8, 1);
  g_autoptr(CsimPlan) big = one_part(toy, (CsimPlanPart){0, 44744704, 2 << 20}, 1 << 30);
  g_autoptr(CsimPlan) small = one_part(toy, (CsimPlanPart){0, 32768, 32768}, 65536);
  CsimPlanCursor cursor;
  CsimPrim p = {0};
  CsimBytes chunks[3] = {0};
  csim_plan_start(big, (CsimLane){0, 0, 0}, &cursor);
  for (int i = 0; csim_plan_next(big, &cursor, &p); i++) chunks[i / 15] = MAX(chunks[i / 15], p.bytes);
  g_assert_cmpint(chunks[0], ==, 2 << 20);
  g_assert_cmpint(chunks[1], ==, 2 << 20);
  g_assert_cmpint(chunks[2], ==, 1398784);
  Count count = count_rank(small, 0);
  g_assert_cmpint(count.sends, ==, 14);
  g_assert_cmpint(count.sent, ==, 14 * 4096);
}

static void test_ring_order(void) {
  static const char *const names[] = {
      "send", "recvReduceSend", "recvReduceSend", "recvReduceCopySend", "recvCopySend", "recvCopySend",
      "recv"};
  static const CsimBytes offsets[] = {0, 48, 32, 16, 0, 48, 32};
  g_autoptr(Toy) toy = toy_new_even(4, 4, 1);
  for (int i = 0; i < 4; i++) toy->order[0][i] = toy->position[0][i] = i;
  g_autoptr(CsimPlan) plan = small_plan(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, 64, 16);
  CsimPlanCursor cursor;
  CsimPrim p;
  csim_plan_start(plan, (CsimLane){1, 0, 0}, &cursor);
  for (int i = 0; i < 7; i++) {
    g_assert_true(csim_plan_next(plan, &cursor, &p));
    g_assert_cmpstr(csim_prim_name(&p), ==, names[i]);
    g_assert_cmpint(p.flags & CSIM_PRIM_SRC ? p.src_offset : offsets[i], ==, offsets[i]);
    g_assert_cmpint(p.flags & CSIM_PRIM_DST ? p.dst_offset : offsets[i], ==, offsets[i]);
    g_assert_cmpint(p.bytes, ==, 16);
  }
  g_assert_false(csim_plan_next(plan, &cursor, &p));
  g_assert_false(csim_plan_next(plan, &cursor, &p)); /* stays at the end */
  g_assert_cmpint(csim_plan_peer(plan, cursor.lane, TRUE, 0).rank, ==, 2);
  g_assert_cmpint(csim_plan_peer(plan, cursor.lane, FALSE, 0).rank, ==, 0);
}

static void test_chain_ends(void) {
  g_autoptr(Toy) toy = toy_new_even(5, 5, 1);
  for (int root = 0; root < 5; root++) {
    g_autoptr(CsimPlan) plan = toy_plan(toy, CSIM_COLL_BROADCAST, CSIM_ALGO_RING, root, 64, 16, 16);
    int last = toy->order[0][(toy->position[0][root] + 4) % 5];
    for (int r = 0; r < 5; r++) {
      CsimLane lane = {r, 0, 0};
      g_assert_cmpint(csim_plan_n_peers(plan, lane, FALSE), ==, r != root);
      g_assert_cmpint(csim_plan_n_peers(plan, lane, TRUE), ==, r != last);
    }
  }
}

/* PAT: log2(n) messages a rank when all blocks of a step fit in one, n - 1 when each fills its own. */
static void test_pat_messages(void) {
  for (int n = 2, log = 1; n <= 64; n++) {
    if (n > 1 << log) log++;
    g_autoptr(Toy) toy = toy_new_even(n, 1, 1);
    for (int i = 0; i < 2; i++) {
      CsimColl coll = i == 0 ? CSIM_COLL_ALL_GATHER : CSIM_COLL_REDUCE_SCATTER;
      g_autoptr(CsimPlan) small = small_plan(toy, coll, CSIM_ALGO_PAT, 4, 64);
      g_autoptr(CsimPlan) large = small_plan(toy, coll, CSIM_ALGO_PAT, 500, 500);
      for (int r = 0; r < n; r++) {
        g_assert_cmpint(count_rank(large, r).messages, ==, n - 1);
        g_assert_cmpint(count_rank(small, r).prims, ==, n);
        if (n == 1 << log) g_assert_cmpint(count_rank(small, r).messages, ==, log);
        g_assert_cmpint(count_rank(small, r).messages, <=, log + 1);
      }
    }
  }
}

/* --- lanes ----------------------------------------------------------------------------------------- */

static void test_tree_lanes(void) {
  g_autoptr(Toy) toy = toy_new_even(12, 3, 2);
  g_autoptr(CsimPlan) plan = small_plan(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_TREE, 256, 16);
  for (int c = 0; c < 2; c++) {
    int roots = 0;
    for (int r = 0; r < 12; r++) {
      gboolean root = csim_plan_lanes(plan, r, c) == 1;
      roots += root;
      g_assert_cmpint(csim_plan_role(plan, (CsimLane){r, c, 0}), ==,
                      root ? CSIM_ROLE_TREE_ROOT : CSIM_ROLE_TREE_UP);
    }
    g_assert_cmpint(roots, ==, 1);
  }
}

static void test_nvls_lanes(void) {
  g_autoptr(Toy) toy = toy_new_even(16, 8, 1);
  toy->shape.n_heads = 4;
  g_autoptr(CsimPlan) plan = small_plan(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS_TREE, 256, 16);
  g_assert_cmpint(csim_plan_lanes(plan, 7, 0), ==, 2);  /* no head: scatter, gather */
  g_assert_cmpint(csim_plan_lanes(plan, 0, 0), ==, 3);  /* a head at the root */
  g_assert_cmpint(csim_plan_lanes(plan, 11, 0), ==, 4); /* a head below it */
  g_assert_cmpint(csim_plan_n_peers(plan, (CsimLane){0, 0, 2}, FALSE), ==, 8 + 1);
  g_assert_cmpint(csim_plan_n_peers(plan, (CsimLane){11, 0, 2}, TRUE), ==, 1);
  g_assert_cmpint(csim_plan_peer(plan, (CsimLane){11, 0, 2}, TRUE, 0).rank, ==, 3);
}

/* Works of a channel run in batches of eight: never more than 8 + 8 lanes and the copy, and all pass the
 * same barriers. */
static void test_batches(void) {
  g_autoptr(Toy) toy = toy_new_even(20, 4, 1);
  g_autoptr(CsimPlan) plan = small_plan(toy, CSIM_COLL_ALLTOALL, CSIM_ALGO_P2P, 100, 16);
  for (int r = 0; r < 20; r++) {
    g_assert_cmpint(csim_plan_lanes(plan, r, 0), ==, 17);
    for (int i = 0; i < 17; i++) {
      CsimPlanCursor cursor;
      CsimPrim p;
      int barriers = 0;
      csim_plan_start(plan, (CsimLane){r, 0, i}, &cursor);
      while (csim_plan_next(plan, &cursor, &p)) barriers += p.flags == CSIM_PRIM_BATCH_END;
      g_assert_cmpint(barriers, ==, 2); /* 20 works: 8, 8, 4 */
    }
  }
}

/* Peers in any order of asking. */
static void test_p2p_peers(void) {
  g_autoptr(Toy) toy = toy_new_even(24, 4, 2);
  g_autoptr(CsimPlan) plan = small_plan(toy, CSIM_COLL_ALLTOALL, CSIM_ALGO_P2P, 10, 16);
  CsimLane lane = {3, 0, 2}, other = {3, 0, 1};
  int n = csim_plan_n_peers(plan, lane, TRUE), first[24];
  g_assert_cmpint(csim_plan_n_peers(plan, lane, FALSE), ==, 0);
  g_assert_cmpint(n, >, 1);
  for (int i = 0; i < n; i++) first[i] = csim_plan_peer(plan, lane, TRUE, i).rank;
  for (int i = n - 1; i >= 0; i--) {
    g_assert_cmpint(csim_plan_peer(plan, lane, TRUE, i).rank, ==, first[i]);
    csim_plan_peer(plan, other, TRUE, 0);
    g_assert_cmpint(csim_plan_peer(plan, lane, TRUE, i).rank, ==, first[i]);
    g_assert_cmpint(csim_plan_peer(plan, lane, TRUE, i).rank, ==, first[i]);
  }
}

/* --- refusals, registry, text ---------------------------------------------------------------------- */

static void assert_refused(const Toy *toy, CsimColl coll, CsimAlgo algo, int root, CsimErrorCode code,
                           const char *text) {
  CsimPlanPart parts[TOY_MAX_CHANNELS] = {{0, 64, 16}};
  CsimPlanSpec spec = {.coll = coll,
                       .algo = algo,
                       .count_bytes = 64,
                       .elem_bytes = 4,
                       .root = root,
                       .n_channels = toy->n_channels,
                       .parts = parts,
                       .align_bytes = 16,
                       .shape = &toy->shape};
  g_autoptr(GError) error = NULL;
  g_assert_null(csim_plan_new(&spec, &error));
  g_assert_error(error, CSIM_ERROR, (int)code);
  g_assert_cmpstr(error->message, ==, text);
}

static void test_refused(void) {
  g_autoptr(Toy) toy = toy_new_even(6, 3, 1), node = toy_new_even(6, 6, 1), uneven = toy_new_even(7, 4, 1);
  node->shape.n_heads = 4;
  toy->shape.network = FALSE;
  assert_refused(toy, CSIM_COLL_ALL_GATHER, CSIM_ALGO_TREE, 0, CSIM_ERROR_UNSUPPORTED,
                 "there is no Tree for all_gather");
  assert_refused(toy, CSIM_COLL_ALL_GATHER, CSIM_ALGO_PAT, 0, CSIM_ERROR_UNSUPPORTED,
                 "PAT all_gather is not simulated here");
  assert_refused(toy, CSIM_COLL_ALLTOALL, CSIM_ALGO_RING, 0, CSIM_ERROR_UNSUPPORTED,
                 "there is no Ring for alltoall");
  assert_refused(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_P2P, 0, CSIM_ERROR_UNSUPPORTED,
                 "there is no send/recv form for all_reduce");
  assert_refused(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS, 0, CSIM_ERROR_UNSUPPORTED,
                 "NVLS all_reduce on several nodes needs CollNet (SHARP)");
  assert_refused(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_COLLNET_CHAIN, 0, CSIM_ERROR_UNSUPPORTED,
                 "CollNetChain all_reduce needs a network that reduces (SHARP)");
  assert_refused(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_COLLNET_DIRECT, 0, CSIM_ERROR_UNSUPPORTED,
                 "CollNetDirect all_reduce needs a network that reduces (SHARP)");
  assert_refused(uneven, CSIM_COLL_ALL_GATHER, CSIM_ALGO_COLLNET_DIRECT, 0, CSIM_ERROR_UNSUPPORTED,
                 "CollNetDirect all_gather needs every GPU as a head");
  assert_refused(uneven, CSIM_COLL_REDUCE_SCATTER, CSIM_ALGO_NVLS, 0, CSIM_ERROR_UNSUPPORTED,
                 "NVLS reduce_scatter needs every GPU as a head");
  assert_refused(node, CSIM_COLL_ALL_GATHER, CSIM_ALGO_NVLS, 0, CSIM_ERROR_UNSUPPORTED,
                 "NVLS all_gather needs every GPU of the node as a head");
  assert_refused(toy, CSIM_COLL_HYPERCUBE, CSIM_ALGO_P2P, 0, CSIM_ERROR_UNSUPPORTED,
                 "hypercube with 6 ranks; the number must be a power of two");
  assert_refused(toy, CSIM_COLL_BROADCAST, CSIM_ALGO_RING, 6, CSIM_ERROR_VALUE,
                 "root 6 is not a rank; ranks are 0 to 5");
  assert_refused(toy, CSIM_COLL_GATHER, CSIM_ALGO_P2P, -1, CSIM_ERROR_VALUE,
                 "root -1 is not a rank; ranks are 0 to 5");
}

static void test_registry(void) {
  guint n;
  const CsimAlgoInfo *infos = csim_algos(&n);
  g_assert_cmpuint(n, >=, 6);
  g_assert_cmpstr(infos[0].name, ==, "Ring");
  g_assert_cmpstr(infos[0].colls, ==, "broadcast,reduce,all_gather,reduce_scatter,all_reduce");
  for (guint i = 0; i < n; i++) g_assert_true(infos[i].summary && *infos[i].summary);
}

static void test_print(void) {
  g_autoptr(Toy) toy = toy_new_even(2, 2, 1);
  g_autoptr(CsimPlan) plan = small_plan(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, 64, 32);
  g_autoptr(GString) text = g_string_new(NULL);
  csim_plan_print(plan, text);
  g_assert_cmpstr(text->str, ==,
                  "all_reduce Ring: 2 ranks, 1 channel, 64 bytes\n"
                  "rank 0 channel 0 ring\n"
                  "     0  send                     32 B in[32..64) to 1\n"
                  "     1  recvReduceCopySend       32 B from 1 in[0..32) -> out[0..32) to 1\n"
                  "     2  recv                     32 B from 1 -> out[32..64)\n"
                  "rank 1 channel 0 ring\n"
                  "     0  send                     32 B in[0..32) to 0\n"
                  "     1  recvReduceCopySend       32 B from 0 in[32..64) -> out[32..64) to 0\n"
                  "     2  recv                     32 B from 0 -> out[0..32)\n");
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/algos/plan/total-bytes", test_total_bytes);
  g_test_add_func("/algos/plan/bytes-of-a-rank", test_bytes_of_a_rank);
  g_test_add_func("/algos/plan/double-tree-load", test_double_tree_load);
  g_test_add_func("/algos/plan/ring-steps", test_ring_steps);
  g_test_add_func("/algos/plan/pat-messages", test_pat_messages);
  g_test_add_func("/algos/plan/last-loop", test_last_loop);
  g_test_add_func("/algos/plan/ring-order", test_ring_order);
  g_test_add_func("/algos/plan/chain-ends", test_chain_ends);
  g_test_add_func("/algos/plan/tree-lanes", test_tree_lanes);
  g_test_add_func("/algos/plan/nvls-lanes", test_nvls_lanes);
  g_test_add_func("/algos/plan/batches", test_batches);
  g_test_add_func("/algos/plan/p2p-peers", test_p2p_peers);
  g_test_add_func("/algos/plan/refused", test_refused);
  g_test_add_func("/algos/plan/registry", test_registry);
  g_test_add_func("/algos/plan/print", test_print);
  return g_test_run();
}
