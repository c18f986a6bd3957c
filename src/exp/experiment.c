/* exp/experiment.c - an experiment file. */
#include "exp/experiment-private.h"

#include "base/file.h"
#include "base/hash.h"

#include <string.h>

/* --- life ------------------------------------------------------------------------- */

static void clear_setting(gpointer data) {
  CsimSetting *s = (CsimSetting *)data;
  g_free(s->path);
  cJSON_Delete(s->value);
}

GArray *csim_settings_new(void) {
  GArray *settings = g_array_new(FALSE, FALSE, sizeof(CsimSetting));
  g_array_set_clear_func(settings, clear_setting);
  return settings;
}

static void free_axis(gpointer data) {
  CsimAxis *axis = (CsimAxis *)data;
  g_free(axis->name);
  g_ptr_array_unref(axis->values);
  g_free(axis);
}

static void free_output(gpointer data) {
  CsimOutput *o = (CsimOutput *)data;
  g_free(o->file);
  g_free(o->title);
  g_free(o->x);
  g_free(o->series);
  g_free(o->value);
  g_free(o->base);
  g_array_unref(o->where);
  g_free(o);
}

static CsimExperiment *experiment_new(const char *path, const char *folder) {
  CsimExperiment *e = g_new0(CsimExperiment, 1);
  e->path = g_strdup(path);
  e->folder = g_strdup(folder);
  e->base = csim_settings_new();
  e->axes = g_ptr_array_new_with_free_func(free_axis);
  e->only = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
  e->skip = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
  e->seed_paths = g_ptr_array_new_with_free_func(g_free);
  e->outputs = g_ptr_array_new_with_free_func(free_output);
  e->points = g_array_new(FALSE, FALSE, sizeof(guint64));
  e->repeats = 1;
  e->first_seed = 1;
  return e;
}

void csim_experiment_free(CsimExperiment *e) {
  if (!e) return;
  g_free(e->path);
  g_free(e->folder);
  g_free(e->name);
  g_free(e->description);
  g_array_unref(e->base);
  cJSON_Delete(e->cluster);
  g_ptr_array_unref(e->axes);
  g_ptr_array_unref(e->only);
  g_ptr_array_unref(e->skip);
  g_ptr_array_unref(e->seed_paths);
  g_ptr_array_unref(e->outputs);
  g_array_unref(e->points);
  g_free(e);
}

/* --- values ----------------------------------------------------------------------- */

cJSON *csim_json_copy(CsimJson *value) {
  cJSON *copy = NULL;
  switch (csim_json_type(value)) {
  case CSIM_JSON_NULL: return cJSON_CreateNull();
  case CSIM_JSON_NUMBER: return cJSON_CreateRaw(csim_json_text_of(value));
  case CSIM_JSON_TEXT: return cJSON_CreateString(csim_json_text_of(value));
  case CSIM_JSON_BOOL: {
    gboolean yes = FALSE;
    csim_json_as_bool(value, &yes);
    return cJSON_CreateBool(yes);
  }
  case CSIM_JSON_ARRAY: copy = cJSON_CreateArray(); break;
  case CSIM_JSON_OBJECT: copy = cJSON_CreateObject(); break;
  }
  for (CsimJson *child = csim_json_first(value); child; child = csim_json_next(child)) {
    if (csim_json_key(child)) cJSON_AddItemToObject(copy, csim_json_key(child), csim_json_copy(child));
    else cJSON_AddItemToArray(copy, csim_json_copy(child));
  }
  return copy;
}

char *csim_json_label(const cJSON *value) {
  if (cJSON_IsNull(value)) return g_strdup("default");
  if (cJSON_IsString(value) || cJSON_IsRaw(value)) return g_strdup(value->valuestring);
  char *text = cJSON_PrintUnformatted(value), *label = g_strdup(text);
  cJSON_free(text);
  return label;
}

/* --- the base run ----------------------------------------------------------------- */

static void add_setting(CsimExperiment *e, char *path, CsimJson *value) {
  CsimSetting s = {path, csim_json_copy(value), csim_json_loc(value)};
  g_array_append_val(e->base, s);
}

/* "env": {"NCCL_ALGO": "Ring"} and "set": {"gpu.h100.launch": "5us"} */
static void read_family(CsimExperiment *e, CsimJson *family) {
  if (!csim_json_is(family, CSIM_JSON_OBJECT)) return;
  for (CsimJson *v = csim_json_first(family); v; v = csim_json_next(v))
    add_setting(e, g_strdup_printf("%s.%s", csim_json_key(family), csim_json_key(v)), v);
}

static void read_base_value(CsimExperiment *e, CsimJson *v) {
  const char *key = csim_json_key(v);
  if (!strcmp(key, "env") || !strcmp(key, "set")) read_family(e, v);
  else if (strcmp(key, "cluster")) add_setting(e, g_strdup(key), v);
  else if (csim_json_is(v, CSIM_JSON_OBJECT)) e->cluster = csim_json_copy(v);
}

