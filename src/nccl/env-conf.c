/* NCCL's files of settings. Source: NCCL 2.30.7, src/misc/param.cc. */
#include "nccl/env.h"

#include <string.h>

/* Settings gathered so far, with the names already taken. */
typedef struct {
  GPtrArray *settings;
  GHashTable *taken;
} Merge;

/* The first setting of a name wins. */
static void take(Merge *merge, const char *setting) {
  const char *equals = strchr(setting, '=');
  if (!equals) return;
  char *name = g_strndup(setting, equals - setting);
  if (g_hash_table_add(merge->taken, name)) g_ptr_array_add(merge->settings, g_strdup(setting));
}

/* As NCCL reads a line: '#' in the first column is a comment, blanks belong to name and value, a line without '=' says nothing. */
static void take_line(Merge *merge, const char *line) {
  if (*line != '#') take(merge, line);
}

static void take_file(Merge *merge, const char *path) {
  g_autofree char *content = NULL;
  if (!path || !g_file_get_contents(path, &content, NULL, NULL)) return;
  g_auto(GStrv) lines = g_strsplit(content, "\n", -1);
  for (char **line = lines; *line; line++) take_line(merge, *line);
}

static const char *setting_of(const Merge *merge, const char *name) {
  gsize length = strlen(name);
  for (guint i = 0; i < merge->settings->len; i++) {
    const char *setting = g_ptr_array_index(merge->settings, i);
    if (strncmp(setting, name, length) == 0 && setting[length] == '=') return setting + length + 1;
  }
  return NULL;
}

char **csim_nccl_conf_environ(const char *const *environ, const char *home, const char *etc) {
  Merge merge = {g_ptr_array_new(), g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
  for (; environ && *environ; environ++) take(&merge, *environ);
  const char *named = setting_of(&merge, "NCCL_CONF_FILE");
  g_autofree char *own = g_build_filename(home ? home : g_get_home_dir(), ".nccl.conf", NULL);
  take_file(&merge, named && *named ? named : own);
  g_autofree char *common = g_build_filename(etc ? etc : "/etc", "nccl.conf", NULL);
  take_file(&merge, common);
  g_hash_table_unref(merge.taken);
  g_ptr_array_add(merge.settings, NULL);
  return (char **)g_ptr_array_free(merge.settings, FALSE);
}
