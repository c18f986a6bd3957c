/* base/csv.c - quoted only if it must be. */
#include "base/csv.h"

#include <string.h>

void csim_csv_append_cell(GString *out, const char *text) {
  if (!strpbrk(text, ",\"\r\n")) {
    g_string_append(out, text);
    return;
  }
  g_string_append_c(out, '"');
  for (; *text; text++) {
    if (*text == '"') g_string_append_c(out, '"');
    g_string_append_c(out, *text);
  }
  g_string_append_c(out, '"');
}

char *csim_csv_read_cell(const char **at) {
  GString *cell = g_string_new(NULL);
  gboolean quoted = **at == '"', closed = !quoted;
  const char *c = *at + quoted;
  for (; *c; c++) {
    if (quoted && *c == '"') {
      closed = *++c != '"';
      if (closed) break;
    } else if (!quoted && strchr(",\r\n", *c)) break;
    g_string_append_c(cell, *c);
  }
  *at = c;
  gboolean good = closed && strchr(",\r\n", *c); /* or the text's end */
  return g_string_free(cell, !good);
}

char **csim_csv_split(const char *line) {
  g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
  for (const char *at = line;; at++) {
    char *cell = csim_csv_read_cell(&at);
    if (!cell) return NULL;
    g_ptr_array_add(cells, cell);
    if (*at != ',') break;
  }
  g_ptr_array_add(cells, NULL);
  return (char **)g_ptr_array_free(g_steal_pointer(&cells), FALSE);
}