static void read_base(CsimExperiment *e, CsimJson *run) {
  for (CsimJson *v = csim_json_first(run); v; v = csim_json_next(v)) read_base_value(e, v);
}

/* --- repeats ------------------------------------------------------------------------ */

static void add_seed_path(CsimExperiment *e, CsimJson *value) {
  const char *path = NULL;
  if (!csim_json_as_text(value, &path)) return;
  if (csim_path_is_known(path)) g_ptr_array_add(e->seed_paths, csim_path_whole(path));
  else csim_json_error(value, CSIM_ERROR_REFERENCE, "'%.80s' is no path; allowed: \"seed\", \"cluster.placement.seed\" and the like", path);
}

/* "repeat": 20, or {"times": 20, "first": 1, "paths": ["seed", "cluster.placement.seed"]} */
static void read_repeat(CsimExperiment *e, CsimJson *repeat) {
  int64_t times = 1, first = 1;
  if (!repeat) return;
  if (csim_json_type(repeat) != CSIM_JSON_OBJECT) {
    csim_json_as_int(repeat, 1, CSIM_EXPERIMENT_MAX_REPEATS, &times);
  } else {
    csim_json_int(repeat, "times", CSIM_JSON_REQUIRED, 1, CSIM_EXPERIMENT_MAX_REPEATS, &times);
    csim_json_int(repeat, "first", CSIM_JSON_OPTIONAL, 0, INT32_MAX, &first);
    CsimJson *paths = csim_json_array(repeat, "paths", CSIM_JSON_OPTIONAL);
    for (CsimJson *v = csim_json_first(paths); v; v = csim_json_next(v)) add_seed_path(e, v);
  }
  if (e->seed_paths->len == 0) g_ptr_array_add(e->seed_paths, g_strdup("seed"));
  e->repeats = (guint)times;
  e->first_seed = (uint64_t)first;
}

/* --- the file ------------------------------------------------------------------------ */

static void read_words(CsimExperiment *e, CsimJson *root) {
  const char *name = NULL, *description = NULL;
  csim_json_text(root, "name", CSIM_JSON_OPTIONAL, &name);
  csim_json_text(root, "description", CSIM_JSON_OPTIONAL, &description);
  g_autofree char *file = g_path_get_basename(e->path);
  if (g_str_has_suffix(file, ".json")) file[strlen(file) - 5] = '\0';
  e->name = g_strdup(name ? name : file);
  e->description = g_strdup(description ? description : "");
}

/* "links": 16, or {"most": 16, "of": "fabric"} */
static void read_links(CsimExperiment *e, CsimJson *links) {
  static const char *const of[] = {"all", "fabric", NULL};
  int64_t most = 0;
  int which = 0;
  if (!links) return;
  if (csim_json_type(links) != CSIM_JSON_OBJECT) {
    csim_json_as_int(links, 0, CSIM_EXPERIMENT_MAX_LINKS, &most);
  } else {
    csim_json_int(links, "most", CSIM_JSON_REQUIRED, 1, CSIM_EXPERIMENT_MAX_LINKS, &most);
    csim_json_choice(links, "of", CSIM_JSON_OPTIONAL, of, &which);
  }
  e->links = (guint)most;
  e->links_of_fabric = which == 1;
}

static void read_root(CsimExperiment *e, CsimJson *root) {
  CsimJson *run = csim_json_object(root, "run", CSIM_JSON_REQUIRED);
  read_words(e, root);
  read_base(e, run);
  read_repeat(e, csim_json_get(root, "repeat", CSIM_JSON_OPTIONAL));
  read_links(e, csim_json_get(root, "links", CSIM_JSON_OPTIONAL));
  csim_experiment_read_axes(e, root);
  csim_experiment_read_outputs(e, root);
}

CsimExperiment *csim_experiment_parse(const char *name, const char *folder, const char *text, GError **error) {
  g_autoptr(CsimExperiment) e = experiment_new(name, folder);
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimJsonDoc) doc = csim_json_read_text(name, text, -1, diag);
  CsimJson *root = csim_json_root(doc, CSIM_JSON_OBJECT);
  e->digest = csim_hash_bytes(CSIM_HASH_INIT, text, strlen(text));
  if (root) {
    read_root(e, root);
    csim_json_finish(doc);
  }
  if (!csim_diag_check(diag, error) || !csim_experiment_list(e, error) || !csim_experiment_try_values(e, error)) return NULL;
  return g_steal_pointer(&e);
}

CsimExperiment *csim_experiment_read(const char *path, GError **error) {
  g_autofree char *folder = g_path_get_dirname(path);
  g_autofree char *text = csim_file_read(path, CSIM_FILE_LIMIT, NULL, error);
  return text ? csim_experiment_parse(path, folder, text, error) : NULL;
}
