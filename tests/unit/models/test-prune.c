/* Leaving links out of paths: what goes, what stays, and that no max-min rate changes. */
#include "models/prune.h"

#include <math.h>
#include <string.h>

#define N_LINKS 12
#define N_PATHS 16
#define PER_PATH 5

typedef struct {
  CsimPruneLink links[N_LINKS];
  CsimFlowLink pool[N_PATHS * PER_PATH];
  CsimPruneSpan spans[N_PATHS];
  guint n_paths;
} Net;

/* Adds a path over NUL-ended letters: 'a' is link 0. */
static void add_path(Net *net, const char *letters) {
  CsimPruneSpan *span = &net->spans[net->n_paths];
  span->first = net->n_paths++ * PER_PATH;
  span->n = (guint)strlen(letters);
  for (guint i = 0; i < span->n; i++)
    net->pool[span->first + i] = (CsimFlowLink){(CsimLinkId)(letters[i] - 'a'), 1};
}

static guint prune(Net *net) {
  return csim_prune(net->links, N_LINKS, net->pool, net->spans, net->n_paths);
}

static void assert_path(const Net *net, guint path, const char *letters) {
  g_assert_cmpuint(net->spans[path].n, ==, strlen(letters));
  for (guint i = 0; letters[i] != '\0'; i++)
    g_assert_cmpuint(net->pool[net->spans[path].first + i].link, ==, (guint)(letters[i] - 'a'));
}

static Net net_of(const int *capacities) {
  Net net;
  memset(&net, 0, sizeof net);
  for (guint i = 0; i < N_LINKS; i++) net.links[i].capacity = capacities[i];
  return net;
}

/* GPU link a, NIC out b, NIC in c, GPU link d, the way of one ring connection. */
static void test_ring_wire(void) {
  Net net = net_of((const int[N_LINKS]){55, 48, 48, 55});
  add_path(&net, "abcd");
  add_path(&net, "abcd");
  g_assert_cmpuint(prune(&net), ==, 3);
  assert_path(&net, 0, "c");
}

/* A tree head sends to two others: its own wire binds, and each receiver's, which takes from two. */
static void test_tree_wires(void) {
  Net net = net_of((const int[N_LINKS]){55, 48, 48, 48, 48});
  add_path(&net, "abc");
  add_path(&net, "abd");
  add_path(&net, "ec");
  g_assert_cmpuint(prune(&net), ==, 3); /* a; d behind b; e before c */
  assert_path(&net, 0, "bc");
  assert_path(&net, 1, "b");
  assert_path(&net, 2, "c");
}

static void test_sum_of_witnesses(void) {
  Net fits = net_of((const int[N_LINKS]){100, 48, 48}), full = net_of((const int[N_LINKS]){90, 48, 48});
  add_path(&fits, "ab");
  add_path(&fits, "ac");
  add_path(&full, "ab");
  add_path(&full, "ac");
  g_assert_cmpuint(prune(&fits), ==, 1);
  assert_path(&fits, 0, "b");
  g_assert_cmpuint(prune(&full), ==, 0);
}

static void test_weights_and_softness(void) {
  Net heavy = net_of((const int[N_LINKS]){55, 48});
  add_path(&heavy, "ab");
  heavy.pool[0].weight = 1.6f; /* 48 x 1.6 does not fit into a; 55 / 1.6 fits into b */
  g_assert_cmpuint(prune(&heavy), ==, 1);
  assert_path(&heavy, 0, "a");
  Net soft = net_of((const int[N_LINKS]){55, 48});
  soft.links[0].softness = 5;
  add_path(&soft, "ab");
  g_assert_cmpuint(prune(&soft), ==, 0);
  Net empty = net_of((const int[N_LINKS]){1});
  add_path(&empty, "");
  g_assert_cmpuint(prune(&empty), ==, 0);
}

