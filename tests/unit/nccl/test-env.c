/* NCCL variables: reading rules, the two list grammars, distances, warnings, files. */
#include "nccl/env.h"

#include <glib/gstdio.h>
#include <string.h>

static CsimNcclEnv *env_of(const char *setting) {
  const char *overrides[] = {setting, NULL};
  g_autoptr(GError) error = NULL;
  CsimNcclEnv *env = csim_nccl_env_new(NULL, overrides, NULL, &error);
  g_assert_no_error(error);
  return env;
}

static void assert_int(const char *text, int64_t expected) {
  g_autofree char *setting = g_strdup_printf("NCCL_BUFFSIZE=%s", text);
  g_autoptr(CsimNcclEnv) env = env_of(setting);
  g_assert_cmpint(csim_nccl_env_int(env, "NCCL_BUFFSIZE", 77), ==, expected);
}

static void test_integers(void) {
  assert_int("4194304", 4194304);
  assert_int("0x10", 16);
  assert_int("010", 8);
  assert_int("8M", 8);
  assert_int("-1", -1);
  assert_int("fast", 0);
  assert_int("", 77);
  assert_int("99999999999999999999", 77);
  g_assert_cmpint(csim_nccl_env_int(NULL, "NCCL_BUFFSIZE", 77), ==, 77);
}

static void assert_level(const char *text, int expected) {
  g_autofree char *setting = g_strdup_printf("NCCL_P2P_LEVEL=%s", text);
  g_autoptr(CsimNcclEnv) env = env_of(setting);
  g_assert_cmpint(csim_nccl_env_level(env, "NCCL_P2P_LEVEL", -7), ==, expected);
}

static void test_levels(void) {
  static const struct {
    const char *text;
    int level;
  } cases[] = {{"LOC", 0}, {"NVL", 1}, {"NVB", 2}, {"C2C", 3},  {"PIX", 4}, {"PXB", 5}, {"P2C", 6},
               {"PXN", 7}, {"PHB", 8}, {"SYS", 9}, {"0", 0},    {"1", 4},   {"2", 5},   {"3", 8},
               {"4", 9},   {"5", 9},   {"17", 9},  {"sys", -7}, {"", -7},   {"-1", -7}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) assert_level(cases[i].text, cases[i].level);
}

static void test_overrides_win(void) {
  const char *environ[] = {"PATH=/bin", "NCCL_NTHREADS=128", "NCCL_BUFFSIZE=1", NULL};
  const char *overrides[] = {"NCCL_NTHREADS=256", "NCCL_NTHREADS=512", NULL};
  g_autoptr(CsimNcclEnv) env = csim_nccl_env_new(environ, overrides, NULL, NULL);
  g_assert_cmpint(csim_nccl_env_int(env, "NCCL_NTHREADS", 0), ==, 512);
  g_assert_cmpint(csim_nccl_env_int(env, "NCCL_BUFFSIZE", 0), ==, 1);
  g_assert_true(csim_nccl_env_is_set(env, "NCCL_BUFFSIZE"));
  g_assert_false(csim_nccl_env_is_set(env, "NCCL_ALGO"));
  const char *bad[] = {"NCCL_ALGO", NULL};
  g_autoptr(GError) error = NULL;
  g_assert_null(csim_nccl_env_new(NULL, bad, NULL, &error));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_SYNTAX);
}

static char *allowed_algos(const CsimNcclEnv *env, CsimColl func) {
  GString *text = g_string_new(NULL);
  for (int a = 0; a < CSIM_N_ALGOS; a++)
    g_string_append_c(text,
                      csim_nccl_env_allows(env, func, (CsimAlgo)a, CSIM_PROTO_SIMPLE, NULL) ? '1' : '0');
  return g_string_free(text, FALSE);
}

