/*
 * exp/audit.h - is a log, or a claim, believable? Without simulating.
 *
 * Used by: cli (`collsim audit`), report/audit.c. Implemented in audit*.c: against its own arithmetic (audit-rows.c), against what the stated
 * hardware can do (audit-limits.c), what NCCL says it did against what it should have done (audit-nccl*.c), and tables of pairs (audit-pairs.c).
 */
#ifndef CSIM_EXP_AUDIT_H
#define CSIM_EXP_AUDIT_H

#include "exp/audit-limits.h"
#include "exp/logs.h"

typedef enum {
  CSIM_AUDIT_ARITHMETIC, /* numbers that contradict each other */
  CSIM_AUDIT_LIMIT,      /* faster than the hardware can be */
  CSIM_AUDIT_RESULT,     /* wrong values, warnings of NCCL */
  CSIM_AUDIT_NCCL,       /* NCCL did not do what it should */
  CSIM_AUDIT_ENV,        /* a variable */
  CSIM_AUDIT_PAIR,       /* a device or a pair that stands out */
  CSIM_AUDIT_N_TOPICS
} CsimAuditTopic;
const char *csim_audit_topic_name(CsimAuditTopic topic); /* "arithmetic", ... */

typedef struct {
  CsimAuditTopic topic;
  CsimLoc loc;    /* file NULL: a claim */
  char *text;     /* one line */
  double factor;  /* how many times off; 0: no such number */
  double expected, seen; /* in the unit of the text; both 0: none */
  guint more;     /* other places with the same finding, less grave */
} CsimAuditFinding;

typedef struct {
  GPtrArray *findings; /* CsimAuditFinding* */
  GPtrArray *facts;    /* char*: what was read, one line each: for the reader, no finding */
  guint n_runs, n_rows, n_nccl_lines, n_pairs, n_claims;
} CsimAudit;

typedef struct {
  const char *target;           /* NULL: no hardware stated */
  guint n_nodes, gpus_per_node; /* 0: as the log or the target says */
  const char *collective;       /* as named by the user; NULL: as the log says */
  gboolean sharp;               /* reduction in the IB switches is claimed; the target may say it too */
  const char *const *overrides; /* NCCL variables given by -x, "NAME=VALUE", NULL-ended, or NULL */
} CsimAuditSpec;

CsimAudit *csim_audit_new(void);
void csim_audit_free(CsimAudit *audit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimAudit, csim_audit_free)

/* Each adds findings and facts. FALSE with an error if the input cannot be read or makes no sense; findings are no error. */
gboolean csim_audit_log(CsimAudit *audit, const CsimAuditSpec *spec, const CsimLog *log, GError **error);
/* "all_reduce 8GB 0.9ms", "all_reduce algbw=98.7 busbw=86.4 ranks=8", "all_gather 1GB busbw=192 nodes=2". GB/s are 1e9 bytes/s. */
gboolean csim_audit_claim(CsimAudit *audit, const CsimAuditSpec *spec, const char *claim, GError **error);
/* A file with matrices or lists of pairs: p2pBandwidthLatencyTest, nvbandwidth, "from to value". */
gboolean csim_audit_pairs(CsimAudit *audit, const CsimAuditSpec *spec, const char *path, GError **error);
gboolean csim_audit_pairs_text(CsimAudit *audit, const CsimAuditSpec *spec, const char *name, const char *text, GError **error);

/* For audit*.c. */
CsimAuditFinding *csim_audit_find(CsimAudit *audit, CsimAuditTopic topic, CsimLoc loc, const char *format, ...) G_GNUC_PRINTF(4, 5);
void csim_audit_fact(CsimAudit *audit, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
