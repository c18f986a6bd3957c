/*
 * exec/collnet-build.c - heads' connections with a reducing network; trees, batches and members of a call.
 */
#include "exec/collnet-private.h"

#include <stdlib.h>

/* --- one connection -------------------------------------------------------------------------------------------------- */

static int graph_of(CsimAlgo algo) {
  return algo == CSIM_ALGO_COLLNET_CHAIN ? CSIM_GRAPH_COLLNET_CHAIN : algo == CSIM_ALGO_COLLNET_DIRECT ? CSIM_GRAPH_COLLNET_DIRECT : CSIM_GRAPH_NVLS;
}

/* The first node's head of an aggregation group. */
static int first_member(const CsimExec *x, int channel, int group) {
  const CsimShape *s = &x->shape;
  const int *ranks;
  int first = s->node_first(s->data, 0);
  if (x->choice.algo == CSIM_ALGO_NVLS) return s->nvls_head(s->data, first, group);
  if (x->choice.algo == CSIM_ALGO_COLLNET_DIRECT) return s->direct_head(s->data, first, group);
  int n = s->node_ranks(s->data, first, &ranks);
  for (int i = 0; i < n; i++) {
    int up, down;
    s->chain(s->data, channel, ranks[i], &up, &down);
    if (up < 0) return ranks[i];
  }
  g_assert_not_reached();
}

/* From the GPU to the wire and back; each in its own stretch of x->links. */
static gboolean set_wires(CsimExec *x, Net *n, const CsimConn *how, CsimGpuRef gpu, CsimNicRef nic, GError **error) {
  const CsimMachine *m = x->spec.machine;
  CsimRoute out, back, wires;
  if (!csim_machine_route_nic(m, gpu, nic, how->send_gdr, TRUE, &out, error)) return FALSE;
  if (!csim_machine_route_nic(m, gpu, nic, how->recv_gdr, FALSE, &back, error)) return FALSE;
  if (!csim_machine_route_fabric(m, nic, nic, 0, NULL, &wires, error)) return FALSE;
  out.link[out.n++] = wires.link[0];
  back.link[back.n++] = wires.link[wires.n - 1];
  n->links = x->links->len;
  n->n_links = (uint16_t)exec_add_route(x, &out);
  n->back_links = x->links->len;
  n->n_back_links = (uint16_t)exec_add_route(x, &back);
  n->near = out.latency + x->net_model.endpoint;
  n->far = back.latency + x->net_model.endpoint;
  n->latency = n->near + n->far;
  return TRUE;
}

/* Up and down the tree between a member and the first one, as if the root lay half-way: the farthest member's is the tree's. */
static gboolean add_tree_latency(CsimExec *x, Net *n, CsimNicRef first, CsimNicRef nic, GError **error) {
  const CsimMachine *m = x->spec.machine;
  CsimSharpModel sharp;
  CsimRoute route;
  guint switches;
  if (!csim_machine_route_fabric(m, first, nic, 0, NULL, &route, error) || !csim_machine_switches(m, first, nic, &switches, error)) return FALSE;
  csim_sharp_model_init(csim_machine_catalogue(m), csim_machine_nic_line(m, nic), &sharp);
  n->latency += route.latency + (switches + 1) / 2 * sharp.reduce;
  return TRUE;
}

