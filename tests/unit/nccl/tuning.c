/* Helpers of test-tune-real and test-enqueue. */
#include "tuning.h"

CsimTuning *tuning_with(const CsimTuneInput *in, const char *const *settings) {
  g_autoptr(CsimNcclEnv) env = csim_nccl_env_new(NULL, settings, NULL, NULL);
  g_assert_nonnull(env);
  return csim_tuning_from_input(in, NULL, env);
}

CsimChoice choose(const CsimTuning *t, CsimColl func, CsimBytes bytes) {
  CsimChoice choice;
  g_autoptr(GError) error = NULL;
  csim_tuning_choose(t, func, CSIM_TYPE_FLOAT, CSIM_OP_SUM, bytes, &choice, &error);
  g_assert_no_error(error);
  return choice;
}
