/* The log reader, the audit and the reader of pairs on any bytes: no crash, and every row, line and finding keeps a place in the file. */
#include "exp/audit.h"

#include <stddef.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_audit(const CsimLog *log) {
  g_autoptr(CsimAudit) audit = csim_audit_new();
  g_assert_true(csim_audit_log(audit, &(CsimAuditSpec){.collective = NULL}, log, NULL));
  for (guint i = 0; i < audit->findings->len; i++) {
    const CsimAuditFinding *finding = g_ptr_array_index(audit->findings, i);
    g_assert_cmpuint(finding->loc.line, <=, log->n_lines);
  }
}

static void try_pairs(const uint8_t *data, size_t size) {
  g_autofree char *text = g_strndup((const char *)data, size);
  g_autoptr(CsimAudit) audit = csim_audit_new();
  csim_audit_pairs_text(audit, &(CsimAuditSpec){.collective = NULL}, "fuzz", text, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(CsimLog) log = csim_log_parse("fuzz", (const char *)data, size, NULL);
  g_assert_nonnull(log);
  for (guint i = 0; i < log->runs->len; i++) {
    const CsimLogRun *run = csim_log_run(log, i);
    for (guint k = 0; k < run->rows->len; k++)
      g_assert_cmpuint(csim_log_row(run, k)->loc.line, <=, log->n_lines);
  }
  for (guint i = 0; i < log->debug->len; i++) {
    g_assert_cmpuint(csim_log_debug(log, i)->loc.line, <=, log->n_lines);
    g_assert_cmpuint(csim_log_debug(log, i)->run, <=, log->runs->len);
  }
  try_audit(log);
  try_pairs(data, size);
  return 0;
}
