#include "topo/node-links.h"

/* Cost of a step, so that the cheapest way is the one that traffic takes: inside a PCIe tree before over a host bridge, C2C before
 * PCIe to the same CPU, and another socket last. Only the order matters. */
enum { COST_SWITCH = 10, COST_C2C = 20, COST_HOST_BRIDGE = 30, COST_SOCKET = 100 };

gboolean csim_node_vertex(const CsimNodeLinks *n, const CsimTopoNode *node, guint *vertex) {
  if (node->type == CSIM_NODE_GPU || node->type == CSIM_NODE_NET || node->type == CSIM_NODE_NVS) return FALSE;
  guint v = n->offset[node->type] + (guint)node->index;
  if (v >= n->n_vertices || n->vertex[v] != node) return FALSE;
  *vertex = v;
  return TRUE;
}

static int step_cost(const CsimTopoNode *from, const CsimTopoLink *l) {
  gboolean cpu = from->type == CSIM_NODE_CPU || l->remote->type == CSIM_NODE_CPU;
  switch (l->type) {
  case CSIM_LINK_PCI:
    return cpu ? COST_HOST_BRIDGE : COST_SWITCH;
  case CSIM_LINK_C2C:
    return COST_C2C;
  case CSIM_LINK_NVL:
    return cpu ? COST_C2C : -1; /* Power: GPU to CPU; GPU to GPU is no way for others */
  case CSIM_LINK_SYS:
    return COST_SOCKET;
  case CSIM_LINK_LOC:
    return from->type == CSIM_NODE_PCI && l->remote->type == CSIM_NODE_PCI ? COST_SWITCH : -1;
  case CSIM_LINK_NET:
    break;
  }
  return -1;
}

/* GPUs and NICs end ways; nothing goes through them. */
static gboolean passes(const CsimTopoNode *node) {
  return node->type != CSIM_NODE_DEV && node->type != CSIM_NODE_NIC;
}

static guint nearest_open(const int *cost, const gboolean *done, guint n) {
  guint best = n;
  for (guint v = 0; v < n; v++)
    if (!done[v] && cost[v] < G_MAXINT && (best == n || cost[v] < cost[best])) best = v;
  return best;
}

/* The link of `from` that leads back to `to` as the given one leads there; systems have both directions. */
static guint reverse_link(const CsimTopoNode *from, const CsimTopoNode *to, CsimLinkType type) {
  for (guint i = 0; i < from->links->len; i++)
    if (csim_node_link(from, i)->remote == to && csim_node_link(from, i)->type == type) return i;
  return UINT16_MAX;
}

/* Dijkstra from the target outwards; next[v] is then the first step from v to the target. */
static void ways_to(CsimNodeLinks *n, guint target, int *cost, gboolean *done) {
  uint16_t *next = n->next + (gsize)target * n->n_vertices;
  for (guint v = 0; v < n->n_vertices; v++) {
    cost[v] = G_MAXINT;
    done[v] = FALSE;
    next[v] = UINT16_MAX;
  }
  cost[target] = 0;
  for (guint v = target; v < n->n_vertices; v = nearest_open(cost, done, n->n_vertices)) {
    const CsimTopoNode *node = n->vertex[v];
    done[v] = TRUE;
    if (v != target && !passes(node)) continue;
    for (guint i = 0; i < node->links->len; i++) {
      const CsimTopoLink *l = csim_node_link(node, i);
      guint w = 0;
      int step = step_cost(node, l);
      if (step < 0 || !csim_node_vertex(n, l->remote, &w) || done[w] || cost[v] + step >= cost[w]) continue;
      guint back = reverse_link(l->remote, node, l->type);
      if (back == UINT16_MAX) continue;
      cost[w] = cost[v] + step;
      next[w] = (uint16_t)back;
    }
  }
}

void csim_node_find_ways(CsimNodeLinks *n) {
  n->next = g_new(uint16_t, (gsize)n->n_vertices * n->n_vertices + 1);
  g_autofree int *cost = g_new(int, n->n_vertices + 1);
  g_autofree gboolean *done = g_new(gboolean, n->n_vertices + 1);
  for (guint v = 0; v < n->n_vertices; v++) ways_to(n, v, cost, done);
}

static const CsimTopoLink *step(const CsimNodeLinks *n, guint from, guint target, uint32_t *link) {
  uint16_t i = n->next[(gsize)target * n->n_vertices + from];
  if (i == UINT16_MAX) return NULL;
  *link = n->arc[from][i];
  return csim_node_link(n->vertex[from], i);
}

const CsimTopoNode *csim_node_local_cpu(const CsimNodeLinks *n, const CsimTopoNode *node) {
  guint v = 0;
  const CsimTopoNode *best = NULL;
  guint best_hops = G_MAXUINT;
  if (!csim_node_vertex(n, node, &v)) return NULL;
  for (guint c = 0; c < csim_system_n(n->system, CSIM_NODE_CPU); c++) {
    guint target = n->offset[CSIM_NODE_CPU] + c, at = v, hops = 0;
    uint32_t link = 0;
    const CsimTopoLink *l = NULL;
    while (at != target && (l = step(n, at, target, &link)) != NULL && csim_node_vertex(n, l->remote, &at))
      hops += l->type == CSIM_LINK_SYS ? 100 : 1;
    if (at == target && hops < best_hops) {
      best = n->vertex[target];
      best_hops = hops;
    }
  }
  return best;
}

