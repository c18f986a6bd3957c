/*
 * nccl/env-internal.h - inside of CsimNcclEnv.
 *
 * Used by: env*.c only.
 */
#ifndef CSIM_NCCL_ENV_INTERNAL_H
#define CSIM_NCCL_ENV_INTERNAL_H

#include "nccl/env.h"

struct CsimNcclEnv {
  GHashTable *values;                              /* name -> text, both owned; only NCCL_* names */
  gboolean algo[CSIM_N_NCCL_FUNCS * CSIM_N_ALGOS]; /* [func * CSIM_N_ALGOS + algo]; TRUE: allowed */
  gboolean proto[CSIM_N_NCCL_FUNCS * CSIM_N_PROTOS];
  gboolean proto_named[CSIM_N_NCCL_FUNCS]; /* NCCL_PROTO speaks about this function */
};

/* Reads NCCL_ALGO / NCCL_PROTO text ("[func:]list[;func:list...]") into mask[func * n_elements + element]; named[func]
 * (may be NULL) becomes TRUE where the text says something. CSIM_ERROR_NCCL as NCCL refuses it; `variable` is for the message. */
gboolean csim_env_list_parse(const char *variable, const char *text, const char *const *elements,
                             guint n_elements, gboolean *mask, gboolean *named, GError **error);

/* Remarks on the combination of values, as findings. */
void csim_env_check(const CsimNcclEnv *env, CsimDiag *diag);

#endif
