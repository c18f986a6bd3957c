/* How calls are cut: the worked examples of a H100 node, chunks, send/recv, odd settings. */
#include "tuning.h"

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

/* Eight H100 with NVSwitch: ring 12 x 30, tree 12 x 30, NVLS 8 heads. */
static const CsimTuneInput h100_node = {
    .n_ranks = 8,
    .n_nodes = 1,
    .max_local_ranks = 8,
    .n_channels = 24,
    .n_nvls_channels = 16,
    .n_p2p_channels = 32,
    .n_p2p_per_peer = 32,
    .nvls_chunk = 131072,
    .nvls_tree_max_chunk = 131072,
    .nvls_heads = 8,
    .min_sm = 90,
    .max_sm = 90,
    .cpu_arch = CSIM_ARCH_X86,
    .cpu_vendor = CSIM_VENDOR_INTEL,
    .tree_pattern = CSIM_PATTERN_BALANCED_TREE,
    .nvswitch = TRUE,
    .all_nvlink = TRUE,
    .graph = {[CSIM_GRAPH_RING] = {12, 1, CSIM_PATH_NVL, CSIM_PATH_PIX, 30, 30, 0},
              [CSIM_GRAPH_TREE] = {12, 1, CSIM_PATH_NVL, CSIM_PATH_PIX, 30, 30, 0},
              [CSIM_GRAPH_NVLS] = {8, 0, CSIM_PATH_NVL, CSIM_PATH_PIX, 40, 60, 0}}};

/* The same, 4 nodes with a 400 Gbit/s NIC for each GPU. */
static CsimTuneInput h100_nodes(int n) {
  CsimTuneInput in = h100_node;
  in.n_nodes = n;
  in.n_ranks = 8 * n;
  in.n_channels = in.n_p2p_channels = 16;
  in.n_p2p_per_peer = 4;
  in.tree_pattern = CSIM_PATTERN_TREE;
  in.graph[CSIM_GRAPH_RING] = (CsimTuneGraph){8, 0, CSIM_PATH_NVL, CSIM_PATH_PIX, 48, 48, 0};
  in.graph[CSIM_GRAPH_TREE] = (CsimTuneGraph){8, 0, CSIM_PATH_NVL, CSIM_PATH_PIX, 48, 48, 0};
  in.graph[CSIM_GRAPH_NVLS] = (CsimTuneGraph){8, 0, CSIM_PATH_NVL, CSIM_PATH_PIX, 40, 48, 0};
  return in;
}

static void assert_no_gap(const CsimPart *parts, int n, CsimBytes total) {
  CsimBytes at = 0;
  for (int i = 0; i < n; i++) {
    g_assert_cmpint(parts[i].offset, ==, at);
    g_assert_cmpint(parts[i].bytes, >, 0);
    g_assert_cmpint(parts[i].chunk, >, 0);
    at += parts[i].bytes;
  }
  g_assert_cmpint(at, ==, total);
}

