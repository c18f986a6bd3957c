#include "base/perf.h"

/* How a test cuts its buffer: whole, in one block a rank, or a block a rank of which one stays home. */
typedef enum { CUT_NONE, CUT_BY_RANK } Cut;

typedef struct { Cut cut; gboolean op, root; } Rule;

static const Rule rules[CSIM_N_COLLS] = {
  [CSIM_COLL_BROADCAST] = {CUT_NONE, FALSE, TRUE},        [CSIM_COLL_REDUCE] = {CUT_NONE, TRUE, TRUE},
  [CSIM_COLL_ALL_GATHER] = {CUT_BY_RANK, FALSE, FALSE},   [CSIM_COLL_REDUCE_SCATTER] = {CUT_BY_RANK, TRUE, FALSE},
  [CSIM_COLL_ALL_REDUCE] = {CUT_NONE, TRUE, FALSE},       [CSIM_COLL_SENDRECV] = {CUT_NONE, FALSE, FALSE},
  [CSIM_COLL_ALLTOALL] = {CUT_BY_RANK, FALSE, FALSE},     [CSIM_COLL_GATHER] = {CUT_BY_RANK, FALSE, TRUE},
  [CSIM_COLL_SCATTER] = {CUT_BY_RANK, FALSE, TRUE},       [CSIM_COLL_HYPERCUBE] = {CUT_BY_RANK, FALSE, FALSE},
};

#define BLOCK_ALIGN 16 /* bytes; nccl-tests keeps each rank's block aligned so */

CsimPerfSize csim_perf_size(CsimColl coll, CsimType type, int n_ranks, CsimBytes wish) {
  CsimBytes element = csim_type_size(type);
  CsimBytes elements = wish / element;
  if (rules[coll].cut == CUT_NONE) return (CsimPerfSize){elements, elements * element, elements * element};
  CsimBytes align = MAX(BLOCK_ALIGN / element, 1);
  CsimBytes count = elements / n_ranks / align * align;
  CsimBytes size = count * n_ranks * element;
  CsimBytes moved = coll == CSIM_COLL_HYPERCUBE ? count * (n_ranks - 1) * element : size;
  return (CsimPerfSize){count, size, moved};
}

double csim_busbw_factor(CsimColl coll, int n_ranks) {
  double share = (double)(n_ranks - 1) / n_ranks;
  switch (coll) {
  case CSIM_COLL_ALL_REDUCE: return 2 * share;
  case CSIM_COLL_ALL_GATHER:
  case CSIM_COLL_REDUCE_SCATTER:
  case CSIM_COLL_ALLTOALL:
  case CSIM_COLL_GATHER:
  case CSIM_COLL_SCATTER: return share;
  default: return 1;
  }
}

gboolean csim_perf_has_op(CsimColl coll) { return rules[coll].op; }
gboolean csim_perf_has_root(CsimColl coll) { return rules[coll].root; }
