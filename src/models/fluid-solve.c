/*
 * models/fluid-solve.c - max-min filling, softness, completion dates: once per instant, over what was touched.
 *
 * Hard rates (max_min) only depend on tight links, those that the caps of their flows could fill. So the component
 * grows from dirty links over tight links only; what it cannot reach keeps its hard rates. Softness then
 * acts link by link: a new share changes the rates of that link's classes and nothing else.
 */
#include "models/fluid-internal.h"
#include <math.h>

/* Rounding slack of a completion, in ps: doubles err by about 2^-50 of the duration and 2^-20 byte of `served`. */
#define SLACK_ABSOLUTE 1e-3
#define SLACK_RELATIVE 1e-12
/* Above this `served` loses digits: it is set back. */
#define SERVED_MAX 4294967296.0

/* ---- softness ---- */

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

static double soft_rate(const CsimFluid *f, const Class *c) {
  double rate = c->max_min, cap = (double)c->cap;
  const Link *seen = NULL;
  if (c->cap == 0) return rate;
  for (uint32_t i = c->first; i < c->first + c->n_links; i++) {
    const Link *l = &f->links[f->incidences[i].link];
    if (l->curve == 0 || l->loose || (seen && seen->share == l->share && seen->curve == l->curve)) continue;
    Curve *curve = g_ptr_array_index(f->curves, l->curve - 1);
    double x = cap / l->share;
    if (x >= curve->floor) rate = MIN(rate, cap * slow_down(curve, x));
    seen = l;
  }
  return rate;
}

/* ---- component ---- */

static void visit_link(CsimFluid *f, uint32_t link) {
  f->links[link].mark = f->epoch;
  f->component_links.at[f->component_links.n++] = link;
}

static void visit_class(CsimFluid *f, uint32_t class) {
  Class *c = &f->classes[class];
  c->mark = f->epoch;
  f->component_classes.at[f->component_classes.n++] = class;
  if (c->direct) csim_fluid_class_share(f, class);
  for (uint32_t i = c->first; i < c->first + c->n_links; i++) {
    const Link *l = &f->links[f->incidences[i].link];
    if (l->mark != f->epoch && (l->tight || csim_fluid_is_tight(l))) visit_link(f, f->incidences[i].link);
  }
}

/* Everything that tight links, of now or of the last solve, join to `seed`. */
static void grow_component(CsimFluid *f, uint32_t seed) {
  f->component_links.n = f->component_classes.n = 0;
  visit_link(f, seed);
  for (guint k = 0; k < f->component_links.n; k++) {
    uint32_t link = f->component_links.at[k];
    Link *l = &f->links[link];
    gboolean was_tight = l->tight;
    csim_fluid_touch(f, link);
    l->tight = csim_fluid_is_tight(l);
    if (!l->tight && !was_tight) continue;
    for (uint32_t i = l->first; i != NONE; i = f->incidences[i].next)
      if (f->classes[f->incidences[i].class].mark != f->epoch) visit_class(f, f->incidences[i].class);
  }
}

/* ---- progressive filling of the component ---- */

static void open_links(CsimFluid *f) {
  guint kept = 0;
  for (guint k = 0; k < f->component_links.n; k++) {
    Link *l = &f->links[f->component_links.at[k]];
    l->bound_now = FALSE;
    l->available = (double)l->capacity * WEIGHT_ONE;
    l->open = l->weight;
    if (l->tight) f->component_links.at[kept++] = f->component_links.at[k];
  }
  f->component_links.n = kept;
}

/* The lowest level at which a link of the component is full. */
static double next_level(CsimFluid *f) {
  double lowest = INFINITY;
  for (guint k = 0; k < f->component_links.n; k++) {
    Link *l = &f->links[f->component_links.at[k]];
    if (l->open == 0) continue;
    l->level = l->available / (double)l->open;
    lowest = MIN(lowest, l->level);
  }
  return lowest;
}

