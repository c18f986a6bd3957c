#include "models/pkt/dcqcn.h"

#include <math.h>

#define MBPS 125000 /* bytes/s */

CsimDcqcn csim_dcqcn_paper(CsimRate ai) {
  return (CsimDcqcn){.g = 1.0 / 256,
                     .initial_alpha = 1,
                     .alpha_period = 55 * CSIM_US,
                     .timer = 55 * CSIM_US,
                     .byte_counter = 10000000,
                     .threshold = 5,
                     .ai = ai,
                     .hai = 10 * ai,
                     .hai_grows = TRUE,
                     .min_rate = MBPS,
                     .target = CSIM_DCQCN_TARGET_ALWAYS};
}

CsimDcqcn csim_dcqcn_connectx(void) {
  return (CsimDcqcn){.g = 5.0 / 1024,
                     .initial_alpha = 1023.0 / 1024,
                     .alpha_period = CSIM_US,
                     .cut_period = 4 * CSIM_US,
                     .timer = 300 * CSIM_US,
                     .threshold = 1,
                     .stage_after = TRUE,
                     .ai = 5 * MBPS,
                     .hai = 50 * MBPS,
                     .min_rate = MBPS,
                     .min_factor = 0.5,
                     .target = CSIM_DCQCN_TARGET_AFTER_INCREASE};
}

CsimDcqcn csim_dcqcn_hpcc(CsimRate link) {
  CsimDcqcn p = csim_dcqcn_connectx();
  CsimRate gbps = link / (1000 * MBPS);
  p.g = 1.0 / 256;
  p.initial_alpha = 1;
  p.ai = gbps * 5 * MBPS / 25;
  p.hai = gbps * 50 * MBPS / 25;
  p.min_rate = 100 * MBPS;
  p.min_factor = 0;
  return p;
}

void csim_rp_init(CsimRp *rp, const CsimDcqcn *params, CsimRate line) {
  *rp = (CsimRp){.p = params,
                 .line = (double)line,
                 .current = (double)line,
                 .target = (double)line,
                 .alpha = params->initial_alpha,
                 .cut_at = CSIM_TIME_NEVER,
                 .timer_at = CSIM_TIME_NEVER};
}

/* Alpha steps due in (alpha_at, to]; a CNP counts in the first of them. */
static void alpha_to(CsimRp *rp, CsimTime to) {
  int64_t k = (to - rp->alpha_at) / rp->p->alpha_period;
  if (k <= 0) return;
  double keep = 1 - rp->p->g;
  rp->alpha = keep * rp->alpha + (rp->alpha_cnp ? rp->p->g : 0);
  rp->alpha_cnp = FALSE;
  if (k > 1) rp->alpha *= pow(keep, (double)(k - 1));
  rp->alpha_at += k * rp->p->alpha_period;
}

static void cut(CsimRp *rp, CsimTime at) {
  if (rp->p->target == CSIM_DCQCN_TARGET_ALWAYS || rp->increased) rp->target = rp->current;
  rp->current *= MAX(1 - rp->alpha / 2, rp->p->min_factor);
  rp->current = MAX(rp->current, (double)rp->p->min_rate);
  rp->increased = FALSE;
  rp->t = rp->bc = 0;
  rp->bytes = 0;
  rp->timer_at = at + rp->p->timer;
  rp->cuts++;
}

static void increase(CsimRp *rp) {
  gboolean counts = rp->p->byte_counter > 0;
  int64_t most = counts ? MAX(rp->t, rp->bc) : rp->t, least = counts ? MIN(rp->t, rp->bc) : rp->t;
  int f = rp->p->threshold;
  rp->increased = TRUE;
  if (least > f)
    rp->target += (double)(rp->p->hai_grows ? least - f : 1) * (double)rp->p->hai;
  else if (most >= f)
    rp->target += (double)rp->p->ai;
  rp->target = MIN(rp->target, rp->line);
  rp->current = MIN((rp->current + rp->target) / 2, rp->line);
}

static void stage(CsimRp *rp, int64_t *counter) {
  if (!rp->p->stage_after) ++*counter;
  increase(rp);
  if (rp->p->stage_after) ++*counter;
}

/* At line rate increases change nothing but the stages, which the next cut clears. */
static void skip_timer(CsimRp *rp, CsimTime now) {
  int64_t k = (now - rp->timer_at) / rp->p->timer + 1;
  rp->t += k;
  rp->increased = TRUE;
  rp->timer_at += k * rp->p->timer;
}

/* The next cut date after `now` that lies whole periods after the first CNP. */
static void next_cut_date(CsimRp *rp, CsimTime now) {
  if (rp->cut_at <= now) rp->cut_at += ((now - rp->cut_at) / rp->p->cut_period + 1) * rp->p->cut_period;
}

static void advance(CsimRp *rp, CsimTime now) {
  if (!rp->limited) return;
  for (;;) {
    CsimTime cut_at = rp->cut_cnp ? rp->cut_at : CSIM_TIME_NEVER;
    if (MIN(cut_at, rp->timer_at) > now) return;
    if (cut_at <= rp->timer_at) {
      alpha_to(rp, cut_at);
      rp->cut_cnp = FALSE;
      cut(rp, cut_at);
    } else if (rp->current >= rp->line && rp->target >= rp->line && !rp->cut_cnp) {
      skip_timer(rp, now);
    } else {
      rp->timer_at += rp->p->timer;
      stage(rp, &rp->t);
    }
  }
}

static void first_cnp(CsimRp *rp, CsimTime now) {
  rp->limited = TRUE;
  rp->alpha = rp->p->initial_alpha;
  rp->alpha_at = now;
  rp->cut_at = now;
  rp->increased = TRUE; /* the target is the line rate either way */
}

/* As published: cut with the alpha so far, then let alpha see the CNP. */
static void cnp_cuts(CsimRp *rp, CsimTime now) {
  cut(rp, now);
  rp->alpha = (1 - rp->p->g) * rp->alpha + rp->p->g;
  rp->alpha_at = now;
}

/* ConnectX: the next alpha step and the next cut date will see it. The first CNP cuts at once and sets alpha.
 */
static void cnp_waits(CsimRp *rp, CsimTime now, gboolean first) {
  rp->alpha_cnp = !first;
  if (!rp->cut_cnp && !first) next_cut_date(rp, now);
  rp->cut_cnp = TRUE;
  advance(rp, now);
}

void csim_rp_cnp(CsimRp *rp, CsimTime now) {
  gboolean first = !rp->limited;
  advance(rp, now);
  if (first)
    first_cnp(rp, now);
  else
    alpha_to(rp, now);
  if (rp->p->cut_period == 0)
    cnp_cuts(rp, now);
  else
    cnp_waits(rp, now, first);
}

double csim_rp_rate(CsimRp *rp, CsimTime now) {
  advance(rp, now);
  return rp->current;
}

void csim_rp_sent(CsimRp *rp, CsimTime now, CsimBytes frame) {
  if (!rp->limited || rp->p->byte_counter == 0) return;
  advance(rp, now);
  rp->bytes += frame;
  if (rp->bytes < rp->p->byte_counter) return;
  rp->bytes -= rp->p->byte_counter;
  stage(rp, &rp->bc);
}