/* --- routes ------------------------------------------------------------------ */

static CsimTime link_latency(const CsimNodeLinks *n, CsimLinkType type) {
  switch (type) {
  case CSIM_LINK_PCI:
    return n->pcie.link_latency;
  case CSIM_LINK_SYS:
    return n->cpu_latency;
  case CSIM_LINK_C2C:
    return n->c2c_latency;
  case CSIM_LINK_NVL:
    return n->nvlink_latency;
  case CSIM_LINK_LOC:
  case CSIM_LINK_NET:
    break;
  }
  return 0;
}

static CsimTime node_latency(const CsimNodeLinks *n, const CsimTopoNode *node) {
  return node->type == CSIM_NODE_PCI   ? n->pcie.switch_latency
         : node->type == CSIM_NODE_CPU ? n->pcie.root_latency
                                       : 0;
}

void csim_node_route_add(const CsimNodeLinks *n, CsimRoute *route, uint32_t link, double weight) {
  if (link == CSIM_NO_LINK || g_array_index(n->links, CsimNodeLink, link).pruned) return;
  if (route->n < G_N_ELEMENTS(route->link)) route->link[route->n] = (CsimFlowLink){link, (float)weight};
  route->n++;
}

static gboolean is_intel(const CsimTopoNode *node) {
  return node->type == CSIM_NODE_CPU && node->cpu.arch == CSIM_ARCH_X86 &&
         node->cpu.vendor == CSIM_VENDOR_INTEL;
}

/* weight_after: what PCIe links behind an Intel host bridge count. */
static gboolean walk(const CsimNodeLinks *n, const CsimTopoNode *from, const CsimTopoNode *to, double weight,
                     double weight_after, CsimRoute *route) {
  guint at = 0, target = 0;
  if (!csim_node_vertex(n, from, &at) || !csim_node_vertex(n, to, &target)) return FALSE;
  while (at != target) {
    uint32_t link = CSIM_NO_LINK;
    const CsimTopoLink *l = step(n, at, target, &link);
    if (l == NULL || !csim_node_vertex(n, l->remote, &at)) return FALSE;
    csim_node_route_add(n, route, link, l->type == CSIM_LINK_PCI ? weight : 1);
    route->latency += link_latency(n, l->type) + node_latency(n, l->remote);
    if (is_intel(l->remote)) weight = weight_after;
  }
  return route->n <= G_N_ELEMENTS(route->link);
}

gboolean csim_node_way(const CsimNodeLinks *n, const CsimTopoNode *from, const CsimTopoNode *to,
                       double weight, CsimRoute *route) {
  return walk(n, from, to, weight, weight, route);
}

/* Does the way go up to an x86 processor and down again? (C2C and NVLink to the processor are no host bridge.) */
static gboolean turns_at_host_bridge(const CsimNodeLinks *n, guint at, guint target) {
  CsimLinkType before = CSIM_LINK_LOC;
  while (at != target) {
    uint32_t link = CSIM_NO_LINK;
    const CsimTopoLink *l = step(n, at, target, &link);
    const CsimTopoNode *node = n->vertex[at];
    if (l == NULL) return FALSE;
    if (node->type == CSIM_NODE_CPU && node->cpu.arch == CSIM_ARCH_X86 && before == CSIM_LINK_PCI) return TRUE;
    before = l->type;
    if (!csim_node_vertex(n, l->remote, &at)) return FALSE;
  }
  return FALSE;
}

gboolean csim_node_nic_way(const CsimNodeLinks *n, const CsimTopoNode *from, const CsimTopoNode *to,
                           CsimRoute *route) {
  guint at = 0, target = 0;
  if (!csim_node_vertex(n, from, &at) || !csim_node_vertex(n, to, &target)) return FALSE;
  double weight = turns_at_host_bridge(n, at, target) ? 1 / n->pcie.root_share : 1;
  return walk(n, from, to, weight, weight, route);
}

gboolean csim_node_peer_way(const CsimNodeLinks *n, const CsimTopoNode *from, const CsimTopoNode *to,
                            CsimRoute *route) {
  const CsimPcieModel *p = &n->pcie;
  double full = csim_pcie_write_efficiency(p, 0, p->mps);
  return walk(n, from, to, full / csim_pcie_write_efficiency(p, 0, p->kernel_payload),
              full / csim_pcie_write_efficiency(p, 0, p->intel_p2p_payload), route);
}

uint32_t csim_node_nvlink_between(const CsimNodeLinks *n, const CsimTopoNode *from, const CsimTopoNode *to) {
  guint v = 0;
  if (!csim_node_vertex(n, from, &v)) return CSIM_NO_LINK;
  for (guint i = 0; i < from->links->len; i++)
    if (csim_node_link(from, i)->remote == to && csim_node_link(from, i)->type == CSIM_LINK_NVL)
      return n->arc[v][i];
  return CSIM_NO_LINK;
}
