/* Graph XML out and in. */
#include "nccl/graph-xml.h"

#include <string.h>

/* ---- Out ---- */

static void append_net(GString *out, const CsimSystem *system, int net) {
  guint64 id = net >= 0 ? csim_system_node(system, CSIM_NODE_NET, net)->id : (guint64)-1;
  g_string_append_printf(out, "      <net dev=\"%#" G_GINT64_MODIFIER "x\"/>\n", id);
}

static void append_gpu(GString *out, const CsimSystem *system, int gpu) {
  const CsimTopoNode *node = csim_system_node(system, CSIM_NODE_GPU, gpu);
  guint64 dev = (node->id & ~CSIM_NODE_LOCAL_MASK) | (guint64)node->gpu.dev;
  g_string_append_printf(out, "      <gpu dev=\"%#" G_GINT64_MODIFIER "x\" rank=\"%d\"/>\n", dev,
                         node->gpu.rank);
}

static void append_channel(GString *out, const CsimSystem *system, const CsimGraph *g, int channel,
                           gboolean inter) {
  int n = g->pattern == CSIM_PATTERN_NVLS ? 1 : g->n_gpus;
  g_string_append(out, "    <channel>\n");
  if (inter) append_net(out, system, g->inter[2 * channel]);
  for (int i = 0; i < n; i++) append_gpu(out, system, g->intra[channel * g->n_gpus + i]);
  if (inter) append_net(out, system, g->inter[2 * channel + 1]);
  g_string_append(out, "    </channel>\n");
}

static void append_graph(GString *out, const CsimSystem *system, const CsimGraph *g, gboolean inter) {
  g_string_append_printf(out,
                         "  <graph id=\"%d\" pattern=\"%d\" crossnic=\"%d\" nchannels=\"%d\" "
                         "speedintra=\"%g\" speedinter=\"%g\" "
                         "latencyinter=\"%g\" typeintra=\"%s\" typeinter=\"%s\" samechannels=\"%d\"",
                         g->id, g->pattern, g->cross_nic, g->n_channels, (double)g->bw_intra,
                         (double)g->bw_inter, (double)g->latency_inter, csim_path_type_name(g->type_intra),
                         csim_path_type_name(g->type_inter), g->same_channels);
  if (g->n_channels == 0) {
    g_string_append(out, "/>\n");
    return;
  }
  g_string_append(out, ">\n");
  for (int c = 0; c < g->n_channels; c++) append_channel(out, system, g, c, inter);
  g_string_append(out, "  </graph>\n");
}

char *csim_graph_xml_text(const CsimSystem *system, const CsimGraph *graph, gboolean inter) {
  static const int order[] = {CSIM_GRAPH_RING, CSIM_GRAPH_TREE, CSIM_GRAPH_COLLNET_DIRECT,
                              CSIM_GRAPH_COLLNET_CHAIN, CSIM_GRAPH_NVLS};
  GString *out = g_string_new("<graphs version=\"1\">\n");
  for (guint i = 0; i < G_N_ELEMENTS(order); i++) append_graph(out, system, &graph[order[i]], inter);
  g_string_append(out, "</graphs>\n");
  return g_string_free(out, FALSE);
}
