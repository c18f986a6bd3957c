/* Tables, counts, libraries and watched processes of the probes, without hardware. */
#include "probe/child.h"
#include "probe/library.h"
#include "probe/nccl-run.h"
#include "probe/nccl.h"
#include "probe/sockets.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* --- table ------------------------------------------------------------------------ */

static CsimProbeTable *small_table(void) {
  static const char *const columns[] = {"test", "size_bytes", "bw_gbps", NULL};
  CsimProbeTable *table = csim_probe_table_new(columns);
  csim_probe_table_fact(table, "hardware", "%s", "one\nGPU");
  csim_probe_table_fact(table, "nothing", "%s", " ");
  csim_probe_table_row(table, (const char *const[]){"a,b", "1024", "1.5", NULL});
  csim_probe_table_row(table, (const char *const[]){"c", "8", NULL, NULL});
  return table;
}

static void test_csv(void) {
  g_autoptr(CsimProbeTable) table = small_table();
  g_autoptr(GString) out = g_string_new(NULL);
  csim_probe_table_csv(table, out);
  g_assert_cmpstr(out->str, ==, "# hardware: one GPU\ntest,size_bytes,bw_gbps\n\"a,b\",1024,1.5\nc,8,\n");
  csim_probe_table_fact(table, "hardware", "two");
  g_assert_cmpstr(csim_probe_table_get(table, "hardware"), ==, "two");
  g_assert_null(csim_probe_table_get(table, "nothing"));
}

static void test_json(void) {
  g_autoptr(CsimProbeTable) table = small_table();
  g_autoptr(GString) out = g_string_new(NULL);
  csim_probe_table_json(table, out);
  g_assert_nonnull(strstr(out->str, "\"facts\":{\"hardware\":\"one GPU\"}"));
  g_assert_nonnull(strstr(out->str, "{\"test\":\"a,b\",\"size_bytes\":1024,\"bw_gbps\":1.5}"));
  g_assert_nonnull(strstr(out->str, "{\"test\":\"c\",\"size_bytes\":8,\"bw_gbps\":null}"));
}

/* --- NCCL's counts ------------------------------------------------------------------ */

static void check_counts(CsimColl coll, int n, CsimBytes size, gsize send, gsize recv, CsimBytes shown, double factor) {
  CsimNcclCounts c = csim_nccl_counts(coll, n, size);
  g_assert_cmpuint(c.send, ==, send);
  g_assert_cmpuint(c.recv, ==, recv);
  g_assert_cmpint(c.size, ==, shown);
  g_assert_cmpfloat_with_epsilon(c.factor, factor, 1e-12);
}

/* As nccl-tests counts them: parts of a rank are multiples of 16 bytes. */
static void test_counts(void) {
  check_counts(CSIM_COLL_ALL_REDUCE, 8, 1024, 256, 256, 1024, 2 * 7.0 / 8);
  check_counts(CSIM_COLL_ALL_REDUCE, 2, 10, 2, 2, 8, 1);
  check_counts(CSIM_COLL_ALL_GATHER, 8, 1024, 32, 256, 1024, 7.0 / 8);
  check_counts(CSIM_COLL_ALL_GATHER, 8, 64, 0, 0, 0, 7.0 / 8);
  check_counts(CSIM_COLL_REDUCE_SCATTER, 3, 1000, 240, 80, 960, 2.0 / 3);
  check_counts(CSIM_COLL_ALLTOALL, 4, 256, 64, 64, 256, 0.75);
  check_counts(CSIM_COLL_BROADCAST, 4, 256, 64, 64, 256, 1);
  check_counts(CSIM_COLL_SCATTER, 4, 256, 64, 16, 256, 0.75);
  check_counts(CSIM_COLL_SENDRECV, 4, 8, 2, 2, 8, 1);
}

static void test_version(void) {
  g_autofree char *new = csim_nccl_version_text(22803), *old = csim_nccl_version_text(2708);
  g_assert_cmpstr(new, ==, "2.28.3");
  g_assert_cmpstr(old, ==, "2.7.8");
}

/* --- libraries ---------------------------------------------------------------------- */

typedef struct {
  double (*cosine)(double);
  void (*missing)(void);
} Maths;

