/* The JSON reader: values, places, getters, limits, and a folder of bad inputs with their messages. */
#include "bad-files.h"
#include "base/file.h"
#include "base/json-read.h"
#include "base/units.h"

typedef struct {
  int64_t count;
  const char *title;
  gboolean on;
  double ratio;
  CsimTime latency;
  CsimBytes size;
  CsimRate rate;
  int kind;
  int64_t sum;
  const char *name;
} Sample;

/* One key of each type; the bad inputs break each of them in turn. */
static void load_sample(CsimJsonDoc *doc, Sample *s) {
  static const char *const kinds[] = {"ring", "tree", "collnet", NULL};
  CsimJson *root = csim_json_root(doc, CSIM_JSON_OBJECT);
  csim_json_int(root, "count", CSIM_JSON_REQUIRED, 1, 1000, &s->count);
  csim_json_text(root, "title", CSIM_JSON_OPTIONAL, &s->title);
  csim_json_bool(root, "on", CSIM_JSON_OPTIONAL, &s->on);
  csim_json_double(root, "ratio", CSIM_JSON_OPTIONAL, 0, 1, &s->ratio);
  csim_json_time(root, "latency", CSIM_JSON_OPTIONAL, &s->latency);
  csim_json_bytes(root, "size", CSIM_JSON_OPTIONAL, &s->size);
  csim_json_rate(root, "rate", CSIM_JSON_OPTIONAL, &s->rate);
  csim_json_choice(root, "kind", CSIM_JSON_OPTIONAL, kinds, &s->kind);
  CsimJson *list = csim_json_array(root, "list", CSIM_JSON_OPTIONAL);
  for (CsimJson *item = csim_json_first(list); item != NULL; item = csim_json_next(item)) {
    int64_t n;
    if (csim_json_as_int(item, INT64_MIN, INT64_MAX, &n)) s->sum += n;
  }
  CsimJson *sub = csim_json_object(root, "sub", CSIM_JSON_OPTIONAL);
  csim_json_text(sub, "name", CSIM_JSON_REQUIRED, &s->name);
  csim_json_finish(doc);
}

static void load_bad(const char *file, CsimDiag *diag) {
  g_autoptr(CsimJsonDoc) doc = csim_json_read_file(file, diag);
  Sample s = {0};
  load_sample(doc, &s);
}

static void test_bad_files(void) {
  bad_files_check("json", ".json", 40, load_bad);
}

static void test_good(void) {
  static const char text[] =
      "{\"count\": 1e2, \"title\": \"caf\\u00e9 \\ud83d\\ude00 \\\"x\\\"\\n\", \"on\": true,\n"
      " \"ratio\": 2.5e-1, \"latency\": \"1.5us\", \"size\": \"4KiB\", \"rate\": \"400Gb/s\",\r\n"
      "\t\"kind\": \"tree\", \"list\": [1, -2, [], {}], \"sub\": {\"name\": \"\"}}  \n";
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimJsonDoc) doc = csim_json_read_text("t", text, -1, diag);
  Sample s = {0};
  g_assert_nonnull(doc);
  load_sample(doc, &s);
  g_assert_cmpint(s.count, ==, 100);
  g_assert_cmpstr(s.title, ==, "caf\xc3\xa9 \xf0\x9f\x98\x80 \"x\"\n");
  g_assert_true(s.on);
  g_assert_cmpfloat(s.ratio, ==, 0.25);
  g_assert_cmpint(s.latency, ==, 1500 * CSIM_NS);
  g_assert_cmpint(s.size, ==, 4096);
  g_assert_cmpint(s.rate, ==, INT64_C(50000000000));
  g_assert_cmpint(s.kind, ==, 1);
  g_assert_cmpint(s.sum, ==, -1);
  g_assert_cmpstr(s.name, ==, "");
  g_assert_cmpuint(csim_diag_n(diag), ==, 2); /* the two items that are no numbers */
}

static void check_loc(CsimLoc loc, guint line, guint col) {
  g_assert_cmpstr(loc.file, ==, "t");
  g_assert_cmpuint(loc.line, ==, line);
  g_assert_cmpuint(loc.col, ==, col);
}

static void test_places(void) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimJsonDoc) doc =
      csim_json_read_text("t", "{\n  \"a\": [10,\n   {\"b\" :  null}],\n\"\\u0063\":true}", -1, diag);
  CsimJson *root = csim_json_root(doc, CSIM_JSON_OBJECT), *a = csim_json_get(root, "a", CSIM_JSON_REQUIRED);
  check_loc(csim_json_loc(root), 1, 1);
  check_loc(csim_json_key_loc(a), 2, 3);
  check_loc(csim_json_loc(a), 2, 8);
  CsimJson *item = csim_json_first(a);
  check_loc(csim_json_loc(item), 2, 9);
  item = csim_json_next(item);
  check_loc(csim_json_loc(item), 3, 4);
  check_loc(csim_json_loc(csim_json_get(item, "b", CSIM_JSON_REQUIRED)), 3, 12);
  check_loc(csim_json_key_loc(csim_json_get(root, "c", CSIM_JSON_REQUIRED)), 4, 1);
  g_assert_cmpuint(csim_json_n(root), ==, 2);
  g_assert_cmpuint(csim_diag_n(diag), ==, 0);
}

static void expect_first(CsimDiag *diag, const char *text) {
  g_autoptr(GError) error = NULL;
  g_assert_false(csim_diag_check(diag, &error));
  g_assert_cmpstr(error->message, ==, text);
}

