/*
 * NCCL's reference vectors against our communicator. As a test: all of them, all parts. By hand, to work on one part:
 *   test-exp-conformance [--parts system,graphs,channels,trees,tuning] FILE...
 * prints a line a difference and the summary line of `collsim conformance`.
 */
#include "exp/conformance.h"
#include <glib/gstdio.h>
#include <string.h>

static char *reference(void) {
  const char *given = g_getenv("COLLSIM_REFERENCE"), *root = g_getenv("COLLSIM_SOURCE_ROOT");
  return given != NULL && *given != '\0' ? g_strdup(given)
                                         : g_build_filename(root != NULL ? root : ".", "..", "shared", NULL);
}

static guint run_files(const GPtrArray *files, guint parts, guint *n_equal) {
  const CsimConformanceOptions options = {.parts = parts};
  guint different = 0;
  for (guint i = 0; i < files->len; i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(CsimConformance) c = csim_conformance_file(g_ptr_array_index(files, i), &options, &error);
    gboolean equal = c != NULL && c->differences->len == 0;
    *n_equal += equal;
    different += !equal;
    g_autofree char *text = c != NULL ? csim_conformance_text(c) : g_strdup_printf("%s\n", error->message);
    if (!equal) g_printerr("%s", text);
  }
  return different;
}

static void test_vectors(gconstpointer data) {
  g_autofree char *root = reference(), *folder = g_build_filename(root, "oracle", NULL);
  const char *const paths[] = {folder, NULL};
  guint equal = 0;
  if (!g_file_test(folder, G_FILE_TEST_IS_DIR)) {
    g_test_skip("no reference vectors here");
    return;
  }
  g_autoptr(GPtrArray) files = csim_conformance_expand(paths, NULL);
  g_assert_cmpuint(files->len, >, 0);
  g_assert_cmpuint(run_files(files, 0, &equal), ==, 0);
}

/* --- a comparison must be able to fail ---------------------------------- */

/* One parser case whose text is a CPU with one NIC on PCIe Gen5 x16; `build` is what NCCL is said to have made of it. */
static CsimConformance *compare_case(const char *links) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = NULL;
  g_autofree char *json = g_strdup_printf(
      "{\"a\":{\"xml\":\"<system version='1'><cpu numaid='0' arch='arm64'><pci busid='1' class='0x02' "
      "link_speed='32 GT/s' "
      "link_width='16'><nic/></pci></cpu></"
      "system>\",\"out\":{\"parse\":0,\"warnings\":[],\"readBack\":\"<system version=\\\"1\\\">\\n"
      "  <cpu numaid=\\\"0\\\" arch=\\\"arm64\\\">\\n    <pci busid=\\\"1\\\" class=\\\"0x02\\\" "
      "link_speed=\\\"32 GT/s\\\" "
      "link_width=\\\"16\\\">\\n      <nic/>\\n    </pci>\\n  "
      "</cpu>\\n</system>\\n\",\"build\":0,\"nodesByType\":{\"CPU\":1,\"NIC\":1},"
      "\"links\":%s,\"buildWarnings\":[]}}}",
      links);
  g_close(g_file_open_tmp("collsim-case-XXXXXX.json", &path, NULL), NULL);
  g_assert_true(g_file_set_contents(path, json, -1, NULL));
  CsimConformance *c = csim_conformance_file(path, &(CsimConformanceOptions){0}, &error);
  g_assert_no_error(error);
  g_remove(path);
  return c;
}

static void test_differs(void) {
  static const struct {
    const char *links, *where; /* NULL: equal */
  } cases[] = {
      {"[[\"CPU/0\",\"PCI\",48,\"NIC/1\"],[\"NIC/1\",\"PCI\",48,\"CPU/0\"]]", NULL},
      {"[[\"CPU/0\",\"PCI\",48.04,\"NIC/1\"],[\"NIC/1\",\"PCI\",48,\"CPU/0\"]]", NULL},
      {"[[\"CPU/0\",\"PCI\",48.06,\"NIC/1\"],[\"NIC/1\",\"PCI\",48,\"CPU/0\"]]", "case a.links[0][2]"},
      {"[[\"CPU/0\",\"PCI\",48,\"NIC/1\"],[\"NIC/1\",\"SYS\",48,\"CPU/0\"]]", "case a.links[1][1]"},
      {"[[\"NIC/1\",\"PCI\",48,\"CPU/0\"],[\"CPU/0\",\"PCI\",48,\"NIC/1\"]]", "case a.links[0][0]"},
      {"[[\"CPU/0\",\"PCI\",48,\"NIC/1\"]]", "case a.links[1]"},
      {"[]", "case a.links[0]"},
      {"{}", "case a.links"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(CsimConformance) c = compare_case(cases[i].links);
    g_assert_cmpuint(c->n_cases, ==, 1);
    g_assert_cmpuint(c->n_equal, ==, cases[i].where == NULL);
    g_assert_cmpuint(c->differences->len, ==, cases[i].where != NULL);
    if (cases[i].where == NULL) continue;
    const CsimDifference *d = g_ptr_array_index(c->differences, 0);
    g_assert_cmpstr(d->where, ==, cases[i].where);
  }
}

static void test_unreadable(void) {
  g_autoptr(GError) error = NULL;
  g_assert_null(csim_conformance_file("/nonexistent/x-n1.json", &(CsimConformanceOptions){0}, &error));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_IO);
}

/* --- by hand ------------------------------------------------------------ */

static guint parse_parts(const char *text) {
  static const char *const names[] = {"system", "graphs", "channels", "trees", "tuning"};
  g_auto(GStrv) words = g_strsplit(text, ",", -1);
  guint parts = 0;
  for (guint w = 0; words[w] != NULL; w++)
    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
      if (strcmp(words[w], names[i]) == 0) parts |= 1u << i;
  return parts;
}

static int by_hand(int argc, char **argv) {
  gboolean has_parts = strcmp(argv[1], "--parts") == 0 && argc > 2;
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) files =
      csim_conformance_expand((const char *const *)argv + (has_parts ? 3 : 1), &error);
  guint equal = 0;
  if (files == NULL) {
    g_printerr("%s\n", error->message);
    return 2;
  }
  guint different = run_files(files, has_parts ? parse_parts(argv[2]) : 0, &equal);
  g_print("%u files, %u equal, %u different\n", files->len, equal, different);
  return different != 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && (argv[1][0] != '-' || strcmp(argv[1], "--parts") == 0)) return by_hand(argc, argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/conformance/differs", test_differs);
  g_test_add_func("/conformance/unreadable", test_unreadable);
  g_test_add_data_func("/conformance/vectors", NULL, test_vectors);
  return g_test_run();
}
