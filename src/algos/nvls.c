/*
 * algos/nvls.c - NVLink SHARP on one node (all_reduce, all_gather, reduce_scatter) and NVLSTree over
 * several (all_reduce). NVLS over several nodes, which needs a network that reduces, is in collnet-heads.c.
 *
 * NCCL 2.30 (src/device/{all_reduce,all_gather,reduce_scatter}.h). Some GPUs of a node are *heads*; each is
 * in charge of one slice. A multicast buffer has a copy in every GPU's memory. Roles of a block, each a
 * lane:
 *   scatter  a rank writes its input, slice by slice, into its own copy of the heads' buffers;
 *   reduce   a head load-reduces its slice from the memory of all ranks of the node and multicasts the sum
 *            to all of them;
 *   gather   a rank takes the results out of its own memory into the output.
 * all_reduce loops over heads*chunk bytes, head h doing slice h; in the last loop chunk = ceil(rest/heads)
 * rounded up to 16 KiB (NVLSTree: 16 bytes). all_gather has no scatter (a head multicasts its input),
 * reduce_scatter no gather (a head stores its sum); both loop over one chunk of every rank's block and need
 * every GPU to be a head.
 *
 * NVLSTree joins the heads of the nodes by trees: a head that has a parent splits the middle role in two,
 *   reduce     the node's sum and those of the tree's children go to the parent,
 *   broadcast  what comes from the parent is multicast in the node and sent to the children;
 * the root does both at once.
 */
#include "algos/plan-private.h"

#define NVLS_ALIGN 16384   /* all_reduce.h, NVLS on one node */
#define NVLS_TREE_ALIGN 16 /* all_reduce.h, NVLSTree */

/* Cursor, but for the streams of all_gather and reduce_scatter heads. AT, LEFT of the loop; HEAD: of the
 * next step, or the own number on head lanes; the peers of head lanes. ROLE lies beyond what a stream uses. */
enum { AT, LEFT, CHUNK, HEAD, RECV_PEER, SEND_PEER, ROLE = 7 };

typedef struct {
  int up, down[3], n_down;
} Node;

static int head_rank(const CsimPlan *plan, int rank, int h) {
  const CsimShape *s = plan->spec.shape;
  return s->nvls_head(s->data, rank, h);
}

static int head_number(const CsimPlan *plan, int rank) {
  for (int h = 0; h < plan->spec.shape->n_heads; h++)
    if (head_rank(plan, rank, h) == rank) return h;
  return -1;
}

static int local_ranks(const CsimPlan *plan, int rank, const int **ranks) {
  const CsimShape *s = plan->spec.shape;
  return s->node_ranks(s->data, rank, ranks);
}

static gboolean is_tree(const CsimPlan *plan) {
  return plan->spec.algo == CSIM_ALGO_NVLS_TREE;
}

static Node tree_node(const CsimPlan *plan, CsimLane lane) {
  Node node = {.up = -1};
  if (!is_tree(plan)) return node;
  const CsimShape *s = plan->spec.shape;
  int down[3] = {-1, -1, -1};
  s->nvls_tree(s->data, lane.channel, lane.rank, &node.up, down);
  for (int i = 0; i < 3; i++)
    if (down[i] >= 0) node.down[node.n_down++] = down[i];
  return node;
}

/* --- lanes ----------------------------------------------------------------------------------------- */

/* Roles of a rank's lanes on a channel, in order; returns how many. */
static int list_roles(const CsimPlan *plan, int rank, int channel, CsimRole roles[4]) {
  gboolean head = head_number(plan, rank) >= 0;
  int n = 0;
  if (plan->spec.coll != CSIM_COLL_ALL_GATHER) roles[n++] = CSIM_ROLE_NVLS_SCATTER;
  if (plan->spec.coll != CSIM_COLL_REDUCE_SCATTER) roles[n++] = CSIM_ROLE_NVLS_GATHER;
  if (head && plan->spec.coll != CSIM_COLL_ALL_GATHER) roles[n++] = CSIM_ROLE_NVLS_REDUCE;
  gboolean below = head && tree_node(plan, (CsimLane){rank, channel, 0}).up >= 0;
  if (below || (head && plan->spec.coll == CSIM_COLL_ALL_GATHER)) roles[n++] = CSIM_ROLE_NVLS_BCAST;
  return n;
}

