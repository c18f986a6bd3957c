/* topo/system.c - the node graph itself: making, copying, cutting and naming. No rule of the XML lives here. */
#include "topo/system.h"
#include <string.h>

static void node_free(gpointer data) {
  CsimTopoNode *node = data;
  g_array_unref(node->links);
  g_free(node->label);
  g_free(node);
}

CsimSystem *csim_system_new(const char *name) {
  CsimSystem *s = g_new0(CsimSystem, 1);
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++) s->nodes[t] = g_ptr_array_new_with_free_func(node_free);
  s->name = g_strdup(name != NULL ? name : "");
  return s;
}

void csim_system_free(CsimSystem *system) {
  if (system == NULL) return;
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++) g_ptr_array_unref(system->nodes[t]);
  g_free(system->name);
  g_free(system);
}

CsimTopoNode *csim_system_add(CsimSystem *system, CsimNodeType type, uint64_t id, CsimLoc loc) {
  CsimTopoNode *node = g_new0(CsimTopoNode, 1);
  node->type = type;
  node->id = id;
  node->loc = loc;
  node->index = (int)system->nodes[type]->len;
  node->links = g_array_new(FALSE, FALSE, sizeof(CsimTopoLink));
  g_ptr_array_add(system->nodes[type], node);
  return node;
}

CsimTopoNode *csim_system_find(const CsimSystem *system, CsimNodeType type, uint64_t id) {
  for (guint i = 0; i < csim_system_n(system, type); i++) {
    CsimTopoNode *node = csim_system_node(system, type, i);
    if (node->id == id) return node;
  }
  return NULL;
}

static guint link_to(const CsimTopoNode *from, const CsimTopoNode *to, CsimLinkType type) {
  guint i = 0;
  for (; i < from->links->len; i++) {
    const CsimTopoLink *link = csim_node_link(from, i);
    if (link->remote == to && link->type == type) break;
  }
  return i;
}

void csim_node_connect(CsimTopoNode *from, CsimTopoNode *to, CsimLinkType type, float bw, CsimLoc loc) {
  guint at = link_to(from, to, type);
  if (at == from->links->len) {
    CsimTopoLink empty = {.type = type, .remote = to, .loc = loc};
    g_array_append_val(from->links, empty);
  }
  CsimTopoLink moved = *csim_node_link(from, at);
  moved.bw += bw;
  for (; at > 0 && csim_node_link(from, at - 1)->bw < moved.bw; at--)
    *csim_node_link(from, at) = *csim_node_link(from, at - 1);
  *csim_node_link(from, at) = moved;
}

/* --- copying and cutting ------------------------------------------------ */

static void copy_node(CsimSystem *to, const CsimTopoNode *node) {
  CsimTopoNode *copy = csim_system_add(to, node->type, node->id, node->loc);
  GArray *links = copy->links;
  *copy = *node;
  copy->links = links;
  copy->label = g_strdup(node->label);
  g_array_append_vals(links, node->links->data, node->links->len);
}

/* Links of a copy still point into the original; a node's index within its type names its twin. */
static void retarget(CsimSystem *copy, CsimTopoNode *node) {
  for (guint i = 0; i < node->links->len; i++) {
    CsimTopoLink *link = csim_node_link(node, i);
    link->remote = csim_system_node(copy, link->remote->type, (guint)link->remote->index);
  }
}

CsimSystem *csim_system_copy(const CsimSystem *system) {
  CsimSystem *copy = csim_system_new(system->name);
  copy->n_hosts = system->n_hosts;
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++)
    for (guint i = 0; i < csim_system_n(system, t); i++) copy_node(copy, csim_system_node(system, t, i));
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++)
    for (guint i = 0; i < csim_system_n(copy, t); i++) retarget(copy, csim_system_node(copy, t, i));
  return copy;
}

static void unlink_from(CsimTopoNode *from, const CsimTopoNode *gone) {
  for (guint i = from->links->len; i-- > 0;)
    if (csim_node_link(from, i)->remote == gone) g_array_remove_index(from->links, i);
}

void csim_system_remove(CsimSystem *system, CsimTopoNode *node) {
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++)
    for (guint i = 0; i < csim_system_n(system, t); i++) unlink_from(csim_system_node(system, t, i), node);
  GPtrArray *same = system->nodes[node->type];
  guint at = (guint)node->index;
  g_assert(at < same->len && g_ptr_array_index(same, at) == node);
  for (guint i = at + 1; i < same->len; i++) csim_system_node(system, node->type, i)->index--;
  g_ptr_array_remove_index(same, at);
}

/* --- part of the GPUs --------------------------------------------------- */

static gboolean is_kept(const int *devs, guint n, int dev) {
  for (guint i = 0; i < n; i++)
    if (devs[i] == dev) return TRUE;
  return FALSE;
}

static gboolean all_exist(const CsimSystem *system, const int *devs, guint n, GError **error) {
  for (guint i = 0; i < n; i++) {
    gboolean found = FALSE;
    for (guint g = 0; g < csim_system_n(system, CSIM_NODE_GPU) && !found; g++)
      found = csim_system_node(system, CSIM_NODE_GPU, g)->gpu.dev == devs[i];
    if (!found) {
      csim_error_set(error, CSIM_ERROR_REFERENCE, CSIM_LOC_NONE, "%s has no GPU with dev %d; it has %u GPUs",
                     system->name, devs[i], csim_system_n(system, CSIM_NODE_GPU));
      return FALSE;
    }
  }
  return TRUE;
}

