/* Errors with places, the collector of findings, the nearest name, and the names of types.h. */
#include "base/diag.h"
#include "base/file.h"
#include "collsim/types.h"
#include <glib/gstdio.h>
#include <string.h>

static const CsimLoc here = {"cluster.json", 3, 14};

static void test_places(void) {
  static const struct {
    CsimLoc loc;
    const char *message;
  } cases[] = {
      {{"a.json", 3, 14}, "a.json:3:14: bad thing; allowed: good"},
      {{"a.json", 3, 0}, "a.json:3: bad thing; allowed: good"},
      {{"a.json", 0, 0}, "a.json: bad thing; allowed: good"},
      {{NULL, 0, 0}, "bad thing; allowed: good"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    csim_error_set(&error, CSIM_ERROR_VALUE, cases[i].loc, "bad %s; allowed: good", "thing");
    g_assert_error(error, CSIM_ERROR, CSIM_ERROR_VALUE);
    g_assert_cmpstr(error->message, ==, cases[i].message);
  }
  csim_error_set(NULL, CSIM_ERROR_VALUE, here, "nobody listens");
}

static void test_prefix(void) {
  g_autoptr(GError) error = NULL;
  csim_error_set(&error, CSIM_ERROR_VALUE, CSIM_LOC_NONE, "12:30: odd");
  csim_error_prefix_loc(&error, here);
  g_assert_cmpstr(error->message, ==, "cluster.json:3:14: 12:30: odd");
  csim_error_prefix_loc(&error, (CsimLoc){"other", 1, 1}); /* it has its place already */
  g_assert_cmpstr(error->message, ==, "cluster.json:3:14: 12:30: odd");
  g_autoptr(GError) copy = g_error_copy(error);
  csim_error_prefix_loc(&copy, (CsimLoc){"other", 1, 1});
  g_assert_cmpstr(copy->message, ==, error->message);
}

static void test_one_line(void) {
  g_autoptr(GError) error = NULL;
  csim_error_set(&error, CSIM_ERROR_VALUE, CSIM_LOC_NONE, "a\nb\x1b[2Jc\xff");
  g_assert_cmpstr(error->message, ==, "a?b?[2Jc\xef\xbf\xbd");
}

static void test_collect(void) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(GError) error = NULL;
  g_assert_true(csim_diag_check(diag, &error));
  csim_diag_add(diag, CSIM_FINDING_NOTE, CSIM_ERROR_VALUE, here, "a note");
  csim_diag_cost(diag, here, 24, "width 0");
  csim_diag_cost(diag, here, 24, "width 0"); /* kept once */
  g_assert_true(csim_diag_check(diag, &error));
  csim_diag_add(diag, CSIM_FINDING_ERROR, CSIM_ERROR_SCHEMA, here, "first");
  csim_diag_add(diag, CSIM_FINDING_ERROR, CSIM_ERROR_VALUE, (CsimLoc){"b", 1, 1},
                "first"); /* another place */
  g_assert_cmpuint(csim_diag_n(diag), ==, 4);
  g_assert_cmpuint(csim_diag_count(diag, CSIM_FINDING_NOTE), ==, 4);
  g_assert_cmpuint(csim_diag_count(diag, CSIM_FINDING_WARNING), ==, 3);
  g_assert_cmpuint(csim_diag_count(diag, CSIM_FINDING_ERROR), ==, 2);
  g_autofree char *line = csim_finding_format(csim_diag_get(diag, 1));
  g_assert_cmpstr(line, ==, "cluster.json:3:14: warning: width 0 (costs 24 GB/s)");
  g_assert_false(csim_diag_check(diag, &error));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_SCHEMA);
  g_assert_cmpstr(error->message, ==, "cluster.json:3:14: first (and 1 more)");
}

static void test_limit(void) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  for (guint i = 1; i <= 30; i++)
    csim_diag_add(diag, CSIM_FINDING_ERROR, CSIM_ERROR_VALUE, (CsimLoc){"f", i, 1}, "wrong");
  g_autoptr(GError) error = NULL;
  g_assert_cmpuint(csim_diag_n(diag), ==, CSIM_DIAG_MAX);
  g_assert_cmpuint(csim_diag_count(diag, CSIM_FINDING_ERROR), ==, 30);
  g_assert_false(csim_diag_check(diag, &error));
  g_assert_cmpstr(error->message, ==, "f:1:1: wrong (and 29 more)");
}

static void test_add_error(void) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(GError) placed = NULL, bare = NULL;
  csim_error_set(&placed, CSIM_ERROR_LIMIT, here, "too much");
  csim_error_set(&bare, CSIM_ERROR_VALUE, CSIM_LOC_NONE, "no place");
  csim_diag_add_error(diag, placed, (CsimLoc){"x", 1, 1});
  csim_diag_add_error(diag, bare, (CsimLoc){"x", 1, 1});
  g_assert_cmpstr(csim_diag_get(diag, 0)->text, ==, "too much");
  g_assert_cmpint(csim_diag_get(diag, 0)->code, ==, CSIM_ERROR_LIMIT);
  g_assert_cmpuint(csim_diag_get(diag, 0)->loc.line, ==, 3);
  g_assert_cmpstr(csim_diag_get(diag, 1)->loc.file, ==, "x");
}

