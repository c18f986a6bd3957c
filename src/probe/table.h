/*
 * probe/table.h - what a probe measured, as text: facts about where and when, then rows; CSV or JSON.
 *
 * Used by: every probe, `collsim probe`, `collsim validate --live` (which reads the CSV back with the readers of `validate`).
 *
 * CSV: "# key: value" a fact, a header, rows. JSON: {"collsim": version, "facts": {...}, "rows": [{...}]}; a cell that is a number
 * is a number there, an empty one null.
 */
#ifndef CSIM_PROBE_TABLE_H
#define CSIM_PROBE_TABLE_H

#include "collsim/types.h"

typedef struct CsimProbeTable CsimProbeTable;
/* columns: NULL-ended, static. */
CsimProbeTable *csim_probe_table_new(const char *const *columns);
void csim_probe_table_free(CsimProbeTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimProbeTable, csim_probe_table_free)

/* A later fact of the same name takes the place of an earlier one. An empty value leaves it out. */
void csim_probe_table_fact(CsimProbeTable *table, const char *key, const char *format, ...) G_GNUC_PRINTF(3, 4);
const char *csim_probe_table_get(const CsimProbeTable *table, const char *key); /* NULL: no such fact */
/* Facts of this machine: date (UTC), program, host's kernel, processor, virtual or not, MemTotal is not among them (it moves). */
void csim_probe_table_machine(CsimProbeTable *table);
/* TRUE if the processor says that a hypervisor is below. */
gboolean csim_probe_is_virtual_machine(void);

/* As many cells as columns, in their order. Line ends in a cell become ';' in CSV. */
void csim_probe_table_row(CsimProbeTable *table, const char *const *cells);
guint csim_probe_table_n_rows(const CsimProbeTable *table);

void csim_probe_table_csv(const CsimProbeTable *table, GString *out);
void csim_probe_table_json(const CsimProbeTable *table, GString *out);

#endif
