/* Shipped nodes against published facts, targets, cluster JSON, messages. */
#include "topo/cluster.h"

#include "models/catalogue.h"
#include <glib/gstdio.h>
#include <string.h>

static CsimCluster *load(const char *target, guint n) {
  g_autoptr(GError) error = NULL;
  CsimCluster *cluster = csim_cluster_load(target, n, &error);
  g_assert_no_error(error);
  return cluster;
}

static void assert_refused(const char *target, guint n, const char *why) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimCluster) cluster = csim_cluster_load(target, n, &error);
  g_assert_null(cluster);
  g_assert_nonnull(error);
  if (strstr(error->message, why) == NULL || strchr(error->message, '\n') != NULL)
    g_error("wanted '%s' in: %s", why, error->message);
}

static const CsimTopoNode *neighbour(const CsimTopoNode *node, CsimNodeType type) {
  for (guint i = 0; i < node->links->len; i++)
    if (csim_node_link(node, i)->remote->type == type) return csim_node_link(node, i)->remote;
  return NULL;
}

static const CsimTopoNode *dev_of(const CsimSystem *s, guint gpu) {
  return neighbour(csim_system_node(s, CSIM_NODE_GPU, gpu), CSIM_NODE_DEV);
}

/* The PCIe switch above a NET's card. */
static const CsimTopoNode *switch_of_net(const CsimSystem *s, guint net) {
  return neighbour(neighbour(csim_system_node(s, CSIM_NODE_NET, net), CSIM_NODE_NIC), CSIM_NODE_PCI);
}

typedef struct {
  const char *name;
  guint gpus, nvlinks, nets, cpus;
  double net_gbps; /* GB/s, raw */
  float pcie;      /* a GPU's link as NCCL counts it */
  guint gpus_a_switch, nets_a_switch;
  int sm, numa[8]; /* NUMA node of each CPU, in order */
} Facts;

/* Vendor pages and the reference table of real machines; see topologies/README.md. */
static const Facts facts[] = {
    {"dgx-1v", 8, 6, 4, 2, 12.5, 12, 2, 1, 70, {0, 1}},
    {"dgx-2", 16, 6, 8, 2, 12.5, 12, 2, 1, 70, {0, 1}},
    {"dgx-a100", 8, 12, 8, 4, 25, 24, 2, 2, 80, {3, 1, 7, 5}},
    {"hgx-a800", 8, 8, 4, 2, 25, 24, 2, 1, 80, {0, 1}},
    {"dgx-h100", 8, 18, 8, 2, 50, 48, 1, 1, 90, {0, 1}},
    {"hgx-h200", 8, 18, 8, 2, 50, 48, 1, 1, 90, {0, 1}},
    {"l40s-8gpu-pcie", 8, 0, 4, 2, 25, 24, 2, 1, 89, {0, 1}},
    {"dgx-b200", 8, 18, 8, 2, 50, 48, 2, 2, 100, {0, 1}},
    {"hgx-b200", 8, 18, 8, 2, 50, 48, 1, 1, 100, {0, 1}},
};

static guint count_under(const CsimTopoNode *pci, CsimNodeType type) {
  guint n = 0;
  for (guint i = 0; i < pci->links->len; i++) n += csim_node_link(pci, i)->remote->type == type;
  return n;
}

static void check_gpus(const CsimSystem *s, const Facts *f) {
  for (guint i = 0; i < f->gpus; i++) {
    const CsimTopoNode *dev = dev_of(s, i);
    g_assert_cmpint(dev->dev.nvlinks, ==, f->nvlinks);
    g_assert_cmpint(csim_system_node(s, CSIM_NODE_GPU, i)->gpu.sm, ==, f->sm);
    const CsimTopoNode *pci = neighbour(dev, CSIM_NODE_PCI);
    g_assert_cmpuint(count_under(pci, CSIM_NODE_DEV), ==, f->gpus_a_switch);
    g_assert_cmpuint(count_under(pci, CSIM_NODE_NIC), ==, f->nets_a_switch);
    for (guint k = 0; k < dev->links->len; k++)
      if (csim_node_link(dev, k)->remote == pci) g_assert_cmpfloat(csim_node_link(dev, k)->bw, ==, f->pcie);
  }
}

/* NIC i serves the GPUs of its switch: GPU g and NIC g * nets / gpus share one. */
static void check_pairs(const CsimSystem *s, const Facts *f) {
  for (guint g = 0; g < f->gpus; g++)
    g_assert_true(neighbour(dev_of(s, g), CSIM_NODE_PCI) == switch_of_net(s, g * f->nets / f->gpus));
  for (guint i = 0; i < f->nets; i++) {
    const CsimTopoNode *net = csim_system_node(s, CSIM_NODE_NET, i);
    g_assert_cmpfloat(net->net.bw, ==, f->net_gbps);
    g_assert_cmpint(net->net.gdr, ==, 1);
  }
}

