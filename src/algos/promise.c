/*
 * algos/promise.c - what each collective promises, byte by byte.
 */
#include "algos/promise.h"
#include "algos/plan-private.h"

#include <inttypes.h>

typedef struct {
  const CsimPlan *plan;
  SymSets *sets;
  GArray *const *outputs;
  GArray *value; /* scratch */
  GError **error;
} Check;

gboolean promise_input_per_rank(CsimColl coll) {
  return coll == CSIM_COLL_REDUCE_SCATTER || coll == CSIM_COLL_ALLTOALL || coll == CSIM_COLL_SCATTER;
}

gboolean promise_output_per_rank(CsimColl coll) {
  return coll == CSIM_COLL_ALL_GATHER || coll == CSIM_COLL_ALLTOALL || coll == CSIM_COLL_GATHER ||
         coll == CSIM_COLL_HYPERCUBE;
}

/* A block of every rank: its input, or of alltoall the part of it that is for us. */
static gboolean block_span(const Check *check, int rank, int i, SymPiece *span) {
  const CsimPlanSpec *s = &check->plan->spec;
  CsimBytes count = s->count_bytes;
  if (i == check->plan->n || (s->coll == CSIM_COLL_GATHER && rank != s->root)) return FALSE;
  CsimBytes src = s->coll == CSIM_COLL_ALLTOALL ? rank * count : 0;
  *span = (SymPiece){i * count, count, src, sym_set_one(check->sets, i)};
  return TRUE;
}

static const SymSet *contributors(const Check *check, int rank) {
  const CsimPlanSpec *s = &check->plan->spec;
  switch (s->coll) {
  case CSIM_COLL_BROADCAST:
  case CSIM_COLL_SCATTER:
    return sym_set_one(check->sets, s->root);
  case CSIM_COLL_SENDRECV:
    return sym_set_one(check->sets, plan_wrap(check->plan, rank - 1));
  default:
    return sym_set_all(check->sets);
  }
}

/* Span i of rank's output, in order; FALSE past the last. */
static gboolean span_at(const Check *check, int rank, int i, SymPiece *span) {
  const CsimPlanSpec *s = &check->plan->spec;
  if (promise_output_per_rank(s->coll)) return block_span(check, rank, i, span);
  if (i > 0 || (s->coll == CSIM_COLL_REDUCE && rank != s->root)) return FALSE;
  CsimBytes src = promise_input_per_rank(s->coll) ? rank * s->count_bytes : 0;
  *span = (SymPiece){0, s->count_bytes, src, contributors(check, rank)};
  return TRUE;
}

G_GNUC_PRINTF(4, 5)
static gboolean wrong(const Check *check, int rank, CsimBytes where, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *what = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error(check->error, CSIM_ERROR, CSIM_ERROR_VALUE, "%s %s: rank %d: output byte %" PRId64 " %s",
              csim_coll_name(check->plan->spec.coll), check->plan->class->name, rank, where, what);
  return FALSE;
}

/* got->at counts from the span's begin. */
static gboolean check_piece(const Check *check, int rank, const SymPiece *span, const SymPiece *got) {
  CsimBytes where = span->at + got->at, want = span->src + got->at;
  if (got->set != span->set) {
    g_autofree char *has = sym_set_text(check->sets, got->set);
    g_autofree char *should = sym_set_text(check->sets, span->set);
    return wrong(check, rank, where, "has the contributions of ranks %s; should have %s", has, should);
  }
  if (got->src == want) return TRUE;
  return wrong(check, rank, where, "comes from input byte %" PRId64 "; should be %" PRId64, got->src, want);
}

static gboolean check_span(const Check *check, int rank, const SymPiece *span) {
  CsimBytes where;
  g_array_set_size(check->value, 0);
  if (!sym_buffer_load(check->outputs[rank], span->at, span->bytes, check->value, &where))
    return wrong(check, rank, where, "is never stored");
  for (guint i = 0; i < check->value->len; i++)
    if (!check_piece(check, rank, span, &g_array_index(check->value, SymPiece, i))) return FALSE;
  return TRUE;
}

static gboolean check_rank(const Check *check, int rank) {
  SymPiece span;
  int i;
  for (i = 0; span_at(check, rank, i, &span); i++)
    if (!check_span(check, rank, &span)) return FALSE;
  if (i > 0 || check->outputs[rank]->len == 0) return TRUE;
  return wrong(check, rank, g_array_index(check->outputs[rank], SymPiece, 0).at, "should not be stored");
}

gboolean promise_check(const CsimPlan *plan, SymSets *sets, GArray *const *outputs, GError **error) {
  g_autoptr(GArray) value = sym_array_new();
  Check check = {plan, sets, outputs, value, error};
  for (int rank = 0; rank < plan->n; rank++)
    if (!check_rank(&check, rank)) return FALSE;
  return TRUE;
}
