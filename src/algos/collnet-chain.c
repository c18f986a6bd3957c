/*
 * algos/collnet-chain.c - CollNetChain: all_reduce by a chain inside each node and a reducing network between the heads.
 *
 * NCCL 2.30 (src/device/all_reduce.h, CollNetChain): the GPUs of a node form a chain on each channel; its first GPU is
 * the head, which faces the network. Two workers a rank, side by side:
 *   up    receives from the next GPU of the chain, adds its own input, sends to the one before it, the head to the network;
 *   down  receives from the GPU before it, the head from the network, stores, sends to the next.
 * Channels take turns chunk by chunk (collnet.h).
 */
#include "algos/collnet.h"

enum { LOOP, LOOPS, FLAGS, RECV_PEER, SEND_PEER };

typedef struct {
  int up, down;
} Link;

static Link link_of(const CsimPlan *plan, CsimLane lane) {
  const CsimShape *s = plan->spec.shape;
  Link link;
  s->chain(s->data, lane.channel, lane.rank, &link.up, &link.down);
  return link;
}

/* --- lanes and peers --------------------------------------------------------------------------------------- */

static int chain_lanes(const CsimPlan *plan, int rank, int channel) {
  return 2;
}

static CsimRole chain_role(const CsimPlan *plan, CsimLane lane) {
  return lane.index == 0 ? CSIM_ROLE_CHAIN_UP : CSIM_ROLE_CHAIN_DOWN;
}

/* The lane's side towards the head: sends of the way up, receives of the way down. */
static gboolean faces_head(CsimLane lane, gboolean send) {
  return (lane.index == 0) == send;
}

static int chain_n_peers(const CsimPlan *plan, CsimLane lane, gboolean send) {
  return faces_head(lane, send) || link_of(plan, lane).down >= 0;
}

static CsimPeer chain_peer(const CsimPlan *plan, CsimLane lane, gboolean send, int i) {
  Link link = link_of(plan, lane);
  if (!faces_head(lane, send)) return (CsimPeer){link.down, CSIM_TAG_DATA};
  if (link.up < 0) return (CsimPeer){lane.rank, CSIM_TAG_NETWORK};
  return (CsimPeer){link.up, CSIM_TAG_DATA};
}

/* --- iteration --------------------------------------------------------------------------------------------- */

static void chain_start(const CsimPlan *plan, CsimPlanCursor *cursor) {
  int64_t *at = cursor->state;
  gboolean last = link_of(plan, cursor->lane).down < 0, up = cursor->lane.index == 0;
  guint way_up = last ? PRIM_SEND : PRIM_RECV_REDUCE_SEND, way_down = last ? PRIM_RECV : PRIM_RECV_COPY_SEND;
  at[FLAGS] = up ? way_up : way_down;
  at[RECV_PEER] = up && last ? CSIM_PEER_NONE : 0;
  at[SEND_PEER] = !up && last ? CSIM_PEER_NONE : 0;
  at[LOOPS] = collnet_loops(plan, plan->spec.count_bytes, collnet_chunk(plan));
}

static gboolean chain_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out) {
  int64_t *at = cursor->state;
  if (at[LOOP] == at[LOOPS]) return FALSE;
  CsimBytes chunk = collnet_chunk(plan), total = plan->spec.count_bytes;
  CsimBytes begin = collnet_begin(plan, cursor->lane.channel, at[LOOP]++, chunk);
  begin = MIN(begin, total);
  guint flags = (guint)at[FLAGS];
  *out = (CsimPrim){.flags = (uint16_t)flags,
                    .recv_peer = (int)at[RECV_PEER],
                    .send_peer = (int)at[SEND_PEER],
                    .src_offset = flags & CSIM_PRIM_SRC ? begin : 0,
                    .dst_offset = flags & CSIM_PRIM_DST ? begin : 0,
                    .bytes = MIN(chunk, total - begin)};
  return TRUE;
}

/* The stream is told by what a loop does and by the channel's place among the others. */
static uint64_t chain_signature(const CsimPlan *plan, const CsimPlanCursor *cursor) {
  const int64_t *at = cursor->state;
  uint64_t peers = (uint64_t)(uint32_t)at[RECV_PEER] << 32 | (uint32_t)at[SEND_PEER];
  return plan_fold(plan_fold(plan_fold(0, (uint64_t)at[FLAGS]), peers), (uint64_t)cursor->lane.channel);
}

/* --- class ------------------------------------------------------------------------------------------------- */

static gboolean chain_setup(CsimPlan *plan, GError **error) {
  if (plan->spec.shape->network) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "CollNetChain %s needs a network that reduces (SHARP)",
              csim_coll_name(plan->spec.coll));
  return FALSE;
}

const PlanClass plan_collnet_chain = {
    .algo = CSIM_ALGO_COLLNET_CHAIN,
    .name = "CollNetChain",
    .colls = COLL_BIT(CSIM_COLL_ALL_REDUCE),
    .summary = "a chain in each node, the network's switches reduce between the heads (SHARP)",
    .setup = chain_setup,
    .lanes = chain_lanes,
    .role = chain_role,
    .n_peers = chain_n_peers,
    .peer = chain_peer,
    .start = chain_start,
    .signature = chain_signature,
    .next = chain_next,
};
