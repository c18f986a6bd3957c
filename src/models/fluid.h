/*
 * models/fluid.h - transfers as flows over shared links, max-min fair.
 *
 * Used by: exec (every transfer at flow fidelity). Implemented in fluid.c.
 *
 * A flow moves `bytes` over a set of directed links at the largest rate r that is
 * fair: rates are max-min over all links, no flow above its own cap. A link may
 * have a softness exponent p: contention is then felt before saturation, as
 *   rate = (cap^-p + share^-p)^(-1/p),  share = the link's fair level for this flow
 * (0: hard minimum). A link entry may have a weight: a flow of rate r loads the link
 * with r * weight (copy engines, LL with its flags, NVLS).
 *
 * All starts, ends and capacity changes of one instant are solved once, over the
 * touched component only. Rates are doubles inside; a completion is
 * now + ceil(remaining / rate) in picoseconds, so that an uncontended flow takes exactly
 * csim_rate_time(rate, bytes).
 */
#ifndef CSIM_MODELS_FLUID_H
#define CSIM_MODELS_FLUID_H

#include "sim/engine.h"

typedef struct CsimFluid CsimFluid;
typedef uint32_t CsimLinkId;
typedef uint32_t CsimFlowId;
#define CSIM_FLOW_NONE UINT32_MAX
#define CSIM_FLUID_MAX_LINKS 160 /* per flow; multicast in an NVL72 domain touches 2 x 72 ports */

CsimFluid *csim_fluid_new(CsimEngine *engine);
void csim_fluid_free(CsimFluid *fluid);

/* name: borrowed until free, may be NULL. softness: 0 or an exponent. */
CsimLinkId csim_fluid_add_link(CsimFluid *fluid, const char *name, CsimRate capacity, double softness);
void csim_fluid_set_capacity(CsimFluid *fluid, CsimLinkId link, CsimRate capacity); /* takes effect at this instant; 0 stalls */

typedef struct { CsimLinkId link; float weight; } CsimFlowLink;

/* Starts now; fires (handler, kind, entity, arg) when the last byte has left. cap: 0 for none. n_links may be 0 if
 * cap > 0. Zero bytes complete at this instant. */
CsimFlowId csim_fluid_start(CsimFluid *fluid, const CsimFlowLink *links, guint n_links, CsimBytes bytes, CsimRate cap,
                            uint16_t handler, uint16_t kind, uint32_t entity, uint64_t arg);
void csim_fluid_cancel(CsimFluid *fluid, CsimFlowId flow);

/* Per-link accounting, exact: bytes x weight carried so far, time with at least one flow, and
 * time in which it was the binding (saturated) link of some flow. */
typedef struct { double bytes; CsimTime busy, binding; } CsimLinkUse;
CsimLinkUse csim_fluid_link_use(const CsimFluid *fluid, CsimLinkId link);

typedef struct { uint64_t solves, flows_solved, links_solved, started, peak_active; } CsimFluidStats;
CsimFluidStats csim_fluid_stats(const CsimFluid *fluid);

/* Called when a link's total rate changes (trace counters); NULL: off. */
typedef void (*CsimFluidWatch)(void *data, CsimTime now, CsimLinkId link, double rate);
void csim_fluid_watch(CsimFluid *fluid, CsimFluidWatch fn, void *data);

#endif