static void test_shipped(gconstpointer data) {
  const Facts *f = (const Facts *)data;
  g_autoptr(CsimCluster) cluster = load(f->name, 0);
  const CsimSystem *s = csim_cluster_system(cluster, 0);
  g_assert_cmpuint(csim_diag_count(cluster->diag, CSIM_FINDING_WARNING), ==, 0);
  g_assert_cmpuint(csim_system_n(s, CSIM_NODE_GPU), ==, f->gpus);
  g_assert_cmpuint(csim_system_n(s, CSIM_NODE_NET), ==, f->nets);
  g_assert_cmpuint(csim_system_n(s, CSIM_NODE_CPU), ==, f->cpus);
  g_assert_cmpstr(s->name, ==, f->name);
  for (guint i = 0; i < f->cpus; i++)
    g_assert_cmpint(csim_system_node(s, CSIM_NODE_CPU, i)->cpu.numa, ==, f->numa[i]);
  check_gpus(s, f);
  check_pairs(s, f);
}

/* DGX-1V: the hybrid cube mesh, double and single edges. */
static void test_cube_mesh(void) {
  static const char mesh[8][9] = {"01122000", "10210200", "12020010", "21200001",
                                  "20000112", "02001021", "00101202", "00012120"};
  g_autoptr(CsimCluster) cluster = load("dgx-1v", 0);
  const CsimSystem *s = csim_cluster_system(cluster, 0);
  for (guint a = 0; a < 8; a++)
    for (guint b = 0; b < 8; b++) {
      float bw = 0;
      const CsimTopoNode *dev = dev_of(s, a);
      for (guint k = 0; k < dev->links->len; k++)
        if (csim_node_link(dev, k)->remote == dev_of(s, b) && csim_node_link(dev, k)->type == CSIM_LINK_NVL)
          bw = csim_node_link(dev, k)->bw;
      g_assert_cmpfloat(bw, ==, 20 * (mesh[a][b] - '0'));
    }
}

/* Every shipped name opens, and is in the list in alphabetical order; those with facts above are among them. */
static void test_list(void) {
  const CsimShippedNode *all = csim_shipped_nodes();
  guint n = 0;
  for (; all[n].name != NULL; n++) {
    g_autoptr(CsimCluster) cluster = load(all[n].name, 0);
    g_assert_cmpuint(cluster->n_nodes, ==, 1);
    g_assert_cmpuint(strlen(all[n].summary), >, 10);
    if (n > 0) g_assert_cmpstr(all[n - 1].name, <, all[n].name);
  }
  g_assert_cmpuint(n, ==, G_N_ELEMENTS(facts) + 20); /* 20 public machines have their facts in topologies/README.md only */
}

static void test_counts(void) {
  g_autoptr(CsimCluster) one = load("dgx-h100", 0);
  g_autoptr(CsimCluster) many = load("dgx-h100*128", 0);
  g_autoptr(CsimCluster) fewer = load("dgx-h100*128", 3);
  g_assert_cmpuint(one->n_nodes, ==, 1);
  g_assert_cmpuint(many->n_nodes, ==, 128);
  g_assert_cmpuint(fewer->n_nodes, ==, 3);
  g_assert_cmpstr(many->name, ==, "dgx-h100*128");
  g_assert_cmpint(many->fabric.kind, ==, CSIM_FABRIC_RAIL);
  g_assert_cmpint(many->fabric.transport, ==, CSIM_TRANSPORT_IB);
  g_assert_true(csim_cluster_system(many, 0) == csim_cluster_system(many, 127));
}

static void test_target_messages(void) {
  assert_refused("dgx-h10", 0,
                 "no shipped node is called 'dgx-h10' (did you mean 'dgx-h100'?); allowed: a100-pcie-8gpu, a100-pcie-pairs,");
  assert_refused("quantum", 0, "no shipped node is called 'quantum'; allowed: a100-pcie-8gpu");
  assert_refused("dgx-h100*0", 0, "allowed: 1 to 65536");
  assert_refused("dgx-h100*99999999999", 0, "allowed: 1 to 65536");
  assert_refused("dgx-h100*", 0, "after * comes a number of nodes");
  assert_refused("dgx-h100*x", 0, "after * comes a number of nodes");
  assert_refused("dgx-h100", 70000, "70000 nodes; allowed: 1 to 65536");
  assert_refused("no-such-file.xml", 0, "no-such-file.xml");
  assert_refused("no-such-file.json", 0, "no-such-file.json");
  assert_refused("", 0, "no shipped node");
}

