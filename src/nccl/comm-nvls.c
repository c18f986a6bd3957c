/* NVLS and NVLSTree: heads, channels, chunks (fact sheet 3.5). */
#include "nccl/comm-private.h"

#define KIB 1024

typedef struct {
  int channels, chunk, tree_chunk;
} NvlsShape;

/* Farthest way from a GPU to its own NIC, over the kinds of nodes. */
static int net_distance(const CsimComm *c) {
  int farthest = CSIM_PATH_LOC;
  for (guint i = 0; i < c->classes->len; i++) {
    const CsimCommClass *cls = csim_comm_class(c, i);
    for (int g = 0; g < cls->n_gpus && csim_system_n(cls->system, CSIM_NODE_NET) > 0; g++) {
      const CsimTopoNode *gpu = csim_system_node(cls->system, CSIM_NODE_GPU, g);
      const CsimTopoNode *net = csim_paths_local_net(cls->paths, gpu, 0);
      if (net) farthest = MAX(farthest, csim_paths_get(cls->paths, gpu, net)->type);
    }
  }
  return farthest;
}

/* Blackwell on several nodes: by NIC bandwidth b, ranks a node p, and distance to the NIC (NCCL 2.30.7,
 * src/init.cc). */
static void tune_sm100(const CsimComm *c, NvlsShape *s) {
  float b = c->info.min_net_bw;
  int p = c->info.n_ranks / c->info.n_nodes;
  /* P2C counts as near: the GB300 vectors (NIC on the CPU, C2C) take the short chunk. */
  gboolean near = net_distance(c) <= CSIM_PATH_P2C;
  if (c->info.n_nodes == 2 && b >= 48) {
    *s = (NvlsShape){32, s->chunk, 128 * KIB};
    if (p <= 4)
      *s = (NvlsShape){32, 256 * KIB, 256 * KIB};
    else if (p >= 16 || (p <= 8 && near && b < 96))
      s->tree_chunk = 64 * KIB;
  } else if (b >= 96) {
    if (p <= 8)
      *s = (NvlsShape){24, 256 * KIB, 256 * KIB};
    else
      *s = (NvlsShape){32, s->chunk, (p < 32 ? 128 : 64) * KIB};
  } else if (b >= 48) {
    *s = (NvlsShape){24, s->chunk, (near ? 64 : 128) * KIB};
  }
}

static NvlsShape default_shape(const CsimComm *c) {
  int chunk = 128 * KIB;
  int channels = c->info.min_sm < 100 ? 16 : c->info.n_nodes > 1 ? 32 : 24;
  NvlsShape s = {channels, chunk, c->info.n_nodes >= 4 ? 64 * KIB : chunk};
  if (c->info.min_sm >= 100 && c->info.n_nodes > 1) tune_sm100(c, &s);
  return s;
}

static void override(const CsimNcclEnv *env, const char *name, int *value) {
  if (csim_nccl_env_is_set(env, name)) *value = (int)csim_nccl_env_int(env, name, *value);
}

static int min_heads(const CsimComm *c) {
  int n = CSIM_MAX_CHANNELS;
  for (guint i = 0; i < c->classes->len; i++) n = MIN(n, csim_comm_class(c, i)->n_nvls_heads);
  return n;
}

static void collnet_heads(CsimComm *c) {
  c->info.collnet_chain = c->coll_net;
  if (!c->coll_net) return;
  int n = CSIM_MAX_CHANNELS;
  for (guint i = 0; i < c->classes->len; i++) n = MIN(n, csim_comm_class(c, i)->n_direct_heads);
  c->info.collnet_heads = n;
  c->info.sharp_generation = csim_cluster_sharp_generation(c->cluster);
}

void csim_comm_nvls_setup(CsimComm *c) {
  collnet_heads(c);
  if (c->agreed[CSIM_GRAPH_NVLS].n_channels == 0) return;
  NvlsShape s = default_shape(c);
  override(c->env, "NCCL_NVLS_NCHANNELS", &s.channels);
  override(c->env, "NCCL_NVLS_CHUNKSIZE", &s.chunk);
  override(c->env, "NCCL_NVLSTREE_MAX_CHUNKSIZE", &s.tree_chunk);
  c->info.nvls_support = 1;
  c->info.nvls_heads = min_heads(c);
  c->info.n_nvls_channels = MAX(csim_comm_ctas(c->env, FALSE), MIN(s.channels, csim_comm_ctas(c->env, TRUE)));
  c->info.nvls_chunk = s.chunk;
  c->info.nvls_tree_max_chunk = s.tree_chunk;
}

static int head_rank(const CsimComm *c, int node, int h) {
  return csim_comm_rank(&c->node[node], c->node[node].cls->nvls_head[h]);
}

int csim_comm_nvls_head(const CsimComm *c, int rank, int h) {
  return head_rank(c, csim_comm_spot(c, rank).node, h);
}

/* Which head a rank is, -1 none. */
static int head_index(const CsimComm *c, CsimCommSpot at) {
  const CsimCommClass *cls = c->node[at.node].cls;
  for (int h = 0; h < c->info.nvls_heads; h++)
    if (cls->nvls_head[h] == at.gpu) return h;
  return -1;
}

int csim_comm_nvls_head_index(const CsimComm *c, int rank) {
  return head_index(c, csim_comm_spot(c, rank));
}

CsimTreeNode csim_comm_nvls_tree(const CsimComm *c, int channel, int rank) {
  CsimTreeNode t = {-1, {-1, -1, -1}};
  CsimCommSpot at = csim_comm_spot(c, rank);
  int h = head_index(c, at);
  if (h < 0 || c->info.n_nodes == 1) return t;
  CsimBtree b = csim_btree(channel % 2, c->info.n_nodes, at.node);
  if (b.up >= 0) t.up = head_rank(c, b.up, h);
  for (int i = 0, at_down = 0; i < 2; i++)
    if (b.down[i] >= 0) t.down[at_down++] = head_rank(c, b.down[i], h);
  return t;
}
