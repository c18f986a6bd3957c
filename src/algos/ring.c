/*
 * algos/ring.c - rings: all_reduce, all_gather, reduce_scatter, broadcast, reduce.
 *
 * The loops of NCCL 2.30 (src/device/{all_reduce,all_gather,reduce_scatter,broadcast,reduce}.h). With n
 * ranks, p a rank's position in the channel's ring and c the channel's chunk:
 *   all_reduce      loops over n*c bytes of the part. Chunk p-1 goes off; chunks p-2 .. p+1 are reduced on
 *                   their way through; chunk p comes last, is complete, stored and sent on; then p-1 .. p+2
 *                   pass by complete, p+1 stays. 2n-1 primitives, 2(n-1) messages a rank. The last loop
 *                   uses c = ceil(rest/n), rounded up to 16 bytes.
 *   all_gather      loops over c bytes of every rank's block: own block out, n-2 forwarded, the last one
 *                   kept.
 *   reduce_scatter  the same in the other direction of time: blocks of p-1 .. p+1 reduced on their way, own
 *                   block kept.
 *   broadcast       a chain from the root round to the rank before it, chunk by chunk; reduce: from the
 *                   rank after the root to the root.
 * Buffers are taken as different (out of place): NCCL's copies of own data are there.
 */
#include "algos/plan-private.h"

/* Cursor of the three symmetric collectives. AT: where the loop begins (in the buffer, or in a block);
 * LEFT: from there to the part's end; INDEX: chunk or block position of the next step. */
enum { AT, LEFT, CHUNK, INDEX, STEP, FIRST_INDEX };

static int position(const CsimPlan *plan, CsimLane lane) {
  const CsimShape *s = plan->spec.shape;
  return s->ring_position(s->data, lane.channel, lane.rank);
}

static int neighbour(const CsimPlan *plan, CsimLane lane, int steps) {
  const CsimShape *s = plan->spec.shape;
  return s->ring_rank_at(s->data, lane.channel, plan_wrap(plan, position(plan, lane) + steps));
}

static CsimBytes block(const CsimPlan *plan, const CsimPlanCursor *cursor) {
  const CsimShape *s = plan->spec.shape;
  return s->ring_rank_at(s->data, cursor->lane.channel, (int)cursor->state[INDEX]) * plan->spec.count_bytes;
}

static inline void previous_index(const CsimPlan *plan, int64_t *at) {
  at[INDEX] = at[INDEX] == 0 ? plan->n - 1 : at[INDEX] - 1;
}

static void prim(CsimPrim *out, guint flags, CsimBytes src, CsimBytes dst, CsimBytes bytes) {
  out->flags = (uint16_t)flags;
  out->more = 0;
  out->recv_peer = flags & CSIM_PRIM_RECV ? 0 : CSIM_PEER_NONE;
  out->send_peer = flags & CSIM_PRIM_SEND ? 0 : CSIM_PEER_NONE;
  out->src_offset = flags & CSIM_PRIM_SRC ? src : 0;
  out->dst_offset = flags & CSIM_PRIM_DST ? dst : 0;
  out->bytes = bytes;
}

static inline void next_loop(int64_t *at, CsimBytes stride) {
  at[AT] += stride;
  at[LEFT] -= stride;
  at[INDEX] = at[FIRST_INDEX];
  at[STEP] = 0;
}

/* --- all_reduce ------------------------------------------------------------------------------------ */

static guint all_reduce_flags(int step, int n) {
  if (step == 0) return PRIM_SEND;
  if (step < n - 1) return PRIM_RECV_REDUCE_SEND;
  if (step == n - 1) return PRIM_RECV_REDUCE_COPY_SEND;
  return step < 2 * n - 2 ? PRIM_RECV_COPY_SEND : PRIM_RECV;
}

static gboolean all_reduce_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out) {
  int64_t *at = cursor->state;
  int step = (int)at[STEP], n = plan->n;
  if (step == 0) {
    if (at[LEFT] <= 0) return FALSE;
    if (at[LEFT] < n * at[CHUNK]) at[CHUNK] = plan_last_chunk(at[LEFT], n, plan->spec.align_bytes);
  }
  CsimBytes offset = at[AT] + at[INDEX] * at[CHUNK];
  prim(out, all_reduce_flags(step, n), offset, offset, plan_chunk_bytes(at[LEFT], at[CHUNK], at[INDEX]));
  if (step == 2 * n - 2) {
    next_loop(at, n * at[CHUNK]);
    return TRUE;
  }
  at[STEP]++;
  previous_index(plan, at);
  return TRUE;
}

/* --- all_gather, reduce_scatter -------------------------------------------------------------------- */

static gboolean all_gather_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out) {
  int64_t *at = cursor->state;
  int step = (int)at[STEP], n = plan->n;
  if (at[LEFT] <= 0) return FALSE;
  guint flags = step == 0 ? PRIM_COPY_SEND : step < n - 1 ? PRIM_RECV_COPY_SEND : PRIM_RECV;
  prim(out, flags, at[AT], block(plan, cursor) + at[AT], MIN(at[CHUNK], at[LEFT]));
  at[STEP]++;
  previous_index(plan, at);
  if (step == n - 1) next_loop(at, at[CHUNK]);
  return TRUE;
}

static gboolean reduce_scatter_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out) {
  int64_t *at = cursor->state;
  int step = (int)at[STEP], n = plan->n;
  if (at[LEFT] <= 0) return FALSE;
  guint flags = step == 0 ? PRIM_SEND : step < n - 1 ? PRIM_RECV_REDUCE_SEND : PRIM_RECV_REDUCE_COPY;
  prim(out, flags, block(plan, cursor) + at[AT], at[AT], MIN(at[CHUNK], at[LEFT]));
  at[STEP]++;
  previous_index(plan, at);
  if (step == n - 1) next_loop(at, at[CHUNK]);
  return TRUE;
}

