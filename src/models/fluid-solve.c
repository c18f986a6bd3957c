/*
 * models/fluid-solve.c - max-min filling, softness, completion dates: once per instant, over what was touched.
 *
 * Hard rates (max_min) only depend on tight links, those that the caps of their flows could fill. So the component
 * grows from dirty links over tight links only; what it cannot reach keeps its hard rates. Softness then
 * acts link by link: a new share changes the rates of that link's shared classes and nothing else. Last, flows that started
 * in this instant and met nothing but loose links get their rates and dates.
 */
#include "models/fluid-internal.h"
#include <math.h>

/* ---- component ---- */

static void visit_link(CsimFluid *f, uint32_t link) {
  f->links[link].mark = f->epoch;
  f->component_links.at[f->component_links.n++] = link;
}

static void visit_class(CsimFluid *f, uint32_t class) {
  Class *c = &f->classes[class];
  c->mark = f->epoch;
  f->component_classes.at[f->component_classes.n++] = class;
  for (uint32_t i = c->first; i < c->first + c->n_links; i++) {
    const Link *l = &f->links[f->incidences[i].link];
    if (c->direct && l->tight) csim_fluid_class_share(f, class);
    if (l->mark != f->epoch && (l->tight || l->was_tight)) visit_link(f, f->incidences[i].link);
  }
}

