/* Communicators: every ring is one cycle over all ranks, every tree spans them, in uniform, mixed and split
 * jobs; counts; connections. */
#include "toy-nodes.h"

static const ToyNode a100 = {8, 80, 12, 0, 2, TRUE, "16.0 GT/s PCIe", 16, 200000};
static const ToyNode h100 = {8, 90, 18, 1, 2, FALSE, "32.0 GT/s PCIe", 16, 400000};
static const ToyNode h100_alone = {1, 90, 18, 1, 1, FALSE, "32.0 GT/s PCIe", 16, 400000};
static const ToyNode l40s = {4, 89, 0, 2, 2, FALSE, "16.0 GT/s PCIe", 16, 100000};
static const ToyNode bare = {4, 89, 0, 0, 2, FALSE, "16.0 GT/s PCIe", 16, 0};

static void check_rings(const CsimComm *comm) {
  const CsimCommInfo *info = csim_comm_info(comm);
  g_autofree gboolean *seen = g_new(gboolean, info->n_ranks);
  for (int c = 0; c < info->n_channels; c++) {
    memset(seen, 0, sizeof(gboolean) * info->n_ranks);
    g_assert_cmpint(csim_comm_ring_rank_at(comm, c, 0), ==, 0);
    for (int p = 0; p < info->n_ranks; p++) {
      int rank = csim_comm_ring_rank_at(comm, c, p);
      g_assert_false(seen[rank]);
      seen[rank] = TRUE;
      g_assert_cmpint(csim_comm_ring_position(comm, c, rank), ==, p);
    }
  }
}

static gboolean is_child(CsimTreeNode t, int rank) {
  return t.down[0] == rank || t.down[1] == rank || t.down[2] == rank;
}

/* One root; parents know their children; no cycle. */
static void check_trees(const CsimComm *comm) {
  const CsimCommInfo *info = csim_comm_info(comm);
  for (int c = 0; c < info->n_channels; c++) {
    int roots = 0;
    for (int r = 0; r < info->n_ranks; r++) {
      CsimTreeNode t = csim_comm_tree(comm, c, r);
      roots += t.up < 0;
      if (t.up >= 0) g_assert_true(is_child(csim_comm_tree(comm, c, t.up), r));
      for (int i = 0; i < 3; i++)
        if (t.down[i] >= 0) g_assert_cmpint(csim_comm_tree(comm, c, t.down[i]).up, ==, r);
      int steps = 0;
      for (int up = t.up; up >= 0; up = csim_comm_tree(comm, c, up).up)
        g_assert_cmpint(++steps, <, info->n_ranks);
    }
    g_assert_cmpint(roots, ==, 1);
  }
}

static void check_nvls_trees(const CsimComm *comm) {
  const CsimCommInfo *info = csim_comm_info(comm);
  for (int c = 0; c < 2 && info->nvls_support; c++)
    for (int h = 0; h < info->nvls_heads; h++) {
      int roots = 0;
      for (int r = 0; r < info->n_ranks; r++) {
        if (csim_comm_nvls_head_index(comm, r) != h) continue;
        CsimTreeNode t = csim_comm_nvls_tree(comm, c, r);
        roots += t.up < 0;
        if (t.up >= 0) g_assert_true(is_child(csim_comm_nvls_tree(comm, c, t.up), r));
      }
      g_assert_cmpint(roots, ==, 1);
    }
}

static void check_places(const CsimComm *comm) {
  const CsimCommInfo *info = csim_comm_info(comm);
  for (int r = 0; r < info->n_ranks; r++) {
    CsimRankPlace p = csim_comm_place(comm, r);
    g_assert_cmpint((int)p.machine, <, info->n_machines);
    g_assert_cmpint(p.node, <, info->n_nodes);
    g_assert_cmpint(p.local_rank, <, info->max_local_ranks);
  }
}

static void check_all(const CsimComm *comm) {
  check_places(comm);
  check_rings(comm);
  check_trees(comm);
  check_nvls_trees(comm);
}

static void test_shapes(void) {
  static const ToyNode *const nodes[] = {&a100, &h100, &h100_alone, &l40s, &bare};
  static const guint counts[] = {1, 2, 3, 4, 7, 16};
  for (guint i = 0; i < G_N_ELEMENTS(nodes); i++)
    for (guint j = 0; j < G_N_ELEMENTS(counts); j++) {
      ToyJob job = toy_job(nodes[i], counts[j], NULL);
      g_assert_cmpint(csim_comm_info(job.comm)->n_ranks, ==, nodes[i]->n_gpus * (int)counts[j]);
      check_all(job.comm);
      toy_job_clear(&job);
    }
}

