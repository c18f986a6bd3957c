/* exp/experiment-text.c - what a point's settings make of the base: one merged description. */
#include "exp/experiment-private.h"

#include "base/file.h"
#include "base/hash.h"
#include "models/catalogue.h"

#include <stdlib.h>
#include <string.h>

/* --- a path in a tree ------------------------------------------------------------------ */

static gboolean nowhere(const char *path, const char *why, GError **error) {
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_REFERENCE, "cluster.%s leads nowhere: %s", path, why);
  return FALSE;
}

/* One step of a path: a member's name, or an index in brackets; *end is behind it. FALSE if it is neither. */
static gboolean next_step(const char *at, char **name, int *index, const char **end) {
  *name = NULL;
  if (*at == '[') {
    char *close;
    unsigned long value = strtoul(at + 1, &close, 10);
    *index = (int)value;
    *end = close + 1;
    return g_ascii_isdigit(at[1]) && *close == ']' && value < 65536;
  }
  gsize n = strcspn(at, ".[");
  *name = g_strndup(at, n);
  *end = at + n;
  return n > 0;
}

/* The child of one step, made if it is missing and may be; `next` is how the path goes on. */
static cJSON *step_into(cJSON *node, const char *name, int index, const char *next) {
  cJSON *child = name ? cJSON_GetObjectItemCaseSensitive(node, name) : cJSON_GetArrayItem(node, index);
  if (child && !cJSON_IsNull(child)) return child;
  cJSON *made = *next == '[' ? cJSON_CreateArray() : cJSON_CreateObject();
  if (name && child) cJSON_ReplaceItemInObjectCaseSensitive(node, name, made);
  else if (name) cJSON_AddItemToObject(node, name, made);
  else if (index == cJSON_GetArraySize(node)) cJSON_AddItemToArray(node, made);
  else {
    cJSON_Delete(made);
    return NULL;
  }
  return made;
}

static gboolean set_leaf(cJSON *node, const char *name, int index, const cJSON *value) {
  cJSON *copy = value && !cJSON_IsNull(value) ? cJSON_Duplicate(value, 1) : NULL;
  if (!copy && name) cJSON_DeleteItemFromObjectCaseSensitive(node, name);
  else if (!copy) cJSON_DeleteItemFromArray(node, index);
  else if (name && cJSON_GetObjectItemCaseSensitive(node, name)) cJSON_ReplaceItemInObjectCaseSensitive(node, name, copy);
  else if (name) cJSON_AddItemToObject(node, name, copy);
  else if (index < cJSON_GetArraySize(node)) cJSON_ReplaceItemInArray(node, index, copy);
  else if (index == cJSON_GetArraySize(node)) cJSON_AddItemToArray(node, copy);
  else {
    cJSON_Delete(copy);
    return FALSE;
  }
  return TRUE;
}

gboolean csim_tree_set(cJSON *root, const char *path, const cJSON *value, GError **error) {
  cJSON *node = root;
  for (const char *at = path;;) {
    g_autofree char *name = NULL;
    int index = 0;
    if (!next_step(at, &name, &index, &at)) return nowhere(path, "a path is names with dots between them, and indices as in faults[0]", error);
    if (name ? !cJSON_IsObject(node) : !cJSON_IsArray(node)) return nowhere(path, name ? "there is no object on the way" : "there is no list on the way", error);
    if (*at == '\0') return set_leaf(node, name, index, value) || nowhere(path, "the list has fewer items", error);
    if (*at == '.') at++;
    node = step_into(node, name, index, at);
    if (!node) return nowhere(path, "the list has fewer items", error);
  }
}

/* Members of `over` into `under`: objects member by member, anything else replaced. */
static void lay_over(cJSON *under, const cJSON *over) {
  const cJSON *item;
  cJSON_ArrayForEach(item, over) {
    cJSON *old = cJSON_GetObjectItemCaseSensitive(under, item->string);
    if (old && cJSON_IsObject(old) && cJSON_IsObject(item)) lay_over(old, item);
    else set_leaf(under, item->string, 0, item);
  }
}

