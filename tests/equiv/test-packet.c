/*
 * Packets and flows tell the same time where nothing queues: every collective on 2 to 64 GPUs over InfiniBand and RoCE. After each packet
 * run the network has proved that every frame and byte is accounted for (a call that does not is an error).
 *
 * Uncontended: one channel of rings, so that an adapter carries one message at a time each way (a tree has two children on one). A gather is an
 * incast on the root's adapter, which both levels share evenly: it agrees like the rest. Where several channels share an adapter for many
 * messages they drift apart as packets, and not as flows (/packet/shared); those runs are held to a wider limit.
 */
#include "../unit/exec/lab.h"

#include <math.h>

static const char *const fabrics[] = {"ib", "roce"}; /* queue pairs */
static const char *const others[] = {"socket", "slingshot", "efa"};
static const CsimColl colls[] = {CSIM_COLL_ALL_REDUCE, CSIM_COLL_ALL_GATHER, CSIM_COLL_REDUCE_SCATTER, CSIM_COLL_BROADCAST, CSIM_COLL_REDUCE,
                                 CSIM_COLL_ALLTOALL,   CSIM_COLL_SENDRECV,   CSIM_COLL_GATHER,         CSIM_COLL_SCATTER,   CSIM_COLL_HYPERCUBE};

typedef struct {
  guint nodes, gpus; /* gpus a node, 0: all */
  const char *const *env;
  const char *fabric, *faults; /* more members of the cluster's "fabric", more members of the cluster; NULL: none */
} Machine;

