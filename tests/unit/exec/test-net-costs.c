/*
 * What a network message costs besides its wire: each mechanism of docs/models/network.md changes the times where it should, and nowhere else.
 */
#include "lab.h"

#include "topo/machine.h"

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

static double time_us(const char *target, guint gpus, const char *const *env, const char *const *sets, CsimColl coll, CsimBytes bytes) {
  CsimExecSpec spec = {.iters = 5, .seed = 1};
  g_autoptr(Lab) lab = lab_new(target, gpus, env, sets, &spec);
  return lab_call(lab, coll, bytes).time_us;
}

/* One queue pair sends message by message, each acknowledged before the next; two take turns and fill the adapter. */
static void test_queue_pair(void) {
  static const char *const one[] = {"NCCL_ALGO=Ring", NULL}, *const two[] = {"NCCL_ALGO=Ring", "NCCL_IB_QPS_PER_CONNECTION=2", NULL};
  static const char *const free[] = {"ib.stream=0B/s", NULL};
  double slow = time_us("dgx-b200*2", 0, one, NULL, CSIM_COLL_ALL_REDUCE, 4 * GIB), fast = time_us("dgx-b200*2", 0, two, NULL, CSIM_COLL_ALL_REDUCE, 4 * GIB);
  g_assert_cmpfloat(slow, >, 1.10 * fast);
  g_assert_cmpfloat(slow, <, 1.30 * fast);
  /* 16 channels, 22 GB/s each less a round trip of at most 6 us for each MiB. */
  double busbw = 4 * (double)GIB * 15 / 8 / slow * 1e-3;
  g_assert_cmpfloat(busbw, <, 16 * 22);
  g_assert_cmpfloat(busbw, >, 16 * 22 / (1 + 6 * 22e3 / (double)MIB));
  g_assert_cmpfloat(time_us("dgx-b200*2", 0, one, free, CSIM_COLL_ALL_REDUCE, 4 * GIB), <=, fast);
}

/* The more ranks, the fewer channels a peer has (NCCL's rule), and a channel is bound by its window: send/recv slows down. */
static void test_channels_a_peer(void) {
  double four = time_us("dgx-b200*4", 0, NULL, NULL, CSIM_COLL_SENDRECV, 32 * MIB), two = time_us("dgx-b200*8", 0, NULL, NULL, CSIM_COLL_SENDRECV, 32 * MIB);
  g_assert_cmpfloat(two, >, 1.4 * four);
  g_assert_cmpfloat(two, <, 2.1 * four);
}

/* The kernel of a send/recv waits for the proxy, a collective's does not. */
static void test_hand_out(void) {
  static const char *const at_once[] = {"proxy.p2p_start=0us", NULL};
  double with = time_us("dgx-h100*2", 1, NULL, NULL, CSIM_COLL_SENDRECV, 1 * KIB), without = time_us("dgx-h100*2", 1, NULL, at_once, CSIM_COLL_SENDRECV, 1 * KIB);
  g_assert_cmpfloat(with - without, >, 15);
  g_assert_cmpfloat(time_us("dgx-h100*2", 1, NULL, NULL, CSIM_COLL_ALL_REDUCE, 1 * KIB), ==,
                    time_us("dgx-h100*2", 1, NULL, at_once, CSIM_COLL_ALL_REDUCE, 1 * KIB));
}

/* libfabric: a ring's proxy takes in one copied message a rank, one after the other; messages of 4 KiB and less are not copied. */
static void test_copied_messages(void) {
  static const char *const never[] = {"slingshot.extra_step=0us", NULL};
  static const char target[] = "{\"nodes\": [{\"count\": 4, \"xml\": \"polaris\"}], \"fabric\": {\"transport\": \"slingshot\"}}";
  double with = time_us(target, 0, NULL, NULL, CSIM_COLL_ALL_GATHER, 64 * KIB), without = time_us(target, 0, NULL, never, CSIM_COLL_ALL_GATHER, 64 * KIB);
  g_assert_cmpfloat(with - without, >=, 0);
  g_assert_cmpfloat(time_us(target, 0, NULL, NULL, CSIM_COLL_ALL_GATHER, 8 * KIB), ==, time_us(target, 0, NULL, never, CSIM_COLL_ALL_GATHER, 8 * KIB));
  with = time_us(target, 0, NULL, NULL, CSIM_COLL_ALL_GATHER, 256 * KIB);
  g_assert_cmpfloat(with, >, 15 * 9.0); /* 15 messages, 9 us each */
}

