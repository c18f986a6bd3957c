/*
 * nccl/paths-edit.c - what NCCL changes once the shortest paths are known, in its order: no-P2P detours, unreachable pairs, P2C, PXN, no-GDR
 * detours (NCCL 2.30.7, src/graph/paths.cc, ncclTopoComputePaths). Each step reads what the steps before have left.
 */
#include "nccl/paths-internal.h"

static int merge_types(int a, int b) {
  int high = MAX(a, b), low = MIN(a, b);
  return high == CSIM_PATH_PHB && low == CSIM_PATH_C2C ? CSIM_PATH_P2C : high;
}

static void set_path(CsimPath *path, int type, float bw, int n_links, CsimTopoLink **links) {
  g_free(path->link);
  *path = (CsimPath){.type = type, .bw = bw, .n_links = n_links, .link = links};
}

/* from -> middle -> to becomes the path from -> to; no path if one half is none. */
static void detour(CsimPaths *p, const CsimTopoNode *from, const CsimTopoNode *middle, const CsimTopoNode *to) {
  const CsimPath *a = csim_paths_at(p, from, middle), *b = csim_paths_at(p, middle, to);
  CsimPath *path = csim_paths_at(p, from, to);
  if (a->type == CSIM_PATH_DIS || b->type == CSIM_PATH_DIS) {
    set_path(path, CSIM_PATH_DIS, 0, 0, NULL);
    return;
  }
  CsimTopoLink **links = g_new(CsimTopoLink *, a->n_links + b->n_links);
  for (int i = 0; i < a->n_links; i++) links[i] = a->link[i];
  for (int i = 0; i < b->n_links; i++) links[a->n_links + i] = b->link[i];
  int type = middle->type == CSIM_NODE_GPU ? CSIM_PATH_PXN : merge_types(a->type, b->type);
  set_path(path, type, MIN(a->bw, b->bw), a->n_links + b->n_links, links);
}

static const CsimTopoNode *need_local_cpu(CsimPaths *p, const CsimTopoNode *gpu) {
  const CsimTopoNode *cpu = csim_paths_local_cpu(p, gpu);
  if (cpu == NULL && p->error == NULL) {
    g_autofree char *name = csim_node_name(p->system, gpu);
    csim_error_set(&p->error, CSIM_ERROR_NCCL, gpu->loc,
                   "no CPU can be reached from %s; NCCL gives up on such a file", name);
  }
  return cpu;
}

/* --- between GPUs ------------------------------------------------------- */

/* A relay GPU lies in the path: NCCL does not weigh such a path against the network. */
static gboolean is_relayed(const CsimPath *path) {
  return path->type == CSIM_PATH_NVB;
}

static CsimVia carrier(const CsimPaths *p, const CsimTopoNode *from, const CsimTopoNode *to) {
  gboolean p2p = csim_paths_p2p_ok(p, from, to, NULL);
  if (p2p && is_relayed(csim_paths_at(p, from, to))) return CSIM_VIA_P2P;
  if (csim_paths_use_net(p, from, to)) return CSIM_VIA_NET;
  if (p2p) return CSIM_VIA_P2P;
  if (csim_nccl_env_int(p->context.env, "NCCL_SHM_DISABLE", 0) == 1) return CSIM_VIA_NET;
  return csim_node_host(from) == csim_node_host(to) ? CSIM_VIA_SHM : CSIM_VIA_NET;
}

static gboolean edit_to_gpu(CsimPaths *p, const CsimTopoNode *to) {
  guint n = csim_paths_n(p, CSIM_NODE_GPU);
  for (guint i = 0; i < n; i++) {
    const CsimTopoNode *from = csim_paths_node(p, CSIM_NODE_GPU, i);
    if (csim_paths_p2p_ok(p, from, to, NULL)) continue;
    const CsimTopoNode *cpu = need_local_cpu(p, to);
    if (cpu == NULL) return FALSE;
    detour(p, from, cpu, to);
  }
  for (guint i = 0; i < n; i++) {
    const CsimTopoNode *from = csim_paths_node(p, CSIM_NODE_GPU, i);
    if (from == to) continue;
    CsimVia via = carrier(p, from, to);
    p->via[(gsize)i * n + (gsize)to->index] = (guint8)via;
    if (via == CSIM_VIA_NET) csim_paths_at(p, from, to)->type = CSIM_PATH_NET;
  }
  return TRUE;
}

/* --- between GPUs and NICs ---------------------------------------------- */

