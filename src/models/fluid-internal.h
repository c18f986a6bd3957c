/*
 * models/fluid-internal.h - the data of the fluid solver, shared by fluid*.c and nobody else.
 *
 * Links and classes are arrays, joined by incidences: a class owns a block of n_links consecutive incidences, and
 * each link chains those of its active classes (classes with at least one flow). Flows hang in their class in
 * order of completion.
 *
 * A class serves all its flows at one rate, so it keeps one integral of that rate (`served`, bytes since the class
 * became active), and a flow only the value at which it ends: a change of rate costs one step a class, not a flow.
 *
 * A link is loose while the caps of its flows fit. A class that only met loose links since it had no flow is direct:
 * each of its flows has a rate of its own, fixed at the end of the instant of its start, and is one engine event at an
 * exact date. When one of its links stops being loose it becomes a shared class, until it is empty: its
 * flows have one rate, and its completions come from the timer of its home (its first link).
 *
 * A direct class that is empty stays in its links' lists (its next flow comes soon) until a solve sweeps it out.
 */
#ifndef CSIM_MODELS_FLUID_INTERNAL_H
#define CSIM_MODELS_FLUID_INTERNAL_H

#include "base/units.h"
#include "models/fluid.h"

#define NONE UINT32_MAX
#define WEIGHT_ONE 16777216 /* weights are integers in units of 2^-24, so that sums never drift */
#define PS 1e-12            /* seconds */
#define WAITING -1e300           /* no finish is so low */

enum { CSIM_FLUID_EVENT_FLOW, CSIM_FLUID_EVENT_HOME, CSIM_FLUID_EVENT_START }; /* kinds of the fluid's own events */

typedef unsigned __int128 Demand;

/* Two cache lines: starts and ends on a loose link need the first only. */
typedef struct {
  Demand demand;         /* sum of weight x cap over its flows with a cap */
  CsimRate capacity;
  int64_t weight;        /* sum over its flows */
  uint32_t flows, uncapped; /* uncapped: those without a cap */
  uint32_t n_shared;     /* shared classes */
  uint8_t curve;         /* softness; 0: none */
  uint8_t loose;         /* the caps fit */
  uint8_t tight, was_tight; /* the caps do not fit: now, and at the last solve */
  uint8_t dirty, touched, home_queued;
  uint8_t binding;
  uint32_t peak;         /* most flows at once so far */
  CsimTime busy_since;

  uint32_t first;        /* incidences of active classes */
  uint32_t n_classes;    /* and how many */
  uint32_t home_first;   /* shared classes whose home it is */
  uint32_t mark;         /* epoch of the last visit */
  uint8_t bound;         /* scratch: filling stopped here */
  double share;          /* of soft links with shared classes */
  uint64_t reserved[4];
} Link;
G_STATIC_ASSERT(sizeof(Link) == 128 && G_STRUCT_OFFSET(Link, first) == 64);

/* The rest. */
typedef struct {
  Demand left;             /* scratch of filling: without the flows at their caps */
  double taken;            /* scratch: of it by flows at a level */
  int64_t open, before;    /* scratch: weight of flows not yet fixed, now and before this level */
  uint32_t place;          /* in piece_links while it is filled, else NONE */
  uint8_t stale;           /* scratch: a flow was fixed since its level was computed */
  double full_at;          /* binding links: highest rate of a flow on it */
  double bytes;            /* of classes that were emptied */
  CsimTime busy, bind, bind_since;
  const char *name;
} LinkCold;

typedef struct {
  uint32_t link, class, next, prev;
  int64_t weight;
} Incidence;

/* Two cache lines: direct flows need the first only. */
#define NEAR 2
typedef struct {
  CsimRate cap;          /* 0: none */
  double carried;        /* bytes of flows that ended since the class became active */
  int64_t near_weight;   /* of its links, if there are at most NEAR, of one weight: they are in `near` then. 0: look at the incidences */
  uint32_t near[NEAR];
  uint32_t flows, head, tail;
  uint32_t waiting;      /* flows that start later */
  uint32_t first;        /* block of incidences */
  uint32_t mark;
  uint32_t home_next;
  uint8_t n_links;
  uint8_t active : 1;    /* in its links' lists */
  uint8_t direct : 1, queued : 1, fixed : 1;
  uint8_t repeats : 1;   /* a link occurs twice */

  double rate, max_min;  /* bytes/s, of shared classes */
  double served;         /* at `at` */
  CsimTime at, since;    /* since: of the last change of rate */
  CsimTime date;         /* of the first flow's completion, shared classes */
  double head_finish;    /* of the first flow, shared classes: dates need no look at it */
  CsimTime head_start;
} Class;
G_STATIC_ASSERT(sizeof(Class) == 128 && G_STRUCT_OFFSET(Class, rate) == 64);

