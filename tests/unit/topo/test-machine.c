/* Links and routes: capacities, what is left out, fabrics of one to three tiers. */
#include "topo/machine.h"

#include "base/units.h"
#include <glib/gstdio.h>
#include <string.h>

typedef struct {
  CsimCatalogue *catalogue;
  CsimCluster *cluster;
  CsimMachine *machine;
} Bench;

static Bench open_bench(const char *target) {
  g_autoptr(GError) error = NULL;
  Bench b = {.catalogue = csim_catalogue_new(NULL, NULL, NULL)};
  b.cluster = csim_cluster_load(target, 0, &error);
  g_assert_no_error(error);
  b.machine = csim_machine_new(b.cluster, b.catalogue, &error);
  g_assert_no_error(error);
  return b;
}

static void close_bench(Bench *b) {
  csim_machine_free(b->machine);
  csim_cluster_free(b->cluster);
  csim_catalogue_free(b->catalogue);
}

/* "a | b": the names of a route's links. */
static char *text_of(const Bench *b, const CsimRoute *route) {
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < route->n; i++) {
    g_autofree char *name = csim_machine_link_name(b->machine, route->link[i].link);
    g_assert_cmpuint(route->link[i].link, <, csim_machine_n_links(b->machine));
    g_string_append_printf(text, "%s%s", i > 0 ? " | " : "", name);
  }
  return g_string_free(text, FALSE);
}

static void assert_route(const Bench *b, const CsimRoute *route, const char *expected) {
  g_autofree char *text = text_of(b, route);
  g_assert_cmpstr(text, ==, expected);
}

static CsimRoute p2p(const Bench *b, guint node, guint from, guint to) {
  CsimRoute route;
  g_assert_true(
      csim_machine_route_p2p(b->machine, (CsimGpuRef){node, from}, (CsimGpuRef){node, to}, &route, NULL));
  return route;
}

static CsimRoute nic(const Bench *b, guint gpu, guint net, gboolean gdr, gboolean to_nic) {
  CsimRoute route;
  g_assert_true(csim_machine_route_nic(b->machine, (CsimGpuRef){0, gpu}, (CsimNicRef){0, net}, gdr, to_nic,
                                       &route, NULL));
  return route;
}

static CsimRoute fabric(const Bench *b, guint from_node, guint from, guint to_node, guint to, uint32_t flow) {
  CsimRoute route;
  g_assert_true(csim_machine_route_fabric(b->machine, (CsimNicRef){from_node, from},
                                          (CsimNicRef){to_node, to}, flow, NULL, &route, NULL));
  return route;
}

static double gbps(const Bench *b, const CsimRoute *route, guint i) {
  g_assert_cmpuint(i, <, route->n);
  return (double)csim_machine_link(b->machine, route->link[i].link).capacity / 1e9;
}

/* --- inside a node ----------------------------------------------------------- */

static void test_nvswitch(void) {
  Bench b = open_bench("dgx-h100*4");
  CsimRoute route = p2p(&b, 3, 0, 5);
  assert_route(&b, &route, "node3/gpu0 NVLink out | node3/gpu5 NVLink in");
  g_assert_cmpfloat_with_epsilon(gbps(&b, &route, 0), 370, 0.1);
  g_assert_cmpfloat(csim_machine_link(b.machine, route.link[0].link).softness, ==, 5);
  g_assert_cmpint(route.latency, ==, 0);
  CsimLinkId out = 0, in = 0;
  g_assert_true(csim_machine_nvlink_ports(b.machine, (CsimGpuRef){3, 0}, &out, &in));
  g_assert_cmpuint(out, ==, route.link[0].link);
  g_assert_cmpstr(csim_machine_gpu_model(b.machine, (CsimGpuRef){3, 0}), ==, "h100");
  g_assert_cmpuint(csim_machine_gpu_nvlinks(b.machine, (CsimGpuRef){3, 0}), ==, 18);
  close_bench(&b);
}

/* Ports of a generation scale with the link count: datapath figures of each part. */
static void test_port_rates(void) {
  static const struct {
    const char *target;
    double gbps;
  } parts[] = {
      {"dgx-a100", 238}, {"hgx-a800", 158.7}, {"dgx-b200", 722}, {"hgx-h200", 370}, {"dgx-2", 135.5}};
  for (gsize i = 0; i < G_N_ELEMENTS(parts); i++) {
    Bench b = open_bench(parts[i].target);
    CsimRoute route = p2p(&b, 0, 0, 1);
    g_assert_cmpfloat_with_epsilon(gbps(&b, &route, 0), parts[i].gbps, 0.2);
    close_bench(&b);
  }
}

