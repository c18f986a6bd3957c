/*
 * models/fluid-class.c - classes of like flows: look-up, recycling, and the order of their flows.
 */
#include "models/fluid-internal.h"
#include <stdlib.h>
#include <string.h>

/* Classes without flows are kept, since the same transfers come again; from this number on, and if most are
 * empty, a new one takes the place of an empty one (an all-to-all meets each of its pairs once). */
#define RECYCLE_FROM 16384

static int64_t fixed_weight(float weight) {
  int64_t w = (int64_t)((double)weight * WEIGHT_ONE + 0.5);
  g_assert(w > 0 && weight < CSIM_FLUID_MAX_WEIGHT);
  return w;
}

static uint32_t hash_key(const CsimFlowLink *links, guint n_links, CsimRate cap) {
  uint64_t h = (uint64_t)cap * UINT64_C(0x9E3779B97F4A7C15);
  for (guint i = 0; i < n_links; i++) {
    uint32_t bits;
    memcpy(&bits, &links[i].weight, sizeof bits);
    h = (h ^ ((uint64_t)links[i].link << 32 | bits)) * UINT64_C(0xD6E8FEB86659FD93);
    h ^= h >> 32;
  }
  return (uint32_t)h;
}

static gboolean same_key(const CsimFluid *f, const Class *c, const CsimFlowLink *links, guint n_links,
                         CsimRate cap) {
  if (c->n_links != n_links || c->cap != cap) return FALSE;
  const CsimFlowLink *before = NULL; /* of the same weight as most */
  for (guint i = 0; i < n_links; i++) {
    int64_t weight;
    if (csim_fluid_class_link(f, c, i, &weight) != links[i].link) return FALSE;
    if (before && c->near_weight && before->weight == links[i].weight) continue;
    if (weight != fixed_weight(links[i].weight)) return FALSE;
    before = &links[i];
  }
  return TRUE;
}

/* Open addressing with linear probing, at most half full: a look-up reads one line of the table and the class. */
static void hash_insert(CsimFluid *f, uint32_t class) {
  uint32_t mask = f->n_buckets - 1, at = f->classes_cold[class].hash & mask;
  while (f->buckets[at].class != NONE)
    at = (at + 1) & mask;
  f->buckets[at] = (ClassBucket){f->classes_cold[class].hash, class};
}

/* Later entries of the run move up where their probe passes the gap, so that no tombstones are needed. */
static void hash_remove(CsimFluid *f, uint32_t class) {
  uint32_t mask = f->n_buckets - 1, gap = f->classes_cold[class].hash & mask;
  while (f->buckets[gap].class != class)
    gap = (gap + 1) & mask;
  for (uint32_t at = (gap + 1) & mask; f->buckets[at].class != NONE; at = (at + 1) & mask) {
    uint32_t wanted = f->buckets[at].hash & mask;
    if (((at - wanted) & mask) < ((at - gap) & mask)) continue;
    f->buckets[gap] = f->buckets[at];
    gap = at;
  }
  f->buckets[gap].class = NONE;
}

/* ---- storage ---- */

void *csim_fluid_grow(void *array, gsize old_bytes, gsize new_bytes) {
  void *larger;
  if (posix_memalign(&larger, 64, new_bytes) != 0) g_error("out of memory: %" G_GSIZE_FORMAT " bytes", new_bytes);
  if (old_bytes > 0) memcpy(larger, array, old_bytes);
  free(array);
  return larger;
}

static void grow_classes(CsimFluid *f) {
  guint old = f->classes_capacity;
  f->classes_capacity = MAX(64, 2 * old);
  f->classes = csim_fluid_grow(f->classes, old * sizeof(Class), f->classes_capacity * sizeof(Class));
  f->classes_cold = g_renew(ClassCold, f->classes_cold, f->classes_capacity);
  f->queued.at = g_renew(uint32_t, f->queued.at, 2 * f->classes_capacity); /* a star takes one out unseen */
  f->piece = g_renew(PieceClass, f->piece, f->classes_capacity);
  f->by_cap.at = g_renew(FillKey, f->by_cap.at, f->classes_capacity);
  f->by_limit.at = g_renew(FillKey, f->by_limit.at, f->classes_capacity);
  f->n_buckets = 2 * f->classes_capacity;
  f->buckets = g_renew(ClassBucket, f->buckets, f->n_buckets);
  memset(f->buckets, 0xff, f->n_buckets * sizeof *f->buckets);
  for (guint i = 0; i < f->n_classes; i++)
    hash_insert(f, i);
}

static uint32_t take_block(CsimFluid *f, guint n) {
  uint32_t block = f->free_blocks[n];
  if (block != NONE) {
    f->free_blocks[n] = f->incidences[block].next;
    return block;
  }
  if (f->n_incidences + n > f->incidences_capacity) {
    f->incidences_capacity = MAX(256, 2 * (f->n_incidences + n));
    f->incidences = g_renew(Incidence, f->incidences, f->incidences_capacity);
  }
  block = f->n_incidences;
  f->n_incidences += n;
  return block;
}

