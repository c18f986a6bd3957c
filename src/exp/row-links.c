/* exp/row-links.c - which links a call used most: what exec counted, as shares of the call, by name. */
#include "exp/run-private.h"

typedef struct {
  const CsimLinkLoad *load;
  double use;
} Candidate;

/* Of two alike, the first in the machine: results must not depend on the order in which links came into the fluid. */
static gboolean is_before(const Candidate *a, const Candidate *b) {
  return !b->load || (a->load && (a->use != b->use ? a->use > b->use : a->load->link < b->load->link));
}

static int by_use(gconstpointer a, gconstpointer b) {
  const Candidate *x = (const Candidate *)a, *y = (const Candidate *)b;
  return is_before(x, y) ? -1 : is_before(y, x);
}

static double use_of(const CsimMachine *machine, const CsimLinkLoad *load, CsimTime span) {
  double could = (double)csim_machine_link(machine, load->link).capacity * (double)span * 1e-12;
  return could > 0 ? load->use.bytes / could : 0;
}

static CsimRowLink describe(const CsimMachine *machine, const Candidate *c, const CsimExecResult *result) {
  CsimRowLink link = {.name = ""};
  if (!c->load) return link;
  g_autofree char *name = csim_machine_link_name(machine, c->load->link);
  double span = (double)result->span;
  g_strlcpy(link.name, name, sizeof link.name);
  link.capacity = csim_machine_link(machine, c->load->link).capacity;
  link.bytes = c->load->use.bytes / result->calls;
  link.use = c->use;
  link.busy = (double)c->load->use.busy / span;
  link.saturated = (double)c->load->use.binding / span;
  link.peak = c->load->use.peak;
  return link;
}

/* The `most` first of what there is. */
static const GArray *list(CsimRun *run, GArray *candidates, const CsimExecResult *result) {
  guint n = MIN(candidates->len, run->spec.links);
  g_autoptr(GArray) links = g_array_sized_new(FALSE, FALSE, sizeof(CsimRowLink), n);
  g_array_sort(candidates, by_use);
  for (guint i = 0; i < n; i++) {
    CsimRowLink link = describe(run->machine, &g_array_index(candidates, Candidate, i), result);
    g_array_append_val(links, link);
  }
  csim_run_keep_links(run, links);
  return links; /* which the run holds now */
}

void csim_run_read_links(CsimRun *run, const CsimExecResult *result, CsimRow *row) {
  guint n = 0;
  CsimLinkId first;
  guint n_fabric = csim_machine_fabric_links(run->machine, &first);
  const CsimLinkLoad *loads = csim_exec_loads(run->exec, &n);
  g_autoptr(GArray) candidates = g_array_new(FALSE, FALSE, sizeof(Candidate));
  Candidate top = {NULL, 0}, fabric = {NULL, 0};
  for (guint i = 0; i < n && result->span > 0; i++) {
    Candidate c = {&loads[i], use_of(run->machine, &loads[i], result->span)};
    gboolean in_fabric = c.load->link >= first && c.load->link - first < n_fabric;
    if (is_before(&c, &top)) top = c;
    if (in_fabric && is_before(&c, &fabric)) fabric = c;
    if (run->spec.links && (in_fabric || !run->spec.links_of_fabric)) g_array_append_val(candidates, c);
  }
  row->top = describe(run->machine, &top, result);
  row->fabric = describe(run->machine, &fabric, result);
  if (run->spec.links) row->links = list(run, candidates, result);
}