static void symmetric_start(const CsimPlan *plan, CsimPlanCursor *cursor) {
  const CsimPlanPart *part = plan_part(plan, cursor->lane.channel);
  int own = position(plan, cursor->lane);
  int64_t *at = cursor->state;
  at[AT] = part->offset;
  at[LEFT] = part->bytes;
  at[CHUNK] = part->chunk;
  at[FIRST_INDEX] = plan->spec.coll == CSIM_COLL_ALL_GATHER ? own : plan_wrap(plan, own - 1);
  at[INDEX] = at[FIRST_INDEX];
}

/* Do all chunks of each loop have the same size? Only the last loop may not. */
static gboolean even_loops(const CsimPlan *plan, CsimBytes left, CsimBytes chunk) {
  CsimBytes rest = left > 0 ? left % (plan->n * chunk) : 0;
  return rest == 0 || rest == plan->n * plan_last_chunk(rest, plan->n, plan->spec.align_bytes);
}

/* Blocks are moved alike from every position; the chunks of an all_reduce are if they are of one size. */
static uint64_t symmetric_signature(const CsimPlan *plan, const CsimPlanCursor *cursor) {
  const int64_t *at = cursor->state;
  gboolean alike = plan->spec.coll != CSIM_COLL_ALL_REDUCE || even_loops(plan, at[LEFT], at[CHUNK]);
  return plan_fold(plan_fold(plan_fold(0, (uint64_t)at[LEFT]), (uint64_t)at[CHUNK]), alike ? 0 : (uint64_t)at[FIRST_INDEX] + 1);
}

/* --- broadcast, reduce ----------------------------------------------------------------------------- */

static guint chain_flags(const CsimPlan *plan, CsimLane lane) {
  int root = plan->spec.root;
  if (plan->spec.coll == CSIM_COLL_BROADCAST) {
    if (lane.rank == root) return PRIM_COPY_SEND;
    return neighbour(plan, lane, 1) == root ? PRIM_RECV : PRIM_RECV_COPY_SEND;
  }
  if (lane.rank == root) return PRIM_RECV_REDUCE_COPY;
  return neighbour(plan, lane, -1) == root ? PRIM_SEND : PRIM_RECV_REDUCE_SEND;
}

static gboolean is_chain(const CsimPlan *plan) {
  return plan->spec.coll == CSIM_COLL_BROADCAST || plan->spec.coll == CSIM_COLL_REDUCE;
}

static void chain_start(const CsimPlan *plan, CsimPlanCursor *cursor) {
  const CsimPlanPart *part = plan_part(plan, cursor->lane.channel);
  guint flags = chain_flags(plan, cursor->lane);
  plan_stream_start(cursor, &(PlanStream){.flags = flags,
                                          .recv_peer = flags & CSIM_PRIM_RECV ? 0 : CSIM_PEER_NONE,
                                          .send_peer = flags & CSIM_PRIM_SEND ? 0 : CSIM_PEER_NONE,
                                          .src = part->offset,
                                          .dst = part->offset,
                                          .bytes = part->bytes,
                                          .chunk = part->chunk});
}

/* --- class ----------------------------------------------------------------------------------------- */

static gboolean ring_setup(CsimPlan *plan, GError **error) {
  switch (plan->spec.coll) {
  case CSIM_COLL_ALL_REDUCE:
    plan->next = all_reduce_next;
    break;
  case CSIM_COLL_ALL_GATHER:
    plan->next = all_gather_next;
    break;
  case CSIM_COLL_REDUCE_SCATTER:
    plan->next = reduce_scatter_next;
    break;
  default:
    plan->next = plan_stream_next;
  }
  return TRUE;
}

static int ring_lanes(const CsimPlan *plan, int rank, int channel) {
  return 1;
}
static CsimRole ring_role(const CsimPlan *plan, CsimLane lane) {
  return CSIM_ROLE_RING;
}

static int ring_n_peers(const CsimPlan *plan, CsimLane lane, gboolean send) {
  if (!is_chain(plan)) return 1;
  return (chain_flags(plan, lane) & (send ? CSIM_PRIM_SEND : CSIM_PRIM_RECV)) != 0;
}

static CsimPeer ring_peer(const CsimPlan *plan, CsimLane lane, gboolean send, int i) {
  return (CsimPeer){neighbour(plan, lane, send ? 1 : -1), CSIM_TAG_DATA};
}

static void ring_start(const CsimPlan *plan, CsimPlanCursor *cursor) {
  if (is_chain(plan))
    chain_start(plan, cursor);
  else
    symmetric_start(plan, cursor);
}

const PlanClass plan_ring = {
    .algo = CSIM_ALGO_RING,
    .name = "Ring",
    .colls = COLL_BIT(CSIM_COLL_ALL_REDUCE) | COLL_BIT(CSIM_COLL_ALL_GATHER) |
             COLL_BIT(CSIM_COLL_REDUCE_SCATTER) | COLL_BIT(CSIM_COLL_BROADCAST) | COLL_BIT(CSIM_COLL_REDUCE),
    .summary = "every rank passes on to the next: least bytes, most steps",
    .setup = ring_setup,
    .lanes = ring_lanes,
    .role = ring_role,
    .n_peers = ring_n_peers,
    .peer = ring_peer,
    .start = ring_start,
    .signature = symmetric_signature,
};
