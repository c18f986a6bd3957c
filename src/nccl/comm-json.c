/* A communicator as JSON in the field names of the NCCL vectors: graphs, channels, rings, trees; the other
 * parts are put in from their files. */
#include "nccl/comm-private.h"
#include "nccl/json.h"

#include <stdio.h>
#include <stdlib.h>

#define DETAIL_MACHINES 2 /* up to here with nodes and paths */
#define FULL_MACHINES 16  /* beyond, only heads of long lists */
#define FULL_RANKS 4096   /* beyond, no full list at all */
#define HEAD_RING 3       /* machines */
#define HEAD_TREE 2
#define HEAD_NVLS 4
#define HOST_STRIDE 1000 /* NIC dev of host h: 1000 h + dev */

static void add_number(cJSON *object, const char *key, float value) {
  char text[32];
  snprintf(text, sizeof text, "%.7g", (double)value);
  cJSON_AddNumberToObject(object, key, strtod(text, NULL));
}

static void add_ints(cJSON *object, const char *key, const int *values, int n) {
  cJSON_AddItemToObject(object, key, cJSON_CreateIntArray(values, n));
}

/* ---- graphs ---- */

static int net_dev(const CsimSystem *system, int net) {
  const CsimTopoNode *node = csim_system_node(system, CSIM_NODE_NET, net);
  return (system->n_hosts > 1 ? HOST_STRIDE * csim_node_host(node) : 0) + node->net.dev;
}

static cJSON *channel_json(const CsimComm *c, const CsimGraph *g, int channel) {
  const CsimCommClass *cls = c->node[0].cls;
  cJSON *object = cJSON_CreateObject(), *intra = cJSON_AddArrayToObject(object, "intra");
  int n = g->pattern == CSIM_PATTERN_NVLS ? 1 : cls->n_gpus;
  for (int i = 0; i < n; i++)
    cJSON_AddItemToArray(
        intra, cJSON_CreateNumber(csim_comm_rank(&c->node[0], g->intra[channel * cls->n_gpus + i])));
  if (!cls->limits.inter) return object;
  cJSON *net = cJSON_AddArrayToObject(object, "net");
  for (int i = 0; i < 2; i++) {
    int id = g->inter[2 * channel + i];
    cJSON_AddItemToArray(net, cJSON_CreateNumber(id < 0 ? -1 : net_dev(cls->system, id)));
  }
  return object;
}

static cJSON *graph_json(const CsimComm *c, int id) {
  const CsimGraph *g = &c->agreed[id];
  gboolean found = g->n_channels > 0;
  cJSON *object = cJSON_CreateObject();
  cJSON_AddNumberToObject(object, "pattern", g->pattern);
  cJSON_AddNumberToObject(object, "nChannels", g->n_channels);
  add_number(object, "bwIntra", found ? g->bw_intra : 0);
  add_number(object, "bwInter", found ? g->bw_inter : 0);
  add_number(object, "latencyInter", found ? g->latency_inter : 0);
  cJSON_AddStringToObject(object, "typeIntra", found ? csim_path_type_name(g->type_intra) : "");
  cJSON_AddStringToObject(object, "typeInter", found ? csim_path_type_name(g->type_inter) : "");
  cJSON_AddNumberToObject(object, "sameChannels", found ? g->same_channels : 0);
  cJSON_AddNumberToObject(object, "crossNic", found ? g->cross_nic : 0);
  cJSON_AddNumberToObject(object, "nHops", found ? g->n_hops : 0);
  cJSON *channels = cJSON_AddArrayToObject(object, "channels");
  for (int i = 0; i < g->n_channels; i++) cJSON_AddItemToArray(channels, channel_json(c, g, i));
  return object;
}

