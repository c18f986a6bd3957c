/*
 * nccl/env.h - the NCCL_* variables: what exists, what is set, what it means.
 *
 * Used by: everything in nccl, by exec (buffer sizes, GDR, QPs), by cli (`collsim env`).
 * Implemented in env.c (values), env-list.c (NCCL_ALGO, NCCL_PROTO), env-check.c (remarks), env-table.c, env-myths.c, env-conf.c (files).
 *
 * One table row a variable (name, default, range, effect, honoured or not). Values come from the process environment and
 * from -x NAME=VALUE (which wins). Integers are read as NCCL reads them: strtoll base 0 of the leading part, text without digits is 0,
 * empty is the default, a number too large is the default.
 */
#ifndef CSIM_NCCL_ENV_H
#define CSIM_NCCL_ENV_H

#include "base/diag.h"
#include "collsim/types.h"

typedef struct CsimNcclEnv CsimNcclEnv; /* immutable once built */

/* environ: NULL-ended "NAME=VALUE" (only NCCL_* are looked at; NULL: none); overrides: the same form, later ones win. Unknown NCCL_* names, names
 * that do not exist in NCCL and variables without effect in the simulator give warnings in diag. Malformed NCCL_ALGO/NCCL_PROTO text
 * is a CSIM_ERROR_NCCL error, as in NCCL. */
CsimNcclEnv *csim_nccl_env_new(const char *const *environ, const char *const *overrides, CsimDiag *diag,
                               GError **error);
void csim_nccl_env_free(CsimNcclEnv *env);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimNcclEnv, csim_nccl_env_free)

/* env may be NULL in all readers: nothing is set. */
gboolean csim_nccl_env_is_set(const CsimNcclEnv *env, const char *name);
const char *csim_nccl_env_text(const CsimNcclEnv *env, const char *name); /* NULL if unset */
/* Value, or `fallback` if unset or empty. The name must be in the table (asserted). */
int64_t csim_nccl_env_int(const CsimNcclEnv *env, const char *name, int64_t fallback);
/* A distance variable (NCCL_P2P_LEVEL ...): path type number LOC 0 .. DIS 11, or fallback. */
int csim_nccl_env_level(const CsimNcclEnv *env, const char *name, int fallback);
/* What NCCL_ALGO / NCCL_PROTO leave: TRUE if (func, algo, proto) may be used; *forced (may be NULL) is TRUE if the protocol was named by the user
 * (which enables LL128 where it is off by default). func < CSIM_N_NCCL_FUNCS. */
gboolean csim_nccl_env_allows(const CsimNcclEnv *env, CsimColl func, CsimAlgo algo, CsimProto proto,
                              gboolean *forced);

typedef enum {
  CSIM_VAR_INT,   /* read with csim_nccl_env_int */
  CSIM_VAR_LEVEL, /* a distance, read with csim_nccl_env_level */
  CSIM_VAR_TEXT   /* names, lists, paths */
} CsimNcclVarKind;

typedef struct {
  const char *name, *fallback, *range, *effect; /* effect: one line */
  gboolean honoured;                            /* the simulator models it */
  CsimNcclVarKind kind;
  gboolean timeless; /* cannot change the speed of a healthy run (logs, retries): silently accepted */
} CsimNcclVar;
const CsimNcclVar *csim_nccl_vars(guint *n);
/* The row of a variable; NULL if NCCL has no such variable. Names are compared exactly, as NCCL does. */
const CsimNcclVar *csim_nccl_var_find(const char *name);
/* Explanation for names that people quote and NCCL does not have (NCCL_PCIE_WIDTH ...), that it no longer has, or that others
 * read (nccl-tests, plugins), else NULL. */
const char *csim_nccl_var_myth(const char *name);

/* The environment as NCCL completes it from its files: `environ` plus the KEY=VALUE lines of ~/.nccl.conf (of NCCL_CONF_FILE, if that is set)
 * and then /etc/nccl.conf, without those already set. A missing file is no error. home, etc: NULL for the user's and the system's
 * place (tests give their own). The result (NULL-ended, g_strfreev) is what cli hands to csim_nccl_env_new. */
char **csim_nccl_conf_environ(const char *const *environ, const char *home, const char *etc);

/* Every NCCL_* name that is set, in alphabetical order. */
typedef enum {
  CSIM_ENV_HONOURED,  /* the simulator acts on it */
  CSIM_ENV_TIMELESS,  /* would not change the time in NCCL either */
  CSIM_ENV_NO_EFFECT, /* matters in NCCL, is not modelled */
  CSIM_ENV_UNKNOWN    /* not a variable of NCCL */
} CsimNcclEnvStatus;
typedef struct {
  const char *name, *value; /* owned by env */
  CsimNcclEnvStatus status;
  char *remark; /* one line: the effect, or what is wrong */
} CsimNcclEnvItem;
/* Array of CsimNcclEnvItem*, freed with g_ptr_array_unref; must not outlive env. */
GPtrArray *csim_nccl_env_report(const CsimNcclEnv *env);

#endif
