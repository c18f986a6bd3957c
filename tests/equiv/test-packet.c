/*
 * Packets and flows tell the same time where nothing queues: every collective on 2 to 64 GPUs over InfiniBand and RoCE. After each packet
 * run the network has proved that every frame and byte is accounted for (a call that does not is an error).
 *
 * Uncontended: one channel of rings, so that an adapter carries one message at a time each way (a tree has two children on one). With several the two levels share an adapter
 * differently (a packet waits behind others; a flow has its share at every moment), and channels that run in step fall out of it at
 * different moments; those runs are held to a wider limit. A gather from two nodes and more is an incast on the
 * root's adapter: never uncontended.
 */
#include "../unit/exec/lab.h"

#include <math.h>

static const char *const fabrics[] = {"ib", "roce"};
static const CsimColl colls[] = {CSIM_COLL_ALL_REDUCE, CSIM_COLL_ALL_GATHER, CSIM_COLL_REDUCE_SCATTER, CSIM_COLL_BROADCAST, CSIM_COLL_REDUCE,
                                 CSIM_COLL_ALLTOALL,   CSIM_COLL_SENDRECV,   CSIM_COLL_GATHER,         CSIM_COLL_SCATTER,   CSIM_COLL_HYPERCUBE};

typedef struct {
  guint nodes, gpus; /* gpus a node, 0: all */
  const char *const *env;
} Machine;

static CsimExecResult call(const Machine *m, const char *transport, gboolean packets, CsimColl coll, CsimBytes bytes) {
  g_autofree char *target =
      g_strdup_printf("{\"nodes\": [{\"count\": %u, \"xml\": \"dgx-h100\"}], \"fabric\": {\"transport\": \"%s\"}}", m->nodes, transport);
  CsimExecSpec spec = {.iters = 20, .seed = 1, .packets = packets, .no_symmetry = TRUE};
  g_autoptr(Lab) lab = lab_new(target, m->gpus, m->env, NULL, &spec);
  return lab_call(lab, coll, bytes);
}

static double difference(const Machine *m, const char *transport, CsimColl coll, CsimBytes bytes) {
  CsimExecResult flow = call(m, transport, FALSE, coll, bytes), packet = call(m, transport, TRUE, coll, bytes);
  double off = packet.time_us / flow.time_us - 1;
  g_assert_cmpint(flow.choice.algo, ==, packet.choice.algo);
  g_test_message("%s, %u nodes x %u GPUs, %s %s %s, %" G_GINT64_FORMAT " B: %.2f us as flows, %.2f as packets, %+.2f %%", transport, m->nodes,
                 m->gpus ? m->gpus : 8, csim_coll_name(coll), csim_algo_name(flow.choice.algo), csim_proto_name(flow.choice.proto), bytes,
                 flow.time_us, packet.time_us, 100 * off);
  return off;
}

static const char *const one_channel[] = {"NCCL_MIN_NCHANNELS=1", "NCCL_MAX_NCHANNELS=1", "NCCL_MAX_P2P_NCHANNELS=1", "NCCL_MIN_P2P_NCHANNELS=1",
                                          "NCCL_NVLS_ENABLE=0", "NCCL_ALGO=Ring", NULL};

#define GATHER_NODES 2

static void test_uncontended(void) {
  static const Machine machines[] = {{2, 1, one_channel}, {4, 1, one_channel}, {8, 1, one_channel}, {32, 2, one_channel}};
  static const CsimBytes sizes[] = {1 << 13, 1 << 18, 1 << 21};
  for (guint m = 0; m < G_N_ELEMENTS(machines); m++)
    for (guint f = 0; f < G_N_ELEMENTS(fabrics); f++)
      for (guint c = 0; c < G_N_ELEMENTS(colls); c++)
        for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
          if (colls[c] == CSIM_COLL_GATHER && machines[m].nodes > GATHER_NODES) continue;
          double off = difference(&machines[m], fabrics[f], colls[c], sizes[s]);
          g_assert_cmpfloat(fabs(off), <, 0.02);
        }
}

static void test_default(void) {
  static const Machine machines[] = {{2, 0, NULL}, {8, 0, NULL}};
  static const CsimBytes sizes[] = {1 << 13, 1 << 18, 1 << 23};
  guint n = 0, close = 0;
  for (guint m = 0; m < (g_test_slow() ? G_N_ELEMENTS(machines) : 1); m++)
    for (guint f = 0; f < G_N_ELEMENTS(fabrics); f++)
      for (guint c = 0; c < G_N_ELEMENTS(colls); c++)
        for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
          if (colls[c] == CSIM_COLL_GATHER && machines[m].nodes > GATHER_NODES) continue;
          n++;
          double off = difference(&machines[m], fabrics[f], colls[c], sizes[s]);
          g_assert_cmpfloat(fabs(off), <, 0.06);
          close += fabs(off) < 0.02;
        }
  g_test_message("%u of %u within 2 %%", close, n);
  g_assert_cmpuint(close * 100, >=, n * 95);
}

/* Static XOFF so low that PFC must act on an alltoall over few uplinks: with the headroom that the settings work out nothing is dropped, and
 * one KiB a port is too little. */
static void lossless(const char *headroom, gboolean drops) {
  g_autofree char *target = g_strdup_printf("{\"nodes\": [{\"count\": 8, \"xml\": \"dgx-h100\"}], \"fabric\": {\"kind\": \"fat-tree\", \"radix\": 32, "
                                            "\"oversubscription\": 3, \"transport\": \"roce\", \"roce\": {\"pfc\": {\"xoff\": \"100KiB\", \"xon\": "
                                            "\"60KiB\"%s}, \"ecn\": false, \"dcqcn\": false}}}", headroom);
  const char *const soon[] = {"NCCL_IB_TIMEOUT=14", NULL};
  CsimExecSpec spec = {.iters = 1, .seed = 1, .packets = TRUE};
  g_autoptr(Lab) lab = lab_new(target, 0, soon, NULL, &spec);
  lab_call(lab, CSIM_COLL_ALLTOALL, 1 << 24);
  const CsimPacketTotals *t = &csim_exec_packets(lab->exec)->totals;
  g_test_message("%s: %" G_GUINT64_FORMAT " pauses, %" G_GUINT64_FORMAT " dropped", headroom, t->pauses, t->dropped);
  g_assert_cmpuint(t->pauses, >, 0);
  if (drops) g_assert_cmpuint(t->dropped, >, 0);
  else g_assert_cmpuint(t->dropped, ==, 0);
}

static void test_lossless(void) {
  lossless("", FALSE);
  lossless(", \"headroom\": \"1KiB\"", TRUE);
}

/* The same run twice: the same history. */
static void test_deterministic(void) {
  CsimExecResult first = {0};
  for (int i = 0; i < 2; i++) {
    CsimExecSpec spec = {.iters = 5, .seed = 3, .packets = TRUE, .digest = TRUE};
    g_autoptr(Lab) lab = lab_new("{\"nodes\": [{\"count\": 4, \"xml\": \"dgx-h100\"}], \"fabric\": {\"transport\": \"roce\"}}", 0, NULL, NULL, &spec);
    CsimExecResult result = lab_call(lab, CSIM_COLL_ALL_REDUCE, 1 << 22);
    if (i == 0) first = result;
    g_assert_cmpuint(result.digest, ==, first.digest);
    g_assert_cmpuint(result.events, ==, first.events);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/packet/uncontended", test_uncontended);
  g_test_add_func("/packet/default", test_default);
  g_test_add_func("/packet/lossless", test_lossless);
  g_test_add_func("/packet/deterministic", test_deterministic);
  return g_test_run();
}
