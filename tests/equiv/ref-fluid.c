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

static double slow_down(double x, double p) { return pow(x, p) / p < CSIM_FLUID_SOFT_FLOOR ? 1 : pow(1 + pow(x, p), -1 / p); }

/* The slow-down of a flow that starts: by the caps of the flows of its links, which fit. */
static double start_factor(const RefLink *links, const RefFlow *flows, guint n, const RefFlow *f) {
  double factor = 1;
  for (guint k = 0; k < f->n_links; k++) {
    const RefLink *l = &links[f->link[k].link];
    double load = 0;
    for (guint i = 0; i < n; i++)
      if (flows[i].active) load += load_of(&flows[i], f->link[k].link) * (double)flows[i].cap;
    if (l->softness > 0) factor = MIN(factor, slow_down(load / (double)l->capacity, l->softness));
  }
  return factor;
}

/* The rate of a flow of a coupled group. */
static double soft_rate(const RefLink *links, const RefFlow *flows, guint n, const double *hard, guint flow) {
  const RefFlow *f = &flows[flow];
  double rate = hard[flow];
  for (guint k = 0; k < f->n_links && f->cap > 0; k++) {
    guint link = f->link[k].link;
    double weight = 0, level = 0;
    for (guint i = 0; i < n; i++) {
      double load = flows[i].active ? load_of(&flows[i], link) : 0;
      weight += load;
      if (load > 0) level = MAX(level, hard[i]);
    }
    double share = MAX((double)links[link].capacity / weight, level);
    if (links[link].softness > 0) rate = MIN(rate, (double)f->cap * slow_down((double)f->cap / share, links[link].softness));
  }
  return rate;
}

/* Do the caps of a link's flows fit? Without rounding. */
static gboolean fits(const RefLink *links, guint link, const RefFlow *flows, guint n) {
  __int128 sum = 0;
  for (guint i = 0; i < n; i++)
    for (guint k = 0; flows[i].active && k < flows[i].n_links; k++) {
      if (flows[i].link[k].link != link) continue;
      if (flows[i].cap == 0) return FALSE;
      sum += (__int128)((double)flows[i].link[k].weight * 16777216 + 0.5) * flows[i].cap;
    }
  return sum <= (__int128)links[link].capacity * 16777216;
}

static gboolean same_group(const RefFlow *a, const RefFlow *b) {
  if (a->n_links != b->n_links || a->cap != b->cap) return FALSE;
  for (guint k = 0; k < a->n_links; k++)
    if (a->link[k].link != b->link[k].link || a->link[k].weight != b->link[k].weight) return FALSE;
  return TRUE;
}

/* A group is coupled when a link of it does not fit, and until it is empty. */
static void couple(const RefLink *links, RefFlow *flows, guint n) {
  for (guint i = 0; i < n; i++) {
    if (!flows[i].active) continue;
    for (guint k = 0; k < flows[i].n_links; k++)
      if (!fits(links, flows[i].link[k].link, flows, n)) flows[i].coupled = TRUE;
  }
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++)
      if (flows[i].active && flows[j].active && flows[j].coupled && same_group(&flows[i], &flows[j])) flows[i].coupled = TRUE;
}

void ref_rates(const RefLink *links, guint n_links, RefFlow *flows, guint n) {
  g_autofree double *hard = g_new0(double, n + 1), *before = g_new0(double, n + 1);
  for (guint i = 0; i < n; i++)
    before[i] = flows[i].rate;
  couple(links, flows, n);
  max_min(links, n_links, flows, n);
  for (guint i = 0; i < n; i++)
    hard[i] = flows[i].active ? flows[i].rate : 0;
  for (guint i = 0; i < n; i++) {
    RefFlow *f = &flows[i];
    if (!f->active) continue;
    double factor = f->fresh && !f->coupled ? start_factor(links, flows, n, f) : 1;
    if (f->coupled) f->rate = hard[i] == 0 ? 0 : soft_rate(links, flows, n, hard, i);
    else if (!f->fresh) f->rate = before[i];
    else f->rate = factor < 1 ? MAX(1, floor((double)f->cap * factor)) : (double)f->cap;
    f->fresh = FALSE;
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
    f->active = f->fresh = f->bytes > 0;
    f->done = f->bytes == 0;
    f->end = f->done ? now : CSIM_TIME_NEVER;
    f->left = (long double)f->bytes;
  }
}

static void take_probes(const RefSchedule *s, const RefFlow *flows, guint n, CsimTime from, CsimTime to) {
  for (guint k = 0; k < s->n_probes; k++) {
    if (s->probes[k].at < from || s->probes[k].at >= to) continue;
    for (guint i = 0; i < n; i++)
      s->probes[k].rate[i] = flows[i].active ? flows[i].rate : 0;
  }
}

void ref_run(RefLink *links, guint n_links, RefFlow *flows, guint n, const RefSchedule *s) {
  const RefChange *changes = s->changes;
  CsimTime now = 0;
  guint change = 0;
  for (;;) {
    CsimTime next = next_date(flows, n, now, change < s->n_changes ? changes[change].at : CSIM_TIME_NEVER);
    take_probes(s, flows, n, now, next);
    if (next == CSIM_TIME_NEVER) return;
    advance(flows, n, now, next);
    now = next;
    for (; change < s->n_changes && changes[change].at == now; change++)
      links[changes[change].link].capacity = changes[change].capacity;
    start_flows(flows, n, now);
    ref_rates(links, n_links, flows, n);
  }
}
