/*
 * algos/p2p.c - sendrecv, alltoall, gather, scatter: groups of sends and receives on NCCL's schedule.
 *
 * A *transfer* from one rank to another belongs to one round of the schedule and is cut into parts, one a
 * channel (CsimShape.p2p_round and p2p_split). What a rank sends and receives in one round is one *work* on
 * each channel that carries a part of either. A channel takes its works in the order of rounds, up to 8 at
 * a time (NCCL 2.30, NCCL_MAX_DEV_WORK_P2P_PER_BATCH), each with a group of warps for each direction; the
 * next batch of 8 begins when all of this one are done.
 *
 * Lanes of (rank, channel): with k = min(8, works), lane i < k sends, lane k + i receives for the works i,
 * i+8, i+16 ...; one more lane copies the part that stays on the rank, when there is one (it has a place in
 * a batch as any work).
 *
 * Memory: a list of rounds a channel, two rounds a rank for the sparse collectives, a count of works for
 * each rank and channel.
 */
#include "algos/p2p-private.h"

#define BATCH_SHIFT 3
#define BATCH (1 << BATCH_SHIFT)

/* Cursor. ROUND: 1 + index in the list of rounds, or 1 + round where the rank has its own two; WORKS: of
 * this channel, seen so far; PEER: 1 + index of the peer at hand; BARRIERS: passed; LEFT: of the part at
 * hand, -1 if there is none. */
enum { ROUND, WORKS, PEER, BARRIERS, SRC, DST, LEFT, CHUNK };

enum { KIND_SEND, KIND_RECV, KIND_COPY };

typedef struct {
  int n_rounds;
  int min_parts, max_parts; /* of all works */
  int *first;               /* [round]: first channel */
  int *self;                /* [rank]: the round in which it meets itself */
  int *list, *list_at;      /* rounds that may use channel c: list[list_at[c] .. list_at[c+1]) */
  int (*own)[2];            /* [rank]: rounds with traffic, ascending, -1 none; NULL: every round */
  int dense_rank;           /* the one rank that has traffic in every round nevertheless, or -1 */
  uint32_t *works;          /* [rank * n_channels + channel] */
  /* The last answer of p2p_peer; last.lane.rank is -1 before the first. */
  CsimPlanCursor last;
  int last_rank;
} P2p;

/* --- the schedule ---------------------------------------------------------------------------------- */

static gboolean round_of(const CsimPlan *plan, int rank, int round, int *to, int *from) {
  const CsimShape *s = plan->spec.shape;
  return s->p2p_round(s->data, rank, round, to, from);
}

static int count_rounds(const CsimPlan *plan) {
  int to, from, n = 0;
  while (round_of(plan, 0, n, &to, &from)) n++;
  return n;
}

static gboolean meets(const CsimPlan *plan, int rank, int peer, gboolean send, int round) {
  int to, from;
  return round_of(plan, rank, round, &to, &from) && (send ? to : from) == peer;
}

int p2p_find_round(const CsimPlan *plan, P2pHints *hints, int rank, int peer, gboolean send) {
  for (guint i = 0; i < G_N_ELEMENTS(hints->rounds); i++)
    if (meets(plan, rank, peer, send, hints->rounds[i])) return hints->rounds[i];
  int to, from;
  for (int round = 0; round_of(plan, rank, round, &to, &from); round++) {
    if ((send ? to : from) != peer) continue;
    hints->rounds[hints->next++ % G_N_ELEMENTS(hints->rounds)] = round;
    return round;
  }
  g_error("collsim bug: ranks %d and %d never meet in the send/recv schedule", rank, peer);
}

static void split(const CsimPlan *plan, int from, int to, CsimBytes bytes, int round, int *n_parts,
                  CsimBytes *part, CsimBytes *chunk, int *first) {
  const CsimShape *s = plan->spec.shape;
  s->p2p_split(s->data, from, to, bytes, round, n_parts, part, chunk, first);
  g_assert(*n_parts >= 1 && *n_parts <= plan->spec.n_channels && *first >= 0 &&
           *first < plan->spec.n_channels);
}

static int count_parts(const CsimPlan *plan, int from, int to, int round) {
  int n, first;
  CsimBytes part, chunk;
  split(plan, from, to, plan->spec.count_bytes, round, &n, &part, &chunk, &first);
  return n;
}

P2pPart p2p_part(const CsimPlan *plan, int from, int to, CsimBytes bytes, int round, int channel) {
  int n, first;
  CsimBytes part, chunk;
  split(plan, from, to, bytes, round, &n, &part, &chunk, &first);
  int i = channel - first;
  if (i < 0) i += plan->spec.n_channels;
  if (i >= n) return (P2pPart){FALSE};
  CsimBytes begin = MIN(i * part, bytes);
  return (P2pPart){TRUE, begin, MIN(part, bytes - begin), chunk};
}

