#include "exp/lists.h"

#include "algos/plan.h"

#include <string.h>

/* --- NCCL variables --- */

void csim_list_vars(GString *out) {
  guint n;
  const CsimNcclVar *vars = csim_nccl_vars(&n);
  g_string_append_printf(out, "%-36s %-14s %-9s %s\n", "variable", "default", "simulated", "effect");
  for (guint i = 0; i < n; i++)
    g_string_append_printf(out, "%-36s %-14s %-9s %s\n", vars[i].name, vars[i].fallback, vars[i].honoured ? "yes" : vars[i].timeless ? "no need" : "no", vars[i].effect);
}

static void append_var(GString *out, const CsimNcclVar *var) {
  g_string_append_printf(out, "%s\n  effect     %s\n  default    %s\n  range      %s\n", var->name, var->effect, var->fallback, var->range);
  g_string_append_printf(out, "  simulated  %s\n", var->honoured ? "yes" : var->timeless ? "no need: it cannot change the speed of a healthy run" : "no: accepted, without effect here");
}

static const char *nearest_var(const char *name) {
  guint n;
  const CsimNcclVar *vars = csim_nccl_vars(&n);
  g_autofree const char **names = g_new0(const char *, n + 1);
  for (guint i = 0; i < n; i++) names[i] = vars[i].name;
  return csim_nearest(name, names);
}

gboolean csim_list_var(GString *out, const char *name, GError **error) {
  g_autofree char *upper = g_ascii_strup(name, -1);
  g_autofree char *full = g_str_has_prefix(upper, "NCCL_") ? g_strdup(upper) : g_strconcat("NCCL_", upper, NULL);
  const CsimNcclVar *var = csim_nccl_var_find(full);
  const char *myth = var ? NULL : csim_nccl_var_myth(full);
  if (var) append_var(out, var);
  if (myth) g_string_append_printf(out, "%s\n  not in NCCL: %s\n", full, myth);
  if (var || myth) return TRUE;
  const char *near = nearest_var(full);
  if (near) g_set_error(error, CSIM_ERROR, CSIM_ERROR_REFERENCE, "NCCL has no variable %s; did you mean %s?", full, near);
  else g_set_error(error, CSIM_ERROR, CSIM_ERROR_REFERENCE, "NCCL has no variable %s; `collsim env` lists those it has", full);
  return FALSE;
}

/* --- algorithms --- */

void csim_list_algos(GString *out) {
  guint n;
  const CsimAlgoInfo *algos = csim_algos(&n);
  for (guint i = 0; i < n; i++) g_string_append_printf(out, "%-14s %s\n%-14s for %s\n", algos[i].name, algos[i].summary, "", algos[i].colls);
}

/* --- constants --- */

static const char *confidence_name(CsimConfidence confidence) {
  static const char *const names[] = {"measured", "derived", "fitted", "assumed"};
  return names[confidence];
}

static void append_constant(GString *out, const CsimConstant *constant) {
  g_autofree char *value = csim_constant_text(constant);
  g_string_append_printf(out, "%-40s %-12s %-9s %s  [%s]\n", constant->name, value, confidence_name(constant->confidence), constant->meaning, constant->source);
}

static void add_member(cJSON *object, const char *name, const char *text) { cJSON_AddStringToObject(object, name, text); }

static void add_constant(cJSON *array, const CsimConstant *constant) {
  g_autofree char *value = csim_constant_text(constant);
  cJSON *object = cJSON_CreateObject();
  add_member(object, "name", constant->name);
  add_member(object, "value", value);
  add_member(object, "confidence", confidence_name(constant->confidence));
  add_member(object, "meaning", constant->meaning);
  add_member(object, "source", constant->source);
  cJSON_AddItemToArray(array, object);
}

gboolean csim_list_models(GString *out, const CsimRunSpec *spec, gboolean only_assumed, gboolean json, GError **error) {
  g_autoptr(CsimCatalogue) catalogue = csim_catalogue_new(spec->catalogue_file, spec->sets, error);
  if (!catalogue) return FALSE;
  cJSON *array = json ? cJSON_CreateArray() : NULL;
  for (guint i = 0; i < csim_catalogue_n(catalogue); i++) {
    const CsimConstant *constant = csim_catalogue_get(catalogue, i);
    if (only_assumed && constant->confidence != CSIM_CONF_ASSUMED) continue;
    if (json) add_constant(array, constant);
    else append_constant(out, constant);
  }
  if (!json) return TRUE;
  char *text = cJSON_Print(array);
  g_string_append_printf(out, "%s\n", text);
  cJSON_free(text);
  cJSON_Delete(array);
  return TRUE;
}

/* --- nodes --- */

void csim_list_targets(GString *out) {
  for (const CsimShippedNode *node = csim_shipped_nodes(); node->name; node++) g_string_append_printf(out, "%s\t%s\n", node->name, node->summary);
}
