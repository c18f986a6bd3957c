/*
 * The fast fluid solver against the plain one, on random networks and schedules full of ties.
 */
#include "ref-fluid.h"
#include <math.h>
#include <string.h>

#define MAX_FLOWS REF_MAX_FLOWS
#define N_PROBES 40
#define MAX_NET 12

enum { EV_START, EV_CANCEL, EV_CAPACITY, EV_PROBE, EV_DONE };

typedef struct {
  GRand *rand;
  RefLink links[MAX_NET], initial[MAX_NET];
  guint n_links;
  RefFlow flows[MAX_FLOWS];
  guint n_flows;
  RefChange changes[8];
  guint n_changes;
  RefProbe probes[N_PROBES];
  CsimEngine *engine;
  CsimFluid *fluid;
  uint16_t handler;
  CsimFlowId id[MAX_FLOWS];
  CsimTime end[MAX_FLOWS], touched; /* touched: the last instant with a start, end or change */
  guint compared;
  double worst_rate;
  CsimTime worst_end;
} Case;

static guint below(Case *c, guint n) { return (guint)g_rand_int_range(c->rand, 0, (gint32)n); }

/* ---- making a case ---- */

static CsimRate random_cap(Case *c, guint style) {
  static const CsimRate usual[] = {38700000000, 34500000000, 24500000000, 22800000000};
  if (style == 2) return below(c, 4) == 0 ? 0 : 1000000000 + (CsimRate)below(c, 2000000000) * 50;
  return usual[below(c, style == 0 ? 4 : 2)];
}

static void make_links(Case *c, guint style) {
  static const double softness[] = {0, 5, 5, 3};
  c->n_links = style == 3 ? 8 : 1 + below(c, style == 2 ? MAX_NET : 4);
  for (guint i = 0; i < c->n_links; i++) {
    c->links[i].capacity = style == 2 ? 1000000000 + (CsimRate)below(c, 1000000000) * 200 : 370000000000;
    c->links[i].softness = style == 1 ? 0 : softness[below(c, 4)];
  }
  memcpy(c->initial, c->links, sizeof c->links);
}

/* Style 3: pairs of ports with one weight each, so that every component is a star; else anything. */
static void make_route(Case *c, RefFlow *f, guint style) {
  static const float weights[] = {1, 1, 2, 16.0f / 15}, paired[] = {1, 1, 2, 2, 16.0f / 15, 1, 43.8f, 1000};
  guint pair = 2 * below(c, 4);
  f->n_links = style == 3 ? 2 : style == 2 ? below(c, 5) : 1 + below(c, 2);
  for (guint k = 0; k < f->n_links; k++) {
    guint link = style == 3 ? pair + k : below(c, c->n_links);
    f->link[k] = (CsimFlowLink){link, style == 3 ? paired[link] : weights[below(c, 4)]};
  }
}

static void make_flow(Case *c, RefFlow *f, guint style) {
  *f = (RefFlow){.end = CSIM_TIME_NEVER, .cancel = CSIM_TIME_NEVER};
  make_route(c, f, style);
  f->cap = random_cap(c, style);
  if (f->n_links == 0 && f->cap == 0) f->cap = 1000000000;
  f->bytes = below(c, 3) ? 65536 * (CsimBytes)(1 + below(c, 8)) : (CsimBytes)below(c, 1 << 20);
  f->start = below(c, 2) ? 1000000 * (CsimTime)below(c, 8) : (CsimTime)below(c, 12000000);
  if (below(c, 10) == 0) f->cancel = f->start + 1 + (CsimTime)below(c, 5000000);
}