/* Rules of NCCL 2.30.7, src/enqueue.cc, worked by hand. */
static void test_worked_examples(void) {
  static const struct {
    CsimBytes bytes;
    const char *proto;
    int nc, nt, used;
    CsimBytes lo, mid, hi;
  } rows[] = {
      {1 * KIB, "NCCL_PROTO=LL", 1, 96, 1, 1024, 0, 0},
      {8 * KIB, "NCCL_PROTO=LL", 1, 128, 1, 8192, 0, 0},
      {64 * KIB, "NCCL_PROTO=LL", 2, 512, 2, 32768, 0, 32768},
      {256 * KIB, "NCCL_PROTO=LL", 8, 512, 8, 32768, 32768, 32768},
      {1 * MIB, "NCCL_PROTO=LL", 24, 512, 24, 45056, 45056, 12288},
      {2 * MIB, "NCCL_PROTO=LL", 24, 512, 24, 90112, 90112, 24576},
      {1 * MIB, "NCCL_PROTO=Simple", 24, 512 + 32, 22, 49152, 49152, 16384},
      {32 * MIB, "NCCL_PROTO=Simple", 24, 512 + 32, 24, 1409024, 1409024, 1146880},
      {1 * GIB, "NCCL_PROTO=Simple", 24, 512 + 32, 24, 44744704, 44744704, 44613632},
  };
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    const char *settings[] = {"NCCL_ALGO=Ring", rows[i].proto, NULL};
    g_autoptr(CsimTuning) t = tuning_with(&h100_node, settings);
    CsimChoice choice = choose(t, CSIM_COLL_ALL_REDUCE, rows[i].bytes);
    CsimPart parts[CSIM_MAX_CHANNELS];
    int used;
    csim_tuning_split(t, CSIM_COLL_ALL_REDUCE, &choice, CSIM_TYPE_FLOAT, rows[i].bytes / 4, parts, &used);
    g_assert_cmpint(choice.n_channels, ==, rows[i].nc);
    g_assert_cmpint(choice.n_threads, ==, rows[i].nt);
    g_assert_cmpint(used, ==, rows[i].used);
    g_assert_cmpint(parts[0].bytes, ==, rows[i].lo);
    for (int c = 1; c < used - 1; c++) g_assert_cmpint(parts[c].bytes, ==, rows[i].mid);
    if (used > 1) g_assert_cmpint(parts[used - 1].bytes, ==, rows[i].hi);
    assert_no_gap(parts, used, rows[i].bytes);
  }
}

static void test_chunks(void) {
  const char *ring[] = {"NCCL_ALGO=Ring", "NCCL_PROTO=Simple", NULL},
             *ll[] = {"NCCL_ALGO=Ring", "NCCL_PROTO=LL", NULL};
  const char *nvls[] = {"NCCL_ALGO=NVLS", NULL};
  CsimPart parts[CSIM_MAX_CHANNELS];
  int used;
  g_autoptr(CsimTuning) simple = tuning_with(&h100_node, ring);
  CsimChoice choice = choose(simple, CSIM_COLL_ALL_REDUCE, GIB);
  csim_tuning_split(simple, CSIM_COLL_ALL_REDUCE, &choice, CSIM_TYPE_FLOAT, GIB / 4, parts, &used);
  g_assert_cmpint(parts[5].chunk, ==, 2 * MIB);
  g_autoptr(CsimTuning) small = tuning_with(&h100_node, ll);
  choice = choose(small, CSIM_COLL_ALL_REDUCE, 64 * KIB);
  csim_tuning_split(small, CSIM_COLL_ALL_REDUCE, &choice, CSIM_TYPE_FLOAT, 16 * KIB, parts, &used);
  g_assert_cmpint(parts[0].chunk, ==, 32768);
  g_autoptr(CsimTuning) sharp = tuning_with(&h100_node, nvls);
  choice = choose(sharp, CSIM_COLL_ALL_REDUCE, GIB);
  g_assert_cmpint(choice.n_threads, ==, 640);
  csim_tuning_split(sharp, CSIM_COLL_ALL_REDUCE, &choice, CSIM_TYPE_FLOAT, GIB / 4, parts, &used);
  g_assert_cmpint(used, ==, 16);
  g_assert_cmpint(parts[7].bytes, ==, 64 * MIB);
  g_assert_cmpint(parts[7].chunk, ==, 131072);
}

static void test_shapes(void) {
  g_autoptr(CsimTuning) t = tuning_with(&h100_node, NULL);
  CsimProtoShape ring = csim_tuning_shape(t, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, CSIM_PROTO_SIMPLE);
  g_assert_cmpint(ring.step, ==, 524288);
  g_assert_cmpint(ring.slots, ==, 8);
  g_assert_cmpint(ring.chunk_steps, ==, 4);
  g_assert_cmpint(ring.slice_steps, ==, 2);
  g_assert_cmpint(csim_tuning_shape(t, CSIM_COLL_BROADCAST, CSIM_ALGO_RING, CSIM_PROTO_SIMPLE).chunk_steps,
                  ==, 1);
  g_assert_cmpint(csim_tuning_shape(t, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, CSIM_PROTO_LL).step, ==, 32768);
  g_assert_cmpint(csim_tuning_shape(t, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_TREE, CSIM_PROTO_LL128).step, ==,
                  576000);
  const char *settings[] = {"NCCL_BUFFSIZE=8388608", "NCCL_LL_BUFFSIZE=262144", NULL};
  g_autoptr(CsimTuning) large = tuning_with(&h100_node, settings);
  g_assert_cmpint(csim_tuning_shape(large, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_TREE, CSIM_PROTO_SIMPLE).step, ==,
                  1048576);
  g_assert_cmpint(csim_tuning_shape(large, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_TREE, CSIM_PROTO_LL).step, ==,
                  16384);
}

