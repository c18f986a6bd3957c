/* Hostlists, the order of a job's nodes, and what is refused. */
#include "topo/cluster.h"
#include "topo/hostlist.h"

#include <string.h>

/* --- hostlists --------------------------------------------------------------- */

static char *expand(const char *text) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) names = csim_hostlist_parse(text, &error);
  if (names == NULL) return g_strdup(error->message);
  g_ptr_array_add(names, NULL);
  return g_strjoinv(" ", (char **)names->pdata);
}

static void test_hostlist(void) {
  static const char *const pairs[][2] = {{"a", "a"},
                                         {"node[1-3]", "node1 node2 node3"},
                                         {"node[001-002,007],login", "node001 node002 node007 login"},
                                         {"r[1-2]n[08-09]", "r1n08 r1n09 r2n08 r2n09"},
                                         {"n[9-10]x", "n9x n10x"},
                                         {"n[098-101]", "n098 n099 n100 n101"}};
  for (gsize i = 0; i < G_N_ELEMENTS(pairs); i++) {
    g_autofree char *got = expand(pairs[i][0]);
    g_assert_cmpstr(got, ==, pairs[i][1]);
  }
}

static void test_bad_hostlist(void) {
  static const char *const pairs[][2] = {{"", "empty"}, {"a,,b", "empty"}, {"n[1-", "not closed"}, {"n]", "not opened"}, {"n[]", "missing"}, {"n[3-1]", "backwards"},
                                         {"n[1-]", "no end"}, {"n[1;2]", "only numbers"}, {"n[0-99999999]", "more than 65536"}, {"n[12345678901]", "missing"}};
  for (gsize i = 0; i < G_N_ELEMENTS(pairs); i++) {
    g_autofree char *got = expand(pairs[i][0]);
    if (strstr(got, pairs[i][1]) == NULL || strstr(got, "allowed:") == NULL) g_error("'%s': wanted '%s' in: %s", pairs[i][0], pairs[i][1], got);
  }
}

/* --- orders ------------------------------------------------------------------ */

static CsimCluster *load(const char *target, const char *placement, guint nodes, uint64_t seed) {
  g_autoptr(GError) error = NULL;
  CsimClusterOptions options = {.n_nodes = nodes, .placement = placement, .seed = seed};
  CsimCluster *c = csim_cluster_load_with(target, &options, &error);
  g_assert_no_error(error);
  return c;
}

static char *places(const CsimCluster *c) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < c->n_nodes; i++) g_string_append_printf(out, "%s%u", i > 0 ? " " : "", c->node_place[i]);
  return g_string_free(out, FALSE);
}

static void assert_places(const char *target, const char *placement, const char *wanted) {
  g_autoptr(CsimCluster) c = load(target, placement, 0, 1);
  g_autofree char *got = places(c);
  g_assert_cmpstr(got, ==, wanted);
  g_assert_cmpuint(c->place_position[c->n_places], ==, c->n_places);
}

/* radix 16, 8 NICs a node: a leaf has 8 ports down, so one node a leaf in a fat tree; rails have 8 nodes a leaf. */
static void test_orders(void) {
  assert_places("dgx-h100*6", NULL, "0 1 2 3 4 5");
  assert_places("dgx-h100*6", "packed,nodes=3", "0 1 2");
  assert_places("dgx-h100*7", "strided,stride=3", "0 3 6 1 4 2 5");
  assert_places("dgx-h100*7", "strided,stride=3,nodes=4", "0 3 6 1");
  assert_places("dgx-h100*6", "hosts=node[4,2-3]", "4 2 3");
  static const char rails[] = "{\"nodes\": [{\"count\": 20, \"xml\": \"dgx-h100\"}], \"fabric\": {\"radix\": 16}, \"placement\": {\"order\": \"spread\"}}";
  assert_places(rails, NULL, "0 8 16 1 9 17 2 10 18 3 11 19 4 12 5 13 6 14 7 15");
}

static void test_named_hosts(void) {
  static const char named[] = "{\"nodes\": [{\"count\": 3, \"xml\": \"dgx-h100\", \"names\": \"gpu[07-09]\"}], \"placement\": {\"hosts\": [\"gpu09\", \"gpu07\"]}}";
  g_autoptr(CsimCluster) c = load(named, NULL, 0, 1);
  g_assert_cmpuint(c->n_nodes, ==, 2);
  g_assert_cmpuint(c->n_places, ==, 3);
  g_assert_cmpstr(csim_cluster_node_name(c, 0), ==, "gpu09");
  g_assert_cmpstr(csim_cluster_node_name(c, 1), ==, "gpu07");
  g_assert_cmpuint(csim_cluster_position(c, 0), ==, 2);
}

