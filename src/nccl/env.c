/* Values of the NCCL variables of one run. Source of the reading rules: NCCL 2.30.7, src/misc/param.cc, src/graph/paths.cc. */
#include "nccl/env-internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const algo_names[CSIM_N_ALGOS] = {
    "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"};
static const char *const proto_names[CSIM_N_PROTOS] = {"LL", "LL128", "Simple"};
/* Path types as NCCL numbers them; distances are named LOC .. SYS. */
static const char *const level_names[] = {"LOC", "NVL", "NVB", "C2C", "PIX",
                                          "PXB", "P2C", "PXN", "PHB", "SYS"};
/* Meaning of the digits that stood for distances before NCCL 2.4: LOC, PIX, PXB, PHB, SYS, SYS. */
static const int level_of_digit[] = {0, 4, 5, 8, 9, 9};

static void store(CsimNcclEnv *env, const char *setting) {
  const char *equals = strchr(setting, '=');
  if (!equals || !g_str_has_prefix(setting, "NCCL_")) return;
  g_hash_table_insert(env->values, g_strndup(setting, equals - setting), g_strdup(equals + 1));
}

static gboolean store_override(CsimNcclEnv *env, const char *setting, CsimDiag *diag, GError **error) {
  if (!strchr(setting, '=')) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_SYNTAX, "-x %s: no value; NAME=VALUE is expected", setting);
    return FALSE;
  }
  if (!g_str_has_prefix(setting, "NCCL_"))
    csim_diag_add(diag, CSIM_FINDING_WARNING, CSIM_ERROR_REFERENCE, CSIM_LOC_NONE,
                  "-x %s: not a NCCL variable, it has no effect in the simulator", setting);
  store(env, setting);
  return TRUE;
}

static gboolean read_lists(CsimNcclEnv *env, GError **error) {
  for (guint i = 0; i < CSIM_N_NCCL_FUNCS * CSIM_N_ALGOS; i++) env->algo[i] = TRUE;
  for (guint i = 0; i < CSIM_N_NCCL_FUNCS * CSIM_N_PROTOS; i++) env->proto[i] = TRUE;
  const char *algo = csim_nccl_env_text(env, "NCCL_ALGO"), *proto = csim_nccl_env_text(env, "NCCL_PROTO");
  if (algo && !csim_env_list_parse("NCCL_ALGO", algo, algo_names, CSIM_N_ALGOS, env->algo, NULL, error))
    return FALSE;
  return !proto || csim_env_list_parse("NCCL_PROTO", proto, proto_names, CSIM_N_PROTOS, env->proto,
                                       env->proto_named, error);
}

CsimNcclEnv *csim_nccl_env_new(const char *const *environ, const char *const *overrides, CsimDiag *diag,
                               GError **error) {
  g_autoptr(CsimNcclEnv) env = g_new0(CsimNcclEnv, 1);
  env->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  for (; environ && *environ; environ++) store(env, *environ);
  for (; overrides && *overrides; overrides++)
    if (!store_override(env, *overrides, diag, error)) return NULL;
  if (!read_lists(env, error)) return NULL;
  csim_env_check(env, diag);
  return g_steal_pointer(&env);
}

void csim_nccl_env_free(CsimNcclEnv *env) {
  if (!env) return;
  g_hash_table_unref(env->values);
  g_free(env);
}

gboolean csim_nccl_env_is_set(const CsimNcclEnv *env, const char *name) {
  return csim_nccl_env_text(env, name) != NULL;
}

const char *csim_nccl_env_text(const CsimNcclEnv *env, const char *name) {
  g_assert(csim_nccl_var_find(name));
  return env ? (const char *)g_hash_table_lookup(env->values, name) : NULL;
}

int64_t csim_nccl_env_int(const CsimNcclEnv *env, const char *name, int64_t fallback) {
  const char *text = csim_nccl_env_text(env, name);
  if (!text || !*text) return fallback;
  errno = 0;
  long long value = strtoll(text, NULL, 0);
  return errno ? fallback : (int64_t)value;
}

static int level_of_old_digit(const char *text) {
  long digit = strtol(text, NULL, 0), last = G_N_ELEMENTS(level_of_digit) - 1;
  return level_of_digit[CLAMP(digit, 0, last)];
}

int csim_nccl_env_level(const CsimNcclEnv *env, const char *name, int fallback) {
  const char *text = csim_nccl_env_text(env, name);
  if (!text) return fallback;
  for (guint i = 0; i < G_N_ELEMENTS(level_names); i++)
    if (strcmp(text, level_names[i]) == 0) return (int)i;
  return g_ascii_isdigit(*text) ? level_of_old_digit(text) : fallback;
}

gboolean csim_nccl_env_allows(const CsimNcclEnv *env, CsimColl func, CsimAlgo algo, CsimProto proto,
                              gboolean *forced) {
  g_assert(func < CSIM_N_NCCL_FUNCS && algo < CSIM_N_ALGOS && proto < CSIM_N_PROTOS);
  gboolean proto_ok = !env || env->proto[func * CSIM_N_PROTOS + proto];
  if (forced) *forced = env && env->proto_named[func] && proto_ok;
  return proto_ok && (!env || env->algo[func * CSIM_N_ALGOS + algo]);
}
