#include "exp/inspect.h"

#include "exp/run-private.h"

enum { SHOWN_RANKS = 32 }; /* of a ring, of a node's order; NCCL's own log cuts lines as well */

static const char *graph_name(int id) {
  static const char *const names[CSIM_N_GRAPHS] = {
    [CSIM_GRAPH_RING] = "ring",
    [CSIM_GRAPH_TREE] = "tree",
    [CSIM_GRAPH_COLLNET_CHAIN] = "collnet chain",
    [CSIM_GRAPH_NVLS] = "nvls",
    [CSIM_GRAPH_COLLNET_DIRECT] = "collnet direct",
  };
  return names[id];
}

static void append_channel(GString *out, const CsimRun *run, const CsimGraph *graph, int channel) {
  int n_shown = graph->pattern == CSIM_PATTERN_NVLS ? 1 : MIN(graph->n_gpus, SHOWN_RANKS);
  const int *net = &graph->inter[2 * channel];
  g_string_append_printf(out, "  %2d :", channel);
  if (net[0] >= 0) g_string_append_printf(out, " NET/%d", net[0]);
  for (int i = 0; i < n_shown; i++)
    g_string_append_printf(out, " %d", csim_comm_node_rank(run->comm, 0, graph->intra[channel * graph->n_gpus + i]));
  if (n_shown < graph->n_gpus && graph->pattern != CSIM_PATTERN_NVLS) g_string_append(out, " ...");
  if (net[1] >= 0) g_string_append_printf(out, " NET/%d", net[1]);
  g_string_append_c(out, '\n');
}

static void append_graph(GString *out, const CsimRun *run, int id) {
  const CsimGraph *graph = csim_comm_graph(run->comm, id);
  if (!graph || graph->n_channels == 0) {
    g_string_append_printf(out, "%s: none\n", graph_name(id));
    return;
  }
  g_string_append_printf(out, "%s: pattern %d, crossNic %d, %d channels, %g GB/s inside, %g GB/s between nodes, worst path %s/%s\n", graph_name(id), graph->pattern,
                         graph->cross_nic, graph->n_channels, (double)graph->bw_intra, (double)graph->bw_inter, csim_path_type_name(graph->type_intra),
                         csim_path_type_name(graph->type_inter));
  for (int c = 0; c < graph->n_channels; c++) append_channel(out, run, graph, c);
}

static void append_counts(GString *out, const CsimRun *run) {
  const CsimCommInfo *info = csim_comm_info(run->comm);
  g_string_append_printf(out, "\n%d ranks on %d machines, %d nodes as NCCL counts them\n", info->n_ranks, info->n_machines, info->n_nodes);
  g_string_append_printf(out, "%d coll channels, %d collnet channels, %d nvls channels, %d p2p channels, %d p2p channels per peer\n\n", info->n_channels,
                         info->n_collnet_channels, info->n_nvls_channels, info->n_p2p_channels, info->n_p2p_per_peer);
}

static void append_ring(GString *out, const CsimRun *run, int channel, int n_channels) {
  int n_ranks = csim_comm_info(run->comm)->n_ranks;
  g_string_append_printf(out, "Channel %02d/%02d :", channel, n_channels);
  for (int i = 0; i < MIN(n_ranks, SHOWN_RANKS); i++) g_string_append_printf(out, " %d", csim_comm_ring_rank_at(run->comm, channel, i));
  g_string_append(out, n_ranks > SHOWN_RANKS ? " ...\n" : "\n");
}

/* "down0/down1/down2->rank->up", as NCCL's log prints a tree. */
static void append_trees(GString *out, const CsimRun *run, int rank, int n_channels) {
  g_string_append_printf(out, "Trees of rank %d :", rank);
  for (int c = 0; c < n_channels; c++) {
    CsimTreeNode node = csim_comm_tree(run->comm, c, rank);
    g_string_append_printf(out, " [%d] %d/%d/%d->%d->%d", c, node.down[0], node.down[1], node.down[2], rank, node.up);
  }
  g_string_append_c(out, '\n');
}

void csim_inspect_graph(GString *out, const CsimRun *run) {
  static const int order[] = {CSIM_GRAPH_RING, CSIM_GRAPH_TREE, CSIM_GRAPH_COLLNET_DIRECT, CSIM_GRAPH_COLLNET_CHAIN, CSIM_GRAPH_NVLS};
  int n_channels = csim_comm_info(run->comm)->n_channels;
  g_string_append_printf(out, "%s: %s; searches of the first node\n\n", run->spec.target, run->info.device);
  for (guint i = 0; i < G_N_ELEMENTS(order); i++) append_graph(out, run, order[i]);
  append_counts(out, run);
  for (int c = 0; c < n_channels; c++) append_ring(out, run, c, n_channels);
  append_trees(out, run, 0, n_channels);
}

char *csim_inspect_graph_xml(const CsimRun *run) { return csim_comm_graph_xml(run->comm); }
