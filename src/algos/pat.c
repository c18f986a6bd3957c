/*
 * algos/pat.c - PAT: all_gather and reduce_scatter over parallel binomial trees.
 *
 * NCCL 2.30 (src/include/collectives.h, classes PatAGAlgorithm and PatRSAlgorithm). Every rank is the root
 * of a binomial tree; dimension k joins ranks at distance 2^k (modulo n). Let d be how far the root of a
 * block lies ahead of a rank, k the number of the lowest set bit of d:
 *   all_gather      the block comes over dimension k from rank + 2^k, and goes on to rank - 2^j for all j <
 *                   k with d + 2^j < n (the root, d = 0, begins and sends over all dimensions);
 *   reduce_scatter  the same backwards in time: partial sums come from rank - 2^j, the own input is added,
 *                   all goes to rank + 2^k.
 * So each rank has one primitive a block (and chunk of it): n steps, but many blocks can share a message.
 *
 * Order and messages: with P the power of two at or above n, A blocks form a group, A*D = P: group a has d
 * = a + i*D, i < A. Groups go in the order a = 0 .. D-1, inside a group i goes by its reversed bits, so
 * that each rank has what it must pass on; reduce_scatter goes through all of it backwards. `post` blocks
 * of a group share a message: as many (a power of two) as fit in a slot. A is then doubled up to three
 * times more, which fills the 8 slots; neither goes past n/2. With small blocks this makes log2(n)
 * messages, with large ones n - 1.
 *
 * Taken from NCCL: dimensions, trees, group and message sizes. Derived here, and only checked by the verifier, not
 * against NCCL's steps: the order inside a group (any other would break the order of messages on a connection).
 * Beside NCCL: there the parts of one step are spread over groups of warps; here a lane does them one by one.
 */
#include "algos/plan-private.h"

/* Cursor. AT, LEFT: of every block; INDEX: blocks of this chunk behind us, present or not; the rest is the
 * channel's. */
enum { AT, LEFT, INDEX, CHUNK, GROUP_BLOCKS, GROUPS, POST };

#define SLOTS 8 /* NCCL_STEPS */

static gboolean is_gather(const CsimPlan *plan) {
  return plan->spec.coll == CSIM_COLL_ALL_GATHER;
}

static int dimensions(int n) {
  int k = 0;
  while (1 << k < n) k++;
  return k;
}

static int lowest_bit(int d) {
  return g_bit_nth_lsf((gulong)d, -1);
}

/* Dimensions over which a rank at distance d deals with ranks further from the root: the first so many. */
static int count_children(const CsimPlan *plan, int d) {
  int most = d == 0 ? dimensions(plan->n) : lowest_bit(d), m = 0;
  while (m < most && d + (1 << m) < plan->n) m++;
  return m;
}

static int reverse_bits(int v, int size) {
  int out = 0;
  for (int bit = 1; bit < size; bit <<= 1) {
    out = out << 1 | (v & 1);
    v >>= 1;
  }
  return out;
}

/* Distance of a group's block number q in order. */
static int distance(const int64_t *at, int group, int q) {
  return group + reverse_bits(q, (int)at[GROUP_BLOCKS]) * (int)at[GROUPS];
}

/* --- messages -------------------------------------------------------------------------------------- */

/* all_gather: over how many dimensions, of the first m, a later block of this message goes. */
static int more_gather(const CsimPlan *plan, const int64_t *at, int group, int q, int m) {
  int more = 0, end = (q / (int)at[POST] + 1) * (int)at[POST];
  for (int later = q + 1; later < end && more < m; later++) {
    int d = distance(at, group, later);
    if (d < plan->n) more = MAX(more, MIN(m, count_children(plan, d)));
  }
  return more;
}

/* reduce_scatter: whether a later one (going down) takes the same dimension. */
static int more_scatter(const CsimPlan *plan, const int64_t *at, int group, int q, int dimension) {
  int begin = q / (int)at[POST] * (int)at[POST];
  for (int later = q - 1; later >= begin; later--) {
    int d = distance(at, group, later);
    if (d > 0 && d < plan->n && lowest_bit(d) == dimension) return 1;
  }
  return 0;
}

/* --- iteration ------------------------------------------------------------------------------------- */

static int first_peers(int m) {
  return m > 0 ? CSIM_PEER_FIRST(m) : CSIM_PEER_NONE;
}

static void gather_prim(const CsimPlan *plan, const CsimPlanCursor *cursor, int group, int q, CsimPrim *out) {
  const int64_t *at = cursor->state;
  int d = distance(at, group, q), m = count_children(plan, d);
  CsimBytes block = (cursor->lane.rank + d) % plan->n * plan->spec.count_bytes;
  guint flags = CSIM_PRIM_DST | (d == 0 ? CSIM_PRIM_SRC : CSIM_PRIM_RECV) | (m > 0 ? CSIM_PRIM_SEND : 0);
  *out = (CsimPrim){.flags = (uint16_t)flags,
                    .more = (uint16_t)more_gather(plan, at, group, q, m),
                    .recv_peer = d == 0 ? CSIM_PEER_NONE : lowest_bit(d),
                    .send_peer = first_peers(m),
                    .src_offset = d == 0 ? at[AT] : 0,
                    .dst_offset = block + at[AT],
                    .bytes = MIN(at[CHUNK], at[LEFT])};
}

