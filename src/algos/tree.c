/*
 * algos/tree.c - the double binary tree's all_reduce.
 *
 * NCCL 2.30 (src/device/all_reduce.h, tree split): each channel moves its whole part up one tree and down
 * again, chunk by chunk. Every rank but the root has two workers that run beside each other:
 *   up    receives from all children, adds its own input, sends to the parent (a leaf only sends);
 *   down  receives from the parent, stores, sends to all children (a leaf only stores).
 * The root has one, which does both at once. Which ranks are joined is the shape's business: a chain inside
 * a node and a binary tree over nodes, another tree on every other half of the channels.
 */
#include "algos/plan-private.h"

typedef struct {
  int up, down[3], n_down;
} Node;

static Node node_of(const CsimPlan *plan, CsimLane lane) {
  const CsimShape *s = plan->spec.shape;
  int down[3];
  Node node = {0};
  s->tree(s->data, lane.channel, lane.rank, &node.up, down);
  for (int i = 0; i < 3; i++)
    if (down[i] >= 0) node.down[node.n_down++] = down[i];
  return node;
}

static CsimRole role_of(const Node *node, int index) {
  if (node->up < 0) return CSIM_ROLE_TREE_ROOT;
  return index == 0 ? CSIM_ROLE_TREE_UP : CSIM_ROLE_TREE_DOWN;
}

static int tree_lanes(const CsimPlan *plan, int rank, int channel) {
  return node_of(plan, (CsimLane){rank, channel, 0}).up < 0 ? 1 : 2;
}

static CsimRole tree_role(const CsimPlan *plan, CsimLane lane) {
  Node node = node_of(plan, lane);
  return role_of(&node, lane.index);
}

/* The one peer of this direction is the parent; otherwise the peers are the children. */
static gboolean is_to_parent(CsimRole role, gboolean send) {
  return role == (send ? CSIM_ROLE_TREE_UP : CSIM_ROLE_TREE_DOWN);
}

static int tree_n_peers(const CsimPlan *plan, CsimLane lane, gboolean send) {
  Node node = node_of(plan, lane);
  return is_to_parent(role_of(&node, lane.index), send) ? 1 : node.n_down;
}

static CsimPeer tree_peer(const CsimPlan *plan, CsimLane lane, gboolean send, int i) {
  Node node = node_of(plan, lane);
  gboolean parent = is_to_parent(role_of(&node, lane.index), send);
  return (CsimPeer){parent ? node.up : node.down[i], CSIM_TAG_DATA};
}

static PlanStream stream_of(const Node *node, CsimRole role) {
  int children = node->n_down > 0 ? CSIM_PEER_ALL : CSIM_PEER_NONE;
  guint recv = node->n_down > 0 ? CSIM_PRIM_RECV : 0, send = node->n_down > 0 ? CSIM_PRIM_SEND : 0;
  switch (role) {
  case CSIM_ROLE_TREE_UP:
    return (PlanStream){.flags = PRIM_SEND | recv, .recv_peer = children, .send_peer = 0};
  case CSIM_ROLE_TREE_DOWN:
    return (PlanStream){.flags = PRIM_RECV | send, .recv_peer = 0, .send_peer = children};
  default:
    return (PlanStream){.flags = PRIM_COPY | recv | send, .recv_peer = children, .send_peer = children};
  }
}

static void tree_start(const CsimPlan *plan, CsimPlanCursor *cursor) {
  const CsimPlanPart *part = plan_part(plan, cursor->lane.channel);
  Node node = node_of(plan, cursor->lane);
  PlanStream stream = stream_of(&node, role_of(&node, cursor->lane.index));
  stream.src = stream.dst = part->offset;
  stream.bytes = part->bytes;
  stream.chunk = part->chunk;
  plan_stream_start(cursor, &stream);
}

const PlanClass plan_tree = {
    .algo = CSIM_ALGO_TREE,
    .name = "Tree",
    .colls = COLL_BIT(CSIM_COLL_ALL_REDUCE),
    .summary = "two binary trees over the nodes, reduce up and broadcast down: few steps",
    .lanes = tree_lanes,
    .role = tree_role,
    .n_peers = tree_n_peers,
    .peer = tree_peer,
    .start = tree_start,
    .next = plan_stream_next,
};
