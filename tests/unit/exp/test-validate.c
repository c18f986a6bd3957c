/* Measured sets: readers, rules, errors, and whole validations of small data. */
#include "exp/validate.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static GPtrArray *sets_new(void) {
  return g_ptr_array_new_with_free_func(csim_measured_set_free);
}
static CsimMeasuredSet *set_at(const GPtrArray *sets, guint i) {
  return (CsimMeasuredSet *)g_ptr_array_index(sets, i);
}
static CsimMeasuredRow row_at(const CsimMeasuredSet *set, guint i) {
  return g_array_index(set->rows, CsimMeasuredRow, i);
}

static GPtrArray *read_csv(const char *name, const char *text) {
  GPtrArray *sets = sets_new();
  g_autoptr(GError) error = NULL;
  g_assert_true(csim_measured_csv(sets, name, text, strlen(text), &error));
  return sets;
}

static char *root_path(const char *path) {
  const char *root = g_getenv("COLLSIM_SOURCE_ROOT");
  return g_build_filename(root ? root : ".", path, NULL);
}

/* --- CSV ------------------------------------------------------------------------ */

static void test_csv_plain(void) {
  g_autoptr(GPtrArray) sets = read_csv(
      "a/alps_2n.csv", "# hardware: GH200, 4 GPU a node\r\n# nodes: 2  gpus_total: 8  fabric: "
                       "Slingshot-11\n# nccl_version: 2.23\n# env: defaults\n"
                       "collective,size_bytes,count,dtype,op,time_us,algbw_GBps,busbw_GBps,in_place(0/1)\n"
                       "all_reduce,16,4,float,sum,30.5,0.00,0.00,0\nall_reduce,16,4,float,sum,1.0,0.00,0.00,"
                       "1\nall_reduce,8,2,half,sum,20.25,0.00,0.00,0\n");
  g_assert_cmpuint(sets->len, ==, 1);
  const CsimMeasuredSet *set = set_at(sets, 0);
  g_assert_cmpstr(set->facts[CSIM_FACT_NAME], ==, "alps_2n");
  g_assert_cmpstr(set->facts[CSIM_FACT_HARDWARE], ==, "GH200, 4 GPU a node");
  g_assert_cmpstr(set->facts[CSIM_FACT_FABRIC], ==, "Slingshot-11");
  g_assert_cmpstr(set->facts[CSIM_FACT_NCCL], ==, "2.23");
  g_assert_cmpuint(set->n_nodes, ==, 2);
  g_assert_cmpuint(set->n_gpus, ==, 8);
  g_assert_cmpint(set->coll, ==, CSIM_COLL_ALL_REDUCE);
  g_assert_cmpuint(set->rows->len, ==, 2); /* out of place only, sorted */
  g_assert_cmpint(row_at(set, 0).size, ==, 8);
  g_assert_cmpint(row_at(set, 0).type, ==, CSIM_TYPE_HALF);
  g_assert_cmpfloat(row_at(set, 0).time_us, ==, 20.25);
  g_assert_cmpfloat(row_at(set, 1).time_us, ==, 30.5);
  g_assert_cmpuint(row_at(set, 1).loc.line, ==, 6);
}

static void test_csv_busbw_only(void) {
  g_autoptr(GPtrArray) sets =
      read_csv("x.csv", "collective,size_bytes,count,dtype,op,time_us,algbw_GBps,busbw_GBps,in_place(0/1)\n"
                        "all_gather,1024,1,float,none,,,324.1,\nall_gather,2048,1,float,none,,2.0,,\n");
  const CsimMeasuredSet *set = set_at(sets, 0);
  g_assert_cmpuint(set->rows->len, ==, 2);
  g_assert_cmpfloat(row_at(set, 0).busbw_gbps, ==, 324.1);
  g_assert_cmpfloat(row_at(set, 0).time_us, ==, 0);
  g_assert_cmpfloat_with_epsilon(row_at(set, 1).time_us, 1.024, 1e-9); /* from algbw */
}

