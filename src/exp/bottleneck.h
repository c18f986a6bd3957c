/*
 * exp/bottleneck.h - where a row's time went, in words.
 *
 * Used by: run.c (names the largest share), report (--explain). The shares are exec's (CsimBreakdown).
 */
#ifndef CSIM_EXP_BOTTLENECK_H
#define CSIM_EXP_BOTTLENECK_H

#include "exp/run.h"

typedef struct {
  const char *name, *meaning; /* "GPU copy", one line */
  gsize offset;               /* of the share in CsimBreakdown */
} CsimStage;

/* All stages, in the order of a call's life; *n of them. */
const CsimStage *csim_stages(guint *n);
static inline double csim_stage_share(const CsimStage *stage, const CsimBreakdown *where) {
  return *(const double *)((const char *)where + stage->offset);
}

/* The busiest link was saturated at least half of the time: it is the bottleneck, whatever the ranks did meanwhile. */
gboolean csim_link_binds(const CsimRow *row);

/* Fills row->bottleneck and row->busiest from row->where. */
void csim_name_bottleneck(const CsimMachine *machine, CsimRow *row);

#endif
