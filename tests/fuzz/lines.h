/*
 * lines.h - what every message must be, whatever the input was: one line of UTF-8.
 */
#ifndef FUZZ_LINES_H
#define FUZZ_LINES_H

#include "base/diag.h"
#include <string.h>

static inline void check_line(const char *text) {
  g_assert_null(strpbrk(text, "\n\r"));
  g_assert_true(g_utf8_validate(text, -1, NULL));
}

static inline void check_findings(const CsimDiag *diag) {
  for (guint i = 0; i < csim_diag_n(diag); i++) {
    g_autofree char *line = csim_finding_format(csim_diag_get(diag, i));
    check_line(line);
  }
}

#endif
