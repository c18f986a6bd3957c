/* What a fault does to what NCCL is told, to what is there, and to ways. */
#include "topo/faults.h"
#include "topo/machine.h"

#include <string.h>

typedef struct {
  CsimCluster *cluster;
  CsimCatalogue *catalogue;
  CsimMachine *machine;
} Bench;

static Bench open_bench(const char *target, const char *const *faults) {
  g_autoptr(GError) error = NULL;
  Bench b = {0};
  CsimClusterOptions options = {.faults = faults, .seed = 1};
  b.cluster = csim_cluster_load_with(target, &options, &error);
  g_assert_no_error(error);
  b.catalogue = csim_catalogue_new(NULL, NULL, NULL);
  b.machine = csim_machine_new(b.cluster, b.catalogue, &error);
  g_assert_no_error(error);
  return b;
}
#define OPEN(target, ...) open_bench(target, (const char *const[]){__VA_ARGS__, NULL})

static void close_bench(Bench *b) {
  csim_machine_free(b->machine);
  csim_catalogue_free(b->catalogue);
  csim_cluster_free(b->cluster);
}

static double gbps(const Bench *b, CsimLinkId link) { return (double)csim_machine_link(b->machine, link).capacity * 1e-9; }

static CsimRoute wire(const Bench *b, guint from_node, guint from, guint to_node, guint to) {
  CsimRoute route;
  g_autoptr(GError) error = NULL;
  csim_machine_route_fabric(b->machine, (CsimNicRef){from_node, from}, (CsimNicRef){to_node, to}, 1, NULL, &route, &error);
  g_assert_no_error(error);
  return route;
}

static const CsimTopoNode *neighbour(const CsimTopoNode *node, CsimNodeType type, float *bw) {
  for (guint i = 0; i < node->links->len; i++) {
    const CsimTopoLink *l = csim_node_link(node, i);
    if (l->remote->type != type) continue;
    if (bw != NULL) *bw = l->bw;
    return l->remote;
  }
  return NULL;
}

/* Width x speed / 80 of a GPU's link as NCCL has it, and of what is there. */
static float gpu_pcie(const CsimSystem *s, guint gpu) {
  float bw = 0;
  neighbour(neighbour(csim_system_node(s, CSIM_NODE_GPU, gpu), CSIM_NODE_DEV, NULL), CSIM_NODE_PCI, &bw);
  return bw;
}

/* --- nodes ------------------------------------------------------------------- */

/* Whole nodes share a system; the broken one has its own. */
static void test_only_that_node(void) {
  Bench b = OPEN("dgx-h100*4", "pcie:node2/gpu1:width=8");
  const CsimCluster *c = b.cluster;
  g_assert_cmpuint(c->node_system[0], ==, c->node_system[3]);
  g_assert_cmpuint(c->node_system[2], !=, c->node_system[0]);
  g_assert_cmpuint(c->node_system[2], ==, c->node_hardware[2]); /* NVML shows a GPU's link as it is */
  g_assert_cmpfloat(gpu_pcie(csim_cluster_system(c, 2), 1), ==, 24);
  g_assert_cmpfloat(gpu_pcie(csim_cluster_system(c, 2), 0), ==, 48);
  close_bench(&b);
}

static void test_generation(void) {
  static const float wanted[] = {3, 6, 12, 24, 48, 96};
  for (int g = 1; g <= 6; g++) {
    g_autofree char *fault = g_strdup_printf("pcie:node0/gpu0:generation=%d", g);
    Bench b = OPEN("dgx-h100", fault);
    g_assert_cmpfloat(gpu_pcie(csim_cluster_system(b.cluster, 0), 0), ==, wanted[g - 1]);
    close_bench(&b);
  }
}

