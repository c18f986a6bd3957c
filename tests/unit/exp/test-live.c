/* Constants from basic probes: which rows give which constant, and that the file they make is a catalogue. */
#include "base/units.h"
#include "exp/live.h"
#include "models/net.h"
#include "probe/copies.h"
#include "probe/sockets.h"

#include <glib/gstdio.h>
#include <string.h>

static const CsimLiveConstant *find(const GPtrArray *list, const char *name) {
  for (guint i = 0; i < list->len; i++) {
    const CsimLiveConstant *c = (const CsimLiveConstant *)g_ptr_array_index(list, i);
    if (!strcmp(c->name, name)) return c;
  }
  return NULL;
}

static void assert_value(const GPtrArray *list, const char *name, const char *value) {
  const CsimLiveConstant *c = find(list, name);
  g_assert_nonnull(c);
  g_assert_cmpstr(c->value, ==, value);
}

/* The pair of H200 that the project measured (2026-11): its flag, and kernels' rate between 64 and 256 MiB at 360 GB/s. */
static GArray *pair_copies(void) {
  static const CsimCopyRow rows[] = {
      {"h2d", 0, -1, 0, 4, 3.6, 0},
      {"h2d", 0, -1, 0, 1 << 30, 19420, 55.3},
      {"d2d", 0, -1, 0, 4, 5.9, 0},
      {"d2d", 0, -1, 0, 1 << 30, 509.3, 2108},
      {"ce_write", 0, 1, 0, 4, 4.9, 0},
      {"ce_write", 0, 1, 0, 1 << 30, 2707.9, 396.54},
      {"sm_write", 0, 1, 1, 64 << 20, 2630.7, 25.5},
      {"sm_write", 0, 1, 132, 64 << 20, 189.3, 354.5},
      {"sm_write", 0, 1, 132, 256 << 20, 189.3 + 559.2405, 358.6},
      {"flag_oneway", 0, 1, 0, 4, 0.6212, 0},
  };
  GArray *out = g_array_new(FALSE, FALSE, sizeof(CsimCopyRow));
  return g_array_append_vals(out, rows, G_N_ELEMENTS(rows));
}

static void test_copies(void) {
  g_autoptr(GArray) copies = pair_copies();
  g_autoptr(CsimCatalogue) catalogue = csim_catalogue_new(NULL, NULL, NULL);
  CsimLiveBasics basics = {.copies = copies, .n_ranks = 2, .gpu_model = "h200", .gpu = {18, 4}};
  g_autoptr(GPtrArray) list = csim_live_calibrate(&basics, catalogue);
  assert_value(list, "gpu.h200.flag_latency", "621ns");
  assert_value(list, "gpu.h200.hop_latency", "701ns");
  assert_value(list, "gpu.h200.h2d_latency", "3600ns");
  assert_value(list, "gpu.h200.local_copy_rate", "2108GB/s");
  assert_value(list, "nvlink.4.copy", "22.03GB/s");
  assert_value(list, "nvlink.4.kernel", "20GB/s");
  g_assert_cmpstr(find(list, "gpu.h200.flag_latency")->old, ==, "620ns");
  g_assert_null(find(list, "socket.share"));
}

/* One size of sm_write tells no rate; no NVLink, no rate of it. */
static void test_too_little(void) {
  g_autoptr(GArray) copies = pair_copies();
  g_autoptr(CsimCatalogue) catalogue = csim_catalogue_new(NULL, NULL, NULL);
  CsimLiveBasics basics = {.copies = copies, .n_ranks = 2, .gpu_model = "h200"};
  g_autoptr(GPtrArray) none = csim_live_calibrate(&basics, catalogue);
  g_assert_null(find(none, "nvlink.4.copy"));
  g_array_remove_index(copies, 8);
  basics.gpu.nvlinks = 18;
  basics.gpu.nvlink_gen = 4;
  g_autoptr(GPtrArray) list = csim_live_calibrate(&basics, catalogue);
  g_assert_null(find(list, "nvlink.4.kernel"));
  g_assert_nonnull(find(list, "nvlink.4.copy"));
}

static void test_sockets(void) {
  static const CsimSocketRow rows[] = {
      {"pingpong", 4, 8, 16, 0}, {"pingpong", 4, 128, 17, 0}, {"stream", 4, 1 << 19, 0, 0.4963}, {"ring", 4, 1 << 19, 0, 0.4941}};
  g_autoptr(GArray) sockets = g_array_new(FALSE, FALSE, sizeof(CsimSocketRow));
  g_array_append_vals(sockets, rows, G_N_ELEMENTS(rows));
  g_autoptr(CsimCatalogue) catalogue = csim_catalogue_new(NULL, NULL, NULL);
  CsimLiveBasics basics = {.sockets = sockets, .n_ranks = 4, .nic_gbps = 1.25};
  g_autoptr(GPtrArray) list = csim_live_calibrate(&basics, catalogue);
  /* Half of the pingpong's 16 us beyond the catalogue's step. */
  double step_us = (double)csim_catalogue_time(catalogue, "socket.step") * 1e-6;
  g_assert_cmpfloat_with_epsilon(g_ascii_strtod(find(list, "socket.endpoint")->value, NULL), (16 - step_us) / 2 * 1e3, 1);
  assert_value(list, "socket.stream", "0.4963GB/s");
  CsimNetModel net;
  csim_net_model_init(catalogue, "socket", 0, &net);
  g_assert_cmpfloat_with_epsilon(g_ascii_strtod(find(list, "socket.share")->value, NULL), 0.4941 / (1.25 * net.efficiency), 1e-4);
  g_assert_null(find(list, "gpu.h200.h2d_latency"));
}

/* The file is a layer over the catalogue, and a socket link then has the rate that was measured. */
static void test_file(void) {
  static const CsimSocketRow rows[] = {{"ring", 2, 1 << 19, 0, 0.4941}};
  g_autoptr(GArray) sockets = g_array_new(FALSE, FALSE, sizeof(CsimSocketRow));
  g_array_append_vals(sockets, rows, 1);
  g_autoptr(CsimCatalogue) catalogue = csim_catalogue_new(NULL, NULL, NULL);
  CsimLiveBasics basics = {.sockets = sockets, .n_ranks = 2, .nic_gbps = 1.25};
  g_autoptr(GPtrArray) list = csim_live_calibrate(&basics, catalogue);
  g_autofree char *json = csim_live_constants_json(list, "a test"), *path = NULL;
  g_autoptr(GError) error = NULL;
  int fd = g_file_open_tmp("collsim-live-XXXXXX.json", &path, &error);
  g_assert_no_error(error);
  g_close(fd, NULL);
  g_assert_true(g_file_set_contents(path, json, -1, NULL));
  g_autoptr(CsimCatalogue) mine = csim_catalogue_new(path, NULL, &error);
  g_assert_no_error(error);
  CsimNetModel net;
  csim_net_model_init(mine, "socket", 0, &net);
  g_assert_cmpfloat_with_epsilon((double)csim_net_payload_rate(&net, 1250000000) * 1e-9, 0.4941, 1e-4);
  g_assert_nonnull(strstr(csim_catalogue_find(mine, "socket.share")->source, "a test: probe sockets, ring of 2 ranks"));
  g_unlink(path);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/exp/live/copies", test_copies);
  g_test_add_func("/exp/live/too-little", test_too_little);
  g_test_add_func("/exp/live/sockets", test_sockets);
  g_test_add_func("/exp/live/file", test_file);
  return g_test_run();
}
