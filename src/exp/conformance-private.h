/* exp/conformance-private.h - the parts of the comparison. Private to src/exp/conformance*.c. */
#ifndef CSIM_EXP_CONFORMANCE_PRIVATE_H
#define CSIM_EXP_CONFORMANCE_PRIVATE_H

#include "exp/conformance.h"
#include "topo/nccl-xml.h"

/* Adds a difference; expected, got: NULL is "nothing". */
void csim_conformance_add(CsimConformance *c, const char *where, const cJSON *expected, const cJSON *got);
/* First difference below `where`, added; TRUE if there is none. */
gboolean csim_conformance_compare(CsimConformance *c, const char *where, const cJSON *expected,
                                  const cJSON *got);
/* conformance-parser.c */
void csim_conformance_parser(CsimConformance *c, const cJSON *cases);
/* Node counts by type, only of types that are there, in NCCL's order. */
cJSON *csim_conformance_counts(const CsimSystem *system);

#endif