/* A NIC's slot that trained down is not seen: NCCL reads what device and port can do. */
static void test_hidden(void) {
  Bench b = OPEN("dgx-h100*2", "pcie:node1/nic2:width=4");
  const CsimTopoNode *told = csim_system_node(csim_cluster_system(b.cluster, 1), CSIM_NODE_NET, 2),
                     *there = csim_system_node(csim_cluster_hardware(b.cluster, 1), CSIM_NODE_NET, 2);
  float seen = 0, real = 0;
  neighbour(neighbour(told, CSIM_NODE_NIC, NULL), CSIM_NODE_PCI, &seen);
  neighbour(neighbour(there, CSIM_NODE_NIC, NULL), CSIM_NODE_PCI, &real);
  g_assert_cmpfloat(seen, ==, 48);
  g_assert_cmpfloat(real, ==, 12);
  CsimRoute route;
  g_assert_true(csim_machine_route_nic(b.machine, (CsimGpuRef){1, 2}, (CsimNicRef){1, 2}, TRUE, TRUE, &route, NULL));
  g_assert_cmpuint(route.n, ==, 2); /* the slot is slower than the wire now, so it stays in the route */
  g_assert_cmpfloat(gbps(&b, route.link[1].link), <, 15);
  close_bench(&b);
  Bench misread = OPEN("dgx-h100", "pcie:node0/gpu0:width=1,seen=only");
  g_assert_cmpfloat(gpu_pcie(csim_cluster_system(misread.cluster, 0), 0), ==, 3);
  g_assert_cmpfloat(gpu_pcie(csim_cluster_hardware(misread.cluster, 0), 0), ==, 48);
  close_bench(&misread);
}

/* By bus id: a switch above two devices. */
static void test_bus_id(void) {
  Bench b = OPEN("dgx-h100", "pcie:node0/0000:1b:00.0:width=2");
  g_assert_cmpuint(b.cluster->node_system[0], !=, 0);
  close_bench(&b);
}

/* The NIC behind a lost one keeps its rail: cables do not move. */
static void test_nic_down(void) {
  Bench b = OPEN("dgx-h100*40", "nic:node1/nic2");
  const CsimSystem *s = csim_cluster_system(b.cluster, 1);
  g_assert_cmpuint(csim_system_n(s, CSIM_NODE_NET), ==, 7);
  g_assert_cmpuint(csim_net_rail(s, 1), ==, 1);
  g_assert_cmpuint(csim_net_rail(s, 2), ==, 3);
  CsimTime same_rail = wire(&b, 0, 3, 1, 2).latency, other_rail = wire(&b, 0, 2, 1, 2).latency;
  g_assert_cmpint(same_rail, <, other_rail);
  close_bench(&b);
}

static void test_nic_slow(void) {
  Bench b = OPEN("dgx-h100*2", "nic:node0/nic0:rate=0.25,seen=no", "nic:node1/mlx5_0:rate=0.5");
  CsimRoute route = wire(&b, 0, 0, 1, 0);
  g_assert_cmpfloat_with_epsilon(gbps(&b, route.link[0].link), 48.7 / 4, 0.1);
  g_assert_cmpfloat_with_epsilon(gbps(&b, route.link[1].link), 48.7 / 2, 0.1);
  g_assert_cmpfloat(csim_system_node(csim_cluster_system(b.cluster, 0), CSIM_NODE_NET, 0)->net.bw, ==, 50);
  g_assert_cmpfloat(csim_system_node(csim_cluster_system(b.cluster, 1), CSIM_NODE_NET, 0)->net.bw, ==, 25);
  close_bench(&b);
}

static void test_nvlink(void) {
  Bench b = OPEN("dgx-h100", "nvlink:node0/gpu2:links=6");
  CsimRoute route;
  g_assert_true(csim_machine_route_p2p(b.machine, (CsimGpuRef){0, 2}, (CsimGpuRef){0, 5}, &route, NULL));
  g_assert_cmpfloat_with_epsilon(gbps(&b, route.link[0].link), 370.0 * 12 / 18, 0.5);
  g_assert_cmpfloat_with_epsilon(gbps(&b, route.link[1].link), 370, 0.5);
  g_assert_cmpstr(csim_machine_gpu_model(b.machine, (CsimGpuRef){0, 2}), ==, "h100");
  close_bench(&b);
  Bench mesh = OPEN("dgx-1v", "nvlink:node0/gpu0:to=gpu1");
  g_assert_true(csim_machine_route_p2p(mesh.machine, (CsimGpuRef){0, 0}, (CsimGpuRef){0, 1}, &route, NULL));
  g_assert_cmpuint(route.n, ==, 2); /* over another GPU now */
  g_assert_true(csim_machine_route_p2p(mesh.machine, (CsimGpuRef){0, 1}, (CsimGpuRef){0, 0}, &route, NULL));
  g_assert_cmpuint(route.n, ==, 2);
  close_bench(&mesh);
}

static void test_clock(void) {
  Bench b = OPEN("dgx-h100*2", "gpu:node1/gpu3:clock=0.6");
  g_assert_cmpfloat(csim_machine_gpu_clock(b.machine, (CsimGpuRef){1, 3}), ==, 0.6);
  g_assert_cmpfloat(csim_machine_gpu_clock(b.machine, (CsimGpuRef){1, 2}), ==, 1);
  g_assert_cmpfloat(csim_machine_gpu_clock(b.machine, (CsimGpuRef){0, 3}), ==, 1);
  close_bench(&b);
}

