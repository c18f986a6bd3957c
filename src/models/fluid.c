/*
 * models/fluid.c - the flows' lives: start, completion, cancel; the links' accounts. The solver proper is in
 * fluid-solve.c, the classes in fluid-class.c, the data in fluid-internal.h.
 */
#include "models/fluid-internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLOW_INDEX_BITS 24
#define FLOW_INDEX_MAX ((1u << FLOW_INDEX_BITS) - 1) /* never used, so that CSIM_FLOW_NONE is no flow's id */

static void handle_event(CsimEngine *engine, void *owner, const CsimEvent *event);

/* Flow, then class, then the class's links: each is found in the one before. A flow that ends is taken from between two others. */
static void look_ahead(void *owner, const CsimForeseen *events, guint n) {
  CsimFluid *f = owner;
  const Class *classes[CSIM_AHEAD_MOST];
  CsimForeseen ends[CSIM_AHEAD_MOST];
  guint n_ends = 0, n_classes = 0;
  for (guint i = 0; i < n; i++)
    if (events[i].kind != CSIM_FLUID_EVENT_HOME) CSIM_FETCH(&f->flows[events[i].entity]);
  for (guint i = 0; i < n; i++) {
    if (events[i].kind == CSIM_FLUID_EVENT_HOME) continue;
    const Flow *fl = &f->flows[events[i].entity];
    CSIM_FETCH(&f->classes[fl->class]);
    classes[n_classes++] = &f->classes[fl->class];
    if (events[i].kind != CSIM_FLUID_EVENT_FLOW) continue;
    if (fl->prev != NONE) CSIM_FETCH(&f->flows[fl->prev]);
    if (fl->next != NONE) CSIM_FETCH(&f->flows[fl->next]);
    ends[n_ends++] = (CsimForeseen){fl->entity, fl->handler, fl->kind};
  }
  for (guint i = 0; i < n_classes; i++)
    if (classes[i]->near_weight == 0) CSIM_FETCH(&f->incidences[classes[i]->first]);
  csim_engine_foresee(f->engine, ends, n_ends);
}

CsimFluid *csim_fluid_new(CsimEngine *engine) {
  CsimFluid *f = g_new0(CsimFluid, 1);
  f->engine = engine;
  f->handler = csim_engine_add_handler(engine, "fluid", handle_event, f);
  csim_engine_set_ahead(engine, f->handler, look_ahead);
  f->timers = g_ptr_array_new_with_free_func(free);
  f->curves = g_ptr_array_new_with_free_func(g_free);
  f->free_flow = NONE;
  memset(f->free_blocks, 0xff, sizeof f->free_blocks);
  return f;
}

void csim_fluid_free(CsimFluid *f) {
  if (!f) return;
  free(f->links);
  g_free(f->cold);
  free(f->classes);
  g_free(f->classes_cold);
  g_free(f->buckets);
  g_free(f->incidences);
  free(f->flows);
  g_free(f->ended);
  g_free(f->fresh);
  g_free(f->dirty.at);
  g_free(f->touched.at);
  g_free(f->homes.at);
  g_free(f->piece_links.at);
  g_free(f->queued.at);
  g_free(f->piece);
  g_free(f->by_cap.at);
  g_free(f->by_limit.at);
  g_free(f->levels);
  g_free(f->stale.at);
  g_ptr_array_unref(f->timers);
  g_ptr_array_unref(f->curves);
  g_free(f);
}

/* ---- links ---- */

static void grow_links(CsimFluid *f) {
  guint old = f->links_capacity;
  f->links_capacity = MAX(64, 2 * old);
  f->links = csim_fluid_grow(f->links, old * sizeof(Link), f->links_capacity * sizeof(Link));
  f->cold = g_renew(LinkCold, f->cold, f->links_capacity);
  f->dirty.at = g_renew(uint32_t, f->dirty.at, f->links_capacity);
  f->touched.at = g_renew(uint32_t, f->touched.at, f->links_capacity);
  f->homes.at = g_renew(uint32_t, f->homes.at, f->links_capacity);
  f->piece_links.at = g_renew(uint32_t, f->piece_links.at, f->links_capacity);
  f->stale.at = g_renew(uint32_t, f->stale.at, f->links_capacity);
  f->levels = g_renew(double, f->levels, 2 * (gsize)f->links_capacity); /* a power of two */
}