static int nvls_lanes(const CsimPlan *plan, int rank, int channel) {
  CsimRole roles[4];
  return list_roles(plan, rank, channel, roles);
}

static CsimRole nvls_role(const CsimPlan *plan, CsimLane lane) {
  CsimRole roles[4];
  int n = list_roles(plan, lane.rank, lane.channel, roles);
  g_assert(lane.index >= 0 && lane.index < n);
  return roles[lane.index];
}

/* --- peers ----------------------------------------------------------------------------------------- */

/* Whom a head lane faces in one direction: nobody, its parent, or the node's multicast group and its
 * children. */
typedef enum { FACES_NOBODY, FACES_PARENT, FACES_GROUP } Faces;

static Faces head_faces(const CsimPlan *plan, CsimRole role, const Node *node, gboolean send) {
  if (role == CSIM_ROLE_NVLS_REDUCE) {
    if (!send) return FACES_GROUP;
    if (plan->spec.coll == CSIM_COLL_REDUCE_SCATTER) return FACES_NOBODY;
    return node->up >= 0 ? FACES_PARENT : FACES_GROUP;
  }
  if (send) return FACES_GROUP;
  return plan->spec.coll == CSIM_COLL_ALL_GATHER ? FACES_NOBODY : FACES_PARENT;
}

static int nvls_n_peers(const CsimPlan *plan, CsimLane lane, gboolean send) {
  CsimRole role = nvls_role(plan, lane);
  if (role == CSIM_ROLE_NVLS_SCATTER) return send ? plan->spec.shape->n_heads : 0;
  if (role == CSIM_ROLE_NVLS_GATHER) return send ? 0 : plan->spec.shape->n_heads;
  Node node = tree_node(plan, lane);
  const int *ranks;
  switch (head_faces(plan, role, &node, send)) {
  case FACES_NOBODY:
    return 0;
  case FACES_PARENT:
    return 1;
  default:
    return local_ranks(plan, lane.rank, &ranks) + node.n_down;
  }
}

static CsimPeer nvls_peer(const CsimPlan *plan, CsimLane lane, gboolean send, int i) {
  CsimRole role = nvls_role(plan, lane);
  if (role == CSIM_ROLE_NVLS_SCATTER) return (CsimPeer){head_rank(plan, lane.rank, i), CSIM_TAG_NVLS_IN};
  if (role == CSIM_ROLE_NVLS_GATHER) return (CsimPeer){head_rank(plan, lane.rank, i), CSIM_TAG_NVLS_OUT};
  Node node = tree_node(plan, lane);
  if (head_faces(plan, role, &node, send) == FACES_PARENT) return (CsimPeer){node.up, CSIM_TAG_DATA};
  const int *ranks;
  int n = local_ranks(plan, lane.rank, &ranks);
  if (i < n) return (CsimPeer){ranks[i], send ? CSIM_TAG_NVLS_OUT : CSIM_TAG_NVLS_IN};
  return (CsimPeer){node.down[i - n], CSIM_TAG_DATA};
}

/* --- iteration ------------------------------------------------------------------------------------- */

static int peer_index(Faces faces) {
  return faces == FACES_NOBODY ? CSIM_PEER_NONE : faces == FACES_PARENT ? 0 : CSIM_PEER_ALL;
}