static const char *memory_between(guint from, guint to, gboolean follow, const char *const *faults) {
  g_autoptr(GError) error = NULL;
  CsimClusterOptions options = {.faults = faults, .buffers_follow = follow, .seed = 1};
  Bench b = {.cluster = csim_cluster_load_with("a100-pcie-8gpu", &options, &error), .catalogue = csim_catalogue_new(NULL, NULL, NULL)};
  g_assert_no_error(error);
  g_assert_cmpint(b.cluster->bound_in_vain, ==, faults != NULL && !follow);
  b.machine = csim_machine_new(b.cluster, b.catalogue, &error);
  CsimRoute up, down;
  g_assert_true(csim_machine_route_shm(b.machine, (CsimGpuRef){0, from}, (CsimGpuRef){0, to}, &up, &down, NULL));
  const char *found = NULL;
  for (guint i = 0; i < up.n; i++) {
    g_autofree char *name = csim_machine_link_name(b.machine, up.link[i].link);
    if (csim_machine_link(b.machine, up.link[i].link).kind == CSIM_RES_MEMORY) found = g_intern_string(name);
  }
  close_bench(&b);
  return found;
}

/* Shared memory lies with the receiver's process, if it follows that. */
static void test_bound(void) {
  static const char *const bound[] = {"bind:node0/gpu1:numa=1", NULL};
  g_assert_cmpstr(memory_between(0, 1, TRUE, NULL), ==, "node0/cpu0 memory");
  g_assert_cmpstr(memory_between(0, 1, TRUE, bound), ==, "node0/cpu1 memory");
  g_assert_cmpstr(memory_between(0, 1, FALSE, bound), ==, "node0/cpu0 memory");
  g_assert_cmpstr(memory_between(1, 0, TRUE, bound), ==, "node0/cpu0 memory");
}

/* A fault belongs to a machine of the cluster, wherever the job's ranks are. */
static void test_with_placement(void) {
  g_autoptr(GError) error = NULL;
  CsimClusterOptions options = {.faults = (const char *const[]){"gpu:node5/gpu0:clock=0.5", NULL}, .placement = "hosts=node[7,5,1]", .seed = 1};
  g_autoptr(CsimCluster) c = csim_cluster_load_with("dgx-h100*8", &options, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(c->node_system[0], ==, c->node_system[2]);
  g_assert_cmpuint(c->node_system[1], !=, c->node_system[0]);
}

/* --- fabric ------------------------------------------------------------------ */

#define TREE "{\"nodes\": [{\"count\": 64, \"xml\": \"dgx-h100\"}], \"fabric\": {\"routing\": \"%s\"}}"

static char *names(const Bench *b, const CsimRoute *route) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < route->n; i++) {
    g_autofree char *name = csim_machine_link_name(b->machine, route->link[i].link);
    g_string_append_printf(out, "%s%s", i > 0 ? " | " : "", name);
  }
  return g_string_free(out, FALSE);
}

/* Every pair of two leaves still has a way, and none over a cable that is down. */
static void test_around(void) {
  static const char *const routings[] = {"static", "ecmp"};
  for (gsize r = 0; r < G_N_ELEMENTS(routings); r++) {
    g_autofree char *target = g_strdup_printf(TREE, routings[r]);
    Bench whole = OPEN(target, "loss:rate=0"), b = OPEN(target, "link:leaf0-spine3.*", "switch:spine5");
    guint moved = 0;
    for (guint from = 0; from < 32; from++)
      for (guint to = 32; to < 64; to++) {
        CsimRoute was = wire(&whole, from, 0, to, 0), now = wire(&b, from, 0, to, 0);
        g_autofree char *before = names(&whole, &was), *after = names(&b, &now);
        g_assert_null(strstr(after, "leaf0-spine3."));
        g_assert_null(strstr(after, "spine5."));
        gboolean broken = strstr(before, "leaf0-spine3.") != NULL || strstr(before, "spine5.") != NULL;
        if (!broken) g_assert_cmpuint(was.link[1].link, ==, now.link[1].link); /* what is whole stays */
        moved += broken;
      }
    g_assert_cmpuint(moved, >, 20);
    close_bench(&whole);
    close_bench(&b);
  }
}

