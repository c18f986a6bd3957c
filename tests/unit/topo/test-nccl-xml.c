/* NCCL's XML dialect: what is taken, what is refused where and why, what is written back, and the limits. */
#include "topo/nccl-xml.h"
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#define CPU "<cpu numaid=\"0\" arch=\"arm64\">"
#define GPU                                                                                              \
  "<pci busid=\"0000:01:00.0\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><gpu " \
  "dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\"/></pci>"

typedef struct {
  const char *name, *text;
  int result;
  guint n_elements;
  const char *reason;
  guint line, col; /* of the refusal */
} Case;

static const Case cases[] = {
    {"smallest", "<system version=\"1\"/>", 0, 1, "", 0, 0},
    {"empty", "", 0, 0, "", 0, 0},
    {"blanks only", " \r\n ", 0, 0, "", 0, 0},
    {"one GPU", "<system version=\"1\">" CPU GPU "</cpu></system>\n", 0, 4, "", 0, 0},
    {"single quotes", "<system version='1'/>", 0, 1, "", 0, 0},
    {"other quote inside", "<system version=\"1\" name='a \"b\"'/>", 0, 1, "", 0, 0},
    {"hex version", "<system version=\"0x1\"/>", 0, 1, "", 0, 0},
    {"comment first", "<!-- x --><system version=\"1\"/>", 0, 1, "", 0, 0},
    {"comment of nothing", "<!----><system version=\"1\"/>", 0, 1, "", 0, 0},
    {"comment glued", "<!--x--><system version=\"1\"/>", 0, 1, "", 0, 0},
    {"comment with tag", "<!-- <a/> > --><system version=\"1\"/>", 0, 1, "", 0, 0},
    {"unknown element", "<system version=\"1\"><what a=\"b\"><so/></what></system>", 0, 1, "", 0, 0},
    {"known name in the wrong place", "<system version=\"1\"><gpu dev=\"0\"/></system>", 0, 1, "", 0, 0},
    {"unknown root", "<html><body/></html>", 0, 0, "", 0, 0},
    {"space before the end of a tag", "<system version=\"1\" />", 0, 1, "", 0, 0},
    {"attribute without value", "<system version=\"1\" odd/>", 0, 1, "", 0, 0},
    {"second system", "<system version=\"1\"/>\n<system version=\"1\"/>", 0, 2, "", 0, 0},
    {"tab between elements", "<system version=\"1\">\n\t" CPU "</cpu></system>", 3, 1, "text-outside-tags", 2,
     1},
    {"text", "<system version=\"1\">\n  hello</system>", 3, 1, "text-outside-tags", 2, 3},
    {"byte order mark", "\xef\xbb\xbf<system version=\"1\"/>", 3, 0, "text-outside-tags", 1, 1},
    {"prolog", "<?xml version=\"1.0\"?>\n<system version=\"1\"/>", 3, 0, "bad-character-in-tag", 1, 20},
    {"doctype", "<!DOCTYPE a [\n<!ENTITY b \"c\">]>", 3, 0, "bad-character-in-tag", 1, 14},
    {"attributes on two lines", "<system version=\"1\"\n name=\"a\"/>", 3, 0, "bad-character-in-tag", 1, 20},
    {"two spaces between attributes", "<system  version=\"1\"/>", 0, 1, "", 0, 0},
    {"tab between attributes", "<system version=\"1\"\tname=\"a\"/>", 3, 0, "bad-character-in-tag", 1, 20},
    {"space after =", "<system version= \"1\"/>", 3, 0, "expected-quote", 1, 17},
    {"space before =", "<system version =\"1\"/>", 5, 1, "unsupported-version", 1, 9},
    {"no quote", "<system version=1/>", 3, 0, "expected-quote", 1, 17},
    {"= in a name", "<system=\"1\"/>", 3, 0, "unexpected-value", 1, 2},
    {"= in a comment's first word", "<!--a=b--><system version=\"1\"/>", 3, 0, "unexpected-value", 1, 2},
    {"comment without end", "<!-- x", 3, 0, "unterminated-comment", 1, 1},
    {"end inside a tag", "<system version=\"1\"", 3, 0, "unexpected-end", 1, 20},
    {"end inside a value", "<system version=\"1", 3, 0, "unexpected-end", 1, 19},
    {"no closing tag", "<system version=\"1\">\n" CPU, 3, 2, "unterminated-element", 2, 1},
    {"wrong closing tag", "<system version=\"1\">" CPU "</system>", 3, 2, "mismatched-close", 1, 50},
    {"wrong closing tag of what is skipped", "<system version=\"1\"><a></b></system>", 3, 1,
     "mismatched-close", 1, 24},
    {"attribute in a closing tag", "<system version=\"1\"></system a>", 3, 1, "bad-character-in-tag", 1, 29},
    {"no version", "<system name=\"a\"/>", 3, 1, "missing-attribute system/version", 1, 1},
    {"version 2", "<system version=\"2\"/>", 5, 1, "unsupported-version", 1, 9},
    {"version text", "<system version=\"one\"/>", 5, 1, "unsupported-version", 1, 9},
};

