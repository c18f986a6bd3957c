/*
 * algos/collnet-heads.c - CollNetDirect, and NVLS over several nodes: heads in each node, a reducing network between them.
 *
 * NCCL 2.30 (src/device/{all_reduce,all_gather,reduce_scatter}.h). Some GPUs of a node are heads, each with its own
 * aggregation group over the nodes. An all_reduce loops over heads*chunk bytes a channel; head h does slice h. Four
 * workers a rank, of which heads have all and others two:
 *   scatter   sends every head its slice of the own input;
 *   reduce    the head sums the slices of its node and gives the sum to the network;
 *   broadcast the head takes the network's answer and hands it to all ranks of its node;
 *   gather    takes all slices that other heads hand out into the output.
 * CollNetDirect (all GPUs of a node on one switch, at most 8) moves slices by plain stores, and a head reads and writes
 * its own slice in the user's buffers. NVLS moves them through multicast memory, where the NVSwitch sums and copies, and
 * a head is one of its own ranks. all_gather has no scatter, its reduce sends the own block only; reduce_scatter
 * has no gather, and its broadcast only stores: collnet-gather.c. Both need every rank to be a head.
 */
#include "algos/collnet.h"

enum { LOOP, LOOPS, VISIT, HEAD, ROLE = 7 };

int collnet_head_number(const CsimPlan *plan, int rank) {
  for (int h = 0; h < collnet_n_heads(plan); h++)
    if (collnet_head(plan, rank, h) == rank) return h;
  return -1;
}

static int local_ranks(const CsimPlan *plan, int rank, const int **ranks) {
  const CsimShape *s = plan->spec.shape;
  return s->node_ranks(s->data, rank, ranks);
}

static int local_number(const CsimPlan *plan, int rank) {
  const int *ranks;
  int n = local_ranks(plan, rank, &ranks);
  for (int i = 0; i < n; i++)
    if (ranks[i] == rank) return i;
  g_assert_not_reached();
}

/* --- whom the roles meet ----------------------------------------------------------------------------------- */

CollnetPart collnet_part(CsimRole role) {
  switch (role) {
  case CSIM_ROLE_NVLS_SCATTER:
  case CSIM_ROLE_DIRECT_SCATTER:
    return COLLNET_SCATTER;
  case CSIM_ROLE_NVLS_REDUCE:
  case CSIM_ROLE_DIRECT_REDUCE:
    return COLLNET_REDUCE;
  case CSIM_ROLE_NVLS_BCAST:
  case CSIM_ROLE_DIRECT_BCAST:
    return COLLNET_BCAST;
  default:
    return COLLNET_GATHER;
  }
}

int collnet_n_visits(const CsimPlan *plan, int rank) {
  int n = collnet_n_heads(plan);
  return collnet_is_nvls(plan) || collnet_head_number(plan, rank) < 0 ? n : n - 1;
}

int collnet_visit(const CsimPlan *plan, int rank, int i) {
  int n = collnet_n_visits(plan, rank);
  if (collnet_is_nvls(plan)) return i;
  int self = collnet_head_number(plan, rank), h = (i + local_number(plan, rank)) % n;
  return self >= 0 && h >= self ? h + 1 : h;
}

/* Ranks of the node that a head serves through connections. */
int collnet_n_served(const CsimPlan *plan, int rank) {
  const int *ranks;
  return local_ranks(plan, rank, &ranks) - !collnet_is_nvls(plan);
}

static int served(const CsimPlan *plan, int rank, int i) {
  const int *ranks;
  local_ranks(plan, rank, &ranks);
  return ranks[!collnet_is_nvls(plan) && i >= local_number(plan, rank) ? i + 1 : i];
}

/* --- lanes ------------------------------------------------------------------------------------------------- */

static int list_parts(const CsimPlan *plan, int rank, CollnetPart parts[4]) {
  gboolean head = collnet_head_number(plan, rank) >= 0, others = collnet_n_visits(plan, rank) > 0;
  int n = 0;
  if (others && plan->spec.coll != CSIM_COLL_ALL_GATHER) parts[n++] = COLLNET_SCATTER;
  if (others && plan->spec.coll != CSIM_COLL_REDUCE_SCATTER) parts[n++] = COLLNET_GATHER;
  if (head) parts[n++] = COLLNET_REDUCE;
  if (head) parts[n++] = COLLNET_BCAST;
  return n;
}

static int heads_lanes(const CsimPlan *plan, int rank, int channel) {
  CollnetPart parts[4];
  return list_parts(plan, rank, parts);
}