/* The rest. */
typedef struct { uint32_t hash, home_prev; } ClassCold;

typedef struct {
  union {
    double finish;       /* shared: value of the class's `served` at which it ends */
    double rate;         /* direct: bytes/s; 0 in the instant of its start; WAITING before */
  };
  CsimBytes bytes;
  CsimTime start;
  uint32_t class, next, prev;
  uint32_t generation;
  CsimEventRef ref;      /* direct or waiting */
  uint64_t arg;
  uint32_t entity;
  uint16_t handler, kind;
} Flow;
G_STATIC_ASSERT(sizeof(Flow) == 64);

/* Values of (1 + x^p)^(-1/p), remembered: few loads occur. */
#define CURVE_MEMO 1024
typedef struct {
  double p, floor; /* floor: x below which there is no slow-down */
  struct { double x, y; } memo[CURVE_MEMO];
} Curve;

#define TIMERS_PER_CHUNK 256
typedef union { CsimTimer timer; char line[64]; } TimerLine;
G_STATIC_ASSERT(sizeof(TimerLine) == 64);
G_STATIC_ASSERT(CSIM_FLUID_MAX_LINKS <= G_MAXUINT8);

typedef struct { uint32_t hash, class; } ClassBucket; /* class: NONE if empty */

typedef struct { uint32_t *at; guint n; } IndexList; /* at: room for all of what it indexes */
typedef struct { uint32_t flow, generation; } Fresh;

/* A class of the piece that is solved. */
typedef struct {
  double before;        /* its max_min */
  uint32_t class;
} PieceClass;

typedef struct { double key; uint32_t class; } FillKey;
typedef struct { FillKey *at; guint n; } FillHeap; /* lowest key first; room for all classes */

struct CsimFluid {
  CsimEngine *engine;
  CsimTime now;          /* the engine's, set at each entry */
  uint16_t handler;
  gboolean asked;        /* settle is in the engine's end-of-instant list */
  uint32_t epoch;
  Link *links;
  LinkCold *cold;        /* of the same index */
  guint n_links, links_capacity;
  GPtrArray *timers;     /* chunks of TimerLine, which must not move */
  Class *classes;
  ClassCold *classes_cold; /* of the same index */
  guint n_classes, classes_capacity, recycle_at;
  ClassBucket *buckets;  /* hash of classes */
  guint n_buckets;
  Incidence *incidences;
  guint n_incidences, incidences_capacity;
  uint32_t free_blocks[CSIM_FLUID_MAX_LINKS + 1];
  Flow *flows;
  guint flows_capacity;
  uint32_t free_flow;
  Flow *ended;           /* scratch: completions of one timer */
  guint n_ended;
  Fresh *fresh;          /* flows of direct classes that started in this instant */
  guint n_fresh, fresh_capacity;
  guint active;
  IndexList dirty, touched, homes, queued;
  IndexList piece_links; /* scratch of a solve */
  PieceClass *piece;     /* scratch, room for all classes */
  FillHeap by_cap, by_limit; /* scratch: classes of the piece that have a cap, that links outside limit */
  double *levels;        /* scratch: tree of the links' levels, room for twice as many */
  IndexList stale;       /* scratch */
  guint n_piece, n_open, n_leaves; /* n_open: classes whose rates are not fixed */
  gboolean everything;   /* the piece takes all that tight links join */
  GPtrArray *curves;     /* Curve*, from index 1 */
  CsimFluidWatch watch;
  void *watch_data;
  CsimFluidStats stats;
};

/* fluid-class.c */
/* A larger copy of an array, at a multiple of 64 so that no element lies across cache lines; for free(). */
void *csim_fluid_grow(void *array, gsize old_bytes, gsize new_bytes);
/* hint: a class that it may be, and then is. */
uint32_t csim_fluid_class(CsimFluid *f, uint32_t *hint, const CsimFlowLink *links, guint n_links, CsimRate cap);
void csim_fluid_class_activate(CsimFluid *f, uint32_t class);
void csim_fluid_class_deactivate(CsimFluid *f, uint32_t class);
/* Takes classes without flows out of the link's list. */
void csim_fluid_sweep(CsimFluid *f, Link *l);
/* From direct to shared: its flows lose their events and take their place in `served`. */
void csim_fluid_class_share(CsimFluid *f, uint32_t class);
/* The reverse, when all its flows have started in this instant. */
void csim_fluid_class_unshare(CsimFluid *f, uint32_t class);
/* A flow of a direct class, to be given its rate at the end of this instant. */
void csim_fluid_add_fresh(CsimFluid *f, uint32_t flow);
void csim_fluid_class_append(CsimFluid *f, uint32_t class, uint32_t flow);
void csim_fluid_class_insert(CsimFluid *f, uint32_t class, uint32_t flow); /* in order of `finish` */
void csim_fluid_class_remove(CsimFluid *f, uint32_t flow);