CsimLinkId csim_fluid_add_link(CsimFluid *f, const char *name, CsimRate capacity, double softness) {
  g_assert(capacity >= 0 && softness >= 0);
  if (f->n_links == f->links_capacity) grow_links(f);
  if (f->n_links % TIMERS_PER_CHUNK == 0) 
    g_ptr_array_add(f->timers, csim_fluid_grow(NULL, 0, TIMERS_PER_CHUNK * sizeof(TimerLine)));
  CsimLinkId id = f->n_links++;
  f->links[id] = (Link){.first = NONE,
                        .home_first = NONE,
                        .loose = TRUE,
                        .capacity = capacity,
                        .curve = csim_fluid_curve(f, softness)};
  f->cold[id] = (LinkCold){.name = name, .place = NONE};
  csim_timer_init(csim_fluid_timer(f, id), f->handler, CSIM_FLUID_EVENT_HOME, id, 0);
  return id;
}

void csim_fluid_set_capacity(CsimFluid *f, CsimLinkId link, CsimRate capacity) {
  Link *l = &f->links[link];
  g_assert(capacity >= 0);
  f->now = csim_engine_now(f->engine);
  l->capacity = capacity;
  csim_fluid_classify(l);
  csim_fluid_mark_dirty(f, link);
}

const char *csim_fluid_link_name(const CsimFluid *f, CsimLinkId link) { return f->cold[link].name; }

/* ---- flow ids ---- */

static void grow_flows(CsimFluid *f) {
  guint old = f->flows_capacity;
  f->flows_capacity = MAX(256, 2 * old);
  g_assert(f->flows_capacity <= FLOW_INDEX_MAX + 1);
  f->flows = csim_fluid_grow(f->flows, old * sizeof(Flow), f->flows_capacity * sizeof(Flow));
  f->ended = g_renew(Flow, f->ended, f->flows_capacity);
  for (guint i = MIN(f->flows_capacity, FLOW_INDEX_MAX); i-- > old;) {
    f->flows[i].generation = 0;
    f->flows[i].class = NONE;
    f->flows[i].next = f->free_flow;
    f->free_flow = i;
  }
}

static uint32_t take_flow(CsimFluid *f) {
  if (G_UNLIKELY(f->free_flow == NONE)) grow_flows(f);
  uint32_t flow = f->free_flow;
  g_assert(flow != NONE);
  f->free_flow = f->flows[flow].next;
  if (++f->active > f->stats.peak_active) f->stats.peak_active = f->active;
  return flow;
}

static void give_flow(CsimFluid *f, uint32_t flow) {
  Flow *fl = &f->flows[flow];
  fl->class = NONE;
  fl->generation++;
  fl->next = f->free_flow;
  f->free_flow = flow;
  f->active--;
}

static CsimFlowId flow_id(const CsimFluid *f, uint32_t flow) {
  return f->flows[flow].generation << FLOW_INDEX_BITS | flow;
}

/* The flow's index, or NONE if it has ended. */
static uint32_t live_flow(const CsimFluid *f, CsimFlowId id) {
  uint32_t flow = id & FLOW_INDEX_MAX;
  if (flow >= f->flows_capacity || flow == FLOW_INDEX_MAX) return NONE;
  return f->flows[flow].class != NONE && flow_id(f, flow) == id ? flow : NONE;
}

/* ---- start and end ---- */

/* One more flow of class c on the link. */
static inline void load_link(CsimFluid *f, uint32_t link, const Class *c, int64_t weight) {
  Link *l = &f->links[link];
  if (l->flows++ == 0) l->busy_since = f->now;
  if (l->flows > l->peak) l->peak = l->flows;
  l->weight += weight;
  l->demand += (Demand)weight * (Demand)c->cap;
  l->uncapped += c->cap == 0;
  gboolean was = l->loose;
  csim_fluid_classify(l);
  if (!was || !l->loose || l->n_shared > 0) csim_fluid_mark_dirty(f, link);
}

static inline void unload_link(CsimFluid *f, uint32_t link, const Class *c, int64_t weight) {
  Link *l = &f->links[link];
  l->weight -= weight;
  l->demand -= (Demand)weight * (Demand)c->cap;
  l->uncapped -= c->cap == 0;
  if (--l->flows == 0) f->cold[link].busy += f->now - l->busy_since;
  if (l->loose && l->n_shared == 0) return;
  csim_fluid_classify(l);
  csim_fluid_mark_dirty(f, link);
}

/* Only a watch cares for links that stay loose. */
static void watch_links(CsimFluid *f, const Class *c) {
  for (uint32_t i = c->first; i < c->first + c->n_links; i++)
    csim_fluid_touch(f, f->incidences[i].link);
  csim_fluid_ask(f);
}