/* --- the cluster as a tree ---------------------------------------------------------------- */

static char *whole_path(const char *folder, const char *path) {
  return g_path_is_absolute(path) || !strcmp(folder, ".") ? g_strdup(path) : g_build_filename(folder, path, NULL);
}

/* Puts a folder in front of every node's XML file. */
static void move_nodes(cJSON *cluster, const char *folder) {
  cJSON *group;
  cJSON_ArrayForEach(group, cJSON_GetObjectItemCaseSensitive(cluster, "nodes")) {
    cJSON *xml = cJSON_GetObjectItemCaseSensitive(group, "xml");
    if (!cJSON_IsString(xml) || !g_str_has_suffix(xml->valuestring, ".xml")) continue;
    g_autofree char *path = whole_path(folder, xml->valuestring);
    cJSON_SetValuestring(xml, path);
  }
}

/* A cluster file, its XML paths made relative to the experiment's folder. */
static cJSON *tree_of_file(const CsimExperiment *e, const char *target, GError **error) {
  g_autofree char *path = whole_path(e->folder, target), *folder = g_path_get_dirname(target);
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimJsonDoc) doc = csim_json_read_file(path, diag);
  CsimJson *root = csim_json_root(doc, CSIM_JSON_OBJECT);
  cJSON *tree = root ? csim_json_copy(root) : NULL;
  if (tree) move_nodes(tree, folder);
  csim_diag_check(diag, error);
  return tree;
}

/* "dgx-h100*128" as {"nodes": [{"count": 128, "xml": "dgx-h100"}]} */
static cJSON *tree_of_short_form(const char *target) {
  const char *star = strrchr(target, '*');
  gboolean counted = star && star[1] && !star[1 + strspn(star + 1, "0123456789")];
  g_autofree char *name = counted ? g_strndup(target, (gsize)(star - target)) : g_strdup(target);
  cJSON *tree = cJSON_CreateObject(), *group = cJSON_CreateObject();
  cJSON_AddItemToObject(group, "count", cJSON_CreateRaw(counted ? star + 1 : "1"));
  cJSON_AddStringToObject(group, "xml", name);
  cJSON_AddItemToArray(cJSON_AddArrayToObject(tree, "nodes"), group);
  return tree;
}

static cJSON *base_tree(const CsimExperiment *e, const char *target, GError **error) {
  if (!target) return cJSON_CreateObject();
  return g_str_has_suffix(target, ".json") ? tree_of_file(e, target, error) : tree_of_short_form(target);
}

/* --- merging -------------------------------------------------------------------------------- */

typedef struct {
  const CsimExperiment *e;
  CsimDescription *d;
  GPtrArray *cluster; /* CsimSetting*: cluster paths, in order */
} Merge;

static void put(CsimDescription *d, const char *key, const cJSON *value) {
  guint i;
  for (i = 0; i < d->keys->len && strcmp((const char *)g_ptr_array_index(d->keys, i), key); i++) continue;
  if (i < d->keys->len) {
    g_ptr_array_remove_index(d->keys, i);
    g_ptr_array_remove_index(d->values, i);
  }
  if (cJSON_IsNull(value)) return;
  g_ptr_array_add(d->keys, g_strdup(key));
  g_ptr_array_add(d->values, csim_json_label(value));
}

static const char *get(const CsimDescription *d, const char *key) {
  for (guint i = 0; i < d->keys->len; i++)
    if (!strcmp((const char *)g_ptr_array_index(d->keys, i), key)) return (const char *)g_ptr_array_index(d->values, i);
  return NULL;
}

static void merge_setting(Merge *m, const CsimSetting *s) {
  if (g_str_has_prefix(s->path, "cluster.")) g_ptr_array_add(m->cluster, (void *)s);
  else put(m->d, s->path, s->value);
}

static void merge_settings(Merge *m, const GArray *settings) {
  for (guint i = 0; i < settings->len; i++) merge_setting(m, &g_array_index(settings, CsimSetting, i));
}