/* An empty class to reuse, or NONE. */
static uint32_t recycle(CsimFluid *f) {
  if (f->n_classes < RECYCLE_FROM || f->n_classes < 2 * f->active) return NONE;
  do
    f->recycle_at = f->recycle_at + 1 < f->n_classes ? f->recycle_at + 1 : 0;
  while (f->classes[f->recycle_at].flows + f->classes[f->recycle_at].waiting > 0);
  Class *c = &f->classes[f->recycle_at];
  hash_remove(f, f->recycle_at);
  if (c->active) csim_fluid_class_deactivate(f, f->recycle_at);
  if (c->n_links > 0) {
    f->incidences[c->first].next = f->free_blocks[c->n_links];
    f->free_blocks[c->n_links] = c->first;
  }
  return f->recycle_at;
}

static uint32_t new_slot(CsimFluid *f) {
  uint32_t class = recycle(f);
  if (class != NONE) return class;
  if (f->n_classes == f->classes_capacity) grow_classes(f);
  f->classes[f->n_classes] = (Class){0};
  return f->n_classes++;
}

static gboolean has_repeats(const CsimFlowLink *links, guint n_links) {
  for (guint i = 0; i < n_links; i++)
    for (guint k = 0; k < i; k++)
      if (links[i].link == links[k].link) return TRUE;
  return FALSE;
}

/* What direct flows need of the incidences, on the class's own cache line. */
static void note_near(const CsimFluid *f, Class *c) {
  const Incidence *inc = &f->incidences[c->first];
  c->near_weight = 0;
  if (c->n_links == 0 || c->n_links > NEAR) return;
  for (guint i = 0; i < c->n_links; i++) {
    if (inc[i].weight != inc[0].weight) return;
    c->near[i] = inc[i].link;
  }
  c->near_weight = inc[0].weight;
}

static uint32_t new_class(CsimFluid *f, const CsimFlowLink *links, guint n_links, CsimRate cap, uint32_t hash) {
  uint32_t class = new_slot(f);
  uint32_t first = n_links ? take_block(f, n_links) : 0;
  Class *c = &f->classes[class];
  c->cap = cap;
  c->n_links = (uint8_t)n_links;
  c->first = first;
  f->classes_cold[class].hash = hash;
  c->head = c->tail = NONE;
  c->repeats = has_repeats(links, n_links);
  for (guint i = 0; i < n_links; i++) {
    g_assert(links[i].link < f->n_links);
    f->incidences[first + i] =
        (Incidence){.link = links[i].link, .class = class, .weight = fixed_weight(links[i].weight)};
  }
  note_near(f, c);
  hash_insert(f, class);
  return class;
}

static uint32_t look_up(CsimFluid *f, const CsimFlowLink *links, guint n_links, CsimRate cap) {
  uint32_t hash = hash_key(links, n_links, cap), mask = f->n_buckets - 1;
  for (uint32_t at = hash & mask; f->n_buckets > 0 && f->buckets[at].class != NONE; at = (at + 1) & mask)
    if (f->buckets[at].hash == hash && same_key(f, &f->classes[f->buckets[at].class], links, n_links, cap))
      return f->buckets[at].class;
  return new_class(f, links, n_links, cap, hash);
}

uint32_t csim_fluid_class(CsimFluid *f, uint32_t *hint, const CsimFlowLink *links, guint n_links, CsimRate cap) {
  if (*hint < f->n_classes && same_key(f, &f->classes[*hint], links, n_links, cap)) return *hint;
  return *hint = look_up(f, links, n_links, cap);
}

/* ---- active and empty ---- */

void csim_fluid_class_activate(CsimFluid *f, uint32_t class) {
  Class *c = &f->classes[class];
  for (uint32_t i = c->first; i < c->first + c->n_links; i++) {
    Incidence *inc = &f->incidences[i];
    Link *l = &f->links[inc->link];
    inc->prev = NONE;
    inc->next = l->first;
    if (l->first != NONE) f->incidences[l->first].prev = i;
    l->first = i;
    l->n_classes++;
  }
  c->active = TRUE;
  c->direct = TRUE;
  c->rate = c->max_min = (double)c->cap;
  c->served = c->carried = 0;
  c->at = c->since = f->now;
}

static void leave_home(CsimFluid *f, const Class *c) {
  uint32_t home = f->incidences[c->first].link, prev = f->classes_cold[c - f->classes].home_prev;
  if (prev != NONE) f->classes[prev].home_next = c->home_next;
  else f->links[home].home_first = c->home_next;
  if (c->home_next != NONE) f->classes_cold[c->home_next].home_prev = prev;
  csim_fluid_queue_home(f, home);
}