void csim_fluid_add_fresh(CsimFluid *f, uint32_t flow) {
  if (G_UNLIKELY(f->n_fresh == f->fresh_capacity)) {
    f->fresh_capacity = MAX(256, 2 * f->fresh_capacity);
    f->fresh = g_renew(Fresh, f->fresh, f->fresh_capacity);
  }
  Flow *fl = &f->flows[flow];
  fl->rate = 0;
  fl->ref = CSIM_EVENT_REF_NONE;
  f->fresh[f->n_fresh++] = (Fresh){flow, fl->generation};
  csim_fluid_ask(f);
}

static void start_shared(CsimFluid *f, uint32_t class, uint32_t flow) {
  Flow *fl = &f->flows[flow];
  fl->finish = csim_fluid_served(f, &f->classes[class]) + (double)fl->bytes;
  csim_fluid_class_insert(f, class, flow);
  csim_fluid_queue_class(f, class);
}

static void begin_flow(CsimFluid *f, uint32_t class, uint32_t flow) {
  Class *c = &f->classes[class];
  if (!c->active) csim_fluid_class_activate(f, class);
  c->flows++;
  for (guint i = 0; i < c->n_links; i++) {
    int64_t weight;
    uint32_t link = csim_fluid_class_link(f, c, i, &weight);
    load_link(f, link, c, weight);
  }
  if (c->direct) {
    csim_fluid_class_append(f, class, flow);
    csim_fluid_add_fresh(f, flow);
  } else start_shared(f, class, flow);
  if (G_UNLIKELY(f->watch != NULL)) watch_links(f, c);
}

/* Takes the flow out, `bytes` having been carried. */
static void end_flow(CsimFluid *f, uint32_t flow, double bytes) {
  uint32_t class = f->flows[flow].class;
  Class *c = &f->classes[class];
  csim_fluid_class_remove(f, flow);
  for (guint i = 0; i < c->n_links; i++) {
    int64_t weight;
    uint32_t link = csim_fluid_class_link(f, c, i, &weight);
    unload_link(f, link, c, weight);
  }
  c->carried += bytes;
  c->flows--;
  if (!c->direct) {
    if (c->flows == 0) csim_fluid_class_deactivate(f, class);
    else csim_fluid_queue_class(f, class);
  }
  if (G_UNLIKELY(f->watch != NULL)) watch_links(f, c);
  give_flow(f, flow);
}

static gboolean is_waiting(const Flow *fl) { return fl->rate == WAITING; }

static void start_waiting(CsimFluid *f, uint32_t flow) {
  Flow *fl = &f->flows[flow];
  f->classes[fl->class].waiting--;
  fl->start = f->now;
  fl->rate = 0;
  begin_flow(f, fl->class, flow);
}

static void wait_for_start(CsimFluid *f, uint32_t flow, CsimTime at) {
  Flow *fl = &f->flows[flow];
  f->classes[fl->class].waiting++;
  fl->rate = WAITING;
  fl->ref = csim_engine_at(f->engine, at, f->handler, CSIM_FLUID_EVENT_START, flow, 0);
}

CsimFlowId csim_fluid_start(CsimFluid *f, const CsimFlowLink *links, guint n_links, CsimBytes bytes, CsimRate cap,
                            uint16_t handler, uint16_t kind, uint32_t entity, uint64_t arg) {
  uint32_t hint = CSIM_FLUID_HINT_NONE;
  return csim_fluid_start_at(f, 0, &hint, links, n_links, bytes, cap, handler, kind, entity, arg);
}

CsimFlowId csim_fluid_start_at(CsimFluid *f, CsimTime at, uint32_t *hint, const CsimFlowLink *links, guint n_links, CsimBytes bytes,
                               CsimRate cap, uint16_t handler, uint16_t kind, uint32_t entity, uint64_t arg) {
  g_assert(n_links <= CSIM_FLUID_MAX_LINKS && bytes >= 0 && cap >= 0 && (n_links > 0 || cap > 0));
  f->now = csim_engine_now(f->engine);
  f->stats.started++;
  if (bytes == 0) {
    csim_engine_at(f->engine, MAX(at, f->now), handler, kind, entity, arg);
    return CSIM_FLOW_NONE;
  }
  uint32_t class = csim_fluid_class(f, hint, links, n_links, cap);
  uint32_t flow = take_flow(f);
  Flow *fl = &f->flows[flow];
  fl->bytes = bytes;
  fl->start = f->now;
  fl->class = class;
  fl->rate = 0;
  fl->handler = handler;
  fl->kind = kind;
  fl->entity = entity;
  fl->arg = arg;
  if (at > f->now) wait_for_start(f, flow, at);
  else begin_flow(f, class, flow);
  return flow_id(f, flow);
}