/* A seed gives one order, another seed another, and every node comes once. */
static void test_random(void) {
  g_autoptr(CsimCluster) a = load("dgx-h100*64", "random", 0, 5), again = load("dgx-h100*64", "random,seed=5", 0, 9), b = load("dgx-h100*64", "random", 0, 6);
  g_autofree char *one = places(a), *same = places(again), *other = places(b);
  g_assert_cmpstr(one, ==, same);
  g_assert_cmpstr(one, !=, other);
  guint64 seen = 0;
  for (guint i = 0; i < 64; i++) seen |= UINT64_C(1) << a->node_place[i];
  g_assert_cmpuint(seen, ==, UINT64_MAX);
}

/* -N beside a placement is the job's size; the cluster stays. */
static void test_job_size(void) {
  g_autoptr(CsimCluster) c = load("dgx-h100*64", "packed,nodes=4", 12, 1);
  g_assert_cmpuint(c->n_nodes, ==, 12);
  g_assert_cmpuint(c->n_places, ==, 64);
  g_autoptr(CsimCluster) d = load("{\"nodes\": [{\"count\": 64, \"xml\": \"dgx-h100\"}], \"placement\": {}}", NULL, 12, 1);
  g_assert_cmpuint(d->n_nodes, ==, 12);
  g_assert_cmpuint(d->n_places, ==, 64);
}

static guint leaves_used(const CsimCluster *c, guint per_leaf) {
  guint64 used = 0;
  for (guint i = 0; i < c->n_nodes; i++) used |= UINT64_C(1) << (c->node_place[i] / per_leaf);
  return (guint)__builtin_popcountll(used);
}

/* On a half busy cluster: by-leaf needs no more leaves than the packed order, which takes what comes. */
static void test_fragmented(void) {
  guint gain = 0;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    g_autoptr(CsimCluster) packed = load("dgx-h100*256", "busy=0.5,nodes=40", 0, seed), best = load("dgx-h100*256", "by-leaf,busy=0.5,nodes=40", 0, seed);
    g_assert_cmpuint(packed->n_nodes, ==, 40);
    g_assert_cmpuint(leaves_used(best, 32), <=, leaves_used(packed, 32));
    gain += leaves_used(packed, 32) - leaves_used(best, 32);
  }
  g_test_message("leaves saved in 10 draws: %u", gain);
}

/* Mixed nodes keep their kind wherever they go. */
static void test_mixed(void) {
  g_autoptr(CsimCluster) c = load("{\"nodes\": [{\"count\": 2, \"xml\": \"dgx-h100\"}, {\"count\": 2, \"xml\": \"dgx-a100\"}], \"placement\": {\"hosts\": \"node[3,0]\"}}", NULL, 0, 1);
  g_assert_cmpstr(csim_cluster_system(c, 0)->name, ==, "dgx-a100");
  g_assert_cmpstr(csim_cluster_system(c, 1)->name, ==, "dgx-h100");
}

static void assert_refused(const char *target, const char *placement, const char *why) {
  g_autoptr(GError) error = NULL;
  CsimClusterOptions options = {.placement = placement, .seed = 1};
  g_autoptr(CsimCluster) c = csim_cluster_load_with(target, &options, &error);
  g_assert_null(c);
  if (strstr(error->message, why) == NULL || strchr(error->message, '\n') != NULL) g_error("wanted '%s' in: %s", why, error->message);
}

static void test_messages(void) {
  assert_refused("dgx-h100*4", "anyhow", "allowed: packed, random, by-leaf, spread, strided, hosts");
  assert_refused("dgx-h100*4", "packed,nodes=5", "allowed: 1 to 4");
  assert_refused("dgx-h100*4", "random,stride=2", "a stride without order");
  assert_refused("dgx-h100*4", "hosts=node[1,1]", "listed twice");
  assert_refused("dgx-h100*4", "hosts=nod1", "no host 'nod1'");
  assert_refused("dgx-h100*4", "random,hosts=node1", "an order of its own");
  assert_refused("dgx-h100*4", "file=/does/not/exist", "/does/not/exist");
  assert_refused("dgx-h100*4", "packed,sede=3", "seed");
  assert_refused("{\"nodes\": [{\"xml\": \"dgx-h100\"}],\n \"placement\": {\"order\": \"hosts\"}}", NULL, "<target>:2:15: order \"hosts\" without a list");
  assert_refused("{\"nodes\": [{\"count\": 2, \"xml\": \"dgx-h100\",\n \"names\": \"a[1-3]\"}]}", NULL, "<target>:2:11: 3 names for 2 nodes");
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/placement/hostlist", test_hostlist);
  g_test_add_func("/placement/bad-hostlist", test_bad_hostlist);
  g_test_add_func("/placement/orders", test_orders);
  g_test_add_func("/placement/named-hosts", test_named_hosts);
  g_test_add_func("/placement/random", test_random);
  g_test_add_func("/placement/job-size", test_job_size);
  g_test_add_func("/placement/fragmented", test_fragmented);
  g_test_add_func("/placement/mixed", test_mixed);
  g_test_add_func("/placement/messages", test_messages);
  return g_test_run();
}
