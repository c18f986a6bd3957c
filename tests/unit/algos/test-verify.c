/*
 * tests/unit/algos/test-verify.c - every plan, on symbolic data: each rank ends with each contribution
 * exactly once.
 */
#include "toy.h"

#include "collsim/error.h"

static const int channel_counts[] = {1, 2, 3, 16};
/* Primes, one element, less than a byte a rank or channel, multiples. */
static const CsimBytes sizes[] = {1, 7, 251, 1024, 3001};

static void verify(const Toy *toy, CsimColl coll, CsimAlgo algo, int root, CsimBytes bytes, CsimBytes chunk,
                   int slots) {
  g_autoptr(CsimPlan) plan = toy_plan(toy, coll, algo, root, bytes, 16, chunk);
  g_autoptr(GError) error = NULL;
  csim_plan_verify(plan, slots, &error);
  if (error)
    g_error("%d ranks, %d nodes, %d channels, root %d, %d bytes, chunk %d, %d slots: %s", toy->shape.n_ranks,
            toy->n_nodes, toy->n_channels, root, (int)bytes, (int)chunk, slots, error->message);
}

/* Which nodes it can have: any, one, several of one size. */
typedef enum { ANY, ONE, EQUAL } Nodes;

typedef struct {
  const char *name;
  CsimColl coll;
  CsimAlgo algo;
  Nodes nodes;
} Case;

static const Case cases[] = {
    {"ring/all_reduce", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, ANY},
    {"ring/all_gather", CSIM_COLL_ALL_GATHER, CSIM_ALGO_RING, ANY},
    {"ring/reduce_scatter", CSIM_COLL_REDUCE_SCATTER, CSIM_ALGO_RING, ANY},
    {"ring/broadcast", CSIM_COLL_BROADCAST, CSIM_ALGO_RING, ANY},
    {"ring/reduce", CSIM_COLL_REDUCE, CSIM_ALGO_RING, ANY},
    {"tree/all_reduce", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_TREE, ANY},
    {"nvls/all_reduce", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS, ONE},
    {"nvls/all_gather", CSIM_COLL_ALL_GATHER, CSIM_ALGO_NVLS, ONE},
    {"nvls/reduce_scatter", CSIM_COLL_REDUCE_SCATTER, CSIM_ALGO_NVLS, ONE},
    {"nvlstree/all_reduce", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS_TREE, ANY},
    {"pat/all_gather", CSIM_COLL_ALL_GATHER, CSIM_ALGO_PAT, ANY},
    {"pat/reduce_scatter", CSIM_COLL_REDUCE_SCATTER, CSIM_ALGO_PAT, ANY},
    {"p2p/sendrecv", CSIM_COLL_SENDRECV, CSIM_ALGO_P2P, ANY},
    {"p2p/alltoall", CSIM_COLL_ALLTOALL, CSIM_ALGO_P2P, ANY},
    {"p2p/gather", CSIM_COLL_GATHER, CSIM_ALGO_P2P, ANY},
    {"p2p/scatter", CSIM_COLL_SCATTER, CSIM_ALGO_P2P, ANY},
    {"p2p/hypercube", CSIM_COLL_HYPERCUBE, CSIM_ALGO_P2P, ANY},
    {"collnetchain/all_reduce", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_COLLNET_CHAIN, ANY},
    {"collnetdirect/all_reduce", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_COLLNET_DIRECT, ANY},
    {"collnetdirect/all_gather", CSIM_COLL_ALL_GATHER, CSIM_ALGO_COLLNET_DIRECT, EQUAL},
    {"collnetdirect/reduce_scatter", CSIM_COLL_REDUCE_SCATTER, CSIM_ALGO_COLLNET_DIRECT, EQUAL},
    {"nvls-network/all_reduce", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS, ANY},
    {"nvls-network/all_gather", CSIM_COLL_ALL_GATHER, CSIM_ALGO_NVLS, EQUAL},
    {"nvls-network/reduce_scatter", CSIM_COLL_REDUCE_SCATTER, CSIM_ALGO_NVLS, EQUAL},
};

static gboolean can(const Case *c, int n) {
  return c->coll != CSIM_COLL_HYPERCUBE || (n & (n - 1)) == 0;
}

/* A ring needs two messages in flight a connection: with one, everybody would wait for room. NCCL has two
 * chunks at least. */
/* PAT fills NCCL's 8 slots. */
static int least_slots(const Case *c) {
  return c->algo == CSIM_ALGO_PAT ? 8 : c->algo == CSIM_ALGO_RING ? 2 : 1;
}

static void verify_case(const Case *c, int n, int n_channels, CsimBytes bytes) {
  static const int per_node[] = {8, 4, 1, 3};
  int node = c->nodes == ONE ? n : per_node[(n + n_channels) % 4];
  while (c->nodes == EQUAL && n % node != 0) node--;
  g_autoptr(Toy) toy = toy_new_even(n, node, n_channels);
  int root = (n_channels * 7 + (int)bytes) % n, slots = n % 2 ? least_slots(c) : 8;
  verify(toy, c->coll, c->algo, root, bytes, bytes > 2000 ? 208 : 64, slots);
}