static void test_csv_series(void) {
  g_autoptr(GPtrArray) sets = read_csv("pair.csv", "tag,gpus,collective,size_bytes,time_us,algbw_GBps\nRing-"
                                                   "LL,2,all_reduce,8,10,0\nRing-LL,2,all_reduce,16,11,0\n"
                                                   "default,2,all_gather,8,12,0\n");
  g_assert_cmpuint(sets->len, ==, 2);
  g_assert_cmpstr(set_at(sets, 0)->facts[CSIM_FACT_NAME], ==, "pair:Ring-LL:2:all_reduce");
  g_assert_cmpstr(set_at(sets, 0)->facts[CSIM_FACT_TAG], ==, "Ring-LL");
  g_assert_cmpuint(set_at(sets, 0)->n_gpus, ==, 2);
  g_assert_cmpuint(set_at(sets, 0)->rows->len, ==, 2);
  g_assert_cmpint(set_at(sets, 1)->coll, ==, CSIM_COLL_ALL_GATHER);
}

/* Three repeats of a size: the median; an even number: the mean of the middle two. */
/* As `collsim probe nccl -x NCCL_ALGO=Ring,Tree` writes it. */
static void test_csv_quotes(void) {
  g_autoptr(GPtrArray) sets = read_csv("live.csv", "tag,ranks,collective,size_bytes,time_us,env\n"
                                                   "default,8,all_reduce,1024,10,\"NCCL_ALGO=Ring,Tree; NCCL_PROTO=LL\"\n"
                                                   "default,8,all_reduce,2048,\"never closed,20\n");
  g_assert_cmpuint(sets->len, ==, 1);
  const CsimMeasuredSet *set = (const CsimMeasuredSet *)g_ptr_array_index(sets, 0);
  g_assert_cmpstr(set->facts[CSIM_FACT_ENV], ==, "NCCL_ALGO=Ring,Tree; NCCL_PROTO=LL");
  g_assert_cmpuint(set->rows->len, ==, 1);
}

static void test_csv_repeats(void) {
  g_autoptr(GPtrArray) sets = read_csv("r.csv", "collective,size_bytes,time_us\nreduce,64,30\nreduce,64,"
                                                "10\nreduce,64,20\nreduce,128,1\nreduce,128,2\n");
  g_assert_cmpuint(set_at(sets, 0)->rows->len, ==, 2);
  g_assert_cmpfloat(row_at(set_at(sets, 0), 0).time_us, ==, 20);
  g_assert_cmpfloat(row_at(set_at(sets, 0), 1).time_us, ==, 1.5);
}

static void test_csv_junk(void) {
  static const char *const texts[] = {"",
                                      "\n\n",
                                      "# hardware: x",
                                      "a,b,c\n1,2,3\n",
                                      ("collective,size_bytes,time_us\nall_reduce,-1,3\nall_reduce,x,3\nall_"
                                      "reduce,8,nan\nall_reduce,8,-2\nnot_one,8,1\nall_reduce\n"),
                                      "test,size_bytes,bw_GBps,lat_us\nce,8,1,2\n",
                                      ",,,,,\n\xff\xfe,\x01\n"};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(GPtrArray) sets = read_csv("junk.csv", texts[i]);
    g_assert_cmpuint(sets->len, ==, 1);
    g_assert_nonnull(set_at(sets, 0)->unusable);
    g_assert_cmpuint(set_at(sets, 0)->rows->len, ==, 0);
  }
}

/* --- logs and folders ----------------------------------------------------------- */

static const char log_text[] =
    "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 8 minBytes 8 maxBytes 16 step: 2(factor) "
    "warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n"
    "# Using devices\n#  Rank  0 Group  0 Pid 1 on node1 device  0 [0000:0f:00] NVIDIA H100 80GB HBM3\n#  "
    "Rank  1 Group  0 Pid 1 on node1 device  1 [0000:10:00] NVIDIA H100 80GB HBM3\n#\n"
    "#                                                              out-of-place                       "
    "in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
    "busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  "
    "(GB/s)\n"
    "           8             2     float     sum      -1    30.00    0.00    0.00      0    31.00    0.00   "
    " 0.00      0\n"
    "node1:1:1 [0] NCCL INFO NCCL_ALGO set by environment to Ring.\n"
    "          16             4     float     sum      -1    33.00    0.00    0.00      0    31.00    0.00   "
    " 0.00      0\n"
    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.1\n";