static gboolean merge_seeds(Merge *m, cJSON *tree, guint repeat, GError **error) {
  g_autofree char *digits = g_strdup_printf("%" G_GUINT64_FORMAT, m->e->first_seed + repeat);
  cJSON *seed = cJSON_CreateRaw(digits);
  gboolean ok = TRUE;
  for (guint i = 0; ok && m->e->repeats > 1 && i < m->e->seed_paths->len; i++) {
    const char *path = (const char *)g_ptr_array_index(m->e->seed_paths, i);
    if (!g_str_has_prefix(path, "cluster.")) put(m->d, path, seed);
    else ok = csim_tree_set(tree, path + strlen("cluster."), seed, error);
  }
  cJSON_Delete(seed);
  return ok;
}

static gboolean seeds_cluster(const CsimExperiment *e) {
  for (guint i = 0; e->repeats > 1 && i < e->seed_paths->len; i++)
    if (g_str_has_prefix((const char *)g_ptr_array_index(e->seed_paths, i), "cluster.")) return TRUE;
  return FALSE;
}

static char *print_tree(const cJSON *tree) {
  char *text = cJSON_PrintUnformatted(tree), *copy = g_strdup(text);
  cJSON_free(text);
  return copy;
}

static int by_text(gconstpointer a, gconstpointer b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static char *canonical(const CsimDescription *d, const char *cluster) {
  g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < d->keys->len; i++)
    g_ptr_array_add(lines, g_strdup_printf("%s=%s", (const char *)g_ptr_array_index(d->keys, i), (const char *)g_ptr_array_index(d->values, i)));
  g_ptr_array_sort(lines, by_text);
  if (cluster) g_ptr_array_add(lines, g_strconcat("cluster=", cluster, NULL));
  g_ptr_array_add(lines, NULL);
  return g_strjoinv("\n", (char **)lines->pdata);
}

static gboolean finish_cluster(Merge *m, cJSON *tree, guint repeat, GError **error) {
  if (m->e->cluster) lay_over(tree, m->e->cluster);
  for (guint i = 0; i < m->cluster->len; i++) {
    const CsimSetting *s = (const CsimSetting *)g_ptr_array_index(m->cluster, i);
    if (!csim_tree_set(tree, s->path + strlen("cluster."), s->value, error)) return FALSE;
  }
  if (!merge_seeds(m, tree, repeat, error)) return FALSE;
  g_autofree char *text = print_tree(tree);
  m->d->text = canonical(m->d, text);
  move_nodes(tree, m->e->folder);
  m->d->load_target = print_tree(tree);
  return TRUE;
}

/* No member of the cluster is touched: the target as it is. */
static gboolean finish_plain(Merge *m, guint repeat, GError **error) {
  const char *target = m->d->target;
  merge_seeds(m, NULL, repeat, NULL);
  if (!target) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_SCHEMA, "no machine is named; allowed: \"target\" or \"cluster\" in \"run\", or an axis of them");
    return FALSE;
  }
  g_autofree char *name = g_strdup(target);
  char *star = strrchr(name, '*');
  if (star) *star = '\0';
  gboolean file = g_str_has_suffix(name, ".xml") || g_str_has_suffix(name, ".json");
  m->d->load_target = file ? whole_path(m->e->folder, target) : g_strdup(target);
  m->d->text = canonical(m->d, NULL);
  return TRUE;
}

CsimDescription *csim_experiment_describe(const CsimExperiment *e, guint point, GError **error) {
  g_autoptr(CsimDescription) d = g_new0(CsimDescription, 1);
  g_autoptr(GPtrArray) cluster = g_ptr_array_new();
  Merge m = {e, d, cluster};
  d->folder = e->folder;
  d->keys = g_ptr_array_new_with_free_func(g_free);
  d->values = g_ptr_array_new_with_free_func(g_free);
  merge_settings(&m, e->base);
  for (guint i = 0; i < e->axes->len; i++) merge_settings(&m, csim_experiment_value(e, point, i)->sets);
  d->target = g_strdup(get(d, "target"));
  guint repeat = csim_experiment_repeat(e, point);
  if (!e->cluster && cluster->len == 0 && !seeds_cluster(e)) return finish_plain(&m, repeat, error) ? g_steal_pointer(&d) : NULL;
  cJSON *tree = base_tree(e, d->target, error);
  gboolean ok = tree && finish_cluster(&m, tree, repeat, error);
  cJSON_Delete(tree);
  return ok ? g_steal_pointer(&d) : NULL;
}

