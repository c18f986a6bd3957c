/* The catalogue: shipped data whole and sourced, inheritance, overlays, --set, messages. */
#include "models/catalogue.h"
#include "models/gpu.h"
#include "models/net.h"

#include <glib/gstdio.h>
#include <string.h>

static CsimCatalogue *shipped(void) {
  g_autoptr(GError) error = NULL;
  CsimCatalogue *c = csim_catalogue_new(NULL, NULL, &error);
  g_assert_no_error(error);
  return c;
}

static CsimCatalogue *with_set(const char *set) {
  const char *sets[] = {set, NULL};
  g_autoptr(GError) error = NULL;
  CsimCatalogue *c = csim_catalogue_new(NULL, sets, &error);
  g_assert_no_error(error);
  return c;
}

static CsimCatalogue *with_file(const char *text, GError **error) {
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp("collsim-XXXXXX.json", &path, NULL);
  g_assert_cmpint(fd, >=, 0);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  CsimCatalogue *c = csim_catalogue_new(path, NULL, error);
  g_unlink(path);
  g_close(fd, NULL);
  return c;
}

static void assert_refused(const char *text, const char *place, const char *why) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimCatalogue) c = with_file(text, &error);
  g_assert_null(c);
  g_assert_nonnull(error);
  if (strstr(error->message, place) == NULL || strstr(error->message, why) == NULL)
    g_error("wanted '%s' and '%s' in: %s", place, why, error->message);
}

static void test_every_constant_is_sourced(void) {
  g_autoptr(CsimCatalogue) c = shipped();
  g_assert_cmpuint(csim_catalogue_n(c), >, 500);
  for (guint i = 0; i < csim_catalogue_n(c); i++) {
    const CsimConstant *k = csim_catalogue_get(c, i);
    if (k->source == NULL || strlen(k->source) < 5 || k->meaning == NULL || strlen(k->meaning) < 8)
      g_error("%s: no source or meaning", k->name);
    g_assert_cmpstr(k->loc.file, ==, "hardware.json");
    if (i > 0) g_assert_cmpstr(csim_catalogue_get(c, i - 1)->name, <, k->name);
    g_assert_true(csim_catalogue_find(c, k->name) == k);
  }
}

/* Sets of fitted constants belong together: a family gives all of its own or none. */
static void test_families_do_not_mix(void) {
  g_autoptr(CsimCatalogue) c = shipped();
  static const char *const families[] = {"a100", "b200"};
  static const char *const fields[] = {"simple_base_ps",
                                       "simple_source_ps",
                                       "simple_local_dst_ps",
                                       "simple_remote_dst_ps",
                                       "simple_o",
                                       "simple_o_empty",
                                       "simple_t_min",
                                       "simple_t0",
                                       "simple_t0_bytes",
                                       "simple_thread_scale",
                                       "ll_a",
                                       "ll_per_warp",
                                       "ll_two_dst",
                                       "ll_recv",
                                       "ll_o",
                                       "ll_lat",
                                       "ll_t0",
                                       "ll128_a",
                                       "ll128_per_warp",
                                       "ll128_o",
                                       "ll128_lat",
                                       "ll128_t0"};
  for (gsize f = 0; f < G_N_ELEMENTS(families); f++)
    for (gsize i = 0; i < G_N_ELEMENTS(fields); i++) {
      g_autofree char *own = g_strdup_printf("gpu.%s.%s", families[f], fields[i]);
      g_autofree char *h100 = g_strdup_printf("gpu.h100.%s", fields[i]);
      const CsimConstant *a = csim_catalogue_find(c, own), *b = csim_catalogue_find(c, h100);
      g_assert_true(a != NULL && b != NULL);
      if (a->loc.line == b->loc.line) g_error("%s is taken from h100", own);
    }
}

