/* probe/verbs-table.c - names of the tests, rows as a table; also where it is built without RDMA's headers. */
#include "probe/verbs.h"

#include "base/units.h"

const char *const csim_verbs_test_names[CSIM_N_VERBS_TESTS + 1] = {"write_bw",  "read_bw",  "send_bw",
                                                                    "write_lat", "read_lat", "send_lat", NULL};

CsimProbeTable *csim_verbs_table(const CsimVerbsOptions *o, const CsimVerbsFacts *f, const GArray *rows) {
  static const char *const columns[] = {"test", "qps", "depth", "size_bytes", "iters", "time_us", "bw_gbps", "wrong", "packets", "counted", NULL};
  CsimProbeTable *table = csim_probe_table_new(columns);
  csim_probe_table_fact(table, "device", "%s", f->device);
  csim_probe_table_fact(table, "gid", "%s, index %d", f->gid, f->gid_index);
  csim_probe_table_fact(table, "mtu", "%d", f->mtu);
  csim_probe_table_fact(table, "firmware", "%s", f->firmware);
  csim_probe_table_fact(table, "memory", "%s", o->gpu ? "GPU" : "host");
  csim_probe_table_machine(table);
  for (guint i = 0; i < rows->len; i++) {
    const CsimVerbsRow *r = &g_array_index(rows, CsimVerbsRow, i);
    gboolean latency = r->test >= CSIM_VERBS_WRITE_LAT;
    g_autofree char *qps = g_strdup_printf("%d", latency ? 1 : o->qps), *depth = g_strdup_printf("%d", latency ? 1 : o->depth);
    g_autofree char *size = g_strdup_printf("%" G_GINT64_FORMAT, r->size), *iters = g_strdup_printf("%d", r->iters);
    g_autofree char *time = csim_number_text(r->time_us, "%.3f"), *wrong = g_strdup_printf("%" G_GUINT64_FORMAT, r->wrong);
    g_autofree char *bw = r->bw_gbps > 0 ? csim_number_text(r->bw_gbps, "%.4f") : g_strdup("");
    g_autofree char *packets = g_strdup_printf("%" G_GINT64_FORMAT, r->packets);
    g_autofree char *counted = r->counted >= 0 ? g_strdup_printf("%" G_GINT64_FORMAT, r->counted) : g_strdup("");
    csim_probe_table_row(table, (const char *const[]){csim_verbs_test_names[r->test], qps, depth, size, iters, time, bw, wrong, packets, counted, NULL});
  }
  return table;
}