static char *write_json(const char *text) {
  char *path = NULL;
  int fd = g_file_open_tmp("collsim-XXXXXX.json", &path, NULL);
  g_assert_cmpint(fd, >=, 0);
  g_close(fd, NULL);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  return path;
}

static void test_json(void) {
  g_autofree char *path =
      write_json("{\"description\": \"two kinds\",\n"
                 " \"nodes\": [{\"count\": 3, \"xml\": \"dgx-h100\"}, {\"xml\": \"hgx-h200\"}],\n"
                 " \"fabric\": {\"kind\": \"fat-tree\", \"tiers\": 2, \"radix\": 16, \"oversubscription\": "
                 "2, \"link_rate\": \"200Gb/s\",\n"
                 "  \"cable_leaf\": \"15ns\", \"cable_spine\": \"200ns\", \"transport\": \"roce\", \"mtu\": "
                 "1024, \"routing\": \"static\", \"sharp\": true}}");
  g_autoptr(CsimCluster) c = load(path, 0);
  g_unlink(path);
  g_assert_cmpuint(c->n_nodes, ==, 4);
  g_assert_cmpuint(c->systems->len, ==, 2);
  g_assert_cmpstr(csim_cluster_system(c, 3)->name, ==, "hgx-h200");
  g_assert_cmpint(c->fabric.kind, ==, CSIM_FABRIC_FAT_TREE);
  g_assert_cmpint(c->fabric.tiers, ==, 2);
  g_assert_cmpint(c->fabric.radix, ==, 16);
  g_assert_cmpfloat(c->fabric.oversubscription, ==, 2);
  g_assert_cmpint(c->fabric.link_rate, ==, 25000000000);
  g_assert_cmpint(c->fabric.cable_leaf, ==, 15 * CSIM_NS);
  g_assert_cmpint(c->fabric.cable_spine, ==, 200 * CSIM_NS);
  g_assert_cmpint(c->fabric.transport, ==, CSIM_TRANSPORT_ROCE);
  g_assert_cmpint(c->fabric.mtu, ==, 1024);
  g_assert_cmpint(c->fabric.routing, ==, CSIM_ROUTING_STATIC);
  g_assert_true(c->fabric.sharp);
}

static void test_json_defaults(void) {
  g_autofree char *path = write_json(
      "{\"nodes\": [{\"count\": 4, \"xml\": \"dgx-h100\"}], \"fabric\": {\"transport\": \"roce\"}}");
  g_autofree char *bare = write_json("{\"nodes\": [{\"count\": 4, \"xml\": \"dgx-h100\"}]}");
  g_autoptr(CsimCluster) roce = load(path, 9);
  g_autoptr(CsimCluster) ib = load(bare, 0);
  g_unlink(path);
  g_unlink(bare);
  g_assert_cmpuint(roce->n_nodes, ==, 9);
  g_assert_cmpint(roce->fabric.routing, ==, CSIM_ROUTING_ECMP);
  g_assert_cmpint(roce->fabric.kind, ==, CSIM_FABRIC_RAIL);
  g_assert_cmpint(ib->fabric.routing, ==, CSIM_ROUTING_ADAPTIVE);
}

static void assert_fabric(const char *target, CsimTransport transport, CsimRouting routing) {
  g_autoptr(CsimCluster) c = load(target, 0);
  g_assert_cmpint(c->fabric.transport, ==, transport);
  g_assert_cmpint(c->fabric.routing, ==, routing);
}

/* Adapters' names tell the network, until a file does. */
static void test_default_transport(void) {
  assert_fabric("dgx-h100*2", CSIM_TRANSPORT_IB, CSIM_ROUTING_ADAPTIVE);
  assert_fabric("polaris*2", CSIM_TRANSPORT_SLINGSHOT, CSIM_ROUTING_ECMP);
  assert_fabric("gh200-4gpu*2", CSIM_TRANSPORT_SLINGSHOT, CSIM_ROUTING_ECMP);
  assert_fabric("aws-p5*2", CSIM_TRANSPORT_EFA, CSIM_ROUTING_ECMP);
  assert_fabric("{\"nodes\": [{\"count\": 2, \"xml\": \"polaris\"}], \"fabric\": {\"radix\": 32}}", CSIM_TRANSPORT_SLINGSHOT, CSIM_ROUTING_ECMP);
  assert_fabric("{\"nodes\": [{\"count\": 2, \"xml\": \"polaris\"}], \"fabric\": {\"transport\": \"ib\"}}", CSIM_TRANSPORT_IB, CSIM_ROUTING_ADAPTIVE);
  assert_fabric("{\"nodes\": [{\"count\": 2, \"xml\": \"polaris\"}, {\"xml\": \"dgx-a100\"}]}", CSIM_TRANSPORT_IB, CSIM_ROUTING_ADAPTIVE);
}

