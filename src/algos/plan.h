/*
 * algos/plan.h - an algorithm as a plan: per-lane streams of primitives, pure data.
 *
 * Used by: exec (runs them), tests (verify them with no network). Implemented by ring.c, tree.c, nvls.c,
 * p2p.c ...
 *
 * A *lane* is one sequential worker: (rank, channel, role). Rings have one role; trees two (reduce-up,
 * broadcast-down; one at the root); NVLS three (scatter, reduce+broadcast at heads, gather); send/recv up
 * to 8 senders and 8 receivers a channel. A lane executes its primitives in order. Messages between two
 * lanes travel in order over a connection, which is named by (channel, from rank, to rank, tag); primitive
 * k that sends on a connection matches the k-th that receives on it.
 *
 * A plan knows offsets in the user's buffers, so that it can be verified on symbolic data: every rank must
 * end with every contribution exactly once.
 */
#ifndef CSIM_ALGOS_PLAN_H
#define CSIM_ALGOS_PLAN_H

#include "collsim/types.h"

/* What a primitive does; NCCL's names are combinations: send = SRC|SEND, recv = RECV|DST, recvReduceSend =
 * RECV|SRC|SEND, recvCopySend = RECV|DST|SEND, recvReduceCopy = RECV|SRC|DST, recvReduceCopySend = all
 * four, copySend = SRC|DST|SEND, copy = SRC|DST. With RECV and SRC the two are reduced; with several
 * receive peers all are reduced (RECV without SRC too). */
enum { CSIM_PRIM_RECV = 1, CSIM_PRIM_SRC = 2, CSIM_PRIM_DST = 4, CSIM_PRIM_SEND = 8 };

/* Modifier of SRC: src_offset counts in the rank's *receive* buffer, in bytes that an earlier primitive of
 * the rank stored (hypercube, PAT). */
enum { CSIM_PRIM_FROM_DST = 16 };

/* Barriers. Such a primitive moves nothing (no other flag, no peers, 0 bytes): the lane goes on when every
 * lane of its (rank, channel), or of its rank, has come to its own k-th one. All lanes concerned have
 * equally many. BATCH_END: the block has finished its batch of up to 8 send/recv works and loads the next;
 * costs next to nothing. KERNEL_END: what follows is another kernel on the same stream (hypercube: one
 * group of calls a step); a launch gap. */
enum { CSIM_PRIM_BATCH_END = 32, CSIM_PRIM_KERNEL_END = 64 };

/* The primitive is a piece of an operation that goes on with the lane's next one: NCCL moves all pieces in one call (blocks of several ranks
 * in one step over a reducing network). */
enum { CSIM_PRIM_PART = 128 };

/* Which of a lane's peers a primitive uses: an index, none, all, or the first m >= 1 of them (PAT only). */
#define CSIM_PEER_NONE (-1)
#define CSIM_PEER_ALL (-2)
#define CSIM_PEER_FIRST(m) (-2 - (m))

/* The same as a range of the n peers that the lane has. */
static inline int csim_peer_begin(int peer) {
  return peer >= 0 ? peer : 0;
}
static inline int csim_peer_count(int peer, int n) {
  return peer == CSIM_PEER_NONE ? 0 : peer == CSIM_PEER_ALL ? n : peer >= 0 ? 1 : -2 - peer;
}

typedef struct {
  uint16_t flags;
  /* Of the peers that it sends to, the first `more` get only a piece of a message: it goes on with the next
   * primitive that sends there, and leaves when that one says so (PAT puts many small blocks into one
   * message). The receiver takes piece by piece, and may begin when the whole message is there. */
  uint16_t more;
  int recv_peer, send_peer;         /* of the lane's peers of that direction */
  CsimBytes src_offset, dst_offset; /* in the rank's send / receive buffer; unused parts are 0 */
  CsimBytes bytes;                  /* may be 0: the step still takes its turn */
} CsimPrim;

