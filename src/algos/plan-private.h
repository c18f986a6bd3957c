/*
 * algos/plan-private.h - what the files of this layer share: the class of an algorithm, and the plan's
 * insides.
 *
 * A class answers the questions of plan.h for one algorithm family. Its functions are called with valid
 * lanes only (plan.c checks). Used by: ring.c, tree.c, nvls.c, collnet-*.c, p2p.c, hypercube.c, pat.c, plan.c.
 */
#ifndef CSIM_ALGOS_PLAN_PRIVATE_H
#define CSIM_ALGOS_PLAN_PRIVATE_H

#include "algos/plan.h"
#include "collsim/error.h"

#define COLL_BIT(coll) (1u << (coll))

/* What a whole primitive is called in NCCL. */
enum {
  PRIM_SEND = CSIM_PRIM_SRC | CSIM_PRIM_SEND,
  PRIM_COPY = CSIM_PRIM_SRC | CSIM_PRIM_DST,
  PRIM_COPY_SEND = CSIM_PRIM_SRC | CSIM_PRIM_DST | CSIM_PRIM_SEND,
  PRIM_RECV = CSIM_PRIM_RECV | CSIM_PRIM_DST,
  PRIM_RECV_SEND = CSIM_PRIM_RECV | CSIM_PRIM_SEND,
  PRIM_RECV_COPY_SEND = CSIM_PRIM_RECV | CSIM_PRIM_DST | CSIM_PRIM_SEND,
  PRIM_RECV_REDUCE_SEND = CSIM_PRIM_RECV | CSIM_PRIM_SRC | CSIM_PRIM_SEND,
  PRIM_RECV_REDUCE_COPY = CSIM_PRIM_RECV | CSIM_PRIM_SRC | CSIM_PRIM_DST,
  PRIM_RECV_REDUCE_COPY_SEND = CSIM_PRIM_RECV | CSIM_PRIM_SRC | CSIM_PRIM_DST | CSIM_PRIM_SEND
};

typedef gboolean (*PlanNext)(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out);

typedef struct {
  CsimAlgo algo;
  const char *name;
  guint colls;         /* COLL_BIT of those that it does */
  const char *summary; /* one line for `collsim algos` */
  /* Looks at the shape, fills plan->own if it needs tables; may be NULL. On FALSE teardown is not called. */
  gboolean (*setup)(CsimPlan *plan, GError **error);
  void (*teardown)(CsimPlan *plan); /* frees plan->own; may be NULL */
  int (*lanes)(const CsimPlan *plan, int rank, int channel);
  CsimRole (*role)(const CsimPlan *plan, CsimLane lane);
  int (*n_peers)(const CsimPlan *plan, CsimLane lane, gboolean send);
  CsimPeer (*peer)(const CsimPlan *plan, CsimLane lane, gboolean send, int i);
  void (*start)(const CsimPlan *plan, CsimPlanCursor *cursor); /* cursor->lane is set, state is all 0 */
  /* csim_plan_signature for a started cursor, without the walk; may be NULL. Not asked when plan->next is plan_stream_next. */
  uint64_t (*signature)(const CsimPlan *plan, const CsimPlanCursor *cursor);
  PlanNext next; /* setup may put a more special one in plan->next */
} PlanClass;

struct CsimPlan {
  CsimPlanSpec spec; /* spec.parts is ours */
  const PlanClass *class;
  PlanNext next;
  int n; /* ranks */
  void *own;
};

extern const PlanClass plan_ring, plan_tree, plan_nvls, plan_nvls_tree, plan_p2p, plan_hypercube, plan_pat, plan_collnet_chain, plan_collnet_direct;
extern const PlanClass plan_nvls_network; /* NVLS over several nodes; not in the registry */

/* A lane that does the same thing with every chunk of a range. src, dst: where the range begins in either
 * buffer. */
typedef struct {
  guint flags;
  int recv_peer, send_peer;
  CsimBytes src, dst, bytes, chunk;
} PlanStream;
void plan_stream_start(CsimPlanCursor *cursor, const PlanStream *stream);
gboolean plan_stream_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out);
uint64_t plan_stream_signature(const CsimPlanCursor *cursor); /* just started */

/* For signatures: the finaliser of splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t plan_fold(uint64_t hash, uint64_t value) {
  uint64_t x = hash * UINT64_C(0x9e3779b97f4a7c15) + value + 1;
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static inline const CsimPlanPart *plan_part(const CsimPlan *plan, int channel) {
  return &plan->spec.parts[channel];
}

/* v modulo the number of ranks, for v in [-n, 2n). */
static inline int plan_wrap(const CsimPlan *plan, int v) {
  return v < 0 ? v + plan->n : v >= plan->n ? v - plan->n : v;
}

/* ceil(bytes / n) rounded up to a multiple of align: the chunk of a last loop over n chunks. */
static inline CsimBytes plan_last_chunk(CsimBytes bytes, CsimBytes n, CsimBytes align) {
  return ((bytes + n - 1) / n + align - 1) / align * align;
}

/* What of [0, left) lies in chunk number i. */
static inline CsimBytes plan_chunk_bytes(CsimBytes left, CsimBytes chunk, CsimBytes i) {
  CsimBytes rest = left - i * chunk;
  return rest <= 0 ? 0 : MIN(rest, chunk);
}

#endif