/* Progressive filling, the definition of max-min fairness. */
static void fill(const Net *net, double *rate) {
  gboolean fixed[N_PATHS] = {FALSE};
  for (guint open = net->n_paths; open > 0;) {
    double level = INFINITY;
    guint binding = 0;
    for (guint l = 0; l < N_LINKS; l++) {
      double left = (double)net->links[l].capacity, weight = 0;
      for (guint p = 0; p < net->n_paths; p++)
        for (guint i = 0; i < net->spans[p].n; i++) {
          const CsimFlowLink *link = &net->pool[net->spans[p].first + i];
          if (link->link == l && fixed[p]) left -= rate[p] * (double)link->weight;
          if (link->link == l && !fixed[p]) weight += (double)link->weight;
        }
      if (weight > 0 && left / weight < level) {
        level = left / weight;
        binding = l;
      }
    }
    for (guint p = 0; p < net->n_paths; p++)
      for (guint i = 0; !fixed[p] && i < net->spans[p].n; i++)
        if (net->pool[net->spans[p].first + i].link == binding) {
          fixed[p] = TRUE;
          rate[p] = level;
          open--;
        }
  }
}

static void random_path(Net *net, GRand *random) {
  char letters[PER_PATH + 1] = "";
  guint n = (guint)g_rand_int_range(random, 1, PER_PATH + 1);
  guint used = 0;
  for (guint i = 0; i < n;) {
    guint link = (guint)g_rand_int_range(random, 0, N_LINKS);
    if (used >> link & 1) continue;
    used |= 1u << link;
    letters[i++] = (char)('a' + link);
    letters[i] = '\0';
  }
  add_path(net, letters);
  CsimPruneSpan span = net->spans[net->n_paths - 1];
  static const float weights[] = {1, 1, 1, 1.1f, 1.6f, 2};
  for (guint i = 0; i < span.n; i++)
    net->pool[span.first + i].weight = weights[g_rand_int_range(random, 0, G_N_ELEMENTS(weights))];
}

/* Any set of the paths may be active at a time: rates are compared for random subsets. */
static void compare_subsets(const Net *full, const Net *pruned, GRand *random) {
  for (guint round = 0; round < 8; round++) {
    guint mask = g_rand_int(random);
    Net a = *full, b = *pruned;
    guint n = 0;
    for (guint p = 0; p < full->n_paths; p++) {
      if (!(mask >> p & 1)) continue;
      a.spans[n] = full->spans[p];
      b.spans[n++] = pruned->spans[p];
    }
    double rate_a[N_PATHS], rate_b[N_PATHS];
    a.n_paths = b.n_paths = n;
    fill(&a, rate_a);
    fill(&b, rate_b);
    for (guint p = 0; p < n; p++) g_assert_cmpfloat(fabs(rate_a[p] / rate_b[p] - 1), <, 1e-9);
  }
}

static void test_random_rates(void) {
  GRand *random = g_rand_new_with_seed(11);
  guint dropped = 0;
  for (guint round = 0; round < 2000; round++) {
    Net net;
    memset(&net, 0, sizeof net);
    for (guint l = 0; l < N_LINKS; l++) net.links[l].capacity = 10 * g_rand_int_range(random, 1, 8);
    guint n = (guint)g_rand_int_range(random, 2, N_PATHS);
    for (guint p = 0; p < n; p++) random_path(&net, random);
    Net pruned = net;
    dropped += prune(&pruned);
    for (guint p = 0; p < n; p++) g_assert_cmpuint(pruned.spans[p].n, >, 0);
    compare_subsets(&net, &pruned, random);
  }
  g_assert_cmpuint(dropped, >, 1000);
  g_rand_free(random);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/prune/ring-wire", test_ring_wire);
  g_test_add_func("/prune/tree-wires", test_tree_wires);
  g_test_add_func("/prune/sum-of-witnesses", test_sum_of_witnesses);
  g_test_add_func("/prune/weights-and-softness", test_weights_and_softness);
  g_test_add_func("/prune/random-rates", test_random_rates);
  return g_test_run();
}