static CsimExecResult call(const Machine *m, const char *transport, gboolean packets, CsimColl coll, CsimBytes bytes) {
  g_autofree char *target = g_strdup_printf("{\"nodes\": [{\"count\": %u, \"xml\": \"dgx-h100\"}], \"fabric\": {\"transport\": \"%s\"%s}%s}", m->nodes,
                                            transport, m->fabric ? m->fabric : "", m->faults ? m->faults : "");
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

static const char *const several_qps[] = {"NCCL_MIN_NCHANNELS=1", "NCCL_MAX_NCHANNELS=1", "NCCL_NVLS_ENABLE=0", "NCCL_ALGO=Ring",
                                          "NCCL_IB_QPS_PER_CONNECTION=4", NULL};
static const char *const split_qps[] = {"NCCL_MIN_NCHANNELS=1", "NCCL_MAX_NCHANNELS=1", "NCCL_NVLS_ENABLE=0", "NCCL_ALGO=Ring",
                                        "NCCL_IB_QPS_PER_CONNECTION=4", "NCCL_IB_SPLIT_DATA_ON_QPS=1", NULL};

/* Fabrics of every kind, broken cables, several queue pairs: a ring of one GPU a node meets nobody. */
static void test_shapes(void) {
#define TREE ", \"kind\": \"fat-tree\", \"radix\": 8"
  static const Machine machines[] = {
      {8, 1, one_channel, TREE, NULL},
      {8, 1, one_channel, ", \"kind\": \"fat-tree\", \"radix\": 8, \"tiers\": 3, \"routing\": \"static\"", NULL},
      {8, 1, one_channel, TREE ", \"routing\": \"adaptive\"", ", \"faults\": [{\"kind\": \"link\", \"at\": \"leaf0-spine0.1\", \"rate\": 0}]"},
      {8, 1, one_channel, TREE ", \"routing\": \"static\"", ", \"faults\": [{\"kind\": \"link\", \"at\": \"leaf0-spine0.*\", \"rate\": 0.5}]"},
      {8, 1, one_channel, ", \"planes\": 2, \"routing\": \"ecmp\"", NULL},
      {8, 1, one_channel, ", \"planes\": 2, \"routing\": \"adaptive\"", NULL},
      {8, 1, one_channel, ", \"kind\": \"torus\", \"dims\": [4, 2]", NULL},
      {8, 1, one_channel, ", \"kind\": \"torus\", \"dims\": [2, 2, 2], \"routing\": \"ecmp\"", NULL},
      {8, 1, one_channel, ", \"kind\": \"dragonfly\", \"radix\": 12, \"routing\": \"adaptive\"", NULL},
      {8, 1, one_channel, ", \"kind\": \"dragonfly+\", \"radix\": 16, \"routing\": \"ecmp\"", NULL},
      {4, 1, one_channel, ", \"kind\": \"links\", \"links\": [{\"from\": \"a\", \"to\": \"b\", \"cables\": 8}], \"attach\": "
                          "[{\"switch\": \"a\", \"hosts\": \"node[0-1]\"}, {\"switch\": \"b\", \"hosts\": \"node[2-3]\"}]", NULL},
      {8, 1, several_qps, NULL, NULL},
      {8, 1, several_qps, ", \"planes\": 2, \"routing\": \"adaptive\"", NULL},
      {8, 1, split_qps, NULL, NULL},
      {8, 1, split_qps, ", \"planes\": 2, \"routing\": \"adaptive\"", NULL},
  };
  for (guint m = 0; m < G_N_ELEMENTS(machines); m++)
    for (guint f = 0; f < G_N_ELEMENTS(fabrics); f++)
      for (CsimBytes bytes = 1 << 13; bytes <= 1 << 23; bytes <<= 5) {
        g_test_message("%s%s", machines[m].fabric ? machines[m].fabric : "", machines[m].faults ? machines[m].faults : "");
        double off = difference(&machines[m], fabrics[f], CSIM_COLL_ALL_REDUCE, bytes);
        g_assert_cmpfloat(fabs(off), <, 0.02);
      }
}

/* The same fabrics without queue pairs; TCP keeps to one way, and to one plane. */
static void test_other_shapes(void) {
  static const Machine machines[] = {
      {8, 1, one_channel, TREE, NULL},
      {8, 1, one_channel, TREE ", \"routing\": \"adaptive\"", ", \"faults\": [{\"kind\": \"link\", \"at\": \"leaf0-spine0.1\", \"rate\": 0}]"},
      {8, 1, one_channel, ", \"planes\": 2, \"routing\": \"ecmp\"", NULL},
      {8, 1, one_channel, ", \"planes\": 2, \"routing\": \"adaptive\"", NULL},
      {8, 1, one_channel, ", \"kind\": \"torus\", \"dims\": [4, 2]", NULL},
      {8, 1, one_channel, ", \"kind\": \"dragonfly\", \"radix\": 12, \"routing\": \"adaptive\"", NULL},
  };
  for (guint m = 0; m < G_N_ELEMENTS(machines); m++)
    for (guint f = 0; f < G_N_ELEMENTS(others); f++)
      for (CsimBytes bytes = 1 << 13; bytes <= 1 << 23; bytes <<= 5) {
        g_test_message("%s%s", machines[m].fabric, machines[m].faults ? machines[m].faults : "");
        g_assert_cmpfloat(fabs(difference(&machines[m], others[f], CSIM_COLL_ALL_REDUCE, bytes)), <, 0.02);
      }
}

/* Several sockets a connection: one message's pieces side by side. As packets the next message does not wait for the slowest piece of the one before. */
static void test_sockets(void) {
  static const char *const sockets[] = {"NCCL_MIN_NCHANNELS=1", "NCCL_MAX_NCHANNELS=1", "NCCL_ALGO=Ring", "NCCL_PROTO=Simple", "NCCL_SOCKET_NTHREADS=2",
                                        "NCCL_NSOCKS_PERTHREAD=2", NULL};
  static const Machine several = {4, 1, sockets, NULL, NULL}, one = {4, 1, one_channel, NULL, NULL};
  double off = difference(&several, "socket", CSIM_COLL_ALL_REDUCE, 1 << 26);
  g_assert_cmpfloat(off, <, 0.02);
  g_assert_cmpfloat(off, >, -0.05);
  g_assert_cmpfloat(call(&several, "socket", TRUE, CSIM_COLL_ALL_REDUCE, 1 << 26).time_us, <,
                    0.5 * call(&one, "socket", TRUE, CSIM_COLL_ALL_REDUCE, 1 << 26).time_us);
}

/* Reduction in the switches: one switch, and leaves and spines with as many cables as trees need. Widest: 8 KiB by
 * NVLS, two tiers, reduce_scatter, 2.2 % longer as packets (several operations a call, each in bursts of four payloads). */
static void test_sharp(void) {
  static const char *const envs[][6] = {{"NCCL_COLLNET_ENABLE=1", "NCCL_ALGO=CollnetDirect", NULL}, {"NCCL_COLLNET_ENABLE=1", "NCCL_ALGO=CollnetChain", NULL},
                                        {"NCCL_COLLNET_ENABLE=1", "NCCL_ALGO=NVLS", NULL}};
  static const CsimColl sharp[] = {CSIM_COLL_ALL_REDUCE, CSIM_COLL_ALL_GATHER, CSIM_COLL_REDUCE_SCATTER};
  for (guint e = 0; e < G_N_ELEMENTS(envs); e++)
    for (guint c = 0; c < (e == 1 ? 1 : G_N_ELEMENTS(sharp)); c++)
      for (CsimBytes bytes = 1 << 13; bytes <= 1 << 25; bytes <<= 6) {
        Machine one = {4, 0, envs[e], ", \"sharp\": true", NULL};
        Machine two = {8, 0, envs[e], ", \"sharp\": true, \"kind\": \"fat-tree\", \"radix\": 32", NULL};
        double limit = e == 2 && c == 2 && bytes == 1 << 13 ? 0.03 : 0.02;
        g_assert_cmpfloat(fabs(difference(&one, "ib", sharp[c], bytes)), <, limit);
        g_assert_cmpfloat(fabs(difference(&two, "ib", sharp[c], bytes)), <, limit);
      }
}

/* Messages of 1 MiB and more: a queue pair's own rate, not the adapter's. */
static void test_stream(void) {
  static const char *const large[] = {"NCCL_MIN_NCHANNELS=1", "NCCL_MAX_NCHANNELS=1", "NCCL_ALGO=Ring", "NCCL_PROTO=Simple", "NCCL_BUFFSIZE=16777216", NULL};
  static const Machine machine = {2, 1, large, NULL, NULL};
  for (guint f = 0; f < G_N_ELEMENTS(fabrics); f++)
    g_assert_cmpfloat(fabs(difference(&machine, fabrics[f], CSIM_COLL_ALL_REDUCE, 1 << 26)), <, 0.02);
}

/* Transports without queue pairs. */
static void test_others(void) {
  static const Machine machines[] = {{2, 1, one_channel, NULL, NULL}, {4, 1, one_channel, NULL, NULL}, {8, 1, one_channel, NULL, NULL}, {32, 2, one_channel, NULL, NULL}};
  static const CsimBytes sizes[] = {1 << 13, 1 << 18, 1 << 21};
  for (guint m = 0; m < G_N_ELEMENTS(machines); m++)
    for (guint f = 0; f < G_N_ELEMENTS(others); f++)
      for (guint c = 0; c < G_N_ELEMENTS(colls); c++)
        for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
          double off = difference(&machines[m], others[f], colls[c], sizes[s]);
          g_assert_cmpfloat(fabs(off), <, 0.02);
        }
}

