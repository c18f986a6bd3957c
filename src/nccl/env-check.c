/* What is odd about the variables that are set: unknown names, text that NCCL reads differently from what it says, no effect. */
#include "nccl/env-internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *nearest_variable(const char *name) {
  guint n;
  const CsimNcclVar *vars = csim_nccl_vars(&n);
  g_autofree const char **names = g_new0(const char *, n + 1);
  for (guint i = 0; i < n; i++) names[i] = vars[i].name;
  return csim_nearest(name, names);
}

static char *unknown_remark(const char *name) {
  const char *myth = csim_nccl_var_myth(name);
  if (myth) return g_strdup(myth);
  const char *nearest = nearest_variable(name);
  return nearest ? g_strdup_printf("NCCL has no such variable; the nearest is %s", nearest)
                 : g_strdup("NCCL has no such variable");
}

/* What NCCL makes of the text of a number, where that may surprise; NULL: nothing. */
static char *number_remark(const char *text) {
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 0);
  if (errno) return g_strdup("too large: NCCL takes the default");
  if (end == text && *text) return g_strdup("no digits: NCCL reads 0");
  if (*end) return g_strdup_printf("NCCL reads only the leading number, %lld", value);
  return NULL;
}

/* Limits that NCCL puts silently on what it reads; multiple: of a warp, else the largest is taken. */
static const struct {
  const char *name;
  long long least, most, multiple;
} limits[] = {
    {"NCCL_NTHREADS", 64, 512, 32},
    {"NCCL_LL128_NTHREADS", 160, 640, 32},
    {"NCCL_MIN_NCHANNELS", 0, 64, 1},
    {"NCCL_MAX_NCHANNELS", 1, 64, 1},
    {"NCCL_MIN_CTAS", 1, 64, 1},
    {"NCCL_MAX_CTAS", 1, 64, 1},
    {"NCCL_BUFFSIZE", 32768, G_MAXINT, 1},
    {"NCCL_LL_BUFFSIZE", 32768, G_MAXINT, 1},
    {"NCCL_LL128_BUFFSIZE", 32768, G_MAXINT, 1},
    {"NCCL_MIN_P2P_NCHANNELS", 1, 64, 1},
    {"NCCL_MAX_P2P_NCHANNELS", 1, 64, 1},
};

static char *limit_remark(const CsimNcclEnv *env, const char *name) {
  long long value = csim_nccl_env_int(env, name, -2);
  for (guint i = 0; i < G_N_ELEMENTS(limits); i++) {
    if (strcmp(name, limits[i].name) != 0 || value == -2) continue;
    if (value % limits[i].multiple)
      return g_strdup_printf("no multiple of %lld: NCCL takes %lld", limits[i].multiple, limits[i].most);
    if (value < limits[i].least || value > limits[i].most)
      return g_strdup_printf("outside %lld..%lld", limits[i].least, limits[i].most);
  }
  return NULL;
}

static char *level_remark(const CsimNcclEnv *env, const char *name) {
  if (csim_nccl_env_level(env, name, -1) >= 0) return NULL;
  return g_strdup("not a distance: NCCL takes the default; LOC, NVL, NVB, C2C, PIX, PXB, P2C, PXN, PHB, SYS "
                  "or 0..5 are known");
}

static char *value_remark(const CsimNcclEnv *env, const CsimNcclVar *var, const char *text) {
  char *odd = var->kind == CSIM_VAR_INT ? number_remark(text) : NULL;
  if (odd) return odd;
  if (var->kind == CSIM_VAR_INT) return limit_remark(env, var->name);
  if (var->kind == CSIM_VAR_LEVEL) return level_remark(env, var->name);
  return NULL;
}

static CsimNcclEnvStatus status_of(const CsimNcclVar *var) {
  if (!var) return CSIM_ENV_UNKNOWN;
  if (var->honoured) return CSIM_ENV_HONOURED;
  return var->timeless ? CSIM_ENV_TIMELESS : CSIM_ENV_NO_EFFECT;
}

static char *remark_of(const CsimNcclEnv *env, const CsimNcclVar *var, const char *name, const char *text) {
  if (!var) return unknown_remark(name);
  char *odd = value_remark(env, var, text);
  return odd ? odd : g_strdup(var->effect);
}

static void item_free(gpointer data) {
  CsimNcclEnvItem *item = data;
  g_free(item->remark);
  g_free(item);
}

static int compare_names(gconstpointer a, gconstpointer b) {
  return strcmp((const char *)a, (const char *)b);
}

GPtrArray *csim_nccl_env_report(const CsimNcclEnv *env) {
  GPtrArray *items = g_ptr_array_new_with_free_func(item_free);
  if (!env) return items;
  g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(env->values), compare_names);
  for (GList *l = names; l; l = l->next) {
    CsimNcclEnvItem *item = g_new0(CsimNcclEnvItem, 1);
    const CsimNcclVar *var = csim_nccl_var_find(l->data);
    item->name = l->data;
    item->value = g_hash_table_lookup(env->values, l->data);
    item->status = status_of(var);
    item->remark = remark_of(env, var, item->name, item->value);
    g_ptr_array_add(items, item);
  }
  return items;
}

static void warn(CsimDiag *diag, const char *name, const char *text) {
  csim_diag_add(diag, CSIM_FINDING_WARNING, CSIM_ERROR_VALUE, CSIM_LOC_NONE, "%s: %s", name, text);
}

static void check_item(const CsimNcclEnv *env, const CsimNcclEnvItem *item, CsimDiag *diag) {
  const CsimNcclVar *var = csim_nccl_var_find(item->name);
  if (item->status == CSIM_ENV_UNKNOWN) {
    warn(diag, item->name, item->remark);
    return;
  }
  if (item->status == CSIM_ENV_NO_EFFECT)
    warn(diag, item->name, "has no effect here: the simulator does not model it");
  g_autofree char *odd = value_remark(env, var, item->value);
  if (odd && item->status == CSIM_ENV_HONOURED) {
    g_autofree char *text = g_strdup_printf("\"%s\": %s", item->value, odd);
    warn(diag, item->name, text);
  }
}

void csim_env_check(const CsimNcclEnv *env, CsimDiag *diag) {
  g_autoptr(GPtrArray) items = csim_nccl_env_report(env);
  for (guint i = 0; i < items->len; i++) check_item(env, g_ptr_array_index(items, i), diag);
}