/* fluid-rate.c */
guint8 csim_fluid_curve(CsimFluid *f, double softness);
/* The part of its cap that soft link l, which is loose, leaves to a flow that starts. */
double csim_fluid_start_factor(const CsimFluid *f, const Link *l);
/* The rate that soft link l leaves to a flow of a shared class with this cap. */
double csim_fluid_soften(const CsimFluid *f, const Link *l, double cap);
/* Of the completion of the class's first flow. */
CsimTime csim_fluid_head_date(const CsimFluid *f, const Class *c);
/* From now on; with the new date of the first completion. The class has flows. */
void csim_fluid_set_rate(CsimFluid *f, Class *c, double rate);

/* fluid-solve.c */
void csim_fluid_settle(CsimEngine *engine, void *owner);

/* fluid-fill.c: max_min of the classes of the piece, bound and full_at of its links. */
void csim_fluid_fill(CsimFluid *f);

/* fluid-star.c: settles a dirty link and all that it reaches, if that is a star. FALSE: it is not, nothing was done. */
gboolean csim_fluid_settle_star(CsimFluid *f, uint32_t link);

/* Link i of a class, and its weight there. */
static inline uint32_t csim_fluid_class_link(const CsimFluid *f, const Class *c, guint i, int64_t *weight) {
  if (G_LIKELY(c->near_weight != 0)) {
    *weight = c->near_weight;
    return c->near[i];
  }
  *weight = f->incidences[c->first + i].weight;
  return f->incidences[c->first + i].link;
}

static inline CsimTimer *csim_fluid_timer(const CsimFluid *f, uint32_t link) {
  TimerLine *chunk = g_ptr_array_index(f->timers, link / TIMERS_PER_CHUNK);
  return &chunk[link % TIMERS_PER_CHUNK].timer;
}

static inline void csim_fluid_ask(CsimFluid *f) {
  if (f->asked) return;
  f->asked = TRUE;
  csim_engine_at_instant_end(f->engine, csim_fluid_settle, f);
}

static inline void csim_fluid_mark_dirty(CsimFluid *f, uint32_t link) {
  if (f->links[link].dirty) return;
  f->links[link].dirty = TRUE;
  f->dirty.at[f->dirty.n++] = link;
  csim_fluid_ask(f);
}

/* The share, binding or watched rate of a link must be looked at. */
static inline void csim_fluid_touch(CsimFluid *f, uint32_t link) {
  if (f->links[link].touched) return;
  f->links[link].touched = TRUE;
  f->touched.at[f->touched.n++] = link;
}

/* The class's rate or first completion may have changed. */
static inline void csim_fluid_queue_class(CsimFluid *f, uint32_t class) {
  if (f->classes[class].queued) return;
  f->classes[class].queued = TRUE;
  f->queued.at[f->queued.n++] = class;
  csim_fluid_ask(f);
}

static inline void csim_fluid_queue_home(CsimFluid *f, uint32_t link) {
  if (f->links[link].home_queued) return;
  f->links[link].home_queued = TRUE;
  f->homes.at[f->homes.n++] = link;
  csim_fluid_ask(f);
}

/* After a change of load or capacity. */
static inline void csim_fluid_classify(Link *l) {
  l->loose = l->uncapped == 0 && l->demand <= (Demand)l->capacity * WEIGHT_ONE;
  l->tight = !l->loose;
}

/* After a solve that set `bound`. */
static inline void csim_fluid_note_binding(const CsimFluid *f, Link *l) {
  l->was_tight = l->tight;
  if (l->bound == l->binding) return;
  LinkCold *cold = &f->cold[l - f->links];
  l->binding = l->bound;
  if (l->binding) cold->bind_since = f->now;
  else cold->bind += f->now - cold->bind_since;
}

/* The flow's rate as of the last solve. */
static inline double csim_fluid_rate_of(const Class *c, const Flow *fl) { return c->direct ? fl->rate : c->rate; }

/* The class's `served` now. */
static inline double csim_fluid_served(const CsimFluid *f, const Class *c) {
  return c->served + c->rate * PS * (double)(f->now - c->at);
}

static inline CsimTime csim_fluid_after(CsimTime now, CsimTime wait) {
  return wait < CSIM_TIME_NEVER - now ? now + wait : CSIM_TIME_NEVER;
}

/* csim_rate_time without its 128-bit division where 64 bits hold bytes x 10^12: up to 8 MiB. */
static inline CsimTime csim_fluid_rate_time(CsimRate rate, CsimBytes bytes) {
  if (bytes > 8388608) return csim_rate_time(rate, bytes);
  return (CsimTime)(((uint64_t)bytes * UINT64_C(1000000000000) + (uint64_t)rate - 1) / (uint64_t)rate);
}

#endif
