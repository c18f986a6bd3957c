/*
 * Times that can be written down by hand: no randomness, no sharing. The simulation must give them to the picosecond.
 */
#include "lab.h"

#include "base/units.h"
#include "models/gpu.h"

#include <math.h>

/* Duration of `bytes` at ps a byte, with the floor of a short operation. */
static CsimTime simple(const CsimGpuModel *g, CsimBytes bytes, int sources, int local, int remote) {
  double ps = csim_gpu_simple_ps_per_byte(&g->simple, sources, local, remote);
  double floor_share = MIN(1.0, (double)bytes / (double)g->simple.t_min_bytes);
  return (CsimTime)ceil(MAX((double)bytes * ps, (double)g->simple.t_min * floor_share));
}

static Lab *ideal(const char *target, guint gpus, const char *algo, const char *proto, CsimGpuModel *model) {
  const char *env[] = {"NCCL_MAX_NCHANNELS=1", "NCCL_NVLS_ENABLE=0", algo, proto, NULL};
  Lab *lab = lab_new(target, gpus, env, lab_ideal, NULL);
  csim_gpu_model_init(lab->catalogue, "h100", model);
  return lab;
}

/* Within the rounding of a rate to bytes/s and of microseconds to a double: a picosecond an operation. */
static void assert_time(double us, CsimTime expected, int ops) {
  g_assert_cmpfloat(fabs(us * 1e6 - (double)expected), <=, ops + 1);
}

/*
 * Ring, Simple, a chunk of one slice (the second one is empty): every step waits for the flag of the one before it.
 *   T = t0 + sum over 2(n-1)+1 operations of (o + d) + 2(n-1) (post + flag) + o_empty
 */
static void test_ring_simple(void) {
  for (int n = 2; n <= 8; n *= 2) {
    CsimGpuModel g;
    g_autoptr(Lab) lab = ideal("dgx-h100", (guint)n, "NCCL_ALGO=Ring", "NCCL_PROTO=Simple", &g);
    CsimBytes chunk = 16384, hops = 2 * (n - 1);
    CsimExecResult r = lab_call(lab, CSIM_COLL_ALL_REDUCE, chunk * n);
    CsimTime t = g.simple.t0 + simple(&g, chunk, 1, 0, 1) + (n - 2) * simple(&g, chunk, 2, 0, 1) + simple(&g, chunk, 2, 1, 1) +
                 (n - 2) * simple(&g, chunk, 1, 1, 1) + simple(&g, chunk, 1, 1, 0);
    t += (hops + 1) * g.simple.o + hops * (g.simple.post + g.flag) + g.simple.o_empty;
    g_assert_cmpint(r.n_channels, ==, 1);
    assert_time(r.time_us, t, (int)hops + 1);
  }
}

/*
 * Ring, LL, one warp iteration an operation: cut through. S, E: start and end of a step, equal on all ranks; u_k: loads and stores.
 *   S_k = max(E_(k-1) + o_one, S_(k-1) + a + lat),  E_k = max(S_k + d_k, E_(k-1) + lat),  d_k = a + per_warp u_k / 2 (x two_dst)
 */
static void test_ring_ll(void) {
  for (int n = 2; n <= 8; n *= 2) {
    CsimGpuModel g;
    g_autoptr(Lab) lab = ideal("dgx-h100", (guint)n, "NCCL_ALGO=Ring", "NCCL_PROTO=LL", &g);
    CsimExecResult r = lab_call(lab, CSIM_COLL_ALL_REDUCE, 16 * n);
    int hops = 2 * (n - 1);
    CsimTime s = g.ll.t0 + g.ll.o_one, e = s + g.ll.a + g.ll.per_warp;
    for (int k = 1; k <= hops; k++) {
      gboolean two = k >= n - 1 && k < hops;
      double units = k == hops ? 2 : k == n - 1 ? 4 : 3;
      CsimTime d = (CsimTime)ceil(((double)g.ll.a + (double)g.ll.per_warp * units / 2) * (two ? g.ll.two_dst : k == hops ? g.ll.recv : 1));
      s = MAX(e + g.ll.o_one, s + g.ll.a + g.ll.lat);
      e = MAX(s + d, e + g.ll.lat);
    }
    assert_time(r.time_us, e, hops + 1);
  }
}

