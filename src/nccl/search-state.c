/* Building the flattened system, and moving bandwidth along paths. */
#include "nccl/search-state.h"

#include <stdlib.h>
#include <string.h>

static int link_id(const CsimSearch *s, const CsimTopoNode *owner, const CsimTopoLink *link) {
  int first = GPOINTER_TO_INT(g_hash_table_lookup(s->first_link, owner)) - 1;
  return first + (int)(link - (const CsimTopoLink *)(gpointer)owner->links->data);
}

static int reverse_id(const CsimSearch *s, const CsimTopoNode *node, const CsimTopoLink *link) {
  const CsimTopoNode *remote = link->remote;
  for (guint i = 0; i < remote->links->len; i++) {
    const CsimTopoLink *back = &g_array_index(remote->links, CsimTopoLink, i);
    if (back->remote == node && back->type == link->type) return link_id(s, remote, back);
  }
  return -1;
}

static CsimSearchLink flatten_link(const CsimSearch *s, const CsimTopoNode *node, const CsimTopoLink *link) {
  const CsimTopoNode *remote = link->remote;
  return (CsimSearchLink){.bw = link->bw,
                          .reverse = reverse_id(s, node, link),
                          .pci = link->type == CSIM_LINK_PCI,
                          .old_gpu = remote->type == CSIM_NODE_DEV && remote->dev.sm < 80,
                          .power_nvl = link->type == CSIM_LINK_NVL && remote->type == CSIM_NODE_CPU &&
                                       remote->cpu.arch == CSIM_ARCH_POWER};
}

static void build_links(CsimSearch *s) {
  int n = 0;
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++)
    for (guint i = 0; i < csim_system_n(s->system, t); i++) {
      CsimTopoNode *node = csim_system_node(s->system, t, i);
      g_hash_table_insert(s->first_link, node, GINT_TO_POINTER(n + 1));
      n += (int)node->links->len;
    }
  s->n_links = n;
  s->links = g_new0(CsimSearchLink, n + 1);
  int at = 0;
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++)
    for (guint i = 0; i < csim_system_n(s->system, t); i++) {
      CsimTopoNode *node = csim_system_node(s->system, t, i);
      for (guint l = 0; l < node->links->len; l++)
        s->links[at++] = flatten_link(s, node, &g_array_index(node->links, CsimTopoLink, l));
    }
}

static gboolean is_intel(const CsimTopoNode *node) {
  return node->type == CSIM_NODE_CPU && node->cpu.arch == CSIM_ARCH_X86 &&
         node->cpu.vendor == CSIM_VENDOR_INTEL;
}

static CsimSearchPath flatten_path(CsimSearch *s, const CsimTopoNode *a, const CsimTopoNode *b) {
  const CsimPath *path = csim_paths_get(s->paths, a, b);
  CsimSearchPath out = {
      .type = path->type, .bw = path->bw, .first = (int)s->hops->len, .n_links = path->n_links};
  const CsimTopoNode *node = a;
  for (int i = 0; i < path->n_links; i++) {
    int id = link_id(s, node, path->link[i]);
    g_array_append_val(s->hops, id);
    node = path->link[i]->remote;
    out.intel = out.intel || is_intel(node);
  }
  return out;
}

static CsimSearchPath *flatten_paths(CsimSearch *s, CsimNodeType from, CsimNodeType to) {
  guint rows = csim_system_n(s->system, from), cols = csim_system_n(s->system, to);
  CsimSearchPath *paths = g_new0(CsimSearchPath, rows * cols + 1);
  for (guint a = 0; a < rows; a++)
    for (guint b = 0; b < cols; b++)
      paths[a * cols + b] =
          flatten_path(s, csim_system_node(s->system, from, a), csim_system_node(s->system, to, b));
  return paths;
}

static void build_paths(CsimSearch *s) {
  s->hops = g_array_new(FALSE, FALSE, sizeof(int));
  s->gpu_gpu = flatten_paths(s, CSIM_NODE_GPU, CSIM_NODE_GPU);
  s->gpu_net = flatten_paths(s, CSIM_NODE_GPU, CSIM_NODE_NET);
  s->net_gpu = flatten_paths(s, CSIM_NODE_NET, CSIM_NODE_GPU);
  s->nvs_gpu = flatten_paths(s, CSIM_NODE_NVS, CSIM_NODE_GPU);
  s->gpu_nvs = flatten_paths(s, CSIM_NODE_GPU, CSIM_NODE_NVS);
}

const CsimSearchPath *csim_search_path(const CsimSearch *s, CsimSearchEnd from, int a, CsimSearchEnd to,
                                       int b) {
  if (from == CSIM_FROM_NVS) return &s->nvs_gpu[a * s->n_gpus + b];
  if (from == CSIM_FROM_NET) return &s->net_gpu[a * s->n_gpus + b];
  if (to == CSIM_FROM_NVS) return &s->gpu_nvs[a * (int)csim_system_n(s->system, CSIM_NODE_NVS) + b];
  return to == CSIM_FROM_NET ? &s->gpu_net[a * s->n_nets + b] : &s->gpu_gpu[a * s->n_gpus + b];
}