/* Every size and function: no gap, no empty part, never more channels than allowed. */
static void test_splits_cover(void) {
  CsimTuneInput four = h100_nodes(4);
  const CsimTuneInput *inputs[] = {&h100_node, &four};
  static const CsimType types[] = {CSIM_TYPE_INT8, CSIM_TYPE_HALF, CSIM_TYPE_FLOAT, CSIM_TYPE_DOUBLE};
  for (guint k = 0; k < G_N_ELEMENTS(inputs); k++) {
    g_autoptr(CsimTuning) t = tuning_with(inputs[k], NULL);
    for (int f = 0; f < CSIM_N_NCCL_FUNCS; f++)
      for (CsimBytes count = 1; count < 200 * MIB; count = count * 3 + 1) {
        CsimType type = types[count % 4];
        CsimBytes bytes = count * csim_type_size(type);
        gboolean gather = f == CSIM_COLL_ALL_GATHER || f == CSIM_COLL_REDUCE_SCATTER;
        CsimChoice choice = choose(t, (CsimColl)f, gather ? bytes * inputs[k]->n_ranks : bytes);
        CsimPart parts[CSIM_MAX_CHANNELS];
        int used;
        csim_tuning_split(t, (CsimColl)f, &choice, type, count, parts, &used);
        g_assert_cmpint(used, <=, choice.n_channels);
        assert_no_gap(parts, used, bytes);
      }
  }
}

static void test_nothing_left(void) {
  const char *settings[] = {"NCCL_ALGO=Tree", NULL};
  g_autoptr(CsimTuning) t = tuning_with(&h100_node, settings);
  CsimChoice choice;
  g_autoptr(GError) error = NULL;
  g_assert_false(
      csim_tuning_choose(t, CSIM_COLL_ALL_GATHER, CSIM_TYPE_FLOAT, CSIM_OP_SUM, MIB, &choice, &error));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_NCCL);
  g_assert_cmpstr(error->message, ==,
                  "No algorithm/protocol available for function AllGather with datatype float; NCCL_ALGO and "
                  "NCCL_PROTO must leave one");
}

/* Types and operations that NVLS cannot reduce go elsewhere. */
static void test_types(void) {
  g_autoptr(CsimTuning) t = tuning_with(&h100_node, NULL);
  static const struct {
    CsimType type;
    CsimOp op;
    CsimAlgo algo;
  } cases[] = {
      {CSIM_TYPE_FLOAT, CSIM_OP_SUM, CSIM_ALGO_NVLS}, {CSIM_TYPE_FLOAT, CSIM_OP_MAX, CSIM_ALGO_RING},
      {CSIM_TYPE_HALF, CSIM_OP_MAX, CSIM_ALGO_NVLS},  {CSIM_TYPE_BFLOAT16, CSIM_OP_AVG, CSIM_ALGO_RING},
      {CSIM_TYPE_INT8, CSIM_OP_SUM, CSIM_ALGO_RING},  {CSIM_TYPE_INT32, CSIM_OP_PROD, CSIM_ALGO_RING}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    CsimChoice choice;
    g_assert_true(
        csim_tuning_choose(t, CSIM_COLL_ALL_REDUCE, cases[i].type, cases[i].op, GIB, &choice, NULL));
    g_assert_cmpint(choice.algo, ==, cases[i].algo);
  }
}

