/* The communicator: building it, and answering where a rank is and whom it follows. */
#include "nccl/comm-private.h"
#include "nccl/graph-xml.h"

static CsimCommKind *kind_at(const CsimComm *c, guint i) {
  return g_ptr_array_index(c->kinds, i);
}

static gboolean make_kinds(CsimComm *c, const CsimCommSpec *spec, GError **error) {
  g_ptr_array_set_size(c->kinds, (gint)c->cluster->systems->len);
  for (guint m = 0; m < c->cluster->n_nodes; m++) {
    guint s = c->cluster->node_system[m];
    if (kind_at(c, s)) continue;
    CsimCommKind *kind = csim_comm_kind_new(spec, csim_cluster_system(c->cluster, m), error);
    if (!kind) return FALSE;
    g_ptr_array_index(c->kinds, s) = kind;
  }
  return TRUE;
}

static void number_machines(CsimComm *c) {
  guint n = c->cluster->n_nodes;
  c->machine_rank = g_new(int, n + 1);
  int rank = 0;
  for (guint m = 0; m < n; m++) {
    c->machine_rank[m] = rank;
    rank += csim_comm_kind(c, m)->n_ranks;
  }
  c->machine_rank[n] = rank;
  c->info.n_machines = (int)n;
  c->info.n_ranks = rank;
  c->rank_machine = g_new(uint32_t, rank);
  for (guint m = 0; m < n; m++)
    for (int r = c->machine_rank[m]; r < c->machine_rank[m + 1]; r++) c->rank_machine[r] = m;
}

/* NCCL numbers nodes in the order of their lowest rank. */
static void number_nodes(CsimComm *c) {
  guint n = c->cluster->n_nodes;
  c->machine_node = g_new(int, n + 1);
  int nodes = 0;
  for (guint m = 0; m < n; m++) {
    c->machine_node[m] = nodes;
    nodes += (int)csim_comm_kind(c, m)->parts->len;
  }
  c->info.n_nodes = nodes;
  c->node = g_new(CsimCommNode, nodes);
  c->position_node = g_new(uint32_t, c->info.n_ranks);
  int offset = 0;
  for (guint m = 0; m < n; m++)
    for (guint p = 0; p < csim_comm_kind(c, m)->parts->len; p++) {
      int node = c->machine_node[m] + (int)p;
      const CsimCommClass *cls = g_ptr_array_index(csim_comm_kind(c, m)->parts, p);
      c->node[node] = (CsimCommNode){cls, c->machine_rank[m], offset};
      for (int i = 0; i < cls->n_gpus; i++) c->position_node[offset++] = (uint32_t)node;
    }
}

/* NCCL asks for a CollNet plugin, finds one for SHARP or not, and goes on without. */
static gboolean want_coll_net(const CsimCommSpec *spec) {
  return spec->coll_net && spec->cluster->fabric.transport == CSIM_TRANSPORT_IB &&
         csim_nccl_env_int(spec->env, "NCCL_COLLNET_ENABLE", 0) != 0;
}

CsimComm *csim_comm_new(const CsimCommSpec *spec, CsimDiag *diag, GError **error) {
  g_autoptr(CsimComm) c = g_new0(CsimComm, 1);
  c->cluster = spec->cluster;
  c->env = spec->env;
  csim_comm_read_p2p(c);
  c->kinds = g_ptr_array_new_with_free_func((GDestroyNotify)csim_comm_kind_free);
  c->classes = g_ptr_array_new();
  if (!make_kinds(c, spec, error)) return NULL;
  number_machines(c);
  c->coll_net = want_coll_net(spec);
  CsimCommBuild build = {spec, diag, c->info.n_ranks, c->coll_net};
  for (guint i = 0; i < c->kinds->len; i++)
    if (kind_at(c, i) && !csim_comm_kind_search(kind_at(c, i), &build, error)) return NULL;
  number_nodes(c);
  csim_comm_agree(c);
  csim_comm_count_channels(c);
  csim_comm_nvls_setup(c);
  csim_comm_p2p_setup(c);
  csim_comm_notes(c, spec->coll_net, diag);
  return g_steal_pointer(&c);
}

void csim_comm_free(CsimComm *c) {
  if (!c) return;
  g_ptr_array_free(c->kinds, TRUE);
  g_ptr_array_free(c->classes, TRUE);
  gpointer owned[] = {c->machine_rank, c->machine_node, c->rank_machine, c->position_node, c->node, c};
  for (guint i = 0; i < G_N_ELEMENTS(owned); i++) g_free(owned[i]);
}

const CsimCommInfo *csim_comm_info(const CsimComm *c) {
  return &c->info;
}

/* ---- Places ---- */

CsimCommSpot csim_comm_spot(const CsimComm *c, int rank) {
  guint machine = c->rank_machine[rank];
  const CsimCommKind *kind = csim_comm_kind(c, machine);
  int place = rank - c->machine_rank[machine];
  return (CsimCommSpot){c->machine_node[machine] + kind->part[place], kind->gpu[place]};
}

CsimRankPlace csim_comm_place(const CsimComm *c, int rank) {
  guint machine = c->rank_machine[rank];
  const CsimCommKind *kind = csim_comm_kind(c, machine);
  int place = rank - c->machine_rank[machine], local = 0;
  for (int p = 0; p < place; p++) local += kind->part[p] == kind->part[place];
  return (CsimRankPlace){machine, (guint)kind->gpu_full[place], c->machine_node[machine] + kind->part[place],
                         local};
}