static char *temporary_folder(void) {
  char *folder = g_dir_make_tmp("collsim-test-XXXXXX", NULL);
  g_assert_nonnull(folder);
  return folder;
}

static void put_file(const char *folder, const char *name, const char *text) {
  g_autofree char *path = g_build_filename(folder, name, NULL);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void remove_folder(const char *folder) {
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name(dir)) != NULL;) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_unlink(path);
  }
  g_rmdir(folder);
}

static void test_log(void) {
  g_autofree char *folder = temporary_folder(), *path = g_build_filename(folder, "run.log", NULL);
  g_autoptr(GPtrArray) sets = sets_new();
  put_file(folder, "run.log", log_text);
  g_assert_true(csim_measured_file(sets, path, NULL));
  g_assert_cmpuint(sets->len, ==, 1);
  const CsimMeasuredSet *set = set_at(sets, 0);
  g_assert_cmpint(set->coll, ==, CSIM_COLL_ALL_REDUCE);
  g_assert_true(set->has_launch);
  g_assert_cmpint(set->launch, ==, CSIM_LAUNCH_SINGLE);
  g_assert_cmpint(set->iters, ==, 20);
  g_assert_cmpuint(set->rows->len, ==, 2);
  g_assert_cmpfloat(row_at(set, 0).time_us, ==, 30);
  g_assert_nonnull(strstr(set->facts[CSIM_FACT_HARDWARE], "H100"));
  remove_folder(folder);
}

static void test_folder(void) {
  g_autofree char *folder = temporary_folder();
  g_autoptr(GPtrArray) sets = sets_new();
  put_file(folder, "run.log", log_text);
  put_file(folder, "notes.txt", "nothing here\n");
  put_file(folder, "one.csv", "collective,size_bytes,time_us\nreduce,64,30\n");
  put_file(folder, "INDEX.tsv",
           "slug\thardware\tnodes\tgpus\tfabric\tcollective\talgo_proto\n"
           "one\tH200 SXM\t1\t8\tNVSwitch\treduce\tRing\ngone\tH100\t2\t16\tIB\tall_reduce\tdefault\n");
  g_assert_true(csim_measured_folder(sets, folder, NULL, NULL));
  g_assert_cmpuint(sets->len, ==, 3);
  g_assert_cmpstr(set_at(sets, 0)->facts[CSIM_FACT_HARDWARE], ==, "H200 SXM");
  g_assert_cmpstr(set_at(sets, 0)->facts[CSIM_FACT_ALGO], ==, "Ring");
  g_assert_cmpuint(set_at(sets, 0)->n_gpus, ==, 8);
  g_assert_nonnull(strstr(set_at(sets, 2)->unusable, "no file gone.csv"));
  remove_folder(folder);
}

/* --- words and rules ------------------------------------------------------------ */

static void test_words(void) {
  g_assert_true(csim_words_match("8x H100 SXM", "H100"));
  g_assert_true(csim_words_match("DGX H200, NVSwitch", "h100|h200"));
  g_assert_false(csim_words_match("GH200 node", "H200"));
  g_assert_false(csim_words_match("H1000", "H100"));
  g_assert_true(csim_words_match("Ring-LL128", "LL"));
  g_assert_false(csim_words_match("Ring-LL128", "!LL"));
  g_assert_true(csim_words_match("together_b200b_0511", "0511"));
  g_assert_false(csim_words_match(NULL, "x"));
  g_assert_true(csim_words_match(NULL, "!x"));
  g_assert_true(csim_words_match("Slingshot-11 4x200G", "slingshot-11 4x200G"));
  g_assert_false(csim_words_match("anything", ""));
}

typedef struct {
  const char *hardware, *fabric, *algo, *env;
  guint nodes, gpus;
  const char *label, *variables, *skip; /* skip: a piece of the reason, or NULL */
} Mapping;

