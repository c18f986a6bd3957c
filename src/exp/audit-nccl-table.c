/* NCCL's tuning table as it prints it: blocks of up to three algorithms, a row a function, a cell "latency/bandwidth" a protocol. */
#include "exp/audit-nccl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

gboolean audit_table_head(const CsimLogDebug *line, NcclTableHead *head) {
  if (!g_str_has_prefix(line->text, "Algorithm ")) return FALSE;
  g_auto(GStrv) cells = g_strsplit(line->text, "|", 8);
  head->n = 0;
  for (char **cell = cells + 1; *cells && *cell && head->n < G_N_ELEMENTS(head->algo); cell++) {
    CsimAlgo algo;
    if (csim_algo_parse(g_strstrip(*cell), &algo)) head->algo[head->n++] = algo;
  }
  return TRUE;
}

static void take_cell(NcclFacts *f, const CsimLogDebug *line, CsimColl coll, CsimAlgo algo, CsimProto proto,
                      const char *cell) {
  NcclEntry e = {.loc = line->loc, .coll = coll, .algo = algo, .proto = proto};
  if (sscanf(cell, " %lf/ %lf", &e.lat_us, &e.bw_gbps) != 2 || f->entries->len >= 4096) return;
  for (guint i = 0; i < f->entries->len; i++) {
    const NcclEntry *other = &g_array_index(f->entries, NcclEntry, i);
    if (other->coll == coll && other->algo == algo && other->proto == proto) return;
  }
  g_array_append_val(f->entries, e);
}

void audit_table_row(NcclFacts *f, const CsimLogDebug *line, const NcclTableHead *head) {
  if (!head->n || !strchr(line->text, '|') || !strchr(line->text, '/')) return;
  g_auto(GStrv) cells = g_strsplit(line->text, "|", 16);
  CsimColl coll;
  if (!csim_coll_parse(g_strstrip(cells[0]), &coll) || coll >= CSIM_N_NCCL_FUNCS) return;
  for (guint i = 0; i < head->n * CSIM_N_PROTOS && cells[i + 1]; i++)
    take_cell(f, line, coll, head->algo[i / CSIM_N_PROTOS], (CsimProto)(i % CSIM_N_PROTOS), cells[i + 1]);
}

/* Usable in NCCL's print: a bandwidth above 0.0. Latencies differ by release (docs/nccl-2.28-differences.md), so they are not compared. */
void audit_table_compare(CsimAudit *audit, const NcclFacts *facts, const CsimTuning *tuning) {
  CsimAuditFinding *first = NULL;
  for (guint i = 0; i < facts->entries->len; i++) {
    const NcclEntry *e = &g_array_index(facts->entries, NcclEntry, i);
    double want = csim_tuning_entry(tuning, e->coll, e->algo, e->proto).bw;
    /* Printed with one decimal; 0.1 % is what releases differ by in rounding. */
    if (fabs(want - e->bw_gbps) <= 0.051 + 1e-3 * want) continue;
    if (first) {
      first->more++;
      continue;
    }
    first = csim_audit_find(audit, CSIM_AUDIT_NCCL, e->loc,
                            "NCCL's table has %s %s/%s at %.1f GB/s%s, the target should give %.1f%s",
                            csim_coll_name(e->coll), csim_algo_name(e->algo), csim_proto_name(e->proto),
                            e->bw_gbps, e->bw_gbps > 0 ? "" : " (not usable)", want,
                            want > 0 ? "" : " (not usable)");
    first->expected = want;
    first->seen = e->bw_gbps;
  }
}