/* --- the collective -------------------------------------------------------------------------------- */

static gboolean is_transfer(const CsimPlan *plan, int from, int to) {
  switch (plan->spec.coll) {
  case CSIM_COLL_SENDRECV:
    return to == plan_wrap(plan, from + 1);
  case CSIM_COLL_GATHER:
    return to == plan->spec.root;
  case CSIM_COLL_SCATTER:
    return from == plan->spec.root;
  default:
    return TRUE;
  }
}

static CsimBytes src_block(const CsimPlan *plan, int to) {
  CsimColl coll = plan->spec.coll;
  return coll == CSIM_COLL_ALLTOALL || coll == CSIM_COLL_SCATTER ? to * plan->spec.count_bytes : 0;
}

static CsimBytes dst_block(const CsimPlan *plan, int from) {
  CsimColl coll = plan->spec.coll;
  return coll == CSIM_COLL_ALLTOALL || coll == CSIM_COLL_GATHER ? from * plan->spec.count_bytes : 0;
}

/* --- works of a channel ---------------------------------------------------------------------------- */

typedef struct {
  int to, from;
  P2pPart send, recv;
} Work;

/* What rank does in the round on this channel; FALSE if nothing. */
static gboolean find_work(const CsimPlan *plan, int rank, int channel, int round, Work *w) {
  if (!round_of(plan, rank, round, &w->to, &w->from)) return FALSE;
  w->send.here = w->recv.here = FALSE;
  CsimBytes bytes = plan->spec.count_bytes;
  if (is_transfer(plan, rank, w->to)) w->send = p2p_part(plan, rank, w->to, bytes, round, channel);
  if (w->from == rank)
    w->recv = w->send;
  else if (is_transfer(plan, w->from, rank))
    w->recv = p2p_part(plan, w->from, rank, bytes, round, channel);
  return w->send.here || w->recv.here;
}

/* The next round to look at, after what the cursor says; -1 at the end. */
static int next_round(const CsimPlan *plan, CsimPlanCursor *cursor) {
  const P2p *p = plan->own;
  CsimLane lane = cursor->lane;
  if (!p->own || lane.rank == p->dense_rank) {
    int i = p->list_at[lane.channel] + (int)cursor->state[ROUND];
    if (i == p->list_at[lane.channel + 1]) return -1;
    cursor->state[ROUND]++;
    return p->list[i];
  }
  for (int k = 0; k < 2; k++) {
    int round = p->own[lane.rank][k];
    if (round < cursor->state[ROUND]) continue;
    cursor->state[ROUND] = round + 1;
    return round;
  }
  return -1;
}

static int slots(const CsimPlan *plan, int rank, int channel) {
  const P2p *p = plan->own;
  return (int)MIN(p->works[rank * plan->spec.n_channels + channel], BATCH);
}

static int kind_of(int k, int index) {
  return index < k ? KIND_SEND : index < 2 * k ? KIND_RECV : KIND_COPY;
}

/* Whether work number `number` may be the lane's, as far as the round tells. */
static gboolean may_be_mine(const P2p *p, int rank, int kind, int slot, int round, int64_t number) {
  if (kind == KIND_COPY) return round == p->self[rank];
  return round != p->self[rank] && (number & (BATCH - 1)) == slot;
}

/* Most works are not the lane's, and it need not look at them when they are sure to be on its channel. */
static gboolean is_sure(const CsimPlan *plan, int channel, int round) {
  const P2p *p = plan->own;
  int i = channel - p->first[round];
  return (i < 0 ? i + plan->spec.n_channels : i) < p->min_parts;
}

/* Goes on to the lane's next part; FALSE if there is no more. */
static gboolean next_part(const CsimPlan *plan, CsimPlanCursor *cursor, Work *w) {
  CsimLane lane = cursor->lane;
  int64_t *at = cursor->state;
  int k = slots(plan, lane.rank, lane.channel), kind = kind_of(k, lane.index), round;
  int slot = kind == KIND_RECV ? lane.index - k : lane.index;
  while ((round = next_round(plan, cursor)) >= 0) {
    gboolean maybe = may_be_mine(plan->own, lane.rank, kind, slot, round, at[WORKS]);
    if (!maybe && is_sure(plan, lane.channel, round)) {
      at[WORKS]++;
      continue;
    }
    if (!find_work(plan, lane.rank, lane.channel, round, w)) continue;
    at[WORKS]++;
    const P2pPart *part = kind == KIND_RECV ? &w->recv : &w->send;
    if (!maybe || !part->here) continue;
    at[SRC] = src_block(plan, w->to) + part->offset;
    at[DST] = dst_block(plan, w->from) + part->offset;
    at[LEFT] = part->bytes;
    at[CHUNK] = part->chunk;
    at[PEER]++;
    return TRUE;
  }
  return FALSE;
}