/* Everything that tight links, of now or of the last solve, join to `seed`, which is one. */
static void grow_component(CsimFluid *f, uint32_t seed) {
  f->component_links.n = f->component_classes.n = 0;
  visit_link(f, seed);
  for (guint k = 0; k < f->component_links.n; k++) {
    Link *l = &f->links[f->component_links.at[k]];
    csim_fluid_sweep(f, l);
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

/* ---- progressive filling of the component ---- */

static void open_links(CsimFluid *f) {
  for (guint k = 0; k < f->component_links.n; k++) {
    Link *l = &f->links[f->component_links.at[k]];
    LinkCold *cold = &f->cold[f->component_links.at[k]];
    l->bound = FALSE;
    cold->available = (double)l->capacity * WEIGHT_ONE;
    cold->open = l->weight;
  }
}

/* The lowest level at which a link of the component is full. */
static double next_level(CsimFluid *f) {
  double lowest = INFINITY;
  for (guint k = 0; k < f->component_links.n; k++) {
    LinkCold *cold = &f->cold[f->component_links.at[k]];
    if (cold->open == 0 || !f->links[f->component_links.at[k]].tight) continue;
    cold->level = cold->available / (double)cold->open;
    lowest = MIN(lowest, cold->level);
  }
  return lowest;
}

static void fix_at_cap(CsimFluid *f, uint32_t class) {
  Class *c = &f->classes[class];
  c->fixed = TRUE;
  for (uint32_t i = c->first; i < c->first + c->n_links; i++) {
    LinkCold *cold = &f->cold[f->incidences[i].link];
    int64_t weight = (int64_t)c->flows * f->incidences[i].weight;
    cold->open -= weight;
    cold->available = MAX(0, cold->available - (double)weight * (double)c->cap);
  }
  set_max_min(f, class, (double)c->cap);
}

static void fix_at_level(CsimFluid *f, uint32_t class, double level) {
  Class *c = &f->classes[class];
  c->fixed = TRUE;
  for (uint32_t i = c->first; i < c->first + c->n_links; i++)
    f->cold[f->incidences[i].link].open -= (int64_t)c->flows * f->incidences[i].weight;
  set_max_min(f, class, level);
}

/* Classes that reach their caps before the water reaches `level`. */
static gboolean fix_capped(CsimFluid *f, double level) {
  gboolean any = FALSE;
  for (guint k = 0; k < f->component_classes.n; k++) {
    Class *c = &f->classes[f->component_classes.at[k]];
    if (c->fixed || c->cap == 0 || (double)c->cap > level) continue;
    fix_at_cap(f, f->component_classes.at[k]);
    any = TRUE;
  }
  return any;
}

/* All of them before a flow is fixed: two links that are full together both bind, whichever comes first. `level` of the links
 * becomes their open weight before this round. */
static void mark_bound(CsimFluid *f, double level) {
  for (guint k = 0; k < f->component_links.n; k++) {
    Link *l = &f->links[f->component_links.at[k]];
    LinkCold *cold = &f->cold[f->component_links.at[k]];
    if (cold->open != 0 && l->tight && cold->level <= level) l->bound = TRUE;
    cold->level = (double)cold->open;
  }
}

/* Flows of one level leave their links in one step: what is left then depends neither on the order of the classes nor on whether
 * a class of weight 2 stands for two of weight 1 (exec/collapse.h). */
static void take_level(CsimFluid *f, double level) {
  for (guint k = 0; k < f->component_links.n; k++) {
    LinkCold *cold = &f->cold[f->component_links.at[k]];
    cold->available = MAX(0, cold->available - (cold->level - (double)cold->open) * level);
  }
}

static void fix_bound(CsimFluid *f, double level) {
  mark_bound(f, level);
  for (guint k = 0; k < f->component_links.n; k++) {
    const Link *l = &f->links[f->component_links.at[k]];
    if (!l->bound || f->cold[f->component_links.at[k]].open == 0) continue;
    for (uint32_t i = l->first; i != NONE; i = f->incidences[i].next)
      if (!f->classes[f->incidences[i].class].fixed) fix_at_level(f, f->incidences[i].class, level);
  }
  take_level(f, level);
}

static void drop_fixed(CsimFluid *f) {
  guint kept = 0;
  for (guint k = 0; k < f->component_classes.n; k++)
    if (!f->classes[f->component_classes.at[k]].fixed)
      f->component_classes.at[kept++] = f->component_classes.at[k];
  f->component_classes.n = kept;
}

static void fill(CsimFluid *f) {
  for (guint k = 0; k < f->component_classes.n; k++)
    f->classes[f->component_classes.at[k]].fixed = FALSE;
  open_links(f);
  while (f->component_classes.n > 0) {
    double level = next_level(f);
    if (!fix_capped(f, level)) fix_bound(f, level);
    drop_fixed(f);
  }
}

static void solve_component(CsimFluid *f) {
  f->stats.solves++;
  f->stats.flows_solved += f->component_classes.n;
  f->stats.links_solved += f->component_links.n;
  fill(f);
  for (guint k = 0; k < f->component_links.n; k++)
    csim_fluid_note_binding(f, &f->links[f->component_links.at[k]]);
}

/* ---- what follows from new hard rates ---- */

static double link_share(const CsimFluid *f, const Link *l) {
  double share = (double)l->capacity * WEIGHT_ONE / (double)l->weight;
  for (uint32_t i = l->first; i != NONE; i = f->incidences[i].next)
    share = MAX(share, f->classes[f->incidences[i].class].max_min);
  return share;
}

static void update_share(CsimFluid *f, Link *l) {
  csim_fluid_sweep(f, l);
  if (l->n_shared == 0) return;
  double share = link_share(f, l);
  if (share == l->share) return;
  l->share = share;
  for (uint32_t i = l->first; i != NONE; i = f->incidences[i].next)
    csim_fluid_queue_class(f, f->incidences[i].class);
}

static void update_touched(CsimFluid *f) {
  for (guint k = 0; k < f->touched.n; k++) {
    Link *l = &f->links[f->touched.at[k]];
    if (l->curve && l->n_shared > 0) update_share(f, l);
  }
}

/* ---- rates, dates, timers ---- */

static double soft_rate(const CsimFluid *f, const Class *c) {
  double rate = c->max_min;
  const Link *seen = NULL;
  if (c->cap == 0) return rate;
  for (uint32_t i = c->first; i < c->first + c->n_links; i++) {
    const Link *l = &f->links[f->incidences[i].link];
    if (l->curve == 0 || (seen && seen->share == l->share && seen->curve == l->curve)) continue;
    double softened = csim_fluid_soften(f, l, (double)c->cap);
    if (softened < rate) rate = softened;
    seen = l;
  }
  return rate;
}

static gboolean all_loose(const CsimFluid *f, const Class *c) {
  for (uint32_t i = c->first; i < c->first + c->n_links; i++)
    if (!f->links[f->incidences[i].link].loose) return FALSE;
  return TRUE;
}

/* All flows of before this instant have ended: whether that was seen before or after the others started must not matter. */
static gboolean is_anew(const CsimFluid *f, const Class *c) {
  if (c->head_start != f->now) return FALSE;
  for (uint32_t flow = c->head; flow != NONE; flow = f->flows[flow].next)
    if (f->flows[flow].start != f->now) return FALSE;
  return all_loose(f, c);
}

static void refresh_class(CsimFluid *f, uint32_t class) {
  Class *c = &f->classes[class];
  if (!c->queued) return;
  c->queued = FALSE;
  if (c->flows == 0 || c->direct) return;
  if (is_anew(f, c)) {
    csim_fluid_class_unshare(f, class);
    return;
  }
  csim_fluid_set_rate(f, c, soft_rate(f, c));
  csim_fluid_queue_home(f, f->incidences[c->first].link);
}

static void arm_home(CsimFluid *f, uint32_t link) {
  CsimTime due = CSIM_TIME_NEVER;
  if (!f->links[link].home_queued) return;
  f->links[link].home_queued = FALSE;
  for (uint32_t class = f->links[link].home_first; class != NONE; class = f->classes[class].home_next)
    due = MIN(due, f->classes[class].date);
  csim_timer_arm(f->engine, csim_fluid_timer(f, link), due);
}

/* A direct flow's rate: what the loads of this instant leave of its cap, in whole bytes/s. */
static void begin_direct(CsimFluid *f, uint32_t flow) {
  Flow *fl = &f->flows[flow];
  const Class *c = &f->classes[fl->class];
  double factor = 1;
  for (const Incidence *inc = &f->incidences[c->first], *end = inc + c->n_links; inc < end; inc++)
    if (f->links[inc->link].curve) factor = MIN(factor, csim_fluid_start_factor(f, &f->links[inc->link]));
  CsimRate rate = factor < 1 ? MAX(1, (CsimRate)((double)c->cap * factor)) : c->cap;
  CsimTime end = csim_fluid_after(f->now, csim_fluid_rate_time(rate, fl->bytes));
  fl->rate = (double)rate;
  fl->ref = csim_engine_at(f->engine, end, f->handler, CSIM_FLUID_EVENT_FLOW, flow, 0);
  f->stats.direct++;
}

static void begin_fresh(CsimFluid *f) {
  for (guint k = 0; k < f->n_fresh; k++) {
    const Flow *fl = &f->flows[f->fresh[k].flow];
    if (fl->generation == f->fresh[k].generation && f->classes[fl->class].direct) begin_direct(f, f->fresh[k].flow);
  }
  f->n_fresh = 0;
}

static double total_rate(const CsimFluid *f, const Class *c) {
  double rate = 0;
  if (!c->direct) return c->rate * (double)c->flows;
  for (uint32_t flow = c->head; flow != NONE; flow = f->flows[flow].next)
    rate += f->flows[flow].rate;
  return rate;
}

static void tell_watch(CsimFluid *f) {
  for (guint k = 0; k < f->touched.n; k++) {
    const Link *l = &f->links[f->touched.at[k]];
    double rate = 0;
    for (uint32_t i = l->first; i != NONE; i = f->incidences[i].next) {
      const Class *c = &f->classes[f->incidences[i].class];
      rate += total_rate(f, c) * ((double)f->incidences[i].weight / WEIGHT_ONE);
    }
    f->watch(f->watch_data, f->now, f->touched.at[k], rate);
  }
}

static void settle_dirty(CsimFluid *f, uint32_t link) {
  Link *l = &f->links[link];
  l->dirty = FALSE;
  if (f->watch) csim_fluid_touch(f, link);
  if (l->mark == f->epoch || csim_fluid_settle_star(f, link)) return;
  if (l->curve) csim_fluid_touch(f, link);
  if (!l->tight && !l->was_tight) return;
  grow_component(f, link);
  solve_component(f);
}

static void untouch(CsimFluid *f) {
  for (guint k = 0; k < f->touched.n; k++)
    f->links[f->touched.at[k]].touched = FALSE;
  f->touched.n = 0;
}

void csim_fluid_settle(CsimEngine *engine, void *owner) {
  CsimFluid *f = owner;
  f->now = csim_engine_now(engine);
  f->epoch++;
  for (guint k = 0; k < f->dirty.n; k++)
    settle_dirty(f, f->dirty.at[k]);
  f->dirty.n = 0;
  update_touched(f);
  for (guint k = 0; k < f->queued.n; k++)
    refresh_class(f, f->queued.at[k]);
  f->queued.n = 0;
  for (guint k = 0; k < f->homes.n; k++)
    arm_home(f, f->homes.at[k]);
  f->homes.n = 0;
  begin_fresh(f);
  if (f->watch) tell_watch(f);
  untouch(f);
  f->asked = FALSE;
}