static void add_graphs(cJSON *root, const CsimComm *c) {
  static const struct {
    const char *name;
    int id;
  } order[] = {{"ring", CSIM_GRAPH_RING},
               {"tree", CSIM_GRAPH_TREE},
               {"collnetChain", CSIM_GRAPH_COLLNET_CHAIN},
               {"nvls", CSIM_GRAPH_NVLS},
               {"collnetDirect", CSIM_GRAPH_COLLNET_DIRECT}};
  cJSON *graphs = cJSON_AddObjectToObject(root, "graphs");
  for (guint i = 0; i < G_N_ELEMENTS(order); i++)
    cJSON_AddItemToObject(graphs, order[i].name, graph_json(c, order[i].id));
}

/* ---- channels ---- */

static void add_channels(cJSON *root, const CsimComm *c) {
  const CsimCommInfo *info = &c->info;
  const struct {
    const char *key;
    int value;
  } fields[] = {
      {"coll", info->n_channels},
      {"collnet", info->n_collnet_channels > 0},
      {"nvlsSupport", info->nvls_support},
      {"nvls", info->n_nvls_channels},
      {"p2p", info->n_p2p_channels},
      {"p2pPerPeer", info->n_p2p_per_peer},
      {"nvlsHeads", info->nvls_heads},
      {"nvlsChunk", info->nvls_chunk},
      {"nvlsTreeMaxChunk", info->nvls_tree_max_chunk},
      {"collnetHeads", info->collnet_heads},
      {"collnetChain", info->collnet_chain},
  };
  cJSON *channels = cJSON_AddObjectToObject(root, "channels");
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    cJSON_AddNumberToObject(channels, fields[i].key, fields[i].value);
}

/* ---- rings and trees ---- */

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325) /* 64-bit FNV-1a */
#define FNV_PRIME UINT64_C(0x100000001b3)

static uint64_t fnv_int(uint64_t hash, int value) {
  for (int i = 0; i < 4; i++) hash = (hash ^ (((uint32_t)value >> (8 * i)) & 0xff)) * FNV_PRIME;
  return hash;
}

static uint64_t fnv_ints(const int *values, int n) {
  uint64_t hash = FNV_OFFSET;
  for (int i = 0; i < n; i++) hash = fnv_int(hash, values[i]);
  return hash;
}

static cJSON *hash_json(uint64_t hash) {
  char text[20];
  snprintf(text, sizeof text, "%016" G_GINT64_MODIFIER "x", (guint64)hash);
  return cJSON_CreateString(text);
}

static int machines_ranks(const CsimComm *c, int machines) {
  return c->machine_rank[MIN(machines, c->info.n_machines)];
}

/* Rows of n ints; equal rows are kept once. */
typedef struct {
  GPtrArray *rows;
  GArray *hashes;
  int of_channel[CSIM_MAX_CHANNELS];
  int n;
} Distinct;

static void distinct_add(Distinct *d, int channel, int *row) {
  uint64_t hash = fnv_ints(row, d->n);
  guint i = 0;
  while (i < d->hashes->len && g_array_index(d->hashes, uint64_t, i) != hash) i++;
  d->of_channel[channel] = (int)i;
  if (i < d->hashes->len) return g_free(row);
  g_array_append_val(d->hashes, hash);
  g_ptr_array_add(d->rows, row);
}

static void distinct_clear(Distinct *d) {
  g_ptr_array_free(d->rows, TRUE);
  g_array_free(d->hashes, TRUE);
}

static int *ring_row(const CsimComm *c, int channel) {
  int *row = g_new(int, c->info.n_ranks);
  for (int p = 0; p < c->info.n_ranks; p++) row[p] = csim_comm_ring_rank_at(c, channel, p);
  return row;
}

static int *tree_row(const CsimComm *c, int channel) {
  int *row = g_new(int, 4 * c->info.n_ranks);
  for (int r = 0; r < c->info.n_ranks; r++) {
    CsimTreeNode t = csim_comm_tree(c, channel, r);
    row[4 * r] = t.up;
    for (int i = 0; i < 3; i++) row[4 * r + 1 + i] = t.down[i];
  }
  return row;
}