/* --- iteration ------------------------------------------------------------------------------------- */

static void p2p_start(const CsimPlan *plan, CsimPlanCursor *cursor) {
  cursor->state[LEFT] = -1;
}

static gboolean barrier(int64_t *at, CsimPrim *out) {
  at[BARRIERS]++;
  *out = (CsimPrim){.flags = CSIM_PRIM_BATCH_END, .recv_peer = CSIM_PEER_NONE, .send_peer = CSIM_PEER_NONE};
  return TRUE;
}

static void chunk(int64_t *at, int kind, CsimPrim *out) {
  static const uint16_t flags[] = {PRIM_SEND, PRIM_RECV, PRIM_COPY};
  int peer = (int)at[PEER] - 1;
  *out = (CsimPrim){.flags = flags[kind],
                    .recv_peer = kind == KIND_RECV ? peer : CSIM_PEER_NONE,
                    .send_peer = kind == KIND_SEND ? peer : CSIM_PEER_NONE,
                    .src_offset = kind == KIND_RECV ? 0 : at[SRC],
                    .dst_offset = kind == KIND_SEND ? 0 : at[DST],
                    .bytes = MIN(at[CHUNK], at[LEFT])};
  at[SRC] += out->bytes;
  at[DST] += out->bytes;
  at[LEFT] -= out->bytes;
  if (at[LEFT] == 0) at[LEFT] = -1;
}

static gboolean p2p_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out) {
  int64_t *at = cursor->state;
  Work w;
  if (at[LEFT] < 0 && !next_part(plan, cursor, &w)) {
    const P2p *p = plan->own;
    int64_t works = p->works[cursor->lane.rank * plan->spec.n_channels + cursor->lane.channel];
    return at[BARRIERS] < (works - 1) >> BATCH_SHIFT && barrier(at, out);
  }
  if (at[BARRIERS] < (at[WORKS] - 1) >> BATCH_SHIFT) return barrier(at, out);
  chunk(at, kind_of(slots(plan, cursor->lane.rank, cursor->lane.channel), cursor->lane.index), out);
  return TRUE;
}

/* --- tables ---------------------------------------------------------------------------------------- */

static void find_own_rounds(CsimPlan *plan, P2p *p) {
  P2pHints hints = {0};
  int root = plan->spec.root;
  p->own = g_malloc(sizeof *p->own * (gsize)plan->n);
  for (int r = 0; r < plan->n; r++) {
    int to = -1, from = -1;
    if (plan->spec.coll == CSIM_COLL_SENDRECV) {
      to = p2p_find_round(plan, &hints, r, plan_wrap(plan, r + 1), TRUE);
      from = p2p_find_round(plan, &hints, r, plan_wrap(plan, r - 1), FALSE);
    } else if (r != root && plan->spec.coll == CSIM_COLL_GATHER) {
      to = p2p_find_round(plan, &hints, r, root, TRUE);
    } else if (r != root) {
      from = p2p_find_round(plan, &hints, r, root, FALSE);
    }
    p->own[r][0] = to == from ? -1 : MIN(to, from);
    p->own[r][1] = MAX(to, from);
  }
}

static void find_self_rounds(CsimPlan *plan, P2p *p) {
  P2pHints hints = {0};
  p->self = g_new(int, plan->n);
  for (int r = 0; r < plan->n; r++) p->self[r] = p2p_find_round(plan, &hints, r, r, TRUE);
}

static int most_parts(const CsimPlan *plan, int rank, int round) {
  int to, from, n = 0;
  round_of(plan, rank, round, &to, &from);
  if (is_transfer(plan, rank, to)) n = count_parts(plan, rank, to, round);
  if (is_transfer(plan, from, rank)) n = MAX(n, count_parts(plan, from, rank, round));
  return n;
}

static void count_works(CsimPlan *plan, P2p *p, int rank, int round) {
  int n = most_parts(plan, rank, round), c = p->first[round];
  p->max_parts = MAX(p->max_parts, n);
  p->min_parts = MIN(p->min_parts, n);
  for (int i = 0; i < n; i++) {
    p->works[rank * plan->spec.n_channels + c]++;
    if (++c == plan->spec.n_channels) c = 0;
  }
}

static void count_all_works(CsimPlan *plan, P2p *p) {
  p->works = g_new0(uint32_t, (gsize)plan->n * (gsize)plan->spec.n_channels);
  for (int r = 0; r < plan->n; r++) {
    gboolean dense = !p->own || r == p->dense_rank;
    for (int i = 0; i < (dense ? p->n_rounds : 2); i++) {
      int round = dense ? i : p->own[r][i];
      if (round >= 0) count_works(plan, p, r, round);
    }
  }
}

