/*
 * What the links carry, and what must not matter: the bytes are the algorithm's closed form, the queue and a second call change nothing.
 */
#include "lab.h"

#include <math.h>

static double carried(Lab *lab, CsimResKind kind, guint *links) {
  guint n;
  const CsimLinkLoad *load = csim_exec_loads(lab->exec, &n);
  double bytes = 0;
  *links = 0;
  for (guint i = 0; i < n; i++) {
    if (csim_machine_link(lab->machine, load[i].link).kind != kind) continue;
    bytes += load[i].use.bytes;
    ++*links;
  }
  return bytes;
}

typedef struct { const char *algo, *proto; CsimColl coll; double factor; } Case; /* factor: bytes out of each GPU / S, n = 8 */

/* One node of 8: bytes through each NVLink port. LL doubles, LL128 adds a fifteenth. */
static void test_port_bytes(void) {
  static const Case cases[] = {
    {"NCCL_ALGO=Ring", "NCCL_PROTO=Simple", CSIM_COLL_ALL_REDUCE, 14.0 / 8},
    {"NCCL_ALGO=Ring", "NCCL_PROTO=Simple", CSIM_COLL_ALL_GATHER, 7.0 / 8},
    {"NCCL_ALGO=Ring", "NCCL_PROTO=Simple", CSIM_COLL_REDUCE_SCATTER, 7.0 / 8},
    {"NCCL_ALGO=Ring", "NCCL_PROTO=Simple", CSIM_COLL_BROADCAST, 7.0 / 8},
    {"NCCL_ALGO=Tree", "NCCL_PROTO=Simple", CSIM_COLL_ALL_REDUCE, 2 * 7.0 / 8},
    {"NCCL_ALGO=Ring", "NCCL_PROTO=LL", CSIM_COLL_ALL_REDUCE, 2 * 14.0 / 8},
    {"NCCL_ALGO=Ring", "NCCL_PROTO=LL128", CSIM_COLL_ALL_REDUCE, 16.0 / 15 * 14 / 8},
    {"NCCL_ALGO=Tree", "NCCL_PROTO=LL128", CSIM_COLL_ALL_REDUCE, 16.0 / 15 * 2 * 7 / 8},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *env[] = {cases[i].algo, cases[i].proto, NULL};
    guint links;
    g_autoptr(Lab) lab = lab_new("dgx-h100", 0, env, NULL, NULL);
    CsimBytes size = 8 << 20;
    lab_call(lab, cases[i].coll, size);
    double bytes = carried(lab, CSIM_RES_NVLINK_OUT, &links);
    g_assert_cmpfloat(fabs(bytes / (cases[i].factor * 8 * (double)size) - 1), <, 1e-4); /* a flow has whole bytes */
    g_assert_cmpuint(links, ==, cases[i].coll == CSIM_COLL_BROADCAST ? links : 8);
  }
}

typedef struct { const char *algo; CsimColl coll; double factor[3]; } PortCase; /* factor: bytes each way / S at n = 2, 4, 8 */

static const CsimLinkLoad *load_of(Lab *lab, CsimLinkId link) {
  guint n;
  const CsimLinkLoad *load = csim_exec_loads(lab->exec, &n);
  for (guint i = 0; i < n; i++)
    if (load[i].link == link) return &load[i];
  return NULL;
}

/* Every GPU's port, each way by itself. Of two ports with the same flows one may be left out: then the other one is taken. */
static void test_each_port(void) {
  static const PortCase cases[] = {
    {"NCCL_ALGO=NVLS", CSIM_COLL_ALL_REDUCE, {3.0 / 2, 5.0 / 4, 9.0 / 8}},
    {"NCCL_ALGO=Ring", CSIM_COLL_ALL_REDUCE, {2 * 1.0 / 2, 2 * 3.0 / 4, 2 * 7.0 / 8}},
    {"NCCL_ALGO=Ring", CSIM_COLL_ALL_GATHER, {1.0 / 2, 3.0 / 4, 7.0 / 8}},
    {"NCCL_ALGO=Ring", CSIM_COLL_REDUCE_SCATTER, {1.0 / 2, 3.0 / 4, 7.0 / 8}},
  };
  static const guint sizes[] = {2, 4, 8};
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
      const char *env[] = {cases[c].algo, "NCCL_PROTO=Simple", NULL};
      g_autoptr(Lab) lab = lab_new("dgx-h100", sizes[s], env, NULL, NULL);
      CsimBytes size = 96 << 20;
      lab_call(lab, cases[c].coll, size);
      for (guint gpu = 0; gpu < sizes[s]; gpu++) {
        CsimLinkId out, in;
        g_assert_true(csim_machine_nvlink_ports(lab->machine, (CsimGpuRef){0, (int)gpu}, &out, &in));
        const CsimLinkLoad *sent = load_of(lab, out), *got = load_of(lab, in);
        double expected = cases[c].factor[s] * (double)size;
        g_assert_true(sent != NULL || got != NULL);
        if (sent) g_assert_cmpfloat(fabs(sent->use.bytes / expected - 1), <, 1e-4);
        if (got) g_assert_cmpfloat(fabs(got->use.bytes / expected - 1), <, 1e-4);
        g_assert_true(g_strcmp0(cases[c].algo, "NCCL_ALGO=NVLS") != 0 || (sent && got));
      }
    }
}