/* Machines whose GPUs cannot talk but through the network count as several nodes. */
static void test_split(void) {
  ToyJob job = toy_job(&h100, 3, (const char *[]){"NCCL_P2P_DISABLE=1", "NCCL_SHM_DISABLE=1", NULL});
  g_assert_cmpint(csim_comm_info(job.comm)->n_machines, ==, 3);
  g_assert_cmpint(csim_comm_info(job.comm)->n_nodes, ==, 24);
  check_all(job.comm);
  CsimConn conn = csim_comm_conn(job.comm, 0, 0, 1, TRUE);
  g_assert_cmpint(conn.kind, ==, CSIM_CONN_NET);
  toy_job_clear(&job);
}

static CsimComm *mixed(CsimCluster *cluster, const CsimNcclEnv *env) {
  g_autoptr(GError) error = NULL;
  g_ptr_array_add(cluster->systems, toy_system(&a100));
  g_ptr_array_add(cluster->systems, toy_system(&l40s));
  for (guint m = 0; m < cluster->n_nodes; m++) cluster->node_system[m] = m % 3;
  CsimComm *comm = csim_comm_new(&(CsimCommSpec){.cluster = cluster, .env = env}, NULL, &error);
  g_assert_no_error(error);
  return comm;
}

/* Unequal nodes in one job: what all agree on is the least of each. */
static void test_mixed(void) {
  CsimCluster *cluster = toy_cluster(&h100, 7);
  g_autoptr(CsimNcclEnv) env = csim_nccl_env_new(NULL, NULL, NULL, NULL);
  g_autoptr(CsimComm) comm = mixed(cluster, env);
  const CsimCommInfo *info = csim_comm_info(comm);
  g_assert_cmpint(info->n_ranks, ==, 3 * 8 + 2 * 8 + 2 * 4);
  g_assert_cmpint(info->min_local_ranks, ==, 4);
  g_assert_cmpint(info->max_local_ranks, ==, 8);
  g_assert_cmpint(info->min_sm, ==, 80);
  g_assert_cmpint(info->max_sm, ==, 90);
  g_assert_cmpint(info->cpu_vendor, ==, CSIM_VENDOR_MIXED);
  g_assert_cmpint(info->nvls_support, ==, 0);
  g_assert_cmpint(info->n_channels, ==, 2 * csim_comm_graph(comm, CSIM_GRAPH_RING)->n_channels);
  check_all(comm);
  g_clear_pointer(&comm, csim_comm_free);
  toy_cluster_free(cluster);
}

typedef struct {
  const char *name;
  const ToyNode *node;
  guint machines;
  const char *env;
  int coll, nvls, p2p, per_peer;
} Count;

/* Fact sheet 3.4, 3.6, 9.4, 9.7. */
static void test_counts(void) {
  static const Count counts[] = {
      {"h100", &h100, 1, NULL, 24, 16, 32, 32},
      {"h100x2", &h100, 2, NULL, 16, 16, 16, 4},
      {"h100x16", &h100, 16, NULL, 16, 16, 16, 1},
      {"one GPU", &h100_alone, 2, NULL, 4, 0, 4, 4},
      {"max 4", &h100, 1, "NCCL_MAX_NCHANNELS=4", 4, 16, 4, 4},
      {"min 32", &h100, 2, "NCCL_MIN_NCHANNELS=32", 32, 16, 32, 4},
      {"no NVLS", &h100, 2, "NCCL_NVLS_ENABLE=0", 16, 0, 16, 4},
  };
  for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
    const Count *k = &counts[i];
    g_test_message("%s", k->name);
    ToyJob job = toy_job(k->node, k->machines, (const char *[]){k->env, NULL});
    const CsimCommInfo *info = csim_comm_info(job.comm);
    g_assert_cmpint(info->n_channels, ==, k->coll);
    g_assert_cmpint(info->n_nvls_channels, ==, k->nvls);
    g_assert_cmpint(info->n_p2p_channels, ==, k->p2p);
    g_assert_cmpint(info->n_p2p_per_peer, ==, k->per_peer);
    toy_job_clear(&job);
  }
}

