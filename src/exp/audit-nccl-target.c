/* NCCL's lines beside what the target should give (NCCL 2.30's rules): one finding a kind of difference, at its first line. */
#include "exp/audit-nccl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  CsimAudit *audit;
  const NcclFacts *f;
  const CsimAuditTarget *t;
  const CsimCommInfo *info;
} Compare;

static CsimAuditFinding *differ(const Compare *c, CsimLoc loc, double seen, double expected, char *text) {
  CsimAuditFinding *f = csim_audit_find(c->audit, CSIM_AUDIT_NCCL, loc, "%s", text);
  g_free(text);
  f->seen = seen;
  f->expected = expected;
  f->factor = seen > 0 && expected > 0 ? MAX(seen, expected) / MIN(seen, expected) : 0;
  return f;
}

/* --- hardware ---- */

static double nvlink_of(const CsimTopoNode *node) {
  double sum = 0;
  for (guint i = 0; i < node->links->len; i++)
    if (csim_node_link(node, i)->type == CSIM_LINK_NVL) sum += (double)csim_node_link(node, i)->bw;
  return sum;
}

static double pcie_of(const CsimTopoNode *node) {
  double best = 0;
  for (guint i = 0; i < node->links->len; i++)
    if (csim_node_link(node, i)->type == CSIM_LINK_PCI) best = MAX(best, (double)csim_node_link(node, i)->bw);
  return best;
}

/* NVLinks and PCIe hang on the physical GPU (DEV). All GPUs of the shipped nodes are alike; the best of the node is what to expect. */
static double best_of(const CsimSystem *system, double (*of)(const CsimTopoNode *node)) {
  double best = 0;
  for (guint i = 0; i < csim_system_n(system, CSIM_NODE_DEV); i++)
    best = MAX(best, of(csim_system_node(system, CSIM_NODE_DEV, i)));
  for (guint i = 0; i < csim_system_n(system, CSIM_NODE_GPU); i++)
    best = MAX(best, of(csim_system_node(system, CSIM_NODE_GPU, i)));
  return best;
}

static double least_of(const CsimSystem *system, double (*of)(const CsimTopoNode *node)) {
  double least = INFINITY;
  for (guint i = 0; i < csim_system_n(system, CSIM_NODE_DEV); i++)
    least = MIN(least, of(csim_system_node(system, CSIM_NODE_DEV, i)));
  return isfinite(least) ? least : best_of(system, of);
}

static void compare_gpus(const Compare *c) {
  const CsimSystem *system = csim_comm_system(c->t->comm, 0);
  double nvlink = least_of(system, nvlink_of), pcie = least_of(system, pcie_of);
  CsimAuditFinding *slow_nvlink = NULL, *slow_pcie = NULL;
  for (guint i = 0; i < c->f->gpus->len; i++) {
    const NcclGpu *gpu = &g_array_index(c->f->gpus, NcclGpu, i);
    if (gpu->nvlink < nvlink - 0.1) {
      if (slow_nvlink)
        slow_nvlink->more++;
      else
        slow_nvlink =
            differ(c, gpu->loc, gpu->nvlink, nvlink,
                   g_strdup_printf("%s has NVLinks of %.1f GB/s, the target %.1f: a link is missing", gpu->id,
                                   gpu->nvlink, nvlink));
    }
    if (gpu->pci < pcie - 0.1 && gpu->pci > 0) {
      if (slow_pcie)
        slow_pcie->more++;
      else
        slow_pcie = differ(
            c, gpu->loc, gpu->pci, pcie,
            g_strdup_printf("%s has a PCIe link of %.1f GB/s, the target %.1f: fewer lanes or a lower speed",
                            gpu->id, gpu->pci, pcie));
    }
  }
}

static void compare_adapters(const Compare *c) {
  guint want = csim_system_n(csim_comm_system(c->t->comm, 0), CSIM_NODE_NET), seen = c->f->n_devices;
  gboolean sockets = c->f->network && strcmp(c->f->network, "Socket") == 0;
  if (c->info->n_nodes < 2 || sockets || !seen || seen >= want) return;
  differ(c, c->f->devices_loc, seen, want,
         g_strdup_printf("%u network adapters are used, the target has %u a node: %s", seen, want,
                         c->f->devices));
}

