/*
 * models/fluid-rate.c - the soft minimum, the service of a class at its rate, and dates of completion.
 */
#include "models/fluid-internal.h"
#include <math.h>

/* Rounding slack of a completion, in ps: doubles err by about 2^-50 of the duration and 2^-20 byte of `served`. */
#define SLACK_ABSOLUTE 1e-3
#define SLACK_RELATIVE 1e-12
/* Above this `served` loses digits: it is set back. */
#define SERVED_MAX 4294967296.0

guint8 csim_fluid_curve(CsimFluid *f, double softness) {
  if (softness <= 0) return 0;
  for (guint i = 0; i < f->curves->len; i++)
    if (((Curve *)g_ptr_array_index(f->curves, i))->p == softness) return (guint8)(i + 1);
  g_assert(f->curves->len < 255);
  Curve *curve = g_new0(Curve, 1); /* memo of zeros: x = 0 is below the floor, never looked up */
  curve->p = softness;
  curve->floor = pow(CSIM_FLUID_SOFT_FLOOR * softness, 1 / softness);
  g_ptr_array_add(f->curves, curve);
  return (guint8)f->curves->len;
}

static double slow_down(Curve *curve, double x) {
  union { double d; uint64_t u; } bits = {.d = x};
  guint slot = (guint)((bits.u * UINT64_C(0x9E3779B97F4A7C15)) >> 54) % CURVE_MEMO;
  if (curve->memo[slot].x != x) {
    curve->memo[slot].x = x;
    curve->memo[slot].y = pow(1 + pow(x, curve->p), -1 / curve->p);
  }
  return curve->memo[slot].y;
}

/* As (double)load, which is a call for 128 bits; most loads fit 63. */
static double as_double(Demand load) { return load >> 63 == 0 ? (double)(int64_t)load : (double)load; }

double csim_fluid_start_factor(const CsimFluid *f, const Link *l) {
  Curve *curve = g_ptr_array_index(f->curves, l->curve - 1);
  double x = as_double(l->demand) / ((double)l->capacity * WEIGHT_ONE);
  return x < curve->floor ? 1 : slow_down(curve, x);
}

double csim_fluid_soften(const CsimFluid *f, const Link *l, double cap) {
  Curve *curve = g_ptr_array_index(f->curves, l->curve - 1);
  double x = cap / l->share;
  return x < curve->floor ? cap : cap * slow_down(curve, x);
}

CsimTime csim_fluid_head_date(const CsimFluid *f, const Class *c) {
  if (c->rate <= 0) return CSIM_TIME_NEVER;
  if (c->head_start >= c->since && (double)(CsimRate)c->rate == c->rate)
    return csim_fluid_after(c->head_start, csim_fluid_rate_time((CsimRate)c->rate, f->flows[c->head].bytes));
  double left = (c->head_finish - csim_fluid_served(f, c)) / c->rate * 1e12;
  left -= SLACK_ABSOLUTE + left * SLACK_RELATIVE;
  if (left <= 0) return f->now;
  if (left >= 9e18) return CSIM_TIME_NEVER;
  CsimTime whole = (CsimTime)left;
  return csim_fluid_after(f->now, whole + ((double)whole < left)); /* rounded up */
}

static void set_back_served(CsimFluid *f, Class *c) {
  for (uint32_t flow = c->head; flow != NONE; flow = f->flows[flow].next)
    f->flows[flow].finish -= c->served;
  c->head_finish -= c->served;
  c->served = 0;
}

static void watch_links(CsimFluid *f, const Class *c) {
  for (uint32_t i = c->first; i < c->first + c->n_links; i++)
    csim_fluid_touch(f, f->incidences[i].link);
}

void csim_fluid_set_rate(CsimFluid *f, Class *c, double rate) {
  if (rate != c->rate) {
    c->served = csim_fluid_served(f, c);
    c->at = c->since = f->now;
    c->rate = rate;
    if (c->served > SERVED_MAX) set_back_served(f, c);
    if (f->watch) watch_links(f, c);
  }
  c->date = csim_fluid_head_date(f, c);
}
