/*
 * models/pkt/dcqcn.h - DCQCN's reaction point: the rate of one flow, from its bytes, its CNPs and the clock.
 *
 * Used by: NICs of the packet network, tests. No events: everything that should have happened by `now` is
 * done when asked, in the order in which it was due (missed alpha periods in closed form), so a flow costs no
 * timer.
 *
 * Two machines, by parameters:
 *  - as published (Zhu et al., SIGCOMM 2015): every CNP cuts at once, alpha decays each period without a CNP;
 *  - ConnectX's: alpha moves every microsecond, cuts happen at most once a period.
 * Rates are wire bytes/s.
 */
#ifndef CSIM_MODELS_PKT_DCQCN_H
#define CSIM_MODELS_PKT_DCQCN_H

#include "collsim/types.h"

/* What happens to the target rate when a cut follows a cut. */
typedef enum {
  CSIM_DCQCN_TARGET_ALWAYS, /* R_T <- R_C at every cut: the published text; ConnectX clamp_tgt_rate = 1 */
  CSIM_DCQCN_TARGET_AFTER_INCREASE /* only if an increase has happened since: ConnectX's default */
} CsimDcqcnTarget;

typedef struct {
  double g;               /* weight of a new observation; 1 - dce_tcp_g / 1024 */
  double initial_alpha;   /* before, and set again at, the first CNP; initial_alpha_value / 1024 */
  CsimTime alpha_period;  /* dce_tcp_rtt */
  CsimTime cut_period;    /* rate_reduce_monitor_period; 0: each CNP cuts at once */
  CsimTime timer;         /* rpg_time_reset */
  CsimBytes byte_counter; /* rpg_byte_reset, frame bytes; 0: none, and then stages count the timer alone */
  int threshold;          /* F; rpg_threshold */
  gboolean stage_after;   /* stages counted after an increase instead of before it (hpcc-ns3's order) */
  CsimRate ai, hai;       /* rpg_ai_rate, rpg_hai_rate */
  gboolean hai_grows;     /* the i-th hyper increase adds i x hai (published), not hai (hpcc-ns3) */
  CsimRate min_rate;      /* rpg_min_rate */
  double min_factor;      /* least new rate / old rate in one cut; rpg_min_dec_fac; 0: none */
  CsimDcqcnTarget target;
} CsimDcqcn;

/* The published values (g 1/256, alpha and timer 55 us, 10 MB, F 5, hai = 10 ai), with ai as given: the paper
 * has 40 Mb/s at 40 Gb/s. */
CsimDcqcn csim_dcqcn_paper(CsimRate ai);
/* ConnectX-4 to -7 firmware defaults (mlxconfig query of a ConnectX-5, firmware 16.35; NVIDIA DOCA "DCQCN CC
 * Parameters"): alpha 1 us, cuts 4 us, timer 300 us, g 5/1024, F 1, 5 / 50 Mb/s, at least 1 Mb/s and half the
 * rate. No byte counter: its unit is documented in two ways. */
CsimDcqcn csim_dcqcn_connectx(void);
/* The values of the HPCC authors' scripts for a link of that rate: as ConnectX, but g 1/256, 5/25 and 50/25
 * Mb/s per Gb/s, 100 Mb/s. */
CsimDcqcn csim_dcqcn_hpcc(CsimRate link);

/* One flow. Public so that it can lie inside a QP; look at it through the functions. */
typedef struct {
  const CsimDcqcn *p; /* the caller's; must outlive this */
  double line, current, target, alpha;
  CsimTime alpha_at, cut_at, timer_at; /* last alpha step; next cut and timer dates */
  CsimBytes bytes;                     /* since the last byte-counter event */
  int64_t t, bc;                       /* stages */
  uint64_t cuts;
  gboolean limited, alpha_cnp, cut_cnp, increased;
} CsimRp;

void csim_rp_init(CsimRp *rp, const CsimDcqcn *params, CsimRate line);
/* now never goes back. */
void csim_rp_cnp(CsimRp *rp, CsimTime now);
/* Rate at `now`, after what was due. */
double csim_rp_rate(CsimRp *rp, CsimTime now);
/* A frame of that size has left. */
void csim_rp_sent(CsimRp *rp, CsimTime now, CsimBytes frame);

#endif
