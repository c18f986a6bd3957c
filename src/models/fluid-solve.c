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
    double soft = x < curve->floor ? cap : cap * slow_down(curve, x);
    if (soft < rate) rate = soft;
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
    if (l->mark != f->epoch && (l->tight || l->was_tight)) visit_link(f, f->incidences[i].link);
  }
}

/* Everything that tight links, of now or of the last solve, join to `seed`, which is one. */
static void grow_component(CsimFluid *f, uint32_t seed) {
  f->component_links.n = f->component_classes.n = 0;
  visit_link(f, seed);
  for (guint k = 0; k < f->component_links.n; k++) {
    const Link *l = &f->links[f->component_links.at[k]];
    if (l->curve) csim_fluid_touch(f, f->component_links.at[k]);
    for (uint32_t i = l->first; i != NONE; i = f->incidences[i].next)
      if (f->classes[f->incidences[i].class].mark != f->epoch) visit_class(f, f->incidences[i].class);
  }
}

static void set_max_min(CsimFluid *f, uint32_t class, double rate) {
  Class *c = &f->classes[class];
  if (c->max_min == rate) return;
  c->max_min = rate;
  csim_fluid_queue_class(f, class);
  for (uint32_t i = c->first; i < c->first + c->n_links; i++)
    if (f->links[f->incidences[i].link].curve) csim_fluid_touch(f, f->incidences[i].link);
}

/* ---- the usual component: every tight link carries all its classes, without weights ---- */

/* The smallest capacity of a tight link, infinite if there is none; negative if the component is not of that kind. */
static double common_capacity(const CsimFluid *f) {
  double capacity = INFINITY;
  for (guint k = 0; k < f->component_links.n; k++) {
    const Link *l = &f->links[f->component_links.at[k]];
    if (!l->tight) continue;
    if (l->n_classes != f->component_classes.n || l->weight != (int64_t)l->flows * WEIGHT_ONE) return -1;
    capacity = MIN(capacity, (double)l->capacity);
  }
  for (guint k = 0; k < f->component_classes.n; k++)
    if (f->classes[f->component_classes.at[k]].repeats) return -1;
  return capacity;
}

/* Takes the classes out whose caps are below the level of what is left; the number of flows that stay. */
static int64_t fill_to_caps(CsimFluid *f, double *left, int64_t open) {
  uint32_t *class = f->component_classes.at;
  for (guint before = 0; before != f->component_classes.n && open > 0;) {
    double level = *left / (double)open;
    guint kept = 0;
    before = f->component_classes.n;
    for (guint k = 0; k < before; k++) {
      const Class *c = &f->classes[class[k]];
      if (c->cap == 0 || (double)c->cap > level) {
        class[kept++] = class[k];
        continue;
      }
      set_max_min(f, class[k], (double)c->cap);
      *left = MAX(0, *left - (double)c->flows * (double)c->cap);
      open -= c->flows;
    }
    f->component_classes.n = kept;
  }
  return open;
}

static void fill_common(CsimFluid *f, double capacity) {
  int64_t open = 0;
  double left = capacity;
  for (guint k = 0; k < f->component_classes.n; k++)
    open += f->classes[f->component_classes.at[k]].flows;
  open = fill_to_caps(f, &left, open);
  for (guint k = 0; k < f->component_classes.n; k++)
    set_max_min(f, f->component_classes.at[k], left / (double)open);
  for (guint k = 0; k < f->component_links.n; k++) {
    Link *l = &f->links[f->component_links.at[k]];
    l->bound = open > 0 && l->tight && (double)l->capacity == capacity;
  }
}

/* ---- any component: progressive filling ---- */

static void open_links(CsimFluid *f) {
  for (guint k = 0; k < f->component_links.n; k++) {
    Link *l = &f->links[f->component_links.at[k]];
    l->bound = FALSE;
    l->available = (double)l->capacity * WEIGHT_ONE;
    l->open = l->weight;
  }
}

/* The lowest level at which a link of the component is full. */
static double next_level(CsimFluid *f) {
  double lowest = INFINITY;
  for (guint k = 0; k < f->component_links.n; k++) {
    Link *l = &f->links[f->component_links.at[k]];
    if (l->open == 0 || !l->tight) continue;
    l->level = l->available / (double)l->open;
    lowest = MIN(lowest, l->level);
  }
  return lowest;
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
    if (l->open == 0 || !l->tight || l->level > level) continue;
    l->bound = TRUE;
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

static void fill_any(CsimFluid *f) {
  for (guint k = 0; k < f->component_classes.n; k++)
    f->classes[f->component_classes.at[k]].fixed = FALSE;
  open_links(f);
  while (f->component_classes.n > 0) {
    double level = next_level(f);
    if (!fix_capped(f, level)) fix_bound(f, level);
    drop_fixed(f);
  }
}

static void note_binding(const CsimFluid *f, Link *l) {
  l->was_tight = l->tight;
  if (l->bound == l->binding) return;
  l->binding = l->bound;
  if (l->binding) l->bind_since = f->now;
  else l->bind += f->now - l->bind_since;
}

static void solve_component(CsimFluid *f) {
  f->stats.solves++;
  f->stats.flows_solved += f->component_classes.n;
  f->stats.links_solved += f->component_links.n;
  double capacity = common_capacity(f);
  if (capacity >= 0) fill_common(f, capacity);
  else fill_any(f);
  for (guint k = 0; k < f->component_links.n; k++)
    note_binding(f, &f->links[f->component_links.at[k]]);
}

/* ---- what follows from new hard rates ---- */

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
    if (l->curve) update_share(f, l);
  }
}

/* ---- rates and dates ---- */

CsimTime csim_fluid_flow_date(const CsimFluid *f, const Class *c, const Flow *flow) {
  if (c->rate <= 0) return CSIM_TIME_NEVER;
  if (flow->start >= c->since && (double)(CsimRate)c->rate == c->rate)
    return csim_fluid_after(flow->start, csim_fluid_rate_time((CsimRate)c->rate, flow->bytes));
  double left = (flow->finish - csim_fluid_served(f, c)) / c->rate / PS;
  left -= SLACK_ABSOLUTE + left * SLACK_RELATIVE;
  if (left <= 0) return f->now;
  if (left >= 9e18) return CSIM_TIME_NEVER;
  CsimTime whole = (CsimTime)left;
  return csim_fluid_after(f->now, whole + ((double)whole < left)); /* rounded up */
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
    c->at = c->since = f->now;
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
    f->watch(f->watch_data, f->now, f->touched.at[k], rate);
  }
}

void csim_fluid_settle(CsimEngine *engine, void *owner) {
  CsimFluid *f = owner;
  f->now = csim_engine_now(engine);
  f->epoch++;
  for (guint k = 0; k < f->dirty.n; k++) {
    uint32_t link = f->dirty.at[k];
    f->links[link].dirty = FALSE;
    if (f->links[link].curve || f->watch) csim_fluid_touch(f, link);
    if (f->links[link].mark == f->epoch || !(f->links[link].tight || f->links[link].was_tight)) continue;
    grow_component(f, link);
    solve_component(f);
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