static void test_mesh(void) {
  Bench b = open_bench("dgx-1v");
  CsimRoute twice = p2p(&b, 0, 0, 3), once = p2p(&b, 0, 0, 1), relay = p2p(&b, 0, 0, 7);
  assert_route(&b, &twice, "node0/gpu0>gpu3 NVLink out");
  g_assert_cmpfloat_with_epsilon(gbps(&b, &twice, 0), 2 * gbps(&b, &once, 0), 1e-6);
  assert_route(&b, &relay, "node0/gpu0>gpu4 NVLink out | node0/gpu4>gpu7 NVLink out");
  g_assert_cmpint(relay.latency, >, once.latency);
  CsimLinkId out = 0, in = 0;
  g_assert_false(csim_machine_nvlink_ports(b.machine, (CsimGpuRef){0, 0}, &out, &in));
  close_bench(&b);
}

static void test_pcie_peers(void) {
  Bench b = open_bench("l40s-8gpu-pcie");
  CsimRoute same = p2p(&b, 0, 0, 1), across = p2p(&b, 0, 0, 2), socket = p2p(&b, 0, 0, 7);
  g_assert_cmpuint(same.n, ==, 2);
  g_assert_cmpuint(across.n, ==, 4);
  g_assert_cmpuint(socket.n, ==, 5);
  /* Kernel stores make 128-byte TLPs, and 64-byte ones behind an Intel host bridge: 90.1 / 82.1 and 90.1 / 69.6. */
  g_assert_cmpfloat_with_epsilon(same.link[0].weight, 0.9014 / 0.8205, 1e-3);
  g_assert_cmpfloat_with_epsilon(across.link[1].weight, 0.9014 / 0.8205, 1e-3);
  g_assert_cmpfloat_with_epsilon(across.link[2].weight, 0.9014 / 0.6957, 1e-3);
  g_assert_cmpint(same.latency, <, across.latency);
  g_assert_cmpint(across.latency, <, socket.latency);
  g_assert_cmpfloat_with_epsilon(gbps(&b, &same, 0), 28.4 * 0.974, 0.05);
  close_bench(&b);
}

static void test_shared_memory(void) {
  Bench b = open_bench("dgx-h100");
  CsimRoute up, down;
  g_assert_true(csim_machine_route_shm(b.machine, (CsimGpuRef){0, 0}, (CsimGpuRef){0, 1}, &up, &down, NULL));
  g_autofree char *u = text_of(&b, &up), *d = text_of(&b, &down);
  g_assert_true(g_str_has_suffix(u, "node0/cpu0 memory") && g_str_has_prefix(d, "node0/cpu0 memory"));
  g_assert_null(strstr(u, "socket"));
  g_assert_true(csim_machine_route_shm(b.machine, (CsimGpuRef){0, 0}, (CsimGpuRef){0, 7}, &up, &down, NULL));
  g_autofree char *far = text_of(&b, &up);
  g_assert_nonnull(strstr(far, "node0/cpu0>cpu1 socket link | node0/cpu1 memory")); /* at the receiver */
  g_assert_true(csim_machine_route_shm(b.machine, (CsimGpuRef){0, 2}, (CsimGpuRef){0, 2}, &up, &down, NULL));
  g_assert_cmpuint(up.n, ==, down.n);
  close_bench(&b);
}

/* A NIC's own PCIe link is left out where its wire is slower; the GPU's stays, since other traffic may use it. */
static void test_nic(void) {
  Bench b = open_bench("dgx-h100");
  CsimRoute near = nic(&b, 0, 0, TRUE, TRUE), back = nic(&b, 0, 0, TRUE, FALSE),
            host = nic(&b, 0, 0, FALSE, TRUE), far = nic(&b, 0, 7, TRUE, TRUE);
  assert_route(&b, &near, "node0/gpu0>PCI/16000 PCIe");
  assert_route(&b, &back, "node0/PCI/16000>gpu0 PCIe");
  assert_route(&b, &host, "node0/cpu0 memory | node0/cpu0>PCI/16000 PCIe");
  g_autofree char *text = text_of(&b, &far);
  g_assert_nonnull(strstr(text, "node0/cpu0>cpu1 socket link"));
  g_assert_cmpint(far.latency, >, near.latency);
  close_bench(&b);
}

