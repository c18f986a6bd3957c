/* The channel search on the machines of the fact sheet's section 9 (results of NCCL 2.30.7's own code), its
 * limits, and graph files. */
#include "nccl/graph-xml.h"
#include "topo/nccl-xml.h"
#include "toy-nodes.h"

#include <glib/gstdio.h>
#include <unistd.h>

static const ToyNode two_on_cpu = {2, 89, 0, 0, 1, FALSE, "16.0 GT/s PCIe", 16, 0};
static const ToyNode two_on_switch = {2, 89, 0, 2, 1, FALSE, "16.0 GT/s PCIe", 16, 0};
static const ToyNode two_narrow = {2, 89, 0, 0, 1, FALSE, "16.0 GT/s PCIe", 8, 0};
static const ToyNode two_no_suffix = {2, 89, 0, 0, 1, FALSE, "16.0 GT/s", 16, 0};
static const ToyNode four_two_sockets = {4, 89, 0, 0, 2, FALSE, "16.0 GT/s PCIe", 16, 0};
static const ToyNode four_amd = {4, 86, 0, 0, 2, TRUE, "16.0 GT/s PCIe", 16, 0};
static const ToyNode a100 = {8, 80, 12, 0, 2, FALSE, "16.0 GT/s PCIe", 16, 0};
static const ToyNode a100_nics = {8, 80, 12, 1, 2, FALSE, "16.0 GT/s PCIe", 16, 200000};
static const ToyNode h100 = {8, 90, 18, 1, 2, FALSE, "32.0 GT/s PCIe", 16, 400000};
static const ToyNode b200 = {8, 100, 18, 1, 2, FALSE, "32.0 GT/s PCIe", 16, 400000};
static const ToyNode h100_alone = {1, 90, 18, 1, 1, FALSE, "32.0 GT/s PCIe", 16, 400000};

typedef struct {
  const char *name;
  const ToyNode *node;
  guint machines;
  int graph, pattern, n_channels;
  float bw_intra, bw_inter;
  int type_intra, type_inter, cross_nic;
} Case;

#define ANY (-1)
static const Case cases[] = {
    {"two-on-cpu", &two_on_cpu, 1, CSIM_GRAPH_RING, 4, 1, 20, 20, CSIM_PATH_PHB, ANY, 0},
    {"two-on-switch", &two_on_switch, 1, CSIM_GRAPH_RING, 4, 2, 12, 12, CSIM_PATH_PIX, ANY, 0},
    {"two-narrow", &two_narrow, 1, CSIM_GRAPH_RING, 4, 1, 10, 10, CSIM_PATH_PHB, ANY, 0},
    {"two-no-suffix", &two_no_suffix, 1, CSIM_GRAPH_RING, 4, 1, 10, 10, CSIM_PATH_PHB, ANY, 0},
    {"four-two-sockets", &four_two_sockets, 1, CSIM_GRAPH_RING, 4, 1, 20, 20, CSIM_PATH_SYS, ANY, 0},
    {"four-amd", &four_amd, 1, CSIM_GRAPH_RING, 4, 1, 15, 15, CSIM_PATH_SYS, ANY, 0},
    {"a100-ring", &a100, 1, CSIM_GRAPH_RING, 4, 12, 20, 20, CSIM_PATH_NVL, CSIM_PATH_PIX, 0},
    {"a100-tree", &a100, 1, CSIM_GRAPH_TREE, 1, 12, 20, 20, CSIM_PATH_NVL, CSIM_PATH_PIX, 0},
    {"a100-own-switch", &a100_nics, 2, CSIM_GRAPH_RING, 4, 8, 24, 24, CSIM_PATH_NVL, CSIM_PATH_PXN, 0},
    {"h100-ring", &h100, 1, CSIM_GRAPH_RING, 4, 12, 30, 30, CSIM_PATH_NVL, CSIM_PATH_PIX, 0},
    {"h100-nvls", &h100, 1, CSIM_GRAPH_NVLS, 5, 8, 40, 60, CSIM_PATH_NVL, CSIM_PATH_PIX, 0},
    {"h100x2-ring", &h100, 2, CSIM_GRAPH_RING, 4, 8, 48, 48, CSIM_PATH_NVL, CSIM_PATH_PIX, 2},
    {"h100x2-tree", &h100, 2, CSIM_GRAPH_TREE, 3, 8, 48, 48, CSIM_PATH_NVL, CSIM_PATH_PIX, 0},
    {"h100x2-nvls", &h100, 2, CSIM_GRAPH_NVLS, 5, 8, 40, 48, CSIM_PATH_NVL, CSIM_PATH_PIX, 0},
    {"b200-ring", &b200, 1, CSIM_GRAPH_RING, 4, 16, 45, 45, CSIM_PATH_NVL, CSIM_PATH_PIX, 0},
    {"b200-nvls", &b200, 1, CSIM_GRAPH_NVLS, 5, 8, 80, 90, CSIM_PATH_NVL, CSIM_PATH_PIX, 0},
    {"b200x2-ring", &b200, 2, CSIM_GRAPH_RING, 4, 8, 48, 48, CSIM_PATH_NVL, CSIM_PATH_PXN, 0},
    {"b200x2-tree", &b200, 2, CSIM_GRAPH_TREE, 3, 8, 96, 48, CSIM_PATH_NVL, CSIM_PATH_PIX, 0},
    {"one-gpu-ring", &h100_alone, 2, CSIM_GRAPH_RING, 4, 2, 24, 24, CSIM_PATH_LOC, CSIM_PATH_PIX, 0},
    {"one-gpu-tree", &h100_alone, 2, CSIM_GRAPH_TREE, 3, 2, 48, 24, CSIM_PATH_LOC, CSIM_PATH_PIX, 0},
};