static void test_algo_lists(void) {
  static const struct {
    const char *text;
    CsimColl func;
    const char *mask;
  } cases[] = {
      {"Ring", CSIM_COLL_ALL_REDUCE, "0100000"},
      {"ring,TREE", CSIM_COLL_BROADCAST, "1100000"},
      {"^NVLS,NVLSTree", CSIM_COLL_ALL_REDUCE, "1111001"},
      {"", CSIM_COLL_ALL_REDUCE, "1111111"},
      {"allreduce:tree,collnetdirect", CSIM_COLL_ALL_REDUCE, "1010000"},
      {"allreduce:tree,collnetdirect", CSIM_COLL_REDUCE, "1111111"},
      {"ring;allreduce:tree;broadcast:^pat", CSIM_COLL_ALL_REDUCE, "1000000"},
      {"ring;allreduce:tree;broadcast:^pat", CSIM_COLL_BROADCAST, "1111110"},
      {"ring;allreduce:tree;broadcast:^pat", CSIM_COLL_ALL_GATHER, "0100000"},
      {"ring;;AllReduce:Tree;", CSIM_COLL_ALL_REDUCE, "1000000"},
      {"AllReduce:Tree;AllReduce:Ring", CSIM_COLL_ALL_REDUCE, "0100000"},
      {"ring,,tree", CSIM_COLL_ALL_REDUCE, "1100000"},
      {"^", CSIM_COLL_ALL_REDUCE, "1111111"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *setting = g_strdup_printf("NCCL_ALGO=%s", cases[i].text);
    g_autoptr(CsimNcclEnv) env = env_of(setting);
    g_autofree char *mask = allowed_algos(env, cases[i].func);
    g_assert_cmpstr(mask, ==, cases[i].mask);
  }
}

static void test_protos(void) {
  gboolean forced;
  g_autoptr(CsimNcclEnv) env = env_of("NCCL_PROTO=^LL128;allreduce:LL128");
  g_assert_true(csim_nccl_env_allows(env, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, CSIM_PROTO_LL128, &forced));
  g_assert_true(forced);
  g_assert_false(csim_nccl_env_allows(env, CSIM_COLL_ALL_REDUCE, CSIM_ALGO_RING, CSIM_PROTO_LL, &forced));
  g_assert_false(csim_nccl_env_allows(env, CSIM_COLL_BROADCAST, CSIM_ALGO_RING, CSIM_PROTO_LL128, &forced));
  g_assert_true(csim_nccl_env_allows(env, CSIM_COLL_BROADCAST, CSIM_ALGO_RING, CSIM_PROTO_LL, NULL));
  g_autoptr(CsimNcclEnv) excluding = env_of("NCCL_PROTO=^Simple");
  g_assert_true(csim_nccl_env_allows(excluding, CSIM_COLL_REDUCE, CSIM_ALGO_RING, CSIM_PROTO_LL128, &forced));
  g_assert_true(forced);
  g_autoptr(CsimNcclEnv) silent = env_of("NCCL_PROTO=AllReduce:LL");
  g_assert_true(csim_nccl_env_allows(silent, CSIM_COLL_REDUCE, CSIM_ALGO_RING, CSIM_PROTO_LL128, &forced));
  g_assert_false(forced);
}

static void test_bad_lists(void) {
  static const struct {
    const char *setting, *message;
  } cases[] = {
      {"NCCL_ALGO=rings", "NCCL_ALGO: unknown name \"rings\" in \"rings\"; NCCL knows Tree, Ring, "
                          "CollNetDirect, CollNetChain, NVLS, NVLSTree, PAT"},
      {"NCCL_ALGO=ring;tree",
       "NCCL_ALGO: no function in front of \"tree\" in \"ring;tree\"; only the first entry may leave it out"},
      {"NCCL_ALGO=;ring",
       "NCCL_ALGO: no function in front of \"ring\" in \";ring\"; only the first entry may leave it out"},
      {"NCCL_ALGO=gather:ring", "NCCL_ALGO: unknown function \"gather\" in \"gather:ring\"; NCCL knows "
                                "Broadcast, Reduce, AllGather, ReduceScatter, AllReduce"},
      {"NCCL_PROTO=LL,LL64",
       "NCCL_PROTO: unknown name \"LL64\" in \"LL,LL64\"; NCCL knows LL, LL128, Simple"},
      {"NCCL_PROTO=LL, Simple",
       "NCCL_PROTO: unknown name \" Simple\" in \"LL, Simple\"; NCCL knows LL, LL128, Simple"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *overrides[] = {cases[i].setting, NULL};
    g_autoptr(GError) error = NULL;
    g_assert_null(csim_nccl_env_new(NULL, overrides, NULL, &error));
    g_assert_error(error, CSIM_ERROR, CSIM_ERROR_NCCL);
    g_assert_cmpstr(error->message, ==, cases[i].message);
  }
}

static void assert_warns(const char *setting, const char *message) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  const char *overrides[] = {setting, NULL};
  g_autoptr(CsimNcclEnv) env = csim_nccl_env_new(NULL, overrides, diag, NULL);
  g_assert_nonnull(env);
  if (!message) {
    g_assert_cmpuint(csim_diag_n(diag), ==, 0);
    return;
  }
  g_assert_cmpuint(csim_diag_n(diag), ==, 1);
  g_assert_cmpstr(csim_diag_get(diag, 0)->text, ==, message);
}

static void test_warnings(void) {
  assert_warns("NCCL_BUFFSIZE=1048576", NULL);
  assert_warns("NCCL_DEBUG=INFO", NULL);
  assert_warns("NCCL_BUFSIZE=1", "NCCL_BUFSIZE: NCCL has no such variable; the nearest is NCCL_BUFFSIZE");
  assert_warns("NCCL_PCIE_WIDTH=16", "NCCL_PCIE_WIDTH: NCCL has no such variable: the lane count comes from "
                                     "link_width in the topology file");
  assert_warns("NCCL_BUFFSIZE=8M", "NCCL_BUFFSIZE: \"8M\": NCCL reads only the leading number, 8");
  assert_warns("NCCL_BUFFSIZE=8", "NCCL_BUFFSIZE: \"8\": outside 32768..2147483647");
  assert_warns("NCCL_BUFFSIZE=big", "NCCL_BUFFSIZE: \"big\": no digits: NCCL reads 0");
  assert_warns("NCCL_NTHREADS=100", "NCCL_NTHREADS: \"100\": no multiple of 32: NCCL takes 512");
  assert_warns("NCCL_NTHREADS=32", "NCCL_NTHREADS: \"32\": outside 64..512");
  assert_warns("NCCL_MAX_NCHANNELS=128", "NCCL_MAX_NCHANNELS: \"128\": outside 1..64");
  assert_warns("NCCL_TESTS_DEVICE=0", "NCCL_TESTS_DEVICE: read by nccl-tests, not by NCCL");
  assert_warns("NCCL_GDRCOPY_ENABLE=1",
               "NCCL_GDRCOPY_ENABLE: has no effect here: the simulator does not model it");
  assert_warns("FOO=1", "-x FOO=1: not a NCCL variable, it has no effect in the simulator");
}

/* Names that people quote and NCCL does not have must not be in the table, and must be explained. */
static void test_myths(void) {
  static const char *const names[] = {"NCCL_PCIE_WIDTH",
                                      "NCCL_PCIE_SPEED",
                                      "NCCL_SOCKET_TIMEOUT",
                                      "NCCL_NCHANNELS_PER_PEER",
                                      "NCCL_ASYNC_ERROR_HANDLING",
                                      "NCCL_BLOCKING_WAIT",
                                      "NCCL_TIMEOUT",
                                      "NCCL_P2P_CHANNELS",
                                      "NCCL_IB_SPEED",
                                      "NCCL_NET_BW",
                                      "NCCL_NVLINK_BW",
                                      "NCCL_TREE_THRESHOLD",
                                      "NCCL_LL_THRESHOLD",
                                      "NCCL_SINGLE_RING_THRESHOLD",
                                      "NCCL_RINGS",
                                      "NCCL_IB_CUDA_SUPPORT",
                                      "NCCL_CHECKS_DISABLE",
                                      "NCCL_SHM_USE_CUDA_MEMCPY",
                                      "NCCL_SHM_MEMCPY_MODE"};
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_assert_nonnull(csim_nccl_var_myth(names[i]));
    g_assert_null(csim_nccl_var_find(names[i]));
  }
  g_assert_null(csim_nccl_var_myth("NCCL_ALGO"));
}