static void test_threads(void) {
  static const struct {
    const char *setting;
    int ring_simple, tree_ll, ring_ll128;
  } cases[] = {{"NCCL_NTHREADS=256", 256, 256, 640},       {"NCCL_NTHREADS=100", 512, 512, 640},
               {"NCCL_NTHREADS=32", 64, 64, 640},          {"NCCL_NTHREADS=1024", 512, 512, 640},
               {"NCCL_LL128_NTHREADS=320", 512, 512, 320}, {"NCCL_LL128_NTHREADS=32", 512, 512, 160}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *settings[] = {cases[i].setting, NULL};
    g_autoptr(CsimTuning) t = tuning_with(&h100_node, settings);
    g_assert_cmpint(csim_tuning_max_threads(t, CSIM_ALGO_RING, CSIM_PROTO_SIMPLE), ==, cases[i].ring_simple);
    g_assert_cmpint(csim_tuning_max_threads(t, CSIM_ALGO_TREE, CSIM_PROTO_LL), ==, cases[i].tree_ll);
    g_assert_cmpint(csim_tuning_max_threads(t, CSIM_ALGO_RING, CSIM_PROTO_LL128), ==, cases[i].ring_ll128);
  }
  const char *settings[] = {"NCCL_THREAD_THRESHOLDS=1 2 3 4 -1 6", NULL};
  g_autoptr(CsimTuning) t = tuning_with(&h100_node, settings);
  g_assert_cmpint(csim_tuning_threshold(t, CSIM_ALGO_TREE, CSIM_PROTO_SIMPLE), ==, 3);
  g_assert_cmpint(csim_tuning_threshold(t, CSIM_ALGO_RING, CSIM_PROTO_LL), ==, 4);
  g_assert_cmpint(csim_tuning_threshold(t, CSIM_ALGO_RING, CSIM_PROTO_LL128), ==, 8);
  g_assert_cmpint(csim_tuning_threshold(t, CSIM_ALGO_RING, CSIM_PROTO_SIMPLE), ==, 6);
}

/* In every round sends and receives match, and over all rounds each rank meets each other once. */
static void assert_schedule(const CsimTuneInput *in, const char *const *settings) {
  g_autoptr(CsimTuning) t = tuning_with(in, settings);
  g_autofree gboolean *met = g_new0(gboolean, in->n_ranks * in->n_ranks);
  int to, from, back, ignored;
  for (int round = 0; round < in->n_ranks; round++)
    for (int r = 0; r < in->n_ranks; r++) {
      g_assert_true(csim_tuning_p2p_round(t, r, round, &to, &from));
      g_assert_true(csim_tuning_p2p_round(t, to, round, &ignored, &back));
      g_assert_cmpint(back, ==, r);
      g_assert_false(met[r * in->n_ranks + to]);
      met[r * in->n_ranks + to] = TRUE;
    }
  g_assert_false(csim_tuning_p2p_round(t, 0, in->n_ranks, &to, &from));
}

static void test_schedule(void) {
  const char *odd[] = {"NCCL_P2P_SCHEDULE_GROUP_SIZE=6", NULL};
  assert_schedule(&h100_node, NULL);
  for (int n = 2; n <= 7; n++) {
    CsimTuneInput in = h100_nodes(n);
    assert_schedule(&in, NULL);
    assert_schedule(&in, odd);
  }
  CsimTuneInput in = h100_nodes(16);
  g_autoptr(CsimTuning) t = tuning_with(&in, NULL);
  static const int distance[] = {0, 1, 3, 6, 10, 15, 5, 12, 4, 13, 7, 2, 14, 11, 9, 8};
  for (guint i = 0; i < G_N_ELEMENTS(distance); i++) {
    int to, from;
    csim_tuning_p2p_round(t, 3, (int)i * 8 + 2, &to, &from);
    g_assert_cmpint(to, ==, distance[i] * 8 + 5);
    g_assert_cmpint(from, ==, (16 - distance[i]) % 16 * 8 + 1);
  }
}

