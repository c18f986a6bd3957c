/*
 * algos/collnet-gather.c - all_gather and reduce_scatter over a reducing network.
 *
 * NCCL 2.30 (src/device/{all_gather,reduce_scatter}.h): the blocks of the ranks that are head h of their nodes, one after
 * another in order of nodes, are *rail* h: nodes * count bytes. Channels deal the rails out in windows of a chunk; a
 * window may lie inside one node's block, or span many small ones. Each step is one message, of a piece for
 * each block that the window touches:
 *   all_gather      a head sends what the window holds of its own block (often nothing), and gets the whole window;
 *   reduce_scatter  a head sends the whole window, summed over its node, and gets its own block's part of the sum.
 */
#include "algos/collnet.h"

/* AT: bytes of the window behind us. */
enum { LOOP, LOOPS, VISIT, AT, HEAD, ROLE = 7 };

static CsimBytes rail_bytes(const CsimPlan *plan) {
  return plan->spec.shape->n_nodes * plan->spec.count_bytes;
}

void collnet_gather_start(const CsimPlan *plan, CsimPlanCursor *cursor, CsimRole role) {
  cursor->state[ROLE] = role;
  cursor->state[HEAD] = collnet_head_number(plan, cursor->lane.rank);
  cursor->state[LOOPS] = collnet_loops(plan, rail_bytes(plan), collnet_chunk(plan));
}

/* A run of bytes inside one rank's block. */
typedef struct {
  CsimBytes block, offset, bytes; /* block: where the rank's block begins in a buffer of blocks */
  gboolean last;
} Piece;

static CsimBytes window_begin(const CsimPlan *plan, const CsimPlanCursor *cursor) {
  return MIN(collnet_begin(plan, cursor->lane.channel, cursor->state[LOOP], collnet_chunk(plan)), rail_bytes(plan));
}

/* The piece of head h's rail from AT on. */
static Piece piece_at(const CsimPlan *plan, const CsimPlanCursor *cursor, int h) {
  const CsimShape *s = plan->spec.shape;
  CsimBytes begin = window_begin(plan, cursor), end = MIN(begin + collnet_chunk(plan), rail_bytes(plan));
  CsimBytes at = begin + cursor->state[AT], count = plan->spec.count_bytes;
  if (at == end) return (Piece){.last = TRUE}; /* an empty window */
  int node = (int)(at / count);
  int rank = collnet_head(plan, s->node_first(s->data, node), h);
  CsimBytes bytes = MIN(end - at, count - at % count);
  return (Piece){rank * count, at % count, bytes, at + bytes == end};
}

/* What the window holds of the own block, which may be nothing. */
static Piece own_piece(const CsimPlan *plan, const CsimPlanCursor *cursor) {
  const CsimShape *s = plan->spec.shape;
  CsimBytes count = plan->spec.count_bytes, own = s->node_of(s->data, cursor->lane.rank) * count;
  CsimBytes begin = window_begin(plan, cursor), end = MIN(begin + collnet_chunk(plan), rail_bytes(plan));
  CsimBytes from = CLAMP(begin, own, own + count), to = CLAMP(end, own, own + count);
  if (from == to) return (Piece){.last = TRUE};
  return (Piece){cursor->lane.rank * count, from - own, to - from, TRUE};
}

/* Next piece, next head (of n), next window. */
static void step(CsimPlanCursor *cursor, const Piece *piece, int n) {
  int64_t *at = cursor->state;
  at[AT] += piece->bytes;
  if (!piece->last) return;
  at[AT] = 0;
  if (++at[VISIT] < n) return;
  at[VISIT] = 0;
  at[LOOP]++;
}

/* --- primitives --------------------------------------------------------------------------------------------- */

static void finish(CsimPrim *out, guint flags, const Piece *piece, CsimBytes src, CsimBytes dst) {
  out->flags = (uint16_t)(flags | (piece->last ? 0 : CSIM_PRIM_PART));
  out->bytes = piece->bytes;
  out->src_offset = flags & CSIM_PRIM_SRC && piece->bytes > 0 ? src + piece->offset : 0;
  out->dst_offset = flags & CSIM_PRIM_DST && piece->bytes > 0 ? dst + piece->offset : 0;
}

static void visit_prim(const CsimPlan *plan, CsimPlanCursor *cursor, gboolean scatter, CsimPrim *out) {
  int i = (int)cursor->state[VISIT], rank = cursor->lane.rank;
  Piece piece = piece_at(plan, cursor, collnet_visit(plan, rank, i));
  *out = (CsimPrim){.recv_peer = scatter ? CSIM_PEER_NONE : i, .send_peer = scatter ? i : CSIM_PEER_NONE};
  finish(out, scatter ? PRIM_SEND : PRIM_RECV, &piece, piece.block, piece.block);
  out->more = scatter && !piece.last;
  step(cursor, &piece, collnet_n_visits(plan, rank));
}

/* A head's own block: into the network (all_gather), or out of it (reduce_scatter). */
static void own_prim(const CsimPlan *plan, CsimPlanCursor *cursor, gboolean send, CsimPrim *out) {
  Piece piece = own_piece(plan, cursor);
  *out = (CsimPrim){.recv_peer = send ? CSIM_PEER_NONE : 0, .send_peer = send ? 0 : CSIM_PEER_NONE};
  finish(out, send ? PRIM_SEND : PRIM_RECV, &piece, 0, 0);
  step(cursor, &piece, 1);
}

/* A head's rail: summed over the node into the network (reduce_scatter), or out of it to the node (all_gather). */
static void rail_prim(const CsimPlan *plan, CsimPlanCursor *cursor, gboolean reduce, CsimPrim *out) {
  Piece piece = piece_at(plan, cursor, (int)cursor->state[HEAD]);
  gboolean own = !collnet_is_nvls(plan), alone = collnet_n_served(plan, cursor->lane.rank) == 0;
  guint up = (alone ? 0 : CSIM_PRIM_RECV) | (own ? CSIM_PRIM_SRC : 0) | CSIM_PRIM_SEND;
  guint down = CSIM_PRIM_RECV | (own ? CSIM_PRIM_DST : 0) | (alone ? 0 : CSIM_PRIM_SEND);
  guint flags = reduce ? up : down;
  *out = (CsimPrim){.recv_peer = !(flags & CSIM_PRIM_RECV) ? CSIM_PEER_NONE : reduce ? CSIM_PEER_ALL : 0,
                    .send_peer = !(flags & CSIM_PRIM_SEND) ? CSIM_PEER_NONE : reduce ? 0 : CSIM_PEER_ALL};
  finish(out, flags, &piece, piece.block, piece.block);
  if (!piece.last) out->more = reduce ? 1 : alone ? 0 : (uint16_t)collnet_n_served(plan, cursor->lane.rank);
  step(cursor, &piece, 1);
}

gboolean collnet_gather_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out) {
  if (cursor->state[LOOP] == cursor->state[LOOPS]) return FALSE;
  gboolean gather = plan->spec.coll == CSIM_COLL_ALL_GATHER;
  switch (collnet_part((CsimRole)cursor->state[ROLE])) {
  case COLLNET_SCATTER:
  case COLLNET_GATHER:
    visit_prim(plan, cursor, !gather, out);
    break;
  case COLLNET_REDUCE:
    if (gather) own_prim(plan, cursor, TRUE, out);
    else rail_prim(plan, cursor, TRUE, out);
    break;
  case COLLNET_BCAST:
    if (gather) rail_prim(plan, cursor, FALSE, out);
    else own_prim(plan, cursor, FALSE, out);
    break;
  }
  return TRUE;
}