static double bytes_left(const CsimFluid *f, const Flow *fl) {
  const Class *c = &f->classes[fl->class];
  CsimTime now = csim_engine_now(f->engine);
  double left = fl->finish - c->served - c->rate * PS * (double)(now - c->at);
  if (c->direct) left = (double)fl->bytes - fl->rate * PS * (double)(now - fl->start);
  return CLAMP(left, 0, (double)fl->bytes);
}

void csim_fluid_cancel(CsimFluid *f, CsimFlowId id) {
  uint32_t flow = live_flow(f, id);
  if (flow == NONE) return;
  f->now = csim_engine_now(f->engine);
  const Flow *fl = &f->flows[flow];
  Class *c = &f->classes[fl->class];
  if (is_waiting(fl)) {
    csim_engine_cancel(f->engine, fl->ref);
    c->waiting--;
    give_flow(f, flow);
    return;
  }
  if (c->direct) csim_engine_cancel(f->engine, fl->ref);
  end_flow(f, flow, (double)fl->bytes - bytes_left(f, fl));
}

double csim_fluid_flow_rate(const CsimFluid *f, CsimFlowId id) {
  uint32_t flow = live_flow(f, id);
  return flow == NONE || is_waiting(&f->flows[flow]) ? 0 : csim_fluid_rate_of(&f->classes[f->flows[flow].class], &f->flows[flow]);
}

/* ---- completions ---- */

static void fire(CsimFluid *f, const Flow *fl) {
  csim_engine_fire(f->engine, fl->handler, fl->kind, fl->entity, fl->arg);
}

static void complete_direct(CsimFluid *f, uint32_t flow) {
  Flow ended = f->flows[flow];
  end_flow(f, flow, (double)ended.bytes);
  fire(f, &ended);
}

static void complete_class(CsimFluid *f, uint32_t class) {
  Class *c = &f->classes[class];
  while (c->date <= f->now) {
    uint32_t flow = c->head;
    f->ended[f->n_ended++] = f->flows[flow];
    end_flow(f, flow, (double)f->flows[flow].bytes);
    if (c->flows == 0) return;
    c->date = csim_fluid_head_date(f, c);
  }
}

/* Owners are told when all of this home's completions are out: they may start flows on the same links. */
static void complete_home(CsimFluid *f, uint32_t link) {
  uint32_t next;
  f->n_ended = 0;
  for (uint32_t class = f->links[link].home_first; class != NONE; class = next) {
    next = f->classes[class].home_next;
    complete_class(f, class);
  }
  csim_fluid_queue_home(f, link);
  for (guint i = 0; i < f->n_ended; i++) {
    Flow ended = f->ended[i]; /* a copy: a start may move the array */
    fire(f, &ended);
  }
}

static void handle_event(CsimEngine *engine, void *owner, const CsimEvent *event) {
  CsimFluid *f = owner;
  f->now = event->time;
  if (event->kind == CSIM_FLUID_EVENT_FLOW) complete_direct(f, event->entity);
  else if (event->kind == CSIM_FLUID_EVENT_START) start_waiting(f, event->entity);
  else complete_home(f, event->entity);
}

/* ---- accounts ---- */

static double carried_so_far(const CsimFluid *f, const Class *c) {
  double bytes = c->carried;
  for (uint32_t flow = c->head; flow != NONE; flow = f->flows[flow].next)
    bytes += (double)f->flows[flow].bytes - bytes_left(f, &f->flows[flow]);
  return bytes;
}

CsimLinkUse csim_fluid_link_use(const CsimFluid *f, CsimLinkId link) {
  const Link *l = &f->links[link];
  const LinkCold *cold = &f->cold[link];
  CsimTime now = csim_engine_now(f->engine);
  CsimLinkUse use = {.bytes = cold->bytes, .busy = cold->busy, .binding = cold->bind, .peak = l->peak};
  if (l->flows > 0) use.busy += now - l->busy_since;
  if (l->binding) use.binding += now - cold->bind_since;
  for (uint32_t i = l->first; i != NONE; i = f->incidences[i].next)
    use.bytes += carried_so_far(f, &f->classes[f->incidences[i].class]) *
                 ((double)f->incidences[i].weight / WEIGHT_ONE);
  return use;
}

CsimFluidStats csim_fluid_stats(const CsimFluid *f) {
  CsimFluidStats stats = f->stats;
  stats.classes = f->n_classes;
  return stats;
}

void csim_fluid_watch(CsimFluid *f, CsimFluidWatch fn, void *data) {
  f->watch = fn;
  f->watch_data = data;
}