static void test_p2p_pieces(void) {
  CsimTuneInput two = h100_nodes(2);
  g_autoptr(CsimTuning) one = tuning_with(&h100_node, NULL), several = tuning_with(&two, NULL);
  CsimP2pSplit s;
  /* One node: 4 channels a peer when all talk (32 channels, 8 ranks), none with less than 64 KiB; LL up to 16 KiB for each. */
  csim_tuning_p2p_split(one, 0, 1, 512 * KIB, 1, &s);
  g_assert_cmpint(s.proto, ==, CSIM_PROTO_SIMPLE);
  g_assert_cmpint(s.n_parts, ==, 4);
  g_assert_cmpint(s.part, ==, 128 * KIB);
  g_assert_cmpint(s.chunk, ==, 524288);
  g_assert_cmpint(s.first_channel, ==, 16);
  csim_tuning_p2p_split(one, 0, 1, 16 * KIB, 1, &s);
  g_assert_cmpint(s.proto, ==, CSIM_PROTO_LL);
  g_assert_cmpint(s.n_parts, ==, 1);
  g_assert_cmpint(s.chunk, ==, 32768);
  csim_tuning_p2p_split(one, 0, 1, 16 * KIB + 4, 1, &s);
  g_assert_cmpint(s.proto, ==, CSIM_PROTO_SIMPLE);
  csim_tuning_p2p_split(one, 0, 1, 128 * KIB, 1, &s);
  g_assert_cmpint(s.n_parts, ==, 2);
  csim_tuning_p2p_split(one, 2, 2, KIB, 0, &s); /* a copy of one's own knows no LL */
  g_assert_cmpint(s.proto, ==, CSIM_PROTO_SIMPLE);
  csim_tuning_p2p_split(one, 0, 3, GIB, 3, &s);
  g_assert_cmpint(s.proto, ==, CSIM_PROTO_SIMPLE);
  g_assert_cmpint(s.n_parts, ==, 32);
  g_assert_cmpint(s.part, ==, 32 * MIB);
  g_assert_cmpint(s.chunk, ==, 524288);
  g_assert_cmpint(s.first_channel, ==, 24);
  /* Several nodes: no LL over the network, one channel a peer, doubled to 4 while parts exceed a chunk. */
  csim_tuning_p2p_split(several, 0, 8, 4 * KIB, 8, &s);
  g_assert_cmpint(s.proto, ==, CSIM_PROTO_SIMPLE);
  g_assert_cmpint(s.n_parts, ==, 1);
  g_assert_cmpint(s.chunk, ==, 32768);
  csim_tuning_p2p_split(several, 0, 8, 512 * KIB, 8, &s);
  g_assert_cmpint(s.n_parts, ==, 4);
  g_assert_cmpint(s.part, ==, 128 * KIB);
  g_assert_cmpint(s.chunk, ==, 65536);
  csim_tuning_p2p_split(several, 0, 8, 16 * MIB, 8, &s);
  g_assert_cmpint(s.n_parts, ==, 4);
  g_assert_cmpint(s.chunk, ==, 131072);
  g_assert_cmpint(s.first_channel, ==, 8);
  csim_tuning_p2p_split(several, 0, 3, 16 * KIB, 3, &s);
  g_assert_cmpint(s.proto, ==, CSIM_PROTO_LL);
}

/* Whatever text a variable carries: a choice is made or refused, and shares cover the call. */
static void use_everything(const CsimTuneInput *in, const char *setting) {
  const char *settings[] = {setting, NULL};
  g_autoptr(CsimTuning) t = tuning_with(in, settings);
  for (int f = 0; f < CSIM_N_NCCL_FUNCS; f++)
    for (CsimBytes count = 1; count < GIB; count = count * 37 + 5) {
      CsimChoice choice;
      CsimPart parts[CSIM_MAX_CHANNELS];
      int used;
      if (!csim_tuning_choose(t, (CsimColl)f, CSIM_TYPE_FLOAT, CSIM_OP_SUM, count * 4, &choice, NULL))
        continue;
      csim_tuning_split(t, (CsimColl)f, &choice, CSIM_TYPE_FLOAT, count, parts, &used);
      assert_no_gap(parts, used, count * 4);
      CsimP2pSplit s;
      csim_tuning_p2p_split(t, 0, in->n_ranks - 1, count, 1, &s);
      g_assert_cmpint(s.n_parts * s.part, >=, count);
      g_assert_cmpint(s.chunk, >, 0);
    }
}

