/*
 * tests/unit/algos/test-communicators.c - the plans of real communicators, verified.
 *
 * The other tests use shapes made by hand; here rings, trees, heads, the send/recv schedule and the shares
 * of the channels come from the layer nccl on the shipped nodes. It fails when either side breaks what
 * plan.h asks of a shape.
 */
#include "algos/plan.h"
#include "collsim/error.h"
#include "nccl/tune.h"

#include <string.h>

typedef struct {
  CsimComm *comm;
  CsimTuning *tuning;
  CsimShape shape;
  int *node_first, *node_ranks;
} World;

/* --- a communicator as a shape --------------------------------------------------------------------- */

static int ring_position(const void *data, int channel, int rank) {
  return csim_comm_ring_position(((const World *)data)->comm, channel, rank);
}

static int ring_rank_at(const void *data, int channel, int position) {
  return csim_comm_ring_rank_at(((const World *)data)->comm, channel, position);
}

static void give_node(CsimTreeNode node, int *up, int down[3]) {
  *up = node.up;
  memcpy(down, node.down, sizeof node.down);
}

static void tree(const void *data, int channel, int rank, int *up, int down[3]) {
  give_node(csim_comm_tree(((const World *)data)->comm, channel, rank), up, down);
}

static void nvls_tree(const void *data, int channel, int rank, int *up, int down[3]) {
  give_node(csim_comm_nvls_tree(((const World *)data)->comm, channel, rank), up, down);
}

static int nvls_head(const void *data, int rank, int h) {
  return csim_comm_nvls_head(((const World *)data)->comm, rank, h);
}

static int node_ranks(const void *data, int rank, const int **ranks) {
  const World *w = data;
  int node = csim_comm_place(w->comm, rank).node;
  *ranks = &w->node_ranks[w->node_first[node]];
  return w->node_first[node + 1] - w->node_first[node];
}

static gboolean p2p_round(const void *data, int rank, int round, int *send_to, int *recv_from) {
  return csim_tuning_p2p_round(((const World *)data)->tuning, rank, round, send_to, recv_from);
}

static void p2p_split(const void *data, int from, int to, CsimBytes bytes, int round, int *n_parts,
                      CsimBytes *part, CsimBytes *chunk, int *first_channel) {
  CsimP2pSplit split;
  csim_tuning_p2p_split(((const World *)data)->tuning, from, to, bytes, round, &split);
  *n_parts = split.n_parts;
  *part = split.part;
  *chunk = split.chunk;
  *first_channel = split.first_channel;
}

static void list_nodes(World *w) {
  const CsimCommInfo *info = csim_comm_info(w->comm);
  w->node_first = g_new0(int, info->n_nodes + 1);
  w->node_ranks = g_new(int, info->n_ranks);
  for (int node = 0, at = 0; node < info->n_nodes; node++) {
    w->node_first[node] = at;
    for (int r = 0; r < info->n_ranks; r++)
      if (csim_comm_place(w->comm, r).node == node) w->node_ranks[at++] = r;
    w->node_first[node + 1] = at;
  }
}

static void fill_shape(World *w) {
  w->shape = (CsimShape){
      .n_ranks = csim_comm_info(w->comm)->n_ranks,
      .data = w,
      .ring_position = ring_position,
      .ring_rank_at = ring_rank_at,
      .tree = tree,
      .n_heads = csim_comm_info(w->comm)->nvls_heads,
      .nvls_head = nvls_head,
      .node_ranks = node_ranks,
      .nvls_tree = nvls_tree,
      .p2p_round = p2p_round,
      .p2p_split = p2p_split,
  };
}

/* --- every algorithm that NCCL would have here ------------------------------------------------------ */

