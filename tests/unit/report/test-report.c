/* Forms of a row, byte by byte, on rows made by hand. */
#include "base/json-write.h"
#include "report/report.h"

#include <string.h>

static CsimRow sample_row(double time_us) {
  CsimRow row = {
    .coll = CSIM_COLL_ALL_REDUCE,
    .type = CSIM_TYPE_FLOAT,
    .op = CSIM_OP_SUM,
    .root = -1,
    .size_bytes = 1 << 20,
    .count = 262144,
    .choice = {.algo = CSIM_ALGO_RING, .proto = CSIM_PROTO_LL128, .n_channels = 16, .n_threads = 640},
    .n_channels = 16,
    .time_us = time_us,
  };
  row.algbw_gbps = (double)row.size_bytes / time_us * 1e-3;
  row.busbw_gbps = row.algbw_gbps * 1.75;
  return row;
}

static char *table_row(CsimRow row) {
  GString *text = g_string_new(NULL);
  csim_report_table.row(text, NULL, &row);
  return g_string_free(text, FALSE);
}

static void check_row(CsimRow row, const char *expected) {
  g_autofree char *text = table_row(row);
  g_assert_cmpstr(text, ==, expected);
}

static void test_table(void) {
  check_row(sample_row(50), "     1048576        262144     float     sum      -1    50.00   20.97   36.70           Ring   LL128        16\n");
  CsimRow row = sample_row(50);
  row.coll = CSIM_COLL_BROADCAST;
  row.root = 0;
  check_row(row, "     1048576        262144     float    none       0    50.00   20.97   36.70           Ring   LL128        16\n");
  row.n_channels = 0;
  row.time_us = row.algbw_gbps = row.busbw_gbps = 0;
  check_row(row, "     1048576        262144     float    none       0     0.00    0.00    0.00           none    none         0\n");
}

/* Where 2 decimals no longer fit: 7 columns for the time, 6 for bandwidths. */
static void test_narrow_columns(void) {
  static const struct { double time; const char *text; } cases[] = {
    {9999.99, "9999.99"}, {12345.67, "12345.7"}, {1234567.8, "1234568"}, {12345678, "1.2e+07"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = table_row(sample_row(cases[i].time));
    g_assert_cmpint(strncmp(text + 54, cases[i].text, 7), ==, 0);
  }
}

static void test_json_text(void) {
  g_autoptr(GString) out = g_string_new("{");
  csim_jsonw_member_string(out, "a\"b", "\\ \n \x01 \xff");
  csim_jsonw_member_int(out, "big", G_MAXINT64);
  csim_jsonw_member_number(out, "third", 1.0 / 3);
  csim_jsonw_member_number(out, "none", 0.0 / 0.0);
  g_assert_cmpstr(out->str, ==, "{\"a\\\"b\": \"\\\\ \\n \\u0001 \xef\xbf\xbd\", \"big\": 9223372036854775807, \"third\": 0.333333333, \"none\": null");
}

typedef struct { CsimRunInfo info; CsimRunSpec spec; CsimReport report; } Fixture;

static void make_report(Fixture *f) {
  csim_run_spec_init(&f->spec);
  f->info = (CsimRunInfo){.target = "odd, \"name\"*1", .n_nodes = 1, .n_ranks = 8, .device = (char *)"1 node x 8 H100", .seed = G_MAXUINT64,
                          .digest = 0xabc, .fidelity = CSIM_FIDELITY_FLOW, .warnings = g_ptr_array_new()};
  f->report = (CsimReport){&f->info, &f->spec, "collsim run", g_array_new(FALSE, FALSE, sizeof(CsimRow)), TRUE};
  CsimRow row = sample_row(50);
  g_array_append_val(f->report.rows, row);
}

static void free_report(Fixture *f) {
  g_ptr_array_unref(f->info.warnings);
  g_array_unref(f->report.rows);
}

static void test_csv(void) {
  Fixture f;
  make_report(&f);
  g_autoptr(GString) out = g_string_new(NULL);
  csim_report_csv.row(out, &f.report, &g_array_index(f.report.rows, CsimRow, 0));
  g_assert_cmpstr(out->str, ==,
                  "\"odd, \"\"name\"\"*1\",1,8,flow,18446744073709551615,all_reduce,1048576,262144,float,sum,-1,Ring,LL128,16,640,50,20.97152,36.70016,\r\n");
  free_report(&f);
}

static void test_json(void) {
  Fixture f;
  make_report(&f);
  g_autoptr(GString) out = g_string_new(NULL);
  csim_report_json.end(out, &f.report);
  cJSON *json = cJSON_Parse(out->str);
  g_assert_nonnull(json);
  g_assert_cmpstr(cJSON_GetObjectItem(json, "target")->valuestring, ==, "odd, \"name\"*1");
  g_assert_cmpstr(cJSON_GetObjectItem(json, "digest")->valuestring, ==, "0000000000000abc");
  g_assert_nonnull(strstr(out->str, "\"seed\": 18446744073709551615"));
  const cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "rows"), 0);
  g_assert_cmpstr(cJSON_GetObjectItem(row, "algo")->valuestring, ==, "Ring");
  g_assert_cmpfloat(cJSON_GetObjectItem(row, "busbw_gbps")->valuedouble, ==, 36.70016);
  static const char *const keys[] = {"collsim", "nodes", "ranks", "fidelity", "stats", "warnings"};
  for (guint i = 0; i < G_N_ELEMENTS(keys); i++) g_assert_nonnull(cJSON_GetObjectItem(json, keys[i]));
  cJSON_Delete(json);
  free_report(&f);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/report/table/row", test_table);
  g_test_add_func("/report/table/narrow", test_narrow_columns);
  g_test_add_func("/report/json/text", test_json_text);
  g_test_add_func("/report/json/object", test_json);
  g_test_add_func("/report/csv/row", test_csv);
  return g_test_run();
}