/* A bridge or CPU is worth keeping if something below it is; downward links are the PCI links that do not lead back. */
static gboolean leads_somewhere(const CsimTopoNode *node, const CsimTopoNode *from) {
  if (node->type == CSIM_NODE_DEV || node->type == CSIM_NODE_NIC) return TRUE;
  for (guint i = 0; i < node->links->len; i++) {
    const CsimTopoLink *link = csim_node_link(node, i);
    if (link->type != CSIM_LINK_PCI || link->remote == from || link->remote->type == CSIM_NODE_CPU) continue;
    if (leads_somewhere(link->remote, node)) return TRUE;
  }
  return FALSE;
}

/* PCI nodes have their way up as the last link (NCCL sorts them so), which is not a way down. */
static const CsimTopoNode *way_up(const CsimTopoNode *node) {
  return node->type == CSIM_NODE_CPU || node->links->len == 0
             ? NULL
             : csim_node_link(node, node->links->len - 1)->remote;
}

static void remove_dead_ends(CsimSystem *system, CsimNodeType type) {
  for (guint i = csim_system_n(system, type); i-- > 0;) {
    CsimTopoNode *node = csim_system_node(system, type, i);
    if (!leads_somewhere(node, way_up(node))) csim_system_remove(system, node);
  }
}

static void remove_unlinked(CsimSystem *system, CsimNodeType type) {
  for (guint i = csim_system_n(system, type); i-- > 0;) {
    CsimTopoNode *node = csim_system_node(system, type, i);
    if (node->links->len == 0) csim_system_remove(system, node);
  }
}

static void remove_gpu(CsimSystem *system, CsimTopoNode *gpu) {
  CsimTopoNode *dev = csim_node_link(gpu, 0)->remote;
  csim_system_remove(system, gpu);
  gboolean shared = FALSE;
  for (guint i = 0; i < dev->links->len; i++) shared |= csim_node_link(dev, i)->remote->type == CSIM_NODE_GPU;
  if (!shared) csim_system_remove(system, dev);
}

gboolean csim_system_keep_gpus(CsimSystem *system, const int *devs, guint n, GError **error) {
  if (!all_exist(system, devs, n, error)) return FALSE;
  for (guint g = csim_system_n(system, CSIM_NODE_GPU); g-- > 0;) {
    CsimTopoNode *gpu = csim_system_node(system, CSIM_NODE_GPU, g);
    if (!is_kept(devs, n, gpu->gpu.dev)) remove_gpu(system, gpu);
  }
  remove_unlinked(system, CSIM_NODE_NVS);
  remove_dead_ends(system, CSIM_NODE_PCI);
  remove_dead_ends(system, CSIM_NODE_CPU);
  return TRUE;
}

/* --- names -------------------------------------------------------------- */

const char *csim_node_type_name(CsimNodeType type) {
  static const char *const names[CSIM_N_NODE_TYPES] = {"GPU", "PCI", "NVS", "CPU", "NIC",
                                                       "NET", "GIN", "RMA", "DEV", "CXB"};
  return names[type];
}

const char *csim_link_type_name(CsimLinkType type) {
  switch (type) {
  case CSIM_LINK_LOC:
    return "LOC";
  case CSIM_LINK_NVL:
    return "NVL";
  case CSIM_LINK_C2C:
    return "C2C";
  case CSIM_LINK_PCI:
    return "PCI";
  case CSIM_LINK_SYS:
    return "SYS";
  case CSIM_LINK_NET:
    return "NET";
  }
  g_assert_not_reached();
}

static char *local_name(const CsimTopoNode *node) {
  switch (node->type) {
  case CSIM_NODE_GPU:
    return g_strdup_printf("%d", node->gpu.dev);
  case CSIM_NODE_DEV:
    return g_strdup_printf("%d", node->dev.dev);
  case CSIM_NODE_NET:
  case CSIM_NODE_GIN:
  case CSIM_NODE_RMA:
    return g_strdup_printf("%d", node->net.dev);
  default:
    return g_strdup_printf("%" G_GINT64_MODIFIER "x", node->id & CSIM_NODE_LOCAL_MASK);
  }
}

char *csim_node_name(const CsimSystem *system, const CsimTopoNode *node) {
  g_autofree char *local = local_name(node);
  if (system->n_hosts <= 1) return g_strdup_printf("%s/%s", csim_node_type_name(node->type), local);
  return g_strdup_printf("%s/%d-%s", csim_node_type_name(node->type), csim_node_host(node), local);
}

guint csim_net_rail(const CsimSystem *system, guint net) {
  const CsimTopoNode *node = csim_system_node(system, CSIM_NODE_NET, net);
  guint rail = 0;
  if (node->net.place > 0) return (guint)node->net.place - 1;
  if (node->net.rail >= 0) return (guint)node->net.rail;
  for (guint k = 0; k < net; k++)
    rail += csim_node_host(csim_system_node(system, CSIM_NODE_NET, k)) == csim_node_host(node);
  return rail;
}