static void test_null(void) {
  csim_diag_add(NULL, CSIM_FINDING_ERROR, CSIM_ERROR_VALUE, here, "dropped");
  csim_diag_cost(NULL, here, 1, "dropped");
  g_assert_cmpuint(csim_diag_n(NULL), ==, 0);
  g_assert_cmpuint(csim_diag_count(NULL, CSIM_FINDING_NOTE), ==, 0);
  g_assert_true(csim_diag_check(NULL, NULL));
  csim_diag_free(NULL);
}

static void test_nearest(void) {
  static const char *const names[] = {"NCCL_ALGO", "NCCL_PROTO", "latency", "id", "on", NULL};
  static const struct {
    const char *name, *nearest;
  } cases[] = {
      {"NCCL_ALGOS", "NCCL_ALGO"},
      {"nccl_algo", "NCCL_ALGO"},
      {"NCCL_PORTO", "NCCL_PROTO"},
      {"latencey", "latency"},
      {"latnecy", "latency"},
      {"lateny", "latency"},
      {"colour", NULL},
      {"xy", NULL},
      {"i", NULL},
      {"", NULL},
      {"no", NULL},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpstr(csim_nearest(cases[i].name, names), ==, cases[i].nearest);
  g_autofree char *longest = g_strnfill(100000, 'x');
  g_assert_null(csim_nearest(longest, names));
  g_autofree char *near = csim_suggest("latencey", names), *far = csim_suggest("colour", names);
  g_assert_cmpstr(near, ==, "; did you mean 'latency'?");
  g_assert_cmpstr(far, ==, "; allowed: NCCL_ALGO, NCCL_PROTO, latency, id, on");
}

static void test_names(void) {
  for (int i = 0; i < CSIM_N_COLLS; i++) {
    CsimColl a = 99, b = 99;
    g_assert_true(csim_coll_parse(csim_coll_name(i), &a) && a == (CsimColl)i);
    g_assert_true(csim_coll_parse(csim_coll_nccl_name(i), &b) && b == (CsimColl)i);
  }
  for (int i = 0; i <= CSIM_N_ALGOS; i++) {
    CsimAlgo a = 99;
    g_assert_true(csim_algo_parse(csim_algo_name(i), &a) && a == (CsimAlgo)i);
  }
  for (int i = 0; i < CSIM_N_PROTOS; i++) {
    CsimProto p = 99;
    g_assert_true(csim_proto_parse(csim_proto_name(i), &p) && p == (CsimProto)i);
  }
  for (int i = 0; i < CSIM_N_TYPES; i++) {
    CsimType t = 99;
    g_assert_true(csim_type_parse(csim_type_name(i), &t) && t == (CsimType)i);
    g_assert_cmpint(csim_type_size(i), >=, 1);
  }
  for (int i = 0; i < CSIM_N_OPS; i++) {
    CsimOp o = 99;
    g_assert_true(csim_op_parse(csim_op_name(i), &o) && o == (CsimOp)i);
  }
}

static void test_names_wrong(void) {
  CsimColl coll = CSIM_COLL_GATHER;
  CsimAlgo algo = CSIM_ALGO_PAT;
  g_assert_false(csim_coll_parse("all-reduce", &coll) || csim_coll_parse("", &coll) ||
                 csim_coll_parse(NULL, &coll));
  g_assert_false(csim_algo_parse("Ring ", &algo));
  g_assert_cmpint(coll, ==, CSIM_COLL_GATHER);
  g_assert_cmpint(algo, ==, CSIM_ALGO_PAT);
  g_assert_true(csim_algo_parse("nvlstree", &algo));
  g_assert_cmpint(algo, ==, CSIM_ALGO_NVLS_TREE);
}

static void check_file(const char *path, CsimBytes limit, int code, const char *message) {
  g_autoptr(GError) error = NULL;
  g_assert_null(csim_file_read(path, limit, NULL, &error));
  g_assert_error(error, CSIM_ERROR, code);
  g_assert_cmpstr(error->message, ==, message);
}

static void test_file(void) {
  g_autofree char *dir = g_dir_make_tmp("collsim-XXXXXX", NULL), *path = g_build_filename(dir, "f", NULL),
                  *absent = NULL;
  g_assert_true(g_file_set_contents(path, "a\0b", 3, NULL));
  gsize length;
  g_autofree char *text = csim_file_read(path, 3, &length, NULL);
  g_assert_cmpmem(text, length, "a\0b", 3);
  g_autofree char *too_large = g_strdup_printf("%s: too large; allowed: at most 2B", path);
  check_file(path, 2, CSIM_ERROR_LIMIT, too_large);
  g_autofree char *folder = g_strdup_printf("%s: cannot be read: Is a directory", dir);
  check_file(dir, 10, CSIM_ERROR_IO, folder);
  g_unlink(path);
  absent = g_strdup_printf("%s: cannot be read: No such file or directory", path);
  check_file(path, 10, CSIM_ERROR_IO, absent);
  check_file("/dev/zero", 100000, CSIM_ERROR_LIMIT, "/dev/zero: too large; allowed: at most 100kB");
  g_rmdir(dir);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/diag/places", test_places);
  g_test_add_func("/diag/prefix", test_prefix);
  g_test_add_func("/diag/one-line", test_one_line);
  g_test_add_func("/diag/collect", test_collect);
  g_test_add_func("/diag/limit", test_limit);
  g_test_add_func("/diag/add-error", test_add_error);
  g_test_add_func("/diag/null", test_null);
  g_test_add_func("/diag/nearest", test_nearest);
  g_test_add_func("/diag/names", test_names);
  g_test_add_func("/diag/names-wrong", test_names_wrong);
  g_test_add_func("/diag/file", test_file);
  return g_test_run();
}