/* A chain's ends differ from its middle, so a tree is told by its sum: S up and S down over n - 1 hops. */
static void test_tree_ports(void) {
  static const char *const env[] = {"NCCL_ALGO=Tree", "NCCL_PROTO=Simple", NULL};
  for (guint n = 2; n <= 8; n *= 2) {
    g_autoptr(Lab) lab = lab_new("dgx-h100", n, env, NULL, NULL);
    guint links;
    CsimBytes size = 96 << 20;
    lab_call(lab, CSIM_COLL_ALL_REDUCE, size);
    g_assert_cmpfloat(fabs(carried(lab, CSIM_RES_NVLINK_OUT, &links) / (2.0 * (n - 1) * (double)size) - 1), <, 1e-4);
  }
}

/* NVLS where the ways differ: all_gather sends the own block and takes in all, reduce_scatter the reverse; with a tree between nodes each still moves
 * S(1 + 1/n) each way inside its node. */
static void test_nvls_port_bytes(void) {
  static const struct { const char *target, *algo; CsimColl coll; double out, in; } cases[] = {
    {"dgx-h100", "NCCL_ALGO=NVLS", CSIM_COLL_ALL_GATHER, 1.0 / 8, 1},
    {"dgx-h100", "NCCL_ALGO=NVLS", CSIM_COLL_REDUCE_SCATTER, 1, 1.0 / 8},
    {"dgx-h100*2", "NCCL_ALGO=NVLSTree", CSIM_COLL_ALL_REDUCE, 9.0 / 8, 9.0 / 8},
    {"dgx-b200*5", "NCCL_ALGO=NVLSTree", CSIM_COLL_ALL_REDUCE, 9.0 / 8, 9.0 / 8},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *env[] = {cases[i].algo, "NCCL_PROTO=Simple", NULL};
    g_autoptr(Lab) lab = lab_new(cases[i].target, 0, env, NULL, NULL);
    CsimBytes size = 96 << 20;
    guint outs, ins;
    lab_call(lab, cases[i].coll, size);
    double out = carried(lab, CSIM_RES_NVLINK_OUT, &outs), in = carried(lab, CSIM_RES_NVLINK_IN, &ins);
    g_assert_cmpuint(outs, ==, (guint)csim_comm_info(lab->comm)->n_ranks);
    g_assert_cmpuint(ins, ==, outs);
    g_assert_cmpfloat(fabs(out / (cases[i].out * outs * (double)size) - 1), <, 1e-9);
    g_assert_cmpfloat(fabs(in / (cases[i].in * ins * (double)size) - 1), <, 1e-9);
  }
}

/* Several nodes: a ring crosses every node boundary with 2(n-1)/n S in all, spread over the NICs. */
static void test_nic_bytes(void) {
  static const char *const env[] = {"NCCL_ALGO=Ring", "NCCL_PROTO=Simple", NULL};
  guint out_links, in_links;
  g_autoptr(Lab) lab = lab_new("dgx-h100*4", 0, env, NULL, NULL);
  CsimBytes size = 64 << 20;
  lab_call(lab, CSIM_COLL_ALL_REDUCE, size);
  double out = carried(lab, CSIM_RES_NIC_OUT, &out_links), in = carried(lab, CSIM_RES_NIC_IN, &in_links);
  /* Of two wires with the same flows one is left out. */
  g_assert_cmpfloat(fabs(MAX(out, in) / (4 * 2 * 31.0 / 32 * (double)size) - 1), <, 1e-9);
  g_assert_cmpuint(MAX(out_links, in_links), ==, 32);
}

/* --- a network that reduces ----------------------------------------------------------------------------------------- */

#define SHARP(xml, n) "{\"nodes\": [{\"xml\": \"" xml "\", \"count\": " #n "}], \"fabric\": {\"sharp\": true}}"

