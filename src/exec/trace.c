/*
 * exec/trace.c - operations and link rates into the trace.
 */
#include "exec/exec-private.h"

static void on_rate(void *data, CsimTime now, CsimLinkId link, double rate) {
  CsimExec *x = data;
  uint32_t machine_link = g_array_index(x->machine_of, uint32_t, link);
  if (machine_link != NO_INDEX) csim_trace_add_counter(x->spec.trace, machine_link, x->trace_rate, now, rate);
}

void exec_trace_begin(CsimExec *x) {
  if (!x->spec.trace) return;
  x->trace_rate = csim_trace_name(x->spec.trace, "rate");
  for (uint16_t flags = 0; flags < 16; flags++) {
    CsimPrim prim = {.flags = flags};
    x->trace_names[flags] = csim_trace_name(x->spec.trace, csim_prim_name(&prim));
  }
  csim_fluid_watch(x->fluid, on_rate, x);
}

void exec_trace_op(CsimExec *x, const Lane *l, CsimTime end) {
  csim_trace_add_span(x->spec.trace, CSIM_TRACK(l->rank, l->channel), x->trace_names[l->flags & 15], l->start, end,
                      (uint32_t)(l->bytes >> 10));
}
