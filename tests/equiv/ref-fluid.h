/*
 * tests/equiv/ref-fluid.h - the fluid model again, as plainly as it can be written.
 *
 * Every rate is solved from nothing, flow by flow, link by link; time goes from change to change. No classes, no
 * components, no laziness: what models/fluid.h promises, to compare the fast solver with.
 */
#ifndef REF_FLUID_H
#define REF_FLUID_H

#include "models/fluid.h"

#define REF_MAX_LINKS 6
#define REF_MAX_FLOWS 60

typedef struct { CsimRate capacity; double softness; } RefLink;

typedef struct {
  CsimFlowLink link[REF_MAX_LINKS];
  guint n_links;
  CsimRate cap;
  CsimBytes bytes;
  CsimTime start, cancel; /* cancel: CSIM_TIME_NEVER for none */
  /* results */
  gboolean active, done, fresh; /* fresh: in the instant of its start */
  gboolean coupled;             /* of its group, see models/fluid.h */
  CsimTime end;
  double rate;
  long double left;
} RefFlow;

typedef struct { CsimTime at; guint link; CsimRate capacity; } RefChange;

/* The rates between two changes: rate[i] of flow i, 0 where it is not active. */
typedef struct { CsimTime at; double rate[REF_MAX_FLOWS]; } RefProbe;

/* Fills in `rate` of the active flows, at the end of an instant; `fresh` and `coupled` are those of the moments before. */
void ref_rates(const RefLink *links, guint n_links, RefFlow *flows, guint n_flows);
typedef struct {
  const RefChange *changes; /* in order of time */
  guint n_changes;
  RefProbe *probes;         /* `rate` filled in */
  guint n_probes;
} RefSchedule;

/* Fills in `end` (CSIM_TIME_NEVER: cancelled or stalled) of all flows. `links` changes. */
void ref_run(RefLink *links, guint n_links, RefFlow *flows, guint n_flows, const RefSchedule *schedule);

#endif
