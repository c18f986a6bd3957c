/* NCCL_IB_HCA: which names and ports a text chooses, and what is left of a node. */
#include "collsim/error.h"
#include "topo/adapters.h"
#include "topo/cluster.h"

static gboolean takes(const char *text, const char *name, int port) { return csim_adapters_match(text, name, port, NULL, NULL); }

static void test_names(void) {
  g_assert_true(takes("mlx5_1", "mlx5_1", 1));
  g_assert_true(takes("mlx5_1", "mlx5_10", 1)); /* a prefix */
  g_assert_false(takes("=mlx5_1", "mlx5_10", 1));
  g_assert_true(takes("=mlx5_1,mlx5_10", "mlx5_10", 1));
  g_assert_true(takes("mlx5", "mlx5_3", 1));
  g_assert_false(takes("mlx5_0,mlx5_2", "mlx5_1", 1));
  g_assert_false(takes("^mlx5_1", "mlx5_10", 1));
  g_assert_true(takes("^=mlx5_1", "mlx5_10", 1));
  g_assert_false(takes("^=mlx5_1", "mlx5_1", 1));
  g_assert_true(takes("=", "mlx5_1", 1)); /* no name at all is no choice */
}

static void test_ports(void) {
  int rail, plane;
  g_assert_true(takes("mlx5_0:1", "mlx5_0", 1));
  g_assert_false(takes("mlx5_0:2", "mlx5_0", 1));
  g_assert_true(takes("mlx5_0:2", "mlx5_0", -1));
  g_assert_true(takes("^mlx5_0:2", "mlx5_0", 1));
  g_assert_true(csim_adapters_match("mlx5_1,mlx5_0:1:3:2", "mlx5_0", 1, &rail, &plane));
  g_assert_cmpint(rail, ==, 3);
  g_assert_cmpint(plane, ==, 2);
  g_assert_true(csim_adapters_match("mlx5_0", "mlx5_0", 1, &rail, &plane));
  g_assert_cmpint(rail, ==, -1);
  g_assert_cmpint(plane, ==, -1);
}

static const CsimCluster *check(CsimCluster *c, guint nets, const char *first) {
  g_assert_cmpuint(c->n_nodes, ==, 2);
  for (guint i = 0; i < 2; i++) {
    const CsimSystem *s = (const CsimSystem *)g_ptr_array_index(c->systems, c->node_system[i]);
    g_assert_cmpuint(csim_system_n(s, CSIM_NODE_NET), ==, nets);
    g_assert_cmpstr(csim_system_node(s, CSIM_NODE_NET, 0)->label, ==, first);
    g_assert_cmpuint(csim_net_rail(s, 0), ==, (guint)(first[5] - '0')); /* cables stay where they are */
    g_assert_cmpuint(c->node_hardware[i], ==, c->node_system[i]);
  }
  return c;
}

static void test_nodes(void) {
  CsimClusterOptions options = {.hca = "^mlx5_0,mlx5_1", .seed = 1};
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimCluster) c = csim_cluster_load_with("dgx-h100*2", &options, &error);
  g_assert_no_error(error);
  check(c, 6, "mlx5_2");
  options.hca = "mlx4";
  g_assert_null(csim_cluster_load_with("dgx-h100*2", &options, &error));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_REFERENCE);
  g_clear_error(&error);
  g_autoptr(CsimCluster) sockets = csim_cluster_load_with("{\"nodes\": [{\"xml\": \"dgx-h100\", \"count\": 2}], \"fabric\": {\"transport\": \"socket\"}}", &options, &error);
  g_assert_no_error(error); /* another plugin's */
  check(sockets, 8, "mlx5_0");
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/adapters/names", test_names);
  g_test_add_func("/adapters/ports", test_ports);
  g_test_add_func("/adapters/nodes", test_nodes);
  return g_test_run();
}
