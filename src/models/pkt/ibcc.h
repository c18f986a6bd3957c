/*
 * models/pkt/ibcc.h - InfiniBand's congestion control: the switches' mark and the source's injection delay.
 *
 * Used by: the packet network, settings. IBTA InfiniBand Architecture vol. 1, Annex A10. No events: what the timer should have done is done when
 * asked.
 *
 *   switch  an egress queue of a lane beyond the threshold: FECN on every (marking_rate + 1)-th data packet that joins it, if the port is the root
 *           of the congestion (it has credits) or the victims' mask covers it
 *   target  BECN for every FECN, in a CNP
 *   source  per queue pair: an index into the congestion control table, up by `increase` with each BECN, down by one a timer period; after a
 *           packet its queue pair waits table[index] times the packet's time on the wire
 */
#ifndef CSIM_MODELS_PKT_IBCC_H
#define CSIM_MODELS_PKT_IBCC_H

#include "collsim/types.h"

#define CSIM_IBCC_ENTRIES 128
#define CSIM_IBCC_TICK 1024000 /* ps: the unit of CCTI_Timer, 1.024 us */

typedef struct {
  int threshold;    /* weight: 0 never, 1 loosest, 15 tightest */
  int marking_rate; /* packets between marks */
  gboolean victims; /* Victim_Mask: of ports to hosts; they have no credits only if a host is stuck */
  int increase, min, limit; /* of the index */
  CsimTime timer;   /* CCTI_Timer */
  double table[CSIM_IBCC_ENTRIES]; /* injection delay in packet times; the wire has 14 bits and a shift of 0 to 3 */
} CsimIbCc;

/* Every packet, increase 1, limit 127, timer 150 x 1.024 us (Gran et al., IPDPS 2010, on hardware); threshold 8 and table[i] = i x step, assumed. Theirs
 * was 15, which is two packets of 4096 bytes here. */
CsimIbCc csim_ibcc_usual(double step);
/* Bytes of a lane's queue above which a weight marks; the annex asks for falling thresholds: buffer x (16 - weight) / 16, assumed. */
CsimBytes csim_ibcc_threshold(int weight, CsimBytes buffer);

typedef struct {
  int index;
  CsimTime at; /* the last timer period that counted began then */
} CsimCcti;
void csim_ccti_becn(CsimCcti *c, const CsimIbCc *cc, CsimTime now);
/* Injection delay in packet times at `now`, which never goes back. */
double csim_ccti_delay(CsimCcti *c, const CsimIbCc *cc, CsimTime now);

#endif