typedef enum {
  CSIM_ROLE_RING,
  CSIM_ROLE_TREE_UP,
  CSIM_ROLE_TREE_DOWN,
  CSIM_ROLE_TREE_ROOT,
  CSIM_ROLE_NVLS_SCATTER,
  CSIM_ROLE_NVLS_REDUCE,
  CSIM_ROLE_NVLS_BCAST,
  CSIM_ROLE_NVLS_GATHER,
  CSIM_ROLE_P2P_SEND,
  CSIM_ROLE_P2P_RECV,
  CSIM_ROLE_P2P_COPY,
  CSIM_ROLE_PAT,
  CSIM_ROLE_CHAIN_UP, /* CollNetChain, towards the head and away from it */
  CSIM_ROLE_CHAIN_DOWN,
  CSIM_ROLE_DIRECT_SCATTER, /* CollNetDirect, as NVLS's four; DIRECT_REDUCE feeds the network, DIRECT_BCAST hands out what it sends */
  CSIM_ROLE_DIRECT_REDUCE,
  CSIM_ROLE_DIRECT_BCAST,
  CSIM_ROLE_DIRECT_GATHER
} CsimRole;

typedef struct { int rank, channel, index; } CsimLane; /* index: 0..csim_plan_lanes(plan, rank, channel)-1 */

typedef struct { int rank; int tag; } CsimPeer;

/* Tags. NVLS: IN is a rank's input in multicast memory, pulled by the head's load-reduce; OUT is the head's
 * multicast store. A head is its own peer too (its own memory is part of the multicast group). Everything
 * else, tree edges between NVLS heads included, is DATA. TO_HEAD: CollNetDirect's way up to a head, beside the
 * way down between the same two ranks.
 *
 * NETWORK + g: the reducing network (CollNet). A head is its own peer here: what it sends goes into the network,
 * what it receives comes out of it. All heads with equal channel and g form an aggregation group, one head a node.
 * Message k of the group is done when every member has given its own:
 *   all_reduce      every member gets the sum;
 *   all_gather      every member gets all messages, in order of ranks, each a piece (empty ones are left out, unless
 *                   all are);
 *   reduce_scatter  pieces are summed over the members; each member gets the piece that lies in its block of the
 *                   send buffer, or an empty one. */
enum { CSIM_TAG_DATA, CSIM_TAG_NVLS_IN, CSIM_TAG_NVLS_OUT, CSIM_TAG_TO_HEAD, CSIM_TAG_NETWORK };

/* The communicator as a plan sees it; exec fills it from a CsimComm, tests from toy shapes. */
typedef struct {
  int n_ranks;
  const void *data;
  /* Only the functions that the algorithm uses need to be there (ring_*; tree; nvls_head, node_ranks,
   * nvls_tree; network and below; p2p_*). */
  int (*ring_position)(const void *data, int channel, int rank);
  int (*ring_rank_at)(const void *data, int channel, int position);
  void (*tree)(const void *data, int channel, int rank, int *up, int down[3]);
  int n_heads; /* NVLS heads a node */
  /* Rank of head h of rank's node. */
  int (*nvls_head)(const void *data, int rank, int h);
  /* Ranks of rank's node, in order; returns how many. */
  int (*node_ranks)(const void *data, int rank, const int **ranks);
  void (*nvls_tree)(const void *data, int channel, int head_rank, int *up, int down[3]);
  /* A network that reduces (CollNet); FALSE: there is none, and NVLS stays inside a node. */
  gboolean network;
  int n_nodes;
  int (*node_of)(const void *data, int rank);
  int (*node_first)(const void *data, int node); /* a rank of that node */
  /* CollNet chain of a channel: neighbours inside the node, -1 none. A rank with no up is the head. */
  void (*chain)(const void *data, int channel, int rank, int *up, int *down);
  int n_direct_heads; /* CollNetDirect heads a node, as NVLS's */
  int (*direct_head)(const void *data, int rank, int h);
  /* FALSE past the last round, which is the same for all ranks. Round R: a sends to b if and only if b
   * receives from a; every ordered pair, self included, meets in exactly one round. */
  gboolean (*p2p_round)(const void *data, int rank, int round, int *send_to, int *recv_from);
  /* Part p of n_parts is [p*part, (p+1)*part) of the bytes and goes over channel (first_channel + p) mod
   * n_channels; first_channel depends on the round only. n_parts <= n_channels. */
  void (*p2p_split)(const void *data, int from, int to, CsimBytes bytes, int round, int *n_parts,
                    CsimBytes *part, CsimBytes *chunk, int *first_channel);
} CsimShape;

