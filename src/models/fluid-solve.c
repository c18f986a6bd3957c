/*
 * models/fluid-solve.c - max-min filling, softness, completion dates: once per instant, over what changed.
 *
 * Hard rates (max_min) only depend on tight links, those that the caps of their flows could fill. They are mended locally. A
 * *piece* is a set of tight links with all classes on them. It begins with the links whose load changed, is filled
 * while all other links keep the level at which they are full, and grows by those links for which that was not true:
 *   - a full link that loses or gains a little because a class of the piece changed,
 *   - a link with room that the new rates (nearly) fill.
 * After a few growths everything that tight links join is taken. When none is left, every flow has its cap or a full link on which nobody is faster: the rates are the max-min rates,
 * of which there is only one set. Softness then acts link by link: a new share changes the rates of that link's shared
 * classes and nothing else. Last, flows that started in this instant and met nothing but loose links get their rates and dates.
 *
 * Rates must not depend on how a piece came about, nor on whether a class of weight 2 stands for two of weight 1
 * (exec/collapse.h). So what a link has left is C - (exact sum of its flows at their caps) - (its flows at each level in
 * ascending order, all of a level in one step).
 */
#include "models/fluid-internal.h"
#include <math.h>

#define NEARLY_FULL (1 - 1e-9) /* far above the error of a sum, far below what a flow could notice */
#define MOST_GROWTHS 3         /* a change that travels further (many flows on every NIC) travels everywhere: take all at once */

/* ---- the piece ---- */

static void visit_link(CsimFluid *f, uint32_t link) {
  f->links[link].mark = f->epoch;
  f->links[link].dirty = FALSE;
  f->piece_links.at[f->piece_links.n++] = link;
}

static gboolean in_piece(const CsimFluid *f, const Link *l) { return l->mark == f->epoch; }

/* Its other links that changed in this instant belong to the piece from the start; all of them, when the piece is everything. */
static void visit_links_of(CsimFluid *f, const Class *c) {
  for (uint32_t i = c->first; i < c->first + c->n_links; i++) {
    const Link *l = &f->links[f->incidences[i].link];
    if ((l->dirty || f->everything) && !in_piece(f, l) && (l->tight || l->was_tight)) visit_link(f, f->incidences[i].link);
  }
}

static void visit_class(CsimFluid *f, uint32_t class) {
  Class *c = &f->classes[class];
  c->mark = f->epoch;
  for (uint32_t i = c->first; i < c->first + c->n_links && c->direct; i++)
    if (f->links[f->incidences[i].link].tight) csim_fluid_class_share(f, class);
  visit_links_of(f, c);
  f->piece[f->n_piece++] = (PieceClass){.class = class, .before = c->max_min};
}

/* From the links that were added last. */
static void take_classes(CsimFluid *f, guint from) {
  for (guint k = from; k < f->piece_links.n; k++) {
    Link *l = &f->links[f->piece_links.at[k]];
    csim_fluid_sweep(f, l);
    if (l->curve) csim_fluid_touch(f, f->piece_links.at[k]);
    for (uint32_t i = l->first; i != NONE; i = f->incidences[i].next)
      if (f->classes[f->incidences[i].class].mark != f->epoch) visit_class(f, f->incidences[i].class);
  }
}

static double load_of(const CsimFluid *f, const Link *l) {
  double load = 0;
  for (uint32_t i = l->first; i != NONE; i = f->incidences[i].next) {
    const Class *c = &f->classes[f->incidences[i].class];
    load += (double)c->flows * (double)f->incidences[i].weight * c->max_min;
  }
  return load;
}

static gboolean must_join(const CsimFluid *f, const Link *l) {
  if (!l->tight || in_piece(f, l)) return FALSE;
  return l->binding || load_of(f, l) >= (double)l->capacity * WEIGHT_ONE * NEARLY_FULL;
}

/* TRUE if links joined. */
static gboolean grow_piece(CsimFluid *f) {
  guint links = f->piece_links.n, classes = f->n_piece;
  for (guint k = 0; k < classes; k++) {
    const Class *c = &f->classes[f->piece[k].class];
    if (c->max_min == f->piece[k].before) continue;
    for (uint32_t i = c->first; i < c->first + c->n_links; i++)
      if (must_join(f, &f->links[f->incidences[i].link])) visit_link(f, f->incidences[i].link);
  }
  if (f->piece_links.n == links) return FALSE;
  for (guint k = 0; k < classes && f->everything; k++)
    visit_links_of(f, &f->classes[f->piece[k].class]);
  take_classes(f, links);
  return TRUE;
}

static void tell_class(CsimFluid *f, const PieceClass *p) {
  const Class *c = &f->classes[p->class];
  if (c->max_min == p->before) return;
  csim_fluid_queue_class(f, p->class);
  for (uint32_t i = c->first; i < c->first + c->n_links; i++)
    if (f->links[f->incidences[i].link].curve) csim_fluid_touch(f, f->incidences[i].link);
}

static void solve_piece(CsimFluid *f, uint32_t seed) {
  f->stats.solves++;
  f->epoch++;
  f->piece_links.n = f->n_piece = 0;
  f->everything = FALSE;
  visit_link(f, seed);
  take_classes(f, 0);
  for (guint growths = 1;; growths++) {
    csim_fluid_fill(f);
    f->everything = growths >= MOST_GROWTHS;
    if (!grow_piece(f)) break;
  }
  for (guint k = 0; k < f->n_piece; k++)
    tell_class(f, &f->piece[k]);
  for (guint k = 0; k < f->piece_links.n; k++) {
    csim_fluid_note_binding(f, &f->links[f->piece_links.at[k]]);
    f->cold[f->piece_links.at[k]].place = NONE;
  }
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
  for (guint i = 0; i < c->n_links; i++) {
    int64_t weight;
    const Link *l = &f->links[csim_fluid_class_link(f, c, i, &weight)];
    if (l->curve) factor = MIN(factor, csim_fluid_start_factor(f, l));
  }
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
  if (f->watch) csim_fluid_touch(f, link);
  if (!l->dirty) return; /* solved with another */
  l->dirty = FALSE;
  if (csim_fluid_settle_star(f, link)) return;
  if (l->curve) csim_fluid_touch(f, link);
  if (l->tight || l->was_tight) solve_piece(f, link);
}

static void untouch(CsimFluid *f) {
  for (guint k = 0; k < f->touched.n; k++)
    f->links[f->touched.at[k]].touched = FALSE;
  f->touched.n = 0;
}

void csim_fluid_settle(CsimEngine *engine, void *owner) {
  CsimFluid *f = owner;
  f->now = csim_engine_now(engine);
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