static void test_case(gconstpointer data) {
  const Case *c = data;
  g_autoptr(GError) error = NULL;
  CsimNcclOutcome outcome;
  g_autoptr(CsimNcclXml) xml =
      csim_nccl_xml_parse_outcome("t.xml", c->text, strlen(c->text), NULL, &outcome, &error);
  g_assert_cmpint(outcome.result, ==, c->result);
  g_assert_cmpuint(outcome.n_elements, ==, c->n_elements);
  g_assert_cmpstr(outcome.reason, ==, c->reason);
  g_assert_true((xml != NULL) == (c->result == 0));
  if (xml != NULL) return;
  g_autofree char *place = g_strdup_printf("t.xml:%u:%u: ", c->line, c->col);
  if (!g_str_has_prefix(error->message, place)) g_test_message("%s", error->message);
  g_assert_true(g_str_has_prefix(error->message, place));
  g_assert_null(strchr(error->message, '\n'));
}

/* --- written back ------------------------------------------------------- */

static void test_write(void) {
  const char *text = "<!-- c -->\n<system version='1'><cpu  numaid=\"0\" host_hash=\"0x7\"><nic><net "
                     "name=\"a\" dev=\"0\" /></nic><x/></cpu></system>";
  g_autoptr(CsimNcclXml) xml = csim_nccl_xml_parse("t.xml", text, strlen(text), NULL, NULL);
  g_autofree char *out = csim_nccl_xml_to_text(xml);
  g_assert_cmpstr(out, ==,
                  "<system version=\"1\">\n"
                  "  <cpu =\"\" numaid=\"0\" host_hash=\"0x7\">\n"
                  "    <nic>\n"
                  "      <net name=\"a\" dev=\"0\" =\"\"/>\n"
                  "    </nic>\n"
                  "  </cpu>\n"
                  "</system>\n");
}

typedef void (*OnFile)(const char *path);

static void for_real_files(OnFile visit) {
  const char *given = g_getenv("COLLSIM_REFERENCE"), *root = g_getenv("COLLSIM_SOURCE_ROOT");
  g_autofree char *shared = given != NULL && *given != '\0'
                                ? g_strdup(given)
                                : g_build_filename(root != NULL ? root : ".", "..", "shared", NULL);
  g_autofree char *folder = g_build_filename(shared, "topologies-real", NULL);
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  if (dir == NULL) g_test_skip("no real topology files here");
  for (const char *name; dir != NULL && (name = g_dir_read_name(dir)) != NULL;) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    if (g_str_has_suffix(name, ".xml")) visit(path);
  }
}

