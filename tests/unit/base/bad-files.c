/* bad-files.c - see bad-files.h. */
#include "bad-files.h"
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static int by_name(gconstpointer a, gconstpointer b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static GPtrArray *inputs_here(const char *extension) {
  g_autoptr(GDir) dir = g_dir_open(".", 0, NULL);
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  const char *name;
  g_assert_nonnull(dir);
  while ((name = g_dir_read_name(dir)) != NULL)
    if (g_str_has_suffix(name, extension)) g_ptr_array_add(names, g_strdup(name));
  g_ptr_array_sort(names, by_name);
  return names;
}

static char *findings_of(const char *file, BadLoader load) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  GString *s = g_string_new(NULL);
  load(file, diag);
  for (guint i = 0; i < csim_diag_n(diag); i++) {
    g_autofree char *line = csim_finding_format(csim_diag_get(diag, i));
    g_assert_null(strchr(line, '\n'));
    g_string_append_printf(s, "%s\n", line);
  }
  return g_string_free(s, FALSE);
}

/* The lines of `all` that start with "file:". */
static char *expected_of(const char *all, const char *file) {
  g_auto(GStrv) lines = g_strsplit(all, "\n", -1);
  g_autofree char *prefix = g_strconcat(file, ":", NULL);
  GString *s = g_string_new(NULL);
  for (char **line = lines; *line != NULL; line++)
    if (g_str_has_prefix(*line, prefix)) g_string_append_printf(s, "%s\n", *line);
  return g_string_free(s, FALSE);
}

static void update(GPtrArray *inputs, BadLoader load) {
  g_autoptr(GString) all = g_string_new(NULL);
  for (guint i = 0; i < inputs->len; i++) {
    g_autofree char *found = findings_of(g_ptr_array_index(inputs, i), load);
    g_string_append(all, found);
  }
  g_assert_true(g_file_set_contents("expected.txt", all->str, -1, NULL));
}

static void compare(const char *file, const char *all, BadLoader load) {
  g_autofree char *found = findings_of(file, load), *expected = expected_of(all, file);
  if (*found == '\0') g_test_message("%s: accepted", file);
  g_assert_cmpstr(found, !=, "");
  g_assert_cmpstr(found, ==, expected);
}

void bad_files_check(const char *folder, const char *extension, guint at_least, BadLoader load) {
  const char *root = g_getenv("COLLSIM_SOURCE_ROOT");
  g_autofree char *before = g_get_current_dir(), *all = NULL;
  g_autofree char *path = g_build_filename(root != NULL ? root : ".", "tests", "bad", folder, NULL);
  g_assert_cmpint(g_chdir(path), ==, 0);
  g_autoptr(GPtrArray) inputs = inputs_here(extension);
  g_assert_cmpuint(inputs->len, >=, at_least);
  if (g_getenv("COLLSIM_UPDATE") != NULL) update(inputs, load);
  g_assert_true(g_file_get_contents("expected.txt", &all, NULL, NULL));
  for (guint i = 0; i < inputs->len; i++) compare(g_ptr_array_index(inputs, i), all, load);
  g_assert_cmpint(g_chdir(before), ==, 0);
}