static void test_slow_cable(void) {
  g_autofree char *target = g_strdup_printf(TREE, "static");
  Bench b = OPEN(target, "link:leaf0-spine*:rate=0.25");
  CsimRoute route = wire(&b, 0, 0, 40, 0);
  g_assert_cmpfloat_with_epsilon(gbps(&b, route.link[1].link), 48.7 / 4, 0.1);
  close_bench(&b);
}

/* Spread over all: the trunk is what is left of it. */
static void test_trunk(void) {
  g_autofree char *target = g_strdup_printf(TREE, "adaptive");
  Bench whole = OPEN(target, "loss:rate=0"), b = OPEN(target, "link:leaf0-spine1.*", "link:leaf0-spine2.0:rate=0.5");
  g_assert_cmpuint(wire(&whole, 0, 0, 40, 0).n, ==, 2);
  CsimRoute route = wire(&b, 0, 0, 40, 0), other = wire(&b, 0, 1, 40, 1);
  g_assert_cmpuint(route.n, ==, 3);
  g_autofree char *name = csim_machine_link_name(b.machine, route.link[1].link);
  g_assert_cmpstr(name, ==, "leaf0 trunk up");
  g_assert_cmpfloat_with_epsilon(gbps(&b, route.link[1].link), (32 - 4 - 0.5) * 48.7, 1); /* four cables to each of eight spines */
  g_assert_cmpuint(other.n, ==, 2);
  close_bench(&whole);
  close_bench(&b);
}

static void test_three_tiers(void) {
  static const char target[] = "{\"nodes\": [{\"count\": 16, \"xml\": \"dgx-h100\"}], \"fabric\": {\"kind\": \"fat-tree\", \"radix\": 8, \"routing\": \"ecmp\"}}";
  Bench b = OPEN(target, "switch:core0.*", "switch:spine0.1", "link:spine7.3-core3.0");
  for (guint to = 1; to < 16; to++)
    for (guint nic = 0; nic < 8; nic++) {
      CsimRoute route = wire(&b, 0, nic, to, nic);
      g_autofree char *text = names(&b, &route);
      g_assert_null(strstr(text, "core0."));
      g_assert_null(strstr(text, "spine0.1"));
      g_assert_null(strstr(text, "spine7.3-core3.0"));
    }
  close_bench(&b);
}

static char *no_route(const char *target, const char *fault, guint from, guint to) {
  Bench b = OPEN(target, fault);
  CsimRoute route;
  g_autoptr(GError) error = NULL;
  g_assert_false(csim_machine_route_fabric(b.machine, (CsimNicRef){from, 0}, (CsimNicRef){to, 0}, 1, NULL, &route, &error));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_ROUTE);
  close_bench(&b);
  return g_strdup(error->message);
}

static void test_no_way(void) {
  static const char *const routings[] = {"static", "ecmp", "adaptive"};
  for (gsize r = 0; r < G_N_ELEMENTS(routings); r++) {
    g_autofree char *target = g_strdup_printf(TREE, routings[r]);
    g_autofree char *cut = no_route(target, "link:leaf0-*", 0, 40), *lost = no_route(target, "switch:leaf0", 0, 1);
    g_assert_nonnull(strstr(cut, "no way is left from leaf0 to leaf1"));
    g_assert_nonnull(strstr(lost, "switch leaf0 is lost"));
  }
}

static void test_random_cables(void) {
  g_autofree char *target = g_strdup_printf(TREE, "static");
  Bench one = OPEN(target, "link:random:count=20,seed=3"), same = OPEN(target, "link:random:count=20,seed=3"), other = OPEN(target, "link:random:count=20,seed=4");
  guint down = 0, differ = 0;
  CsimLinkId first;
  guint n = csim_machine_fabric_links(one.machine, &first);
  for (guint i = 0; i < n; i++) {
    gboolean dead = gbps(&one, first + i) < 1;
    down += dead;
    g_assert_true(dead == (gbps(&same, first + i) < 1));
    differ += dead != (gbps(&other, first + i) < 1);
  }
  g_assert_cmpuint(down, ==, 40); /* both directions */
  g_assert_cmpuint(differ, >, 0);
  close_bench(&one);
  close_bench(&same);
  close_bench(&other);
}

/* --- messages ---------------------------------------------------------------- */

