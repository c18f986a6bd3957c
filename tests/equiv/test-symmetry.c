/*
 * A collapsed run and the full one report the same times to the last bit, over machines, algorithms, protocols, sizes and seeds; and
 * what breaks the symmetry is noticed.
 */
#include "../unit/exec/lab.h"
#include "base/units.h"

#include <glib/gstdio.h>
#include <stdlib.h>

typedef struct {
  const char *target;
  const char *algo, *proto; /* NULL: NCCL's choice */
  CsimColl coll;
  CsimBytes bytes;
  uint64_t seed;
  int iters;
  gboolean ideal; /* no randomness, no stagger: many things happen at the same time */
  const char *qps; /* "NCCL_IB_QPS_PER_CONNECTION=...", or NULL */
} Case;

static CsimExecResult call_with(const Case *c, gboolean full, CsimLinkLoad **loads, guint *n_loads) {
  g_autofree char *algo = g_strdup_printf("NCCL_ALGO=%s", c->algo ? c->algo : "");
  g_autofree char *proto = g_strdup_printf("NCCL_PROTO=%s", c->proto ? c->proto : "");
  const char *overrides[6] = {"NCCL_COLLNET_ENABLE=1", "NCCL_PAT_ENABLE=1"}; /* without SHARP in the fabric, or PAT asked for, they say nothing */
  guint n = 2;
  if (c->algo) overrides[n++] = algo;
  if (c->proto) overrides[n++] = proto;
  if (c->qps) overrides[n++] = c->qps;
  CsimExecSpec spec = {.iters = c->iters, .seed = c->seed, .no_symmetry = full};
  g_autoptr(Lab) lab = lab_new(c->target, 0, overrides, c->ideal ? lab_ideal : NULL, &spec);
  CsimExecResult result = lab_call(lab, c->coll, c->bytes);
  const CsimLinkLoad *list = csim_exec_loads(lab->exec, n_loads);
  *loads = g_memdup2(list, *n_loads * sizeof *list);
  return result;
}

static void say(const Case *c, const CsimExecResult *full, const CsimExecResult *collapsed) {
  g_test_message("%s %s %s %s %" G_GINT64_FORMAT " B seed %" G_GUINT64_FORMAT ": %.6f us full, %.6f us collapsed; events %" G_GUINT64_FORMAT
                 " and %" G_GUINT64_FORMAT, c->target, csim_coll_name(c->coll), csim_algo_name(full->choice.algo),
                 csim_proto_name(full->choice.proto), c->bytes, c->seed, full->time_us, collapsed->time_us, full->events, collapsed->events);
}

static void assert_same_loads(const CsimLinkLoad *a, guint n_a, const CsimLinkLoad *b, guint n_b) {
  g_assert_cmpuint(n_a, ==, n_b);
  for (guint i = 0; i < n_a; i++) {
    g_assert_cmpuint(a[i].link, ==, b[i].link);
    g_assert_cmpint(a[i].use.busy, ==, b[i].use.busy);
    g_assert_cmpint(a[i].use.binding, ==, b[i].use.binding);
    g_assert_cmpuint(a[i].use.peak, ==, b[i].use.peak);
    g_assert_cmpfloat_with_epsilon(a[i].use.bytes, b[i].use.bytes, 1e-6 * a[i].use.bytes);
  }
}

/* Returns full events / collapsed events. */
static double compare(const Case *c) {
  g_autofree CsimLinkLoad *full_loads = NULL, *loads = NULL;
  guint n_full, n;
  CsimExecResult full = call_with(c, TRUE, &full_loads, &n_full), collapsed = call_with(c, FALSE, &loads, &n);
  say(c, &full, &collapsed);
  g_assert_cmpint(csim_time_from_us(full.time_us), ==, csim_time_from_us(collapsed.time_us));
  g_assert_cmpfloat(full.where.overhead, ==, collapsed.where.overhead);
  g_assert_cmpfloat(full.where.copy, ==, collapsed.where.copy);
  g_assert_cmpfloat(full.where.link, ==, collapsed.where.link);
  g_assert_cmpfloat(full.where.wait, ==, collapsed.where.wait);
  g_assert_cmpfloat(full.where.credit, ==, collapsed.where.credit);
  assert_same_loads(full_loads, n_full, loads, n);
  g_assert_cmpuint(full.where.busiest, ==, collapsed.where.busiest);
  g_assert_cmpuint(collapsed.events, <=, full.events);
  return (double)full.events / (double)MAX(collapsed.events, 1);
}

