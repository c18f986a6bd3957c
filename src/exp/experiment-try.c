/* exp/experiment-try.c - every value of every axis tried before the first second of simulation, so that what is wrong is said with its place. */
#include "exp/experiment-private.h"

#include "topo/cluster.h"

#include <string.h>

#define MAX_TRIED 64 /* values of one axis; the rest (seeds) are alike */

/* "<target>:1:80: ..." is a place in a text that the user never saw. */
static const char *without_place(const char *message) {
  const char *inside = "<target>:";
  if (!g_str_has_prefix(message, inside)) return message;
  const char *space = strchr(message, ' ');
  return space ? space + 1 : message;
}

static gboolean refuse(GError **error, CsimLoc loc, const char *label, const GError *wrong) {
  csim_error_set(error, (CsimErrorCode)wrong->code, loc, "%s%s%s", label ? label : "", label ? ": " : "", without_place(wrong->message));
  return FALSE;
}

/* A run's own settings, each alone. */
static gboolean try_settings(const GArray *settings, GError **error) {
  for (guint i = 0; i < settings->len; i++) {
    const CsimSetting *s = &g_array_index(settings, CsimSetting, i);
    g_autoptr(CsimRunArgs) args = csim_run_args_new();
    g_autoptr(GError) wrong = NULL;
    if (g_str_has_prefix(s->path, "cluster.") || cJSON_IsNull(s->value)) continue;
    if (cJSON_IsArray(s->value) || cJSON_IsObject(s->value)) {
      csim_error_set(error, CSIM_ERROR_SCHEMA, s->loc, "'%s' takes one value; allowed: a text, a number, true or false, null for the default", s->path);
      return FALSE;
    }
    g_autofree char *value = csim_json_label(s->value);
    if (!csim_run_args_set(args, s->path, value, &wrong)) return refuse(error, s->loc, NULL, wrong);
  }
  return TRUE;
}

/* The cluster of one point, unless the same was tried before. */
static gboolean try_cluster(const CsimExperiment *e, guint point, CsimLoc loc, const char *label, GHashTable *tried, GError **error) {
  g_autoptr(GError) wrong = NULL;
  g_autoptr(CsimDescription) d = csim_experiment_describe(e, point, &wrong);
  if (!d) return refuse(error, loc, label, wrong);
  if (!g_hash_table_add(tried, g_strdup(d->load_target))) return TRUE;
  g_autoptr(CsimCluster) cluster = csim_cluster_load(d->load_target, 0, &wrong);
  return cluster || refuse(error, loc, label, wrong);
}

static gboolean decides_machine(const CsimAxisValue *value) {
  for (guint i = 0; i < value->sets->len; i++) {
    const char *path = g_array_index(value->sets, CsimSetting, i).path;
    if (g_str_has_prefix(path, "cluster.") || !strcmp(path, "target")) return TRUE;
  }
  return FALSE;
}

/* The first point that has the value; the filters may leave none. */
static gboolean find_point(const CsimExperiment *e, guint axis, const CsimAxisValue *value, guint *point) {
  for (*point = 0; *point < csim_experiment_n_points(e); *point += e->repeats)
    if (csim_experiment_value(e, *point, axis) == value) return TRUE;
  return FALSE;
}

static gboolean try_axis(const CsimExperiment *e, guint axis, GHashTable *tried, GError **error) {
  const CsimAxis *a = (const CsimAxis *)g_ptr_array_index(e->axes, axis);
  for (guint i = 0; i < a->values->len; i++) {
    const CsimAxisValue *value = (const CsimAxisValue *)g_ptr_array_index(a->values, i);
    guint point;
    if (!try_settings(value->sets, error)) return FALSE;
    if (i < MAX_TRIED && decides_machine(value) && find_point(e, axis, value, &point) && !try_cluster(e, point, value->loc, value->label, tried, error)) return FALSE;
  }
  return TRUE;
}

gboolean csim_experiment_try_values(const CsimExperiment *e, GError **error) {
  g_autoptr(GHashTable) tried = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  CsimLoc top = {g_intern_string(e->path), 0, 0};
  if (!try_settings(e->base, error)) return FALSE;
  for (guint i = 0; i < e->axes->len; i++)
    if (!try_axis(e, i, tried, error)) return FALSE;
  return try_cluster(e, 0, top, NULL, tried, error);
}
