/* The reader of nccl-tests logs: versions, mixtures, several runs. */
#include "exp/logs.h"

#include <math.h>
#include <string.h>

static CsimLog *parse(const char *text) {
  g_autoptr(GError) error = NULL;
  CsimLog *log = csim_log_parse("all.log", text, strlen(text), &error);
  g_assert_no_error(error);
  return log;
}

#define HEAD                                                                                                 \
  "# nccl-tests version 2.17.6 nccl-headers=22803 nccl-library=22803\n"                                      \
  "# Collective test starting: all_gather_perf\n"                                                            \
  "# nThread 1 nGpus 2 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 "       \
  "validation: 1 graph: 0\n"                                                                                 \
  "#\n# Using devices\n"                                                                                     \
  "#  Rank  0 Group  0 Pid   4711 on      node1 device  0 [0000:0f:00] NVIDIA H100 80GB HBM3\n"              \
  "#  Rank  1 Group  0 Pid   4712 on      node2 device  0 [0000:0f:00] NVIDIA H100 80GB HBM3\n"              \
  "#\n#                                                              out-of-place                       "    \
  "in-place          \n"                                                                                     \
  "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   " \
  "busbw #wrong\n"                                                                                           \
  "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  "  \
  "(GB/s)       \n"

static void test_new(void) {
  g_autoptr(CsimLog) log = parse(HEAD "     1048576        131072     float    none      -1    31.42   33.37 "
                                      "  16.69      0    30.00   34.95   17.48    N/A\n"
                                      "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 17.085 \n#\n# "
                                      "Collective test concluded: all_gather_perf\n");
  g_assert_cmpuint(log->runs->len, ==, 1);
  const CsimLogRun *run = csim_log_run(log, 0);
  g_assert_cmpint(run->coll, ==, CSIM_COLL_ALL_GATHER);
  g_assert_cmpint(run->coll_from, ==, CSIM_LOG_COLL_HEADER);
  g_assert_cmpint(run->n_ranks, ==, 2);
  g_assert_cmpint(run->n_hosts, ==, 2);
  g_assert_cmpint(run->gpus, ==, 2);
  g_assert_cmpint(run->iters, ==, 20);
  g_assert_cmpint(run->warmup, ==, 5);
  g_assert_cmpstr(run->nccl_version, ==, "2.28.3");
  g_assert_cmpstr(run->tests_version, ==, "2.17.6");
  g_assert_cmpstr(g_array_index(run->devices, CsimLogDevice, 0).name, ==, "NVIDIA H100 80GB HBM3");
  g_assert_cmpfloat(run->avg_busbw.value, ==, 17.085);
  g_assert_cmpuint(run->rows->len, ==, 1);
  const CsimLogRow *row = csim_log_row(run, 0);
  g_assert_cmpint(row->size, ==, 1048576);
  g_assert_cmpint(row->root, ==, -1);
  g_assert_cmpstr(row->redop, ==, "none");
  g_assert_cmpfloat(row->out.time_us.value, ==, 31.42);
  g_assert_cmpfloat_with_epsilon(row->out.time_us.half, 0.005, 1e-12);
  g_assert_cmpfloat(row->in.busbw.value, ==, 17.48);
  g_assert_cmpfloat(row->out.wrong, ==, 0);
  g_assert_true(isnan(row->in.wrong));
  g_assert_cmpuint(row->loc.line, ==, 12);
}

/* Before 2.13: no root column, blank redop, an error column that may be N/A; no name but the command's. */
static void test_old(void) {
  g_autoptr(CsimLog) log = parse("$ mpirun -np 4 ./build/alltoall_perf -b 8 -e 64\n"
                                 "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 "
                                 "iters: 20 validation: 1 \n#\n"
                                 "#   Rank  0 Pid  11 on a device  0 [0x0f] Tesla V100-SXM2-32GB\n"
                                 "#       size         count      type   redop     time   algbw   busbw  "
                                 "error     time   algbw   busbw  error\n"
                                 "          64             4     float            21.3    0.00    0.00  "
                                 "0e+00     20.9    0.00    0.00    N/A\n");
  const CsimLogRun *run = csim_log_run(log, 0);
  g_assert_cmpint(run->coll, ==, CSIM_COLL_ALLTOALL);
  g_assert_cmpint(run->coll_from, ==, CSIM_LOG_COLL_COMMAND);
  g_assert_cmpuint(run->rows->len, ==, 1);
  g_assert_cmpstr(csim_log_row(run, 0)->redop, ==, "");
  g_assert_cmpfloat(csim_log_row(run, 0)->in.time_us.value, ==, 20.9);
  g_assert_cmpstr(g_array_index(run->devices, CsimLogDevice, 0).bus, ==, "0x0f");
}

