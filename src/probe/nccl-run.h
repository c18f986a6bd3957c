/*
 * probe/nccl-run.h - times NCCL's collectives on the GPUs of this machine as nccl-tests does, and checks every result.
 *
 * Used by: `collsim probe nccl`, `validate --live`.
 *
 * One row is one collective and size: buffers are filled, one call is made and every element of every rank's result compared with
 * what it must be; then `warmups` calls, a barrier of all ranks, `iters` calls back to back, and the host time of these over
 * iters. Counts and the size column follow nccl-tests (float, sum, out of place, root 0).
 *
 * Ranks beyond the number of GPUs share them: every GPU's ranks are then told apart by NCCL_HOSTID, so that NCCL takes them for
 * different hosts and talks through its socket transport. Start CUDA MPS before, or they run in turns. With `netns` each rank
 * enters a network namespace of its own (NAMEr for rank r; needs root), whose link the user has shaped.
 */
#ifndef CSIM_PROBE_NCCL_RUN_H
#define CSIM_PROBE_NCCL_RUN_H

#include "probe/table.h"

#define CSIM_PROBE_MAX_RANKS 1024
#define CSIM_PROBE_MAX_ROWS 4096

typedef struct {
  const CsimColl *colls;
  guint n_colls;
  CsimBytes min, max;
  int factor;
  int n_gpus;  /* the first so many; 0: all that are visible (CUDA_VISIBLE_DEVICES chooses) */
  int n_ranks; /* 0: one a GPU */
  CsimLaunch launch;
  int iters, warmups;
  const char *library;           /* NCCL's file; NULL: libnccl.so.2 */
  const char *const *variables;  /* "NCCL_X=V" for all ranks, NULL-ended; NULL allowed */
  const char *netns;             /* prefix of the ranks' network namespaces; NULL: this one */
  const char *dump;              /* folder for topo.xml, graph.xml, nccl.log of a pass before the timed one; NULL: none */
  double limit_s;                /* for a pass; 0: none */
  const volatile int *interrupt; /* NULL allowed */
  void (*progress)(guint done, guint of, void *data); /* NULL allowed */
  void *data;
} CsimNcclOptions;
void csim_nccl_options_init(CsimNcclOptions *options); /* no collective yet; 8 B to 128 MiB by 2, 20 iterations after 5 */

typedef struct {
  CsimColl coll;
  CsimBytes size, count; /* bytes of the size column; elements as nccl-tests counts them */
  double time_us;        /* mean over the ranks */
  double min_us, max_us; /* of the ranks */
  double algbw_gbps, busbw_gbps;
  guint64 wrong; /* elements, over all ranks */
} CsimNcclRow;

typedef struct {
  int n_ranks, n_gpus, n_hosts;
  int nccl_version, cuda_version;
  char library[256], gpu[96];
} CsimNcclFacts;

/* Appends rows (CsimNcclRow). FALSE with one line: no GPU, no NCCL (CSIM_ERROR_UNSUPPORTED), NCCL's own error (CSIM_ERROR_IO),
 * CSIM_ERROR_LIMIT, CSIM_ERROR_VALUE. Rows that were complete before an error are there. */
gboolean csim_probe_nccl(const CsimNcclOptions *options, GArray *rows, CsimNcclFacts *facts, GError **error);

/* Only the pass that dumps (options->dump): one call a size, nothing timed. */
gboolean csim_probe_nccl_dump(const CsimNcclOptions *options, CsimNcclFacts *facts, GError **error);
/* "NCCL_ALGO=Ring; NCCL_NVLS_ENABLE=0": of this environment and of the options, which win; sorted. Caller frees. */
char *csim_nccl_variables_text(const CsimNcclOptions *options);

/* A table that `collsim validate` reads. Rows are added run by run: tag ("default", "Ring-LL") names a series. */
CsimProbeTable *csim_nccl_table_new(void);
void csim_nccl_table_add(CsimProbeTable *table, const char *tag, const CsimNcclOptions *options, const CsimNcclFacts *facts,
                         const GArray *rows);

/* --- for tests --- */
/* Floats that each of n ranks sends and receives in a collective of a wished size, NCCL's count argument (0: nothing to move), the size
 * column, and the busbw factor: base/perf.h's arithmetic. */
typedef struct {
  gsize send, recv, param;
  CsimBytes size;
  double factor;
} CsimNcclCounts;
CsimNcclCounts csim_nccl_counts(CsimColl coll, int n_ranks, CsimBytes size);

#endif