/* How far the nearest adapter of a GPU may be: the farthest of the target's. */
static void compare_nearness(const Compare *c) {
  const CsimSystem *system = csim_comm_system(c->t->comm, 0);
  const CsimPaths *paths = csim_comm_paths(c->t->comm, 0);
  int want = -1;
  for (guint g = 0; g < csim_system_n(system, CSIM_NODE_GPU); g++) {
    int best = CSIM_PATH_DIS;
    for (guint n = 0; n < csim_system_n(system, CSIM_NODE_NET); n++)
      best = MIN(best, csim_paths_get(paths, csim_system_node(system, CSIM_NODE_GPU, g),
                                      csim_system_node(system, CSIM_NODE_NET, n))
                           ->type);
    want = MAX(want, best);
  }
  CsimAuditFinding *first = NULL;
  for (guint i = 0; i < c->f->gpus->len && c->info->n_nodes > 1 && want >= 0; i++) {
    const NcclGpu *gpu = &g_array_index(c->f->gpus, NcclGpu, i);
    if (gpu->nearest_net <= want) continue;
    if (first)
      first->more++;
    else
      first = differ(c, gpu->loc, 0, 0,
                     g_strdup_printf("the nearest adapter of %s is %s away, the target's %s", gpu->id,
                                     csim_path_type_name(gpu->nearest_net), csim_path_type_name(want)));
  }
}

/* --- search ---- */

static int graph_of_pattern(int pattern) {
  switch (pattern) {
  case CSIM_PATTERN_RING:
    return CSIM_GRAPH_RING;
  case CSIM_PATTERN_NVLS:
    return CSIM_GRAPH_NVLS;
  case CSIM_PATTERN_COLLNET_DIRECT:
    return CSIM_GRAPH_COLLNET_DIRECT;
  default:
    return CSIM_GRAPH_TREE;
  }
}

static const char *graph_name(int graph) {
  return graph == CSIM_GRAPH_RING   ? "rings"
         : graph == CSIM_GRAPH_TREE ? "trees"
         : graph == CSIM_GRAPH_NVLS ? "NVLS"
                                    : "CollNet";
}

static void compare_pattern(const Compare *c, const NcclPattern *p) {
  int graph = graph_of_pattern(p->pattern);
  const CsimGraph *want = csim_comm_graph(c->t->comm, graph);
  if (!want || !want->n_channels) return;
  if (want->n_channels != p->channels || fabs((double)want->bw_intra - p->bw_intra) > 0.01) {
    differ(c, p->loc, p->channels * p->bw_intra, want->n_channels * (double)want->bw_intra,
           g_strdup_printf("search for %s found %d channels of %.4g GB/s, the target should give %d of %.4g",
                           graph_name(graph), p->channels, p->bw_intra, want->n_channels,
                           (double)want->bw_intra));
  } else if (p->type_intra > want->type_intra || (c->info->n_nodes > 1 && p->type_inter > want->type_inter)) {
    differ(c, p->loc, 0, 0,
           g_strdup_printf("worst path of the %s is %s inside and %s to the network, the target's %s and %s",
                           graph_name(graph), csim_path_type_name(p->type_intra),
                           csim_path_type_name(p->type_inter), csim_path_type_name(want->type_intra),
                           csim_path_type_name(want->type_inter)));
  }
}

/* The first of each graph; the CollNet chain's pattern cannot be told from a tree's and comes after it. */
static void compare_patterns(const Compare *c) {
  guint done = 0;
  for (guint i = 0; i < c->f->patterns->len; i++) {
    const NcclPattern *p = &g_array_index(c->f->patterns, NcclPattern, i);
    guint bit = 1u << graph_of_pattern(p->pattern);
    if (p->type_intra >= 0 && p->type_inter >= 0 && !(done & bit)) compare_pattern(c, p);
    done |= bit;
  }
}

static void compare_count(const Compare *c, int seen, int want, const char *what) {
  if (seen < 0 || seen == want) return;
  differ(c, c->f->channels_loc, seen, want,
         g_strdup_printf("%s channels for %s: %d, the target should give %d", seen < want ? "fewer" : "more",
                         what, seen, want));
}

static void compare_channels(const Compare *c) {
  compare_count(c, c->f->coll_channels, c->info->n_channels, "collectives");
  compare_count(c, c->f->nvls_channels, c->info->n_nvls_channels, "NVLS");
  compare_count(c, c->f->p2p_channels, c->info->n_p2p_channels, "sends and receives");
}

/* --- rings, trees, connections ---- */

/* The printed ring may end in "...", so it is a beginning. */
static gboolean ring_agrees(const Compare *c, const NcclRing *ring) {
  const char *p = ring->ranks;
  int start = csim_comm_ring_position(c->t->comm, ring->channel, 0);
  for (int i = 0; i < c->info->n_ranks; i++) {
    char *end;
    long rank = strtol(p, &end, 10);
    if (end == p || *end == '.') return TRUE;
    if (rank != csim_comm_ring_rank_at(c->t->comm, ring->channel, (start + i) % c->info->n_ranks))
      return FALSE;
    p = end;
  }
  return TRUE;
}

static void compare_rings(const Compare *c) {
  CsimAuditFinding *first = NULL;
  for (guint i = 0; i < c->f->rings->len; i++) {
    const NcclRing *ring = &g_array_index(c->f->rings, NcclRing, i);
    if (ring->channel < 0 || ring->channel >= c->info->n_channels || ring_agrees(c, ring)) continue;
    if (first)
      first->more++;
    else
      first = differ(
          c, ring->loc, 0, 0,
          g_strdup_printf("ring of channel %d goes %s: not the target's order", ring->channel, ring->ranks));
  }
}