static void find_first_channels(CsimPlan *plan, P2p *p) {
  p->first = g_new(int, p->n_rounds);
  for (int round = 0; round < p->n_rounds; round++) {
    int to, from, n;
    CsimBytes part, size;
    round_of(plan, 0, round, &to, &from);
    split(plan, 0, to, plan->spec.count_bytes, round, &n, &part, &size, &p->first[round]);
  }
}

static void list_rounds(CsimPlan *plan, P2p *p) {
  int n = plan->spec.n_channels, at = 0;
  p->list = g_new(int, (gsize)p->n_rounds *(gsize)p->max_parts);
  p->list_at = g_new(int, n + 1);
  for (int c = 0; c < n; c++) {
    p->list_at[c] = at;
    for (int round = 0; round < p->n_rounds; round++) {
      int i = c - p->first[round];
      if ((i < 0 ? i + n : i) < p->max_parts) p->list[at++] = round;
    }
  }
  p->list_at[n] = at;
}

static gboolean p2p_setup(CsimPlan *plan, GError **error) {
  P2p *p = plan->own = g_new0(P2p, 1);
  p->n_rounds = count_rounds(plan);
  p->dense_rank = plan->spec.coll == CSIM_COLL_SENDRECV ? -1 : plan->spec.root;
  p->last.lane.rank = -1;
  p->min_parts = plan->spec.n_channels;
  find_self_rounds(plan, p);
  if (plan->spec.coll != CSIM_COLL_ALLTOALL) find_own_rounds(plan, p);
  find_first_channels(plan, p);
  count_all_works(plan, p);
  list_rounds(plan, p);
  return TRUE;
}

static void p2p_teardown(CsimPlan *plan) {
  P2p *p = plan->own;
  g_free(p->first);
  g_free(p->self);
  g_free(p->list);
  g_free(p->list_at);
  g_free(p->own);
  g_free(p->works);
  g_free(p);
}

/* --- lanes and peers ------------------------------------------------------------------------------- */

static gboolean has_copy(const CsimPlan *plan, int rank, int channel) {
  if (!is_transfer(plan, rank, rank)) return FALSE;
  int round = ((const P2p *)plan->own)->self[rank];
  return p2p_part(plan, rank, rank, plan->spec.count_bytes, round, channel).here;
}

static int p2p_lanes(const CsimPlan *plan, int rank, int channel) {
  return 2 * slots(plan, rank, channel) + has_copy(plan, rank, channel);
}

static CsimRole p2p_role(const CsimPlan *plan, CsimLane lane) {
  static const CsimRole roles[] = {CSIM_ROLE_P2P_SEND, CSIM_ROLE_P2P_RECV, CSIM_ROLE_P2P_COPY};
  return roles[kind_of(slots(plan, lane.rank, lane.channel), lane.index)];
}

static int p2p_n_peers(const CsimPlan *plan, CsimLane lane, gboolean send) {
  if (p2p_role(plan, lane) != (send ? CSIM_ROLE_P2P_SEND : CSIM_ROLE_P2P_RECV)) return 0;
  CsimPlanCursor cursor = {.lane = lane};
  Work w;
  int n = 0;
  while (next_part(plan, &cursor, &w)) n++;
  return n;
}

static CsimPeer p2p_peer(const CsimPlan *plan, CsimLane lane, gboolean send, int i) {
  P2p *p = plan->own;
  CsimLane l = p->last.lane;
  gboolean goes_on = l.rank == lane.rank && l.channel == lane.channel && l.index == lane.index;
  if (!goes_on || p->last.state[PEER] > i + 1) p->last = (CsimPlanCursor){.lane = lane};
  while (p->last.state[PEER] <= i) {
    Work w;
    gboolean found = next_part(plan, &p->last, &w);
    g_assert(found);
    p->last_rank = send ? w.to : w.from;
  }
  return (CsimPeer){p->last_rank, CSIM_TAG_DATA};
}

const PlanClass plan_p2p = {
    .algo = CSIM_ALGO_P2P,
    .name = "SendRecv",
    .colls = COLL_BIT(CSIM_COLL_SENDRECV) | COLL_BIT(CSIM_COLL_ALLTOALL) | COLL_BIT(CSIM_COLL_GATHER) |
             COLL_BIT(CSIM_COLL_SCATTER),
    .summary = "grouped sends and receives, up to 8 pairs at once on a channel",
    .setup = p2p_setup,
    .teardown = p2p_teardown,
    .lanes = p2p_lanes,
    .role = p2p_role,
    .n_peers = p2p_n_peers,
    .peer = p2p_peer,
    .start = p2p_start,
    .next = p2p_next,
};
