/* exp/sweep-store.c - results on disk: lines appended one by one, put in order at the end. */
#include "exp/sweep-private.h"

#include "base/json-write.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define KEY_DIGITS 16

/* --- text ---------------------------------------------------------------------------- */

void csim_store_line(GString *out, const CsimExperiment *e, guint point, const char *key, const char *result) {
  g_string_append_printf(out, "{\"point\": %u, \"key\": \"%s\", \"result\": %s, \"axes\": {", point, key, result);
  for (guint i = 0; i < e->axes->len; i++)
    csim_jsonw_member_string(out, ((const CsimAxis *)g_ptr_array_index(e->axes, i))->name, csim_experiment_value(e, point, i)->label);
  g_string_append_printf(out, "}, \"repeat\": %u}\n", csim_experiment_repeat(e, point) + 1);
}

/* The end of the object that starts at `at`, or NULL if the line was torn. */
static const char *object_end(const char *at) {
  int depth = 0;
  gboolean inside = FALSE;
  for (; *at && *at != '\n'; at++) {
    if (inside) {
      if (*at == '\\' && at[1]) at++;
      else if (*at == '"') inside = FALSE;
    } else if (*at == '"') inside = TRUE;
    else if (*at == '{') depth++;
    else if (*at == '}' && --depth == 0) return at + 1;
  }
  return NULL;
}

/* Key and result of a whole line; FALSE for anything else. */
static gboolean split_line(const char *line, char **key, char **result) {
  static const char key_mark[] = ", \"key\": \"", result_mark[] = "\", \"result\": ";
  const char *at = strstr(line, key_mark), *end = object_end(line);
  if (!at || !end || *end != '\n' || at > end) return FALSE;
  at += sizeof key_mark - 1;
  if (strspn(at, "0123456789abcdef") != KEY_DIGITS || strncmp(at + KEY_DIGITS, result_mark, sizeof result_mark - 1)) return FALSE;
  const char *body = at + KEY_DIGITS + sizeof result_mark - 1, *body_end = object_end(body);
  if (!body_end) return FALSE;
  *key = g_strndup(at, KEY_DIGITS);
  *result = g_strndup(body, (gsize)(body_end - body));
  return TRUE;
}

static void keep(CsimStore *store, char *key, char *result) {
  if (g_hash_table_contains(store->results, key)) {
    g_free(key);
    g_free(result);
    return;
  }
  g_ptr_array_add(store->stored, g_strdup(key));
  g_hash_table_insert(store->results, key, result);
}

static gboolean read_lines(CsimStore *store, const char *path, GError **error) {
  g_autofree char *text = NULL;
  g_autoptr(GError) wrong = NULL;
  if (!g_file_get_contents(path, &text, NULL, &wrong)) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: cannot be read: %s", path, wrong->message);
    return FALSE;
  }
  for (const char *line = text; line; line = strchr(line, '\n')) {
    char *key, *result;
    line += *line == '\n';
    if (split_line(line, &key, &result)) keep(store, key, result);
  }
  return TRUE;
}

/* --- files --------------------------------------------------------------------------------- */

static gboolean io_error(const char *path, GError **error) {
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: cannot be written: %s", path, g_strerror(errno));
  return FALSE;
}

/* points.jsonl and those of shards, whoever wrote them. */
static gboolean read_folder(CsimStore *store, GError **error) {
  g_autoptr(GDir) dir = g_dir_open(store->folder, 0, NULL);
  g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
  const char *name;
  while (dir && (name = g_dir_read_name(dir)))
    if (g_str_has_prefix(name, "points") && g_str_has_suffix(name, ".jsonl")) g_ptr_array_add(paths, g_build_filename(store->folder, name, NULL));
  for (guint i = 0; i < paths->len; i++)
    if (!read_lines(store, (const char *)g_ptr_array_index(paths, i), error)) return FALSE;
  return TRUE;
}

/* A killed writer may have left half a line: the next one starts on its own. */
static gboolean end_torn_line(CsimStore *store, GError **error) {
  char last = '\n';
  off_t size = lseek(store->file, 0, SEEK_END);
  if (size > 0 && pread(store->file, &last, 1, size - 1) != 1) return io_error(store->path, error);
  return last == '\n' || write(store->file, "\n", 1) == 1 || io_error(store->path, error);
}

static gboolean open_file(CsimStore *store, GError **error) {
  store->file = g_open(store->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (store->file < 0) return io_error(store->path, error);
  if (flock(store->file, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "%s: another sweep is writing it; wait for it, or take another --out", store->path);
    return FALSE;
  }
  return end_torn_line(store, error);
}

CsimStore *csim_store_new(const char *folder, guint shard, guint n_shards, GError **error) {
  CsimStore *store = g_new0(CsimStore, 1);
  g_autofree char *name = n_shards > 1 ? g_strdup_printf("points-%u-of-%u.jsonl", shard, n_shards) : g_strdup("points.jsonl");
  store->folder = g_strdup(folder);
  store->path = g_build_filename(folder, name, NULL);
  store->file = -1;
  store->results = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  store->stored = g_ptr_array_new_with_free_func(g_free);
  if ((g_mkdir_with_parents(folder, 0777) == 0 || io_error(folder, error)) && open_file(store, error) && read_folder(store, error)) return store;
  csim_store_free(store);
  return NULL;
}

void csim_store_free(CsimStore *store) {
  if (!store) return;
  if (store->file >= 0) close(store->file);
  g_hash_table_unref(store->results);
  g_ptr_array_unref(store->stored);
  g_free(store->folder);
  g_free(store->path);
  g_free(store);
}

gboolean csim_store_append(CsimStore *store, const CsimExperiment *e, guint point, const char *key, const char *result, GError **error) {
  g_autoptr(GString) line = g_string_new(NULL);
  csim_store_line(line, e, point, key, result);
  if (write(store->file, line->str, line->len) != (gssize)line->len) return io_error(store->path, error);
  g_hash_table_insert(store->results, g_strdup(key), g_strdup(result));
  return TRUE;
}

gboolean csim_store_replace(const CsimStore *store, const char *name, const GString *text, GError **error) {
  g_autofree char *path = g_build_filename(store->folder, name, NULL);
  return g_file_set_contents(path, text->str, (gssize)text->len, error); /* writes another file, then renames it */
}