static gint by_time(gconstpointer a, gconstpointer b) {
  const RefChange *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

static void make_case(Case *c, guint32 seed) {
  *c = (Case){.rand = g_rand_new_with_seed(seed), .touched = -1};
  guint style = below(c, 4);
  make_links(c, style);
  c->n_flows = 1 + below(c, MAX_FLOWS - 1);
  for (guint i = 0; i < c->n_flows; i++) {
    make_flow(c, &c->flows[i], style);
    c->end[i] = CSIM_TIME_NEVER;
  }
  c->n_changes = below(c, 3) ? 0 : below(c, 8);
  for (guint i = 0; i < c->n_changes; i++)
    c->changes[i] = (RefChange){1 + (CsimTime)below(c, 9000000) + i * 7, below(c, c->n_links),
                                below(c, 5) == 0 ? 0 : 1000000000 + (CsimRate)below(c, 1000000000) * 100};
  qsort(c->changes, c->n_changes, sizeof *c->changes, by_time);
  for (guint i = 0; i < N_PROBES; i++)
    c->probes[i].at = (CsimTime)below(c, 20000000);
}

/* ---- running it ---- */

static void probe(Case *c, const RefProbe *want) {
  for (guint i = 0; i < c->n_flows; i++) {
    if (c->id[i] == CSIM_FLOW_NONE || !(want->rate[i] > 0)) continue; /* ended, a ps before or after the other */
    double got = csim_fluid_flow_rate(c->fluid, c->id[i]);
    double error = fabs(got - want->rate[i]) / MAX(want->rate[i], 1);
    c->worst_rate = MAX(c->worst_rate, error);
    c->compared++;
  }
}

static void on_event(CsimEngine *engine, void *owner, const CsimEvent *e) {
  Case *c = owner;
  const RefFlow *f = &c->flows[e->entity];
  if (e->kind == EV_PROBE) {
    if (c->touched != e->time) probe(c, &c->probes[e->entity]);
    return;
  }
  c->touched = e->time;
  switch (e->kind) {
  case EV_START:
    if (e->entity % 2 == 0) /* the others were said before */
      c->id[e->entity] =
          csim_fluid_start(c->fluid, f->link, f->n_links, f->bytes, f->cap, c->handler, EV_DONE, e->entity, 0);
    if (f->cancel != CSIM_TIME_NEVER) csim_engine_at(engine, f->cancel, c->handler, EV_CANCEL, e->entity, 0);
    break;
  case EV_CANCEL:
    csim_fluid_cancel(c->fluid, c->id[e->entity]);
    c->id[e->entity] = CSIM_FLOW_NONE;
    break;
  case EV_CAPACITY:
    c->links[c->changes[e->entity].link].capacity = c->changes[e->entity].capacity;
    csim_fluid_set_capacity(c->fluid, c->changes[e->entity].link, c->changes[e->entity].capacity);
    break;
  case EV_DONE:
    c->id[e->entity] = CSIM_FLOW_NONE;
    c->end[e->entity] = e->time;
  }
}

static void run_fast(Case *c) {
  c->engine = csim_engine_new(CSIM_QUEUE_RADIX);
  c->handler = csim_engine_add_handler(c->engine, "case", on_event, c);
  c->fluid = csim_fluid_new(c->engine);
  for (guint i = 0; i < c->n_links; i++)
    csim_fluid_add_link(c->fluid, NULL, c->links[i].capacity, c->links[i].softness);
  for (guint i = 0; i < c->n_flows; i++) {
    const RefFlow *f = &c->flows[i];
    uint32_t hint = i % 3 ? CSIM_FLUID_HINT_NONE : 0; /* a wrong one does no harm */
    c->id[i] = CSIM_FLOW_NONE;
    if (i % 2)
      c->id[i] = csim_fluid_start_at(c->fluid, f->start, &hint, f->link, f->n_links, f->bytes, f->cap, c->handler, EV_DONE, i, 0);
    csim_engine_at(c->engine, c->flows[i].start, c->handler, EV_START, i, 0);
  }
  for (guint i = 0; i < c->n_changes; i++)
    csim_engine_at(c->engine, c->changes[i].at, c->handler, EV_CAPACITY, i, 0);
  for (guint i = 0; i < N_PROBES; i++)
    csim_engine_at(c->engine, c->probes[i].at, c->handler, EV_PROBE, i, 0);
  csim_engine_run(c->engine, CSIM_TIME_NEVER, 0);
}

static double carried(const Case *c, guint link) {
  double sum = 0;
  for (guint i = 0; i < c->n_flows; i++)
    for (guint k = 0; k < c->flows[i].n_links; k++)
      if (c->flows[i].link[k].link == link)
        sum += (double)c->flows[i].link[k].weight * (double)((long double)c->flows[i].bytes - MAX(0, c->flows[i].left));
  return sum;
}

static void compare(Case *c, guint32 seed) {
  if (c->worst_rate > 1e-9) g_error("case %u: rates differ by %g", seed, c->worst_rate);
  for (guint i = 0; i < c->n_flows; i++) {
    CsimTime want = c->flows[i].end, got = c->end[i];
    if (want == got) continue;
    if (ABS(want - got) > (CsimTime)c->n_flows)
      g_error("case %u: flow %u ends at %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT, seed, i, got, want);
    c->worst_end = MAX(c->worst_end, ABS(want - got));
  }
  for (guint l = 0; l < c->n_links; l++) {
    double got = csim_fluid_link_use(c->fluid, l).bytes, want = carried(c, l);
    if (fabs(got - want) > 1e-6 * want + 1) g_error("case %u: link %u carried %f, not %f", seed, l, got, want);
  }
}

static void test_random(void) {
  guint n = g_test_quick() ? 4000 : 40000, probes = 0;
  double worst_rate = 0;
  CsimTime worst_end = 0;
  for (guint32 seed = 1; seed <= n; seed++) {
    static Case c;
    make_case(&c, seed);
    RefSchedule schedule = {c.changes, c.n_changes, c.probes, N_PROBES};
    ref_run(c.initial, c.n_links, c.flows, c.n_flows, &schedule);
    run_fast(&c);
    compare(&c, seed);
    probes += c.compared;
    worst_rate = MAX(worst_rate, c.worst_rate);
    worst_end = MAX(worst_end, c.worst_end);
    csim_fluid_free(c.fluid);
    csim_engine_free(c.engine);
    g_rand_free(c.rand);
  }
  g_test_message("%u cases, %u rates compared: worst %g; worst completion %" G_GINT64_FORMAT " ps", n, probes,
                 worst_rate, worst_end);
  g_assert_cmpuint(probes, >, n);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/fluid/equals-plain-solver", test_random);
  return g_test_run();
}