static CsimPlan *make_plan(const World *w, CsimColl coll, CsimAlgo algo, CsimBytes count, GError **error) {
  const CsimCommInfo *info = csim_comm_info(w->comm);
  gboolean nvls = algo == CSIM_ALGO_NVLS || algo == CSIM_ALGO_NVLS_TREE;
  CsimChoice choice = {algo, CSIM_PROTO_SIMPLE, nvls ? info->n_nvls_channels : info->n_channels, 512, 0};
  CsimPart shares[CSIM_MAX_CHANNELS];
  CsimPlanPart parts[CSIM_MAX_CHANNELS] = {0};
  int n_used = info->n_p2p_channels;
  if (algo != CSIM_ALGO_P2P) {
    csim_tuning_split(w->tuning, coll, &choice, CSIM_TYPE_FLOAT, count, shares, &n_used);
    for (int i = 0; i < n_used; i++)
      parts[i] = (CsimPlanPart){shares[i].offset, shares[i].bytes, shares[i].chunk};
  }
  CsimPlanSpec spec = {
      .coll = coll,
      .algo = algo,
      .count_bytes = 4 * count,
      .elem_bytes = 4,
      .root = info->n_ranks / 2,
      .n_channels = n_used,
      .parts = parts,
      .align_bytes = 16,
      .slot_bytes = 524288,
      .shape = &w->shape,
  };
  return csim_plan_new(&spec, error);
}

/* How many plans there were. */
static int verify_all(const World *w, CsimBytes count) {
  int n = 0;
  for (CsimAlgo algo = 0; algo <= CSIM_ALGO_P2P; algo++)
    for (CsimColl coll = 0; coll < CSIM_N_COLLS; coll++) {
      gboolean nvls = algo == CSIM_ALGO_NVLS || algo == CSIM_ALGO_NVLS_TREE;
      if (nvls && !csim_comm_info(w->comm)->nvls_support) continue;
      if ((algo == CSIM_ALGO_P2P) != (coll >= CSIM_N_NCCL_FUNCS)) continue;
      g_autoptr(GError) error = NULL;
      g_autoptr(CsimPlan) plan = make_plan(w, coll, algo, count, &error);
      if (g_error_matches(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED)) continue;
      g_assert_no_error(error);
      csim_plan_verify(plan, 8, &error);
      g_assert_no_error(error);
      n++;
    }
  return n;
}

typedef struct {
  const char *file;
  guint nodes, gpus; /* gpus of each node, 0 all */
  int n_plans;       /* at least */
} Case;

static const Case cases[] = {
    {"dgx-h100.xml", 1, 0, 16},       {"dgx-h100.xml", 4, 0, 14}, {"dgx-h100.xml", 3, 5, 13},
    {"dgx-h100.xml", 7, 1, 12},       {"dgx-a100.xml", 2, 0, 13}, {"dgx-1v.xml", 2, 0, 13},
    {"dgx-2.xml", 2, 0, 13},          {"dgx-b200.xml", 2, 0, 14}, {"hgx-a800.xml", 5, 0, 12},
    {"l40s-8gpu-pcie.xml", 1, 0, 13},
};

static void test_case(gconstpointer data) {
  static const char *const nothing[] = {NULL};
  const Case *c = data;
  const char *root = g_getenv("COLLSIM_SOURCE_ROOT");
  g_autofree char *file = g_build_filename(root ? root : ".", "topologies", c->file, NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimNcclEnv) env = csim_nccl_env_new(nothing, NULL, diag, &error);
  g_assert_no_error(error);
  g_autoptr(CsimCluster) cluster = csim_cluster_load(file, c->nodes, &error);
  g_assert_no_error(error);
  CsimCommSpec spec = {.cluster = cluster, .env = env, .n_gpus = c->gpus};
  g_autoptr(CsimComm) comm = csim_comm_new(&spec, diag, &error);
  g_assert_no_error(error);
  g_autoptr(CsimTuning) tuning = csim_tuning_new(comm, env, &error);
  g_assert_no_error(error);
  World w = {.comm = comm, .tuning = tuning};
  list_nodes(&w);
  fill_shape(&w);
  g_assert_cmpint(verify_all(&w, 1), >=, c->n_plans);
  g_assert_cmpint(verify_all(&w, 500009), >=, c->n_plans);
  g_free(w.node_first);
  g_free(w.node_ranks);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const Case *c = &cases[i];
    g_autofree char *path = g_strdup_printf("/algos/communicators/%s-n%u-g%u", c->file, c->nodes, c->gpus);
    g_test_add_data_func(path, c, test_case);
  }
  return g_test_run();
}