static void test_case(gconstpointer data) {
  const Case *k = data;
  ToyJob job = toy_job(k->node, k->machines, NULL);
  const CsimGraph *g = csim_comm_graph(job.comm, k->graph);
  g_assert_cmpint(g->pattern, ==, k->pattern);
  g_assert_cmpint(g->n_channels, ==, k->n_channels);
  g_assert_cmpfloat_with_epsilon(g->bw_intra, k->bw_intra, 1e-4);
  g_assert_cmpfloat_with_epsilon(g->bw_inter, k->bw_inter, 1e-4);
  g_assert_cmpint(g->type_intra, ==, k->type_intra);
  if (k->type_inter != ANY) g_assert_cmpint(g->type_inter, ==, k->type_inter);
  g_assert_cmpint(g->cross_nic, ==, k->cross_nic);
  toy_job_clear(&job);
}

/* Each channel visits every GPU once, and its ends are NICs of the node. */
static void check_channels(const CsimGraph *g, int n_nets) {
  for (int c = 0; c < g->n_channels; c++) {
    guint64 seen = 0;
    for (int i = 0; i < g->n_gpus; i++) seen |= G_GUINT64_CONSTANT(1) << g->intra[c * g->n_gpus + i];
    g_assert_cmpuint(seen, ==, (G_GUINT64_CONSTANT(1) << g->n_gpus) - 1);
    for (int i = 0; i < 2; i++) g_assert_true(g->inter[2 * c + i] >= 0 && g->inter[2 * c + i] < n_nets);
  }
}

/* Several H100 nodes: pairs of channels swap their NICs and walk in opposite directions (fact sheet 9.4). */
static void test_h100_orders(void) {
  static const int order[4][8] = {
      {0, 7, 6, 5, 4, 3, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 0}, {2, 1, 0, 7, 6, 5, 4, 3}, {3, 4, 5, 6, 7, 0, 1, 2}};
  ToyJob job = toy_job(&h100, 2, NULL);
  const CsimGraph *g = csim_comm_graph(job.comm, CSIM_GRAPH_RING);
  check_channels(g, 8);
  for (int c = 0; c < 4; c++) {
    for (int i = 0; i < 8; i++) g_assert_cmpint(g->intra[c * 8 + i], ==, order[c][i]);
    g_assert_cmpint(g->inter[2 * c], ==, c);
    g_assert_cmpint(g->inter[2 * c + 1], ==, c ^ 1);
  }
  toy_job_clear(&job);
}

