/*
 * algos/symnet.h - a network that reduces, on symbolic data: what CSIM_TAG_NETWORK of plan.h promises.
 *
 * Used by: verify.c, one for each aggregation group. Implemented in symnet.c.
 */
#ifndef CSIM_ALGOS_SYMNET_H
#define CSIM_ALGOS_SYMNET_H

#include "algos/plan.h"
#include "algos/symbolic.h"

typedef struct SymNet SymNet;
/* Members are numbered in the order in which they are added; ascending by rank. */
SymNet *sym_net_new(const CsimPlan *plan, SymSets *sets);
void sym_net_free(SymNet *net);
guint sym_net_add(SymNet *net, int rank);

/* A member gives a value; last: it ends its message. */
void sym_net_give(SymNet *net, guint member, const GArray *value, gboolean last);
/* Whole messages that a member has given. */
guint sym_net_given(const SymNet *net, guint member);
/* The first member whose next message is missing; G_MAXUINT: all are there. */
guint sym_net_missing(const SymNet *net);

/* All messages are there: appends the answer for a member to *out. NULL, or what is wrong (static text). */
const char *sym_net_answer(const SymNet *net, guint member, SymMessage *out);
void sym_net_next(SymNet *net); /* every member has been answered */

#endif
