/*
 * models/pkt/tree.c - aggregation trees: switches that reduce packets on their way up and copy the result on its way down.
 *
 * A member's half is a queue pair without acknowledgements. Its frames (PKT_UP) are numbered alike on all members, so that an aggregation node
 * needs to count only: the frame with which the count is full goes on, the others end there. The root turns what is complete round (PKT_DOWN).
 * An aggregation node has memory of its own, so a frame leaves its link's buffer on arrival: frames of two trees that wait for each other's
 * partners never hold up a cable. How much of it is used is bounded by what the members may have under way.
 */
#include "models/pkt/pkt-private.h"

#include <string.h>

#define FIRST_RING 64
#define FIRST_OPS 16
#define OWNER_SHIFT GAP_PSN_BITS /* of a frame on its way down: whose it is, all members' if WHOLE */
#define ALL_MEMBERS 0x3fffff

typedef struct {
  guint node;
  uint32_t parent;    /* egress port, NONE: the root */
  GArray *children;   /* uint32_t egress ports, members' or aggregation nodes' */
  uint16_t *child_of; /* by member: which of them, UINT16_MAX: none */
  uint16_t *count;    /* ring by PSN: frames that have come */
  int64_t size, low;  /* of the ring; the first PSN not complete */
} Stage;

typedef struct {
  CsimPktReduction kind;
  int64_t *first;     /* SCATTER: first packet of each member, and their number at the end */
  int64_t packets;    /* in all: GATHER */
} Op;

struct PktTree {
  CsimTime reduce;
  guint n_members, n_nodes;
  uint32_t *member_qp;
  uint32_t *member_at; /* by node of the network: member, NONE */
  uint32_t *node_at;   /* by node of the network: aggregation node, NONE */
  Stage *nodes;
  Op *ops;             /* ring */
  uint32_t ops_size, next_op, oldest;
  CsimPktReduction kind;
  uint32_t *landed;    /* by member: operations complete */
  int64_t *got;        /* by member and op of the ring: frames that have come */
  uint64_t waiting;    /* frames counted whose partners have not come */
};

/* ---- building ---- */

static uint32_t farthest(CsimPktNet *net, guint node, const guint *hosts, guint n) {
  uint32_t most = 0;
  for (guint i = 0; i < n; i++) most = MAX(most, pkt_distances_to(net, hosts[i])[node]);
  return most;
}

/* Of the switches that are nearest to the farthest member, the `number`-th. *turn: how often trees have gone round them before. */
static guint choose_root(CsimPktNet *net, const guint *hosts, guint n, guint number, guint *turn) {
  g_autoptr(GArray) best = g_array_new(FALSE, FALSE, sizeof(guint));
  uint32_t least = G_MAXUINT8;
  for (guint s = 0; s < net->n_nodes; s++) {
    uint32_t far = net->nodes[s].is_host ? G_MAXUINT8 : farthest(net, s, hosts, n);
    if (far >= G_MAXUINT8 || far > least) continue;
    if (far < least) g_array_set_size(best, 0);
    least = far;
    g_array_append_val(best, s);
  }
  *turn = number / MAX(best->len, 1);
  return best->len ? g_array_index(best, guint, number % best->len) : NONE;
}

static uint32_t add_node(PktTree *tree, guint at) {
  tree->nodes = g_renew(Stage, tree->nodes, tree->n_nodes + 1);
  tree->nodes[tree->n_nodes] = (Stage){.node = at, .parent = NONE, .children = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                                       .child_of = g_new(uint16_t, tree->n_members), .count = g_new0(uint16_t, FIRST_RING), .size = FIRST_RING};
  memset(tree->nodes[tree->n_nodes].child_of, 0xff, tree->n_members * sizeof(uint16_t));
  tree->node_at[at] = tree->n_nodes;
  return tree->n_nodes++;
}

static uint16_t child_number(Stage *node, uint32_t port) {
  for (guint i = 0; i < node->children->len; i++)
    if (g_array_index(node->children, uint32_t, i) == port) return (uint16_t)i;
  g_array_append_val(node->children, port);
  return (uint16_t)(node->children->len - 1);
}

