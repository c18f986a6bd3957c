/*
 * nccl/paths.c - the search for best paths (NCCL 2.30.7, src/graph/paths.cc).
 *
 * From each base node, level by level; a node keeps its path *towards* the base. Bandwidth is taken in the direction base -> node, the
 * links that are stored run node -> base: where a machine's links differ by direction, NCCL mixes the two in just this way.
 */
#include "nccl/paths-internal.h"

const char *csim_path_type_name(int type) {
  static const char *const names[] = {"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                      "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};
  g_assert(type >= 0 && type < (int)G_N_ELEMENTS(names));
  return names[type];
}

/* --- the search --------------------------------------------------------- */

static CsimTopoLink *link_back(const CsimTopoNode *from, const CsimTopoNode *to, CsimLinkType type) {
  for (guint i = 0; i < from->links->len; i++) {
    CsimTopoLink *link = csim_node_link(from, i);
    if (link->remote == to && link->type == type) return link;
  }
  return NULL;
}

/* Type of the path over one more hop, node -> remote. */
static int type_over(const CsimTopoNode *node, const CsimPath *path, const CsimTopoLink *link) {
  const CsimTopoNode *remote = link->remote;
  int type = link->type == CSIM_LINK_NET ? CSIM_PATH_LOC : (int)link->type;
  if (node->type == CSIM_NODE_PCI && remote->type == CSIM_NODE_PCI) type = CSIM_PATH_PXB;
  if (link->type == CSIM_LINK_PCI && (node->type == CSIM_NODE_CPU || remote->type == CSIM_NODE_CPU))
    type = CSIM_PATH_PHB;
  if (node->type == CSIM_NODE_DEV && path->type == CSIM_PATH_NVL && type == CSIM_PATH_NVL)
    type = CSIM_PATH_NVB;
  return MAX(path->type, type);
}

/* A GPU passes traffic on only to its own ranks, or over NVLink to a neighbour of a GPU next to the base (NVB). */
static gboolean may_pass(const CsimPaths *p, const CsimTopoNode *base, const CsimTopoNode *node,
                         const CsimPath *path, const CsimTopoLink *link) {
  if (node->type != CSIM_NODE_DEV || node == base) return TRUE;
  int own_hops = base->type == CSIM_NODE_GPU ? 1 : 0;
  gboolean base_gpu_itself = own_hops == 1 && path->n_links == 1;
  if (base_gpu_itself || link->remote->type == CSIM_NODE_GPU) return TRUE;
  if (csim_nccl_env_int(p->context.env, "NCCL_NVB_DISABLE", 0) != 0) return FALSE;
  return link->type == CSIM_LINK_NVL && link->remote->type == CSIM_NODE_DEV && path->n_links <= own_hops + 1;
}

static gboolean is_better(int type, float bw, int hops, const CsimPath *than) {
  if (type != than->type) return type < than->type;
  if (bw != than->bw) return bw > than->bw;
  return hops < than->n_links;
}

static void prepend(CsimPath *to, CsimTopoLink *link, const CsimPath *path) {
  CsimTopoLink **links = g_new(CsimTopoLink *, path->n_links + 1);
  links[0] = link;
  for (int i = 0; i < path->n_links; i++) links[i + 1] = path->link[i];
  g_free(to->link);
  to->link = links;
  to->n_links = path->n_links + 1;
}

/* TRUE if remote's path got better. */
static gboolean try_hop(CsimPaths *p, const CsimTopoNode *base, const CsimTopoNode *node,
                        const CsimTopoLink *link) {
  const CsimPath *path = csim_paths_at(p, node, base);
  CsimPath *remote_path = csim_paths_at(p, link->remote, base);
  float bw = MIN(path->bw, link->bw);
  if (bw <= 0 || link->remote == base || !may_pass(p, base, node, path, link)) return FALSE;
  int type = type_over(node, path, link);
  if (!is_better(type, bw, path->n_links + 1, remote_path)) return FALSE;
  CsimTopoLink *back = link_back(link->remote, node, link->type);
  if (back == NULL) {
    g_autofree char *a = csim_node_name(p->system, link->remote), *b = csim_node_name(p->system, node);
    csim_error_set(&p->error, CSIM_ERROR_NCCL, link->loc,
                   "the link %s -> %s has no way back; NCCL gives up on such a file", b, a);
    return FALSE;
  }
  prepend(remote_path, back, path);
  remote_path->bw = bw;
  remote_path->type = type;
  return TRUE;
}