static void scatter_prim(const CsimPlan *plan, const CsimPlanCursor *cursor, int group, int q,
                         CsimPrim *out) {
  const int64_t *at = cursor->state;
  int d = distance(at, group, q), m = count_children(plan, d);
  CsimBytes block = (cursor->lane.rank + d) % plan->n * plan->spec.count_bytes;
  guint flags = CSIM_PRIM_SRC | (d == 0 ? CSIM_PRIM_DST : CSIM_PRIM_SEND) | (m > 0 ? CSIM_PRIM_RECV : 0);
  *out = (CsimPrim){.flags = (uint16_t)flags,
                    .more = d == 0 ? 0 : (uint16_t)more_scatter(plan, at, group, q, lowest_bit(d)),
                    .recv_peer = first_peers(m),
                    .send_peer = d == 0 ? CSIM_PEER_NONE : lowest_bit(d),
                    .src_offset = block + at[AT],
                    .dst_offset = d == 0 ? at[AT] : 0,
                    .bytes = MIN(at[CHUNK], at[LEFT])};
}

static gboolean pat_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out) {
  int64_t *at = cursor->state;
  int blocks = (int)at[GROUP_BLOCKS], total = blocks * (int)at[GROUPS];
  while (at[LEFT] > 0) {
    if (at[INDEX] == total) {
      at[INDEX] = 0;
      at[AT] += at[CHUNK];
      at[LEFT] -= at[CHUNK];
      continue;
    }
    int i = (int)at[INDEX]++;
    if (!is_gather(plan)) i = total - 1 - i;
    int group = i / blocks, q = i % blocks;
    if (distance(at, group, q) >= plan->n) continue;
    if (is_gather(plan))
      gather_prim(plan, cursor, group, q, out);
    else
      scatter_prim(plan, cursor, group, q, out);
    return TRUE;
  }
  return FALSE;
}

/* How many blocks share a message, and how many a group. */
static void choose_groups(const CsimPlan *plan, CsimBytes block, int64_t *at) {
  int n = plan->n, blocks = 1;
  while (plan->spec.slot_bytes / (block * blocks) >= 2 && blocks < n / 2) blocks *= 2;
  at[POST] = blocks;
  for (int left = SLOTS; left > 1 && blocks < n / 2; left /= 2) blocks *= 2;
  at[GROUP_BLOCKS] = blocks;
  at[GROUPS] = (1 << dimensions(n)) / blocks;
}

static void pat_start(const CsimPlan *plan, CsimPlanCursor *cursor) {
  const CsimPlanPart *part = plan_part(plan, cursor->lane.channel);
  if (part->bytes == 0) return;
  cursor->state[AT] = part->offset;
  cursor->state[LEFT] = part->bytes;
  cursor->state[CHUNK] = part->chunk;
  choose_groups(plan, part->bytes, cursor->state);
}

/* --- class ----------------------------------------------------------------------------------------- */

static gboolean pat_setup(CsimPlan *plan, GError **error) {
  if (plan->spec.slot_bytes > 0) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "PAT %s is not simulated here",
              csim_coll_name(plan->spec.coll));
  return FALSE;
}

static int pat_lanes(const CsimPlan *plan, int rank, int channel) {
  return 1;
}
static CsimRole pat_role(const CsimPlan *plan, CsimLane lane) {
  return CSIM_ROLE_PAT;
}
static int pat_n_peers(const CsimPlan *plan, CsimLane lane, gboolean send) {
  return dimensions(plan->n);
}

static CsimPeer pat_peer(const CsimPlan *plan, CsimLane lane, gboolean send, int i) {
  gboolean ahead = is_gather(plan) != send;
  return (CsimPeer){plan_wrap(plan, ahead ? lane.rank + (1 << i) : lane.rank - (1 << i)), CSIM_TAG_DATA};
}

const PlanClass plan_pat = {
    .algo = CSIM_ALGO_PAT,
    .name = "PAT",
    .colls = COLL_BIT(CSIM_COLL_ALL_GATHER) | COLL_BIT(CSIM_COLL_REDUCE_SCATTER),
    .summary = "parallel binomial trees, small blocks share messages: log2(n) steps at best",
    .setup = pat_setup,
    .lanes = pat_lanes,
    .role = pat_role,
    .n_peers = pat_n_peers,
    .peer = pat_peer,
    .start = pat_start,
    .next = pat_next,
};