static const CsimBytes sizes[] = {4096, 1000004, 8 << 20};

static void sweep(const char *node, const int *counts, guint n_counts, const char *algo, const char *proto, CsimColl coll) {
  for (guint i = 0; i < n_counts; i++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
      g_autofree char *target = g_strdup_printf("%s*%d", node, counts[i]);
      compare(&(Case){target, algo, proto, coll, sizes[s], 1 + i + s, 1 + 19 * (s == 1)});
    }
}

static const int few[] = {1, 2, 3, 4, 8, 16};

static void test_rings(void) {
  static const char *const protos[] = {"LL", "LL128", "Simple"};
  for (guint p = 0; p < G_N_ELEMENTS(protos); p++) {
    sweep("dgx-h100", few, G_N_ELEMENTS(few), "Ring", protos[p], CSIM_COLL_ALL_REDUCE);
    sweep("dgx-a100", few, 4, "Ring", protos[p], CSIM_COLL_ALL_REDUCE);
    sweep("dgx-1v", few, 4, "Ring", protos[p], CSIM_COLL_ALL_REDUCE);
  }
}

static void test_ring_collectives(void) {
  static const CsimColl colls[] = {CSIM_COLL_ALL_GATHER, CSIM_COLL_REDUCE_SCATTER, CSIM_COLL_BROADCAST, CSIM_COLL_REDUCE};
  for (guint i = 0; i < G_N_ELEMENTS(colls); i++) sweep("dgx-h100", few, 5, "Ring", NULL, colls[i]);
}

static void test_trees(void) {
  sweep("dgx-h100", few, 5, "Tree", "Simple", CSIM_COLL_ALL_REDUCE);
  sweep("dgx-h100", few, 5, "Tree", "LL", CSIM_COLL_ALL_REDUCE);
  sweep("dgx-a100", few, 4, "Tree", "LL128", CSIM_COLL_ALL_REDUCE);
  sweep("l40s-8gpu-pcie", few, 3, "Tree", NULL, CSIM_COLL_ALL_REDUCE);
}

static void test_nvls(void) {
  sweep("dgx-h100", few, 1, "NVLS", NULL, CSIM_COLL_ALL_REDUCE);
  sweep("dgx-h100", few + 1, 4, "NVLSTree", NULL, CSIM_COLL_ALL_REDUCE);
  sweep("dgx-b200", few + 1, 2, "NVLSTree", NULL, CSIM_COLL_ALL_REDUCE);
}

/* A fabric whose switches reduce, and one GPU a node for PAT. */
static void sweep_fabric(const char *xml, const int *counts, guint n_counts, const char *algo, CsimColl coll) {
  for (guint i = 0; i < n_counts; i++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
      g_autofree char *target = g_strdup_printf("{\"nodes\": [{\"xml\": \"%s\", \"count\": %d}], \"fabric\": {\"sharp\": true}}", xml, counts[i]);
      compare(&(Case){target, algo, "Simple", coll, sizes[s], 1 + i + s, 1 + 2 * (s == 1)});
    }
}

static void test_collnet(void) {
  sweep_fabric("dgx-h100", few + 1, 4, "CollNetChain", CSIM_COLL_ALL_REDUCE);
  sweep_fabric("dgx-h100", few + 1, 4, "CollNetDirect", CSIM_COLL_ALL_REDUCE);
  sweep_fabric("dgx-b200", few + 1, 3, "NVLS", CSIM_COLL_ALL_REDUCE);
  sweep_fabric("dgx-h100", few + 1, 3, "CollNetDirect", CSIM_COLL_ALL_GATHER);
  sweep_fabric("dgx-h100", few + 1, 3, "NVLS", CSIM_COLL_REDUCE_SCATTER);
  sweep_fabric("dgx-a100", few + 1, 3, "CollNetChain", CSIM_COLL_ALL_REDUCE);
  sweep_fabric("dgx-a100", few + 1, 2, "PAT", CSIM_COLL_ALL_GATHER);
  sweep_fabric("dgx-h100", few + 1, 2, "PAT", CSIM_COLL_REDUCE_SCATTER);
}