static void add_once(GPtrArray *list, CsimTopoNode *node) {
  if (!g_ptr_array_find(list, node, NULL)) g_ptr_array_add(list, node);
}

/* Breadth-first from `base` to all nodes; FALSE with paths->error set. */
static gboolean search_from(CsimPaths *p, const CsimTopoNode *base) {
  g_autoptr(GPtrArray) level = g_ptr_array_new(), next = g_ptr_array_new();
  CsimPath *self = csim_paths_at(p, base, base);
  self->type = CSIM_PATH_LOC;
  self->bw = 5000; /* NCCL's LOC_BW */
  g_ptr_array_add(level, (gpointer)base);
  while (level->len > 0 && p->error == NULL) {
    for (guint i = 0; i < level->len; i++) {
      const CsimTopoNode *node = g_ptr_array_index(level, i);
      for (guint l = 0; l < node->links->len && p->error == NULL; l++) {
        const CsimTopoLink *link = csim_node_link(node, l);
        if (try_hop(p, base, node, link)) add_once(next, link->remote);
      }
    }
    GPtrArray *done = level;
    level = next;
    next = done;
    g_ptr_array_set_size(next, 0);
  }
  return p->error == NULL;
}

/* --- making ------------------------------------------------------------- */

static void number_nodes(CsimPaths *p) {
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++) {
    p->first[t] = p->n_nodes;
    p->n_nodes += csim_paths_n(p, t);
  }
  p->table = g_new0(CsimPath, (gsize)p->n_nodes * p->n_nodes);
  for (gsize i = 0; i < (gsize)p->n_nodes * p->n_nodes; i++) p->table[i].type = CSIM_PATH_DIS;
  guint n_gpus = csim_paths_n(p, CSIM_NODE_GPU), n_nets = csim_paths_n(p, CSIM_NODE_NET);
  p->via = g_new0(guint8, (gsize)n_gpus * n_gpus);
  p->relay = g_new(int, (gsize)n_gpus *n_nets);
  for (gsize i = 0; i < (gsize)n_gpus * n_nets; i++) p->relay[i] = -1;
}

CsimPaths *csim_paths_new(const CsimSystem *system, const CsimPathContext *context) {
  static const CsimNodeType bases[] = {CSIM_NODE_CPU, CSIM_NODE_DEV, CSIM_NODE_GPU, CSIM_NODE_NET,
                                       CSIM_NODE_GIN, CSIM_NODE_RMA, CSIM_NODE_NVS};
  CsimPaths *p = g_new0(CsimPaths, 1);
  p->system = system;
  p->context = *context;
  number_nodes(p);
  for (guint b = 0; b < G_N_ELEMENTS(bases); b++)
    for (guint i = 0; i < csim_paths_n(p, bases[b]); i++)
      if (!search_from(p, csim_paths_node(p, bases[b], i))) return p;
  if (csim_paths_edit(p)) csim_paths_remember(p);
  return p;
}

void csim_paths_free(CsimPaths *paths) {
  if (paths == NULL) return;
  for (gsize i = 0; i < (gsize)paths->n_nodes * paths->n_nodes; i++) g_free(paths->table[i].link);
  g_free(paths->table);
  g_free(paths->via);
  g_free(paths->relay);
  g_free(paths->local_net);
  g_free(paths->local_gpu);
  g_free(paths->gdr);
  g_clear_error(&paths->error);
  g_free(paths);
}

gboolean csim_paths_check(const CsimPaths *paths, GError **error) {
  if (paths->error != NULL && error != NULL) *error = g_error_copy(paths->error);
  return paths->error == NULL;
}

const CsimSystem *csim_paths_system(const CsimPaths *paths) {
  return paths->system;
}

const CsimPath *csim_paths_get(const CsimPaths *paths, const CsimTopoNode *a, const CsimTopoNode *b) {
  return csim_paths_at(paths, a, b);
}
