/* exp/sweep-links.c - the loads of the busiest links of a run's last size, as JSON. */
#include "exp/sweep-private.h"

#include "exp/run-private.h"

#include <inttypes.h>

static int heavier(gconstpointer a, gconstpointer b) {
  const CsimLinkLoad *x = (const CsimLinkLoad *)a, *y = (const CsimLinkLoad *)b;
  if (x->use.bytes != y->use.bytes) return x->use.bytes < y->use.bytes ? 1 : -1;
  return x->link < y->link ? -1 : x->link > y->link;
}

static void append_load(GString *out, const CsimMachine *machine, const CsimLinkLoad *load, const char *comma) {
  g_autofree char *name = csim_machine_link_name(machine, load->link);
  g_string_append_printf(out, "%s{\"name\": \"%s\", \"capacity\": %" PRId64 ", \"bytes\": %" PRId64 ", \"busy_ps\": %" PRId64 ", \"binding_ps\": %" PRId64 "}", comma, name,
                         csim_machine_link(machine, load->link).capacity, (gint64)load->use.bytes, load->use.busy, load->use.binding);
}

void csim_run_append_links(GString *out, const CsimRun *run, guint most) {
  guint n = 0;
  const CsimLinkLoad *loads = run->exec ? csim_exec_loads(run->exec, &n) : NULL;
  g_autoptr(GArray) sorted = g_array_sized_new(FALSE, FALSE, sizeof(CsimLinkLoad), n);
  g_array_append_vals(sorted, loads, n);
  g_array_sort(sorted, heavier);
  g_string_append(out, ", \"links\": [");
  for (guint i = 0; i < MIN(n, most); i++) append_load(out, run->machine, &g_array_index(sorted, CsimLinkLoad, i), i ? ", " : "");
  g_string_append_c(out, ']');
}