static void test_hopper_values(void) {
  g_autoptr(CsimCatalogue) c = shipped();
  CsimGpuModel m;
  csim_gpu_model_init(c, "h200", &m);
  g_assert_cmpint(m.simple.o, ==, 1900000);
  g_assert_cmpint(m.ll.per_warp, ==, 8500);
  /* GB/s by primitive, the published fit: recv 44.6, send 38.7, recvReduceCopy 39.1, copySend 24.5, recvReduceCopySend 22.8. */
  g_assert_cmpfloat_with_epsilon(1000 / csim_gpu_simple_ps_per_byte(&m.simple, 1, 1, 0), 44.6, 0.1);
  g_assert_cmpfloat_with_epsilon(1000 / csim_gpu_simple_ps_per_byte(&m.simple, 1, 0, 1), 38.7, 0.1);
  g_assert_cmpfloat_with_epsilon(1000 / csim_gpu_simple_ps_per_byte(&m.simple, 2, 1, 0), 39.1, 0.1);
  g_assert_cmpfloat_with_epsilon(1000 / csim_gpu_simple_ps_per_byte(&m.simple, 1, 1, 1), 24.5, 0.1);
  g_assert_cmpfloat_with_epsilon(1000 / csim_gpu_simple_ps_per_byte(&m.simple, 2, 1, 1), 22.8, 0.1);
  g_assert_cmpfloat_with_epsilon(18 * (double)m.nvlink_rate, 370e9, 1e8);
  g_assert_cmpfloat(m.nvlink_softness, ==, 5);
}

static void test_every_gpu_model_fills(void) {
  g_autoptr(CsimCatalogue) c = shipped();
  static const char *const models[] = {"p100",  "v100", "t4",    "a100",         "a800", "a10",
                                       "l40s",  "h100", "h20",   "h200",         "h800", "b200",
                                       "gb200", "b300", "gb300", "rtx_pro_6000", "gb10"};
  for (gsize i = 0; i < G_N_ELEMENTS(models); i++) {
    CsimGpuModel m;
    csim_gpu_model_init(c, models[i], &m);
    g_assert_cmpstr(m.name, ==, models[i]);
    g_assert_cmpfloat(m.simple.base_ps, >, 0);
    g_assert_true(m.nvlink_gen == 0 || m.nvlink_rate > 0);
  }
}

