/* The XML reader: elements, places, getters, limits, and a folder of bad inputs with their messages. */
#include "bad-files.h"
#include "base/file.h"
#include "base/xml-read.h"

typedef struct {
  const char *name;
  int64_t count, dev;
  double ratio;
  CsimTime latency;
  CsimBytes size;
  CsimRate rate;
  int kind;
} Sample;

static void load_sample(CsimXmlDoc *doc, Sample *s) {
  static const char *const kinds[] = {"ring", "tree", "collnet", NULL};
  CsimXml *root = csim_xml_root(doc, "node");
  csim_xml_text(root, "name", CSIM_XML_REQUIRED, &s->name);
  csim_xml_int(root, "count", CSIM_XML_REQUIRED, 1, 1000, &s->count);
  csim_xml_double(root, "ratio", CSIM_XML_OPTIONAL, 0, 1, &s->ratio);
  csim_xml_time(root, "latency", CSIM_XML_OPTIONAL, &s->latency);
  csim_xml_bytes(root, "size", CSIM_XML_OPTIONAL, &s->size);
  csim_xml_choice(root, "kind", CSIM_XML_OPTIONAL, kinds, &s->kind);
  CsimXml *gpu = csim_xml_child(root, "gpu", CSIM_XML_REQUIRED);
  csim_xml_int(gpu, "dev", CSIM_XML_REQUIRED, 0, 15, &s->dev);
  for (CsimXml *nic = csim_xml_first(root, "nic"); nic != NULL; nic = csim_xml_next(nic, "nic"))
    csim_xml_rate(nic, "rate", CSIM_XML_REQUIRED, &s->rate);
  csim_xml_finish(doc);
}

static void load_bad(const char *file, CsimDiag *diag) {
  g_autoptr(CsimXmlDoc) doc = csim_xml_read_file(file, diag);
  Sample s = {0};
  load_sample(doc, &s);
}

static void test_bad_files(void) {
  bad_files_check("xml", ".xml", 40, load_bad);
}

static void test_good(void) {
  static const char text[] =
      "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<!DOCTYPE node SYSTEM \"node.dtd\">\n"
      "<!-- <x y=\"1\"> --><node xmlns:q='u' name='a&amp;&#66;&lt;' count=\"8\" ratio = \"0.5\"\n"
      "  latency=\"2us\" size=\"1MiB\" kind=\"collnet\">\n one <![CDATA[<two>]]> &gt;3\n"
      " <gpu dev=\"3\"/><nic rate=\"100Gb/s\"/><?pi x?><nic rate=\"200Gb/s\"></nic>\n</node>\n";
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimXmlDoc) doc = csim_xml_read_text("t", text, -1, diag);
  Sample s = {0};
  g_assert_nonnull(doc);
  load_sample(doc, &s);
  g_assert_cmpuint(csim_diag_n(diag), ==, 0);
  g_assert_cmpstr(s.name, ==, "a&B<");
  g_assert_cmpint(s.count, ==, 8);
  g_assert_cmpfloat(s.ratio, ==, 0.5);
  g_assert_cmpint(s.latency, ==, 2 * CSIM_US);
  g_assert_cmpint(s.size, ==, 1 << 20);
  g_assert_cmpint(s.kind, ==, 2);
  g_assert_cmpint(s.dev, ==, 3);
  g_assert_cmpint(s.rate, ==, INT64_C(25000000000));
  g_assert_cmpstr(csim_xml_text_of(csim_xml_root(doc, NULL)), ==, "one <two> >3");
}

static void check_loc(CsimLoc loc, guint line, guint col) {
  g_assert_cmpstr(loc.file, ==, "t");
  g_assert_cmpuint(loc.line, ==, line);
  g_assert_cmpuint(loc.col, ==, col);
}

static void test_places(void) {
  static const char text[] = "<?xml version='1.0'?>\n<!-- <a b='c'>\n --> <a\n  x = "
                             "'q>r'\ty=\"\n\">\n<![CDATA[<z w='1'>]]><p:b xmlns:p='u'\n"
                             "p:k='v'/></a>";
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimXmlDoc) doc = csim_xml_read_text("t", text, -1, diag);
  CsimXml *a = csim_xml_root(doc, "a"), *b = csim_xml_first(a, "p:b");
  check_loc(csim_xml_loc(a), 3, 6);
  check_loc(csim_xml_attribute_loc(a, "x"), 4, 3);
  check_loc(csim_xml_attribute_loc(a, "y"), 4, 13);
  check_loc(csim_xml_attribute_loc(a, "absent"), 3, 6);
  check_loc(csim_xml_loc(b), 6, 22);
  g_assert_cmpuint(csim_xml_n_attributes(b), ==, 1);
  g_assert_cmpstr(csim_xml_attribute_name(b, 0), ==, "p:k");
  check_loc(csim_xml_attribute_loc(b, "p:k"), 7, 1);
}

