/* Experiment files: what they mean, point by point, and what is refused with which words. */
#include "exp/experiment.h"
#include "exp/results.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static CsimExperiment *parse(const char *text) {
  g_autoptr(GError) error = NULL;
  CsimExperiment *e = csim_experiment_parse("e.json", ".", text, &error);
  g_assert_no_error(error);
  return e;
}

/* Labels of a point, the last axis last: "1K Ring #2". */
static char *labels(const CsimExperiment *e, guint point) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < e->axes->len; i++) g_string_append_printf(out, "%s%s", i ? " " : "", csim_experiment_value(e, point, i)->label);
  if (e->repeats > 1) g_string_append_printf(out, " #%u", csim_experiment_repeat(e, point) + 1);
  return g_string_free(out, FALSE);
}

static void expect_points(const char *text, const char *expected) {
  g_autoptr(CsimExperiment) e = parse(text);
  g_autoptr(GString) all = g_string_new(NULL);
  for (guint point = 0; point < csim_experiment_n_points(e); point++) {
    g_autofree char *one = labels(e, point);
    g_string_append_printf(all, "%s%s", point ? "; " : "", one);
  }
  g_assert_cmpstr(all->str, ==, expected);
}

#define RUN "{\"run\": {\"target\": \"dgx-h100*2\"}"

static void test_points(void) {
  expect_points(RUN "}", "");
  expect_points(RUN ", \"axes\": {\"size\": [\"1K\", 8], \"env.NCCL_ALGO\": [\"Ring\", null]}}", "1K Ring; 1K default; 8 Ring; 8 default");
  expect_points(RUN ", \"axes\": {\"size\": {\"from\": \"512\", \"to\": \"2K\", \"factor\": 2}}}", "512; 1KiB; 2KiB");
  expect_points(RUN ", \"axes\": {\"nodes\": {\"from\": 1, \"to\": 6, \"step\": 2}}}", "1; 3; 5");
  expect_points(RUN ", \"axes\": {\"nodes\": [1, 2], \"seed\": [7, 8], \"size\": [8, 16]}, \"zip\": [[\"nodes\", \"size\"]]}", "1 7 8; 1 8 8; 2 7 16; 2 8 16");
  expect_points(RUN ", \"axes\": {\"nodes\": [1, 2]}, \"repeat\": 2}", "1 #1; 1 #2; 2 #1; 2 #2");
  expect_points(RUN ", \"axes\": {\"how\": [{\"label\": \"as it is\"}, {\"label\": \"both\", \"env.NCCL_ALGO\": \"Ring\", \"size\": 8}]}}", "as it is; both");
}

static void test_filters(void) {
#define AXES ", \"axes\": {\"size\": [\"1K\", \"1M\"], \"env.NCCL_ALGO\": [\"Ring\", \"Tree\"]}"
  expect_points(RUN AXES ", \"skip\": [{\"size\": \"1024\", \"env.NCCL_ALGO\": \"Ring\"}]}", "1K Tree; 1M Ring; 1M Tree");
  expect_points(RUN AXES ", \"only\": [{\"size\": {\"min\": \"1M\"}}, {\"env.NCCL_ALGO\": [\"Tree\", \"PAT\"]}]}", "1K Tree; 1M Ring; 1M Tree");
#undef AXES
}

static void expect_text(const char *json, guint point, const char *target, const char *text) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimExperiment) e = parse(json);
  g_autoptr(CsimDescription) d = csim_experiment_describe(e, point, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(d->text, ==, text);
  g_assert_cmpstr(d->load_target, ==, target);
}

static void test_descriptions(void) {
  expect_text("{\"run\": {\"target\": \"dgx-h100*2\", \"size\": \"1K\", \"env\": {\"NCCL_ALGO\": \"Ring\"}}, \"axes\": {\"env.NCCL_ALGO\": [\"Tree\", null]}}", 1, "dgx-h100*2",
              "size=1K\ntarget=dgx-h100*2");
  /* a member of the cluster makes a cluster of the short form */
  static const char tree[] = "{\"nodes\":[{\"count\":2,\"xml\":\"dgx-h100\"}],\"fabric\":{\"radix\":32,\"oversubscription\":2}}";
  expect_text("{\"run\": {\"target\": \"dgx-h100*2\", \"cluster\": {\"fabric\": {\"radix\": 32}}}, \"axes\": {\"fabric.oversubscription\": [1, 2]}}", 1, tree,
              "target=dgx-h100*2\ncluster={\"nodes\":[{\"count\":2,\"xml\":\"dgx-h100\"}],\"fabric\":{\"radix\":32,\"oversubscription\":2}}");
  /* items of lists, and the repeat's seed */
  expect_text("{\"run\": {\"target\": \"dgx-h100*2\"}, \"axes\": {\"nodes[0].count\": [4]}, \"repeat\": {\"times\": 2, \"first\": 5}}", 1,
              "{\"nodes\":[{\"count\":4,\"xml\":\"dgx-h100\"}]}", "seed=6\ntarget=dgx-h100*2\ncluster={\"nodes\":[{\"count\":4,\"xml\":\"dgx-h100\"}]}");
}

