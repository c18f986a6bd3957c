/* The cost table and NCCL's choice, against the reference vectors: inputs are taken from each vector's own graphs and channels, so that
 * this test does not depend on the search. */
#include "nccl/json.h"
#include "nccl/tune-internal.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-3 /* relative, for times and bandwidths */

static char *reference_folder(const char *name) {
  const char *given = g_getenv("COLLSIM_REFERENCE"), *root = g_getenv("COLLSIM_SOURCE_ROOT");
  return g_build_filename(given ? "" : root ? root : ".", given ? given : "../shared", name, NULL);
}

static cJSON *read_json(const char *path) {
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  cJSON *json = cJSON_Parse(text);
  g_assert_nonnull(json);
  return json;
}

static double number_of(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  g_assert_true(cJSON_IsNumber(item));
  return item->valuedouble;
}

static int path_type_of(const cJSON *graph, const char *key) {
  static const char *const names[] = {"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                      "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};
  const char *text = cJSON_GetObjectItemCaseSensitive(graph, key)->valuestring;
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    if (strcmp(text, names[i]) == 0) return (int)i;
  g_assert_cmpstr(text, ==, "");
  return 0;
}

static CsimTuneGraph graph_of(const cJSON *g) {
  return (CsimTuneGraph){(int)number_of(g, "nChannels"),     (int)number_of(g, "sameChannels"),
                         path_type_of(g, "typeIntra"),       path_type_of(g, "typeInter"),
                         (float)number_of(g, "bwIntra"),     (float)number_of(g, "bwInter"),
                         (float)number_of(g, "latencyInter")};
}

/* Nodes are written out for one and two machines only; for more, a CollNetDirect graph tells (it is all that asks for the switch). */
static gboolean lists_nvswitch(const cJSON *vector) {
  const cJSON *node,
      *nodes = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(vector, "system"), "nodes");
  cJSON_ArrayForEach(node,
                     nodes) if (g_str_has_prefix(cJSON_GetObjectItemCaseSensitive(node, "id")->valuestring,
                                                 "NVS")) return TRUE;
  const cJSON *direct =
      cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(vector, "graphs"), "collnetDirect");
  return !nodes && number_of(direct, "nChannels") > 0;
}

static int max_local_ranks(const cJSON *vector) {
  int most = 0;
  const cJSON *group, *groups = cJSON_GetObjectItemCaseSensitive(vector, "groups");
  cJSON_ArrayForEach(group, groups) most = MAX(most, cJSON_GetArraySize(group));
  return most ? most : (int)number_of(vector, "ranksPerNode");
}

static void input_of(const cJSON *vector, CsimTuneInput *in) {
  const cJSON *system = cJSON_GetObjectItemCaseSensitive(vector, "system"),
              *ch = cJSON_GetObjectItemCaseSensitive(vector, "channels");
  const cJSON *graphs = cJSON_GetObjectItemCaseSensitive(vector, "graphs");
  static const char *const names[CSIM_N_GRAPHS] = {"ring", "tree", "collnetChain", "nvls", "collnetDirect"};
  *in = (CsimTuneInput){.n_ranks = (int)number_of(vector, "nRanks"),
                        .n_nodes = (int)number_of(vector, "ncclNodes"),
                        .max_local_ranks = max_local_ranks(vector),
                        .n_channels = (int)number_of(ch, "coll"),
                        .n_nvls_channels = (int)number_of(ch, "nvls"),
                        .n_p2p_channels = (int)number_of(ch, "p2p"),
                        .n_p2p_per_peer = (int)number_of(ch, "p2pPerPeer"),
                        .nvls_chunk = (int)number_of(ch, "nvlsChunk"),
                        .nvls_tree_max_chunk = (int)number_of(ch, "nvlsTreeMaxChunk"),
                        .nvls_heads = (int)number_of(ch, "nvlsHeads"),
                        .collnet_heads = (int)number_of(ch, "collnetHeads"),
                        .min_sm = (int)number_of(system, "minCompCap"),
                        .max_sm = (int)number_of(system, "maxCompCap"),
                        .cpu_arch = (int)number_of(system, "cpuArch"),
                        .cpu_vendor = (int)number_of(system, "cpuVendor"),
                        .coll_net = number_of(ch, "collnet") != 0,
                        .nvswitch = lists_nvswitch(vector),
                        .all_nvlink = number_of(system, "isAllNvlink") != 0,
                        .tree_pattern =
                            (int)number_of(cJSON_GetObjectItemCaseSensitive(graphs, "tree"), "pattern")};
  for (int g = 0; g < CSIM_N_GRAPHS; g++)
    in->graph[g] = graph_of(cJSON_GetObjectItemCaseSensitive(graphs, names[g]));
}