/* The physical GPU's PCI link: the smaller of its two directions. */
static float gpu_pci_bw(const CsimTopoNode *gpu) {
  const CsimTopoNode *dev = NULL;
  for (guint i = 0; i < gpu->links->len && !dev; i++) {
    const CsimTopoNode *remote = g_array_index(gpu->links, CsimTopoLink, i).remote;
    if (remote->type == CSIM_NODE_DEV) dev = remote;
  }
  for (guint i = 0; dev && i < dev->links->len; i++) {
    const CsimTopoLink *up = &g_array_index(dev->links, CsimTopoLink, i);
    if (up->type != CSIM_LINK_PCI) continue;
    for (guint j = 0; j < up->remote->links->len; j++) {
      const CsimTopoLink *down = &g_array_index(up->remote->links, CsimTopoLink, j);
      if (down->remote == dev) return MIN(up->bw, down->bw);
    }
  }
  return -1;
}

static void build_gpus(CsimSearch *s) {
  s->gpu_pci_bw = g_new(float, s->n_gpus + 1);
  s->local_net = g_malloc_n(s->n_gpus + 1, sizeof *s->local_net);
  s->used = g_new0(uint64_t, s->n_gpus + 1);
  for (int g = 0; g < s->n_gpus; g++) {
    const CsimTopoNode *gpu = csim_system_node(s->system, CSIM_NODE_GPU, g);
    s->gpu_pci_bw[g] = gpu_pci_bw(gpu);
    for (int c = 0; c < CSIM_MAX_CHANNELS; c++) {
      const CsimTopoNode *net = s->n_nets ? csim_paths_local_net(s->paths, gpu, c) : NULL;
      s->local_net[g][c] = net ? net->index : -1;
    }
  }
}

/* GPUs of a NIC with the largest bandwidth and among these the nearest type, in index order. */
static CsimNetList near_gpus(const CsimSearch *s, int net) {
  const CsimSearchPath *paths = &s->net_gpu[net * s->n_gpus];
  CsimNetList list = {g_new(int, s->n_gpus + 1), 0};
  float bw = 0;
  int type = CSIM_PATH_DIS;
  for (int g = 0; g < s->n_gpus; g++) {
    if (paths[g].bw > bw || (paths[g].bw == bw && paths[g].type < type)) {
      bw = paths[g].bw;
      type = paths[g].type;
      list.n = 0;
    }
    if (type < CSIM_PATH_DIS && paths[g].bw == bw && paths[g].type == type) list.net[list.n++] = g;
  }
  return list;
}

static int net_local_gpu(const CsimSearch *s, int net) {
  const CsimNetList *near = &s->near_gpus[net];
  for (int i = 0; i < near->n; i++)
    for (int c = 0; c < CSIM_MAX_CHANNELS; c++)
      if (s->local_net[near->net[i]][c] == net) return near->net[i];
  return -1;
}

static void build_nets(CsimSearch *s) {
  s->net_bw = g_new(float, s->n_nets + 1);
  s->net_local_gpu = g_new(int, s->n_nets + 1);
  s->near_gpus = g_new0(CsimNetList, s->n_nets + 1);
  for (int n = 0; n < s->n_nets; n++) {
    s->net_bw[n] = csim_system_node(s->system, CSIM_NODE_NET, n)->net.bw;
    s->near_gpus[n] = near_gpus(s, n);
    s->net_local_gpu[n] = net_local_gpu(s, n);
  }
  s->select = g_new0(CsimNetList, (gsize)(s->n_gpus + 1) * (CSIM_PATH_DIS + 1));
}

CsimSearch *csim_search_new(const CsimSystem *system, const CsimPaths *paths, const CsimSearchLimits *limits,
                            const CsimNcclEnv *env) {
  CsimSearch *s = g_new0(CsimSearch, 1);
  s->system = system;
  s->paths = paths;
  s->limits = *limits;
  s->env = env;
  s->n_gpus = (int)csim_system_n(system, CSIM_NODE_GPU);
  s->n_nets = (int)csim_system_n(system, CSIM_NODE_NET);
  s->has_nvs = csim_system_n(system, CSIM_NODE_NVS) > 0;
  s->scatter_nets = system->n_hosts > 1 && csim_nccl_env_int(env, "NCCL_MNNVL_SCATTER_NETS_ENABLE", 1) != 0;
  s->rail_per_host = csim_nccl_env_int(env, "NCCL_MNNVL_RAIL_PER_HOST", 0) != 0;
  const char *policy = csim_nccl_env_text(env, "NCCL_NETDEVS_POLICY");
  s->own_nets_only = policy && g_ascii_strncasecmp(policy, "MAX:", 4) == 0 && atoi(policy + 4) > 0;
  s->first_link = g_hash_table_new(NULL, NULL);
  build_links(s);
  build_paths(s);
  build_gpus(s);
  build_nets(s);
  s->scratch = g_array_new(FALSE, FALSE, sizeof(int));
  s->work.intra = g_new0(int, (gsize)CSIM_MAX_CHANNELS *(s->n_gpus + 1));
  s->best.intra = g_new0(int, (gsize)CSIM_MAX_CHANNELS *(s->n_gpus + 1));
  return s;
}