/* Scatter and gather: slice by slice, loop by loop. */
static void visit_prim(CsimPrim *out, CsimRole role, int head, CsimBytes src, CsimBytes dst,
                       CsimBytes bytes) {
  gboolean scatter = role == CSIM_ROLE_NVLS_SCATTER;
  *out = (CsimPrim){.flags = scatter ? PRIM_SEND : PRIM_RECV,
                    .recv_peer = scatter ? CSIM_PEER_NONE : head,
                    .send_peer = scatter ? head : CSIM_PEER_NONE,
                    .src_offset = scatter ? src : 0,
                    .dst_offset = scatter ? 0 : dst,
                    .bytes = bytes};
}

static void begin_loop(const CsimPlan *plan, int64_t *at) {
  int n = plan->spec.shape->n_heads;
  if (at[LEFT] >= n * at[CHUNK]) return;
  at[CHUNK] = plan_last_chunk(at[LEFT], n, is_tree(plan) ? NVLS_TREE_ALIGN : NVLS_ALIGN);
}

static void end_loop(int64_t *at, CsimBytes stride) {
  at[AT] += stride;
  at[LEFT] -= stride;
}

/* Counts the heads round; TRUE after the last one. */
static gboolean next_head(const CsimPlan *plan, int64_t *at) {
  if (++at[HEAD] < plan->spec.shape->n_heads) return FALSE;
  at[HEAD] = 0;
  return TRUE;
}

static gboolean all_reduce_visit(const CsimPlan *plan, CsimPlanCursor *cursor, CsimRole role, CsimPrim *out) {
  int64_t *at = cursor->state;
  if (at[LEFT] <= 0) return FALSE;
  if (at[HEAD] == 0) begin_loop(plan, at);
  CsimBytes offset = at[AT] + at[HEAD] * at[CHUNK];
  visit_prim(out, role, (int)at[HEAD], offset, offset, plan_chunk_bytes(at[LEFT], at[CHUNK], at[HEAD]));
  if (next_head(plan, at)) end_loop(at, plan->spec.shape->n_heads * at[CHUNK]);
  return TRUE;
}

/* all_gather and reduce_scatter: a chunk of every head's block. */
static gboolean block_visit(const CsimPlan *plan, CsimPlanCursor *cursor, CsimRole role, CsimPrim *out) {
  int64_t *at = cursor->state;
  if (at[LEFT] <= 0) return FALSE;
  CsimBytes offset = head_rank(plan, cursor->lane.rank, (int)at[HEAD]) * plan->spec.count_bytes + at[AT];
  visit_prim(out, role, (int)at[HEAD], offset, offset, MIN(at[CHUNK], at[LEFT]));
  if (next_head(plan, at)) end_loop(at, at[CHUNK]);
  return TRUE;
}

/* What a head does with its slice of each loop of an all_reduce. */
static gboolean all_reduce_head(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out) {
  int64_t *at = cursor->state;
  if (at[LEFT] <= 0) return FALSE;
  begin_loop(plan, at);
  *out = (CsimPrim){.flags = PRIM_RECV_SEND,
                    .recv_peer = (int)at[RECV_PEER],
                    .send_peer = (int)at[SEND_PEER],
                    .bytes = plan_chunk_bytes(at[LEFT], at[CHUNK], at[HEAD])};
  end_loop(at, plan->spec.shape->n_heads * at[CHUNK]);
  return TRUE;
}

static gboolean is_head_role(CsimRole role) {
  return role == CSIM_ROLE_NVLS_REDUCE || role == CSIM_ROLE_NVLS_BCAST;
}

static gboolean nvls_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out) {
  CsimRole role = (CsimRole)cursor->state[ROLE];
  gboolean all_reduce = plan->spec.coll == CSIM_COLL_ALL_REDUCE;
  if (is_head_role(role))
    return all_reduce ? all_reduce_head(plan, cursor, out) : plan_stream_next(plan, cursor, out);
  return all_reduce ? all_reduce_visit(plan, cursor, role, out) : block_visit(plan, cursor, role, out);
}