static void test_gpu_matching(void) {
  g_autoptr(CsimCatalogue) c = shipped();
  static const struct {
    int sm, nvlinks;
    const char *device, *model;
  } cases[] = {
      {90, 18, "0x2330", "h100"}, {90, 18, "0x2335", "h200"},     {90, 18, NULL, "h100"},
      {90, 8, NULL, "h800"},      {90, 8, "0x2324", "h800"},      {80, 12, NULL, "a100"},
      {80, 8, NULL, "a800"},      {80, 8, "0x20F3", "a800"},      {70, 6, NULL, "v100"},
      {75, 0, NULL, "t4"},        {86, 0, NULL, "a10"},           {89, 0, "0x26b9", "l40s"},
      {100, 18, NULL, "b200"},    {103, 18, "0x31c2", "gb300"},   {103, 18, NULL, "b300"},
      {110, 18, NULL, "b300"},    {120, 0, NULL, "rtx_pro_6000"}, {92, 18, "0xffff", "h100"},
      {60, 4, NULL, "p100"},      {50, 0, NULL, "p100"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpstr(csim_catalogue_gpu_model(c, cases[i].sm, cases[i].nvlinks, cases[i].device), ==,
                    cases[i].model);
}

static void test_set_reaches_heirs(void) {
  g_autoptr(CsimCatalogue) plain = shipped();
  g_autoptr(CsimCatalogue) c = with_set("gpu.h100.simple_o=3us");
  g_assert_cmpint(csim_catalogue_time(c, "gpu.h100.simple_o"), ==, 3 * CSIM_US);
  g_assert_cmpint(csim_catalogue_time(c, "gpu.h800.simple_o"), ==, 3 * CSIM_US);
  g_assert_cmpint(csim_catalogue_time(c, "gpu.a100.simple_o"), ==, 4200 * CSIM_NS);
  g_assert_cmpstr(csim_catalogue_find(c, "gpu.h100.simple_o")->source, ==, "--set");
  g_assert_nonnull(csim_catalogue_find(c, "gpu.h100.simple_o")->meaning);
  g_assert_true(csim_catalogue_digest(c) != csim_catalogue_digest(plain));
  g_autoptr(CsimCatalogue) heir = with_set("gpu.h200.simple_o=3us");
  g_assert_cmpint(csim_catalogue_time(heir, "gpu.h200.simple_o"), ==, 3 * CSIM_US);
  g_assert_cmpint(csim_catalogue_time(heir, "gpu.h100.simple_o"), ==, 1900 * CSIM_NS);
}

static void test_digest_is_stable(void) {
  g_autoptr(CsimCatalogue) a = shipped();
  g_autoptr(CsimCatalogue) b = shipped();
  g_autoptr(CsimCatalogue) same = with_set("gpu.h100.simple_o=1.9us");
  g_assert_cmpuint(csim_catalogue_digest(a), ==, csim_catalogue_digest(b));
  g_assert_cmpuint(csim_catalogue_digest(a), ==, csim_catalogue_digest(same));
}

static void assert_set_refused(const char *set, const char *why) {
  const char *sets[] = {set, NULL};
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimCatalogue) c = csim_catalogue_new(NULL, sets, &error);
  g_assert_null(c);
  g_assert_nonnull(error);
  if (strstr(error->message, why) == NULL || !g_str_has_prefix(error->message, "--set: "))
    g_error("wanted '%s' in: %s", why, error->message);
}

static void test_set_messages(void) {
  assert_set_refused("gpu.h100.simple_oo=3us", "did you mean 'gpu.h100.simple_o'?");
  assert_set_refused("gpu.h100.simple_o=3GB/s", "is a time, not a rate");
  assert_set_refused("gpu.h100.simple_o=3", "is a time, not a number");
  assert_set_refused("gpu.h100.simple_o=fast", "not a value");
  assert_set_refused("gpu.h100.simple_o", "has no '='");
}

static void test_overlay(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimCatalogue) c = with_file("{\"format\": \"collsim-hardware-1\",\n"
                                         " \"gpu\": {\"h100\": {\"simple_o\": {\"value\": \"2.5us\", "
                                         "\"source\": \"our own machine\", \"confidence\": \"measured\"}},\n"
                                         "          \"mine\": {\"like\": \"h200\", \"match\": {\"sm\": 91, "
                                         "\"devices\": [\"0xABCD\"]}, \"l2\": {\"value\": \"30MiB\"}}}}",
                                         &error);
  g_assert_no_error(error);
  const CsimConstant *o = csim_catalogue_find(c, "gpu.mine.simple_o");
  g_assert_cmpint(o->time, ==, 2500 * CSIM_NS);
  g_assert_cmpstr(o->source, ==, "our own machine");
  g_assert_cmpint(o->confidence, ==, CSIM_CONF_MEASURED);
  g_assert_cmpint(csim_catalogue_bytes(c, "gpu.mine.l2"), ==, INT64_C(30) << 20);
  g_assert_cmpint(csim_catalogue_find(c, "gpu.mine.l2")->confidence, ==, CSIM_CONF_ASSUMED);
  g_assert_cmpstr(csim_catalogue_gpu_model(c, 90, 18, "0xabcd"), ==, "mine");
  g_assert_cmpstr(csim_catalogue_gpu_model(c, 91, 18, NULL), ==, "mine");
}

