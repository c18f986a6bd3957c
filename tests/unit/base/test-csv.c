/* Cells of comma-separated lines, there and back. */
#include "base/csv.h"

#include <string.h>

static void test_round_trip(void) {
  static const char *const cells[] = {"plain", "", "a,b", "say \"x\"", "\"", "two\nlines", "end\r\n"};
  g_autoptr(GString) line = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cells); i++) {
    if (i) g_string_append_c(line, ',');
    csim_csv_append_cell(line, cells[i]);
  }
  g_auto(GStrv) back = csim_csv_split(line->str);
  g_assert_nonnull(back);
  g_assert_cmpuint(g_strv_length(back), ==, G_N_ELEMENTS(cells));
  for (guint i = 0; i < G_N_ELEMENTS(cells); i++) g_assert_cmpstr(back[i], ==, cells[i]);
}

static void test_bad_quotes(void) {
  static const char *const lines[] = {"\"", "\"open", "a,\"open", "\"abc\"\"", "\"abc\"d", "\"a\" ,b"};
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) g_assert_null(csim_csv_split(lines[i]));
  g_auto(GStrv) inside = csim_csv_split("a\"b,c"); /* a quote inside an unquoted cell is a letter */
  g_assert_cmpstr(inside[0], ==, "a\"b");
}

/* The reader stops where a line does. */
static void test_lines(void) {
  const char *text = "a,b\r\nc", *at = text;
  g_autofree char *first = csim_csv_read_cell(&at);
  g_assert_cmpstr(first, ==, "a");
  at++;
  g_autofree char *second = csim_csv_read_cell(&at);
  g_assert_cmpstr(second, ==, "b");
  g_assert_cmpint(at - text, ==, 3);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/csv/round-trip", test_round_trip);
  g_test_add_func("/base/csv/bad-quotes", test_bad_quotes);
  g_test_add_func("/base/csv/lines", test_lines);
  return g_test_run();
}