/* A 400 Gb/s NIC in a Gen3 slot: now the slot binds and stays in the route. */
static const char slow_slot[] =
    "<system version=\"1\">\n <cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"25\" "
    "modelid=\"17\">\n"
    "  <pci busid=\"0000:01:00.0\" class=\"0x060400\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">\n"
    "   <pci busid=\"0000:02:00.0\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">\n"
    "    <gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\"/>\n   </pci>\n"
    "   <pci busid=\"0000:03:00.0\" class=\"0x020700\" link_speed=\"8.0 GT/s PCIe\" link_width=\"16\">\n"
    "    <nic>\n     <net name=\"mlx5_0\" dev=\"0\" speed=\"400000\" port=\"1\" gdr=\"1\"/>\n    </nic>\n   "
    "</pci>\n"
    "  </pci>\n </cpu>\n</system>\n";

static void test_slow_slot(void) {
  g_autofree char *path = NULL;
  g_close(g_file_open_tmp("collsim-XXXXXX.xml", &path, NULL), NULL);
  g_assert_true(g_file_set_contents(path, slow_slot, -1, NULL));
  Bench b = open_bench(path);
  CsimRoute route = nic(&b, 0, 0, TRUE, TRUE);
  g_assert_cmpuint(route.n, ==, 2);
  g_assert_cmpfloat(gbps(&b, &route, 1), <, 15);
  close_bench(&b);
  g_unlink(path);
}

static void test_no_way(void) {
  Bench b = open_bench("dgx-h100*2");
  CsimRoute route;
  g_autoptr(GError) error = NULL;
  g_assert_false(csim_machine_route_p2p(b.machine, (CsimGpuRef){0, 0}, (CsimGpuRef){1, 0}, &route, &error));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_ROUTE);
  g_assert_cmpint(p2p(&b, 0, 3, 3).n, ==, 0);
  close_bench(&b);
}

/* --- fabrics ----------------------------------------------------------------- */

static Bench open_fabric(guint nodes, const char *fabric_text) {
  g_autofree char *path = NULL;
  g_close(g_file_open_tmp("collsim-XXXXXX.json", &path, NULL), NULL);
  g_autofree char *text = g_strdup_printf(
      "{\"nodes\": [{\"count\": %u, \"xml\": \"dgx-h100\"}], \"fabric\": {%s}}", nodes, fabric_text);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  Bench b = open_bench(path);
  g_unlink(path);
  return b;
}

static void test_small_cluster_is_one_switch(void) {
  Bench b = open_bench("dgx-h100*8");
  CsimRoute route = fabric(&b, 0, 0, 7, 3, 0);
  assert_route(&b, &route, "node0/nic0 out | node7/nic3 in");
  g_assert_cmpfloat_with_epsilon(gbps(&b, &route, 0), 48.7, 0.05);
  /* GPU to GPU over one switch: 1.5 us. */
  CsimRoute send = nic(&b, 0, 0, TRUE, TRUE), receive = nic(&b, 3, 3, TRUE, FALSE);
  CsimTime all = send.latency + route.latency + receive.latency + 2 * csim_machine_net(b.machine)->endpoint;
  g_assert_cmpfloat_with_epsilon(csim_time_us(all), 1.5, 0.02);
  close_bench(&b);
}

static void test_rail_hops(void) {
  Bench b = open_bench("dgx-h100*128");
  CsimRoute in_leaf = fabric(&b, 0, 0, 31, 0, 0), next_su = fabric(&b, 0, 0, 32, 0, 0),
            other_rail = fabric(&b, 0, 0, 1, 1, 0);
  g_assert_cmpint(next_su.latency - in_leaf.latency, ==,
                  2 * 220 * CSIM_NS + 2 * 150 * CSIM_NS); /* two switches, two 30 m cables */
  g_assert_cmpint(other_rail.latency, ==, next_su.latency);
  /* Adaptive and non-blocking: only the wires can bind. */
  g_assert_cmpuint(next_su.n, ==, 2);
  close_bench(&b);
}

static void test_oversubscribed_trunk(void) {
  Bench b = open_fabric(128, "\"oversubscription\": 3");
  CsimRoute route = fabric(&b, 0, 0, 127, 0, 0);
  g_assert_cmpuint(route.n, ==, 4);
  assert_route(&b, &route, "node0/nic0 out | leaf0 trunk up | leaf2 trunk down | node127/nic0 in");
  g_assert_cmpfloat_with_epsilon(gbps(&b, &route, 1), 16 * 48.7, 1); /* 48 down, 16 up */
  close_bench(&b);
}