static const Mapping mappings[] = {
    {"H100 SXM5 80GB, NVSwitch NVLink4, 2 GPUs used", "NVLink4/NVSwitch", "default", NULL, 1, 2,
     "dgx-h100 -g 2", "", NULL},
    {"B200 SXM, 8 GPU/node", "InfiniBand NDR 8x400G/node", "tree",
     "NCCL_ALGO=Tree NCCL_NVLS_ENABLE=0; iters 20", 4, 32, "hgx-b200*4 -g 8",
     "NCCL_ALGO=Tree NCCL_NVLS_ENABLE=0", NULL},
    {"B200 SXM", "InfiniBand NDR + SHARP", "sharpcollnetchain", NULL, 16, 128, "hgx-b200*16 -g 8 sharp",
     "NCCL_ALGO=CollNetChain NCCL_COLLNET_ENABLE=1", NULL},
    {"GH200 (4 GPU/node), Slingshot", "Slingshot-11 4x200G/node (dragonfly)", "default", "NCCL_CROSS_NIC=1",
     64, 256, "gh200-4gpu*64 -g 4 slingshot", "NCCL_CROSS_NIC=1", NULL},
    {"GB200 NVL72, 4 GPU/node", "NVLink5 NVL72", "default", NULL, 18, 72, "gb200-nvl72 -g 72", "", NULL},
    {"GB300 NVL72, 4 GPU/node", "NVLink5 NVL72 + RoCEv2 8x400G/node", "default", NULL, 32, 128,
     "gb300-nvl72*2 -g 64 roce", "", NULL},
    {"A100-SXM4-40GB p4d.24xlarge", "EFA 4x100G", "default", NULL, 2, 16, "aws-p4d*2 -g 8 efa", "", NULL},
    {"A100-SXM4 Polaris", "Slingshot-11 2x200G/node", "default",
     "(1) default: no NCCL env, TCP sockets over Slingshot", 2, 8, "polaris*2 -g 4 socket", "", NULL},
    {"H800 SXM 80GB, 8 GPU", "NVLink4", "Ring/Simple", NULL, 1, 8, "hgx-h800 -g 8",
     "NCCL_ALGO=Ring NCCL_PROTO=Simple", NULL},
    {"AMD MI300X", "xGMI", "default", NULL, 1, 8, NULL, NULL, "AMD"},
    {"H100 SXM5, a3-mega", "GPUDirect-TCPXO 8x200G", "default", NULL, 2, 16, NULL, NULL, "TCPX"},
    {"Quantum abacus", "string", "default", NULL, 1, 8, NULL, NULL, "no rule for hardware"},
    {"B200 SXM, 8 GPU/node", "IB", "default", NULL, 2, 15, "hgx-b200*2", NULL, "do not divide"},
};

static void test_mapping(gconstpointer data) {
  const Mapping *m = (const Mapping *)data;
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimTargets) targets = csim_targets_load(NULL, &error);
  g_assert_no_error(error);
  CsimMeasuredSet *set = csim_measured_set_new();
  csim_measured_fact(set, CSIM_FACT_NAME, "some_set");
  csim_measured_fact(set, CSIM_FACT_HARDWARE, m->hardware);
  csim_measured_fact(set, CSIM_FACT_FABRIC, m->fabric);
  csim_measured_fact(set, CSIM_FACT_ALGO, m->algo);
  csim_measured_fact(set, CSIM_FACT_ENV, m->env);
  set->n_nodes = m->nodes;
  set->n_gpus = m->gpus;
  CsimResolved *r = csim_targets_resolve(targets, set);
  if (m->skip)
    g_assert_nonnull(strstr(r->skip, m->skip));
  else
    g_assert_null(r->skip);
  g_assert_cmpstr(r->label, ==, m->label);
  g_autofree char *variables = g_strjoinv(" ", (char **)r->variables->pdata);
  if (m->variables) g_assert_cmpstr(variables, ==, m->variables);
  csim_resolved_free(r);
  csim_measured_set_free(set);
}

