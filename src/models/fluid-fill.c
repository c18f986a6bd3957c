/*
 * models/fluid-fill.c - progressive filling of a piece: the water rises from level to level.
 *
 * A level is the lowest rate at which a link of the piece is full or a class meets the limit that links outside the piece set. Classes whose caps
 * are below it get their caps first, which leaves more for the others; then what is bound at the level gets it.
 *
 * A level costs what it fixes: the links' levels are the leaves of a tree whose nodes hold the lower of two, caps and limits are heaps, and only links
 * that a class has just left are computed anew. The sums are whole numbers, so the order in which classes are fixed is never seen.
 */
#include "models/fluid-internal.h"
#include <math.h>

/* ---- heaps: classes of the piece by cap, by limit ---- */

static void sift_down(FillHeap *h, guint at) {
  FillKey moved = h->at[at];
  for (guint child; (child = 2 * at + 1) < h->n; at = child) {
    if (child + 1 < h->n && h->at[child + 1].key < h->at[child].key) child++;
    if (moved.key <= h->at[child].key) break;
    h->at[at] = h->at[child];
  }
  h->at[at] = moved;
}

static void make_heap(FillHeap *h) {
  for (guint at = h->n / 2; at-- > 0;)
    sift_down(h, at);
}

static uint32_t pop(FillHeap *h) {
  uint32_t class = h->at[0].class;
  h->at[0] = h->at[--h->n];
  if (h->n > 0) sift_down(h, 0);
  return class;
}

static double lowest_key(const FillHeap *h) { return h->n > 0 ? h->at[0].key : INFINITY; }
static gboolean reaches(const FillHeap *h, double level) { return h->n > 0 && h->at[0].key <= level; }

/* ---- the tree of the links' levels: node i has 2i and 2i + 1 below it, the leaf of link k of the piece is n_leaves + k ---- */

/* The level at which link k of the piece is full; infinite if all its flows are fixed, or it never fills. */
static double full_level(const CsimFluid *f, guint k) {
  const LinkCold *cold = &f->cold[f->piece_links.at[k]];
  if (cold->open == 0 || !f->links[f->piece_links.at[k]].tight) return INFINITY;
  return MAX(0, (double)cold->left - cold->taken) / (double)cold->open;
}

static void make_tree(CsimFluid *f) {
  f->n_leaves = 1;
  while (f->n_leaves < f->piece_links.n)
    f->n_leaves *= 2;
  for (guint k = 0; k < f->n_leaves; k++)
    f->levels[f->n_leaves + k] = k < f->piece_links.n ? full_level(f, k) : INFINITY;
  for (guint i = f->n_leaves; i-- > 1;)
    f->levels[i] = MIN(f->levels[2 * i], f->levels[2 * i + 1]);
}

static void set_leaf(CsimFluid *f, guint k, double level) {
  guint i = f->n_leaves + k;
  f->levels[i] = level;
  while (i > 1) {
    double lower = MIN(f->levels[i], f->levels[i ^ 1]);
    i /= 2;
    if (f->levels[i] == lower) return;
    f->levels[i] = lower;
  }
}

/* A link of the piece that is full at `level`; f->levels[1] is not above that. */
static guint full_link(const CsimFluid *f, double level) {
  guint i = 1;
  while (i < f->n_leaves)
    i = f->levels[2 * i] <= level ? 2 * i : 2 * i + 1;
  return i - f->n_leaves;
}

/* ---- filling ---- */

/* What its cap and the links outside the piece allow a class. */
static double outer_limit(const CsimFluid *f, const Class *c) {
  double limit = INFINITY;
  for (uint32_t i = c->first; i < c->first + c->n_links; i++) {
    const Link *l = &f->links[f->incidences[i].link];
    if (l->tight && l->binding && l->mark != f->epoch) limit = MIN(limit, f->cold[f->incidences[i].link].full_at);
  }
  return limit;
}

static void open_links(CsimFluid *f) {
  for (guint k = 0; k < f->piece_links.n; k++) {
    Link *l = &f->links[f->piece_links.at[k]];
    LinkCold *cold = &f->cold[f->piece_links.at[k]];
    l->bound = FALSE;
    cold->left = (Demand)l->capacity * WEIGHT_ONE;
    cold->taken = 0;
    cold->open = cold->before = l->weight;
    cold->place = k;
    cold->stale = FALSE;
  }
}