static CsimNcclEnv *env_of(const cJSON *vector) {
  g_autoptr(GPtrArray) settings = g_ptr_array_new_with_free_func(g_free);
  const cJSON *item;
  cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(vector, "env"))
      g_ptr_array_add(settings, g_strdup_printf("%s=%s", item->string, item->valuestring));
  g_ptr_array_add(settings, NULL);
  return csim_nccl_env_new(NULL, (const char *const *)settings->pdata, NULL, NULL);
}

/* First difference between expected and found, as a path; NULL: equal. Numbers to TOLERANCE, all else exactly. */
static char *difference(const cJSON *expected, const cJSON *found, const char *path) {
  if (!expected || !found || (expected->type & 0xff) != (found->type & 0xff)) {
    g_autofree char *e = expected ? cJSON_PrintUnformatted(expected) : g_strdup("absent"),
                    *f = found ? cJSON_PrintUnformatted(found) : g_strdup("absent");
    return g_strdup_printf("%s: expected %.200s, found %.200s", path, e, f);
  }
  if (cJSON_IsNumber(expected)) {
    double e = expected->valuedouble, f = found->valuedouble;
    return fabs(e - f) <= TOLERANCE * fabs(e) ? NULL
                                              : g_strdup_printf("%s: expected %.7g, found %.7g", path, e, f);
  }
  if (cJSON_IsString(expected))
    return strcmp(expected->valuestring, found->valuestring) == 0
               ? NULL
               : g_strdup_printf("%s: expected %s, found %s", path, expected->valuestring,
                                 found->valuestring);
  if (cJSON_GetArraySize(expected) != cJSON_GetArraySize(found))
    return g_strdup_printf("%s: expected %d entries, found %d", path, cJSON_GetArraySize(expected),
                           cJSON_GetArraySize(found));
  int i = 0;
  for (const cJSON *e = expected->child; e; e = e->next, i++) {
    const cJSON *f = cJSON_IsObject(expected) ? cJSON_GetObjectItemCaseSensitive(found, e->string)
                                              : cJSON_GetArrayItem(found, i);
    g_autofree char *inner =
        e->string ? g_strdup_printf("%s.%s", path, e->string) : g_strdup_printf("%s[%d]", path, i);
    char *text = difference(e, f, inner);
    if (text) return text;
  }
  return NULL;
}

/* TRUE if the vector has a tuning part and it is equal; differences are printed. */
static gboolean check_vector(const char *folder, const char *name, int *n_checked) {
  g_autofree char *path = g_build_filename(folder, name, NULL);
  cJSON *vector = read_json(path);
  const cJSON *expected = cJSON_GetObjectItemCaseSensitive(vector, "tuning");
  gboolean equal = TRUE;
  if (expected) {
    CsimTuneInput in;
    input_of(vector, &in);
    g_autoptr(CsimNcclEnv) env = env_of(vector);
    g_autoptr(CsimTuning) tuning = csim_tuning_from_input(&in, NULL, env);
    cJSON *found = csim_json_tuning(tuning);
    g_autofree char *text = difference(expected, found, "tuning");
    cJSON_Delete(found);
    equal = text == NULL;
    if (text) g_test_message("%s: %s", name, text);
    (*n_checked)++;
  }
  cJSON_Delete(vector);
  return equal;
}

static void test_vectors(void) {
  g_autofree char *folder = reference_folder("oracle");
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  if (!dir) {
    g_test_skip("the reference vectors are not there (COLLSIM_REFERENCE)");
    return;
  }
  int n = 0, n_different = 0;
  for (const char *name; (name = g_dir_read_name(dir));)
    if (g_str_has_suffix(name, ".json") && strcmp(name, "parser-cases.json") != 0 &&
        !check_vector(folder, name, &n))
      n_different++;
  g_test_message("%d vectors with a tuning part, %d different", n, n_different);
  g_assert_cmpint(n, >, 0);
  g_assert_cmpint(n_different, ==, 0);
}

/* ---- What NCCL 2.30.7's own code gives on synthetic machines, so that the rules are held without the vectors ---- */

typedef struct {
  const char *name;
  CsimColl func;
  CsimAlgo algo;
  double lat[3], bw[3];
} Row; /* LL, LL128, Simple; 0/0: not compared */

