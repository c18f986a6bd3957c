/*
 * models/fluid-star.c - the usual component, solved in one pass.
 *
 * Most components are one port, or an out port and the in port that it feeds: every link that matters carries the
 * same classes, all with the same weight there. Then one water level serves all links, and hard rates, shares,
 * rates, dates and the timer follow class by class, without a piece that grows. Links that cannot matter (loose
 * now and at the last solve, no shared class on a soft one) may differ from class to class.
 */
#include "models/fluid-internal.h"
#include <math.h>

#define STAR_LINKS 4
#define STAR_CLASSES 32

typedef struct {
  Link *link[STAR_LINKS];
  int64_t weight[STAR_LINKS];
  guint n_links;
  Class *class[STAR_CLASSES]; /* in the order of the first link's list */
  uint32_t index[STAR_CLASSES];
  guint n_classes;
} Star;

static gboolean is_inert(const Link *l) { return l->loose && !l->was_tight && (l->curve == 0 || l->n_shared == 0); }

/* The links of the first class that matter, and its weights there. FALSE: too many. */
static gboolean take_links(const CsimFluid *f, const Class *c, Star *star) {
  const Incidence *inc = &f->incidences[c->first];
  star->n_links = 0;
  for (guint i = 0; i < c->n_links; i++) {
    Link *l = &f->links[inc[i].link];
    if (is_inert(l)) continue;
    if (star->n_links == STAR_LINKS) return FALSE;
    star->weight[star->n_links] = inc[i].weight;
    star->link[star->n_links++] = l;
  }
  return TRUE;
}

static gboolean same_links(const CsimFluid *f, const Star *star, const Class *c) {
  guint n = 0;
  const Incidence *inc = &f->incidences[c->first];
  for (guint i = 0; i < c->n_links; i++) {
    const Link *l = &f->links[inc[i].link];
    if (n < star->n_links && l == star->link[n] && inc[i].weight == star->weight[n]) n++;
    else if (!is_inert(l)) return FALSE;
  }
  return n == star->n_links;
}

/* TRUE if the classes of `l` form a star. */
static gboolean gather(CsimFluid *f, const Link *l, Star *star) {
  if (l->n_classes > STAR_CLASSES) return FALSE;
  star->n_classes = star->n_links = 0;
  for (uint32_t i = l->first; i != NONE; i = f->incidences[i].next) {
    uint32_t index = f->incidences[i].class;
    Class *c = &f->classes[index];
    if (c->repeats) return FALSE;
    if (star->n_classes == 0 ? !take_links(f, c, star) : !same_links(f, star, c)) return FALSE;
    star->index[star->n_classes] = index;
    star->class[star->n_classes++] = c;
  }
  for (guint k = 0; k < star->n_links; k++) {
    csim_fluid_sweep(f, star->link[k]);
    if (star->link[k]->n_classes != star->n_classes) return FALSE;
  }
  return TRUE;
}

/* What link k could give to a single flow of the star. */
static double star_capacity(const Star *star, guint k) {
  return (double)star->link[k]->capacity * WEIGHT_ONE / (double)star->weight[k];
}

/* Max-min with one level: sets max_min of all classes. Returns the level at which a link is full, infinite if none. */
static double fill_star(Star *star, double capacity, int64_t open) {
  Class *rest[STAR_CLASSES];
  guint n = star->n_classes, before = 0;
  double left = capacity, level = INFINITY;
  for (guint k = 0; k < n; k++)
    rest[k] = star->class[k];
  while (n != before && n > 0) {
    level = left / (double)open;
    before = n;
    n = 0;
    for (guint k = 0; k < before; k++) {
      Class *c = rest[k];
      if (c->cap == 0 || (double)c->cap > level) {
        rest[n++] = c;
        continue;
      }
      c->max_min = (double)c->cap;
      left = MAX(0, left - (double)c->flows * (double)c->cap);
      open -= c->flows;
    }
  }
  for (guint k = 0; k < n; k++)
    rest[k]->max_min = level;
  return n > 0 ? level : INFINITY;
}

static void share_classes(CsimFluid *f, const Star *star) {
  for (guint k = 0; k < star->n_classes; k++)
    if (star->class[k]->direct) csim_fluid_class_share(f, star->index[k]);
}

