/* The log reader on any bytes: no crash, and every row and line keeps a place in the file. */
#include "exp/logs.h"

#include <stddef.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
  return 0;
}