static void test_bad_targets(void) {
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"{\"format\": \"collsim-targets-1\", \"machines\": [{\"match\": {\"hardwear\": \"x\"}, \"node\": "
       "\"dgx-h100\"}]}",
       ":1:57: unknown key 'hardwear'"},
      {"{\"format\": \"collsim-targets-2\", \"machines\": []}", ":1:12: "},
      {"{\"format\": \"collsim-targets-1\", \"machines\": [{\"match\": {\"nodes\": [1, 2, 3]}, \"node\": "
       "\"dgx-h100\"}]}",
       "3 values; allowed: a number, or [smallest, largest]"},
      {"{\"format\": \"collsim-targets-1\", \"machines\": [{\"match\": {}}]}", "node"},
      {"{\"format\": \"collsim-targets-1\", \"machines\": [], \"skip\": [{\"match\": {}}]}", "reason"},
      {"{\"format\": \"collsim-targets-1\", \"machines\": [], \"settings\": [{\"match\": {}, \"launch\": "
       "\"fork\"}]}",
       "process"},
      {"[]", "object"},
  };
  g_autofree char *folder = temporary_folder(), *path = g_build_filename(folder, "t.json", NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    put_file(folder, "t.json", cases[i].text);
    g_assert_null(csim_targets_load(path, &error));
    g_assert_nonnull(error);
    if (!strstr(error->message, cases[i].message)) g_error("case %u: %s", i, error->message);
  }
  remove_folder(folder);
}

/* --- errors --------------------------------------------------------------------- */

static void test_stats(void) {
  CsimCompared rows[10] = {0};
  for (int i = 0; i < 10; i++) {
    rows[i].measured.size = INT64_C(1) << (10 + i);
    rows[i].slower = (i % 2 ? 1 : -1) * 0.01 * (i + 1);
    rows[i].error = fabs(rows[i].slower);
  }
  CsimErrorStats all = csim_error_stats(rows, 10, 0, INT64_MAX), some = csim_error_stats(rows, 10, 0, 2048),
                 none = csim_error_stats(rows, 10, 1 << 30, INT64_MAX);
  g_assert_cmpuint(all.n, ==, 10);
  g_assert_cmpfloat_with_epsilon(all.median, 0.055, 1e-12);
  g_assert_cmpfloat_with_epsilon(all.p90, 0.09, 1e-12);
  g_assert_cmpfloat_with_epsilon(all.max, 0.10, 1e-12);
  g_assert_cmpfloat_with_epsilon(all.bias, 0.005, 1e-12);
  g_assert_cmpuint(some.n, ==, 1);
  g_assert_cmpfloat_with_epsilon(some.p90, 0.01, 1e-12);
  g_assert_cmpuint(none.n, ==, 0);
  g_assert_true(isnan(none.median));
}

/* --- whole validations ---------------------------------------------------------- */

static CsimValidation *validate(GPtrArray *sets, CsimValidateOptions options) {
  g_autoptr(CsimTargets) targets = csim_targets_load(NULL, NULL);
  options.targets = targets;
  options.fidelity = CSIM_FIDELITY_FLOW;
  options.seed = 1;
  return csim_validate(sets, &options);
}

static const CsimSetResult *result_at(const CsimValidation *v, guint i) {
  return (const CsimSetResult *)g_ptr_array_index(v->sets, i);
}

/* The tolerance is loose: this is a test of the machinery, not of the model (the slow suite and docs/accuracy.md are). */
static void test_own_data(void) {
  static const char *const files[] = {"experiments/validation/data/gb200-2gpu-allreduce.csv",
                                      "experiments/validation/data/h200-2gpu-ring.csv"};
  g_autoptr(GPtrArray) sets = sets_new();
  for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
    g_autofree char *path = root_path(files[i]);
    g_assert_true(csim_measured_file(sets, path, NULL));
  }
  g_assert_cmpuint(sets->len, ==, 3);
  g_autoptr(CsimValidation) v = validate(sets, (CsimValidateOptions){.jobs = 2});
  g_assert_cmpuint(v->n_skipped, ==, 0);
  for (guint i = 0; i < v->sets->len; i++) {
    g_assert_cmpuint(result_at(v, i)->rows->len, ==, result_at(v, i)->set->rows->len);
    g_assert_cmpfloat(result_at(v, i)->all.median, <, 0.25);
  }
  g_assert_cmpuint(v->check.n_sets + v->derive.n_sets, ==, 3);
}