static CsimTuneInput machine(int nodes, int ppn, int sm, int vendor, CsimTuneGraph ring, CsimTuneGraph tree,
                             CsimTuneGraph nvls, int channels, int pattern) {
  return (CsimTuneInput){
      .n_ranks = nodes * ppn,
      .n_nodes = nodes,
      .max_local_ranks = ppn,
      .n_channels = channels,
      .n_nvls_channels = 16,
      .n_p2p_channels = 32,
      .n_p2p_per_peer = 4,
      .nvls_chunk = 131072,
      .nvls_tree_max_chunk = 131072,
      .nvls_heads = nvls.n_channels,
      .min_sm = sm,
      .max_sm = sm,
      .cpu_arch = CSIM_ARCH_X86,
      .cpu_vendor = vendor,
      .tree_pattern = pattern,
      .nvswitch = TRUE,
      .all_nvlink = TRUE,
      .graph = {[CSIM_GRAPH_RING] = ring, [CSIM_GRAPH_TREE] = tree, [CSIM_GRAPH_NVLS] = nvls}};
}

static CsimTuneGraph nvlink(int channels, float intra, float inter) {
  return (CsimTuneGraph){channels, 1, CSIM_PATH_NVL, CSIM_PATH_PIX, intra, inter, 0};
}

static CsimTuneGraph lone(int channels, float intra, float inter) {
  return (CsimTuneGraph){channels, 1, CSIM_PATH_LOC, CSIM_PATH_PIX, intra, inter, 0};
}

static void assert_rows(const CsimTuneInput *in, const Row *rows, guint n) {
  g_autoptr(CsimTuning) t = csim_tuning_from_input(in, NULL, NULL);
  for (guint i = 0; i < n; i++)
    for (int p = 0; p < CSIM_N_PROTOS; p++) {
      CsimTuneEntry e = csim_tuning_entry(t, rows[i].func, rows[i].algo, (CsimProto)p);
      if (rows[i].bw[p] == 0) continue;
      g_test_message("%s %s: %.2f us %.2f GB/s", rows[i].name, csim_proto_name((CsimProto)p), e.lat, e.bw);
      g_assert_cmpfloat(fabs(e.lat - rows[i].lat[p]), <, 0.06);
      g_assert_cmpfloat(fabs(e.bw - rows[i].bw[p]), <, 0.06);
    }
}

static void test_a100_node(void) {
  CsimTuneInput in = machine(1, 8, 80, CSIM_VENDOR_AMD, nvlink(12, 20, 20), nvlink(12, 20, 20),
                             nvlink(0, 0, 0), 24, CSIM_PATTERN_BALANCED_TREE);
  static const Row rows[] = {
      {"AllReduce Tree", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_TREE, {15.2, 31.5, 64.4}, {29.1, 85.9, 110.4}},
      {"AllReduce Ring", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, {15.0, 40.6, 56.0}, {50.1, 126.2, 137.1}},
      {"AllGather Ring", CSIM_COLL_ALL_GATHER, CSIM_ALGO_RING, {10.8, 27.3, 32.2}, {100.2, 252.3, 274.3}},
      {"Broadcast Ring", CSIM_COLL_BROADCAST, CSIM_ALGO_RING, {7.2, 15.9, 11.8}, {87.7, 220.8, 240.0}}};
  assert_rows(&in, rows, G_N_ELEMENTS(rows));
}

static void test_h100_node(void) {
  CsimTuneInput in = machine(1, 8, 90, CSIM_VENDOR_INTEL, nvlink(12, 30, 30), nvlink(12, 30, 30),
                             nvlink(8, 40, 60), 24, CSIM_PATTERN_BALANCED_TREE);
  static const Row rows[] = {
      {"AllReduce Tree", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_TREE, {15.2, 31.5, 64.4}, {43.6, 128.8, 165.6}},
      {"AllReduce Ring", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, {15.0, 40.6, 56.0}, {80.6, 189.3, 205.7}},
      {"AllReduce NVLS", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS, {0, 0, 25.0}, {0, 0, 272.0}},
      {"AllGather NVLS", CSIM_COLL_ALL_GATHER, CSIM_ALGO_NVLS, {0, 0, 25.0}, {0, 0, 208.2}},
      {"Broadcast Ring", CSIM_COLL_BROADCAST, CSIM_ALGO_RING, {7.2, 15.9, 11.8}, {141.0, 331.2, 360.0}}};
  assert_rows(&in, rows, G_N_ELEMENTS(rows));
}