static void test_p2p(void) {
  sweep("dgx-h100", few, 4, NULL, NULL, CSIM_COLL_ALLTOALL);
  sweep("dgx-h100", few, 4, NULL, NULL, CSIM_COLL_SENDRECV);
  sweep("dgx-a100", few, 3, NULL, NULL, CSIM_COLL_ALLTOALL);
  sweep("dgx-h100", few, 3, NULL, NULL, CSIM_COLL_GATHER);
}

/* Queue pairs that take turns over one way are no obstacle. */
static void test_queue_pairs(void) {
  Case ring = {"dgx-h100*16", "Ring", "Simple", CSIM_COLL_ALL_REDUCE, 64 << 20, 1, 2, .qps = "NCCL_IB_QPS_PER_CONNECTION=3"}, tree = ring;
  tree.algo = "Tree";
  tree.target = "dgx-h100*8";
  g_assert_cmpfloat(compare(&ring), >, 7);
  compare(&tree);
}

static void test_machines(void) {
  static const char *const nodes[] = {"dgx-2", "hgx-a800", "hgx-h200", "l40s-8gpu-pcie", "dgx-b200"};
  for (guint i = 0; i < G_N_ELEMENTS(nodes); i++) {
    sweep(nodes[i], few, 4, "Ring", NULL, CSIM_COLL_ALL_REDUCE);
    sweep(nodes[i], few, 3, NULL, NULL, CSIM_COLL_ALL_REDUCE);
  }
}

/* Rings of an even number of nodes repeat every two nodes (odd ones swap channels); an odd number has no such shift. */
static void test_gain(void) {
  Case even = {"dgx-h100*16", "Ring", "Simple", CSIM_COLL_ALL_REDUCE, 8 << 20, 1, 1}, odd = even, rest = even;
  odd.target = "dgx-h100*15";
  rest.bytes = (8 << 20) + 4 * 1001;
  g_assert_cmpfloat(compare(&even), >, 7);
  g_assert_cmpfloat(compare(&odd), <, 2);
  g_assert_cmpfloat(compare(&rest), <, 2);
}

/* --- random clusters: fabrics, routings, planes, placements, faults, mixed nodes ------------------------------------------------- */

static const char *pick(GRand *rand, const char *const *list, guint n) { return list[g_rand_int_range(rand, 0, (gint)n)]; }
#define PICK(rand, list) pick(rand, list, G_N_ELEMENTS(list))

/* What a cluster file may have beside nodes and fabric: something broken, another order. */
static const char *random_rest(GRand *rand) {
  static const char *const rests[] = {
    "", "", "", ", \"placement\": {\"order\": \"random\"}", ", \"placement\": {\"order\": \"strided\", \"stride\": 2}",
    ", \"faults\": [{\"kind\": \"gpu\", \"at\": \"node0/gpu1\", \"clock\": 0.7}]",
    ", \"faults\": [{\"kind\": \"nic\", \"at\": \"*/nic0\", \"rate\": 0.5}]", ", \"faults\": [{\"kind\": \"nic\", \"at\": \"node0/nic1\"}]",
    ", \"faults\": [{\"kind\": \"pcie\", \"at\": \"node0/nic0\", \"width\": 4}], \"placement\": {\"order\": \"random\"}"};
  return PICK(rand, rests);
}

/* Kinds with the members that they take. */
static char *random_fabric(GRand *rand) {
  static const char *const graphs[] = {"\"kind\": \"torus\"", "\"kind\": \"torus\", \"dims\": [3, 3]", "\"kind\": \"dragonfly\", \"radix\": 8",
                                       "\"kind\": \"dragonfly+\", \"radix\": 8"};
  static const char *const kinds[] = {"switch", "fat-tree", "rail", "rail"};
  static const char *const ratios[] = {"1", "2", "4", "[2, 2]"};
  if (g_rand_int_range(rand, 0, 4) == 0) return g_strdup(PICK(rand, graphs));
  const char *kind = PICK(rand, kinds);
  gboolean one_switch = g_str_equal(kind, "switch");
  return g_strdup_printf("\"kind\": \"%s\", \"radix\": %d, \"oversubscription\": %s, \"planes\": %d", kind,
                         one_switch ? 128 : 16 << g_rand_int_range(rand, 0, 2), PICK(rand, ratios), g_rand_int_range(rand, 0, 4) == 0 ? 2 : 1);
}

