/* topo/export.c - Graphviz. Links run in pairs; a pair is one edge, or two where the directions differ. */
#include "topo/export.h"
#include <string.h>

static const char *style_of(CsimNodeType type) {
  switch (type) {
  case CSIM_NODE_GPU:
    return "shape=box, style=filled, fillcolor=\"#76b900\"";
  case CSIM_NODE_DEV:
    return "shape=box";
  case CSIM_NODE_NVS:
    return "shape=hexagon";
  case CSIM_NODE_CPU:
    return "shape=box, style=rounded";
  case CSIM_NODE_NET:
    return "shape=ellipse, style=filled, fillcolor=\"#d0e0f0\"";
  case CSIM_NODE_NIC:
    return "shape=ellipse";
  default:
    return "shape=diamond";
  }
}

static void add_node(GString *out, const CsimSystem *system, const CsimTopoNode *node) {
  g_autofree char *name = csim_node_name(system, node);
  g_autofree char *label =
      node->type == CSIM_NODE_NET && node->label != NULL ? g_strescape(node->label, NULL) : NULL;
  g_string_append_printf(out, "  \"%s\" [label=\"%s%s%s\", %s];\n", name, name, label != NULL ? "\\n" : "",
                         label != NULL ? label : "", style_of(node->type));
}

static float back_of(const CsimTopoNode *node, const CsimTopoLink *link) {
  for (guint i = 0; i < link->remote->links->len; i++) {
    const CsimTopoLink *back = csim_node_link(link->remote, i);
    if (back->remote == node && back->type == link->type) return back->bw;
  }
  return -1;
}

/* In node order of type, then index, so that each pair is met first at its lower end. */
static gboolean comes_first(const CsimTopoNode *a, const CsimTopoNode *b) {
  return a->type != b->type ? a->type < b->type : a->index < b->index;
}

static void add_links(GString *out, const CsimSystem *system, const CsimTopoNode *node) {
  g_autofree char *from = csim_node_name(system, node);
  for (guint i = 0; i < node->links->len; i++) {
    const CsimTopoLink *link = csim_node_link(node, i);
    gboolean pair = back_of(node, link) == link->bw;
    if (pair && !comes_first(node, link->remote)) continue;
    g_autofree char *to = csim_node_name(system, link->remote);
    g_string_append_printf(out, "  \"%s\" -> \"%s\" [label=\"%s %g\"%s];\n", from, to,
                           csim_link_type_name(link->type), link->bw, pair ? ", dir=both" : "");
  }
}

char *csim_topo_dot(const CsimSystem *system) {
  GString *out = g_string_new(NULL);
  g_autofree char *title = g_strescape(system->name, NULL);
  g_string_append_printf(
      out,
      "digraph \"%s\" {\n  label=\"%s: NCCL's graph, links in GB/s\";\n  node [fontsize=10];\n"
      "  edge [fontsize=9];\n",
      title, title);
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++)
    for (guint i = 0; i < csim_system_n(system, t); i++)
      add_node(out, system, csim_system_node(system, t, i));
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++)
    for (guint i = 0; i < csim_system_n(system, t); i++)
      add_links(out, system, csim_system_node(system, t, i));
  g_string_append(out, "}\n");
  return g_string_free(out, FALSE);
}
