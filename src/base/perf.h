/*
 * base/perf.h - nccl-tests' arithmetic: from a wished size to NCCL's count, and from a time to algbw and busbw.
 *
 * Used by: exp/run.c, report (column contents), validation, the NCCL probe. Rules of nccl-tests 2.19.6 (src/common.cu and the file of each test);
 * n is the number of ranks.
 */
#ifndef CSIM_BASE_PERF_H
#define CSIM_BASE_PERF_H

#include "collsim/types.h"

typedef struct {
  CsimBytes count;       /* elements: the count argument of the NCCL call */
  CsimBytes size_bytes;  /* size column: the larger of a rank's two buffers */
  CsimBytes algbw_bytes; /* S in algbw = S / t; differs from the size column for hypercube only */
} CsimPerfSize;

/* What a test does with "-b wish": rounds down to whole elements, and, where the buffer is cut by rank, to 16-byte blocks. */
CsimPerfSize csim_perf_size(CsimColl coll, CsimType type, int n_ranks, CsimBytes wish);
/* busbw / algbw. */
double csim_busbw_factor(CsimColl coll, int n_ranks);
/* Whether the redop and root columns mean anything (else "none" and -1). */
gboolean csim_perf_has_op(CsimColl coll);
gboolean csim_perf_has_root(CsimColl coll);

#endif