static Lab *sharp_lab(const char *target, const char *algo, guint gpus) {
  const char *env[] = {algo, "NCCL_PROTO=Simple", "NCCL_COLLNET_ENABLE=1", NULL};
  return lab_new(target, gpus, env, NULL, NULL);
}

/* Each node sends S into its NICs and receives S, however many nodes: no 2(n-1)/n. */
static void test_sharp_nic_bytes(void) {
  static const char *const algos[] = {"NCCL_ALGO=CollNetChain", "NCCL_ALGO=CollNetDirect", "NCCL_ALGO=NVLS"};
  static const struct {
    const char *target;
    int nodes;
  } machines[] = {{SHARP("dgx-h100", 2), 2}, {SHARP("dgx-h100", 5), 5}};
  for (guint a = 0; a < G_N_ELEMENTS(algos); a++)
    for (guint m = 0; m < G_N_ELEMENTS(machines); m++) {
      g_autoptr(Lab) lab = sharp_lab(machines[m].target, algos[a], 0);
      CsimBytes size = 3 * (72 << 20); /* whole loops of every chunk size and channel count here */
      guint out_links, in_links;
      lab_call(lab, CSIM_COLL_ALL_REDUCE, size);
      double out = carried(lab, CSIM_RES_NIC_OUT, &out_links), in = carried(lab, CSIM_RES_NIC_IN, &in_links);
      /* Of two wires with the same flows one is left out. */
      g_assert_cmpfloat(fabs(MAX(out, in) / (machines[m].nodes * (double)size) - 1), <, 1e-9);
      g_assert_cmpuint(MAX(out_links, in_links), ==, 8 * machines[m].nodes);
    }
}

/* all_gather: each node takes in all blocks, N * S/n a GPU, and sends its own; reduce_scatter the reverse. */
static void test_sharp_gather_bytes(void) {
  static const CsimColl colls[] = {CSIM_COLL_ALL_GATHER, CSIM_COLL_REDUCE_SCATTER};
  static const char *const algos[] = {"NCCL_ALGO=CollNetDirect", "NCCL_ALGO=NVLS"};
  for (guint i = 0; i < 4; i++) {
    g_autoptr(Lab) lab = sharp_lab(SHARP("dgx-h100", 4), algos[i / 2], 0);
    CsimBytes size = 96 << 20;
    guint links;
    lab_call(lab, colls[i % 2], size);
    double out = carried(lab, CSIM_RES_NIC_OUT, &links), in = carried(lab, CSIM_RES_NIC_IN, &links);
    double more = MAX(out, in), less = MIN(out, in);
    g_assert_cmpfloat(fabs(more / (4 * (double)size) - 1), <, 1e-9);
    g_assert_cmpfloat(fabs(less / (double)size - 1), <, 1e-9);
    g_assert_true((i % 2 == 0) == (in > out));
  }
}

/* Inside a node: CollNetDirect moves 7/8 S out of each GPU to the heads and 7/8 S from the heads; the chain's GPUs S up and S down, but for its ends. */
static void test_sharp_port_bytes(void) {
  guint links;
  CsimBytes size = 3 * (72 << 20);
  g_autoptr(Lab) direct = sharp_lab(SHARP("dgx-h100", 2), "NCCL_ALGO=CollNetDirect", 0);
  g_autoptr(Lab) chain = sharp_lab(SHARP("dgx-h100", 2), "NCCL_ALGO=CollNetChain", 0);
  lab_call(direct, CSIM_COLL_ALL_REDUCE, size);
  g_assert_cmpfloat(fabs(carried(direct, CSIM_RES_NVLINK_OUT, &links) / (16 * 2 * 7.0 / 8 * (double)size) - 1), <, 1e-9);
  lab_call(chain, CSIM_COLL_ALL_REDUCE, size);
  g_assert_cmpfloat(fabs(carried(chain, CSIM_RES_NVLINK_OUT, &links) / (2 * 2 * 7 * (double)size) - 1), <, 1e-9);
}

/* Large calls on B200 nodes: each way of reducing in the switches beats a ring, as measured (docs/models/sharp.md). */
static void test_sharp_order(void) {
  static const char *const algos[] = {"NCCL_ALGO=Ring", "NCCL_ALGO=CollNetChain", "NCCL_ALGO=CollNetDirect", "NCCL_ALGO=NVLS"};
  double time_us[4];
  for (guint i = 0; i < 4; i++) {
    g_autoptr(Lab) lab = sharp_lab(SHARP("dgx-b200", 4), algos[i], 0);
    time_us[i] = lab_call(lab, CSIM_COLL_ALL_REDUCE, 1 << 30).time_us;
    g_test_message("%s: %.1f us", algos[i], time_us[i]);
  }
  for (guint i = 1; i < 4; i++) g_assert_cmpfloat(time_us[i], <, time_us[0]);
  g_assert_cmpfloat(time_us[3], <, time_us[2]);
}