static void test_odd_values(void) {
  static const char *const names[] = {"NCCL_BUFFSIZE",
                                      "NCCL_LL_BUFFSIZE",
                                      "NCCL_LL128_BUFFSIZE",
                                      "NCCL_NTHREADS",
                                      "NCCL_LL128_NTHREADS",
                                      "NCCL_THREAD_THRESHOLDS",
                                      "NCCL_NET_OVERHEAD",
                                      "NCCL_PAT_ENABLE",
                                      "NCCL_LL128_C2C",
                                      "NCCL_P2P_NET_CHUNKSIZE",
                                      "NCCL_P2P_NVL_CHUNKSIZE",
                                      "NCCL_P2P_LL_THRESHOLD",
                                      "NCCL_CHUNK_SIZE",
                                      "NCCL_P2P_SCHEDULE_GROUP_SIZE",
                                      "NCCL_ALLOC_P2P_NET_LL_BUFFERS"};
  static const char *const values[] = {
      "", "0", "-1", "1", "7", "33", "2147483647", "9223372036854775807", "99999999999999999999", "x"};
  CsimTuneInput several = h100_nodes(3);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    for (guint k = 0; k < G_N_ELEMENTS(values); k++) {
      g_autofree char *setting = g_strdup_printf("%s=%s", names[i], values[k]);
      use_everything(&h100_node, setting);
      use_everything(&several, setting);
    }
}

static guint notes_of(const CsimTuneInput *in, gboolean nvls, const char *setting) {
  const char *settings[] = {setting, NULL};
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimNcclEnv) env = csim_nccl_env_new(NULL, settings, NULL, NULL);
  csim_env_check_input(env, in, nvls, diag);
  return csim_diag_n(diag);
}

/* Variables that cannot matter on the communicator at hand are named; those that can are not. */
static void test_idle_variables(void) {
  CsimTuneInput several = h100_nodes(2), old = h100_node;
  old.min_sm = 80;
  g_assert_cmpuint(notes_of(&h100_node, TRUE, "NCCL_CROSS_NIC=1"), ==, 1);
  g_assert_cmpuint(notes_of(&several, TRUE, "NCCL_CROSS_NIC=1"), ==, 0);
  g_assert_cmpuint(notes_of(&h100_node, TRUE, "NCCL_NVLS_ENABLE=0"), ==, 0);
  g_assert_cmpuint(notes_of(&old, FALSE, "NCCL_NVLS_ENABLE=0"), ==, 1);
  g_assert_cmpuint(notes_of(&h100_node, TRUE, "NCCL_P2P_PCI_CHUNKSIZE=65536"), ==, 1);
  g_assert_cmpuint(notes_of(&h100_node, TRUE, "NCCL_P2P_NVL_CHUNKSIZE=65536"), ==, 0);
  g_assert_cmpuint(notes_of(&h100_node, TRUE, "NCCL_ALGO=Ring"), ==, 0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/nccl/enqueue/worked-examples", test_worked_examples);
  g_test_add_func("/nccl/enqueue/chunks", test_chunks);
  g_test_add_func("/nccl/enqueue/shapes", test_shapes);
  g_test_add_func("/nccl/enqueue/splits-cover", test_splits_cover);
  g_test_add_func("/nccl/enqueue/nothing-left", test_nothing_left);
  g_test_add_func("/nccl/enqueue/types", test_types);
  g_test_add_func("/nccl/enqueue/threads", test_threads);
  g_test_add_func("/nccl/enqueue/schedule", test_schedule);
  g_test_add_func("/nccl/enqueue/p2p-pieces", test_p2p_pieces);
  g_test_add_func("/nccl/enqueue/odd-values", test_odd_values);
  g_test_add_func("/nccl/enqueue/idle-variables", test_idle_variables);
  return g_test_run();
}
