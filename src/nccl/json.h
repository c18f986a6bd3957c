/*
 * nccl/json.h - parts of csim_comm_to_json, in the field names of the NCCL vectors.
 *
 * Used by: comm-json.c, which puts the parts together. Implemented by the file named beside each function.
 */
#ifndef CSIM_NCCL_JSON_H
#define CSIM_NCCL_JSON_H

#include <cjson/cJSON.h>

#include "nccl/graph.h"
#include "nccl/paths.h"
#include "nccl/tune.h"

/* The "tuning" object: threads, thresholds, model, choice (json-tuning.c). Caller frees with cJSON_Delete. */
cJSON *csim_json_tuning(const CsimTuning *tuning);

/* The "system" object (json-system.c): summary, and with details nodes and paths. search: shows the links as the search left them, as NCCL's
 * dumps do; NULL: as built. GPU ranks are gpu.rank of the system. Caller frees with cJSON_Delete. */
cJSON *csim_json_system(const CsimPaths *paths, const CsimSearchLimits *limits, const CsimSearch *search, gboolean details);

#endif