static void write_twice(const char *path) {
  g_autoptr(CsimNcclXml) xml = csim_nccl_xml_load(path, NULL, NULL);
  if (xml == NULL) return;
  g_autofree char *once = csim_nccl_xml_to_text(xml);
  g_autoptr(CsimNcclXml) again = csim_nccl_xml_parse("again.xml", once, strlen(once), NULL, NULL);
  g_assert_nonnull(again);
  g_autofree char *twice = csim_nccl_xml_to_text(again);
  g_assert_cmpstr(once, ==, twice);
}

/* Every real file loads, or is refused for NCCL's own reason (system version, missing attributes). */
static void load(const char *path) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimSystem) system = csim_system_load(path, NULL, &error);
  if (system == NULL) g_assert_error(error, CSIM_ERROR, CSIM_ERROR_NCCL);
}

static void test_round_trip(void) {
  for_real_files(write_twice);
}
static void test_real_files(void) {
  for_real_files(load);
}

/* --- limits ------------------------------------------------------------- */

static GError *refusal(const char *text, gsize length) {
  GError *error = NULL;
  g_autoptr(CsimNcclXml) xml = csim_nccl_xml_parse("t.xml", text, length, NULL, &error);
  g_assert_null(xml);
  g_assert_nonnull(error);
  g_assert_null(strchr(error->message, '\n'));
  return error;
}

static char *many(const char *head, const char *unit, guint n, const char *tail) {
  GString *s = g_string_new(head);
  for (guint i = 0; i < n; i++) g_string_append(s, unit);
  g_string_append(s, tail);
  return g_string_free(s, FALSE);
}

static void test_nesting(void) {
  const char *units[] = {"<a>", "<pci busid=\"1\">"};
  const char *heads[] = {"<system version=\"1\">", "<system version=\"1\"><cpu numaid=\"0\">"};
  for (guint i = 0; i < G_N_ELEMENTS(units); i++) {
    g_autofree char *text = many(heads[i], units[i], 100000, "");
    g_autoptr(GError) error = refusal(text, strlen(text));
    g_assert_error(error, CSIM_ERROR, CSIM_ERROR_LIMIT);
  }
}

static void test_attributes(void) {
  g_autofree char *text = many("<system version=\"1\"", " a=\"1\"", 100000, "/>");
  g_autoptr(GError) error = refusal(text, strlen(text));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_LIMIT);
  g_autofree char *few = many("<system version=\"1\"", " a=\"1\"", 100, "/>");
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimNcclXml) xml = csim_nccl_xml_parse("t.xml", few, strlen(few), diag, NULL);
  g_assert_nonnull(xml);
  g_assert_cmpstr(csim_diag_get(diag, 0)->text, ==,
                  "<system> has 101 attributes; NCCL keeps the first 16 and drops the rest");
}

static void test_elements(void) {
  static const char leaf[] = "<pci busid=\"1\"/>";
  g_autofree char *fits = many("<system version=\"1\"><cpu numaid=\"0\">", leaf, 253, "</cpu></system>");
  g_autoptr(CsimNcclXml) xml = csim_nccl_xml_parse("t.xml", fits, strlen(fits), NULL, NULL);
  g_assert_nonnull(xml);
  g_assert_cmpuint(csim_nccl_xml_n_elements(xml), ==, 255);
  g_autofree char *beyond = many("<system version=\"1\"><cpu numaid=\"0\">", leaf, 254, "</cpu></system>");
  g_autoptr(GError) error = refusal(beyond, strlen(beyond));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_LIMIT);
  /* Two hosts: what NCCL fuses from two files of its own. */
  g_autofree char *first =
      many("<system version=\"1\"><cpu numaid=\"0\" host_hash=\"0xa\">", leaf, 200, "</cpu>");
  g_autofree char *second = many("<cpu numaid=\"0\" host_hash=\"0xb\">", leaf, 200, "</cpu></system>");
  g_autofree char *both = g_strconcat(first, second, NULL);
  g_autoptr(CsimNcclXml) fused = csim_nccl_xml_parse("t.xml", both, strlen(both), NULL, NULL);
  g_assert_nonnull(fused);
}