/* The search gives back what it takes: links end within rounding of where they began. */
static void test_gives_back(void) {
  g_autoptr(CsimSystem) system = toy_system(&h100);
  g_autoptr(CsimNcclEnv) env = csim_nccl_env_new(NULL, NULL, NULL, NULL);
  g_autoptr(CsimPaths) paths = csim_paths_new(system, &(CsimPathContext){.env = env, .inter = TRUE});
  CsimSearchLimits limits;
  csim_search_limits(system, paths, TRUE, &limits);
  g_assert_cmpfloat(limits.max_bw, ==, 48);
  g_assert_cmpfloat_with_epsilon(limits.total_bw, 370.8, 1e-3);
  g_autoptr(CsimSearch) search = csim_search_new(system, paths, &limits, env);
  CsimGraph graph = {
      .id = CSIM_GRAPH_RING, .pattern = CSIM_PATTERN_RING, .min_channels = 1, .max_channels = 32};
  csim_search_graph(search, &graph);
  for (guint t = 0; t < CSIM_N_NODE_TYPES; t++)
    for (guint i = 0; i < csim_system_n(system, t); i++) {
      const CsimTopoNode *node = csim_system_node(system, t, i);
      for (guint l = 0; l < node->links->len; l++)
        g_assert_cmpfloat_with_epsilon(csim_search_link_bw(search, node, l), csim_node_link(node, l)->bw,
                                       1e-2 * csim_node_link(node, l)->bw);
    }
  csim_graph_finish(&graph);
}

static char *temporary(const char *text) {
  char *path = NULL;
  int fd = g_file_open_tmp("csim-graph-XXXXXX.xml", &path, NULL);
  g_assert_cmpint(fd, >=, 0);
  close(fd);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  return path;
}

static ToyJob job_from_file(const ToyNode *node, guint machines, const char *path) {
  g_autofree char *setting = g_strdup_printf("NCCL_GRAPH_FILE=%s", path);
  return toy_job(node, machines, (const char *[]){setting, NULL});
}

/* What is dumped and read back is the same graph. */
static void test_file_round_trip(void) {
  ToyJob job = toy_job(&h100, 2, NULL);
  g_autofree char *text = csim_comm_graph_xml(job.comm);
  g_autofree char *path = temporary(text);
  ToyJob again = job_from_file(&h100, 2, path);
  g_autofree char *second = csim_comm_graph_xml(again.comm);
  g_assert_cmpstr(text, ==, second);
  g_unlink(path);
  toy_job_clear(&job);
  toy_job_clear(&again);
}

/* A file decides: one channel only, backwards. */
static void test_file_decides(void) {
  static const char text[] = "<graphs version=\"1\">\n"
                             "  <graph id=\"0\" pattern=\"4\" crossnic=\"0\" nchannels=\"1\" "
                             "speedintra=\"10\" speedinter=\"10\" latencyinter=\"0\" "
                             "typeintra=\"PIX\" typeinter=\"PIX\" samechannels=\"1\">\n"
                             "    <channel>\n      <gpu dev=\"0x1\"/>\n      <gpu dev=\"0\"/>\n    "
                             "</channel>\n  </graph>\n</graphs>\n";
  g_autofree char *path = temporary(text);
  ToyJob job = job_from_file(&two_on_switch, 1, path);
  const CsimGraph *g = csim_comm_graph(job.comm, CSIM_GRAPH_RING);
  g_assert_cmpint(g->n_channels, ==, 1);
  g_assert_cmpint(g->intra[0], ==, 1);
  g_assert_cmpfloat(g->bw_intra, ==, 10);
  g_unlink(path);
  toy_job_clear(&job);
}