/* H100 pair: rings leave through the rail that the next node enters by, GPUDirect on both sides. */
static void test_rail_conn(void) {
  ToyJob job = toy_job(&h100, 2, NULL);
  for (int c = 0; c < csim_comm_info(job.comm)->n_channels; c++)
    for (int p = 0; p < 16; p++) {
      int from = csim_comm_ring_rank_at(job.comm, c, p),
          to = csim_comm_ring_rank_at(job.comm, c, (p + 1) % 16);
      CsimConn conn = csim_comm_conn(job.comm, c, from, to, FALSE);
      if (csim_comm_place(job.comm, from).node == csim_comm_place(job.comm, to).node) {
        g_assert_cmpint(conn.kind, ==, CSIM_CONN_P2P);
        g_assert_cmpint(conn.path_type, ==, CSIM_PATH_NVL);
        continue;
      }
      g_assert_cmpint(conn.kind, ==, CSIM_CONN_NET);
      g_assert_cmpint(conn.send_net, ==, conn.recv_net);
      g_assert_cmpint(conn.send_net, ==, from % 8);
      g_assert_true(conn.send_gdr && conn.recv_gdr);
      g_assert_cmpint(conn.pxn_rank, ==, -1);
    }
  toy_job_clear(&job);
}

/* Send/recv to a peer on another rail goes out through the GPU beside that rail's NIC; without PXN through
 * the own one. */
static void test_p2p_pxn(void) {
  ToyJob job = toy_job(&h100, 2, NULL);
  CsimConn conn = csim_comm_conn(job.comm, 0, 1, 8 + 5, TRUE);
  g_assert_cmpint(conn.send_net, ==, 5);
  g_assert_cmpint(conn.recv_net, ==, 5);
  g_assert_cmpint(conn.pxn_rank, ==, 5);
  conn = csim_comm_conn(job.comm, 0, 5, 8 + 5, TRUE);
  g_assert_cmpint(conn.send_net, ==, 5);
  g_assert_cmpint(conn.pxn_rank, ==, -1);
  toy_job_clear(&job);
  job = toy_job(&h100, 2, (const char *[]){"NCCL_PXN_DISABLE=1", NULL});
  conn = csim_comm_conn(job.comm, 0, 1, 8 + 5, TRUE);
  g_assert_cmpint(conn.send_net, ==, 1);
  g_assert_cmpint(conn.recv_net, ==, 5);
  toy_job_clear(&job);
  /* Without crossing NICs the rails are kept even so, over the CPU. */
  job = toy_job(&h100, 2, (const char *[]){"NCCL_PXN_DISABLE=1", "NCCL_CROSS_NIC=0", NULL});
  conn = csim_comm_conn(job.comm, 0, 1, 8 + 5, TRUE);
  g_assert_cmpint(conn.send_net, ==, 5);
  g_assert_cmpint(conn.pxn_rank, ==, -1);
  g_assert_false(conn.send_gdr);
  toy_job_clear(&job);
}

/* PCIe GPUs on two sockets talk through host memory; A100 over NVLink reads. */
static void test_local_conn(void) {
  ToyJob job = toy_job(&bare, 1, NULL);
  g_assert_cmpint(csim_comm_conn(job.comm, 0, 0, 3, TRUE).kind, ==, CSIM_CONN_SHM);
  g_assert_cmpint(csim_comm_conn(job.comm, 0, 2, 2, TRUE).kind, ==, CSIM_CONN_SELF);
  toy_job_clear(&job);
  job = toy_job(&a100, 1, NULL);
  CsimConn conn = csim_comm_conn(job.comm, 0, 0, 3, FALSE);
  g_assert_cmpint(conn.kind, ==, CSIM_CONN_P2P);
  g_assert_true(conn.read);
  toy_job_clear(&job);
}

static CsimComm *with_gpus(CsimCluster *cluster, const CsimNcclEnv *env, const int *gpus, guint n,
                           GError **error) {
  return csim_comm_new(&(CsimCommSpec){.cluster = cluster, .env = env, .gpus = gpus, .n_gpus = n}, NULL,
                       error);
}

static void test_part_of_gpus(void) {
  CsimCluster *cluster = toy_cluster(&h100, 2);
  g_autoptr(CsimNcclEnv) env = csim_nccl_env_new(NULL, NULL, NULL, NULL);
  static const int some[] = {5, 2}, missing[] = {2, 9};
  g_autoptr(CsimComm) two = with_gpus(cluster, env, some, 2, NULL);
  g_assert_cmpint(csim_comm_info(two)->n_ranks, ==, 4);
  g_assert_cmpint(csim_comm_place(two, 0).local_gpu, ==, 2);
  g_assert_cmpint(csim_comm_place(two, 3).local_gpu, ==, 5);
  g_assert_cmpint(csim_comm_gpu(two, 3)->gpu.dev, ==, 5);
  check_all(two);
  g_autoptr(CsimComm) four = with_gpus(cluster, env, NULL, 4, NULL);
  g_assert_cmpint(csim_comm_info(four)->n_ranks, ==, 8);
  check_all(four);
  g_autoptr(GError) error = NULL;
  g_assert_null(with_gpus(cluster, env, missing, 2, &error));
  g_assert_nonnull(error);
  g_clear_error(&error);
  g_assert_null(with_gpus(cluster, env, NULL, 9, &error));
  g_assert_nonnull(error);
  g_clear_pointer(&two, csim_comm_free);
  g_clear_pointer(&four, csim_comm_free);
  toy_cluster_free(cluster);
}