static uint64_t key_of(const char *json) {
  g_autoptr(CsimExperiment) e = parse(json);
  g_autoptr(CsimDescription) d = csim_experiment_describe(e, 0, NULL);
  return csim_description_key(d, e);
}

/* The same run has the same key wherever its settings stand; anything that decides the result changes it. */
static void test_keys(void) {
  uint64_t key = key_of("{\"run\": {\"target\": \"dgx-h100\", \"size\": \"1K\"}}");
  g_assert_cmpuint(key, ==, key_of("{\"description\": \"x\", \"run\": {\"target\": \"dgx-h100\"}, \"axes\": {\"size\": [\"1K\"]}}"));
  g_assert_cmpuint(key, !=, key_of("{\"run\": {\"target\": \"dgx-h100\", \"size\": \"2K\"}}"));
  g_assert_cmpuint(key, !=, key_of("{\"run\": {\"target\": \"dgx-h100\", \"size\": \"1K\", \"set\": {\"gpu.h100.launch\": \"9us\"}}}"));
}

/* What a named file holds is part of the key. */
static void test_file_key(void) {
  g_autofree char *folder = g_dir_make_tmp("collsim-XXXXXX", NULL), *path = g_build_filename(folder, "c.json", NULL);
  uint64_t keys[2];
  for (int i = 0; i < 2; i++) {
    g_autofree char *cluster = g_strdup_printf("{\"nodes\": [{\"count\": %d, \"xml\": \"dgx-h100\"}]}", i + 1);
    g_assert_true(g_file_set_contents(path, cluster, -1, NULL));
    g_autoptr(CsimExperiment) e = csim_experiment_parse("e.json", folder, "{\"run\": {\"target\": \"c.json\"}}", NULL);
    g_autoptr(CsimDescription) d = csim_experiment_describe(e, 0, NULL);
    keys[i] = csim_description_key(d, e);
  }
  g_assert_cmpuint(keys[0], !=, keys[1]);
  g_unlink(path);
  g_rmdir(folder);
}

static void refuse(const char *text, const char *message) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimExperiment) e = csim_experiment_parse("e.json", ".", text, &error);
  g_assert_null(e);
  g_assert_cmpstr(error->message, ==, message);
}

