/* PCIe arithmetic, and copy engines against what two machines measured. */
#include "models/copy.h"

#include "base/units.h"
#include <math.h>
#include <string.h>

/* The rows of a measured file that are claims: 4 KiB and more. Both directions at once: bw counts both, size one. */
static char *reference_file(const char *name) {
  const char *reference = g_getenv("COLLSIM_REFERENCE"), *root = g_getenv("COLLSIM_SOURCE_ROOT");
  g_autofree char *base = reference != NULL
                              ? g_strdup(reference)
                              : g_build_filename(root != NULL ? root : ".", "..", "shared", NULL);
  return g_build_filename(base, "measurements", name, NULL);
}

static gboolean read_rows(const char *name, char ***rows) {
  g_autofree char *path = reference_file(name);
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) {
    g_test_skip("the measured copies are not there (COLLSIM_REFERENCE)");
    return FALSE;
  }
  *rows = g_strsplit(text, "\n", -1);
  return TRUE;
}

static gboolean kind_of(const char *name, CsimCopyKind *kind) {
  for (int k = 0; k < CSIM_N_COPIES; k++)
    if (strcmp(csim_copy_kind_name((CsimCopyKind)k), name) == 0) {
      *kind = (CsimCopyKind)k;
      return TRUE;
    }
  return FALSE;
}

static double check_row(const CsimCopyModel *model, CsimCopyKind kind, CsimBytes bytes, double measured_us) {
  double predicted = csim_time_us(csim_copy_time(model, kind, bytes));
  double error = predicted / measured_us - 1;
  g_test_message("%s %" G_GINT64_FORMAT ": measured %.2f us, predicted %.2f us, %+.1f %%",
                 csim_copy_kind_name(kind), bytes, measured_us, predicted, 100 * error);
  return fabs(error);
}

static void init_h200(CsimCopyModel *model) {
  g_autoptr(CsimCatalogue) c = csim_catalogue_new(NULL, NULL, NULL);
  csim_copy_model_init(c, "h200", 48, 18, model);
}

static void test_host_copies(void) {
  g_auto(GStrv) rows = NULL;
  CsimCopyModel model;
  guint checked = 0;
  if (!read_rows("h200-single/cuda-copies.csv", &rows)) return;
  init_h200(&model);
  for (guint i = 1; rows[i] != NULL; i++) {
    g_auto(GStrv) field = g_strsplit(rows[i], ",", -1);
    CsimCopyKind kind = CSIM_N_COPIES;
    if (g_strv_length(field) < 3 || !kind_of(field[0], &kind) || kind == CSIM_COPY_LOCAL) continue;
    CsimBytes bytes = g_ascii_strtoll(field[1], NULL, 10);
    if (bytes < 4096) continue;
    g_assert_cmpfloat(check_row(&model, kind, bytes, g_ascii_strtod(field[2], NULL)), <, 0.10);
    checked++;
  }
  g_assert_cmpuint(checked, ==, 30); /* three kinds, 4 KiB to 1 GiB in steps of 4 */
}

static void test_local_copies(void) {
  g_auto(GStrv) rows = NULL;
  CsimCopyModel model;
  if (!read_rows("h200-single/cuda-copies.csv", &rows)) return;
  init_h200(&model);
  for (guint i = 1; rows[i] != NULL; i++) {
    g_auto(GStrv) field = g_strsplit(rows[i], ",", -1);
    if (g_strv_length(field) < 3 || strcmp(field[0], "d2d") != 0) continue;
    CsimBytes bytes = g_ascii_strtoll(field[1], NULL, 10);
    /* 16 MiB runs out of L2, which this model does not have. */
    g_assert_cmpfloat(check_row(&model, CSIM_COPY_LOCAL, bytes, g_ascii_strtod(field[2], NULL)), <,
                      bytes == 16 << 20 ? 0.30 : 0.10);
  }
}

static void test_peer_copies(void) {
  g_auto(GStrv) rows = NULL;
  CsimCopyModel model;
  guint checked = 0;
  if (!read_rows("h200-pair/p2p.csv", &rows)) return;
  init_h200(&model);
  for (guint i = 2; rows[i] != NULL; i++) {
    g_auto(GStrv) field = g_strsplit(rows[i], ",", -1);
    CsimCopyKind kind = CSIM_N_COPIES;
    if (g_strv_length(field) < 4 || !kind_of(field[0], &kind)) continue;
    double us = g_ascii_strtod(field[3], NULL);
    CsimBytes bytes = g_ascii_strtoll(field[2], NULL, 10);
    g_assert_cmpfloat(check_row(&model, kind, bytes, us), <, 0.05);
    checked++;
  }
  g_assert_cmpuint(checked, ==, 16);
}

static void test_pcie_arithmetic(void) {
  g_autoptr(CsimCatalogue) c = csim_catalogue_new(NULL, NULL, NULL);
  CsimPcieModel p;
  csim_pcie_model_init(c, &p);
  p.share = 1;
  static const struct {
    double nccl, raw;
  } links[] = {{12, 15.75e9}, {24, 31.5e9}, {48, 63.0e9}, {96, 118e9}, {6, 7.88e9}};
  for (gsize i = 0; i < G_N_ELEMENTS(links); i++)
    g_assert_cmpfloat_with_epsilon(csim_pcie_raw_rate(&p, links[i].nccl) / links[i].raw, 1, 2e-3);
  static const struct {
    double payload, efficiency;
  } writes[] = {{64, 0.696}, {128, 0.821}, {256, 0.901}, {512, 0.948}};
  for (gsize i = 0; i < G_N_ELEMENTS(writes); i++)
    g_assert_cmpfloat_with_epsilon(csim_pcie_write_efficiency(&p, 63e9, writes[i].payload),
                                   writes[i].efficiency, 6e-4);
  g_assert_cmpfloat_with_epsilon(csim_pcie_read_efficiency(&p, 63e9, 64), 0.727, 6e-4);
  g_assert_cmpfloat_with_epsilon(csim_pcie_write_efficiency(&p, 118e9, 256) * 118, 111, 0.1);
}

static void test_without_nvlink(void) {
  g_autoptr(CsimCatalogue) c = csim_catalogue_new(NULL, NULL, NULL);
  CsimCopyModel model;
  csim_copy_model_init(c, "l40s", 24, 0, &model);
  g_assert_cmpint(model.rate[CSIM_COPY_PEER], ==, model.rate[CSIM_COPY_D2H]);
  g_assert_cmpint(csim_copy_time(&model, CSIM_COPY_D2H, 0), ==, model.latency[CSIM_COPY_D2H]);
  g_assert_cmpint(model.rate[CSIM_COPY_BOTH], <, model.rate[CSIM_COPY_D2H]);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/copy/pcie-arithmetic", test_pcie_arithmetic);
  g_test_add_func("/copy/host-copies-measured", test_host_copies);
  g_test_add_func("/copy/local-copies-measured", test_local_copies);
  g_test_add_func("/copy/peer-copies-measured", test_peer_copies);
  g_test_add_func("/copy/without-nvlink", test_without_nvlink);
  return g_test_run();
}