/* A ring over the nodes of a non-blocking static fabric meets no other flow: destination-based routing spreads shifts. */
static void test_static_shift_is_free(void) {
  Bench b = open_fabric(64, "\"routing\": \"static\"");
  for (guint shift = 1; shift < 64; shift++) {
    g_autofree guint8 *used = g_new0(guint8, csim_machine_n_links(b.machine));
    for (guint node = 0; node < 64; node++) {
      CsimRoute route = fabric(&b, node, 2, (node + shift) % 64, 2, 7);
      for (guint i = 0; i < route.n; i++) g_assert_cmpint(used[route.link[i].link]++, ==, 0);
    }
  }
  close_bench(&b);
}

static void test_ecmp_spreads_and_collides(void) {
  Bench b = open_fabric(64, "\"routing\": \"ecmp\", \"transport\": \"roce\"");
  g_autofree guint *used = g_new0(guint, csim_machine_n_links(b.machine));
  guint most = 0, distinct = 0;
  for (guint node = 0; node < 32; node++) {
    CsimRoute route = fabric(&b, node, 0, node + 32, 0, 1);
    g_assert_cmpuint(route.n, ==, 4);
    distinct += used[route.link[1].link] == 0;
    most = MAX(most, ++used[route.link[1].link]);
  }
  g_assert_cmpuint(most, >, 1); /* 32 flows on 32 cables: 63 % of the cables on average */
  g_assert_cmpuint(distinct, >, 12);
  CsimRoute a = fabric(&b, 0, 0, 40, 0, 1), again = fabric(&b, 0, 0, 40, 0, 1);
  g_assert_cmpuint(a.link[1].link, ==, again.link[1].link);
  guint other = 0;
  for (uint32_t flow = 2; flow < 34; flow++)
    other += fabric(&b, 0, 0, 40, 0, flow).link[1].link != a.link[1].link;
  g_assert_cmpuint(other, >, 20);
  close_bench(&b);
}

/* "leaf3-spine1.2 up" -> "spine1": the switches that a link joins, to see that ways hang together. */
static char *spine_of(const Bench *b, CsimLinkId id) {
  g_autofree char *name = csim_machine_link_name(b->machine, id);
  char *spine = strstr(name, "spine");
  g_assert_nonnull(spine);
  gsize length = strcspn(spine, " -");
  return g_strndup(spine, length);
}

static void test_parallel_cables_meet(void) {
  /* 4 leaves with 8 cables on 4 spines: two cables between each pair. */
  Bench b = open_fabric(4, "\"kind\": \"fat-tree\", \"radix\": 16, \"routing\": \"ecmp\"");
  for (uint32_t flow = 0; flow < 50; flow++) {
    CsimRoute route = fabric(&b, 0, 3, 3, 5, flow);
    g_autofree char *up = spine_of(&b, route.link[1].link), *down = spine_of(&b, route.link[2].link);
    *strchr(up, '.') = '\0';
    *strchr(down, '.') = '\0';
    g_assert_cmpstr(up, ==, down);
  }
  CsimRoute inside = fabric(&b, 2, 0, 2, 7, 0);
  g_assert_cmpuint(inside.n, ==, 2); /* a node's NICs share its leaf */
  close_bench(&b);
}

static void test_three_tiers(void) {
  /* radix 8: leaves of 4, pods of 4 leaves; 64 nodes x 8 rails = 128 leaves need more than 8 pods, so rails only. */
  Bench b = open_fabric(16, "\"kind\": \"fat-tree\", \"radix\": 8, \"routing\": \"static\"");
  CsimRoute near = fabric(&b, 0, 0, 1, 0, 0), far = fabric(&b, 0, 0, 15, 0, 0);
  g_assert_cmpuint(near.n, ==, 3); /* up; down is the endpoint's own cable */
  g_assert_cmpuint(far.n, ==, 4);
  g_autofree char *spine = spine_of(&b, far.link[1].link), *core = spine_of(&b, far.link[2].link);
  g_assert_cmpstr(spine, ==, core);
  g_assert_cmpint(far.latency - near.latency, ==, 2 * 220 * CSIM_NS + 2 * 500 * CSIM_NS);
  close_bench(&b);
}