/* The turn-th cable towards the root: trees share them out as a subnet manager that knows all of them would. */
static uint32_t parent_port(const CsimPktNet *net, guint at, const guint8 *far, guint turn) {
  const GArray *ports = net->nodes[at].ports;
  guint n = 0, wanted = 0;
  for (guint pass = 0; pass < 2; pass++, wanted = turn % n, n = 0)
    for (guint i = 0; i < ports->len; i++) {
      guint port = g_array_index(ports, guint, i);
      if (far[net->ports[port].peer_node] + 1 != far[at]) continue;
      if (pass == 1 && n == wanted) return port;
      n++;
    }
  g_assert_not_reached();
}

/* From a member's port to the root; switches join the tree as they are met. */
static void climb(CsimPktNet *net, PktTree *tree, guint member, guint host, guint root, guint turn) {
  const guint8 *far = pkt_distances_to(net, root);
  uint32_t up = g_array_index(net->nodes[host].ports, guint, 0);
  for (;;) {
    guint at = net->ports[up].peer_node;
    gboolean known = tree->node_at[at] != NONE;
    uint32_t i = known ? tree->node_at[at] : add_node(tree, at);
    tree->nodes[i].child_of[member] = child_number(&tree->nodes[i], net->ports[up].peer);
    if (at == root) return;
    if (!known) tree->nodes[i].parent = parent_port(net, at, far, turn);
    up = tree->nodes[i].parent;
  }
}

static uint32_t add_member(CsimPktNet *net, guint host, uint32_t tree, uint32_t member, CsimRate rate) {
  Qp *qp = g_new0(Qp, 1);
  *qp = (Qp){.id = net->qps->len, .src = host, .dst = host, .next_ready = NONE, .watch_handler = CSIM_PKT_SILENT, .tree = tree, .member = member,
             .cap = rate};
  qp->stats.first_post = CSIM_TIME_NEVER;
  qp->path[0] = (uint16_t)g_array_index(net->nodes[host].ports, guint, 0);
  qp->n_path = 1;
  csim_rp_init(&qp->rp, &net->spec.dcqcn, net->ports[qp->path[0]].rate);
  csim_timer_init(&qp->timer, net->on_timeout, 0, qp->id, 0);
  g_ptr_array_add(net->qps, qp);
  return qp->id;
}

static void make_ops(PktTree *tree, uint32_t size) {
  tree->ops = g_new0(Op, size);
  tree->ops_size = size;
  for (uint32_t i = 0; i < size; i++) tree->ops[i].first = g_new0(int64_t, tree->n_members + 1);
  tree->got = g_new0(int64_t, (gsize)size * tree->n_members);
  tree->landed = g_new0(uint32_t, tree->n_members);
}

guint csim_pkt_add_tree(CsimPktNet *net, const guint *hosts, guint n, const CsimPktTreeSpec *spec, GError **error) {
  g_assert(net->spec.kind == CSIM_PKT_IB && n > 0 && n < ALL_MEMBERS);
  net->frozen = TRUE;
  guint turn, root = choose_root(net, hosts, n, spec->number, &turn);
  if (root == NONE) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_ROUTE, "no switch reaches all %u members of an aggregation tree", n);
    return NONE;
  }
  PktTree *tree = g_new0(PktTree, 1);
  *tree = (PktTree){.reduce = spec->reduce, .n_members = n, .member_qp = g_new(uint32_t, n), .member_at = g_new(uint32_t, net->n_nodes),
                    .node_at = g_new(uint32_t, net->n_nodes)};
  memset(tree->member_at, 0xff, net->n_nodes * sizeof(uint32_t));
  memset(tree->node_at, 0xff, net->n_nodes * sizeof(uint32_t));
  make_ops(tree, FIRST_OPS);
  for (guint m = 0; m < n; m++) {
    g_assert(tree->member_at[hosts[m]] == NONE);
    tree->member_at[hosts[m]] = m;
    climb(net, tree, m, hosts[m], root, turn);
    tree->member_qp[m] = add_member(net, hosts[m], net->trees->len + 1, m, spec->rate);
  }
  g_ptr_array_add(net->trees, tree);
  return net->trees->len - 1;
}

