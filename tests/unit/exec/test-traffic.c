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
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *env[] = {cases[i].algo, cases[i].proto, NULL};
    guint links;
    g_autoptr(Lab) lab = lab_new("dgx-h100", 0, env, NULL, NULL);
    CsimBytes size = 8 << 20;
    lab_call(lab, cases[i].coll, size);
    double bytes = carried(lab, CSIM_RES_NVLINK_OUT, &links);
    g_assert_cmpfloat(fabs(bytes - cases[i].factor * 8 * (double)size), <, 1);
    g_assert_cmpuint(links, ==, cases[i].coll == CSIM_COLL_BROADCAST ? links : 8);
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
  g_test_add_func("/exec/traffic/nic-bytes", test_nic_bytes);
  g_test_add_func("/exec/traffic/queue-and-repeat", test_queue_and_repeat);
  g_test_add_func("/exec/traffic/seed", test_seed);
  return g_test_run();
}