static void test_rail_only(void) {
  Bench b = open_fabric(40, "\"kind\": \"rail-only\"");
  g_assert_cmpuint(fabric(&b, 0, 2, 39, 2, 0).n, ==, 2);
  CsimRoute route;
  g_autoptr(GError) error = NULL;
  g_assert_false(
      csim_machine_route_fabric(b.machine, (CsimNicRef){0, 0}, (CsimNicRef){1, 1}, 0, NULL, &route, &error));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_ROUTE);
  g_assert_nonnull(strstr(error->message, "PXN"));
  close_bench(&b);
}

static void test_too_small(void) {
  g_autofree char *path = NULL;
  g_close(g_file_open_tmp("collsim-XXXXXX.json", &path, NULL), NULL);
  g_assert_true(g_file_set_contents(
      path, "{\"nodes\": [{\"count\": 512, \"xml\": \"dgx-h100\"}], \"fabric\": {\"tiers\": 2}}", -1, NULL));
  g_autoptr(CsimCatalogue) catalogue = csim_catalogue_new(NULL, NULL, NULL);
  g_autoptr(CsimCluster) cluster = csim_cluster_load(path, 0, NULL);
  g_autoptr(GError) error = NULL;
  g_assert_null(csim_machine_new(cluster, catalogue, &error));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_LIMIT);
  g_assert_nonnull(strstr(error->message, "needs 128 leaves; allowed: 64"));
  g_unlink(path);
}

/* Mixed kinds of node: ids and positions by table. */
static void test_mixed(void) {
  g_autofree char *path = NULL;
  g_close(g_file_open_tmp("collsim-XXXXXX.json", &path, NULL), NULL);
  g_assert_true(g_file_set_contents(
      path, "{\"nodes\": [{\"count\": 3, \"xml\": \"dgx-h100\"}, {\"count\": 2, \"xml\": \"hgx-a800\"}]}", -1,
      NULL));
  Bench b = open_bench(path);
  g_unlink(path);
  CsimRoute route = p2p(&b, 4, 1, 2), wire = fabric(&b, 2, 7, 4, 3, 0);
  assert_route(&b, &route, "node4/gpu1 NVLink out | node4/gpu2 NVLink in");
  assert_route(&b, &wire, "node2/nic7 out | node4/nic3 in");
  g_assert_cmpfloat_with_epsilon(gbps(&b, &wire, 1), 24.35, 0.05);
  g_assert_cmpstr(csim_machine_gpu_model(b.machine, (CsimGpuRef){4, 0}), ==, "a800");
  close_bench(&b);
}

/* Every link of a machine has a rate, a name of its own, and the ids are dense. */
static void test_every_link(void) {
  static const char *const targets[] = {"dgx-1v", "dgx-a100*2", "dgx-h100*100"};
  for (gsize t = 0; t < G_N_ELEMENTS(targets); t++) {
    Bench b = open_bench(targets[t]);
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < csim_machine_n_links(b.machine); i++) {
      g_assert_cmpint(csim_machine_link(b.machine, i).capacity, >, 1000000);
      char *name = csim_machine_link_name(b.machine, i);
      if (!g_hash_table_add(names, name)) g_error("%s: two links are called %s", targets[t], name);
    }
    close_bench(&b);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/machine/nvswitch", test_nvswitch);
  g_test_add_func("/machine/port-rates", test_port_rates);
  g_test_add_func("/machine/mesh", test_mesh);
  g_test_add_func("/machine/pcie-peers", test_pcie_peers);
  g_test_add_func("/machine/shared-memory", test_shared_memory);
  g_test_add_func("/machine/nic", test_nic);
  g_test_add_func("/machine/slow-slot", test_slow_slot);
  g_test_add_func("/machine/no-way", test_no_way);
  g_test_add_func("/machine/small-cluster-is-one-switch", test_small_cluster_is_one_switch);
  g_test_add_func("/machine/rail-hops", test_rail_hops);
  g_test_add_func("/machine/oversubscribed-trunk", test_oversubscribed_trunk);
  g_test_add_func("/machine/static-shift-is-free", test_static_shift_is_free);
  g_test_add_func("/machine/ecmp-spreads-and-collides", test_ecmp_spreads_and_collides);
  g_test_add_func("/machine/parallel-cables-meet", test_parallel_cables_meet);
  g_test_add_func("/machine/three-tiers", test_three_tiers);
  g_test_add_func("/machine/rail-only", test_rail_only);
  g_test_add_func("/machine/too-small", test_too_small);
  g_test_add_func("/machine/mixed", test_mixed);
  g_test_add_func("/machine/every-link", test_every_link);
  return g_test_run();
}