const CsimTopoNode *csim_comm_gpu(const CsimComm *c, int rank) {
  CsimRankPlace p = csim_comm_place(c, rank);
  return csim_system_node(csim_cluster_system(c->cluster, p.machine), CSIM_NODE_GPU, p.local_gpu);
}

const CsimGraph *csim_comm_graph(const CsimComm *c, int graph) {
  return &c->agreed[graph];
}

const CsimSystem *csim_comm_system(const CsimComm *c, int node) {
  return c->node[node].cls->system;
}
const CsimPaths *csim_comm_paths(const CsimComm *c, int node) {
  return c->node[node].cls->paths;
}
const CsimSearchLimits *csim_comm_limits(const CsimComm *c, int node) {
  return &c->node[node].cls->limits;
}
const CsimSearch *csim_comm_search(const CsimComm *c, int node) {
  return c->node[node].cls->search;
}
int csim_comm_node_rank(const CsimComm *c, int node, int gpu) {
  return csim_comm_rank(&c->node[node], gpu);
}

char *csim_comm_graph_xml(const CsimComm *c) {
  const CsimCommClass *cls = c->node[0].cls;
  return csim_graph_xml_text(cls->system, c->agreed, cls->limits.inter);
}

/* ---- Rings ---- */

/* The graph's order and NICs on a node for a runtime channel: search channel (odd nodes swap pairs where
 * rings cross rails). */
static int ring_channel(const CsimComm *c, int node, int channel) {
  int search = c->base[channel] % c->n_search_channels;
  gboolean cross = c->node[node].cls->graph[CSIM_GRAPH_RING].cross_nic == 2;
  gboolean swap = cross && c->n_search_channels % 2 == 0 && node % 2 == 1;
  return swap ? search ^ 1 : search;
}

/* Position in node order: 0 is the first GPU of node 0. */
static int node_order_position(const CsimComm *c, int channel, int rank) {
  CsimCommSpot at = csim_comm_spot(c, rank);
  const CsimCommClass *cls = c->node[at.node].cls;
  int k = ring_channel(c, at.node, channel);
  return c->node[at.node].ring_offset + cls->ring_pos[k * cls->n_gpus + at.gpu];
}

int csim_comm_ring_position(const CsimComm *c, int channel, int rank) {
  int n = c->info.n_ranks;
  return (node_order_position(c, channel, rank) - node_order_position(c, channel, 0) + n) % n;
}

int csim_comm_ring_rank_at(const CsimComm *c, int channel, int position) {
  int at = (position + node_order_position(c, channel, 0)) % c->info.n_ranks;
  int node = (int)c->position_node[at];
  const CsimCommClass *cls = c->node[node].cls;
  int k = ring_channel(c, node, channel);
  int gpu = cls->graph[CSIM_GRAPH_RING].intra[k * cls->n_gpus + at - c->node[node].ring_offset];
  return csim_comm_rank(&c->node[node], gpu);
}

/* ---- Trees ---- */

typedef enum { PORT_PARENT, PORT_CHILD0, PORT_CHILD1 } Port;

/* The GPU (position in the tree graph's order) that a node uses towards its parent and its two children (fact
 * sheet 3.3). */
static int port_position(const CsimCommClass *cls, Port port) {
  int pattern = cls->graph[CSIM_GRAPH_TREE].pattern;
  if (cls->n_gpus == 1 || port == PORT_PARENT) return 0;
  if (port == PORT_CHILD0) return pattern == CSIM_PATTERN_TREE ? 0 : 1;
  return pattern == CSIM_PATTERN_SPLIT_TREE ? 1 : 0;
}

static int port_rank(const CsimComm *c, int node, int search, Port port) {
  const CsimCommClass *cls = c->node[node].cls;
  int gpu = cls->graph[CSIM_GRAPH_TREE].intra[search * cls->n_gpus + port_position(cls, port)];
  return csim_comm_rank(&c->node[node], gpu);
}

static void add_down(CsimTreeNode *t, int rank) {
  for (int i = 0; i < 3; i++)
    if (t->down[i] < 0) {
      t->down[i] = rank;
      return;
    }
}

CsimTreeNode csim_comm_tree(const CsimComm *c, int channel, int rank) {
  int search = c->base[channel] % c->n_search_channels, tree = c->base[channel] / c->n_search_channels;
  CsimCommSpot at = csim_comm_spot(c, rank);
  const CsimCommNode *node = &c->node[at.node];
  const CsimCommClass *cls = node->cls;
  const int *order = &cls->graph[CSIM_GRAPH_TREE].intra[search * cls->n_gpus];
  int pos = cls->tree_pos[search * cls->n_gpus + at.gpu];
  CsimBtree b = csim_btree(tree, c->info.n_nodes, at.node);
  CsimTreeNode t = {-1, {-1, -1, -1}};
  if (pos > 0)
    t.up = csim_comm_rank(node, order[pos - 1]);
  else if (b.up >= 0)
    t.up = port_rank(c, b.up, search, b.child_type == 0 ? PORT_CHILD0 : PORT_CHILD1);
  if (pos < cls->n_gpus - 1) add_down(&t, csim_comm_rank(node, order[pos + 1]));
  for (int i = 0; i < 2; i++)
    if (b.down[i] >= 0 && pos == port_position(cls, i == 0 ? PORT_CHILD0 : PORT_CHILD1))
      add_down(&t, port_rank(c, b.down[i], search, PORT_PARENT));
  return t;
}