static void test_depth(void) {
  for (int depth = CSIM_JSON_MAX_DEPTH; depth <= CSIM_JSON_MAX_DEPTH + 1; depth++) {
    g_autoptr(CsimDiag) diag = csim_diag_new();
    g_autoptr(GString) s = g_string_new(NULL);
    for (int i = 0; i < depth; i++) g_string_append_c(s, '[');
    for (int i = 0; i < depth; i++) g_string_append_c(s, ']');
    g_autoptr(CsimJsonDoc) doc = csim_json_read_text("t", s->str, -1, diag);
    if (depth <= CSIM_JSON_MAX_DEPTH)
      g_assert_nonnull(doc);
    else
      expect_first(diag, "t:1:65: nested too deeply; allowed: 64 levels");
  }
}

static void test_hostile(void) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autofree char *nested = g_strnfill(100000, '[');
  g_assert_null(csim_json_read_text("t", nested, -1, diag));
  expect_first(diag, "t:1:65: nested too deeply; allowed: 64 levels");
  g_autoptr(CsimDiag) diag2 = csim_diag_new();
  g_assert_null(csim_json_read_text("t", "", (gssize)CSIM_FILE_LIMIT + 1, diag2));
  expect_first(diag2, "t: too large; allowed: at most 64MiB");
}

static void test_too_many_values(void) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(GString) s = g_string_sized_new(2 * CSIM_JSON_MAX_VALUES + 16);
  g_string_append_c(s, '[');
  for (int i = 0; i < CSIM_JSON_MAX_VALUES; i++) g_string_append(s, "1,");
  g_string_append(s, "1]");
  g_assert_null(csim_json_read_text("t", s->str, -1, diag));
  g_assert_cmpuint(csim_diag_get(diag, 0)->code, ==, CSIM_ERROR_LIMIT);
}

/* Two million wrong items and unknown keys: 20 findings, a count, and no quadratic work on the way. */
static void test_many_errors(void) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(GString) s = g_string_new("{\"list\": [");
  for (int i = 0; i < 1000000; i++) g_string_append(s, "\"x\",");
  g_string_append(s, "1]");
  for (int i = 0; i < 1000000; i++) g_string_append_printf(s, ",\"k%d\":1", i);
  g_string_append_c(s, '}');
  g_autoptr(CsimJsonDoc) doc = csim_json_read_text("t", s->str, -1, diag);
  Sample sample = {0};
  load_sample(doc, &sample);
  g_assert_cmpuint(csim_diag_n(diag), ==, CSIM_DIAG_MAX);
  g_assert_cmpuint(csim_diag_count(diag, CSIM_FINDING_ERROR), >=, 1000000);
  g_assert_cmpint(sample.sum, ==, 1);
}

/* Members are found by bisection: each of many, and none beside them. */
static void test_large_object(void) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(GString) s = g_string_new("{\"k0\": 0");
  for (int i = 1; i < 1000; i++) g_string_append_printf(s, ", \"k%d\": %d", i, i);
  g_string_append_c(s, '}');
  g_autoptr(CsimJsonDoc) doc = csim_json_read_text("t", s->str, -1, diag);
  CsimJson *root = csim_json_root(doc, CSIM_JSON_OBJECT);
  for (int i = 0; i < 1000; i++) {
    g_autofree char *key = g_strdup_printf("k%d", i);
    int64_t value = -1;
    g_assert_true(csim_json_int(root, key, CSIM_JSON_REQUIRED, 0, 999, &value));
    g_assert_cmpint(value, ==, i);
  }
  g_assert_null(csim_json_get(root, "k1000", CSIM_JSON_OPTIONAL));
  g_assert_null(csim_json_get(root, "", CSIM_JSON_OPTIONAL));
  g_assert_null(csim_json_get(root, "z", CSIM_JSON_OPTIONAL));
  csim_json_finish(doc);
  g_assert_cmpuint(csim_diag_n(diag), ==, 0);
}

static void test_ignore(void) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimJsonDoc) doc = csim_json_read_text("t", "{\"a\": {\"x\": [{\"y\": 1}]}, \"b\": 1}", -1, diag);
  CsimJson *root = csim_json_root(doc, CSIM_JSON_OBJECT);
  csim_json_ignore(csim_json_get(root, "a", CSIM_JSON_OPTIONAL));
  csim_json_finish(doc);
  g_assert_cmpuint(csim_diag_n(diag), ==, 1);
  g_assert_cmpstr(csim_diag_get(diag, 0)->text, ==, "unknown key 'b'; allowed: a");
}

static void test_without_diag(void) {
  int64_t n = 7;
  g_assert_null(csim_json_read_text("t", "[", -1, NULL));
  g_autoptr(CsimJsonDoc) doc = csim_json_read_text("t", "{\"n\": \"x\"}", -1, NULL);
  g_assert_false(csim_json_int(csim_json_root(doc, CSIM_JSON_OBJECT), "n", CSIM_JSON_REQUIRED, 0, 9, &n));
  g_assert_cmpint(n, ==, 7);
  csim_json_finish(doc);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/json/bad-files", test_bad_files);
  g_test_add_func("/json/good", test_good);
  g_test_add_func("/json/places", test_places);
  g_test_add_func("/json/depth", test_depth);
  g_test_add_func("/json/hostile", test_hostile);
  g_test_add_func("/json/too-many-values", test_too_many_values);
  g_test_add_func("/json/many-errors", test_many_errors);
  g_test_add_func("/json/large-object", test_large_object);
  g_test_add_func("/json/ignore", test_ignore);
  g_test_add_func("/json/without-diag", test_without_diag);
  return g_test_run();
}