static void assert_json_refused(const char *text, guint n, const char *place, const char *why) {
  g_autofree char *path = write_json(text);
  g_autofree char *begin = g_strdup_printf("%s%s", path, place);
  assert_refused(path, n, why);
  assert_refused(path, n, begin);
  g_unlink(path);
}

static void test_json_messages(void) {
  assert_json_refused("{}", 0, ":1:", "nodes");
  assert_json_refused("{\"nodes\": []}", 0, ":1:", "no nodes");
  assert_json_refused("{\"nodes\": [{\"count\": 0, \"xml\": \"dgx-h100\"}]}", 0, ":1:", "count");
  assert_json_refused("{\"nodes\": [{\"xml\": \"dgx-h1000\"}]}", 0, ":1:20: ", "did you mean 'dgx-h100'?");
  assert_json_refused("{\"nodes\": [{\"xml\": \"dgx-h100\"}],\n \"fabric\": {\"kind\": \"fattree\"}}", 0,
                      ":2:", "fattree");
  assert_json_refused("{\"nodes\": [{\"xml\": \"dgx-h100\"}],\n \"fabrik\": {}}", 0, ":2:", "fabric");
  assert_json_refused("{\"nodes\": [{\"xml\": \"dgx-h100\"}],\n \"fabric\": {\"link_rate\": 400}}", 0,
                      ":2:", "Gb/s");
  assert_json_refused("{\"nodes\": [{\"xml\": \"dgx-h100\"}],\n \"fabric\": {\"tiers\": 4}}", 0, ":2:", "3");
  assert_json_refused("{\"nodes\": [{\"xml\": \"dgx-h100\"}, {\"xml\": \"dgx-a100\"}]}", 5,
                      ":1:", "for one kind only");
  assert_json_refused(
      "{\"nodes\": [{\"count\": 60000, \"xml\": \"dgx-h100\"}, {\"count\": 60000, \"xml\": \"dgx-h100\"}]}",
      0, ":1:", "more than 65536 nodes");
}

/* XML paths are relative to the JSON that names them. */
static void test_json_relative(void) {
  g_autofree char *folder = g_dir_make_tmp("collsim-XXXXXX", NULL);
  g_autofree char *xml = g_build_filename(folder, "n.xml", NULL),
                  *json = g_build_filename(folder, "c.json", NULL);
  static const char text[] =
      "<system version=\"1\">\n <cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"25\" "
      "modelid=\"17\">\n"
      "  <pci busid=\"0000:01:00.0\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">\n"
      "   <gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\"/>\n  </pci>\n"
      "  <nic>\n   <net name=\"eth0\" dev=\"0\" speed=\"10000\" port=\"0\" gdr=\"0\"/>\n  </nic>\n "
      "</cpu>\n</system>\n";
  g_assert_true(g_file_set_contents(xml, text, -1, NULL));
  g_assert_true(g_file_set_contents(json, "{\"nodes\": [{\"count\": 2, \"xml\": \"n.xml\"}]}", -1, NULL));
  g_autoptr(CsimCluster) c = load(json, 0);
  g_assert_cmpuint(c->n_nodes, ==, 2);
  g_assert_cmpint(c->fabric.transport, ==, CSIM_TRANSPORT_SOCKET); /* a NIC with no PCIe place */
  g_unlink(xml);
  g_unlink(json);
  g_rmdir(folder);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(facts); i++) {
    g_autofree char *path = g_strdup_printf("/cluster/shipped/%s", facts[i].name);
    g_test_add_data_func(path, &facts[i], test_shipped);
  }
  g_test_add_func("/cluster/cube-mesh", test_cube_mesh);
  g_test_add_func("/cluster/list", test_list);
  g_test_add_func("/cluster/counts", test_counts);
  g_test_add_func("/cluster/target-messages", test_target_messages);
  g_test_add_func("/cluster/json", test_json);
  g_test_add_func("/cluster/json-defaults", test_json_defaults);
  g_test_add_func("/cluster/default-transport", test_default_transport);
  g_test_add_func("/cluster/json-messages", test_json_messages);
  g_test_add_func("/cluster/json-relative", test_json_relative);
  return g_test_run();
}