static void test_overlay_messages(void) {
#define HEAD "{\"format\": \"collsim-hardware-1\",\n"
  assert_refused(HEAD " \"gpu\": {\"h100\": {\"simple_0\": {\"value\": \"2us\"}}}}",
                 ":2:", "unknown constant 'gpu.h100.simple_0'; did you mean 'gpu.h100.simple_o'?");
  assert_refused(HEAD " \"gpu\": {\"h100\": {\"simple_o\": {\"value\": \"2GB/s\"}}}}",
                 ":2:", "'gpu.h100.simple_o' is a time, not a rate");
  assert_refused(HEAD " \"gpu\": {\"h100\": {\"simple_o\": {\"value\": true}}}}",
                 ":2:", "a number or a text with a unit");
  assert_refused(HEAD " \"gpu\": {\"h100\": {\"simple_o\": {\"value\": \"2us\", \"sauce\": \"x\"}}}}",
                 ":2:", "sauce");
  assert_refused(HEAD " \"gpu\": {\"h100\": {\"simple_o\": {\"value\": \"2us\", \"confidence\": \"sure\"}}}}",
                 ":2:", "sure");
  assert_refused(HEAD " \"gpu\": {\"mine\": {\"like\": \"h999\"}}}",
                 ":2:", "gpu.mine is like gpu.h999, which does not exist");
  assert_refused(HEAD " \"gpu\": {\"a\": {\"like\": \"b\"}, \"b\": {\"like\": \"a\"}}}",
                 ":2:", "is like itself");
  assert_refused("{\"format\": \"collsim-hardware-9\"}", ":1:", "collsim-hardware-9");
  assert_refused("{\"gpu\": {}}", ":1:", "format");
  assert_refused("[]", ":1:", "");
  g_autoptr(GError) error = NULL;
  g_assert_null(csim_catalogue_new("/nonexistent/catalogue.json", NULL, &error));
  g_assert_nonnull(error);
}

static void test_networks(void) {
  g_autoptr(CsimCatalogue) c = shipped();
  CsimNetModel net;
  csim_net_model_init(c, "ib", 0, &net);
  g_assert_cmpfloat_with_epsilon(net.efficiency, 4096.0 / 4122.0, 1e-12);
  g_assert_cmpfloat_with_epsilon((double)csim_net_payload_rate(&net, 50000000000), 48.7e9, 5e7);
  g_assert_cmpfloat_with_epsilon((double)csim_net_payload_rate(&net, 25000000000), 24.4e9, 1e8);
  csim_net_model_init(c, "ib", 1024, &net);
  g_assert_cmpfloat_with_epsilon(net.efficiency, 0.975, 5e-4);
  csim_net_model_init(c, "roce", 4096, &net);
  g_assert_cmpfloat_with_epsilon(net.efficiency, 0.980, 5e-4);
  csim_net_model_init(c, "roce", 1024, &net);
  g_assert_cmpfloat_with_epsilon(net.efficiency, 0.926, 5e-4);
  csim_net_model_init(c, "socket", 1500, &net);
  g_assert_cmpfloat_with_epsilon(net.efficiency, 1448.0 / 1538.0, 1e-12);
  csim_net_model_init(c, "slingshot", 0, &net);
  g_assert_cmpfloat_with_epsilon((double)csim_net_payload_rate(&net, 25000000000), 23.3e9, 5e7);
  csim_net_model_init(c, "efa", 0, &net);
  g_assert_cmpfloat_with_epsilon((double)csim_net_payload_rate(&net, 25000000000), 24.2e9, 5e7);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/catalogue/every-constant-is-sourced", test_every_constant_is_sourced);
  g_test_add_func("/catalogue/families-do-not-mix", test_families_do_not_mix);
  g_test_add_func("/catalogue/hopper-values", test_hopper_values);
  g_test_add_func("/catalogue/every-gpu-model-fills", test_every_gpu_model_fills);
  g_test_add_func("/catalogue/gpu-matching", test_gpu_matching);
  g_test_add_func("/catalogue/set-reaches-heirs", test_set_reaches_heirs);
  g_test_add_func("/catalogue/digest-is-stable", test_digest_is_stable);
  g_test_add_func("/catalogue/set-messages", test_set_messages);
  g_test_add_func("/catalogue/overlay", test_overlay);
  g_test_add_func("/catalogue/overlay-messages", test_overlay_messages);
  g_test_add_func("/catalogue/networks", test_networks);
  return g_test_run();
}