static void set_max_min(CsimFluid *f, uint32_t class, double rate) {
  Class *c = &f->classes[class];
  if (c->max_min == rate) return;
  c->max_min = rate;
  csim_fluid_queue_class(f, class);
  for (uint32_t i = c->first; i < c->first + c->n_links; i++)
    if (f->links[f->incidences[i].link].curve) csim_fluid_touch(f, f->incidences[i].link);
}

static void fix(CsimFluid *f, uint32_t class, double rate) {
  Class *c = &f->classes[class];
  c->fixed = TRUE;
  for (uint32_t i = c->first; i < c->first + c->n_links; i++) {
    Link *l = &f->links[f->incidences[i].link];
    int64_t weight = (int64_t)c->flows * f->incidences[i].weight;
    l->open -= weight;
    l->available = MAX(0, l->available - (double)weight * rate);
  }
  set_max_min(f, class, rate);
}

/* Classes that reach their caps before the water reaches `level`. */
static gboolean fix_capped(CsimFluid *f, double level) {
  gboolean any = FALSE;
  for (guint k = 0; k < f->component_classes.n; k++) {
    Class *c = &f->classes[f->component_classes.at[k]];
    if (c->fixed || c->cap == 0 || (double)c->cap > level) continue;
    fix(f, f->component_classes.at[k], (double)c->cap);
    any = TRUE;
  }
  return any;
}

static void fix_bound(CsimFluid *f, double level) {
  for (guint k = 0; k < f->component_links.n; k++) {
    Link *l = &f->links[f->component_links.at[k]];
    if (l->open == 0 || l->level > level) continue;
    l->bound_now = TRUE;
    for (uint32_t i = l->first; i != NONE; i = f->incidences[i].next)
      if (!f->classes[f->incidences[i].class].fixed) fix(f, f->incidences[i].class, level);
  }
}

static void drop_fixed(CsimFluid *f) {
  guint kept = 0;
  for (guint k = 0; k < f->component_classes.n; k++)
    if (!f->classes[f->component_classes.at[k]].fixed)
      f->component_classes.at[kept++] = f->component_classes.at[k];
  f->component_classes.n = kept;
}

static void fill(CsimFluid *f) {
  f->stats.solves += f->component_classes.n > 0;
  f->stats.flows_solved += f->component_classes.n;
  f->stats.links_solved += f->component_links.n;
  for (guint k = 0; k < f->component_classes.n; k++)
    f->classes[f->component_classes.at[k]].fixed = FALSE;
  open_links(f);
  while (f->component_classes.n > 0) {
    double level = next_level(f);
    if (!fix_capped(f, level)) fix_bound(f, level);
    drop_fixed(f);
  }
}

/* ---- what follows from new hard rates ---- */

static void note_binding(CsimFluid *f, Link *l) {
  gboolean binding = l->tight && l->bound_now;
  CsimTime now = csim_engine_now(f->engine);
  if (binding == l->binding) return;
  l->binding = binding;
  if (binding) l->bind_since = now;
  else l->bind += now - l->bind_since;
}

static double link_share(const CsimFluid *f, const Link *l) {
  double share = (double)l->capacity * WEIGHT_ONE / (double)l->weight;
  for (uint32_t i = l->first; i != NONE; i = f->incidences[i].next)
    share = MAX(share, f->classes[f->incidences[i].class].max_min);
  return share;
}

static void update_share(CsimFluid *f, Link *l) {
  double share = l->loose || l->flows == 0 ? INFINITY : link_share(f, l);
  if (share == l->share) return;
  l->share = share;
  for (uint32_t i = l->first; i != NONE; i = f->incidences[i].next) {
    uint32_t class = f->incidences[i].class;
    if (f->classes[class].direct && !l->loose) csim_fluid_class_share(f, class);
    csim_fluid_queue_class(f, class);
  }
}

static void update_touched(CsimFluid *f) {
  for (guint k = 0; k < f->touched.n; k++) {
    Link *l = &f->links[f->touched.at[k]];
    if (l->mark == f->epoch) note_binding(f, l);
    if (l->curve) update_share(f, l);
  }
}

