/*
 * replay.c - main for a fuzz target without a fuzzing engine: feeds it every file of the folders and files given.
 *
 * So the checked-in corpora are an ordinary test, with gcc as well. Prints TAP, one case an argument; an input that
 * breaks the target ends the program, and the last line names it.
 */
#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int by_name(gconstpointer a, gconstpointer b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The files of a folder in the order of their names, or the file itself. */
static GPtrArray *inputs(const char *path) {
  GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL)
    g_ptr_array_add(files, g_build_filename(path, name, NULL));
  if (dir == NULL) g_ptr_array_add(files, g_strdup(path));
  g_ptr_array_sort(files, by_name);
  return files;
}

static gboolean feed(const char *file) {
  g_autofree char *text = NULL;
  gsize length;
  if (!g_file_get_contents(file, &text, &length, NULL)) return FALSE;
  fprintf(stderr, "# %s\n", file);
  LLVMFuzzerTestOneInput((const uint8_t *)text, length);
  return TRUE;
}

static gboolean feed_all(const char *path, guint *n) {
  g_autoptr(GPtrArray) files = inputs(path);
  gboolean ok = files->len > 0;
  for (guint i = 0; i < files->len; i++) ok &= feed(g_ptr_array_index(files, i));
  *n = files->len;
  return ok;
}

int main(int argc, char **argv) {
  gboolean ok = TRUE;
  printf("1..%d\n", argc - 1);
  for (int i = 1; i < argc; i++) {
    guint n;
    gboolean fine = feed_all(argv[i], &n);
    g_autofree char *name = g_path_get_basename(argv[i]);
    printf("%s %d - %u inputs of %s\n", fine ? "ok" : "not ok", i, n, name);
    ok &= fine;
  }
  return ok ? 0 : 1;
}