static void test_refusals(void) {
  refuse("{}", "e.json:1:1: the document has no key 'run', which is required");
  refuse(RUN ", \"axis\": {}}", "e.json:1:35: unknown key 'axis'; did you mean 'axes'?");
  refuse(RUN ", \"axes\": {\"sise\": [1]}}",
         "e.json:1:52: axis 'sise' is no setting; did you mean 'size'?; or env.NAME, set.CONSTANT, cluster.PATH, or any name with values {\"label\": L, PATH: VALUE, ...}");
  refuse(RUN ", \"axes\": {\"size\": [\"1K\", \"1X\"]}}", "e.json:1:59: '1X': not a size; allowed: digits with K, M, G or T (powers of 1024), e.g. 8, 64K, 1G");
  refuse(RUN ", \"axes\": {\"size\": []}}", "e.json:1:52: axis 'size' has no values; allowed: one or more");
  refuse(RUN ", \"axes\": {\"size\": {\"from\": 1, \"to\": 4}}}",
         "e.json:1:52: a range grows in one way; allowed: {\"from\": F, \"to\": T, \"factor\": N} or {..., \"step\": N}");
  refuse(RUN ", \"axes\": {\"size\": [8, 9], \"seed\": [1]}, \"zip\": [[\"size\", \"seed\"]]}",
         "e.json:1:91: axes that advance together have as many values each: 'size' has 2, 'seed' 1");
  refuse(RUN ", \"axes\": {\"size\": [8]}, \"skip\": [{\"sizes\": 8}]}", "e.json:1:77: there is no axis 'sizes'; did you mean 'size'?");
  refuse(RUN ", \"axes\": {\"size\": [8]}, \"skip\": [{\"size\": 8}]}", "e.json: \"only\" and \"skip\" leave no point");
  refuse(RUN ", \"axes\": {\"fabric.oversubscription\": [1, 100]}}", "e.json:1:75: 100: 'oversubscription' is 100; allowed: a number from 0.015625 to 64");
  refuse(RUN ", \"axes\": {\"fabric.radix.x\": [1]}}", "e.json:1:63: 1: 'radix' is an object; allowed: a whole number from 2 to 1024");
  refuse(RUN ", \"axes\": {\"nodes[2].count\": [1]}}", "e.json:1:63: 1: cluster.nodes[2].count leads nowhere: the list has fewer items");
  refuse("{\"run\": {\"size\": 8}}", "e.json: no machine is named; allowed: \"target\" or \"cluster\" in \"run\", or an axis of them");
  refuse(RUN ", \"outputs\": [{\"kind\": \"lines\", \"file\": \"a.pdf\"}]}", "e.json:1:73: 'file' is \"a.pdf\"; allowed: NAME.svg, NAME.png, or NAME for both, in the output folder");
  refuse(RUN ", \"outputs\": [{\"kind\": \"heat\", \"file\": \"a\", \"x\": \"rankz\", \"series\": \"seed\"}]}", "e.json:1:82: 'rankz' is no axis and no column of the results; did you mean 'ranks'?");
}

static void test_spread(void) {
  g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(double));
  g_assert_cmpuint(csim_spread(numbers).n, ==, 0);
  for (int i = 20; i > 0; i--) {
    double value = i;
    g_array_append_val(numbers, value);
  }
  CsimSpread s = csim_spread(numbers);
  g_assert_cmpfloat(s.min, ==, 1);
  g_assert_cmpfloat(s.median, ==, 10.5);
  g_assert_cmpfloat(s.p95, ==, 19);
  g_assert_cmpfloat(s.max, ==, 20);
}

static void test_csv(void) {
  g_autoptr(CsimTable) table = csim_table_new();
  g_ptr_array_add(table->columns, g_strdup("a"));
  g_ptr_array_add(table->columns, g_strdup("b,\"c\""));
  csim_table_set(table, csim_table_add_row(table), 1, g_strdup("two\nlines, \"quoted\""));
  csim_table_set(table, csim_table_add_row(table), 0, g_strdup("1.5"));
  g_autoptr(GString) text = g_string_new(NULL);
  csim_table_to_csv(table, text);
  g_assert_cmpstr(text->str, ==, "a,\"b,\"\"c\"\"\"\r\n,\"two\nlines, \"\"quoted\"\"\"\r\n1.5,\r\n");
  g_autoptr(CsimTable) again = csim_table_from_csv("t.csv", text->str, NULL);
  g_assert_cmpuint(again->rows->len, ==, 2);
  g_assert_cmpstr(csim_table_text(again, 0, 1), ==, "two\nlines, \"quoted\"");
  g_assert_cmpfloat(csim_table_number(again, 1, 0), ==, 1.5);
  g_autoptr(GError) error = NULL;
  g_assert_null(csim_table_from_csv("t.csv", "a,b\n1\n", &error));
  g_assert_cmpstr(error->message, ==, "t.csv:2:1: 1 cells under 2 columns; allowed: as many as columns");
}

static void test_numbers(void) {
  g_assert_cmpfloat(csim_label_number("64K"), ==, 65536);
  g_assert_cmpfloat(csim_label_number("1.5"), ==, 1.5);
  g_assert_cmpfloat(csim_label_number("400Gb/s"), ==, 50e9);
  g_assert_true(isnan(csim_label_number("Ring")));
  g_assert_true(isnan(csim_label_number("")));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/experiment/points", test_points);
  g_test_add_func("/experiment/filters", test_filters);
  g_test_add_func("/experiment/descriptions", test_descriptions);
  g_test_add_func("/experiment/keys", test_keys);
  g_test_add_func("/experiment/file-key", test_file_key);
  g_test_add_func("/experiment/refusals", test_refusals);
  g_test_add_func("/results/spread", test_spread);
  g_test_add_func("/results/csv", test_csv);
  g_test_add_func("/results/numbers", test_numbers);
  return g_test_run();
}