static void test_library(void) {
  static const char *const files[] = {"libm.so.6", NULL}, *const absent[] = {"libnothing-there.so.3", NULL};
  const CsimSymbol good[] = {CSIM_SYMBOL(Maths, cosine, "cos"), CSIM_SYMBOL_OPTIONAL(Maths, missing, "no_such_function"), {NULL, 0, FALSE}};
  const CsimSymbol bad[] = {CSIM_SYMBOL(Maths, missing, "no_such_function"), {NULL, 0, FALSE}};
  CsimLibrary library = {"maths", files, "ask a mathematician", good};
  g_autoptr(GError) error = NULL;
  const char *found = NULL;
  Maths maths = {0};
  g_assert_true(csim_library_open(&library, NULL, &maths, &found, &error));
  g_assert_cmpfloat(maths.cosine(0), ==, 1);
  g_assert_null(maths.missing);
  g_assert_cmpstr(found, ==, "libm.so.6");
  library.symbols = bad;
  g_assert_false(csim_library_open(&library, NULL, &maths, NULL, &error));
  g_assert_cmpstr(error->message, ==, "libm.so.6 (maths) has no no_such_function: too old; ask a mathematician");
  g_clear_error(&error);
  library.files = absent;
  g_assert_false(csim_library_open(&library, NULL, &maths, NULL, &error));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED);
  g_assert_cmpstr(error->message, ==, "no libnothing-there.so.3 (maths) on this machine; ask a mathematician");
}

/* --- children ------------------------------------------------------------------------ */

typedef struct {
  CsimChildHeader header;
  pid_t pids[4];
} Shared;
enum { WORKS, FAILS, DIES, HANGS };

static gboolean work(guint index, gpointer data, gconstpointer options, GError **error) {
  Shared *shared = (Shared *)data;
  int how = index == 1 ? *(const int *)options : WORKS;
  shared->pids[index] = getpid();
  g_atomic_int_inc(&shared->header.done);
  if (how == DIES) raise(SIGKILL);
  if (how == HANGS || (index == 2 && *(const int *)options != WORKS)) pause();
  if (how == FAILS) g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "wrong in %u", index);
  return how != FAILS;
}

/* Three children, of which number 1 behaves as told and number 2 then waits for ever. */
static void run_children(int how, gboolean expected, int code, const char *message) {
  g_autoptr(GError) error = NULL;
  Shared *shared = (Shared *)csim_shared_new(sizeof *shared, NULL);
  CsimChildren children = {.n = 3, .work = work, .shared = shared, .options = &how, .limit_s = how == HANGS ? 0.3 : 30};
  g_assert_true(csim_children_run(&children, &error) == expected);
  if (!expected) {
    g_assert_error(error, CSIM_ERROR, code);
    g_assert_nonnull(strstr(error->message, message));
  }
  for (int i = 0; i < 3; i++) /* none is left, not even as a zombie */
    if (shared->pids[i]) g_assert_cmpint(kill(shared->pids[i], 0), ==, -1);
  if (expected) g_assert_cmpint(shared->header.done, ==, 3);
  csim_shared_free(shared, sizeof *shared);
}

static void test_children(void) {
  run_children(WORKS, TRUE, 0, NULL);
  run_children(FAILS, FALSE, CSIM_ERROR_VALUE, "wrong in 1");
  run_children(DIES, FALSE, CSIM_ERROR_IO, "died of signal 9");
  run_children(HANGS, FALSE, CSIM_ERROR_LIMIT, "did not end in 0.3 s");
}

/* --- sockets ------------------------------------------------------------------------- */

static void test_sockets(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(CsimSocketRow));
  CsimSocketOptions options = {.n_ranks = 2, .limit_s = 60};
  g_assert_true(csim_probe_sockets(&options, rows, &error));
  g_assert_cmpuint(rows->len, ==, 8);
  for (guint i = 0; i < rows->len; i++) {
    const CsimSocketRow *r = &g_array_index(rows, CsimSocketRow, i);
    g_assert_true(r->time_us > 0 || r->bw_gbps > 0);
  }
  options.n_ranks = 1;
  g_assert_false(csim_probe_sockets(&options, rows, &error));
  g_assert_error(error, CSIM_ERROR, CSIM_ERROR_VALUE);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/probe/csv", test_csv);
  g_test_add_func("/probe/json", test_json);
  g_test_add_func("/probe/counts", test_counts);
  g_test_add_func("/probe/version", test_version);
  g_test_add_func("/probe/library", test_library);
  g_test_add_func("/probe/children", test_children);
  g_test_add_func("/probe/sockets", test_sockets);
  return g_test_run();
}
