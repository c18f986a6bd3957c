/*
 * models/prune.h - leaves links out of the paths of one run when they cannot bind.
 *
 * Used by: exec, once all paths of a run are known. Machines leave out what no traffic at all can fill (topo/machine.h); this
 * leaves out what the traffic at hand cannot: the GPU's PCIe link when all that crosses it goes to one slower NIC, or the second of two
 * wires that carry the same flows. Rates stay the same, solves get cheaper.
 *
 * Rule: let every path over link L cross some other kept link, its witness. If the capacities of the different witnesses, in units of L's weight, add up
 * to at most L's capacity, then L is full only when all of them are, so it never sets a rate by itself.
 * A soft link (models/fluid.h) is felt before it is full and stays. Not for runs that make a link slower on the way.
 */
#ifndef CSIM_MODELS_PRUNE_H
#define CSIM_MODELS_PRUNE_H

#include "models/fluid.h"

typedef struct {
  CsimRate capacity;
  double softness;
} CsimPruneLink;

typedef struct {
  guint first, n; /* pool[first .. first + n) */
} CsimPruneSpan;

/* links: by the ids in pool, n_links of them. Shortens spans in place (pool entries move within their span, n shrinks, order stays); spans
 * may not overlap, and name a link once. A span keeps at least one link if it had one. Returns how many links were left out. */
guint csim_prune(const CsimPruneLink *links, guint n_links, CsimFlowLink *pool, CsimPruneSpan *spans,
                 guint n_spans);

#endif