/* Sockets inside a host are copies of the two proxies: the interface's rate does not matter, the copies do. */
static void test_loopback(void) {
  static const char *const env[] = {"NCCL_P2P_DISABLE=1", "NCCL_SHM_DISABLE=1", "NCCL_NET=Socket", NULL};
  static const char *const slow_wire[] = {"socket.share=0.01", NULL}, *const slow_copy[] = {"loopback.copy=1GB/s", NULL};
  static const char target[] = "{\"nodes\": [{\"count\": 1, \"xml\": \"dgx-h100\"}], \"fabric\": {\"transport\": \"socket\"}}";
  double t = time_us(target, 2, env, NULL, CSIM_COLL_ALL_REDUCE, 64 * MIB);
  g_assert_cmpfloat(t, ==, time_us(target, 2, env, slow_wire, CSIM_COLL_ALL_REDUCE, 64 * MIB));
  /* Each rank sends and receives 64 MiB: at least 128 MiB copied by one thread. */
  double copies = 128.0 * (double)MIB / 7.7e9 * 1e6;
  g_assert_cmpfloat(t, >, copies);
  g_assert_cmpfloat(t, <, 1.2 * copies);
  g_assert_cmpfloat(time_us(target, 2, env, slow_copy, CSIM_COLL_ALL_REDUCE, 64 * MIB), >, 6 * t);
}

/* NVLS between nodes: a head's messages go through its own adapter, on every channel. */
static void test_heads_use_their_nics(void) {
  g_autoptr(Lab) lab = lab_new("dgx-b200*2", 0, NULL, NULL, NULL);
  for (int head = 0; head < 8; head++)
    for (int channel = 0; channel < 16; channel++) {
      CsimConn conn = csim_comm_conn_graph(lab->comm, CSIM_GRAPH_NVLS, channel, head, head + 8);
      g_assert_cmpint(conn.kind, ==, CSIM_CONN_NET);
      g_assert_cmpint(conn.send_net, ==, head);
      g_assert_cmpint(conn.recv_net, ==, head);
      g_assert_cmpint(conn.pxn_rank, ==, -1);
    }
}

/* A NIC and a GPU that meet at a host bridge keep pcie.root_share; behind one switch they keep all. */
static double nic_capacity(const char *target, guint gpu, guint nic) {
  g_autoptr(Lab) lab = lab_new(target, 0, NULL, NULL, NULL);
  CsimRoute route;
  g_assert_true(csim_machine_route_nic(lab->machine, (CsimGpuRef){0, gpu}, (CsimNicRef){0, nic}, TRUE, TRUE, &route, NULL));
  double narrowest = 1e18;
  for (guint i = 0; i < route.n; i++) {
    double rate = (double)csim_machine_link(lab->machine, route.link[i].link).capacity / route.link[i].weight;
    narrowest = MIN(narrowest, rate);
  }
  return narrowest;
}

static void test_host_bridge(void) {
  static const char target[] = "{\"nodes\": [{\"count\": 2, \"xml\": \"polaris\"}], \"fabric\": {\"transport\": \"slingshot\"}}";
  double turned = nic_capacity(target, 1, 0);
  g_assert_cmpfloat(turned, >, 17.5e9);
  g_assert_cmpfloat(turned, <, 18.5e9);
  g_assert_cmpfloat(nic_capacity("dgx-a100*2", 0, 0), >, 26e9);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/net-costs/queue-pair", test_queue_pair);
  g_test_add_func("/net-costs/channels-a-peer", test_channels_a_peer);
  g_test_add_func("/net-costs/hand-out", test_hand_out);
  g_test_add_func("/net-costs/copied-messages", test_copied_messages);
  g_test_add_func("/net-costs/loopback", test_loopback);
  g_test_add_func("/net-costs/heads-use-their-nics", test_heads_use_their_nics);
  g_test_add_func("/net-costs/host-bridge", test_host_bridge);
  return g_test_run();
}