/* All tight links of a star are full together only if their capacities are equal: the smallest binds. */
static void solve_hard(CsimFluid *f, Star *star) {
  double capacity = INFINITY;
  for (guint k = 0; k < star->n_links; k++)
    if (star->link[k]->tight) capacity = MIN(capacity, star_capacity(star, k));
  double level = INFINITY;
  if (capacity < INFINITY) {
    f->stats.solves++;
    f->stats.flows_solved += star->n_classes;
    f->stats.links_solved += star->n_links;
    share_classes(f, star);
    level = fill_star(star, capacity, star->link[0]->flows);
  } else {
    for (guint k = 0; k < star->n_classes; k++)
      star->class[k]->max_min = (double)star->class[k]->cap;
  }
  for (guint k = 0; k < star->n_links; k++) {
    Link *l = star->link[k];
    l->bound = level < INFINITY && l->tight && star_capacity(star, k) == capacity;
    if (l->bound) f->cold[l - f->links].full_at = level;
    csim_fluid_note_binding(f, l);
  }
}

/* Shares of the soft links; those to be felt, without doubles, go to `soft`. */
static guint solve_shares(Star *star, Link **soft) {
  double highest = 0;
  guint n = 0;
  for (guint k = 0; k < star->n_classes; k++)
    highest = MAX(highest, star->class[k]->max_min);
  for (guint k = 0; k < star->n_links; k++) {
    Link *l = star->link[k];
    if (l->curve == 0) continue;
    double share = (double)l->capacity * WEIGHT_ONE / (double)l->weight;
    l->share = MAX(share, highest);
    if (n > 0 && soft[n - 1]->share == l->share && soft[n - 1]->curve == l->curve) continue;
    soft[n++] = l;
  }
  return n;
}

static double star_rate(const CsimFluid *f, const Class *c, Link **soft, guint n_soft) {
  double rate = c->max_min;
  for (guint k = 0; k < n_soft && c->cap > 0; k++) {
    double softened = csim_fluid_soften(f, soft[k], (double)c->cap);
    if (softened < rate) rate = softened;
  }
  return rate;
}

static void finish_star(CsimFluid *f, Star *star) {
  Link *soft[STAR_LINKS];
  guint n_soft = solve_shares(star, soft);
  for (guint k = 0; k < star->n_classes; k++) {
    Class *c = star->class[k];
    if (c->direct) continue;
    csim_fluid_set_rate(f, c, star_rate(f, c, soft, n_soft));
    c->queued = FALSE; /* its place in the queue is passed over */
  }
}

/* The timer of one home of all classes, if it is one of the star's links: nobody else has a date there. */
static gboolean arm_star(CsimFluid *f, const Star *star) {
  uint32_t home = f->incidences[star->class[0]->first].link;
  CsimTime due = CSIM_TIME_NEVER;
  if (star->n_links == 0 || &f->links[home] != star->link[0]) return FALSE;
  for (guint k = 0; k < star->n_classes; k++) {
    if (f->incidences[star->class[k]->first].link != home) return FALSE;
    if (!star->class[k]->direct) due = MIN(due, star->class[k]->date);
  }
  f->links[home].home_queued = FALSE;
  csim_timer_arm(f->engine, csim_fluid_timer(f, home), due);
  return TRUE;
}

static void settle_empty(CsimFluid *f, Link *l) {
  l->bound = FALSE;
  csim_fluid_note_binding(f, l);
}

gboolean csim_fluid_settle_star(CsimFluid *f, uint32_t link) {
  Link *l = &f->links[link];
  Star star;
  if (is_inert(l)) return TRUE;
  csim_fluid_sweep(f, l);
  if (l->n_classes == 0) {
    settle_empty(f, l);
    return TRUE;
  }
  if (!gather(f, l, &star)) return FALSE;
  solve_hard(f, &star);
  finish_star(f, &star);
  for (guint k = 0; k < star.n_links; k++)
    star.link[k]->dirty = FALSE;
  if (!arm_star(f, &star))
    for (guint k = 0; k < star.n_classes; k++)
      csim_fluid_queue_home(f, f->incidences[star.class[k]->first].link);
  return TRUE;
}
