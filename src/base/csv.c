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
