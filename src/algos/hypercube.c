/*
 * algos/hypercube.c - nccl-tests' hypercube: an all-gather by recursive doubling out of sends and receives.
 *
 * nccl-tests (src/hypercube.cu): first the own block is copied to its place; then, for mask = 1, 2, 4 ..
 * n/2, rank r exchanges with r^mask all the `mask` blocks that it holds, beginning with block r &
 * ~(mask-1). Each step is a group of its own, so a kernel of its own, and sends what the steps before
 * received. n must be a power of two.
 *
 * Lanes of (rank, channel): 0 sends, 1 receives; on channel 0 lane 2 makes the copy. The peer of step k is
 * peer k.
 */
#include "algos/p2p-private.h"

/* LEFT: of the transfer at hand, -1 if there is none. STEP: kernels behind us, the copy counted as one. */
enum { STEP, OFFSET, LEFT, CHUNK };
enum { LANE_SEND, LANE_RECV, LANE_COPY };

typedef struct {
  int n_steps;
  int *round; /* [(step * n + rank) * 2 + (send ? 0 : 1)] of the send/recv schedule */
} Hypercube;

static int steps(const CsimPlan *plan) {
  return ((const Hypercube *)plan->own)->n_steps;
}

static gboolean cube_setup(CsimPlan *plan, GError **error) {
  int n = plan->n, n_steps = 0;
  if (n & (n - 1)) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED,
                "hypercube with %d ranks; the number must be a power of two", n);
    return FALSE;
  }
  while (1 << n_steps < n) n_steps++;
  Hypercube *h = plan->own = g_new(Hypercube, 1);
  h->n_steps = n_steps;
  h->round = g_new(int, MAX(1, (gsize)n_steps * (gsize)n * 2));
  P2pHints hints = {0};
  for (int i = 0, k = 0; k < n_steps; k++)
    for (int rank = 0; rank < n; rank++) {
      h->round[i++] = p2p_find_round(plan, &hints, rank, rank ^ (1 << k), TRUE);
      h->round[i++] = p2p_find_round(plan, &hints, rank, rank ^ (1 << k), FALSE);
    }
  return TRUE;
}

static void cube_teardown(CsimPlan *plan) {
  Hypercube *h = plan->own;
  g_free(h->round);
  g_free(h);
}

static int cube_lanes(const CsimPlan *plan, int rank, int channel) {
  return channel == 0 ? 3 : 2;
}

static CsimRole cube_role(const CsimPlan *plan, CsimLane lane) {
  static const CsimRole roles[] = {CSIM_ROLE_P2P_SEND, CSIM_ROLE_P2P_RECV, CSIM_ROLE_P2P_COPY};
  return roles[lane.index];
}

static int cube_n_peers(const CsimPlan *plan, CsimLane lane, gboolean send) {
  return lane.index == (send ? LANE_SEND : LANE_RECV) ? steps(plan) : 0;
}

static CsimPeer cube_peer(const CsimPlan *plan, CsimLane lane, gboolean send, int i) {
  return (CsimPeer){lane.rank ^ (1 << i), CSIM_TAG_DATA};
}

/* The lane's part of step k, if its channel has one. */
static void begin_step(const CsimPlan *plan, CsimPlanCursor *cursor, int k) {
  const Hypercube *h = plan->own;
  CsimLane lane = cursor->lane;
  if (lane.index == LANE_COPY) return;
  gboolean send = lane.index == LANE_SEND;
  int peer = lane.rank ^ (1 << k), from = send ? lane.rank : peer;
  CsimBytes bytes = plan->spec.count_bytes << k;
  int round = h->round[((gsize)k * plan->n + lane.rank) * 2 + (send ? 0 : 1)];
  P2pPart part = p2p_part(plan, from, send ? peer : lane.rank, bytes, round, lane.channel);
  if (!part.here) return;
  cursor->state[OFFSET] = (from >> k << k) * plan->spec.count_bytes + part.offset;
  cursor->state[LEFT] = part.bytes;
  cursor->state[CHUNK] = part.chunk;
}

static void cube_start(const CsimPlan *plan, CsimPlanCursor *cursor) {
  gboolean copies = cursor->lane.index == LANE_COPY;
  cursor->state[OFFSET] = cursor->lane.rank * plan->spec.count_bytes;
  cursor->state[LEFT] = copies ? plan->spec.count_bytes : -1;
  cursor->state[CHUNK] = plan->spec.count_bytes;
}

static void chunk(const CsimPlanCursor *cursor, CsimPrim *out) {
  static const uint16_t flags[] = {PRIM_SEND | CSIM_PRIM_FROM_DST, PRIM_RECV, PRIM_COPY};
  const int64_t *at = cursor->state;
  int index = cursor->lane.index, peer = (int)at[STEP] - 1;
  *out = (CsimPrim){.flags = flags[index],
                    .recv_peer = index == LANE_RECV ? peer : CSIM_PEER_NONE,
                    .send_peer = index == LANE_SEND ? peer : CSIM_PEER_NONE,
                    .src_offset = index == LANE_SEND ? at[OFFSET] : 0,
                    .dst_offset = index == LANE_SEND ? 0 : at[OFFSET],
                    .bytes = MIN(at[CHUNK], at[LEFT])};
}

static gboolean cube_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out) {
  int64_t *at = cursor->state;
  if (at[LEFT] >= 0) {
    chunk(cursor, out);
    at[OFFSET] += out->bytes;
    at[LEFT] -= out->bytes;
    if (at[LEFT] == 0) at[LEFT] = -1;
    return TRUE;
  }
  if (at[STEP] == steps(plan)) return FALSE;
  *out = (CsimPrim){.flags = CSIM_PRIM_KERNEL_END, .recv_peer = CSIM_PEER_NONE, .send_peer = CSIM_PEER_NONE};
  begin_step(plan, cursor, (int)at[STEP]++);
  return TRUE;
}

const PlanClass plan_hypercube = {
    .algo = CSIM_ALGO_P2P,
    .name = "Hypercube",
    .colls = COLL_BIT(CSIM_COLL_HYPERCUBE),
    .summary = "recursive doubling out of sends and receives, a kernel a step",
    .setup = cube_setup,
    .teardown = cube_teardown,
    .lanes = cube_lanes,
    .role = cube_role,
    .n_peers = cube_n_peers,
    .peer = cube_peer,
    .start = cube_start,
    .next = cube_next,
};