static void open_classes(CsimFluid *f) {
  f->by_cap.n = f->by_limit.n = 0;
  for (guint k = 0; k < f->n_piece; k++) {
    uint32_t class = f->piece[k].class;
    Class *c = &f->classes[class];
    c->fixed = FALSE;
    if (c->cap > 0) f->by_cap.at[f->by_cap.n++] = (FillKey){(double)c->cap, class};
    double limit = outer_limit(f, c);
    if (limit < INFINITY) f->by_limit.at[f->by_limit.n++] = (FillKey){limit, class};
  }
  f->n_open = f->n_piece;
  make_heap(&f->by_cap);
  make_heap(&f->by_limit);
}

/* Of a link of the piece, which is to be computed anew. */
static inline LinkCold *leave_link(CsimFluid *f, uint32_t link, int64_t weight) {
  LinkCold *cold = &f->cold[link];
  cold->open -= weight;
  if (cold->stale) return cold;
  cold->stale = TRUE;
  f->stale.at[f->stale.n++] = link;
  return cold;
}

static void fix(CsimFluid *f, Class *c, double rate) {
  c->fixed = TRUE;
  c->max_min = rate;
  f->n_open--;
  for (uint32_t i = c->first; i < c->first + c->n_links; i++) {
    const Incidence *inc = &f->incidences[i];
    if (f->cold[inc->link].place != NONE) leave_link(f, inc->link, (int64_t)c->flows * inc->weight);
  }
}

static void fix_at_cap(CsimFluid *f, Class *c) {
  c->fixed = TRUE;
  c->max_min = (double)c->cap;
  f->n_open--;
  for (uint32_t i = c->first; i < c->first + c->n_links; i++) {
    const Incidence *inc = &f->incidences[i];
    if (f->cold[inc->link].place == NONE) continue;
    int64_t weight = (int64_t)c->flows * inc->weight;
    LinkCold *cold = leave_link(f, inc->link, weight);
    cold->before -= weight;
    cold->left -= MIN(cold->left, (Demand)weight * (Demand)c->cap);
  }
}

/* Classes that reach their caps before the water reaches `level`. */
static gboolean fix_capped(CsimFluid *f, double level) {
  gboolean any = FALSE;
  while (reaches(&f->by_cap, level)) {
    Class *c = &f->classes[pop(&f->by_cap)];
    if (c->fixed) continue;
    fix_at_cap(f, c);
    any = TRUE;
  }
  return any;
}

static void bind_link(CsimFluid *f, guint k, double level) {
  Link *l = &f->links[f->piece_links.at[k]];
  l->bound = TRUE;
  f->cold[f->piece_links.at[k]].full_at = level;
  for (uint32_t i = l->first; i != NONE; i = f->incidences[i].next)
    if (!f->classes[f->incidences[i].class].fixed) fix(f, &f->classes[f->incidences[i].class], level);
}

/* Two links that are full together both bind, whichever comes first. */
static void fix_bound(CsimFluid *f, double level) {
  while (reaches(&f->by_limit, level)) {
    Class *c = &f->classes[pop(&f->by_limit)];
    if (!c->fixed) fix(f, c, level);
  }
  while (f->levels[1] <= level) {
    guint k = full_link(f, level);
    bind_link(f, k, level);
    set_leaf(f, k, INFINITY); /* all its flows are fixed */
  }
}

/* What was fixed at `level` leaves its links in one step; what was fixed at its cap has left them. */
static void refresh_links(CsimFluid *f, double level) {
  for (guint i = 0; i < f->stale.n; i++) {
    LinkCold *cold = &f->cold[f->stale.at[i]];
    cold->stale = FALSE;
    cold->taken += (double)(cold->before - cold->open) * level;
    cold->before = cold->open;
    set_leaf(f, cold->place, full_level(f, cold->place));
  }
  f->stale.n = 0;
}

void csim_fluid_fill(CsimFluid *f) {
  f->stats.flows_solved += f->n_piece;
  f->stats.links_solved += f->piece_links.n;
  open_links(f);
  open_classes(f);
  make_tree(f);
  while (f->n_open > 0) {
    double level = MIN(f->levels[1], lowest_key(&f->by_limit));
    gboolean capped = fix_capped(f, level);
    if (!capped) fix_bound(f, level);
    refresh_links(f, capped ? 0 : level);
  }
}