void csim_fluid_class_deactivate(CsimFluid *f, uint32_t class) {
  Class *c = &f->classes[class];
  for (uint32_t i = c->first; i < c->first + c->n_links; i++) {
    Incidence *inc = &f->incidences[i];
    if (inc->prev != NONE) f->incidences[inc->prev].next = inc->next;
    else f->links[inc->link].first = inc->next;
    if (inc->next != NONE) f->incidences[inc->next].prev = inc->prev;
    f->links[inc->link].n_classes--;
    f->links[inc->link].n_shared -= !c->direct;
    f->cold[inc->link].bytes += c->carried * ((double)inc->weight / WEIGHT_ONE);
  }
  if (!c->direct) leave_home(f, c);
  c->active = FALSE;
}

void csim_fluid_sweep(CsimFluid *f, Link *l) {
  for (uint32_t i = l->first, next; i != NONE; i = next) {
    uint32_t class = f->incidences[i].class;
    next = f->incidences[i].next;
    if (f->classes[class].flows > 0) continue;
    while (next != NONE && f->incidences[next].class == class)
      next = f->incidences[next].next; /* it crosses the link twice */
    csim_fluid_class_deactivate(f, class);
  }
}

static void enter_home(CsimFluid *f, uint32_t class) {
  Class *c = &f->classes[class];
  Link *home = &f->links[f->incidences[c->first].link];
  f->classes_cold[class].home_prev = NONE;
  c->home_next = home->home_first;
  if (home->home_first != NONE) f->classes_cold[home->home_first].home_prev = class;
  home->home_first = class;
}

static void one_more_shared(CsimFluid *f, uint32_t link) {
  Link *l = &f->links[link];
  if (l->n_shared++ > 0 || l->curve == 0) return;
  l->share = 0; /* not known */
  csim_fluid_touch(f, link);
}

void csim_fluid_class_share(CsimFluid *f, uint32_t class) {
  Class *c = &f->classes[class];
  uint32_t flow = c->head;
  CsimTime now = f->now;
  c->direct = FALSE;
  c->served = 0;
  c->at = now;
  for (uint32_t i = c->first; i < c->first + c->n_links; i++)
    one_more_shared(f, f->incidences[i].link);
  c->date = CSIM_TIME_NEVER;
  c->head = c->tail = NONE;
  enter_home(f, class);
  while (flow != NONE) {
    Flow *fl = &f->flows[flow];
    uint32_t next = fl->next;
    csim_engine_cancel(f->engine, fl->ref);
    if (fl->rate != c->rate) c->since = now;
    fl->finish = (double)fl->bytes - fl->rate * PS * (double)(now - fl->start);
    csim_fluid_class_insert(f, class, flow);
    flow = next;
  }
  csim_fluid_queue_class(f, class);
}

void csim_fluid_class_unshare(CsimFluid *f, uint32_t class) {
  Class *c = &f->classes[class];
  leave_home(f, c);
  c->direct = TRUE;
  c->rate = c->max_min = (double)c->cap;
  c->since = f->now;
  for (uint32_t i = c->first; i < c->first + c->n_links; i++)
    f->links[f->incidences[i].link].n_shared--;
  for (uint32_t flow = c->head; flow != NONE; flow = f->flows[flow].next)
    csim_fluid_add_fresh(f, flow);
}

/* ---- flows of a class ---- */

static void note_head(const CsimFluid *f, Class *c) {
  if (c->head == NONE || c->direct) return;
  c->head_finish = f->flows[c->head].finish;
  c->head_start = f->flows[c->head].start;
}

/* After `prev` (NONE: first). */
static void link_after(CsimFluid *f, Class *c, uint32_t prev, uint32_t flow) {
  uint32_t next = prev == NONE ? c->head : f->flows[prev].next;
  f->flows[flow].prev = prev;
  f->flows[flow].next = next;
  if (prev == NONE) c->head = flow;
  else f->flows[prev].next = flow;
  if (next == NONE) c->tail = flow;
  else f->flows[next].prev = flow;
  if (prev == NONE) note_head(f, c);
}

void csim_fluid_class_append(CsimFluid *f, uint32_t class, uint32_t flow) {
  Class *c = &f->classes[class];
  link_after(f, c, c->tail, flow);
}

/* From the end: later flows mostly end later. */
void csim_fluid_class_insert(CsimFluid *f, uint32_t class, uint32_t flow) {
  Class *c = &f->classes[class];
  uint32_t prev = c->tail;
  while (prev != NONE && f->flows[prev].finish > f->flows[flow].finish)
    prev = f->flows[prev].prev;
  link_after(f, c, prev, flow);
}

void csim_fluid_class_remove(CsimFluid *f, uint32_t flow) {
  const Flow *fl = &f->flows[flow];
  Class *c = &f->classes[fl->class];
  if (fl->prev != NONE) f->flows[fl->prev].next = fl->next;
  else c->head = fl->next;
  if (fl->prev == NONE) note_head(f, c);
  if (fl->next != NONE) f->flows[fl->next].prev = fl->prev;
  else c->tail = fl->prev;
}