static void test_uncontended(void) {
  static const Machine machines[] = {{2, 1, one_channel, NULL, NULL}, {4, 1, one_channel, NULL, NULL}, {8, 1, one_channel, NULL, NULL}, {32, 2, one_channel, NULL, NULL}};
  static const CsimBytes sizes[] = {1 << 13, 1 << 18, 1 << 21};
  for (guint m = 0; m < G_N_ELEMENTS(machines); m++)
    for (guint f = 0; f < G_N_ELEMENTS(fabrics); f++)
      for (guint c = 0; c < G_N_ELEMENTS(colls); c++)
        for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
          double off = difference(&machines[m], fabrics[f], colls[c], sizes[s]);
          g_assert_cmpfloat(fabs(off), <, 0.02);
        }
}

static void test_default(void) {
  static const Machine machines[] = {{2, 0, NULL, NULL, NULL}, {8, 0, NULL, NULL, NULL}};
  static const CsimBytes sizes[] = {1 << 13, 1 << 18, 1 << 23};
  guint n = 0, close = 0;
  for (guint m = 0; m < (g_test_slow() ? G_N_ELEMENTS(machines) : 1); m++)
    for (guint f = 0; f < G_N_ELEMENTS(fabrics); f++)
      for (guint c = 0; c < G_N_ELEMENTS(colls); c++)
        for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
          n++;
          double off = difference(&machines[m], fabrics[f], colls[c], sizes[s]);
          /* The root's adapters take in from 56 senders at once: contended, +13 % at 8 MiB. */
          gboolean incast = colls[c] == CSIM_COLL_GATHER && machines[m].nodes > 2;
          g_assert_cmpfloat(fabs(off), <, incast ? 0.15 : 0.05);
          close += fabs(off) < 0.02;
        }
  g_test_message("%u of %u within 2 %%", close, n);
  g_assert_cmpuint(close * 100, >=, n * 95);
}

/* Two channels that have messages on one adapter at the same time. As flows both have half of it, so that the one that is ahead stays as far ahead;
 * as packets in turn the one ahead sends its last packet first and gains one packet's time a message, until they no longer meet. Each waits for its
 * receiver between messages, so then the adapter idles less. The difference is a matter of the packets' size: small ones come near to flows. */
static void test_shared(void) {
  static const char *const two_channels[] = {"NCCL_MAX_P2P_NCHANNELS=2", "NCCL_MIN_P2P_NCHANNELS=2", NULL};
  const Machine small = {2, 1, two_channels, ", \"mtu\": 256", NULL}, usual = {2, 1, two_channels, ", \"mtu\": 4096", NULL};
  for (CsimBytes bytes = 1 << 22; bytes <= 1 << 24; bytes <<= 1) {
    double near = difference(&small, "ib", CSIM_COLL_SENDRECV, bytes), off = difference(&usual, "ib", CSIM_COLL_SENDRECV, bytes);
    g_assert_cmpfloat(fabs(near), <, 0.01);
    g_assert_cmpfloat(off, <, 0);
    g_assert_cmpfloat(off, >, -0.07);
  }
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
  g_test_add_func("/packet/others", test_others);
  g_test_add_func("/packet/other-shapes", test_other_shapes);
  g_test_add_func("/packet/sockets", test_sockets);
  g_test_add_func("/packet/shapes", test_shapes);
  g_test_add_func("/packet/stream", test_stream);
  g_test_add_func("/packet/sharp", test_sharp);
  g_test_add_func("/packet/default", test_default);
  g_test_add_func("/packet/shared", test_shared);
  g_test_add_func("/packet/lossless", test_lossless);
  g_test_add_func("/packet/deterministic", test_deterministic);
  return g_test_run();
}
