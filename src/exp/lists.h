/*
 * exp/lists.h - what exists, one line each: variables, algorithms, constants, shipped nodes.
 *
 * Used by: cli (`collsim env|algos|models`, completion of targets).
 */
#ifndef CSIM_EXP_LISTS_H
#define CSIM_EXP_LISTS_H

#include "exp/run.h"

/* Every NCCL_* variable: name, default, whether the simulator acts on it, effect. */
void csim_list_vars(GString *out);
/* One variable in full. Names that people quote and NCCL does not have are explained; FALSE with the nearest name for any other. */
gboolean csim_list_var(GString *out, const char *name, GError **error);
/* The algorithms, with the collectives each one does. */
void csim_list_algos(GString *out);
/* The catalogue: name, value, confidence, source; only the assumed ones if asked. json: an array of objects. */
gboolean csim_list_models(GString *out, const CsimRunSpec *spec, gboolean only_assumed, gboolean json, GError **error);
/* Names of the shipped nodes with a summary, one a line: "name\tsummary". */
void csim_list_targets(GString *out);

#endif
