/*
 * exp/conformance.h - do we decide exactly as NCCL does? Comparison with reference vectors.
 *
 * Used by: `collsim conformance`, tests. A vector is a JSON file with what NCCL's own graph and tuning code computed for one topology and
 * number of nodes ("a+variant-n4.json" for a.xml), or parser-cases.json with small texts for the XML reader and graph builder.
 *
 * Compared are structures, orders, strings and whole numbers exactly; bandwidths, latencies and times to 0.1 %. Of every top-level
 * field (or parser case) the first difference is kept.
 */
#ifndef CSIM_EXP_CONFORMANCE_H
#define CSIM_EXP_CONFORMANCE_H

#include <cjson/cJSON.h>

#include "nccl/comm.h"

typedef struct {
  const char *topologies; /* folder of the XML files; NULL: topologies-real beside the vector's folder */
  guint parts;            /* CSIM_JSON_* to compare; 0: all */
} CsimConformanceOptions;

typedef struct {
  char *where;    /* "system.nodes[3].links[0][1]", "case attributes-17: build" */
  char *expected; /* NCCL's value as JSON; "nothing" where NCCL has none */
  char *got;
} CsimDifference;

typedef struct {
  char *file;             /* as given */
  guint n_cases, n_equal; /* 1 and 0 or 1; parser-cases.json: its texts */
  GPtrArray *differences; /* CsimDifference* */
} CsimConformance;

/* NULL and an error only if the vector (or its topology) cannot be read; what we compute differently, failures too, are differences. */
CsimConformance *csim_conformance_file(const char *path, const CsimConformanceOptions *options,
                                       GError **error);
void csim_conformance_free(CsimConformance *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimConformance, csim_conformance_free)

/* One line "FILE: equal" or a line a difference. Caller frees. */
char *csim_conformance_text(const CsimConformance *c);
/* {"file","equal","cases","cases_equal","differences":[{"where","expected","got"}]}. Caller frees. */
cJSON *csim_conformance_json(const CsimConformance *c);
/* Files of a mix of files and folders (a folder: its *.json, sorted by name). char*, owned. */
GPtrArray *csim_conformance_expand(const char *const *paths, GError **error);

#endif