void pkt_tree_free(gpointer data) {
  PktTree *tree = data;
  for (guint i = 0; i < tree->n_nodes; i++) {
    g_array_unref(tree->nodes[i].children);
    g_free(tree->nodes[i].child_of);
    g_free(tree->nodes[i].count);
  }
  for (uint32_t i = 0; i < tree->ops_size; i++) g_free(tree->ops[i].first);
  gpointer owned[] = {tree->member_qp, tree->member_at, tree->node_at, tree->nodes, tree->ops, tree->landed, tree->got, tree};
  for (guint i = 0; i < G_N_ELEMENTS(owned); i++) g_free(owned[i]);
}

static PktTree *tree_of(const CsimPktNet *net, const Qp *qp) { return net->trees->pdata[qp->tree - 1]; }

/* ---- operations ---- */

static int64_t packets_of(CsimBytes bytes, int mtu) { return bytes > 0 ? csim_pkt_message_packets(bytes, mtu) : 0; }

/* Packet i of a SCATTER belongs to the member in whose part its first byte lies. */
static void set_shares(const PktTree *tree, Op *op, const CsimPktReduce *what) {
  CsimBytes at = 0;
  op->packets = 0;
  for (guint m = 0; m < tree->n_members; m++) {
    op->first[m] = packets_of(at, what->mtu);
    if (what->part) at += what->part[m];
    if (what->kind == CSIM_PKT_GATHER) op->packets += packets_of(what->part[m], what->mtu);
  }
  op->first[tree->n_members] = packets_of(at, what->mtu);
}

static CsimBytes sum_of(const PktTree *tree, const CsimPktReduce *what) {
  CsimBytes sum = 0;
  for (guint m = 0; m < tree->n_members; m++) sum += what->part[m];
  return sum;
}

/* Room for one more operation. */
static void grow_ops(CsimPktNet *net, PktTree *tree) {
  Op *old = tree->ops;
  int64_t *got = tree->got;
  uint32_t *landed = tree->landed, size = tree->ops_size;
  make_ops(tree, 2 * size);
  for (uint32_t k = tree->oldest; k != tree->next_op; k++) {
    Op *to = &tree->ops[k & (2 * size - 1)], *from = &old[k & (size - 1)];
    int64_t *first = to->first;
    *to = *from;
    from->first = first;
    for (guint m = 0; m < tree->n_members; m++)
      tree->got[(gsize)(k & (2 * size - 1)) * tree->n_members + m] = got[(gsize)(k & (size - 1)) * tree->n_members + m];
  }
  memcpy(tree->landed, landed, tree->n_members * sizeof *landed);
  for (uint32_t i = 0; i < size; i++) g_free(old[i].first);
  g_free(old);
  g_free(got);
  g_free(landed);
  net->system_allocs++;
}

static void drop_old_ops(PktTree *tree) {
  uint32_t oldest = tree->next_op;
  for (guint m = 0; m < tree->n_members; m++)
    if (tree->next_op - tree->landed[m] > tree->next_op - oldest) oldest = tree->landed[m];
  tree->oldest = oldest;
}

static Op *new_op(CsimPktNet *net, PktTree *tree) {
  if (tree->next_op - tree->oldest == tree->ops_size) drop_old_ops(tree);
  if (tree->next_op - tree->oldest == tree->ops_size) grow_ops(net, tree);
  uint32_t slot = tree->next_op & (tree->ops_size - 1);
  memset(tree->got + (gsize)slot * tree->n_members, 0, tree->n_members * sizeof *tree->got);
  return &tree->ops[slot];
}

static int64_t expected(const PktTree *tree, uint32_t number, guint member) {
  const Op *op = &tree->ops[number & (tree->ops_size - 1)];
  return op->kind == CSIM_PKT_SCATTER ? op->first[member + 1] - op->first[member] : op->packets;
}

static int64_t *got(const PktTree *tree, uint32_t number, guint member) {
  return &tree->got[(gsize)(number & (tree->ops_size - 1)) * tree->n_members + member];
}

/* Operations end in order at every member. */
static void land(CsimPktNet *net, PktTree *tree, guint member, CsimTime arrival) {
  while (tree->landed[member] != tree->next_op && *got(tree, tree->landed[member], member) == expected(tree, tree->landed[member], member)) {
    tree->landed[member]++;
    pkt_tell_delivered(net, pkt_qp(net, tree->member_qp[member]), arrival);
  }
}