static gboolean tree_agrees(const CsimTreeNode *want, const NcclTree *seen) {
  return want->up == seen->up && memcmp(want->down, seen->down, sizeof seen->down) == 0;
}

static void compare_trees(const Compare *c) {
  CsimAuditFinding *first = NULL;
  for (guint i = 0; i < c->f->trees->len; i++) {
    const NcclTree *tree = &g_array_index(c->f->trees, NcclTree, i);
    if (tree->channel < 0 || tree->channel >= c->info->n_channels || tree->rank < 0 ||
        tree->rank >= c->info->n_ranks)
      continue;
    CsimTreeNode want = csim_comm_tree(c->t->comm, tree->channel, tree->rank);
    if (tree_agrees(&want, tree)) continue;
    if (first)
      first->more++;
    else
      first = differ(
          c, tree->loc, 0, 0,
          g_strdup_printf(
              "tree of channel %d: rank %d has %d above and %d, %d, %d below, the target's %d and %d, %d, %d",
              tree->channel, tree->rank, tree->up, tree->down[0], tree->down[1], tree->down[2], want.up,
              want.down[0], want.down[1], want.down[2]));
  }
}

static gboolean are_ring_neighbours(const Compare *c, const NcclConn *conn) {
  int n = c->info->n_ranks;
  if (conn->from < 0 || conn->from >= n || conn->to < 0 || conn->to >= n || conn->channel < 0 ||
      conn->channel >= c->info->n_channels)
    return FALSE;
  int next = (csim_comm_ring_position(c->t->comm, conn->channel, conn->from) + 1) % n;
  return n > 1 && csim_comm_ring_rank_at(c->t->comm, conn->channel, next) == conn->to;
}

static void compare_conns(const Compare *c) {
  static const char *const names[] = {"itself", "P2P", "host memory (SHM)", "the network"};
  CsimAuditFinding *way = NULL, *gdr = NULL;
  for (guint i = 0; i < c->f->conns->len; i++) {
    const NcclConn *conn = &g_array_index(c->f->conns, NcclConn, i);
    if (!are_ring_neighbours(c, conn)) continue;
    CsimConn want = csim_comm_conn(c->t->comm, conn->channel, conn->from, conn->to, FALSE);
    if ((int)want.kind != conn->via) {
      if (way)
        way->more++;
      else
        way = differ(c, conn->loc, 0, 0,
                     g_strdup_printf("ranks %d and %d talk through %s, the target's through %s", conn->from,
                                     conn->to, names[conn->via], names[want.kind]));
    } else if (conn->via == CSIM_CONN_NET && !conn->gdr && !conn->sockets && want.send_gdr && want.recv_gdr) {
      if (gdr)
        gdr->more++;
      else
        gdr = differ(c, conn->loc, 0, 0,
                     g_strdup_printf("ranks %d and %d use the network without GPUDirect RDMA (%s)",
                                     conn->from, conn->to, conn->how));
    }
  }
}

/* --- choices ---- */

static void compare_choices(const Compare *c) {
  CsimAuditFinding *first = NULL;
  for (guint i = 0; i < c->f->choices->len; i++) {
    const NcclChoice *seen = &g_array_index(c->f->choices, NcclChoice, i);
    CsimChoice want;
    if (seen->coll >= CSIM_N_NCCL_FUNCS ||
        !csim_tuning_choose(c->t->tuning, seen->coll, CSIM_TYPE_FLOAT, CSIM_OP_SUM, seen->bytes, &want, NULL))
      continue;
    if (want.algo == seen->algo && want.proto == seen->proto) continue;
    if (first)
      first->more++;
    else
      first = differ(c, seen->loc, 0, 0,
                     g_strdup_printf("%s of %" G_GINT64_FORMAT
                                     " bytes: NCCL chose %s/%s, the target should give %s/%s",
                                     csim_coll_name(seen->coll), (gint64)seen->bytes,
                                     csim_algo_name(seen->algo), csim_proto_name(seen->proto),
                                     csim_algo_name(want.algo), csim_proto_name(want.proto)));
  }
}

void audit_nccl_target(CsimAudit *audit, const NcclFacts *facts, const CsimAuditTarget *target) {
  Compare c = {audit, facts, target, csim_comm_info(target->comm)};
  compare_gpus(&c);
  if (facts->ranks && facts->ranks != c.info->n_ranks)
    return; /* another communicator: its rings and choices are no measure */
  compare_adapters(&c);
  compare_nearness(&c);
  compare_patterns(&c);
  compare_channels(&c);
  compare_rings(&c);
  compare_trees(&c);
  compare_conns(&c);
  audit_table_compare(audit, facts, target->tuning);
  compare_choices(&c);
}