/* A file that would break the ring is refused, and the search goes on. */
static void test_bad_files(void) {
  static const char *const bad[] = {
      "<graphs><graph id=\"0\" pattern=\"4\" nchannels=\"1\" speedintra=\"1\" "
      "speedinter=\"1\" typeintra=\"PIX\" typeinter=\"PIX\"><channel>"
      "<gpu dev=\"0\"/><gpu dev=\"0\"/></channel></graph></graphs>",
      "<graphs><graph id=\"0\" pattern=\"4\" nchannels=\"2\" speedintra=\"1\" "
      "speedinter=\"1\" typeintra=\"PIX\" typeinter=\"PIX\"><channel>"
      "<gpu dev=\"0\"/><gpu dev=\"1\"/></channel></graph></graphs>",
      "<graphs><graph id=\"0\" pattern=\"4\" nchannels=\"1\" speedintra=\"1\" "
      "speedinter=\"1\" typeintra=\"FAR\" typeinter=\"PIX\"></graph></graphs>",
      "<graphs><graph id=\"0\" pattern=\"5\" nchannels=\"1\" speedintra=\"1\" speedinter=\"1\" "
      "typeintra=\"PIX\" typeinter=\"PIX\"><channel><gpu dev=\"0\"/></channel></graph></graphs>",
      "<graphs><graph id=\"0\" pattern=\"4\" nchannels=\"1\" speedintra=\"0\" speedinter=\"1\" "
      "typeintra=\"PIX\" typeinter=\"PIX\"><channel><gpu dev=\"0\"/><gpu "
      "dev=\"1\"/></channel></graph></graphs>",
      "<graphs><graph id=\"0\"",
      "",
      "not xml"};
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autofree char *path = temporary(bad[i]);
    ToyJob job = job_from_file(&two_on_switch, 1, path);
    g_assert_cmpint(csim_comm_graph(job.comm, CSIM_GRAPH_RING)->n_channels, ==, 2);
    g_unlink(path);
    toy_job_clear(&job);
  }
}

static char *reference(const char *path) {
  const char *base = g_getenv("COLLSIM_REFERENCE"), *root = g_getenv("COLLSIM_SOURCE_ROOT");
  if (base) return g_build_filename(base, path, NULL);
  return g_build_filename(root ? root : ".", "..", "shared", path, NULL);
}

/* What NCCL 2.28 dumped on two real H200 (NVLS off). Its dump has no rank attribute yet. */
static void test_real_dump(void) {
  g_autofree char *topo = reference("measurements/h200-pair/topo.xml"),
                  *dump = reference("measurements/h200-pair/graph.xml"), *real = NULL;
  if (!g_file_get_contents(dump, &real, NULL, NULL)) return g_test_skip("reference data absent");
  g_autoptr(CsimSystem) system = csim_system_load(topo, NULL, NULL);
  g_assert_nonnull(system);
  g_autoptr(GPtrArray) systems = g_ptr_array_new();
  g_ptr_array_add(systems, system);
  CsimCluster cluster = {.n_nodes = 1, .systems = systems, .node_system = (guint[]){0}};
  g_autoptr(CsimNcclEnv) env =
      csim_nccl_env_new(NULL, (const char *[]){"NCCL_NVLS_ENABLE=0", NULL}, NULL, NULL);
  g_autoptr(CsimComm) comm = csim_comm_new(&(CsimCommSpec){.cluster = &cluster, .env = env}, NULL, NULL);
  g_autofree char *text = csim_comm_graph_xml(comm);
  g_autoptr(GRegex) rank = g_regex_new(" rank=\"[0-9]+\"", 0, 0, NULL);
  g_autofree char *plain = g_regex_replace_literal(rank, text, -1, 0, "", 0, NULL);
  g_assert_cmpstr(g_strchomp(plain), ==, g_strchomp(real));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = g_strdup_printf("/search/%s", cases[i].name);
    g_test_add_data_func(path, &cases[i], test_case);
  }
  g_test_add_func("/search/h100-orders", test_h100_orders);
  g_test_add_func("/search/gives-back", test_gives_back);
  g_test_add_func("/search/file/round-trip", test_file_round_trip);
  g_test_add_func("/search/file/decides", test_file_decides);
  g_test_add_func("/search/file/bad", test_bad_files);
  g_test_add_func("/search/real-dump", test_real_dump);
  return g_test_run();
}