gboolean exec_collnet_conn(CsimExec *x, uint32_t index, GArray *nets, GError **error) {
  Conn *c = &x->conns[index];
  const Lane *l = &x->lanes[c->tx_lane];
  int root = first_member(x, l->channel, c->tag - CSIM_TAG_NETWORK);
  CsimConn how = csim_comm_collnet(x->spec.comm, graph_of(x->choice.algo), l->channel, (int)l->rank);
  CsimConn first = csim_comm_collnet(x->spec.comm, graph_of(x->choice.algo), l->channel, root);
  if (how.send_net < 0 || first.send_net < 0) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_ROUTE, "rank %u is a head of %s and has no NIC", l->rank, csim_algo_name(x->choice.algo));
    return FALSE;
  }
  CsimGpuRef gpu = exec_gpu_of(x, l->rank), root_gpu = exec_gpu_of(x, (uint32_t)root);
  CsimNicRef nic = {gpu.node, (guint)how.send_net}, root_nic = {root_gpu.node, (guint)first.send_net};
  Net n = {.conn = index, .tx_rank = l->rank, .rx_rank = l->rank, .flow_hint = CSIM_FLUID_HINT_NONE, .n_qps = 1, .collnet = TRUE,
           .root_rank = (uint32_t)root, .root_net = (uint16_t)first.send_net, .own_net = (uint16_t)how.send_net};
  if (exec_needs_flush(x, l->rank, &how)) n.flush = x->net_model.flush;
  if (!exec_set_net_buffers(x, c, &how, gpu, gpu, error)) return FALSE;
  if (!set_wires(x, &n, &how, gpu, nic, error) || !add_tree_latency(x, &n, root_nic, nic, error)) return FALSE;
  if (x->packets) exec_packets_skip(x);
  c->kind = CSIM_CONN_COLLNET;
  c->net = nets->len;
  g_array_append_val(nets, n);
  return TRUE;
}

/* --- trees ----------------------------------------------------------------------------------------------------------- */

typedef struct {
  uint32_t root_rank, root_net, batch, rank, channel, net;
} Slotted;

static int compare_uint(uint32_t a, uint32_t b) { return a < b ? -1 : a > b; }

static int by_channel(const void *a, const void *b) {
  const Slotted *p = a, *q = b;
  int order = compare_uint(p->root_rank, q->root_rank);
  if (order == 0) order = compare_uint(p->root_net, q->root_net);
  return order ? order : compare_uint(p->channel, q->channel);
}

static int by_batch(const void *a, const void *b) {
  const Slotted *p = a, *q = b;
  int order = compare_uint(p->root_rank, q->root_rank);
  if (order == 0) order = compare_uint(p->root_net, q->root_net);
  if (order == 0) order = compare_uint(p->batch, q->batch);
  if (order == 0) order = compare_uint(p->rank, q->rank);
  return order ? order : compare_uint(p->channel, q->channel);
}

static gboolean same_tree(const Slotted *a, const Slotted *b) { return a->root_rank == b->root_rank && a->root_net == b->root_net; }

static GArray *list_slots(const CsimExec *x) {
  GArray *slots = g_array_new(FALSE, FALSE, sizeof(Slotted));
  for (uint32_t i = 0; i < x->n_nets; i++) {
    const Net *n = &x->nets[i];
    if (!n->collnet) continue;
    Slotted s = {n->root_rank, n->root_net, 0, n->tx_rank, x->lanes[x->conns[n->conn].tx_lane].channel, i};
    g_array_append_val(slots, s);
  }
  return slots;
}

/* Channels of a tree in order, eight a batch. */
static void number_batches(GArray *slots) {
  uint32_t place = 0;
  g_array_sort(slots, by_channel);
  for (guint i = 0; i < slots->len; i++) {
    Slotted *s = &g_array_index(slots, Slotted, i);
    gboolean goes_on = i > 0 && same_tree(s, s - 1);
    place = !goes_on ? 0 : s->channel != (s - 1)->channel ? place + 1 : place;
    s->batch = place / COLLNET_BATCH;
  }
  g_array_sort(slots, by_batch);
}

static uint32_t domain_of(CsimExec *x, const Slotted *s, GHashTable *switches) {
  struct Collnet *n = x->collnet;
  CsimNicRef nic = {exec_gpu_of(x, s->root_rank).node, s->root_net};
  gpointer key = GUINT_TO_POINTER(csim_machine_leaf(x->spec.machine, nic) + 1), known;
  gboolean shared = csim_sharp_one_stream_per_switch(&n->sharp);
  if (shared && g_hash_table_lookup_extended(switches, key, NULL, &known)) return GPOINTER_TO_UINT(known);
  Domain domain = {0};
  g_array_append_val(n->domains, domain);
  if (shared) g_hash_table_insert(switches, key, GUINT_TO_POINTER(n->domains->len - 1));
  return n->domains->len - 1;
}