/* An earlier channel that repeats the same search channel and tree, -1 none. */
static int same_base(const CsimComm *c, int channel) {
  for (int i = 0; i < channel; i++)
    if (c->base[i] == c->base[channel]) return i;
  return -1;
}

static Distinct distinct_rows(const CsimComm *c, int *(*row)(const CsimComm *, int), int n) {
  Distinct d = {g_ptr_array_new_with_free_func(g_free), g_array_new(FALSE, FALSE, sizeof(uint64_t)), {0}, n};
  for (int i = 0; i < c->info.n_channels; i++) {
    int same = same_base(c, i);
    if (same >= 0)
      d.of_channel[i] = d.of_channel[same];
    else
      distinct_add(&d, i, row(c, i));
  }
  return d;
}

static cJSON *distinct_json(cJSON *root, const char *name, const CsimComm *c, const Distinct *d, int depth) {
  cJSON *object = cJSON_AddObjectToObject(root, name);
  add_ints(object, "ofChannel", d->of_channel, c->info.n_channels);
  if (depth >= 0) cJSON_AddNumberToObject(object, "depth", depth);
  cJSON *fnv = cJSON_AddArrayToObject(object, "fnv");
  for (guint i = 0; i < d->hashes->len; i++)
    cJSON_AddItemToArray(fnv, hash_json(g_array_index(d->hashes, uint64_t, i)));
  return object;
}

static void add_rows(cJSON *object, const char *key, const Distinct *d, int n,
                     cJSON *(*row_json)(const int *, int)) {
  cJSON *rows = cJSON_AddArrayToObject(object, key);
  for (guint i = 0; i < d->rows->len; i++)
    cJSON_AddItemToArray(rows, row_json(g_ptr_array_index(d->rows, i), n));
}

static cJSON *ring_row_json(const int *row, int n) {
  return cJSON_CreateIntArray(row, n);
}

/* [up, down...] a rank; missing children at the end are left out. */
static cJSON *tree_row_json(const int *row, int n_ranks) {
  cJSON *ranks = cJSON_CreateArray();
  for (int r = 0; r < n_ranks; r++) {
    int n = 4;
    while (n > 1 && row[4 * r + n - 1] < 0) n--;
    cJSON_AddItemToArray(ranks, cJSON_CreateIntArray(row + 4 * r, n));
  }
  return ranks;
}

static void add_lists(cJSON *object, const CsimComm *c, const Distinct *d, const char *full, const char *head,
                      int machines, cJSON *(*row_json)(const int *, int)) {
  if (c->info.n_ranks <= FULL_RANKS) add_rows(object, full, d, c->info.n_ranks, row_json);
  if (c->info.n_machines > FULL_MACHINES) add_rows(object, head, d, machines_ranks(c, machines), row_json);
}

static void add_rings(cJSON *root, const CsimComm *c) {
  Distinct d = distinct_rows(c, ring_row, c->info.n_ranks);
  cJSON *object = distinct_json(root, "rings", c, &d, -1);
  add_lists(object, c, &d, "order", "head", HEAD_RING, ring_row_json);
  distinct_clear(&d);
}

static void add_trees(cJSON *root, const CsimComm *c) {
  Distinct d = distinct_rows(c, tree_row, 4 * c->info.n_ranks);
  cJSON *object = distinct_json(root, "trees", c, &d, c->info.tree_depth);
  add_lists(object, c, &d, "perRank", "perRankHead", HEAD_TREE, tree_row_json);
  distinct_clear(&d);
}

/* [own head index, down, up, down0, down1, down2]; the local multicast group of head h is the virtual peer
 * n_ranks + 1 + h. */
