/* Send and receive: who talks to whom in which round, on which channels, in which pieces. Source: NCCL 2.30.7, src/init.cc (schedule),
 * src/enqueue.cc (pieces), src/include/channel.h (channels). */
#include "nccl/tune-internal.h"

#define BATCH 8         /* send/recv pairs that run together on a channel */
#define PART_ALIGN 4096 /* parts start on pages */
#define LEAST_CHUNK 512 /* a row of a warp's 16-byte packs */

static int gcd(int a, int b) {
  return b ? gcd(b, a % b) : a;
}
static int pow2_up(int n) {
  return n <= 1 ? 1 : 1 << g_bit_storage((gulong)n - 1);
}

/* A rank's node and place in it; without a communicator nodes are alike. */
static void place_of(const CsimTuning *t, int rank, int *node, int *local) {
  int size = t->in.n_ranks / t->in.n_nodes;
  *node = rank / size;
  *local = rank % size;
  if (!t->comm) return;
  CsimRankPlace place = csim_comm_place(t->comm, rank);
  *node = place.node;
  *local = place.local_rank;
}

/* Node by node, inside a node by local rank. first: where each node begins. */
static void fill_positions(CsimTuning *t, const int *first) {
  t->p2p_position = g_new(int, t->in.n_ranks);
  t->p2p_rank_at = g_new(int, t->in.n_ranks);
  for (int r = 0; r < t->in.n_ranks; r++) {
    int node, local;
    place_of(t, r, &node, &local);
    t->p2p_position[r] = first[node] + local;
    t->p2p_rank_at[first[node] + local] = r;
  }
}

/* Ranks handled together: a divisor of every node's size; on one node all of it. */
static int group_size(const CsimTuning *t, const CsimNcclEnv *env, const int *first) {
  if (t->in.n_nodes == 1) return t->in.n_ranks;
  int size = (int)CLAMP(csim_nccl_env_int(env, "NCCL_P2P_SCHEDULE_GROUP_SIZE", 8), 1, t->in.n_ranks);
  for (int n = 0; n < t->in.n_nodes; n++) size = gcd(size, first[n + 1] - first[n]);
  return size;
}

/* Group distances in the order 0, 1, 3, 6, 10 ... modulo a power of two, which visits each once. */
static GArray *group_deltas(int n_groups) {
  GArray *deltas = g_array_new(FALSE, FALSE, sizeof(int));
  int modulus = pow2_up(n_groups), delta = 0;
  for (int i = 1; i <= modulus; i++) {
    if (delta < n_groups) g_array_append_val(deltas, delta);
    delta = (delta + i) & (modulus - 1);
  }
  return deltas;
}

static int *node_starts(const CsimTuning *t) {
  int *first = g_new0(int, t->in.n_nodes + 1);
  for (int r = 0; r < t->in.n_ranks; r++) {
    int node, local;
    place_of(t, r, &node, &local);
    first[node + 1]++;
  }
  for (int n = 0; n < t->in.n_nodes; n++) first[n + 1] += first[n];
  return first;
}

static void fill_schedule(CsimTuning *t, const CsimNcclEnv *env) {
  g_autofree int *first = node_starts(t);
  fill_positions(t, first);
  t->p2p_group = group_size(t, env, first);
  t->p2p_delta = group_deltas(t->in.n_ranks / t->p2p_group);
}

static CsimBytes default_chunk(const CsimTuning *t, const CsimNcclEnv *env) {
  if (t->in.n_nodes == 1 && t->in.all_nvlink) return csim_nccl_env_int(env, "NCCL_P2P_NVL_CHUNKSIZE", 524288);
  if (t->in.n_nodes == 1) return csim_nccl_env_int(env, "NCCL_P2P_PCI_CHUNKSIZE", 131072);
  gboolean grace_blackwell = t->in.cpu_arch == CSIM_ARCH_ARM && t->in.min_sm >= 100;
  return csim_nccl_env_int(env, "NCCL_P2P_NET_CHUNKSIZE", grace_blackwell ? 262144 : 131072);
}

void csim_tune_fill_p2p(CsimTuning *t, const CsimNcclEnv *env) {
  t->p2p_chunk = CLAMP(default_chunk(t, env), LEAST_CHUNK, t->buffer[CSIM_PROTO_SIMPLE] / CSIM_STEPS);
  int64_t forced = csim_nccl_env_int(env, "NCCL_CHUNK_SIZE", 0);
  t->p2p_chunk_forced = forced > 0 ? CLAMP(forced, LEAST_CHUNK, G_MAXINT) : 0;
  t->p2p_ll_threshold = CLAMP(csim_nccl_env_int(env, "NCCL_P2P_LL_THRESHOLD", 16384), 0, G_MAXINT);
  t->p2p_net_ll = csim_nccl_env_int(env, "NCCL_ALLOC_P2P_NET_LL_BUFFERS", 0) == 1;
  fill_schedule(t, env);
}