static void test_table(void) {
  guint n;
  const CsimNcclVar *vars = csim_nccl_vars(&n);
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  g_assert_cmpuint(n, >, 150);
  for (guint i = 0; i < n; i++) {
    g_assert_true(g_str_has_prefix(vars[i].name, "NCCL_"));
    g_assert_true(g_hash_table_add(seen, (gpointer)vars[i].name));
    g_assert_true(*vars[i].fallback && *vars[i].range && *vars[i].effect);
    g_assert_false(vars[i].honoured && vars[i].timeless);
    g_assert_null(csim_nccl_var_myth(vars[i].name));
    g_assert_true(csim_nccl_var_find(vars[i].name) == &vars[i]);
  }
}

/* All text of the sources that may read variables: every .c of src/ but the table, the list of myths, the audit, which
 * only says what a log's variables did to the run that it shows, and the probe, which sets them for a real NCCL. */
static void gather_sources(const char *folder, GString *all) {
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    g_autofree char *path = g_build_filename(folder, name, NULL), *text = NULL;
    if (g_str_equal(name, "probe")) continue;
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
      gather_sources(path, all);
    else if (g_str_has_suffix(name, ".c") && !g_str_equal(name, "env-table.c") &&
             !g_str_equal(name, "env-myths.c") && !g_str_equal(name, "env-idle.c") &&
             !g_str_equal(name, "env-check.c") && !g_str_has_prefix(name, "audit") && g_file_get_contents(path, &text, NULL, NULL))
      g_string_append(all, text);
  }
}

