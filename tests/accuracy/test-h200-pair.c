/*
 * Predictions against two real H200 over NVSwitch (NCCL 2.28.3, NVLS off, a virtual machine; measured 2026-11). The data lie with the
 * reference (COLLSIM_REFERENCE); without it the tests are skipped.
 */
#include "lab.h"

#include <math.h>
#include <stdlib.h>

static char *reference(const char *file) {
  const char *root = g_getenv("COLLSIM_REFERENCE");
  g_autofree char *path = g_build_filename(root ? root : "../shared", "measurements", "h200-pair", file, NULL);
  return g_file_test(path, G_FILE_TEST_EXISTS) ? g_steal_pointer(&path) : NULL;
}

static Lab *pair(const char *const *env) {
  g_autofree char *topo = reference("topo.xml");
  CsimExecSpec spec = {.iters = 20, .seed = 1, .launch = CSIM_LAUNCH_SINGLE, .virtual_machine = TRUE};
  return topo ? lab_new(topo, 0, env, NULL, &spec) : NULL;
}

typedef struct { CsimColl coll; CsimBytes bytes; double us; } Row;

/* Rows of nccl2.csv with that tag: tag,gpus,collective,size_bytes,time_us,algbw_GBps. */
static GArray *rows(const char *tag) {
  GArray *out = g_array_new(FALSE, FALSE, sizeof(Row));
  g_autofree char *path = reference("nccl2.csv"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (char **line = lines + 1; *line; line++) {
    g_auto(GStrv) field = g_strsplit(*line, ",", -1);
    Row row;
    if (g_strv_length(field) < 5 || !g_str_equal(field[0], tag) || !csim_coll_parse(field[2], &row.coll)) continue;
    row.bytes = g_ascii_strtoll(field[3], NULL, 10);
    row.us = g_ascii_strtod(field[4], NULL);
    g_array_append_val(out, row);
  }
  return out;
}

static gint by_value(gconstpointer a, gconstpointer b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* all_reduce, Ring, Simple, 1 GiB, by number of channels: each within 12 %. */
static void test_channels(void) {
  static const int channels[] = {1, 2, 4, 8, 16, 24};
  g_autofree char *topo = reference("topo.xml");
  if (!topo) {
    g_test_skip("reference measurements are not there");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS(channels); i++) {
    g_autofree char *min = g_strdup_printf("NCCL_MIN_NCHANNELS=%d", channels[i]), *max = g_strdup_printf("NCCL_MAX_NCHANNELS=%d", channels[i]);
    g_autofree char *tag = g_strdup_printf("Ring-Simple-ch%d", channels[i]);
    const char *env[] = {"NCCL_NVLS_ENABLE=0", "NCCL_ALGO=Ring", "NCCL_PROTO=Simple", min, max, NULL};
    g_autoptr(Lab) lab = pair(env);
    g_autoptr(GArray) measured = rows(tag);
    for (guint k = 0; k < measured->len; k++) {
      const Row *row = &g_array_index(measured, Row, k);
      if (row->bytes != 1 << 30) continue;
      double us = lab_call(lab, row->coll, row->bytes).time_us, error = us / row->us - 1;
      g_test_message("%2d channels: measured %9.1f us, predicted %9.1f us, %+.1f %%", channels[i], row->us, us, 100 * error);
      g_assert_cmpfloat(fabs(error), <, 0.12);
    }
  }
}

/* The default all_reduce sweep from 64 KiB to 8 GiB: median within 10 %. */
static void test_default(void) {
  static const char *const env[] = {"NCCL_NVLS_ENABLE=0", NULL};
  g_autoptr(Lab) lab = pair(env);
  if (!lab) {
    g_test_skip("reference measurements are not there");
    return;
  }
  g_autoptr(GArray) measured = rows("default"), errors = g_array_new(FALSE, FALSE, sizeof(double));
  for (guint k = 0; k < measured->len; k++) {
    const Row *row = &g_array_index(measured, Row, k);
    if (row->coll != CSIM_COLL_ALL_REDUCE || row->bytes < 65536) continue;
    double us = lab_call(lab, row->coll, row->bytes).time_us, error = fabs(us / row->us - 1);
    g_test_message("%10" G_GINT64_FORMAT " B: measured %9.1f us, predicted %9.1f us, %+.1f %%", row->bytes, row->us, us, 100 * (us / row->us - 1));
    g_array_append_val(errors, error);
  }
  g_assert_cmpuint(errors->len, >, 10);
  g_array_sort(errors, by_value);
  double median = g_array_index(errors, double, errors->len / 2);
  g_test_message("median %.1f %%", 100 * median);
  g_assert_cmpfloat(median, <, 0.10);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/accuracy/h200-pair/channels", test_channels);
  g_test_add_func("/accuracy/h200-pair/default", test_default);
  return g_test_run();
}