gboolean csim_tuning_p2p_round(const CsimTuning *t, int rank, int round, int *send_to, int *recv_from) {
  int g = t->p2p_group, n_groups = t->in.n_ranks / g;
  if (round < 0 || round >= t->in.n_ranks) return FALSE;
  int delta = g_array_index(t->p2p_delta, int, round / g), step = round % g;
  int group = t->p2p_position[rank] / g, local = t->p2p_position[rank] % g;
  *send_to = t->p2p_rank_at[(group + delta) % n_groups * g + (local + step) % g];
  *recv_from = t->p2p_rank_at[(group - delta + n_groups) % n_groups * g + (local - step + g) % g];
  return TRUE;
}

static guint reverse_bits(guint value, int n_bits) {
  guint out = 0;
  for (int i = 0; i < n_bits; i++) out |= ((value >> i) & 1) << (n_bits - 1 - i);
  return out;
}

/* Neighbouring rounds start far apart. */
static int first_channel(const CsimTuning *t, int round) {
  int g = t->p2p_group, base = round;
  if (t->in.n_nodes > 1) base = round / g * ((g + BATCH - 1) / BATCH) + round % g / BATCH;
  return (int)reverse_bits((guint)base, csim_log2_floor(MAX(t->in.n_p2p_channels, 1)));
}

static gboolean over_network(const CsimTuning *t, int from, int to) {
  if (t->comm) return csim_comm_over_network(t->comm, from, to);
  int node_a, node_b, local;
  place_of(t, from, &node_a, &local);
  place_of(t, to, &node_b, &local);
  return node_a != node_b;
}

/* The kernel gets the chunk as an 8-bit float with 3 bits of mantissa. */
static CsimBytes round_to_float8(CsimBytes n) {
  int shift = MAX(csim_log2_floor(n) - 3, 0);
  return n >> shift << shift;
}

/* step: raw bytes of a slot. Data bytes out. */
static CsimBytes p2p_chunk(const CsimTuning *t, CsimProto proto, gboolean network, CsimBytes step,
                           CsimBytes bytes) {
  CsimBytes chunk = step;
  if (t->p2p_chunk_forced)
    chunk = t->p2p_chunk_forced;
  else if (network && proto == CSIM_PROTO_SIMPLE && bytes < step)
    chunk /= 4;
  else if (network && bytes < 8 * step)
    chunk /= 2;
  return round_to_float8(proto == CSIM_PROTO_LL ? chunk / 2 : chunk);
}

/* As few channels as keep parts above least, then doubled while parts are above most. */
static int count_parts(const CsimTuning *t, CsimBytes step, CsimBytes bytes, int n_min, int n_max) {
  gboolean several = t->in.n_nodes > 1;
  CsimBytes least = several ? step / 2 : step / 8, most = several ? step : 32 * step;
  int n = (int)CLAMP((bytes + least - 1) / least, 1, n_min);
  CsimBytes part = MAX(least, (bytes + n - 1) / n);
  while (part > most && n <= n_max / 2) {
    n *= 2;
    part = (bytes + n - 1) / n;
  }
  return n;
}

/* Channels that a peer may use even when all peers are busy at once. */
static int fair_channels(const CsimTuning *t) {
  int n = MAX(t->in.n_p2p_per_peer, 1);
  while (n > 1 && (CsimBytes)n * t->in.n_ranks > t->in.n_p2p_channels) n /= 2;
  return n;
}

/* Pieces are cut for Simple; LL then serves what leaves little for each channel. */
void csim_tuning_p2p_split(const CsimTuning *t, int from, int to, CsimBytes bytes, int round,
                           CsimP2pSplit *out) {
  out->first_channel = first_channel(t, round);
  gboolean network = from != to && over_network(t, from, to);
  out->n_parts = count_parts(t, t->p2p_chunk, bytes, fair_channels(t), MAX(t->in.n_p2p_per_peer, 1));
  gboolean ll = from != to && bytes <= out->n_parts * t->p2p_ll_threshold && (!network || t->p2p_net_ll);
  out->proto = ll ? CSIM_PROTO_LL : CSIM_PROTO_SIMPLE;
  CsimBytes step = ll ? t->buffer[CSIM_PROTO_LL] / CSIM_STEPS : t->p2p_chunk;
  out->chunk = p2p_chunk(t, out->proto, network, step, bytes);
  CsimBytes part = (bytes + out->n_parts - 1) / out->n_parts;
  out->part = (part + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
}
