/* The tuning part of a communicator's JSON: cost table, predicted times and choices over sizes. */
#include "nccl/json.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_SIZE 8 /* bytes */
#define N_SIZES 32   /* powers of two, up to 16 GiB */

/* A float with the seven digits that it has. */
static cJSON *number(float value) {
  char text[32];
  snprintf(text, sizeof text, "%.7g", (double)value);
  return cJSON_CreateNumber(strtod(text, NULL));
}

static cJSON *per_algorithm(const CsimTuning *t, int (*value)(const CsimTuning *, CsimAlgo, CsimProto)) {
  cJSON *object = cJSON_CreateObject();
  for (int a = 0; a < CSIM_N_ALGOS; a++) {
    int row[CSIM_N_PROTOS];
    for (int p = 0; p < CSIM_N_PROTOS; p++) row[p] = value(t, (CsimAlgo)a, (CsimProto)p);
    cJSON_AddItemToObject(object, csim_algo_name((CsimAlgo)a), cJSON_CreateIntArray(row, CSIM_N_PROTOS));
  }
  return object;
}

static cJSON *model_entry(const CsimTuning *t, CsimColl func, CsimAlgo algo, CsimProto proto) {
  CsimTuneEntry entry = csim_tuning_entry(t, func, algo, proto);
  cJSON *object = cJSON_CreateObject(), *times = cJSON_CreateArray();
  for (int i = 0; i < N_SIZES; i++)
    cJSON_AddItemToArray(times, number(csim_tuning_time(t, func, algo, proto, (CsimBytes)FIRST_SIZE << i)));
  cJSON_AddItemToObject(object, "bw", number(entry.bw));
  cJSON_AddItemToObject(object, "lat", number(entry.lat));
  cJSON_AddItemToObject(object, "us", times);
  return object;
}

static cJSON *model_of(const CsimTuning *t, CsimColl func) {
  cJSON *object = cJSON_CreateObject();
  for (int i = 0; i < CSIM_N_ALGOS * CSIM_N_PROTOS; i++) {
    CsimAlgo algo = (CsimAlgo)(i / CSIM_N_PROTOS);
    CsimProto proto = (CsimProto)(i % CSIM_N_PROTOS);
    if (csim_tuning_entry(t, func, algo, proto).bw == 0) continue;
    g_autofree char *name = g_strdup_printf("%s/%s", csim_algo_name(algo), csim_proto_name(proto));
    cJSON_AddItemToObject(object, name, model_entry(t, func, algo, proto));
  }
  return object;
}

static cJSON *choice_row(const CsimChoice *choice) {
  cJSON *row = cJSON_CreateArray();
  cJSON_AddItemToArray(row, cJSON_CreateString(csim_algo_name(choice->algo)));
  cJSON_AddItemToArray(row, cJSON_CreateString(csim_proto_name(choice->proto)));
  cJSON_AddItemToArray(row, cJSON_CreateNumber(choice->n_channels));
  cJSON_AddItemToArray(row, cJSON_CreateNumber(choice->n_threads));
  cJSON_AddItemToArray(row, number(choice->time_us));
  return row;
}

/* Sizes of AllGather and ReduceScatter are whole multiples of the rank count; below one byte a rank there is no call: null. */
static cJSON *choice_at(const CsimTuning *t, CsimColl func, CsimBytes size) {
  CsimChoice choice;
  if (func == CSIM_COLL_ALL_GATHER || func == CSIM_COLL_REDUCE_SCATTER) size -= size % csim_tuning_n_ranks(t);
  if (size == 0) return cJSON_CreateNull();
  if (!csim_tuning_choose(t, func, CSIM_TYPE_FLOAT, CSIM_OP_SUM, size, &choice, NULL))
    return cJSON_CreateString("none");
  return choice_row(&choice);
}

static cJSON *choice_of(const CsimTuning *t, CsimColl func) {
  cJSON *rows = cJSON_CreateArray();
  for (int i = 0; i < N_SIZES; i++)
    cJSON_AddItemToArray(rows, choice_at(t, func, (CsimBytes)FIRST_SIZE << i));
  return rows;
}

static void add_per_function(cJSON *tuning, const char *name, const CsimTuning *t,
                             cJSON *(*part)(const CsimTuning *, CsimColl)) {
  cJSON *object = cJSON_AddObjectToObject(tuning, name);
  for (int f = 0; f < CSIM_N_NCCL_FUNCS; f++)
    cJSON_AddItemToObject(object, csim_coll_nccl_name((CsimColl)f), part(t, (CsimColl)f));
}

cJSON *csim_json_tuning(const CsimTuning *tuning) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddItemToObject(object, "threads", per_algorithm(tuning, csim_tuning_max_threads));
  cJSON_AddItemToObject(object, "thresholds", per_algorithm(tuning, csim_tuning_threshold));
  if (csim_tuning_n_ranks(tuning) <= 1) return object; /* a single rank has no table */
  add_per_function(object, "model", tuning, model_of);
  add_per_function(object, "choice", tuning, choice_of);
  return object;
}