static void expect_limit(GString *text, const char *message) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(GError) error = NULL;
  g_assert_null(csim_xml_read_text("t", text->str, (gssize)text->len, diag));
  g_assert_false(csim_diag_check(diag, &error));
  g_assert_cmpstr(error->message, ==, message);
  g_assert_cmpint(error->code, ==, CSIM_ERROR_LIMIT);
  g_string_free(text, TRUE);
}

static GString *repeated(const char *before, const char *piece, guint n, const char *after) {
  GString *s = g_string_new(before);
  for (guint i = 0; i < n; i++) g_string_append(s, piece);
  return g_string_append(s, after);
}

static void test_limits(void) {
  expect_limit(repeated("", "<a>", 100000, ""), "t:1:193: nested too deeply; allowed: 64 levels");
  expect_limit(repeated("<a", " b='1'", 100000, "/>"),
               "t:1:1540: too many attributes; allowed: 256 on one element");
  expect_limit(repeated("<a>", "<b/>", CSIM_XML_MAX_ELEMENTS, "</a>"),
               "t:1:4194304: too many elements; allowed: 1048576");
  expect_limit(repeated("<a b='", "x", CSIM_XML_MAX_VALUE, "'/>"),
               "t:1:6: the value of an attribute is too long; allowed: 1MiB");
  expect_limit(repeated("<!--", "x", CSIM_XML_MAX_SECTION, "--><a/>"),
               "t:1:5: a comment or section is too long; allowed: 8MiB");
  expect_limit(repeated("<", "a", 1000000, "/>"), "t:1:2: a name is too long; allowed: 50000 bytes");
  expect_limit(repeated("", " ", (guint)CSIM_FILE_LIMIT + 1, "<a/>"), "t: too large; allowed: at most 64MiB");
}

/* Just inside every limit. */
static void test_within_limits(void) {
  g_autoptr(GString) text = repeated("", "<a>", CSIM_XML_MAX_DEPTH, "");
  for (int i = 0; i < CSIM_XML_MAX_DEPTH; i++) g_string_append(text, "</a>");
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimXmlDoc) doc = csim_xml_read_text("t", text->str, -1, diag);
  g_assert_nonnull(doc);
  g_autoptr(GString) wide = g_string_new("<a");
  for (int i = 0; i < CSIM_XML_MAX_ATTRIBUTES; i++) g_string_append_printf(wide, " b%d='%d'", i, i);
  g_string_append(wide, "/>");
  g_autoptr(CsimXmlDoc) doc2 = csim_xml_read_text("t", wide->str, -1, diag);
  g_assert_cmpuint(csim_xml_n_attributes(csim_xml_root(doc2, "a")), ==, CSIM_XML_MAX_ATTRIBUTES);
}

static void test_ignore(void) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimXmlDoc) doc = csim_xml_read_text("t", "<a><b x='1'><c/></b><d/></a>", -1, diag);
  csim_xml_ignore(csim_xml_child(csim_xml_root(doc, "a"), "b", CSIM_XML_OPTIONAL));
  csim_xml_finish(doc);
  g_assert_cmpuint(csim_diag_n(diag), ==, 1);
  g_assert_cmpstr(csim_diag_get(diag, 0)->text, ==, "unknown element <d> in <a>; allowed: b");
}

/* The real topologies are ordinary XML, but for those that only NCCL's parser takes. */
static void test_real_files(void) {
  const char *reference = g_getenv("COLLSIM_REFERENCE"), *root = g_getenv("COLLSIM_SOURCE_ROOT");
  g_autofree char *fallback = g_build_filename(root != NULL ? root : ".", "..", "shared", NULL);
  g_autofree char *folder =
      g_build_filename(reference != NULL ? reference : fallback, "topologies-real", NULL);
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  const char *name;
  guint n_read = 0;
  if (dir == NULL) {
    g_test_skip("no reference data");
    return;
  }
  while ((name = g_dir_read_name(dir)) != NULL) {
    if (!g_str_has_suffix(name, ".xml")) continue;
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autoptr(CsimDiag) diag = csim_diag_new();
    g_autoptr(CsimXmlDoc) doc = csim_xml_read_file(path, diag);
    g_assert_cmpuint(csim_diag_count(diag, CSIM_FINDING_ERROR), ==, doc == NULL ? 1 : 0);
    n_read += doc != NULL;
  }
  g_assert_cmpuint(n_read, >, 0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/xml/bad-files", test_bad_files);
  g_test_add_func("/xml/good", test_good);
  g_test_add_func("/xml/places", test_places);
  g_test_add_func("/xml/limits", test_limits);
  g_test_add_func("/xml/within-limits", test_within_limits);
  g_test_add_func("/xml/ignore", test_ignore);
  g_test_add_func("/xml/real-files", test_real_files);
  return g_test_run();
}
