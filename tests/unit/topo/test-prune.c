/* What machines leave out of routes never matters: max-min rates of random flows are the same over the full ways. */
#include "topo/node-links.h"

#include <math.h>
#include <string.h>

#define MAX_FLOWS 24

typedef struct {
  CsimRoute route;
  double rate;
  gboolean fixed;
} Flow;

/* Progressive filling, the definition of max-min fairness; links by id, weights as in models/fluid.h. */
static void fill(const CsimNodeLinks *n, Flow *flows, guint n_flows) {
  for (guint open = n_flows; open > 0;) {
    double level = INFINITY;
    guint binding = 0;
    for (guint l = 0; l < n->links->len; l++) {
      double left = (double)g_array_index(n->links, CsimNodeLink, l).capacity, weight = 0;
      for (guint f = 0; f < n_flows; f++)
        for (guint i = 0; i < flows[f].route.n; i++) {
          if (flows[f].route.link[i].link != l) continue;
          if (flows[f].fixed)
            left -= flows[f].rate * flows[f].route.link[i].weight;
          else
            weight += flows[f].route.link[i].weight;
        }
      if (weight > 0 && left / weight < level) {
        level = left / weight;
        binding = l;
      }
    }
    g_assert_true(isfinite(level));
    for (guint f = 0; f < n_flows; f++)
      for (guint i = 0; !flows[f].fixed && i < flows[f].route.n; i++)
        if (flows[f].route.link[i].link == binding) {
          flows[f].fixed = TRUE;
          flows[f].rate = level;
          open--;
        }
  }
}

/* Kind of traffic `pick` names: peer GPUs over PCIe, host memory, or network, either way. */
static void make_flow(const CsimNodeLinks *n, guint32 pick, Flow *flow) {
  const CsimNodeGpu *gpu = &g_array_index(n->gpus, CsimNodeGpu, (pick >> 4) % n->gpus->len);
  const CsimNodeGpu *other = &g_array_index(n->gpus, CsimNodeGpu, (pick >> 12) % n->gpus->len);
  const CsimTopoNode *cpu = csim_node_local_cpu(n, other->dev);
  const CsimNodeNet *net =
      n->nets->len > 0 ? &g_array_index(n->nets, CsimNodeNet, (pick >> 20) % n->nets->len) : NULL;
  gboolean ok = TRUE;
  memset(flow, 0, sizeof *flow);
  switch (pick % 5) {
  case 0:
    ok = gpu->dev == other->dev || csim_node_peer_way(n, gpu->dev, other->dev, &flow->route);
    break;
  case 1:
    ok = csim_node_way(n, gpu->dev, cpu, gpu->write_weight, &flow->route);
    break;
  case 2:
    ok = csim_node_way(n, cpu, gpu->dev, gpu->read_weight, &flow->route);
    break;
  case 3:
    if (net == NULL) break;
    ok = csim_node_way(n, gpu->dev, net->nic, 1, &flow->route);
    csim_node_route_add(n, &flow->route, net->out, 1);
    break;
  default:
    if (net == NULL) break;
    csim_node_route_add(n, &flow->route, net->in, 1);
    ok = csim_node_way(n, net->nic, gpu->dev, 1, &flow->route);
    break;
  }
  g_assert_true(ok);
  flow->fixed = flow->route.n == 0;
}

static guint count_fixed(const Flow *flows, guint n) {
  guint fixed = 0;
  for (guint f = 0; f < n; f++) fixed += flows[f].fixed;
  return fixed;
}

static void compare(const CsimNodeLinks *pruned, const CsimNodeLinks *full, GRand *random) {
  Flow a[MAX_FLOWS], b[MAX_FLOWS];
  guint n = 0;
  for (guint i = 0; i < MAX_FLOWS; i++) {
    guint32 pick = g_rand_int(random);
    make_flow(pruned, pick, &a[n]);
    make_flow(full, pick, &b[n]);
    g_assert_cmpuint(a[n].route.n, <=, b[n].route.n);
    if (!a[n].fixed) n++;
  }
  g_assert_cmpuint(count_fixed(a, n), ==, 0);
  fill(pruned, a, n);
  fill(full, b, n);
  for (guint f = 0; f < n; f++) g_assert_cmpfloat(fabs(a[f].rate / b[f].rate - 1), <, 1e-9);
}

static guint clear_pruned(CsimNodeLinks *n) {
  guint cleared = 0;
  for (guint i = 0; i < n->links->len; i++) {
    CsimNodeLink *link = &g_array_index(n->links, CsimNodeLink, i);
    cleared += link->pruned;
    link->pruned = FALSE;
  }
  return cleared;
}

static void test_node(gconstpointer target) {
  g_autoptr(CsimCatalogue) catalogue = csim_catalogue_new(NULL, NULL, NULL);
  g_autoptr(CsimCluster) cluster = csim_cluster_load((const char *)target, 0, NULL);
  g_assert_nonnull(cluster);
  if (csim_cluster_system(cluster, 0)->n_hosts > 1) {
    g_test_skip("several hosts: there is no way between their CPUs");
    return;
  }
  CsimNetModel net;
  csim_net_model_init(catalogue, "ib", 0, &net);
  CsimNodeLinks *pruned = csim_node_links_new(csim_cluster_system(cluster, 0), catalogue, &net);
  CsimNodeLinks *full = csim_node_links_new(csim_cluster_system(cluster, 0), catalogue, &net);
  guint left_out = clear_pruned(full);
  /* Elsewhere something is left out; on these every link can bind. */
  static const char *const nothing[] = {"a100-pcie-8gpu", "a100-pcie-pairs", "aws-p5", "h100-pcie-pairs", "rtx-pro-6000-pcie", "rtx4090-8gpu", NULL};
  if (g_strv_contains(nothing, target)) g_assert_cmpuint(left_out, ==, 0);
  else g_assert_cmpuint(left_out, >, 0);
  GRand *random = g_rand_new_with_seed(7);
  for (guint round = 0; round < 60; round++) compare(pruned, full, random);
  g_rand_free(random);
  csim_node_links_free(pruned);
  csim_node_links_free(full);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (const CsimShippedNode *node = csim_shipped_nodes(); node->name != NULL; node++) {
    g_autofree char *path = g_strdup_printf("/prune/%s", node->name);
    g_test_add_data_func(path, node->name, test_node);
  }
  return g_test_run();
}
