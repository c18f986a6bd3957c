/* Settings by name: what each accepts, what it refuses and with which words. */
#include "exp/args.h"

#include <string.h>

static void set(CsimRunArgs *args, const char *key, const char *value) {
  g_autoptr(GError) error = NULL;
  csim_run_args_set(args, key, value, &error);
  g_assert_no_error(error);
}

static void refuse(const char *key, const char *value, const char *message) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimRunArgs) args = csim_run_args_new();
  g_assert_false(csim_run_args_set(args, key, value, &error));
  g_assert_cmpstr(error->message, ==, message);
}

static void test_defaults(void) {
  g_autoptr(CsimRunArgs) args = csim_run_args_new();
  CsimRunSpec spec = csim_run_args_spec(args);
  g_assert_cmpint(spec.min_bytes, ==, 32 << 20);
  g_assert_cmpint(spec.max_bytes, ==, 32 << 20);
  g_assert_cmpint(spec.step_bytes, ==, 1 << 20);
  g_assert_cmpint(spec.iters, ==, 20);
  g_assert_cmpint(spec.fidelity, ==, CSIM_FIDELITY_FLOW);
  g_assert_cmpuint(spec.seed, ==, 1);
  g_assert_null(spec.environ);
  g_assert_null(spec.overrides[0]);
}

static void test_values(void) {
  g_autoptr(CsimRunArgs) args = csim_run_args_new();
  set(args, "target", "dgx-h100*4");
  set(args, "collective", "AllGather");
  set(args, "type", "half");
  set(args, "redop", "max");
  set(args, "size", "4K");
  set(args, "launch", "Thread");
  set(args, "fidelity", "model");
  set(args, "queue", "heap4");
  set(args, "seed", "18446744073709551615");
  set(args, "env.NCCL_ALGO", "Ring");
  set(args, "env", "NCCL_PROTO=LL");
  set(args, "algo", "Tree");
  set(args, "set.gpu.h100.simple_o", "1us");
  CsimRunSpec spec = csim_run_args_spec(args);
  g_assert_cmpstr(spec.target, ==, "dgx-h100*4");
  g_assert_cmpint(spec.coll, ==, CSIM_COLL_ALL_GATHER);
  g_assert_cmpint(spec.min_bytes, ==, 4096);
  g_assert_cmpint(spec.max_bytes, ==, 4096);
  g_assert_cmpint(spec.launch, ==, CSIM_LAUNCH_THREAD);
  g_assert_cmpint(spec.queue, ==, CSIM_QUEUE_HEAP4);
  g_assert_cmpuint(spec.seed, ==, G_MAXUINT64);
  g_assert_cmpstr(spec.overrides[0], ==, "NCCL_ALGO=Ring");
  g_assert_cmpstr(spec.overrides[1], ==, "NCCL_PROTO=LL");
  g_assert_cmpstr(spec.overrides[2], ==, "NCCL_ALGO=Tree");
  g_assert_null(spec.overrides[3]);
  g_assert_cmpstr(spec.sets[0], ==, "gpu.h100.simple_o=1us");
}

/* One end of the range alone moves the other. */
static void test_range(void) {
  g_autoptr(CsimRunArgs) above = csim_run_args_new();
  set(above, "min_bytes", "1G");
  g_assert_cmpint(csim_run_args_spec(above).max_bytes, ==, 1 << 30);
  g_autoptr(CsimRunArgs) below = csim_run_args_new();
  set(below, "max_bytes", "8");
  g_assert_cmpint(csim_run_args_spec(below).min_bytes, ==, 8);
}

/* What a refusal says is allowed is allowed. */
static void test_allowed_words(void) {
  static const char *const keys[] = {"collective", "type", "redop", "launch", "host", "fidelity", "queue"};
  g_autoptr(CsimRunArgs) args = csim_run_args_new();
  for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_false(csim_run_args_set(args, keys[i], "?", &error));
    g_auto(GStrv) words = g_strsplit(strstr(error->message, "allowed: ") + strlen("allowed: "), ", ", -1);
    g_assert_cmpuint(g_strv_length(words), >=, 2);
    for (char **word = words; *word; word++) set(args, keys[i], *word);
  }
}

static void test_refusals(void) {
  refuse("colective", "all_reduce", "no setting \"colective\"; did you mean \"collective\"?");
  refuse("frobnicate", "1", "no setting \"frobnicate\"");
  refuse("nodes", "0", "\"0\" is not possible; allowed: a whole number from 1 to 1000000");
  refuse("nodes", "3.5", "\"3.5\" is not possible; allowed: a whole number from 1 to 1000000");
  refuse("factor", "1", "\"1\" is not possible; allowed: a whole number from 2 to 1024");
  refuse("root", "-1", "\"-1\" is not possible; allowed: a whole number from 0 to 2147483647");
  refuse("seed", "-1", "\"-1\" is not possible; allowed: a whole number from 0 to 2^64-1");
  refuse("fidelity", "exact", "\"exact\" is not possible; allowed: model, flow, packet");
  refuse("digest", "maybe", "\"maybe\" is not possible; allowed: true or false");
  refuse("env", "NCCL_ALGO", "\"NCCL_ALGO\" is not possible; allowed: NAME=VALUE");
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/exp/args/defaults", test_defaults);
  g_test_add_func("/exp/args/values", test_values);
  g_test_add_func("/exp/args/range", test_range);
  g_test_add_func("/exp/args/refusals", test_refusals);
  g_test_add_func("/exp/args/allowed-words", test_allowed_words);
  return g_test_run();
}
