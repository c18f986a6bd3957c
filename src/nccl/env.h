/*
 * nccl/env.h - the NCCL_* variables: what exists, what is set, what it means.
 *
 * Used by: everything in nccl, by exec (buffer sizes, GDR, QPs), by cli (`collsim env`).
 *
 * One table row a variable (name, default, range, effect, honoured or not). Values come from the process environment and
 * from -x NAME=VALUE (which wins). Integers are read as NCCL reads them: strtoll base 0 of the leading part, text without digits is 0,
 * empty is the default.
 */
#ifndef CSIM_NCCL_ENV_H
#define CSIM_NCCL_ENV_H

#include "base/diag.h"
#include "collsim/types.h"

typedef struct CsimNcclEnv CsimNcclEnv; /* immutable once built */

/* environ: NULL-ended "NAME=VALUE" (only NCCL_* are looked at; NULL: none); overrides: the same form, later ones win. Unknown NCCL_* names, names
 * that do not exist in NCCL and variables without effect in the simulator give warnings in diag. Malformed NCCL_ALGO/NCCL_PROTO text
 * is a CSIM_ERROR_NCCL error, as in NCCL. */
CsimNcclEnv *csim_nccl_env_new(const char *const *environ, const char *const *overrides, CsimDiag *diag, GError **error);
void csim_nccl_env_free(CsimNcclEnv *env);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimNcclEnv, csim_nccl_env_free)

gboolean csim_nccl_env_is_set(const CsimNcclEnv *env, const char *name);
const char *csim_nccl_env_text(const CsimNcclEnv *env, const char *name);  /* NULL if unset */
/* Value, or `fallback` if unset or empty. The name must be in the table (asserted). */
int64_t csim_nccl_env_int(const CsimNcclEnv *env, const char *name, int64_t fallback);
/* A distance variable (NCCL_P2P_LEVEL ...): path type number LOC 0 .. DIS 11, or fallback. */
int csim_nccl_env_level(const CsimNcclEnv *env, const char *name, int fallback);
/* What NCCL_ALGO / NCCL_PROTO leave: TRUE if (func, algo, proto) may be used; *forced (may be NULL) is TRUE if the protocol was named by the user
 * (which enables LL128 where it is off by default). func < CSIM_N_NCCL_FUNCS. */
gboolean csim_nccl_env_allows(const CsimNcclEnv *env, CsimColl func, CsimAlgo algo, CsimProto proto, gboolean *forced);

typedef struct {
  const char *name, *fallback, *range, *effect; /* effect: one line */
  gboolean honoured;   /* the simulator models it */
} CsimNcclVar;
const CsimNcclVar *csim_nccl_vars(guint *n);
/* Explanation for names that people quote and NCCL does not have (NCCL_PCIE_WIDTH ...), else NULL. */
const char *csim_nccl_var_myth(const char *name);

#endif