void csim_description_free(CsimDescription *d) {
  if (!d) return;
  g_ptr_array_unref(d->keys);
  g_ptr_array_unref(d->values);
  g_free(d->target);
  g_free(d->load_target);
  g_free(d->text);
  g_free(d);
}

/* --- as a run ---------------------------------------------------------------------------------- */

CsimRunArgs *csim_description_args(const CsimDescription *d, GError **error) {
  g_autoptr(CsimRunArgs) args = csim_run_args_new();
  for (guint i = 0; i < d->keys->len; i++) {
    const char *key = (const char *)g_ptr_array_index(d->keys, i), *value = (const char *)g_ptr_array_index(d->values, i);
    g_autofree char *overlay = strcmp(key, "catalogue") ? NULL : whole_path(d->folder, value);
    if (csim_run_args_set(args, key, overlay ? overlay : value, error)) continue;
    g_prefix_error(error, "%s: ", key);
    return NULL;
  }
  return csim_run_args_set(args, "target", d->load_target, error) ? g_steal_pointer(&args) : NULL;
}

/* The contents of a file that a description names; one that is not there counts by its name alone, and fails later. */
static uint64_t hash_file(uint64_t hash, const char *path) {
  gsize length = 0;
  g_autofree char *text = csim_file_read(path, CSIM_FILE_LIMIT, &length, NULL);
  return text ? csim_hash_bytes(hash, text, length) : hash;
}

/* Files by their names in the description: FILE.xml*N, FILE.json, nodes' "xml" members, the overlay of constants. */
static uint64_t hash_files(uint64_t hash, const CsimDescription *d, const CsimExperiment *e) {
  const char *catalogue = get(d, "catalogue");
  g_autofree char *overlay = catalogue ? whole_path(e->folder, catalogue) : NULL;
  if (overlay) hash = hash_file(hash, overlay);
  if (d->load_target[0] != '{') {
    g_autofree char *name = g_strdup(d->load_target);
    char *star = strrchr(name, '*');
    if (star) *star = '\0';
    return strchr(name, '.') ? hash_file(hash, name) : hash;
  }
  cJSON *tree = cJSON_Parse(d->load_target), *group;
  cJSON_ArrayForEach(group, cJSON_GetObjectItemCaseSensitive(tree, "nodes")) {
    const cJSON *xml = cJSON_GetObjectItemCaseSensitive(group, "xml");
    if (cJSON_IsString(xml) && g_str_has_suffix(xml->valuestring, ".xml")) hash = hash_file(hash, xml->valuestring);
  }
  cJSON_Delete(tree);
  return hash;
}

uint64_t csim_constants_digest(void) {
  static gsize digest;
  if (g_once_init_enter(&digest)) {
    CsimCatalogue *catalogue = csim_catalogue_new(NULL, NULL, NULL);
    gsize value = (gsize)csim_catalogue_digest(catalogue);
    csim_catalogue_free(catalogue);
    g_once_init_leave(&digest, value ? value : 1);
  }
  return digest;
}

uint64_t csim_description_key(const CsimDescription *d, const CsimExperiment *e) {
  uint64_t hash = csim_hash_bytes(CSIM_HASH_INIT, csim_model_digest, strlen(csim_model_digest));
  hash = csim_hash_u64(hash, csim_constants_digest());
  hash = csim_hash_u32(hash, 2 * e->links + (e->links_of_fabric ? 1 : 0)); /* what is kept of a row */
  hash = csim_hash_bytes(hash, d->text, strlen(d->text));
  return hash_files(hash, d, e);
}