/* 2048 nodes: made from one search, answered by arithmetic. */
static void test_large(void) {
  ToyJob job = toy_job(&h100, 2048, NULL);
  const CsimCommInfo *info = csim_comm_info(job.comm);
  g_assert_cmpint(info->n_ranks, ==, 16384);
  check_rings(job.comm);
  for (int r = 0; r < info->n_ranks; r += 97) {
    CsimTreeNode t = csim_comm_tree(job.comm, 3, r);
    if (t.up >= 0) g_assert_true(is_child(csim_comm_tree(job.comm, 3, t.up), r));
  }
  toy_job_clear(&job);
}

/* Descriptions that are odd but not wrong. */
static void test_odd(void) {
  static const ToyNode odd[] = {
      {17, 89, 0, 0, 1, FALSE, "16.0 GT/s PCIe", 16, 0},       /* 17 GPUs on one CPU */
      {17, 90, 18, 0, 1, FALSE, "32.0 GT/s PCIe", 16, 400000}, /* 17 on one switch */
      {3, 80, 0, 1, 1, FALSE, "16.0 GT/s PCIe", 8, 10000},     /* slow NICs */
      {1, 75, 0, 0, 1, TRUE, "8.0 GT/s PCIe", 4, 0},           /* nothing to talk with */
      {2, 70, 1, 0, 1, TRUE, "8.0 GT/s PCIe", 1, 1},           /* next to no bandwidth */
  };
  for (guint i = 0; i < G_N_ELEMENTS(odd); i++)
    for (guint machines = 1; machines <= 3; machines++) {
      ToyJob job = toy_job(&odd[i], machines, NULL);
      check_all(job.comm);
      toy_job_clear(&job);
    }
}

/* Several machines without a NIC, and rings that NCCL cannot find, are said so. */
static void test_notes(void) {
  CsimCluster *cluster = toy_cluster(&bare, 2);
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimComm) comm = csim_comm_new(&(CsimCommSpec){.cluster = cluster}, diag, NULL);
  g_assert_nonnull(comm);
  gboolean no_nic = FALSE, no_ring = FALSE;
  for (guint i = 0; i < csim_diag_n(diag); i++) {
    no_nic = no_nic || strstr(csim_diag_get(diag, i)->text, "has no NIC");
    no_ring = no_ring || strstr(csim_diag_get(diag, i)->text, "finds no ring");
  }
  g_assert_true(no_nic && no_ring);
  g_clear_pointer(&comm, csim_comm_free);
  toy_cluster_free(cluster);
}

static void test_json_parts(void) {
  ToyJob job = toy_job(&h100, 2, NULL);
  cJSON *json = csim_comm_to_json(job.comm, CSIM_JSON_CHANNELS | CSIM_JSON_GRAPHS);
  g_assert_nonnull(cJSON_GetObjectItem(json, "graphs"));
  g_assert_nonnull(cJSON_GetObjectItem(json, "channels"));
  g_assert_null(cJSON_GetObjectItem(json, "rings"));
  cJSON *channels = cJSON_GetObjectItem(json, "channels");
  g_assert_cmpint(cJSON_GetObjectItem(channels, "coll")->valueint, ==, 16);
  cJSON_Delete(json);
  toy_job_clear(&job);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/comm/shapes", test_shapes);
  g_test_add_func("/comm/split", test_split);
  g_test_add_func("/comm/mixed", test_mixed);
  g_test_add_func("/comm/counts", test_counts);
  g_test_add_func("/comm/conn/rail", test_rail_conn);
  g_test_add_func("/comm/conn/pxn", test_p2p_pxn);
  g_test_add_func("/comm/conn/local", test_local_conn);
  g_test_add_func("/comm/gpus", test_part_of_gpus);
  g_test_add_func("/comm/large", test_large);
  g_test_add_func("/comm/odd", test_odd);
  g_test_add_func("/comm/notes", test_notes);
  g_test_add_func("/comm/json", test_json_parts);
  return g_test_run();
}