static void test_h100_nodes(void) {
  CsimTuneInput in = machine(4, 8, 90, CSIM_VENDOR_INTEL, nvlink(8, 48, 48), nvlink(8, 48, 48),
                             nvlink(8, 40, 48), 16, CSIM_PATTERN_TREE);
  static const Row rows[] = {
      {"AllReduce Tree", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_TREE, {35.2, 65.5, 120.4}, {8.7, 98.6, 122.4}},
      {"AllReduce Ring", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, {78.8, 144.4, 282.8}, {10.5, 151.5, 198.2}},
      {"AllReduce NVLSTree", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS_TREE, {0, 0, 108.6}, {0, 0, 187.9}},
      {"AllGather Ring", CSIM_COLL_ALL_GATHER, CSIM_ALGO_RING, {42.7, 79.2, 145.6}, {21.1, 303.1, 396.4}}};
  assert_rows(&in, rows, G_N_ELEMENTS(rows));
}

static void test_b200_node(void) {
  CsimTuneInput in = machine(1, 8, 100, CSIM_VENDOR_INTEL, nvlink(16, 45, 45), nvlink(16, 45, 45),
                             nvlink(8, 80, 90), 32, CSIM_PATTERN_BALANCED_TREE);
  static const Row rows[] = {
      {"AllReduce Tree", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_TREE, {15.2, 31.5, 64.4}, {87.2, 257.6, 331.2}},
      {"AllReduce Ring", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, {15.0, 40.6, 56.0}, {161.1, 365.7, 411.4}},
      {"AllReduce NVLS", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_NVLS, {0, 0, 25.0}, {0, 0, 411.4}}};
  assert_rows(&in, rows, G_N_ELEMENTS(rows));
}

static void test_one_gpu_a_node(void) {
  CsimTuneInput in = machine(8, 1, 90, CSIM_VENDOR_INTEL, lone(2, 24, 24), lone(2, 48, 24), nvlink(0, 0, 0),
                             4, CSIM_PATTERN_TREE);
  static const Row rows[] = {
      {"AllReduce Tree", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_TREE, {36.8, 65.0, 92.4}, {4.9, 17.6, 18.8}},
      {"AllReduce Ring", CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, {76.6, 133.0, 204.4}, {11.7, 25.2, 27.4}},
      {"AllGather PAT", CSIM_COLL_ALL_GATHER, CSIM_ALGO_PAT, {0, 0, 42.4}, {0, 0, 36.0}}};
  assert_rows(&in, rows, G_N_ELEMENTS(rows));
}

/* LL128 is off among GPUs of different generations below Hopper, unless it is named. */
static void test_ll128_rule(void) {
  CsimTuneInput in = machine(1, 8, 80, CSIM_VENDOR_AMD, nvlink(12, 20, 20), nvlink(12, 20, 20),
                             nvlink(0, 0, 0), 24, CSIM_PATTERN_BALANCED_TREE);
  const char *named[] = {"NCCL_PROTO=LL128", NULL};
  in.max_sm = 90;
  g_autoptr(CsimTuning) t = csim_tuning_from_input(&in, NULL, NULL);
  g_assert_cmpfloat(csim_tuning_entry(t, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, CSIM_PROTO_LL128).bw, ==, 0);
  g_autoptr(CsimNcclEnv) env = csim_nccl_env_new(NULL, named, NULL, NULL);
  g_autoptr(CsimTuning) forced = csim_tuning_from_input(&in, NULL, env);
  g_assert_cmpfloat(csim_tuning_entry(forced, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, CSIM_PROTO_LL128).bw, >,
                    0);
  g_assert_cmpfloat(csim_tuning_entry(forced, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, CSIM_PROTO_LL).bw, ==, 0);
  in.min_sm = 90;
  in.graph[CSIM_GRAPH_RING].type_inter = CSIM_PATH_PXN;
  g_autoptr(CsimTuning) hopper = csim_tuning_from_input(&in, NULL, NULL);
  g_assert_cmpfloat(csim_tuning_entry(hopper, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, CSIM_PROTO_LL128).bw, >,
                    0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/nccl/tune/vectors", test_vectors);
  g_test_add_func("/nccl/tune/a100-node", test_a100_node);
  g_test_add_func("/nccl/tune/h100-node", test_h100_node);
  g_test_add_func("/nccl/tune/h100-nodes", test_h100_nodes);
  g_test_add_func("/nccl/tune/b200-node", test_b200_node);
  g_test_add_func("/nccl/tune/one-gpu-a-node", test_one_gpu_a_node);
  g_test_add_func("/nccl/tune/ll128-rule", test_ll128_rule);
  return g_test_run();
}
