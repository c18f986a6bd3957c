#include "models/pkt/ibcc.h"

CsimIbCc csim_ibcc_usual(double step) {
  CsimIbCc cc = {.threshold = 8, .victims = TRUE, .increase = 1, .limit = CSIM_IBCC_ENTRIES - 1, .timer = 150 * CSIM_IBCC_TICK};
  for (int i = 0; i < CSIM_IBCC_ENTRIES; i++) cc.table[i] = i * step;
  return cc;
}

CsimBytes csim_ibcc_threshold(int weight, CsimBytes buffer) {
  return weight <= 0 ? INT64_MAX : buffer * (16 - MIN(weight, 15)) / 16;
}

/* The timer runs while the index is above its least. */
static void decay(CsimCcti *c, const CsimIbCc *cc, CsimTime now) {
  int above = c->index - cc->min;
  if (above <= 0) {
    c->index = cc->min;
    c->at = now;
    return;
  }
  CsimTime periods = (now - c->at) / cc->timer;
  c->index -= (int)MIN(periods, above);
  c->at = c->index > cc->min ? c->at + periods * cc->timer : now;
}

void csim_ccti_becn(CsimCcti *c, const CsimIbCc *cc, CsimTime now) {
  decay(c, cc, now);
  c->index = MIN(c->index + cc->increase, cc->limit);
}

double csim_ccti_delay(CsimCcti *c, const CsimIbCc *cc, CsimTime now) {
  decay(c, cc, now);
  return cc->table[c->index];
}
