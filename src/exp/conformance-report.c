/* exp/conformance-report.c - what a comparison found, as text and JSON; and which files a command names. */
#include "exp/conformance.h"
#include <string.h>

char *csim_conformance_text(const CsimConformance *c) {
  GString *out = g_string_new(NULL);
  if (c->differences->len == 0) {
    g_string_printf(out, "%s: equal", c->file);
    if (c->n_cases > 1) g_string_append_printf(out, " (%u cases)", c->n_cases);
    g_string_append_c(out, '\n');
  }
  for (guint i = 0; i < c->differences->len; i++) {
    const CsimDifference *d = g_ptr_array_index(c->differences, i);
    g_string_append_printf(out, "%s: %s: NCCL %s, collsim %s\n", c->file, d->where, d->expected, d->got);
  }
  return g_string_free(out, FALSE);
}

cJSON *csim_conformance_json(const CsimConformance *c) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "file", c->file);
  cJSON_AddBoolToObject(json, "equal", c->differences->len == 0);
  cJSON_AddNumberToObject(json, "cases", c->n_cases);
  cJSON_AddNumberToObject(json, "cases_equal", c->n_equal);
  cJSON *list = cJSON_AddArrayToObject(json, "differences");
  for (guint i = 0; i < c->differences->len; i++) {
    const CsimDifference *d = g_ptr_array_index(c->differences, i);
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "where", d->where);
    cJSON_AddStringToObject(item, "expected", d->expected);
    cJSON_AddStringToObject(item, "got", d->got);
    cJSON_AddItemToArray(list, item);
  }
  return json;
}

static int by_name(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static gboolean add_folder(GPtrArray *files, const char *folder, GError **error) {
  g_autoptr(GError) local = NULL;
  g_autoptr(GDir) dir = g_dir_open(folder, 0, &local);
  g_autoptr(GPtrArray) found = g_ptr_array_new();
  if (dir == NULL) {
    csim_error_set(error, CSIM_ERROR_IO, (CsimLoc){g_intern_string(folder), 0, 0}, "%s", local->message);
    return FALSE;
  }
  for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
    if (g_str_has_suffix(name, ".json")) g_ptr_array_add(found, g_build_filename(folder, name, NULL));
  g_ptr_array_sort(found, by_name);
  for (guint i = 0; i < found->len; i++) g_ptr_array_add(files, g_ptr_array_index(found, i));
  return TRUE;
}

GPtrArray *csim_conformance_expand(const char *const *paths, GError **error) {
  g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; paths[i] != NULL; i++) {
    if (!g_file_test(paths[i], G_FILE_TEST_IS_DIR))
      g_ptr_array_add(files, g_strdup(paths[i]));
    else if (!add_folder(files, paths[i], error))
      return NULL;
  }
  return g_steal_pointer(&files);
}