void csim_pkt_reduce(CsimPktNet *net, guint index, const CsimPktReduce *what, uint16_t handler, uint16_t kind) {
  PktTree *tree = net->trees->pdata[index];
  Op *op = new_op(net, tree);
  CsimBytes all = what->kind == CSIM_PKT_ALL_REDUCE ? what->bytes : sum_of(tree, what);
  g_assert(tree->next_op == 0 || tree->kind == what->kind); /* else members would not number packets alike */
  tree->kind = op->kind = what->kind;
  if (what->kind == CSIM_PKT_SCATTER && what->window > 0) op->kind = CSIM_PKT_ALL_REDUCE; /* the copies of others' parts are the acknowledgements */
  set_shares(tree, op, what);
  if (op->kind == CSIM_PKT_ALL_REDUCE) op->packets = csim_pkt_message_packets(all, what->mtu);
  for (guint m = 0; m < tree->n_members; m++) {
    CsimBytes own = op->kind == CSIM_PKT_GATHER ? what->part[m] : all;
    Qp *qp = pkt_qp(net, tree->member_qp[m]);
    CsimTime at = csim_engine_now(net->engine) + (what->delay ? what->delay[m] : 0);
    qp->window = what->window;
    if (own > 0 || op->kind == CSIM_PKT_ALL_REDUCE) pkt_post_part(net, qp, at, own, what->mtu, tree->next_op, handler, kind, what->entity[m]);
    else csim_engine_at(net->engine, at, handler, kind, what->entity[m], 0);
  }
  tree->next_op++;
  for (guint m = 0; m < tree->n_members; m++) land(net, tree, m, csim_engine_now(net->engine)); /* who gets nothing waits for nothing */
}

void csim_pkt_tree_watch(CsimPktNet *net, guint tree, guint member, uint16_t handler, uint16_t kind, uint32_t entity) {
  const PktTree *t = net->trees->pdata[tree];
  csim_pkt_watch(net, t->member_qp[member], handler, kind, entity);
}

/* ---- in the switches ---- */

static void forward(CsimPktNet *net, uint32_t port, uint32_t index) {
  Packet *p = pkt_packet(net, index);
  p->ingress = PKT_MADE_HERE;
  pkt_enqueue(net, &net->ports[port], p->class, index);
  pkt_kick(net, &net->ports[port]);
}

static uint32_t copy_of(CsimPktNet *net, uint32_t index) {
  uint32_t copy = pkt_alloc(net);
  *pkt_packet(net, copy) = *pkt_packet(net, index);
  return copy;
}

static void send_down(CsimPktNet *net, const Stage *node, uint32_t index) {
  uint32_t owner = (uint32_t)(pkt_packet(net, index)->psn >> OWNER_SHIFT & ALL_MEMBERS);
  const uint32_t *child = (const uint32_t *)(const void *)node->children->data;
  if (pkt_packet(net, index)->flags & PKT_FOR_ONE) {
    forward(net, child[node->child_of[owner]], index);
    return;
  }
  for (guint i = 0; i + 1 < node->children->len; i++) forward(net, child[i], copy_of(net, index));
  forward(net, child[node->children->len - 1], index);
}

static void grow_ring(CsimPktNet *net, Stage *node, int64_t psn) {
  int64_t size = node->size;
  if (psn - node->low < size) return;
  while (psn - node->low >= size) size *= 2;
  uint16_t *count = g_new0(uint16_t, size);
  for (int64_t k = node->low; k < node->low + node->size; k++) count[k & (size - 1)] = node->count[k & (node->size - 1)];
  g_free(node->count);
  node->count = count;
  node->size = size;
  net->system_allocs++;
}

/* Counts a frame; TRUE if it is the last of its number. Numbers complete in order, since every child keeps it. */
static gboolean complete(CsimPktNet *net, PktTree *tree, Stage *node, int64_t psn) {
  grow_ring(net, node, psn);
  uint16_t *count = &node->count[psn & (node->size - 1)];
  tree->waiting++;
  if (++*count < node->children->len) return FALSE;
  tree->waiting -= *count;
  *count = 0;
  g_assert(psn == node->low);
  node->low++;
  return TRUE;
}