static void nvls_row(const CsimComm *c, int channel, int rank, int row[6]) {
  int head = csim_comm_nvls_head_index(c, rank), group = c->info.n_ranks + 1 + head;
  CsimTreeNode t = csim_comm_nvls_tree(c, channel, rank);
  row[0] = head;
  row[1] = group;
  row[2] = t.up;
  row[3] = c->info.n_nodes > 1 ? group : -1;
  row[4] = t.down[0];
  row[5] = t.down[1];
}

static void add_nvls_trees(cJSON *root, const CsimComm *c) {
  if (!c->info.nvls_support) return;
  cJSON *object = cJSON_AddObjectToObject(root, "nvlsTrees"),
        *list = cJSON_AddArrayToObject(object, "perRank01");
  int shown = c->info.n_machines > FULL_MACHINES ? machines_ranks(c, HEAD_NVLS) : c->info.n_ranks;
  uint64_t hash = FNV_OFFSET;
  for (int r = 0; r < c->info.n_ranks; r++) {
    cJSON *pair = r < shown ? cJSON_CreateArray() : NULL;
    for (int channel = 0; channel < 2; channel++) {
      int row[6];
      nvls_row(c, channel, r, row);
      for (int i = 0; i < 6; i++) hash = fnv_int(hash, row[i]);
      if (pair) cJSON_AddItemToArray(pair, cJSON_CreateIntArray(row, 6));
    }
    if (pair) cJSON_AddItemToArray(list, pair);
  }
  cJSON_AddItemToObject(object, "fnv", hash_json(hash));
}

/* ---- all ---- */

static void add_system(cJSON *root, const CsimComm *c) {
  const CsimCommClass *cls = c->node[0].cls;
  gboolean details = c->info.n_machines <= DETAIL_MACHINES;
  cJSON_AddItemToObject(root, "system", csim_json_system(cls->paths, &cls->limits, cls->search, details));
}

static void add_tuning(cJSON *root, const CsimComm *c) {
  g_autoptr(CsimTuning) tuning = csim_tuning_new(c, c->env, NULL);
  if (tuning) cJSON_AddItemToObject(root, "tuning", csim_json_tuning(tuning));
}

/* Ranks of each part of machine 0, when it falls into several. */
static void add_groups(cJSON *root, const CsimComm *c) {
  const CsimCommKind *kind = csim_comm_kind(c, 0);
  if (kind->parts->len < 2) return;
  cJSON *groups = cJSON_AddArrayToObject(root, "groups");
  for (guint p = 0; p < kind->parts->len; p++) {
    cJSON *group = cJSON_CreateArray();
    for (int place = 0; place < kind->n_ranks; place++)
      if (kind->part[place] == (int)p) cJSON_AddItemToArray(group, cJSON_CreateNumber(place));
    cJSON_AddItemToArray(groups, group);
  }
}

static void add_size(cJSON *root, const CsimComm *c) {
  cJSON_AddNumberToObject(root, "nNodes", c->info.n_machines);
  if (c->info.n_ranks == c->info.n_machines * csim_comm_kind(c, 0)->n_ranks)
    cJSON_AddNumberToObject(root, "ranksPerNode", csim_comm_kind(c, 0)->n_ranks);
  cJSON_AddNumberToObject(root, "nRanks", c->info.n_ranks);
  cJSON_AddNumberToObject(root, "ncclNodes", c->info.n_nodes);
  add_groups(root, c);
}

cJSON *csim_comm_to_json(const CsimComm *c, guint parts) {
  cJSON *root = cJSON_CreateObject();
  add_size(root, c);
  if (parts & CSIM_JSON_SYSTEM) add_system(root, c);
  if (parts & CSIM_JSON_GRAPHS) add_graphs(root, c);
  if (parts & CSIM_JSON_CHANNELS) add_channels(root, c);
  if (parts & CSIM_JSON_TREES) {
    add_rings(root, c);
    add_trees(root, c);
    add_nvls_trees(root, c);
  }
  if (parts & CSIM_JSON_TUNING) add_tuning(root, c);
  return root;
}
