/*
 * exp/run.h - one `collsim run`: a target, a collective, a range of sizes; rows out.
 *
 * Used by: cli, experiments, validation. Rows are handed over one by one as they are ready, in order of size, so that a long run
 * can show progress and an interrupted one keeps what is done.
 */
#ifndef CSIM_EXP_RUN_H
#define CSIM_EXP_RUN_H

#include "exec/exec.h"
#include "base/perf.h"

typedef enum { CSIM_FIDELITY_MODEL, CSIM_FIDELITY_FLOW, CSIM_FIDELITY_PACKET } CsimFidelity;

typedef struct {
  const char *target;
  guint n_nodes, gpus_per_node;       /* 0: as the target says */
  const char *gpus;                   /* "0,2,4" or NULL */
  const char *placement;              /* "random,seed=3" (topo/placement.h) or NULL: the target's */
  const char *const *faults;          /* "link:leaf0-spine1.0:rate=0.5" (topo/faults.h), NULL-ended, or NULL */
  CsimColl coll;
  CsimType type;
  CsimOp op;
  int root;
  CsimBytes min_bytes, max_bytes, step_bytes; /* step_bytes used if factor is 0 */
  int factor;                         /* 2: powers of two */
  int iters;
  CsimLaunch launch;
  gboolean virtual_machine;           /* launches cost what they do in one (exec/exec.h) */
  CsimFidelity fidelity;
  uint64_t seed;
  CsimQueueKind queue;
  const char *const *environ;         /* process environment or NULL */
  const char *const *overrides;       /* "NCCL_X=V", NULL-ended, or NULL */
  const char *catalogue_file;         /* overlay or NULL */
  const char *const *sets;            /* "name=value" or NULL */
  const volatile int *interrupt;
  gboolean no_symmetry;               /* simulate every rank, also those that must behave alike */
  gboolean digest;                    /* print it under the table; it is computed in any case */
  gboolean packet_series;             /* at packet fidelity: keep what ports did over time */
  gboolean whole_fabric;              /* leave no link of the fabric out of routes; slower. Times differ by the order of what is simultaneous, less than 0.1 % */
  guint links;                        /* how many of the most used links a row names; 0: none but the first of all and the first of the fabric */
  gboolean links_of_fabric;           /* name only those of the fabric */
  gboolean trace;                     /* record what happens in the last size: csim_run_trace */
} CsimRunSpec; /* texts are borrowed, and must live as long as the run */
void csim_run_spec_init(CsimRunSpec *spec); /* nccl-tests' defaults, flow fidelity, seed 1, 20 iterations */

/* What a link carried. Links that cannot bind are not looked at (docs/models/hardware.md, "What is left out"; whole_fabric: those of the fabric are). */
typedef struct {
  char name[64];    /* "" : there is none */
  CsimRate capacity;
  double bytes;     /* a call; times what headers and flags add where a link is stated in payload (topo/machine.h) */
  double use;       /* share of its capacity over the whole call */
  double busy;      /* share of the time with any traffic */
  double saturated; /* share of the time in which it was full, and set somebody's pace */
  guint peak;       /* most transfers at once */
} CsimRowLink;

typedef struct {
  CsimColl coll;
  CsimType type;
  CsimOp op;
  int root;               /* -1: none */
  CsimBytes size_bytes, count;
  CsimChoice choice;
  int n_channels;         /* used; 0: nothing to move, nothing was launched (choice is empty) */
  double time_us, algbw_gbps, busbw_gbps;
  CsimBreakdown where;
  char bottleneck[64];    /* short text: a stage ("GPU copy") or a link's name; "" if unknown (model) */
  char busiest[64];       /* name of the link that bound longest, where.busiest; "" if none did */
  CsimRowLink top, fabric; /* the most used link, and that of the fabric */
  const GArray *links;    /* CsimRowLink, the most used first, as many as asked for; NULL: none. The run's, as packets */
  uint64_t digest;
  CsimPacketLog *packets; /* at packet fidelity, else NULL; the run's: it must live as long as the row is read */
} CsimRow;

typedef struct {
  const char *target;
  guint n_nodes;
  int n_ranks;
  char *device;           /* "NVIDIA H100" for the table header, with the GPU list */
  CsimFidelity fidelity;
  uint64_t seed, digest, catalogue_digest;
  uint64_t events;
  double wall_s, peak_rss_mib;
  GPtrArray *warnings;    /* char* */
} CsimRunInfo;

typedef struct CsimRun CsimRun;
/* Loads everything: cluster, communicator, tuning, machine. Errors are those of the loaders; CSIM_ERROR_VALUE for a range of sizes
 * or a root that makes no sense, CSIM_ERROR_LIMIT for more than CSIM_RUN_MAX_ROWS sizes, CSIM_ERROR_UNSUPPORTED for what is not simulated. */
#define CSIM_RUN_MAX_ROWS 100000
CsimRun *csim_run_new(const CsimRunSpec *spec, GError **error);

/* What a spec names, loaded: cluster, variables, communicator, tuning, machine. Immutable, so runs that differ in nothing but collective, sizes,
 * iterations, launch, seed and fidelity may share it, also in different threads. */
typedef struct CsimLoaded CsimLoaded;
CsimLoaded *csim_loaded_new(const CsimRunSpec *spec, GError **error);
/* For a spec that differs from other's in nothing but NCCL variables, what may be shared and the seed: shares cluster, constants and
 * machine where those do not decide them, and has a communicator of its own. other NULL: csim_loaded_new. */
CsimLoaded *csim_loaded_new_like(CsimLoaded *other, const CsimRunSpec *spec, GError **error);
CsimLoaded *csim_loaded_ref(CsimLoaded *loaded);
void csim_loaded_unref(CsimLoaded *loaded); /* NULL allowed */
/* Is it what a spec alike but for the seed loads? Placements and faults may be drawn by the seed. */
gboolean csim_loaded_fits(const CsimLoaded *loaded, uint64_t seed);
/* As csim_run_new on what is loaded already; takes a reference. */
CsimRun *csim_run_new_on(CsimLoaded *loaded, const CsimRunSpec *spec, GError **error);
void csim_run_free(CsimRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimRun, csim_run_free)
const CsimRunInfo *csim_run_info(const CsimRun *run); /* complete after the last row */
const CsimRunSpec *csim_run_spec(const CsimRun *run);
guint csim_run_n_rows(const CsimRun *run);            /* how many sizes there will be */
/* Computes row i. FALSE on error or interruption. */
gboolean csim_run_row(CsimRun *run, guint i, CsimRow *out, GError **error);

/* Words of a row's columns, "none" where one has no meaning. Static. */
const char *csim_row_algo(const CsimRow *row);
const char *csim_row_proto(const CsimRow *row);
const char *csim_row_redop(const CsimRow *row);

/* Appends the members of a JSON object that every row has, from "collective" to "busbw_gbps". */
void csim_row_json(GString *out, const CsimRow *row);

const char *csim_fidelity_name(CsimFidelity fidelity); /* "model", "flow", "packet" */
gboolean csim_fidelity_parse(const char *name, CsimFidelity *fidelity); /* in any case; FALSE: none of them */

#endif