void csim_search_free(CsimSearch *s) {
  if (!s) return;
  for (int n = 0; n < s->n_nets; n++) g_free(s->near_gpus[n].net);
  for (int i = 0; i < (s->n_gpus + 1) * (CSIM_PATH_DIS + 1); i++) g_free(s->select[i].net);
  gpointer owned[] = {s->links,     s->gpu_gpu, s->gpu_net,    s->net_gpu,       s->nvs_gpu,
                      s->gpu_nvs,   s->net_bw,  s->select,     s->gpu_pci_bw,    s->local_net,
                      s->near_gpus, s->used,    s->work.intra, s->net_local_gpu, s->best.intra};
  for (guint i = 0; i < G_N_ELEMENTS(owned); i++) g_free(owned[i]);
  g_array_free(s->hops, TRUE);
  g_array_free(s->scratch, TRUE);
  g_hash_table_destroy(s->first_link);
  g_free(s);
}

float csim_search_link_bw(const CsimSearch *s, const CsimTopoNode *node, guint i) {
  return s->links[GPOINTER_TO_INT(g_hash_table_lookup(s->first_link, node)) - 1 + (int)i].bw;
}

/* roundf for values far below 2^31, inline: the sum is exact in double, so halves still go away from zero. */
static inline float round_away(float x) {
  return (float)(int)((double)x + (x < 0 ? -0.5 : 0.5));
}

/* Rounded to 1/1000 after each subtraction, in float, as NCCL does: sums of steps such as 17.5 must cancel
 * exactly. */
static inline float sub_round(float a, float b) {
  return round_away((a - b) * 1000) / 1000;
}

/* What a hop costs on the link itself and on the way back. */
static void hop_cost(const CsimSearchLink *link, gboolean from_gpu, float bw, float pci_bw, float *forward,
                     float *backward) {
  *forward = link->pci ? pci_bw : bw;
  *backward = 0;
  if (link->old_gpu && !from_gpu) *backward += *forward / 8;
  if (link->power_nvl) *backward += *forward;
}

/* Takes bw from the first n hops; returns how many could give it. */
static int take(CsimSearch *s, const CsimSearchPath *path, gboolean from_gpu, int n, float bw) {
  float pci_bw = bw;
  if (path->intel && from_gpu && path->type == CSIM_PATH_PHB) pci_bw = bw * 6 / 5;
  for (int i = 0; i < n; i++) {
    CsimSearchLink *link = &s->links[g_array_index(s->hops, int, path->first + i)];
    float forward, backward;
    hop_cost(link, from_gpu, bw, pci_bw, &forward, &backward);
    CsimSearchLink *back = backward != 0 && link->reverse >= 0 ? &s->links[link->reverse] : NULL;
    if (link->bw < forward || (back && back->bw < backward)) return i;
    link->bw = sub_round(link->bw, forward);
    if (back) back->bw = sub_round(back->bw, backward);
  }
  return n;
}

static gboolean is_tree(int pattern) {
  return pattern == CSIM_PATTERN_BALANCED_TREE || pattern == CSIM_PATTERN_SPLIT_TREE ||
         pattern == CSIM_PATTERN_TREE;
}

gboolean csim_search_follow(CsimSearch *s, CsimSearchEnd from, int a, CsimSearchEnd to, int b, float mult) {
  const CsimSearchPath *path = csim_search_path(s, from, a, to, b);
  if (path->n_links == 0 && from == to && a == b) return TRUE;
  gboolean intra = from != CSIM_FROM_NET && to != CSIM_FROM_NET;
  int farthest = intra ? s->work.type_intra : s->work.type_inter;
  float bw = (intra ? s->work.bw_intra : s->work.bw_inter) * mult;
  if (path->type >= CSIM_PATH_DIS || path->n_links == 0) return FALSE;
  /* Fractions and doubles (CollNetDirect, NVLS heads) are not held to the type: only mult == 1 is. */
  if (mult == 1 && path->type > farthest) return FALSE;
  if (mult == 1 && is_tree(s->work.pattern) && csim_search_path(s, to, b, from, a)->type > farthest)
    return FALSE;
  gboolean from_gpu = from == CSIM_FROM_GPU;
  int done = take(s, path, from_gpu, path->n_links, bw);
  if (done < path->n_links) {
    take(s, path, from_gpu, done, -bw);
    return FALSE;
  }
  s->work.n_hops = (int)((float)s->work.n_hops + mult * (float)path->n_links);
  return TRUE;
}

void csim_candidate_reset(CsimCandidate *c) {
  int *intra = c->intra;
  *c = (CsimCandidate){.intra = intra};
}

void csim_candidate_copy(CsimCandidate *to, const CsimCandidate *from, int n_gpus) {
  int *intra = to->intra;
  *to = *from;
  to->intra = intra;
  memcpy(intra, from->intra, sizeof(int) * from->n_channels * n_gpus);
}