static void begin_tree(CsimExec *x, const Slotted *s, GHashTable *switches) {
  Tree tree = {.first_batch = x->collnet->batches->len, .domain = domain_of(x, s, switches)};
  g_array_append_val(x->collnet->trees, tree);
}

static void begin_batch(CsimExec *x, const Slotted *s) {
  Batch batch = {.tree = x->collnet->trees->len - 1, .first_member = x->collnet->members->len};
  g_array_append_val(x->collnet->batches, batch);
  collnet_tree(x, batch.tree)->n_batches++;
}

static void begin_member(CsimExec *x, const Slotted *s, uint32_t at) {
  Member member = {.group = x->collnet->batches->len - 1, .rank = s->rank, .first_net = at, .latency = x->nets[s->net].latency,
                   .out_hint = CSIM_FLUID_HINT_NONE, .back_hint = CSIM_FLUID_HINT_NONE, .both_hint = CSIM_FLUID_HINT_NONE};
  g_array_append_val(x->collnet->members, member);
  Batch *batch = collnet_batch(x, member.group);
  batch->n_members++;
  batch->latency = MAX(batch->latency, member.latency);
}

static void take_slot(CsimExec *x, const Slotted *s, uint32_t at) {
  struct Collnet *n = x->collnet;
  uint32_t number = n->members->len - 1;
  n->nets[at] = s->net;
  n->member_of[s->net] = number;
  collnet_member(x, number)->n_nets++;
}

static void list_trees(CsimExec *x, GArray *slots) {
  g_autoptr(GHashTable) switches = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < slots->len; i++) {
    const Slotted *s = &g_array_index(slots, Slotted, i), *last = i > 0 ? s - 1 : NULL;
    gboolean tree = !last || !same_tree(s, last), batch = tree || s->batch != last->batch;
    if (tree) begin_tree(x, s, switches);
    if (batch) begin_batch(x, s);
    if (batch || s->rank != last->rank) begin_member(x, s, i);
    take_slot(x, s, i);
  }
}

gboolean exec_collnet_begin(CsimExec *x, GError **error) {
  g_autoptr(GArray) slots = list_slots(x);
  if (slots->len == 0) return TRUE;
  struct Collnet *n = x->collnet = g_new0(struct Collnet, 1);
  const Slotted *any = &g_array_index(slots, Slotted, 0);
  CsimNicRef nic = {exec_gpu_of(x, any->root_rank).node, any->root_net};
  csim_sharp_model_init(csim_machine_catalogue(x->spec.machine), csim_machine_nic_line(x->spec.machine, nic), &n->sharp);
  n->nets = g_new(uint32_t, slots->len);
  n->member_of = g_new(uint32_t, x->n_nets);
  n->members = g_array_new(FALSE, FALSE, sizeof(Member));
  n->batches = g_array_new(FALSE, FALSE, sizeof(Batch));
  n->trees = g_array_new(FALSE, FALSE, sizeof(Tree));
  n->domains = g_array_new(FALSE, FALSE, sizeof(Domain));
  number_batches(slots);
  list_trees(x, slots);
  return !x->packets || collnet_packets_begin(x, error);
}

void exec_collnet_end(CsimExec *x) {
  struct Collnet *n = x->collnet;
  if (!n) return;
  g_array_unref(n->members);
  g_array_unref(n->batches);
  g_array_unref(n->trees);
  g_array_unref(n->domains);
  g_free(n->nets);
  g_free(n->member_of);
  g_clear_pointer(&x->collnet, g_free);
}