/* A NIC on the CPU that the GPU reaches by C2C is nearer than its PCIe path says. */
static gboolean edit_c2c(CsimPaths *p, const CsimTopoNode *gpu) {
  const CsimTopoNode *cpu = need_local_cpu(p, gpu);
  guint n_all = csim_paths_n(p, CSIM_NODE_NET);
  if (cpu == NULL) return FALSE;
  if (n_all == 0) return TRUE;
  g_autofree int *nets = g_new(int, n_all);
  guint n = csim_paths_locals(p, gpu, CSIM_NODE_NET, nets, n_all);
  for (guint i = 0; i < n; i++) {
    const CsimTopoNode *net = csim_paths_node(p, CSIM_NODE_NET, (guint)nets[i]);
    if (merge_types(csim_paths_at(p, gpu, cpu)->type, csim_paths_at(p, net, cpu)->type) != CSIM_PATH_P2C)
      continue;
    CsimPath *there = csim_paths_at(p, gpu, net), *back = csim_paths_at(p, net, gpu);
    there->type = MIN(CSIM_PATH_P2C, there->type);
    back->type = MIN(CSIM_PATH_P2C, back->type);
  }
  return TRUE;
}

static gboolean relay_helps(const CsimPaths *p, const CsimTopoNode *gpu, const CsimTopoNode *relay,
                            const CsimTopoNode *net) {
  gboolean c2c = csim_nccl_env_int(p->context.env, "NCCL_PXN_C2C", 1) != 0;
  const CsimPath *near = csim_paths_at(p, relay, net), *own = csim_paths_at(p, gpu, net);
  if (near->type > (c2c ? CSIM_PATH_P2C : CSIM_PATH_PXB)) return FALSE;
  if (csim_paths_at(p, relay, gpu)->type > CSIM_PATH_NVL || csim_node_host(relay) != csim_node_host(gpu))
    return FALSE;
  if (!csim_paths_gdr_ok(p, relay, net, TRUE)) return FALSE;
  return near->bw > own->bw || own->type > CSIM_PATH_PXN;
}

static void edit_pxn(CsimPaths *p, const CsimTopoNode *gpu, const CsimTopoNode *net) {
  if (csim_nccl_env_int(p->context.env, "NCCL_PXN_DISABLE", 0) == 1) return;
  const CsimTopoNode *relay = csim_paths_local_gpu(p, net);
  if (relay == NULL || relay == gpu || !relay_helps(p, gpu, relay, net)) return;
  detour(p, gpu, relay, net);
  p->relay[(gsize)gpu->index * csim_paths_n(p, CSIM_NODE_NET) + (gsize)net->index] = relay->index;
}

static gboolean edit_gdr(CsimPaths *p, const CsimTopoNode *gpu, const CsimTopoNode *net) {
  if (csim_paths_at(p, gpu, net)->type >= CSIM_PATH_PHB || csim_paths_gdr_ok(p, gpu, net, FALSE)) return TRUE;
  const CsimTopoNode *cpu = need_local_cpu(p, gpu);
  if (cpu == NULL) return FALSE;
  detour(p, net, cpu, gpu);
  detour(p, gpu, cpu, net);
  p->relay[(gsize)gpu->index * csim_paths_n(p, CSIM_NODE_NET) + (gsize)net->index] = -1;
  return TRUE;
}

static gboolean edit_net(CsimPaths *p, const CsimTopoNode *net) {
  for (guint g = 0; g < csim_paths_n(p, CSIM_NODE_GPU); g++) {
    const CsimTopoNode *gpu = csim_paths_node(p, CSIM_NODE_GPU, g);
    edit_pxn(p, gpu, net);
    if (!edit_gdr(p, gpu, net)) return FALSE;
  }
  return TRUE;
}

gboolean csim_paths_edit(CsimPaths *p) {
  for (guint g = 0; g < csim_paths_n(p, CSIM_NODE_GPU); g++)
    if (!edit_to_gpu(p, csim_paths_node(p, CSIM_NODE_GPU, g))) return FALSE;
  for (guint g = 0; g < csim_paths_n(p, CSIM_NODE_GPU); g++)
    if (!edit_c2c(p, csim_paths_node(p, CSIM_NODE_GPU, g))) return FALSE;
  for (guint n = 0; n < csim_paths_n(p, CSIM_NODE_NET); n++)
    if (!edit_net(p, csim_paths_node(p, CSIM_NODE_NET, n))) return FALSE;
  return TRUE;
}