static void test_lengths(void) {
  for (guint n = 254; n <= 255; n++) {
    g_autofree char *value = g_strnfill(n, 'v'), *name = g_strnfill(n, 'n');
    g_autofree char *a = g_strdup_printf("<system version=\"1\" x=\"%s\"/>", value);
    g_autofree char *b = g_strdup_printf("<system version=\"1\" %s=\"1\"/>", name);
    CsimNcclOutcome of_value, of_name;
    csim_nccl_xml_free(csim_nccl_xml_parse_outcome("t.xml", a, strlen(a), NULL, &of_value, NULL));
    csim_nccl_xml_free(csim_nccl_xml_parse_outcome("t.xml", b, strlen(b), NULL, &of_name, NULL));
    g_assert_cmpstr(of_value.reason, ==, n == 254 ? "" : "value-too-long");
    g_assert_cmpstr(of_name.reason, ==, n == 254 ? "" : "name-too-long");
  }
}

/* A bomb never gets to expand: NCCL's reader knows no entities and stops at the DOCTYPE. */
static void test_entity_bomb(void) {
  static const char text[] =
      "<!DOCTYPE lolz [\n<!ENTITY a \"ha\">\n<!ENTITY b \"&a;&a;&a;\">]>\n<system version=\"1\">&b;</system>";
  g_autoptr(GError) error = refusal(text, strlen(text));
  g_assert_true(g_str_has_prefix(error->message, "t.xml:1:17: expected '>'"));
}

static void test_hint(void) {
  static const char good[] = "<?xml version=\"1.0\"?>\n<system version=\"1\"/>",
                    bad[] = "<system version=\"1\">";
  g_autoptr(GError) a = refusal(good, strlen(good)), b = refusal(bad, strlen(bad));
  g_assert_cmpstr(a->message, ==,
                  "t.xml:1:20: expected '>', '/>' or one space and an attribute, got '?'; NCCL takes no "
                  "<?xml ...?> line; "
                  "this is well-formed XML, but NCCL's own parser stops here");
  g_assert_null(strstr(b->message, "well-formed"));
}

/* A sparse file of 1 GiB is refused by its size, not read. */
static void test_huge_file(void) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp("collsim-huge-XXXXXX.xml", &path, NULL);
  g_assert_cmpint(fd, >=, 0);
  g_close(fd, NULL);
  FILE *f = fopen(path, "wb");
  g_assert_nonnull(f);
  g_assert_cmpint(fseek(f, (1L << 30) - 1, SEEK_SET), ==, 0);
  g_assert_cmpint(fputc('x', f), ==, 'x');
  fclose(f);
  gint64 start = g_get_monotonic_time();
  g_assert_null(csim_nccl_xml_load(path, NULL, &error));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_LIMIT);
  g_assert_cmpint(g_get_monotonic_time() - start, <, 5 * G_USEC_PER_SEC);
  g_remove(path);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = g_strdup_printf("/nccl-xml/case/%s", cases[i].name);
    for (char *p = path + 15; *p != '\0'; p++)
      if (*p == '/') *p = '|';
    g_test_add_data_func(path, &cases[i], test_case);
  }
  g_test_add_func("/nccl-xml/write", test_write);
  g_test_add_func("/nccl-xml/round-trip", test_round_trip);
  g_test_add_func("/nccl-xml/real-files", test_real_files);
  g_test_add_func("/nccl-xml/limit/nesting", test_nesting);
  g_test_add_func("/nccl-xml/limit/attributes", test_attributes);
  g_test_add_func("/nccl-xml/limit/elements", test_elements);
  g_test_add_func("/nccl-xml/limit/lengths", test_lengths);
  g_test_add_func("/nccl-xml/limit/entity-bomb", test_entity_bomb);
  g_test_add_func("/nccl-xml/limit/huge-file", test_huge_file);
  g_test_add_func("/nccl-xml/hint", test_hint);
  return g_test_run();
}
