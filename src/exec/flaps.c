/*
 * exec/flaps.c - cables that come and go while a call runs.
 *
 * A flapping cable is down for `down` of every `period`; where in its period a run begins is drawn by the seed. Its flows stall and go on: what a
 * real adapter loses to timeouts when a packet dies is not in it. At packet fidelity its ports wait; what waits for them fills buffers.
 */
#include "base/rng.h"
#include "exec/exec-private.h"

#define RNG_FLAP 21

static void toggle(CsimExec *x, uint32_t flap, gboolean down, CsimTime at) { csim_engine_at(x->engine, at, x->handler, EV_FLAP, flap, down); }

/* What is left of the link: all cables of a trunk may flap. */
static void set_capacity(CsimExec *x, const CsimMachineFlap *flaps, guint n, CsimLinkId link) {
  double capacity = (double)csim_machine_link(x->spec.machine, link).capacity;
  for (guint i = 0; i < n; i++)
    if (flaps[i].link == link && x->flap_down[i]) capacity -= (double)flaps[i].lost;
  csim_fluid_set_capacity(x->fluid, x->fluid_of[link], (CsimRate)MAX(capacity, 0));
}

/* A cable has two flaps, one a direction; packets take both with the first. */
static void set_state(CsimExec *x, const CsimMachineFlap *flaps, guint n, uint32_t flap, CsimTime until) {
  const CsimMachineFlap *f = &flaps[flap];
  if (!x->packets) set_capacity(x, flaps, n, f->link);
  else if (flap % 2 == 0) csim_packet_fabric_flap(exec_packets_fabric(x), f->cable, f->lost, x->flap_down[flap], until);
}

void exec_flaps_start(CsimExec *x) {
  guint n;
  const CsimMachineFlap *flaps = csim_machine_flaps(x->spec.machine, &n);
  for (guint i = 0; i < n; i++) {
    if (!x->packets && x->fluid_of[flaps[i].link] == NO_INDEX) continue;
    CsimTime into = (CsimTime)(csim_rng_at(x->spec.seed, flaps[i].cable, RNG_FLAP, 0) % (uint64_t)flaps[i].period);
    x->flap_down[i] = into < flaps[i].down;
    CsimTime until = x->flap_down[i] ? flaps[i].down - into : flaps[i].period - into;
    set_state(x, flaps, n, i, until);
    toggle(x, i, !x->flap_down[i], until);
  }
}

void exec_flaps_event(CsimExec *x, const CsimEvent *event) {
  guint n;
  const CsimMachineFlap *flaps = csim_machine_flaps(x->spec.machine, &n), *flap = &flaps[event->entity];
  if (x->ranks_done == x->n_ranks) return; /* nothing is left to run: the last event ends it */
  x->flap_down[event->entity] = (uint8_t)event->arg;
  CsimTime until = event->time + (event->arg ? flap->down : flap->period - flap->down);
  set_state(x, flaps, n, event->entity, until);
  toggle(x, event->entity, !event->arg, until);
}
