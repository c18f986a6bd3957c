/*
 * models/fluid.h - transfers as flows over shared links, max-min fair.
 *
 * Used by: exec (every transfer at flow fidelity). Implemented in fluid*.c; equations in docs/models/fluid.md.
 *
 * A flow moves `bytes` over a set of directed links at a fair rate. While the caps of the flows fit on all its links
 * it has its cap. Where they do not fit, rates are
 *   m_f  the max-min fair rate over all links, no flow above its own cap (progressive filling)
 * A link l with a softness exponent p slows its flows before it is full, by slow(x) = (1 + x^p)^(-1/p), and by
 * nothing where x^p / p < CSIM_FLUID_SOFT_FLOOR:
 *   A flow that starts while the caps fit has the rate cap_f * min over l of slow(D_l / C_l) for good, in whole bytes/s.
 *     C capacity; D sum of cap x weight of the flows on l, itself and those that start in the same instant included.
 *   Flows with the same links, weights and cap are a group. When one of its links no longer fits, at the end of an
 *     instant, the group is coupled until none of its flows is left, and its rates follow the load at all times:
 *       rate_f = min(m_f, cap_f * slow(cap_f / share_l) over l),  share_l = max(C_l / W_l, level_l)
 *     W sum of the weights of the flows on l; level_l the highest m of a flow on l: how far the filling rose there.
 * Softness 0 is the hard minimum alone; a flow without a cap is never softened (and its links never fit). A link entry
 * has a weight: a flow of rate r loads the link with r * weight (LL with its flags, NVLS).
 *
 * All starts, ends and capacity changes of one instant are solved once, over what they change only. Flows
 * with the same links, weights and cap always have the same rate: they are one class, and only classes are solved.
 * Rates are doubles inside; a completion is now + ceil(remaining / rate) in picoseconds. A flow whose rate never
 * changed takes exactly csim_rate_time(rate, bytes).
 */
#ifndef CSIM_MODELS_FLUID_H
#define CSIM_MODELS_FLUID_H

#include "sim/engine.h"

typedef struct CsimFluid CsimFluid;
typedef uint32_t CsimLinkId;
typedef uint32_t CsimFlowId;
#define CSIM_FLOW_NONE UINT32_MAX
#define CSIM_FLUID_HINT_NONE UINT32_MAX
#define CSIM_FLUID_MAX_LINKS 160 /* per flow; multicast in an NVL72 domain touches 2 x 72 ports */
#define CSIM_FLUID_MAX_WEIGHT 1e6f /* sums over 500 000 flows stay within 63 bits */
#define CSIM_FLUID_SOFT_FLOOR 1e-4 /* a slow-down below this share is none: it buys an event-free link */

/* Adds one handler to the engine. */
CsimFluid *csim_fluid_new(CsimEngine *engine);
void csim_fluid_free(CsimFluid *fluid); /* NULL allowed; before the engine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimFluid, csim_fluid_free)

/* name: borrowed until free, may be NULL. capacity >= 0. softness: 0 or an exponent. Ids are 0, 1, 2, ... */
CsimLinkId csim_fluid_add_link(CsimFluid *fluid, const char *name, CsimRate capacity, double softness);
/* Takes effect at this instant; 0 stalls. */
void csim_fluid_set_capacity(CsimFluid *fluid, CsimLinkId link, CsimRate capacity);
const char *csim_fluid_link_name(const CsimFluid *fluid, CsimLinkId link); /* as given */

/* 0 < weight < CSIM_FLUID_MAX_WEIGHT; kept to 2^-24 (exact for every float of 1 and more). */
typedef struct { CsimLinkId link; float weight; } CsimFlowLink;

/* Starts now; fires (handler, kind, entity, arg) when the last byte has left. cap: 0 for none. n_links may be 0 if
 * cap > 0. Zero bytes complete at this instant, and CSIM_FLOW_NONE is returned. */
CsimFlowId csim_fluid_start(CsimFluid *fluid, const CsimFlowLink *links, guint n_links, CsimBytes bytes, CsimRate cap,
                            uint16_t handler, uint16_t kind, uint32_t entity, uint64_t arg);
/* The same at a later date, as the fluid's own event (`at` not after now: at once). *hint, CSIM_FLUID_HINT_NONE at first, is this module's
 * memory of the caller's last transfer: one that repeats saves a look-up. */
CsimFlowId csim_fluid_start_at(CsimFluid *fluid, CsimTime at, uint32_t *hint, const CsimFlowLink *links, guint n_links, CsimBytes bytes, CsimRate cap,
                               uint16_t handler, uint16_t kind, uint32_t entity, uint64_t arg);
/* Ends a flow, or one that is to start, without firing. A flow that has completed, or CSIM_FLOW_NONE, is a no-op (ids carry 8 bits of
 * generation: do not keep one for ever). */
void csim_fluid_cancel(CsimFluid *fluid, CsimFlowId flow);
/* Bytes/s, as of the last solve (the end of the previous instant with a change); 0 for a completed flow. */
double csim_fluid_flow_rate(const CsimFluid *fluid, CsimFlowId flow);

/* Per-link accounting, exact: bytes x weight carried so far, time with at least one flow, and
 * time in which it was the binding (saturated) link of some flow, and the most flows at once. */
typedef struct { double bytes; CsimTime busy, binding; uint32_t peak; } CsimLinkUse;
CsimLinkUse csim_fluid_link_use(const CsimFluid *fluid, CsimLinkId link);

/* solves: pieces solved; flows_solved, links_solved: classes and links in their fillings, summed. direct: flows that met
 * no contention and cost one event; classes: distinct (links, cap) held. */
typedef struct { uint64_t solves, flows_solved, links_solved, started, peak_active, direct, classes; } CsimFluidStats;
CsimFluidStats csim_fluid_stats(const CsimFluid *fluid);

/* Called when a link's total rate changes (trace counters), at most once an instant and link; NULL: off. */
typedef void (*CsimFluidWatch)(void *data, CsimTime now, CsimLinkId link, double rate);
void csim_fluid_watch(CsimFluid *fluid, CsimFluidWatch fn, void *data);

#endif
