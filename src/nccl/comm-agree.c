/* What all ranks agree on (fact sheet 3.1) and how many channels that gives (3.4). */
#include "nccl/comm-private.h"

/* ---- Agreement: the smallest of what each node can do ---- */

static void merge_graph(CsimGraph *g, const CsimGraph *other) {
  g->n_channels = MIN(g->n_channels, other->n_channels);
  g->same_channels = MIN(g->same_channels, other->same_channels);
  g->bw_intra = MIN(g->bw_intra, other->bw_intra);
  g->bw_inter = MIN(g->bw_inter, other->bw_inter);
  g->type_intra = MAX(g->type_intra, other->type_intra);
  g->type_inter = MAX(g->type_inter, other->type_inter);
  g->cross_nic = MAX(g->cross_nic, other->cross_nic);
}

static void merge_cpu(CsimCommInfo *info, const CsimCommClass *cls, gboolean first) {
  int arch = 0, vendor = 0;
  if (csim_system_n(cls->system, CSIM_NODE_CPU) > 0) {
    const CsimTopoNode *cpu = csim_system_node(cls->system, CSIM_NODE_CPU, 0);
    arch = cpu->cpu.arch;
    vendor = cpu->cpu.vendor;
  }
  info->cpu_arch = first || info->cpu_arch == arch ? arch : CSIM_ARCH_MIXED;
  info->cpu_vendor = first || info->cpu_vendor == vendor ? vendor : CSIM_VENDOR_MIXED;
}

static gboolean all_nvlink(const CsimCommClass *cls) {
  for (int a = 0; a < cls->n_gpus; a++)
    for (int b = 0; b < cls->n_gpus; b++) {
      if (a == b) continue;
      const CsimTopoNode *x = csim_system_node(cls->system, CSIM_NODE_GPU, a),
                         *y = csim_system_node(cls->system, CSIM_NODE_GPU, b);
      if (csim_paths_get(cls->paths, x, y)->type >= CSIM_PATH_PIX) return FALSE;
    }
  return TRUE;
}

/* The slowest way from a GPU to its own NIC; 0 without NICs. */
static float min_net_bw(const CsimCommClass *cls) {
  float bw = 0;
  for (int g = 0; g < cls->n_gpus; g++) {
    const CsimTopoNode *gpu = csim_system_node(cls->system, CSIM_NODE_GPU, g);
    const CsimTopoNode *net =
        csim_system_n(cls->system, CSIM_NODE_NET) ? csim_paths_local_net(cls->paths, gpu, 0) : NULL;
    if (!net) return 0;
    float here = csim_paths_get(cls->paths, gpu, net)->bw;
    bw = g == 0 ? here : MIN(bw, here);
  }
  return bw;
}

static void merge_class(CsimComm *c, const CsimCommClass *cls, gboolean first) {
  CsimCommInfo *info = &c->info;
  for (int g = 0; g < CSIM_N_GRAPHS; g++) {
    if (first)
      c->agreed[g] = cls->graph[g];
    else
      merge_graph(&c->agreed[g], &cls->graph[g]);
  }
  merge_cpu(info, cls, first);
  info->min_sm = first ? cls->limits.min_sm : MIN(info->min_sm, cls->limits.min_sm);
  info->max_sm = first ? cls->limits.max_sm : MAX(info->max_sm, cls->limits.max_sm);
  info->min_local_ranks = first ? cls->n_gpus : MIN(info->min_local_ranks, cls->n_gpus);
  info->max_local_ranks = first ? cls->n_gpus : MAX(info->max_local_ranks, cls->n_gpus);
  info->all_nvlink = (first || info->all_nvlink) && all_nvlink(cls);
  float bw = min_net_bw(cls);
  info->min_net_bw = first ? bw : MIN(info->min_net_bw, bw);
}

/* In node order, so that "the first node" is node 0's class whichever system comes first in the cluster. */
void csim_comm_agree(CsimComm *c) {
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  for (int n = 0; n < c->info.n_nodes; n++) {
    const CsimCommClass *cls = c->node[n].cls;
    if (!g_hash_table_add(seen, (gpointer)cls)) continue;
    g_ptr_array_add(c->classes, (gpointer)cls);
    merge_class(c, cls, n == 0);
  }
  CsimGraph *ring = &c->agreed[CSIM_GRAPH_RING], *tree = &c->agreed[CSIM_GRAPH_TREE];
  ring->n_channels = tree->n_channels = MIN(ring->n_channels, tree->n_channels);
  c->n_search_channels = ring->n_channels;
  int threshold = (int)csim_nccl_env_int(c->env, "NCCL_COLLNET_NODE_THRESHOLD", 2);
  if (c->agreed[CSIM_GRAPH_COLLNET_CHAIN].n_channels == 0 || c->info.n_nodes < threshold) c->coll_net = FALSE;
}

/* ---- Channel counts ---- */

/* A channel beyond those there are repeats an earlier one. */
static int copy_channels(CsimComm *c, int start, int end) {
  for (int i = start; i < end; i++) c->base[i] = c->base[i - start];
  return MAX(start, end);
}

static int limit(const CsimNcclEnv *env, const char *old_name, const char *name, int fallback, int low) {
  int n = (int)csim_nccl_env_int(env, name, csim_nccl_env_int(env, old_name, fallback));
  return CLAMP(n, low, CSIM_MAX_CHANNELS);
}

int csim_comm_ctas(const CsimNcclEnv *env, gboolean max) {
  int fallback = max ? CSIM_MAX_CHANNELS : 1;
  int n = (int)csim_nccl_env_int(env, max ? "NCCL_MAX_CTAS" : "NCCL_MIN_CTAS", fallback);
  return n <= 0 ? fallback : MIN(n, CSIM_MAX_CHANNELS);
}

static int log2_floor(int n) {
  int l = 0;
  while (n > 1) {
    n >>= 1;
    l++;
  }
  return l;
}

static int grow(CsimComm *c, int n) {
  const CsimGraph *ring = &c->agreed[CSIM_GRAPH_RING], *chain = &c->agreed[CSIM_GRAPH_COLLNET_CHAIN];
  if (c->coll_net && chain->bw_intra > chain->bw_inter && c->info.n_ranks > c->info.n_nodes)
    n = copy_channels(c, n, MIN(CSIM_MAX_CHANNELS, n + n / 2));
  if (c->info.min_sm >= 90 && c->info.n_nodes > 1 && ring->bw_intra > 45.0 && n < 16)
    n = copy_channels(c, n, 2 * n);
  return n;
}

void csim_comm_count_channels(CsimComm *c) {
  int n = MIN(CSIM_MAX_CHANNELS, c->n_search_channels * 2);
  for (int i = 0; i < n; i++) c->base[i] = i;
  n = grow(c, n);
  int max = limit(c->env, "NCCL_MAX_NRINGS", "NCCL_MAX_NCHANNELS", CSIM_MAX_CHANNELS, 1);
  int min = limit(c->env, "NCCL_MIN_NRINGS", "NCCL_MIN_NCHANNELS", 0, 0);
  n = MIN(n, MIN(max, csim_comm_ctas(c->env, TRUE)));
  n = copy_channels(c, n, MAX(min, csim_comm_ctas(c->env, FALSE)));
  c->info.n_channels = n;
  c->info.tree_depth = c->info.n_ranks / c->info.n_nodes - 1 + log2_floor(c->info.n_nodes);
  c->info.n_collnet_channels = c->coll_net ? n : 0;
}
