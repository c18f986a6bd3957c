/*
 * report/audit.h - an audit as text and as JSON.
 *
 * Used by: cli (`collsim audit`).
 */
#ifndef CSIM_REPORT_AUDIT_H
#define CSIM_REPORT_AUDIT_H

#include "exp/audit.h"

/* One line a finding, "file:line: what" ("claim: what" where there is no file), then what was looked at. facts: also what was read. */
void csim_report_audit_text(GString *out, const CsimAudit *audit, gboolean facts);
/* {"findings": [{"topic", "file", "line", "text", "factor", "expected", "seen", "more"}], "facts": [...], "checked": {...}}; caller frees. */
char *csim_report_audit_json(const CsimAudit *audit);

#endif
