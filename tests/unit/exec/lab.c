#include "lab.h"

const char *const lab_ideal[] = {"host.jitter=0", "host.stagger=0ns", "gpu.h100.launch=0ns", "nvlink.4.softness=0", "ib.stream=0B/s", "roce.stream=0B/s", NULL};

Lab *lab_new(const char *target, guint gpus, const char *const *overrides, const char *const *sets, const CsimExecSpec *spec) {
  GError *error = NULL;
  Lab *lab = g_new0(Lab, 1);
  CsimExecSpec run = spec ? *spec : (CsimExecSpec){.iters = 1, .seed = 1};
  lab->catalogue = csim_catalogue_new(NULL, sets, &error);
  g_assert_no_error(error);
  lab->cluster = csim_cluster_load(target, 0, &error);
  g_assert_no_error(error);
  lab->env = csim_nccl_env_new(NULL, overrides, NULL, &error);
  g_assert_no_error(error);
  CsimCommSpec comm = {.cluster = lab->cluster, .env = lab->env, .n_gpus = gpus, .coll_net = lab->cluster->fabric.sharp};
  lab->comm = csim_comm_new(&comm, NULL, &error);
  g_assert_no_error(error);
  lab->tuning = csim_tuning_new(lab->comm, lab->env, &error);
  g_assert_no_error(error);
  lab->machine = csim_machine_new(lab->cluster, lab->catalogue, &error);
  g_assert_no_error(error);
  run.machine = lab->machine;
  run.comm = lab->comm;
  run.tuning = lab->tuning;
  run.env = lab->env;
  lab->exec = csim_exec_new(&run, &error);
  g_assert_no_error(error);
  return lab;
}

void lab_free(Lab *lab) {
  if (!lab) return;
  csim_exec_free(lab->exec);
  csim_machine_free(lab->machine);
  csim_tuning_free(lab->tuning);
  csim_comm_free(lab->comm);
  csim_nccl_env_free(lab->env);
  csim_cluster_free(lab->cluster);
  csim_catalogue_free(lab->catalogue);
  g_free(lab);
}

CsimExecResult lab_call(Lab *lab, CsimColl coll, CsimBytes bytes) {
  GError *error = NULL;
  int n = csim_comm_info(lab->comm)->n_ranks;
  gboolean by_rank = coll == CSIM_COLL_ALL_GATHER || coll == CSIM_COLL_REDUCE_SCATTER || coll == CSIM_COLL_ALLTOALL ||
                     coll == CSIM_COLL_GATHER || coll == CSIM_COLL_SCATTER;
  CsimCall call = {.coll = coll, .type = CSIM_TYPE_FLOAT, .op = CSIM_OP_SUM, .count = bytes / 4 / (by_rank ? n : 1)};
  CsimExecResult result;
  csim_exec_call(lab->exec, &call, &result, &error);
  g_assert_no_error(error);
  return result;
}