static char *random_cluster(GRand *rand) {
  static const char *const nodes[] = {"dgx-h100", "dgx-h100", "dgx-a100", "hgx-h200", "dgx-1v"};
  static const char *const routings[] = {"static", "ecmp", "adaptive", "adaptive"};
  const char *node = PICK(rand, nodes);
  gboolean mixed = g_rand_int_range(rand, 0, 8) == 0;
  g_autofree char *fabric = random_fabric(rand);
  return g_strdup_printf("{\"nodes\": [{\"count\": %d, \"xml\": \"%s\"}%s], \"fabric\": {%s, \"routing\": \"%s\"}%s}",
                         g_rand_int_range(rand, 1, 9), node, mixed ? ", {\"count\": 1, \"xml\": \"dgx-h100\"}" : "", fabric,
                         PICK(rand, routings), random_rest(rand));
}

static void random_case(GRand *rand, const char *file) {
  static const char *const protos[] = {"LL", "LL128", "Simple"};
  static const CsimColl colls[] = {CSIM_COLL_ALL_REDUCE, CSIM_COLL_ALL_REDUCE, CSIM_COLL_ALL_GATHER, CSIM_COLL_REDUCE_SCATTER,
                                   CSIM_COLL_BROADCAST, CSIM_COLL_ALLTOALL, CSIM_COLL_SENDRECV};
  g_autofree char *text = random_cluster(rand);
  GError *error = NULL;
  g_file_set_contents(file, text, -1, &error);
  g_assert_no_error(error);
  CsimColl coll = colls[g_rand_int_range(rand, 0, G_N_ELEMENTS(colls))];
  Case c = {.target = file, .coll = coll, .bytes = 4 * (CsimBytes)g_rand_int_range(rand, 1, 600000), .seed = g_rand_int(rand), .iters = 2,
            .ideal = g_rand_int_range(rand, 0, 3) == 0};
  if (g_rand_int_range(rand, 0, 2)) c.bytes = (CsimBytes)1 << g_rand_int_range(rand, 10, 23);
  if (coll <= CSIM_COLL_BROADCAST || coll == CSIM_COLL_ALL_REDUCE) {
    c.algo = coll == CSIM_COLL_ALL_REDUCE && g_rand_int_range(rand, 0, 3) == 0 ? "Tree" : "Ring";
    c.proto = PICK(rand, protos);
  }
  g_test_message("%s", text);
  compare(&c);
}

static void test_random(void) {
  g_autofree char *folder = g_dir_make_tmp("collsim-XXXXXX", NULL), *file = g_build_filename(folder, "cluster.json", NULL);
  const char *first = g_getenv("COLLSIM_TEST_FIRST"), *count = g_getenv("COLLSIM_TEST_COUNT");
  guint from = first ? (guint)atoi(first) : 1, n = count ? (guint)atoi(count) : 40;
  for (guint i = from; i < from + n; i++) {
    GRand *rand = g_rand_new_with_seed(i);
    g_test_message("random case %u", i);
    random_case(rand, file);
    g_rand_free(rand);
  }
  g_remove(file);
  g_rmdir(folder);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/symmetry/gain", test_gain);
  g_test_add_func("/symmetry/rings", test_rings);
  g_test_add_func("/symmetry/ring-collectives", test_ring_collectives);
  g_test_add_func("/symmetry/trees", test_trees);
  g_test_add_func("/symmetry/nvls", test_nvls);
  g_test_add_func("/symmetry/collnet", test_collnet);
  g_test_add_func("/symmetry/p2p", test_p2p);
  g_test_add_func("/symmetry/queue-pairs", test_queue_pairs);
  g_test_add_func("/symmetry/machines", test_machines);
  g_test_add_func("/symmetry/random", test_random);
  return g_test_run();
}