static CsimRole heads_role(const CsimPlan *plan, CsimLane lane) {
  static const CsimRole nvls[] = {CSIM_ROLE_NVLS_SCATTER, CSIM_ROLE_NVLS_REDUCE, CSIM_ROLE_NVLS_BCAST, CSIM_ROLE_NVLS_GATHER};
  static const CsimRole direct[] = {CSIM_ROLE_DIRECT_SCATTER, CSIM_ROLE_DIRECT_REDUCE, CSIM_ROLE_DIRECT_BCAST, CSIM_ROLE_DIRECT_GATHER};
  CollnetPart parts[4];
  int n = list_parts(plan, lane.rank, parts);
  g_assert(lane.index >= 0 && lane.index < n);
  return (collnet_is_nvls(plan) ? nvls : direct)[parts[lane.index]];
}

/* --- peers ------------------------------------------------------------------------------------------------- */

static int heads_n_peers(const CsimPlan *plan, CsimLane lane, gboolean send) {
  switch (collnet_part(heads_role(plan, lane))) {
  case COLLNET_SCATTER:
    return send ? collnet_n_visits(plan, lane.rank) : 0;
  case COLLNET_GATHER:
    return send ? 0 : collnet_n_visits(plan, lane.rank);
  case COLLNET_REDUCE:
    return send ? 1 : plan->spec.coll == CSIM_COLL_ALL_GATHER ? 0 : collnet_n_served(plan, lane.rank);
  default:
    return !send ? 1 : plan->spec.coll == CSIM_COLL_REDUCE_SCATTER ? 0 : collnet_n_served(plan, lane.rank);
  }
}

static CsimPeer heads_peer(const CsimPlan *plan, CsimLane lane, gboolean send, int i) {
  CollnetPart part = collnet_part(heads_role(plan, lane));
  int to_head = collnet_is_nvls(plan) ? CSIM_TAG_NVLS_IN : CSIM_TAG_TO_HEAD;
  int from_head = collnet_is_nvls(plan) ? CSIM_TAG_NVLS_OUT : CSIM_TAG_DATA;
  if (part == COLLNET_SCATTER || part == COLLNET_GATHER)
    return (CsimPeer){collnet_head(plan, lane.rank, collnet_visit(plan, lane.rank, i)), send ? to_head : from_head};
  if ((part == COLLNET_REDUCE) == send)
    return (CsimPeer){lane.rank, CSIM_TAG_NETWORK + collnet_head_number(plan, lane.rank)};
  return (CsimPeer){served(plan, lane.rank, i), send ? from_head : to_head};
}

/* --- all_reduce -------------------------------------------------------------------------------------------- */

static void slice(const CsimPlan *plan, CsimPlanCursor *cursor, int head, CsimPrim *out) {
  CsimBytes chunk = collnet_chunk(plan), total = plan->spec.count_bytes;
  CsimBytes begin = collnet_begin(plan, cursor->lane.channel, cursor->state[LOOP], chunk * collnet_n_heads(plan));
  begin = MIN(begin + head * chunk, total);
  out->src_offset = out->flags & CSIM_PRIM_SRC ? begin : 0;
  out->dst_offset = out->flags & CSIM_PRIM_DST ? begin : 0;
  out->bytes = MIN(chunk, total - begin);
}

/* Scatter and gather: one head after another. */
static void visit_prim(const CsimPlan *plan, CsimPlanCursor *cursor, gboolean scatter, CsimPrim *out) {
  int i = (int)cursor->state[VISIT];
  *out = (CsimPrim){.flags = scatter ? PRIM_SEND : PRIM_RECV,
                    .recv_peer = scatter ? CSIM_PEER_NONE : i,
                    .send_peer = scatter ? i : CSIM_PEER_NONE};
  slice(plan, cursor, collnet_visit(plan, cursor->lane.rank, i), out);
  if (++cursor->state[VISIT] < collnet_n_visits(plan, cursor->lane.rank)) return;
  cursor->state[VISIT] = 0;
  cursor->state[LOOP]++;
}

static void head_prim(const CsimPlan *plan, CsimPlanCursor *cursor, gboolean up, CsimPrim *out) {
  gboolean alone = collnet_n_served(plan, cursor->lane.rank) == 0, own = !collnet_is_nvls(plan);
  guint towards = alone ? 0 : CSIM_PRIM_RECV, away = alone ? 0 : CSIM_PRIM_SEND;
  guint flags = up ? towards | (own ? CSIM_PRIM_SRC : 0) | CSIM_PRIM_SEND : CSIM_PRIM_RECV | (own ? CSIM_PRIM_DST : 0) | away;
  *out = (CsimPrim){.flags = (uint16_t)flags,
                    .recv_peer = !(flags & CSIM_PRIM_RECV) ? CSIM_PEER_NONE : up ? CSIM_PEER_ALL : 0,
                    .send_peer = !(flags & CSIM_PRIM_SEND) ? CSIM_PEER_NONE : up ? 0 : CSIM_PEER_ALL};
  slice(plan, cursor, (int)cursor->state[HEAD], out);
  cursor->state[LOOP]++;
}