/* A variable is "honoured" in the table if and only if some source reads it. */
static void test_table_is_true(void) {
  const char *root = g_getenv("COLLSIM_SOURCE_ROOT");
  g_autoptr(GString) all = g_string_new(NULL);
  g_autofree char *folder = g_build_filename(root ? root : ".", "src", NULL);
  gather_sources(folder, all);
  if (all->len == 0) {
    g_test_skip("the sources are not there (COLLSIM_SOURCE_ROOT)");
    return;
  }
  guint n;
  const CsimNcclVar *vars = csim_nccl_vars(&n);
  for (guint i = 0; i < n; i++) {
    g_autofree char *quoted = g_strdup_printf("\"%s\"", vars[i].name);
    gboolean read = strstr(all->str, quoted) != NULL;
    if (read != vars[i].honoured)
      g_error("src/nccl/env-table.c: %s is marked %s, but %s source reads it", vars[i].name,
              vars[i].honoured ? "honoured" : "not honoured", read ? "a" : "no");
  }
}

static void write_file(const char *folder, const char *name, const char *content) {
  g_autofree char *path = g_build_filename(folder, name, NULL);
  g_assert_true(g_file_set_contents(path, content, -1, NULL));
}

static void remove_file(const char *folder, const char *name) {
  g_autofree char *path = g_build_filename(folder, name, NULL);
  g_remove(path);
}

static void test_files(void) {
  g_autofree char *home = g_dir_make_tmp("collsim-XXXXXX", NULL),
                  *etc = g_dir_make_tmp("collsim-XXXXXX", NULL);
  write_file(home, ".nccl.conf", "# mine\nNCCL_NTHREADS=128\nNCCL_ALGO=Ring\nnonsense\n");
  write_file(etc, "nccl.conf", "NCCL_NTHREADS=64\nNCCL_PROTO=LL\n#NCCL_BUFFSIZE=1\n");
  const char *environ[] = {"NCCL_ALGO=Tree", NULL};
  g_auto(GStrv) all = csim_nccl_conf_environ(environ, home, etc);
  g_autofree char *joined = g_strjoinv(" ", all);
  g_assert_cmpstr(joined, ==, "NCCL_ALGO=Tree NCCL_NTHREADS=128 NCCL_PROTO=LL");
  g_autofree char *other = g_strdup_printf("NCCL_CONF_FILE=%s/other", home);
  write_file(home, "other", "NCCL_NTHREADS=96");
  const char *with_file[] = {other, NULL};
  g_auto(GStrv) named = csim_nccl_conf_environ(with_file, home, etc);
  g_assert_cmpstr(named[1], ==, "NCCL_NTHREADS=96");
  g_assert_cmpstr(named[2], ==, "NCCL_PROTO=LL");
  remove_file(home, ".nccl.conf");
  remove_file(home, "other");
  remove_file(etc, "nccl.conf");
  g_rmdir(home);
  g_rmdir(etc);
}

static void test_report(void) {
  const char *overrides[] = {"NCCL_NTHREADS=128", "NCCL_DEBUG=INFO", "NCCL_IB_SL=3", "NCCL_PCIE_SPEED=4",
                             NULL};
  g_autoptr(CsimNcclEnv) env = csim_nccl_env_new(NULL, overrides, NULL, NULL);
  g_autoptr(GPtrArray) items = csim_nccl_env_report(env);
  static const struct {
    const char *name;
    CsimNcclEnvStatus status;
  } expected[] = {{"NCCL_DEBUG", CSIM_ENV_TIMELESS},
                  {"NCCL_IB_SL", CSIM_ENV_NO_EFFECT},
                  {"NCCL_NTHREADS", CSIM_ENV_HONOURED},
                  {"NCCL_PCIE_SPEED", CSIM_ENV_UNKNOWN}};
  g_assert_cmpuint(items->len, ==, G_N_ELEMENTS(expected));
  for (guint i = 0; i < items->len; i++) {
    const CsimNcclEnvItem *item = g_ptr_array_index(items, i);
    g_assert_cmpstr(item->name, ==, expected[i].name);
    g_assert_cmpint(item->status, ==, expected[i].status);
    g_assert_true(item->remark && *item->remark);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/nccl/env/integers", test_integers);
  g_test_add_func("/nccl/env/levels", test_levels);
  g_test_add_func("/nccl/env/overrides-win", test_overrides_win);
  g_test_add_func("/nccl/env/algo-lists", test_algo_lists);
  g_test_add_func("/nccl/env/protos", test_protos);
  g_test_add_func("/nccl/env/bad-lists", test_bad_lists);
  g_test_add_func("/nccl/env/warnings", test_warnings);
  g_test_add_func("/nccl/env/myths", test_myths);
  g_test_add_func("/nccl/env/table", test_table);
  g_test_add_func("/nccl/env/table-is-true", test_table_is_true);
  g_test_add_func("/nccl/env/files", test_files);
  g_test_add_func("/nccl/env/report", test_report);
  return g_test_run();
}