/*
 * Tree of a chain (one node), Simple, one chunk: up the chain, turned at the root, down again. The reported time is the mean over ranks,
 * and the rank k hops from the root is done after k operations and flags of the way down (the last rank's needs no send).
 */
static void test_tree_simple(void) {
  for (int n = 2; n <= 8; n *= 2) {
    CsimGpuModel g;
    g_autoptr(Lab) lab = ideal("dgx-h100", (guint)n, "NCCL_ALGO=Tree", "NCCL_PROTO=Simple", &g);
    CsimBytes bytes = 8192;
    CsimExecResult r = lab_call(lab, CSIM_COLL_ALL_REDUCE, bytes);
    double at_root = (double)bytes * csim_gpu_simple_ps_per_byte(&g.simple, 2, 1, 1) / g.simple.tree_root;
    CsimTime hop = g.simple.post + g.flag, o = g.simple.o;
    CsimTime root = g.simple.t0 + simple(&g, bytes, 1, 0, 1) + (n - 2) * simple(&g, bytes, 2, 0, 1) + (n - 1) * (o + hop) + o +
                    (CsimTime)ceil(MAX(at_root, (double)g.simple.t_min));
    CsimTime down = hop + o + simple(&g, bytes, 1, 1, 1), last = hop + o + simple(&g, bytes, 1, 1, 0), sum = n * root + last;
    for (int k = 1; k < n; k++) sum += k < n - 1 ? k * down : (k - 1) * down;
    assert_time(r.time_us, sum / n, 2 * n);
  }
}

/* Two ranks, one channel, both directions: AllGather moves S/2 each way; with NVLink slowed to 1 GB/s the link alone decides the flow. */
static void test_slow_link(void) {
  static const char *const sets[] = {"host.jitter=0", "host.stagger=0ns", "gpu.h100.launch=0ns", "nvlink.4.softness=0",
                                     "nvlink.4.kernel=55555556B/s", NULL};
  static const char *const env[] = {"NCCL_MAX_NCHANNELS=1", "NCCL_NVLS_ENABLE=0", "NCCL_ALGO=Ring", "NCCL_PROTO=Simple", NULL};
  CsimGpuModel g;
  g_autoptr(Lab) lab = lab_new("dgx-h100", 2, env, sets, NULL);
  csim_gpu_model_init(lab->catalogue, "h100", &g);
  CsimBytes half = 16384;
  CsimRate rate = 18 * INT64_C(55555556);
  CsimExecResult r = lab_call(lab, CSIM_COLL_ALL_GATHER, 2 * half);
  CsimTime t = g.simple.t0 + g.simple.t0_bytes + g.simple.o + csim_rate_time(rate, half) + g.simple.post + g.flag + g.simple.o +
               simple(&g, half, 1, 1, 0) + g.simple.o_empty;
  assert_time(r.time_us, t, 3);
}

/* Send and receive of two ranks on one channel: 10 warps send, 9 receive, of 16 for which the rates are stated; one slice up to 512 KiB. */
static void test_pair(void) {
  CsimGpuModel g;
  g_autoptr(Lab) lab = ideal("dgx-h100", 2, "NCCL_MAX_P2P_NCHANNELS=1", NULL, &g);
  for (CsimBytes bytes = 32768; bytes <= 524288; bytes *= 4) {
    CsimExecResult r = lab_call(lab, CSIM_COLL_SENDRECV, bytes);
    double send = (double)bytes * csim_gpu_simple_ps_per_byte(&g.simple, 1, 0, 1) * 16 / 10;
    double recv = (double)bytes * csim_gpu_simple_ps_per_byte(&g.simple, 1, 1, 0) * 16 / 9;
    CsimTime t = g.simple.t0_pair + 2 * g.simple.o + g.simple.post + g.flag + (CsimTime)ceil(send) + (CsimTime)ceil(recv);
    assert_time(r.time_us, t, 3);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/exec/closed-form/ring-simple", test_ring_simple);
  g_test_add_func("/exec/closed-form/ring-ll", test_ring_ll);
  g_test_add_func("/exec/closed-form/tree-simple", test_tree_simple);
  g_test_add_func("/exec/closed-form/slow-link", test_slow_link);
  g_test_add_func("/exec/closed-form/pair", test_pair);
  return g_test_run();
}