static gboolean all_reduce_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out) {
  if (cursor->state[LOOP] == cursor->state[LOOPS]) return FALSE;
  CollnetPart part = collnet_part((CsimRole)cursor->state[ROLE]);
  if (part == COLLNET_SCATTER || part == COLLNET_GATHER) visit_prim(plan, cursor, part == COLLNET_SCATTER, out);
  else head_prim(plan, cursor, part == COLLNET_REDUCE, out);
  return TRUE;
}

/* Only the last loop tells heads apart, and only a head's own block of an all_gather or reduce_scatter tells nodes apart. */
static uint64_t heads_signature(const CsimPlan *plan, const CsimPlanCursor *cursor) {
  CollnetPart part = collnet_part((CsimRole)cursor->state[ROLE]);
  uint64_t place = (uint64_t)local_number(plan, cursor->lane.rank) << 32 | (uint32_t)collnet_head_number(plan, cursor->lane.rank);
  uint64_t hash = plan_fold(plan_fold((uint64_t)cursor->state[ROLE], place), (uint64_t)cursor->lane.channel);
  gboolean own = part == (plan->spec.coll == CSIM_COLL_ALL_GATHER ? COLLNET_REDUCE : COLLNET_BCAST);
  if (plan->spec.coll == CSIM_COLL_ALL_REDUCE || !own) return hash;
  CsimPlanCursor at = *cursor;
  for (CsimPrim p; collnet_gather_next(plan, &at, &p);) hash = plan_fold(hash, (uint64_t)p.bytes);
  return hash;
}

/* --- class ------------------------------------------------------------------------------------------------- */

static void heads_start(const CsimPlan *plan, CsimPlanCursor *cursor) {
  CsimRole role = heads_role(plan, cursor->lane);
  if (plan->spec.coll != CSIM_COLL_ALL_REDUCE) {
    collnet_gather_start(plan, cursor, role);
    return;
  }
  cursor->state[ROLE] = role;
  cursor->state[HEAD] = collnet_head_number(plan, cursor->lane.rank);
  cursor->state[LOOPS] = collnet_loops(plan, plan->spec.count_bytes, collnet_chunk(plan) * collnet_n_heads(plan));
}

static const char *obstacle(const CsimPlan *plan) {
  const CsimShape *s = plan->spec.shape;
  const int *ranks;
  if (!s->network) return "needs a network that reduces (SHARP)";
  if (collnet_n_heads(plan) < 1) return "has no head on these nodes";
  if (plan->spec.coll == CSIM_COLL_ALL_REDUCE) return NULL;
  for (int i = 0; i < s->n_nodes; i++)
    if (local_ranks(plan, s->node_first(s->data, i), &ranks) != collnet_n_heads(plan)) return "needs every GPU as a head";
  return NULL;
}

static gboolean heads_setup(CsimPlan *plan, GError **error) {
  const char *why = obstacle(plan);
  plan->next = plan->spec.coll == CSIM_COLL_ALL_REDUCE ? all_reduce_next : collnet_gather_next;
  if (!why) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "%s %s %s", csim_algo_name(plan->spec.algo), csim_coll_name(plan->spec.coll), why);
  return FALSE;
}

#define HEADS_CLASS                                                                                                    \
  .colls = COLL_BIT(CSIM_COLL_ALL_REDUCE) | COLL_BIT(CSIM_COLL_ALL_GATHER) | COLL_BIT(CSIM_COLL_REDUCE_SCATTER),       \
  .setup = heads_setup, .lanes = heads_lanes, .role = heads_role, .n_peers = heads_n_peers, .peer = heads_peer,        \
  .start = heads_start, .signature = heads_signature

const PlanClass plan_collnet_direct = {
    .algo = CSIM_ALGO_COLLNET_DIRECT,
    .name = "CollNetDirect",
    .summary = "every GPU a head with its own NIC, the network's switches reduce (SHARP)",
    HEADS_CLASS,
};

/* plan_nvls's, when there are several nodes (nvls.c). */
const PlanClass plan_nvls_network = {
    .algo = CSIM_ALGO_NVLS,
    .name = "NVLS",
    .summary = "NVLS inside the nodes, the network's switches between them",
    HEADS_CLASS,
};