/* With 16 channels two of the sizes each time, to save time. */
static gboolean skips(int n, int n_channels, guint size) {
  return n_channels == 16 && size != (guint)n % G_N_ELEMENTS(sizes) && size + 1 < G_N_ELEMENTS(sizes);
}

static void test_ranks(gconstpointer data) {
  const Case *c = data;
  for (int n = 1; n <= 33; n++)
    for (guint i = 0; can(c, n) && i < G_N_ELEMENTS(channel_counts); i++)
      for (guint k = 0; k < G_N_ELEMENTS(sizes); k++)
        if (!skips(n, channel_counts[i], k)) verify_case(c, n, channel_counts[i], sizes[k]);
}

static void test_64_ranks(gconstpointer data) {
  const Case *c = data;
  for (guint i = 0; i < G_N_ELEMENTS(channel_counts); i++) {
    verify_case(c, 64, channel_counts[i], 3001);
    verify_case(c, 64, channel_counts[i], 1);
  }
}

static void test_all_roots(gconstpointer data) {
  const Case *c = data;
  for (int n = 1; n <= 12; n++) {
    g_autoptr(Toy) toy = toy_new_even(n, 4, 3);
    for (int root = 0; root < n; root++) verify(toy, c->coll, c->algo, root, 999, 128, 8);
  }
}

static void test_uneven_nodes(gconstpointer data) {
  static const int nodes[][6] = {{8, 2, 5, 1, 7}, {1, 1, 6}, {3, 8, 8, 2, 1, 4}, {6, 4, 2}};
  const Case *c = data;
  for (guint i = 0; i < G_N_ELEMENTS(nodes); i++) {
    int n = 0;
    while (n < 6 && nodes[i][n] > 0) n++;
    g_autoptr(Toy) toy = toy_new(nodes[i], n, 4, i);
    if (!can(c, toy->shape.n_ranks)) continue;
    for (guint k = 0; k < G_N_ELEMENTS(sizes); k++)
      verify(toy, c->coll, c->algo, 1, sizes[k], 48, MAX(2, least_slots(c)));
  }
}

/* Fewer heads than GPUs, as on nodes whose NVLS search finds few. */
static void test_few_heads(void) {
  for (int heads = 1; heads <= 8; heads++) {
    g_autoptr(Toy) toy = toy_new_even(8, 8, 3), nodes = toy_new_even(24, 8, 2);
    toy->shape.n_heads = nodes->shape.n_heads = heads;
    for (guint k = 0; k < G_N_ELEMENTS(sizes); k++) {
      verify(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS, 0, sizes[k], 64, 1);
      verify(nodes, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS_TREE, 0, sizes[k], 64, 1);
      nodes->shape.n_direct_heads = heads;
      verify(nodes, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS, 0, sizes[k], 64, 1);
      verify(nodes, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_COLLNET_DIRECT, 0, sizes[k], 64, 1);
    }
  }
}

/* A call of 0 bytes does not hang. */
static void test_nothing(void) {
  g_autoptr(Toy) toy = toy_new_even(8, 8, 3), nodes = toy_new_even(8, 4, 3);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    verify(toy, cases[i].coll, cases[i].algo, 0, 0, 64, 2);
    if (cases[i].nodes != ONE) verify(nodes, cases[i].coll, cases[i].algo, 0, 0, 64, 2);
  }
}

/* NCCL's own sizes: 2 MiB chunks, several full loops and a shrunk last one. */
static void test_real_chunks(void) {
  g_autoptr(Toy) toy = toy_new_even(8, 8, 3);
  verify(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, 0, 100000007, 2 << 20, 2);
  verify(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_TREE, 0, 100000007, 512 << 10, 8);
  verify(toy, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS, 0, 100000007, 128 << 10, 8);
}

static void add(const char *what, const Case *c, GTestDataFunc func) {
  g_autofree char *path = g_strdup_printf("/algos/verify/%s/%s", c->name, what);
  g_test_add_data_func(path, c, func);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const Case *c = &cases[i];
    add("1-33-ranks", c, test_ranks);
    add("64-ranks", c, test_64_ranks);
    if (c->nodes == ANY) add("uneven-nodes", c, test_uneven_nodes);
    gboolean rooted = c->coll == CSIM_COLL_BROADCAST || c->coll == CSIM_COLL_REDUCE ||
                      c->coll == CSIM_COLL_GATHER || c->coll == CSIM_COLL_SCATTER;
    if (rooted) add("all-roots", c, test_all_roots);
  }
  g_test_add_func("/algos/verify/few-heads", test_few_heads);
  g_test_add_func("/algos/verify/nothing", test_nothing);
  g_test_add_func("/algos/verify/real-chunks", test_real_chunks);
  return g_test_run();
}