/* The same on one thread and on three, also with a size that makes no sense for the collective. */
static void test_jobs_alike(void) {
  static const char text[] = "# hardware: H100\n# nodes: 1  gpus_total: "
                             "8\ncollective,size_bytes,time_us\nall_gather,4,10\nall_gather,4096,10\nall_"
                             "gather,1000,11\nall_gather,65536,12\n";
  g_autoptr(GPtrArray) one = sets_new(), three = sets_new();
  for (int i = 0; i < 4; i++) {
    csim_measured_csv(one, "a.csv", text, strlen(text), NULL);
    csim_measured_csv(three, "a.csv", text, strlen(text), NULL);
  }
  g_autoptr(CsimValidation) a = validate(one, (CsimValidateOptions){.jobs = 1}),
                            b = validate(three, (CsimValidateOptions){.jobs = 3});
  for (guint i = 0; i < 4; i++) {
    g_assert_cmpuint(result_at(a, i)->rows->len, ==, 3); /* 4 bytes on 8 ranks: nothing to move */
    for (guint k = 0; k < 3; k++) {
      const CsimCompared *x = &g_array_index(result_at(a, i)->rows, CsimCompared, k),
                         *y = &g_array_index(result_at(b, i)->rows, CsimCompared, k);
      g_assert_cmpint(x->measured.size, ==, y->measured.size);
      g_assert_cmpfloat(x->time_us, ==, y->time_us);
    }
  }
}

static void test_limits(void) {
  static const char text[] = "# hardware: H100\n# nodes: 1  gpus_total: "
                             "8\ncollective,size_bytes,time_us\nall_reduce,8589934592,30000\n";
  g_autoptr(GPtrArray) sets = sets_new(), more = sets_new();
  csim_measured_csv(sets, "a.csv", text, strlen(text), NULL);
  g_autoptr(CsimValidation) v = validate(sets, (CsimValidateOptions){.jobs = 1, .limit_s = 1e-6});
  g_assert_nonnull(strstr(result_at(v, 0)->skipped, "time limit"));
  g_assert_cmpuint(v->check.n_sets, ==, 0);
  csim_measured_csv(more, "a.csv", text, strlen(text), NULL);
  volatile int interrupted = 1;
  g_autoptr(CsimValidation) w = validate(more, (CsimValidateOptions){.jobs = 1, .interrupt = &interrupted});
  g_assert_cmpstr(result_at(w, 0)->skipped, ==, "interrupted");
}

/* A target that gives another number of ranks than the set has is no comparison. */
static void test_wrong_ranks(void) {
  static const char text[] = "# nodes: 1  gpus_total: 6\ncollective,size_bytes,time_us\nall_reduce,1024,30\n";
  g_autoptr(GPtrArray) sets = sets_new();
  csim_measured_csv(sets, "a.csv", text, strlen(text), NULL);
  g_autoptr(CsimValidation) v = validate(sets, (CsimValidateOptions){.jobs = 1, .target = "dgx-h100*2"});
  g_assert_nonnull(strstr(result_at(v, 0)->skipped, "ranks"));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/validate/csv/plain", test_csv_plain);
  g_test_add_func("/validate/csv/busbw-only", test_csv_busbw_only);
  g_test_add_func("/validate/csv/series", test_csv_series);
  g_test_add_func("/validate/csv/repeats", test_csv_repeats);
  g_test_add_func("/validate/csv/quotes", test_csv_quotes);
  g_test_add_func("/validate/csv/junk", test_csv_junk);
  g_test_add_func("/validate/log", test_log);
  g_test_add_func("/validate/folder", test_folder);
  g_test_add_func("/validate/words", test_words);
  for (guint i = 0; i < G_N_ELEMENTS(mappings); i++) {
    g_autofree char *name = g_strdup_printf("/validate/mapping/%u", i);
    g_test_add_data_func(name, &mappings[i], test_mapping);
  }
  g_test_add_func("/validate/bad-targets", test_bad_targets);
  g_test_add_func("/validate/stats", test_stats);
  g_test_add_func("/validate/own-data", test_own_data);
  g_test_add_func("/validate/jobs-alike", test_jobs_alike);
  g_test_add_func("/validate/limits", test_limits);
  g_test_add_func("/validate/wrong-ranks", test_wrong_ranks);
  return g_test_run();
}