/* NCCL speaks between a row's halves, the host right after the root; lines carry tags of mpirun. */
static void test_mixed(void) {
  g_autoptr(CsimLog) log =
      parse(HEAD "node1:4711:4711 [0] NCCL INFO NCCL version 2.28.3+cuda13.0\n"
                 "[1,0]<stdout>:     1048576        131072     float    none      -1node1:4711:4720 [0] NCCL "
                 "INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
                 "[1,1]<stdout>:node2:4712:4721 [0] NCCL INFO Connected all rings\n"
                 "[2025-01-02 03:04:05] node2:4712:4721 [0] misc/x.cc:12 (f) NCCL WARN something\n"
                 "    31.42   33.37   16.69      0    30.00   34.95   17.48      0\n"
                 "     2097152        262144     float    none      -1    61.42   34.14   17.07      0    "
                 "60.00   34.95   17.48      0\n");
  const CsimLogRun *run = csim_log_run(log, 0);
  g_assert_cmpuint(run->rows->len, ==, 2);
  g_assert_cmpfloat(csim_log_row(run, 0)->out.time_us.value, ==, 31.42);
  g_assert_cmpint(csim_log_row(run, 0)->root, ==, -1);
  g_assert_cmpuint(csim_log_row(run, 0)->loc.line, ==, 13);
  g_assert_cmpuint(log->debug->len, ==, 4);
  g_assert_cmpstr(csim_log_debug(log, 1)->host, ==, "node1");
  g_assert_cmpstr(csim_log_debug(log, 1)->text, ==, "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM");
  g_assert_cmpstr(csim_log_debug(log, 2)->host, ==, "node2");
  g_assert_cmpint(csim_log_debug(log, 2)->pid, ==, 4712);
  g_assert_cmpint(csim_log_debug(log, 3)->level, ==, CSIM_LOG_WARN);
  g_assert_cmpint(csim_log_debug(log, 3)->dev, ==, 0);
  g_assert_cmpstr(csim_log_debug(log, 3)->text, ==, "something");
}

static void test_several(void) {
  g_autoptr(CsimLog) log =
      parse(HEAD "     8  1  float  none  -1  1.00  0.01  0.00  0  1.00  0.01  0.00  0\n# Avg bus bandwidth  "
                 "  : 1 \n" HEAD "     8  1  float  none  -1  1.00  0.01  0.00  0  1.00  0.01  0.00  0\n"
                 "     16  2  float  none  -1  1.00  0.02  0.00  0  1.00  0.02  0.00  0\n");
  g_assert_cmpuint(log->runs->len, ==, 2);
  g_assert_cmpuint(csim_log_run(log, 0)->rows->len, ==, 1);
  g_assert_cmpuint(csim_log_run(log, 1)->rows->len, ==, 2);
  g_assert_true(isnan(csim_log_run(log, 1)->avg_busbw.value));
}

/* A row quoted alone. */
static void test_fragment(void) {
  g_autoptr(CsimLog) log =
      parse("  1073741824     268435456     float     sum      -1    4012.9  267.57  468.26      0\n"
            "33554432 8388608 float sum 175.9 190.80 333.9\n");
  g_assert_cmpuint(log->runs->len, ==, 1);
  const CsimLogRun *run = csim_log_run(log, 0);
  g_assert_cmpuint(run->rows->len, ==, 2);
  g_assert_false(csim_log_row(run, 0)->has_in);
  g_assert_cmpfloat(csim_log_row(run, 0)->out.busbw.value, ==, 468.26);
  g_assert_cmpfloat(csim_log_row(run, 1)->out.time_us.value, ==, 175.9);
  g_assert_cmpint(run->coll_from, ==, CSIM_LOG_COLL_UNKNOWN);
}

static void test_numbers(void) {
  CsimLogNumber n;
  g_assert_true(csim_log_number_parse("1.2e+03", &n));
  g_assert_cmpfloat_with_epsilon(n.half, 50, 1e-9);
  g_assert_true(csim_log_number_parse("N/A", &n));
  g_assert_true(isnan(n.value));
  g_assert_false(csim_log_number_parse("12x", &n));
  g_assert_false(csim_log_number_parse("", &n));
}

static void test_nothing(void) {
  g_autoptr(CsimLog) log = parse("hello\nworld # nothing\n\n");
  g_assert_cmpuint(log->runs->len, ==, 0);
  g_assert_cmpuint(log->n_lines, ==, 3);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/logs/new", test_new);
  g_test_add_func("/logs/old", test_old);
  g_test_add_func("/logs/mixed", test_mixed);
  g_test_add_func("/logs/several", test_several);
  g_test_add_func("/logs/fragment", test_fragment);
  g_test_add_func("/logs/numbers", test_numbers);
  g_test_add_func("/logs/nothing", test_nothing);
  return g_test_run();
}