/* ---- rates and dates ---- */

CsimTime csim_fluid_flow_date(const CsimFluid *f, const Class *c, const Flow *flow) {
  CsimTime now = csim_engine_now(f->engine);
  CsimRate whole = (CsimRate)c->rate;
  if (c->rate <= 0) return CSIM_TIME_NEVER;
  if (flow->start >= c->since && (double)whole == c->rate)
    return csim_time_add(flow->start, csim_fluid_rate_time(whole, flow->bytes));
  double left = (flow->finish - csim_fluid_served(f, c)) / c->rate / PS;
  left = ceil(left - SLACK_ABSOLUTE - left * SLACK_RELATIVE);
  if (left <= 0) return now;
  return left < 9e18 ? csim_time_add(now, (CsimTime)left) : CSIM_TIME_NEVER;
}

static void set_back_served(CsimFluid *f, Class *c) {
  for (uint32_t flow = c->head; flow != NONE; flow = f->flows[flow].next)
    f->flows[flow].finish -= c->served;
  c->served = 0;
}

static void touch_links(CsimFluid *f, const Class *c) {
  for (uint32_t i = c->first; i < c->first + c->n_links; i++)
    csim_fluid_touch(f, f->incidences[i].link);
}

static void refresh_class(CsimFluid *f, uint32_t class) {
  Class *c = &f->classes[class];
  c->queued = FALSE;
  if (c->flows == 0 || c->direct) return;
  double rate = soft_rate(f, c);
  if (rate != c->rate) {
    c->served = csim_fluid_served(f, c);
    c->at = c->since = csim_engine_now(f->engine);
    c->rate = rate;
    if (f->watch) touch_links(f, c);
    if (c->served > SERVED_MAX) set_back_served(f, c);
  }
  c->date = csim_fluid_flow_date(f, c, &f->flows[c->head]);
  csim_fluid_queue_home(f, f->incidences[c->first].link);
}

static void arm_home(CsimFluid *f, uint32_t link) {
  CsimTime due = CSIM_TIME_NEVER;
  f->links[link].home_queued = FALSE;
  for (uint32_t class = f->links[link].home_first; class != NONE; class = f->classes[class].home_next)
    due = MIN(due, f->classes[class].date);
  csim_timer_arm(f->engine, csim_fluid_timer(f, link), due);
}

static void tell_watch(CsimFluid *f) {
  for (guint k = 0; k < f->touched.n; k++) {
    const Link *l = &f->links[f->touched.at[k]];
    double rate = 0;
    for (uint32_t i = l->first; i != NONE; i = f->incidences[i].next) {
      const Class *c = &f->classes[f->incidences[i].class];
      rate += c->rate * (double)c->flows * ((double)f->incidences[i].weight / WEIGHT_ONE);
    }
    f->watch(f->watch_data, csim_engine_now(f->engine), f->touched.at[k], rate);
  }
}

void csim_fluid_settle(CsimEngine *engine, void *owner) {
  CsimFluid *f = owner;
  f->epoch++;
  for (guint k = 0; k < f->dirty.n; k++) {
    uint32_t link = f->dirty.at[k];
    f->links[link].dirty = FALSE;
    if (f->links[link].mark == f->epoch) continue;
    grow_component(f, link);
    fill(f);
  }
  f->dirty.n = 0;
  update_touched(f);
  for (guint k = 0; k < f->queued.n; k++)
    refresh_class(f, f->queued.at[k]);
  f->queued.n = 0;
  for (guint k = 0; k < f->homes.n; k++)
    arm_home(f, f->homes.at[k]);
  f->homes.n = 0;
  if (f->watch) tell_watch(f);
  for (guint k = 0; k < f->touched.n; k++)
    f->links[f->touched.at[k]].touched = FALSE;
  f->touched.n = 0;
  f->asked = FALSE;
}