/* One channel's share, as nccl/tune.h's CsimPart. */
typedef struct { CsimBytes offset, bytes, chunk; } CsimPlanPart;

typedef struct {
  CsimColl coll;
  CsimAlgo algo; /* CSIM_ALGO_P2P for send/recv based collectives */
  /* NCCL's count x element size: whole buffer for all_reduce, broadcast, reduce, sendrecv; one rank's block
   * for the others. */
  CsimBytes count_bytes;
  int elem_bytes;
  int root;
  int n_channels;            /* that take part; P2P: all send/recv channels of the communicator */
  const CsimPlanPart *parts; /* n_channels; not for P2P. Copied. */
  int align_bytes;           /* rounding of the last ring loop's chunk: 16 (NCCL) */
  CsimBytes slot_bytes;      /* PAT: of a connection; 0: the caller cannot run messages of several pieces */
  const CsimShape *shape;    /* must outlive the plan */
} CsimPlanSpec;

typedef struct CsimPlan CsimPlan;
/* CSIM_ERROR_UNSUPPORTED if no such combination, CSIM_ERROR_VALUE for a root that is no rank. One rank: a
 * local copy, whatever the algorithm. */
CsimPlan *csim_plan_new(const CsimPlanSpec *spec, GError **error);
void csim_plan_free(CsimPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimPlan, csim_plan_free)

const CsimPlanSpec *csim_plan_spec(const CsimPlan *plan);
int csim_plan_lanes(const CsimPlan *plan, int rank, int channel);
CsimRole csim_plan_role(const CsimPlan *plan, CsimLane lane);
/* Number of peers of a lane in one direction, and each of them (send/recv lanes: in the order in which they
 * are used; ask in ascending order there, each answer goes on from the last one, which the plan remembers:
 * not for two threads at once). */
int csim_plan_n_peers(const CsimPlan *plan, CsimLane lane, gboolean send);
CsimPeer csim_plan_peer(const CsimPlan *plan, CsimLane lane, gboolean send, int i);

/* Iteration. A cursor is caller-owned plain memory; it may be copied to fork the iteration. Lanes may be
 * empty: no primitive at all. */
typedef struct { CsimLane lane; int64_t state[8]; } CsimPlanCursor;
void csim_plan_start(const CsimPlan *plan, CsimLane lane, CsimPlanCursor *cursor);
gboolean csim_plan_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out); /* FALSE at the end */

/* A hash of the lane's primitives but for their offsets. Equal for two lanes of a plan only if time cannot tell their
 * streams apart; often equal then, not always (a shortcut may tell by where a lane stands what it did not compare). */
uint64_t csim_plan_signature(const CsimPlan *plan, CsimLane lane);

/* Registry, for `collsim algos`. */
typedef struct { CsimAlgo algo; const char *name, *summary; const char *colls; /* comma list */ } CsimAlgoInfo;
const CsimAlgoInfo *csim_algos(guint *n);

/* "recvReduceSend": NCCL's name of what a primitive does. Static text. */
const char *csim_prim_name(const CsimPrim *prim);
const char *csim_role_name(CsimRole role); /* "ring", "tree-up", ... */

/*
 * Appends the plan as text, for `collsim algos --show` and teaching: a line that says what it is, then for
 * each rank and lane its primitives in order with byte ranges and the ranks at the other ends.
 */
void csim_plan_print(const CsimPlan *plan, GString *out);

/*
 * Symbolic verification (verify.c): runs all lanes with `slots` messages a connection on symbolic buffers.
 * TRUE if nothing dead-locks, every message is matched in size, and every rank ends with exactly the
 * contributions the collective promises; else an error naming rank, channel, offset.
 */
gboolean csim_plan_verify(const CsimPlan *plan, int slots, GError **error);

#endif
