/* exp/audit-private.h - what the parts of an audit share; private to them. */
#ifndef CSIM_EXP_AUDIT_PRIVATE_H
#define CSIM_EXP_AUDIT_PRIVATE_H

#include "exp/audit.h"
#include "base/perf.h"

typedef struct { double lo, hi; } AuditRange;
AuditRange audit_range(CsimLogNumber number);
AuditRange audit_divide(AuditRange a, AuditRange b);      /* of positive numbers; hi is infinite if b may be 0 */
gboolean audit_overlap(AuditRange a, AuditRange b);
double audit_apart(AuditRange a, AuditRange b);           /* how many times the nearest ends differ, at least 1 */

/* "0.875 is the factor of all_gather, reduce_scatter, alltoall for 8 ranks; all_reduce's is 1.75". stated: CSIM_N_COLLS for none; n_ranks 0:
 * unknown. Caller frees. */
char *audit_factor_text(AuditRange ratio, CsimColl stated, int n_ranks);

/* Whom a check is for. coll CSIM_N_COLLS: unknown; ranks 0: unknown; hw NULL: no hardware stated. */
typedef struct {
  CsimAudit *audit;
  CsimColl coll;
  int ranks;
  const CsimAuditHardware *hw;
} AuditContext;

/* Is algbw (GB/s, the least that the claim can mean) possible? One finding for each limit that is broken. what: "1GiB in 380us". */
void audit_check_limits(const AuditContext *c, CsimLoc loc, double algbw_gbps, const char *what);
/* All rows of a run: arithmetic, limits, wrong values, average. */
void audit_run(const AuditContext *c, const CsimLogRun *run);

/* The target of the spec, with nodes and GPUs as a log's run has them where the spec leaves them open. NULL without an error if the
 * spec names no target. */
CsimAuditTarget *audit_load_target(const CsimAuditSpec *spec, int n_ranks, int n_hosts, const char *const *variables, GError **error);
/* The collective that the spec names, else the fallback. */
gboolean audit_collective(const CsimAuditSpec *spec, CsimColl fallback, CsimColl *out, GError **error);

/* audit-nccl.c: the NCCL lines of one run (index as CsimLogDebug.run); target may be NULL. */
void audit_nccl(CsimAudit *audit, const CsimLog *log, guint run, const CsimAuditTarget *target);
/* NAME=VALUE of each "NCCL_X set by environment to V", NULL-ended; g_strfreev. */
char **audit_nccl_variables(const CsimLog *log, guint run);

#endif