/* One GPU a node: PAT sends as much as a ring, (n-1)/n of the whole. */
static void test_pat_bytes(void) {
  static const CsimColl colls[] = {CSIM_COLL_ALL_GATHER, CSIM_COLL_REDUCE_SCATTER};
  static const char *const env[] = {"NCCL_ALGO=PAT", NULL};
  for (guint i = 0; i < G_N_ELEMENTS(colls); i++)
    for (CsimBytes size = 5 << 10; size <= 5 << 24; size <<= 7) {
      g_autoptr(Lab) lab = lab_new("dgx-h100*5", 1, env, NULL, NULL);
      guint out_links, in_links;
      lab_call(lab, colls[i], size);
      double out = carried(lab, CSIM_RES_NIC_OUT, &out_links), in = carried(lab, CSIM_RES_NIC_IN, &in_links);
      g_assert_cmpfloat(fabs(MAX(out, in) / (4 * (double)size) - 1), <, 1e-9);
      g_assert_cmpuint(MAX(out_links, in_links), ==, 5);
    }
}

static void test_queue_and_repeat(void) {
  static const char *const targets[] = {"dgx-h100", "dgx-h100*2", "dgx-a100*2"};
  for (guint i = 0; i < G_N_ELEMENTS(targets); i++) {
    CsimExecSpec radix = {.iters = 2, .seed = 7, .digest = TRUE, .queue = CSIM_QUEUE_RADIX}, heap = radix;
    heap.queue = CSIM_QUEUE_HEAP4;
    g_autoptr(Lab) a = lab_new(targets[i], 0, NULL, NULL, &radix);
    g_autoptr(Lab) b = lab_new(targets[i], 0, NULL, NULL, &heap);
    CsimExecResult first = lab_call(a, CSIM_COLL_ALL_REDUCE, 4 << 20), again = lab_call(a, CSIM_COLL_ALL_REDUCE, 4 << 20);
    CsimExecResult other = lab_call(b, CSIM_COLL_ALL_REDUCE, 4 << 20);
    g_assert_cmphex(first.digest, ==, again.digest);
    g_assert_cmphex(first.digest, ==, other.digest);
    g_assert_cmpfloat(first.time_us, ==, other.time_us);
  }
}

/* Another seed draws other overheads, and hardly changes the time. */
static void test_seed(void) {
  CsimExecSpec one = {.iters = 1, .seed = 1, .digest = TRUE}, two = {.iters = 1, .seed = 2, .digest = TRUE};
  g_autoptr(Lab) a = lab_new("dgx-h100", 0, NULL, NULL, &one);
  g_autoptr(Lab) b = lab_new("dgx-h100", 0, NULL, NULL, &two);
  CsimExecResult x = lab_call(a, CSIM_COLL_ALL_GATHER, 64 << 20), y = lab_call(b, CSIM_COLL_ALL_GATHER, 64 << 20);
  g_assert_cmphex(x.digest, !=, y.digest);
  g_assert_cmpfloat(fabs(x.time_us / y.time_us - 1), <, 0.05);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/exec/traffic/port-bytes", test_port_bytes);
  g_test_add_func("/exec/traffic/each-port", test_each_port);
  g_test_add_func("/exec/traffic/tree-ports", test_tree_ports);
  g_test_add_func("/exec/traffic/nvls-port-bytes", test_nvls_port_bytes);
  g_test_add_func("/exec/traffic/nic-bytes", test_nic_bytes);
  g_test_add_func("/exec/traffic/sharp-nic-bytes", test_sharp_nic_bytes);
  g_test_add_func("/exec/traffic/sharp-gather-bytes", test_sharp_gather_bytes);
  g_test_add_func("/exec/traffic/sharp-port-bytes", test_sharp_port_bytes);
  g_test_add_func("/exec/traffic/sharp-order", test_sharp_order);
  g_test_add_func("/exec/traffic/pat-bytes", test_pat_bytes);
  g_test_add_func("/exec/traffic/queue-and-repeat", test_queue_and_repeat);
  g_test_add_func("/exec/traffic/seed", test_seed);
  return g_test_run();
}
