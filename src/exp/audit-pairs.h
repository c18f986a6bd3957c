/* exp/audit-pairs.h - a table of pairs as read; private to audit-pairs*.c. */
#ifndef CSIM_EXP_AUDIT_PAIRS_H
#define CSIM_EXP_AUDIT_PAIRS_H

#include "exp/audit-private.h"

#define PAIRS_MAX_LABELS 4096
#define PAIRS_MAX_TABLES 256

typedef struct {
  char *title;          /* the line above; "" if there is none */
  CsimLoc loc;          /* of its header, or of its first pair */
  GPtrArray *rows, *columns; /* const char* labels, interned */
  double *value;        /* [row * columns->len + column]; NAN: not measured */
  guint *line;          /* the same: line of the value */
  gboolean latency;     /* smaller is better */
  gboolean both_ways;   /* a bidirectional sum */
  gboolean host_path;   /* P2P disabled: through host memory */
  gboolean copy_engine; /* by copy engines, not by kernels */
} PairTable;

/* PairTable*, in order; empty if there is none. */
GPtrArray *audit_pairs_read(const char *name, const char *text);
double audit_pair(const PairTable *t, guint row, guint column); /* NAN on the diagonal */

#endif