/* all_gather: a head multicasts its block; reduce_scatter: it stores the sum. */
static void start_head_stream(CsimPlanCursor *cursor, CsimRole role, const CsimPlanPart *part) {
  gboolean sends = role == CSIM_ROLE_NVLS_BCAST;
  plan_stream_start(cursor, &(PlanStream){.flags = sends ? PRIM_SEND : PRIM_RECV,
                                          .recv_peer = sends ? CSIM_PEER_NONE : CSIM_PEER_ALL,
                                          .send_peer = sends ? CSIM_PEER_ALL : CSIM_PEER_NONE,
                                          .src = part->offset,
                                          .dst = part->offset,
                                          .bytes = part->bytes,
                                          .chunk = part->chunk});
}

static void start_head(const CsimPlan *plan, CsimPlanCursor *cursor, CsimRole role) {
  Node node = tree_node(plan, cursor->lane);
  cursor->state[HEAD] = head_number(plan, cursor->lane.rank);
  cursor->state[RECV_PEER] = peer_index(head_faces(plan, role, &node, FALSE));
  cursor->state[SEND_PEER] = peer_index(head_faces(plan, role, &node, TRUE));
}

static void nvls_start(const CsimPlan *plan, CsimPlanCursor *cursor) {
  const CsimPlanPart *part = plan_part(plan, cursor->lane.channel);
  CsimRole role = nvls_role(plan, cursor->lane);
  cursor->state[ROLE] = role;
  if (is_head_role(role) && plan->spec.coll != CSIM_COLL_ALL_REDUCE) {
    start_head_stream(cursor, role, part);
    return;
  }
  cursor->state[AT] = part->offset;
  cursor->state[LEFT] = part->bytes;
  cursor->state[CHUNK] = part->chunk;
  if (is_head_role(role)) start_head(plan, cursor, role);
}

/* --- class ----------------------------------------------------------------------------------------- */

static gboolean nvls_setup(CsimPlan *plan, GError **error) {
  const int *ranks;
  if (!is_tree(plan) && plan->spec.shape->network && local_ranks(plan, 0, &ranks) != plan->n) {
    plan->class = &plan_nvls_network;
    return plan->class->setup(plan, error);
  }
  int heads = plan->spec.shape->n_heads;
  const char *why = NULL;
  if (heads < 1)
    why = "has no head on these nodes";
  else if (!is_tree(plan) && local_ranks(plan, 0, &ranks) != plan->n)
    why = "on several nodes needs CollNet (SHARP)";
  else if (plan->spec.coll != CSIM_COLL_ALL_REDUCE && heads != plan->n)
    why = "needs every GPU of the node as a head";
  if (!why) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "%s %s %s", csim_algo_name(plan->spec.algo),
              csim_coll_name(plan->spec.coll), why);
  return FALSE;
}

const PlanClass plan_nvls = {
    .algo = CSIM_ALGO_NVLS,
    .name = "NVLS",
    .colls =
        COLL_BIT(CSIM_COLL_ALL_REDUCE) | COLL_BIT(CSIM_COLL_ALL_GATHER) | COLL_BIT(CSIM_COLL_REDUCE_SCATTER),
    .summary = "the NVSwitch reduces and multicasts: each byte crosses a GPU's port about once each way",
    .setup = nvls_setup,
    .lanes = nvls_lanes,
    .role = nvls_role,
    .n_peers = nvls_n_peers,
    .peer = nvls_peer,
    .start = nvls_start,
    .next = nvls_next,
};

const PlanClass plan_nvls_tree = {
    .algo = CSIM_ALGO_NVLS_TREE,
    .name = "NVLSTree",
    .colls = COLL_BIT(CSIM_COLL_ALL_REDUCE),
    .summary = "NVLS inside the nodes, trees between their heads",
    .setup = nvls_setup,
    .lanes = nvls_lanes,
    .role = nvls_role,
    .n_peers = nvls_n_peers,
    .peer = nvls_peer,
    .start = nvls_start,
    .next = nvls_next,
};
