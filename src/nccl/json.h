/*
 * nccl/json.h - parts of csim_comm_to_json, in the field names of the NCCL vectors.
 *
 * Used by: comm-json.c, which puts the parts together. Implemented by the file named beside each function.
 */
#ifndef CSIM_NCCL_JSON_H
#define CSIM_NCCL_JSON_H

#include <cjson/cJSON.h>

#include "nccl/paths.h"
#include "nccl/tune.h"

/* The "tuning" object: threads, thresholds, model, choice (json-tuning.c). Caller frees with cJSON_Delete. */
cJSON *csim_json_tuning(const CsimTuning *tuning);

#endif