static const Op *op_of(const PktTree *tree, const Packet *p) { return &tree->ops[p->back & (tree->ops_size - 1)]; }

/* Whose packet it is: GATHER's sender's, SCATTER's by its number within the operation. */
static uint32_t owner_of(const PktTree *tree, const Op *op, const Qp *qp, int64_t in_op) {
  if (op->kind != CSIM_PKT_SCATTER) return qp->member;
  guint low = 0, high = tree->n_members - 1;
  while (low < high) {
    guint middle = (low + high + 1) / 2;
    if (op->first[middle] <= in_op) low = middle;
    else high = middle - 1;
  }
  return low;
}

/* A frame that is reduced, or needs no partners, goes on. */
void pkt_on_reduced(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimPktNet *net = owner;
  uint32_t index = (uint32_t)event->arg;
  Packet *p = pkt_packet(net, index);
  const Qp *qp = pkt_qp(net, p->qp);
  const PktTree *tree = tree_of(net, qp);
  const Stage *node = &tree->nodes[event->entity];
  net->reducing--;
  if (node->parent != NONE) {
    forward(net, node->parent, index);
    return;
  }
  p->type = PKT_DOWN;
  send_down(net, node, index);
}

void pkt_tree_arrive(CsimPktNet *net, Port *in, uint32_t index) {
  Packet *p = pkt_packet(net, index);
  const Qp *qp = pkt_qp(net, p->qp);
  PktTree *tree = tree_of(net, qp);
  uint32_t at = tree->node_at[in->node];
  CsimTime now = csim_engine_now(net->engine);
  pkt_give_credit(net, in, p->class, p->frame, now);
  if (p->type == PKT_DOWN) {
    send_down(net, &tree->nodes[at], index);
    return;
  }
  int64_t psn = p->psn & ((INT64_C(1) << GAP_PSN_BITS) - 1);
  if (op_of(tree, p)->kind != CSIM_PKT_GATHER && !complete(net, tree, &tree->nodes[at], psn)) {
    pkt_release(net, index);
    return;
  }
  net->reducing++;
  csim_engine_at(net->engine, now + tree->reduce, net->on_reduced, 0, at, index);
}

/* What a member's frame says beside its PSN: `in_op` counts within the operation. */
int64_t pkt_tree_psn(const CsimPktNet *net, const Qp *qp, int64_t psn, int64_t in_op, uint32_t number, uint8_t *flags) {
  const PktTree *tree = tree_of(net, qp);
  const Op *op = &tree->ops[number & (tree->ops_size - 1)];
  *flags = op->kind == CSIM_PKT_SCATTER ? PKT_FOR_ONE : 0;
  return psn | (int64_t)owner_of(tree, op, qp, in_op) << OWNER_SHIFT;
}

/* ---- at the members ---- */

void pkt_tree_deliver(CsimPktNet *net, const Port *rx, const Packet *p, CsimTime arrival) {
  PktTree *tree = tree_of(net, pkt_qp(net, p->qp));
  guint member = tree->member_at[rx->node];
  Qp *own = pkt_qp(net, tree->member_qp[member]);
  const Op *op = op_of(tree, p);
  ++*got(tree, p->back, member);
  own->stats.received++;
  int64_t psn = p->psn & ((INT64_C(1) << GAP_PSN_BITS) - 1);
  gboolean answers = op->kind == CSIM_PKT_ALL_REDUCE || (op->kind == CSIM_PKT_GATHER && (p->psn >> OWNER_SHIFT & ALL_MEMBERS) == member);
  if (own->window > 0 && answers)
    csim_engine_at(net->engine, arrival, net->on_control, PKT_ACK, own->id, (uint64_t)psn);
  land(net, tree, member, arrival);
}

uint64_t pkt_trees_waiting(const CsimPktNet *net) {
  uint64_t waiting = 0;
  for (guint i = 0; i < net->trees->len; i++) waiting += ((const PktTree *)net->trees->pdata[i])->waiting;
  return waiting;
}