static void assert_refused(const char *target, const char *fault, const char *why) {
  g_autoptr(GError) error = NULL;
  CsimClusterOptions options = {.faults = fault != NULL ? (const char *const[]){fault, NULL} : NULL, .seed = 1};
  g_autoptr(CsimCluster) c = csim_cluster_load_with(target, &options, &error);
  g_autoptr(CsimCatalogue) catalogue = csim_catalogue_new(NULL, NULL, NULL);
  g_autoptr(CsimMachine) m = c != NULL ? csim_machine_new(c, catalogue, &error) : NULL;
  g_assert_null(m);
  if (strstr(error->message, why) == NULL || strchr(error->message, '\n') != NULL) g_error("wanted '%s' in: %s", why, error->message);
}

static void test_messages(void) {
  assert_refused("dgx-h100*2", "fire:node0/gpu0", "allowed: link, switch, nic, pcie, nvlink, gpu, loss");
  assert_refused("dgx-h100*2", "gpu:node0/gpu0", "no key 'clock'");
  assert_refused("dgx-h100*2", "bind:node0/gpu0", "no key 'numa'");
  assert_refused("dgx-h100*2", "bind:node0/gpu0:numa=2", "no NUMA node 2 beside gpu0 of dgx-h100; allowed: 0, 1");
  assert_refused("dgx-h100*2", "bind:node0/nic0:numa=1", "no GPU 'nic0'");
  assert_refused("dgx-h100*2", "gpu:node2/gpu0:clock=0.5", "no host 'node2'");
  assert_refused("dgx-h100*2", "gpu:node0/gpu8:clock=0.5", "no GPU 'gpu8'");
  assert_refused("dgx-h100*2", "gpu:gpu0:clock=0.5", "no device of a node");
  assert_refused("dgx-h100*2", "nic:node0/mlx5_99", "no NIC 'mlx5_99'");
  assert_refused("dgx-h100*2", "pcie:node0/gpu0", "without effect");
  assert_refused("dgx-h100*2", "pcie:node0/dead:beef:width=8", "no PCIe device");
  assert_refused("dgx-h100*2", "nvlink:node0/gpu0:links=19", "allowed: a whole number from 1 to 18");
  assert_refused("dgx-1v", "nvlink:node0/gpu0", "pair by pair");
  assert_refused("dgx-1v", "nvlink:node0/gpu0:to=gpu6,links=1", "lost of fewer");
  assert_refused("dgx-h100*2", "link:leaf0-spine0.0", "no cables between switches");
  assert_refused("dgx-h100*64", "link:leaf0-spine99.0", "such as leaf0-spine0.0");
  assert_refused("dgx-h100*64", "switch:spine99", "no switch 'spine99'");
  assert_refused("dgx-h100*64", "link:random:count=9999", "9999 random cables of 512");
  assert_refused("dgx-h100*64", "link:leaf0-spine0.0:count=3", "with \"at\": \"random\"");
  assert_refused("dgx-h100*64", "link:leaf0-spine0.0:period=1s", "belong together");
  assert_refused("dgx-h100*64", "link:leaf0-spine0.0:period=1s,down=2s", "0 < down < period");
  assert_refused("dgx-h100*64", "loss:rate=2", "from 0 to 0.5");
  assert_refused("{\"nodes\": [{\"xml\": \"dgx-h100\"}],\n \"faults\": [{\"kind\": \"nic\",\n  \"at\": \"node0/nic9\"}]}", NULL, "<target>:2:13: no NIC 'nic9'");
  assert_refused("{\"nodes\": [{\"xml\": \"dgx-h100\"}],\n \"faults\": [{\"kind\": \"nic\", \"at\": \"node0/nic1\", \"speed\": 3}]}", NULL, ":2:");
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/faults/only-that-node", test_only_that_node);
  g_test_add_func("/faults/generation", test_generation);
  g_test_add_func("/faults/hidden", test_hidden);
  g_test_add_func("/faults/bus-id", test_bus_id);
  g_test_add_func("/faults/nic-down", test_nic_down);
  g_test_add_func("/faults/nic-slow", test_nic_slow);
  g_test_add_func("/faults/nvlink", test_nvlink);
  g_test_add_func("/faults/clock", test_clock);
  g_test_add_func("/faults/bound", test_bound);
  g_test_add_func("/faults/with-placement", test_with_placement);
  g_test_add_func("/faults/around", test_around);
  g_test_add_func("/faults/slow-cable", test_slow_cable);
  g_test_add_func("/faults/trunk", test_trunk);
  g_test_add_func("/faults/three-tiers", test_three_tiers);
  g_test_add_func("/faults/no-way", test_no_way);
  g_test_add_func("/faults/random-cables", test_random_cables);
  g_test_add_func("/faults/messages", test_messages);
  return g_test_run();
}
