/* exp/bench.c - what the bare workloads share: checking, ports, running, measuring. */
#include "exp/bench-private.h"

#include "base/rng.h"
#include "base/units.h"
#include "collsim/error.h"

#include <inttypes.h>
#include <sys/resource.h>

/* base/rng.h's purpose: dates at which ranks start. */
#define PURPOSE_START 0x62656e63u

static const BenchClass *const classes[CSIM_N_BENCHES] = {
  [CSIM_BENCH_RING] = &csim_bench_ring,
  [CSIM_BENCH_ALLTOALL] = &csim_bench_alltoall,
  [CSIM_BENCH_TREE] = &csim_bench_tree,
};

const char *csim_bench_name(CsimBenchKind kind) { return classes[kind]->name; }

gboolean csim_bench_parse(const char *text, CsimBenchKind *out) {
  for (guint i = 0; i < CSIM_N_BENCHES; i++) {
    if (g_strcmp0(text, classes[i]->name) != 0) continue;
    *out = (CsimBenchKind)i;
    return TRUE;
  }
  return FALSE;
}

void csim_bench_spec_init(CsimBenchSpec *spec) {
  *spec = (CsimBenchSpec){
    .kind = CSIM_BENCH_RING,
    .n_ranks = 1024,
    .bytes = 64 << 20,
    .chunks = 64,
    .rate = 50000000000,
    .latency = CSIM_US,
    .seed = 1,
    .queue = CSIM_QUEUE_RADIX,
    .form = CSIM_BENCH_FULL,
  };
}

/* --- what can be run ------------------------------------------------------------- */

static gboolean check_ranges(const CsimBenchSpec *spec, GError **error) {
  const char *wrong = NULL;
  if (spec->n_ranks < 2 || spec->n_ranks > CSIM_BENCH_MAX_RANKS) wrong = "ranks; allowed: 2 to 1000000";
  else if (spec->kind == CSIM_BENCH_TREE && (spec->chunks < 1 || spec->chunks > CSIM_BENCH_MAX_CHUNKS)) wrong = "chunks; allowed: 1 to 1000000";
  else if (spec->bytes < 0 || spec->rate <= 0 || spec->latency < 0 || spec->skew < 0) wrong = "size, rate or time; allowed: none below 0, a rate above 0";
  if (wrong) g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "impossible number of %s", wrong);
  return !wrong;
}

static gboolean check_alike(const CsimBenchSpec *spec, GError **error) {
  if (spec->form == CSIM_BENCH_FULL) return TRUE;
  const char *why = !classes[spec->kind]->alike ? "ranks of a tree are not alike; ring and alltoall can be collapsed"
                    : spec->skew > 0            ? "ranks that start at different times are not alike; leave out the skew"
                                                : NULL;
  if (why) g_set_error_literal(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, why);
  return !why;
}

/* No message waits for more than all the others one after the other. */
static gboolean check_dates(const CsimBenchSpec *spec, CsimTime wire, GError **error) {
  double steps = 2.0 * spec->n_ranks * (spec->kind == CSIM_BENCH_TREE ? spec->chunks : 1);
  double latest = steps * ((double)wire + (double)spec->latency) + (double)spec->skew;
  if (latest < 0x1p62) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_LIMIT, "this may last %.3g s; the limit is %.3g s", latest * 1e-12, 0x1p62 * 1e-12);
  return FALSE;
}

/* --- running ----------------------------------------------------------------------- */

CsimTime csim_bench_jump(Bench *b, CsimTime now, uint32_t *left) {
  if (G_LIKELY(b->spec->form != CSIM_BENCH_JUMP) || *left < 2) return 0;
  BenchPort *port = b->ports;
  BenchState before = b->state, state = {TRUE, now, port->out_free - now, port->in_free - now};
  b->state = state;
  if (!before.known || before.out_free != state.out_free || before.in_free != state.in_free) return 0;
  CsimTime shift = (now - before.now) * (*left - 1);
  b->steps_jumped += *left - 1;
  *left = 1;
  port->out_free += shift;
  port->in_free += shift;
  return shift;
}

static double cpu_seconds(const struct rusage *u) {
  return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) + 1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

static CsimEnd execute(Bench *b, const BenchClass *class) {
  const CsimBenchSpec *spec = b->spec;
  for (guint i = 0; spec->skew > 0 && i < b->n; i++)
    b->ports[i].out_free = (CsimTime)(csim_rng_at(spec->seed, i, PURPOSE_START, 0) % ((uint64_t)spec->skew + 1));
  for (guint i = 0; i < b->n; i++) b->ports[i].in_free = -b->wire; /* its first message waits for nothing */
  class->begin(b);
  return csim_engine_run(b->engine, CSIM_TIME_NEVER, 0);
}

static CsimEnd run_on(Bench *b, const BenchClass *class) {
  const CsimBenchSpec *spec = b->spec;
  g_autofree BenchPort *ports = g_new0(BenchPort, b->n);
  g_autofree char *own = g_malloc0(b->n * class->bytes_own + 1);
  b->ports = ports;
  b->own = own;
  b->handler = csim_engine_add_handler(b->engine, class->name, class->on_event, b);
  csim_engine_set_interrupt(b->engine, spec->interrupt);
  csim_engine_set_digest(b->engine, spec->digest);
  return execute(b, class);
}

static void measure(CsimBenchResult *out, const struct rusage *before, gint64 started_us) {
  struct rusage after;
  out->wall_s = (double)(g_get_monotonic_time() - started_us) * 1e-6;
  getrusage(RUSAGE_SELF, &after);
  out->process_cpu_s = cpu_seconds(&after);
  out->cpu_s = out->process_cpu_s - cpu_seconds(before);
  out->peak_rss_mib = (double)after.ru_maxrss / 1024; /* Linux counts KiB */
}

gboolean csim_bench_run(const CsimBenchSpec *spec, CsimBenchResult *out, GError **error) {
  if (!check_ranges(spec, error) || !check_alike(spec, error)) return FALSE;
  const BenchClass *class = classes[spec->kind];
  CsimTime wire = csim_rate_time(spec->rate, class->message(spec));
  if (!check_dates(spec, wire, error)) return FALSE;
  struct rusage before;
  getrusage(RUSAGE_SELF, &before);
  gint64 started_us = g_get_monotonic_time();
  g_autoptr(CsimEngine) engine = csim_engine_new(spec->queue);
  Bench b = {.spec = spec, .engine = engine, .n = spec->form == CSIM_BENCH_FULL ? spec->n_ranks : 1, .wire = wire, .latency = spec->latency};
  CsimEnd end = run_on(&b, class);
  *out = (CsimBenchResult){
    .time = b.end,
    .message = class->message(spec),
    .messages = class->messages(spec),
    .events = csim_engine_stats(engine).events,
    .ranks_simulated = b.n,
    .steps_jumped = b.steps_jumped,
    .digest = csim_engine_digest(engine),
  };
  measure(out, &before, started_us);
  if (end == CSIM_END_IDLE) return TRUE;
  g_assert(end == CSIM_END_INTERRUPTED || end == CSIM_END_STUCK);
  if (end == CSIM_END_INTERRUPTED) g_set_error(error, CSIM_ERROR, CSIM_ERROR_INTERRUPTED, "interrupted after %" PRIu64 " events", out->events);
  else g_set_error(error, CSIM_ERROR, CSIM_ERROR_LIMIT, "more events at %.3f us than one instant may have", csim_time_us(csim_engine_now(engine)));
  return FALSE;
}
