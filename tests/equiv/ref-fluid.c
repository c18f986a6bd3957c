#include "ref-fluid.h"
#include <math.h>

static double load_of(const RefFlow *f, guint link) {
  double load = 0;
  for (guint k = 0; k < f->n_links; k++)
    if (f->link[k].link == link) load += (double)f->link[k].weight;
  return load;
}

/* The level at which `link` is full, when flows that are not fixed rise together. */
static double full_level(const RefLink *links, guint link, const RefFlow *flows, guint n, const gboolean *fixed) {
  double left = (double)links[link].capacity, weight = 0;
  for (guint i = 0; i < n; i++) {
    if (!flows[i].active) continue;
    if (fixed[i]) left -= flows[i].rate * load_of(&flows[i], link);
    else weight += load_of(&flows[i], link);
  }
  return weight > 0 ? MAX(left, 0) / weight : INFINITY;
}

static void max_min(const RefLink *links, guint n_links, RefFlow *flows, guint n) {
  g_autofree gboolean *fixed = g_new0(gboolean, n + 1);
  for (;;) {
    /* The next thing that happens as the water rises: a flow reaches its cap, or a link is full. */
    double level = INFINITY;
    guint full = G_MAXUINT, capped = G_MAXUINT;
    for (guint l = 0; l < n_links; l++) {
      double at = full_level(links, l, flows, n, fixed);
      if (at < level) level = at, full = l;
    }
    for (guint i = 0; i < n; i++)
      if (flows[i].active && !fixed[i] && flows[i].cap > 0 && (double)flows[i].cap <= level)
        level = (double)flows[i].cap, capped = i;
    if (capped != G_MAXUINT) {
      flows[capped].rate = level;
      fixed[capped] = TRUE;
    } else if (full != G_MAXUINT) {
      for (guint i = 0; i < n; i++)
        if (flows[i].active && !fixed[i] && load_of(&flows[i], full) > 0) flows[i].rate = level, fixed[i] = TRUE;
    } else {
      return;
    }
  }
}

static double soften(const RefLink *links, guint link, const RefFlow *flows, guint n, const double *hard,
                     const RefFlow *flow) {
  double weight = 0, level = 0, p = links[link].softness, cap = (double)flow->cap;
  for (guint i = 0; i < n; i++) {
    double load = flows[i].active ? load_of(&flows[i], link) : 0;
    weight += load;
    if (load > 0) level = MAX(level, hard[i]);
  }
  double x = cap / MAX((double)links[link].capacity / weight, level);
  return pow(x, p) / p < CSIM_FLUID_SOFT_FLOOR ? cap : cap * pow(1 + pow(x, p), -1 / p);
}

void ref_rates(const RefLink *links, guint n_links, RefFlow *flows, guint n) {
  g_autofree double *hard = g_new0(double, n + 1);
  max_min(links, n_links, flows, n);
  for (guint i = 0; i < n; i++)
    hard[i] = flows[i].active ? flows[i].rate : 0;
  for (guint i = 0; i < n; i++) {
    if (!flows[i].active || flows[i].cap == 0 || hard[i] == 0) continue;
    for (guint k = 0; k < flows[i].n_links; k++) {
      guint l = flows[i].link[k].link;
      if (links[l].softness > 0) flows[i].rate = MIN(flows[i].rate, soften(links, l, flows, n, hard, &flows[i]));
    }
  }
}

/* ---- a whole schedule ---- */

static CsimTime end_of(const RefFlow *f, CsimTime now) {
  if (f->rate <= 0) return CSIM_TIME_NEVER;
  long double ps = f->left / (long double)f->rate * 1e12L;
  return ps > 9e18L ? CSIM_TIME_NEVER : now + (CsimTime)MAX(ceill(ps - 1e-3L), 0);
}

static CsimTime next_date(const RefFlow *flows, guint n, CsimTime now, CsimTime change) {
  CsimTime next = change;
  for (guint i = 0; i < n; i++) {
    const RefFlow *f = &flows[i];
    if (f->done) continue;
    if (!f->active) next = MIN(next, f->start);
    else next = MIN(next, MIN(f->cancel, end_of(f, now)));
  }
  return next;
}

static void advance(RefFlow *flows, guint n, CsimTime from, CsimTime to) {
  for (guint i = 0; i < n; i++) {
    RefFlow *f = &flows[i];
    if (!f->active) continue;
    gboolean ends = end_of(f, from) <= to;
    f->left -= (long double)f->rate * 1e-12L * (long double)(to - from);
    if (!ends && f->cancel > to) continue;
    f->active = FALSE;
    f->done = TRUE;
    f->end = ends ? to : CSIM_TIME_NEVER;
  }
}

static void start_flows(RefFlow *flows, guint n, CsimTime now) {
  for (guint i = 0; i < n; i++) {
    RefFlow *f = &flows[i];
    if (f->done || f->active || f->start != now) continue;
    f->active = f->bytes > 0;
    f->done = f->bytes == 0;
    f->end = f->done ? now : CSIM_TIME_NEVER;
    f->left = (long double)f->bytes;
  }
}

void ref_run(RefLink *links, guint n_links, RefFlow *flows, guint n, const RefChange *changes, guint n_changes) {
  CsimTime now = 0;
  guint change = 0;
  for (;;) {
    CsimTime next = next_date(flows, n, now, change < n_changes ? changes[change].at : CSIM_TIME_NEVER);
    if (next == CSIM_TIME_NEVER) return;
    advance(flows, n, now, next);
    now = next;
    for (; change < n_changes && changes[change].at == now; change++)
      links[changes[change].link].capacity = changes[change].capacity;
    start_flows(flows, n, now);
    ref_rates(links, n_links, flows, n);
  }
}
