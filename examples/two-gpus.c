/*
 * examples/two-gpus.c - what do two GPUs do in a ring all_reduce?
 *
 * Describes a communicator of two ranks by hand, asks for the ring's plan, proves on symbolic data that it
 * is right, and prints its primitives and what each rank sends. No machine, no links, no time: those come
 * in with the layers above.
 *
 * Built beside the tests (`ninja tests/unit/algos/two-gpus` in the build folder): plans are not part of the
 * installed library.
 */
#include <stdio.h>

#include "algos/plan.h"

enum { N_RANKS = 2, BUFFER = 1 << 20, CHUNK = 256 << 10 };

/* The ring 0 -> 1 -> 0: a rank's place in it is its number. */
static int position(const void *data, int channel, int rank) {
  return rank;
}
static int rank_at(const void *data, int channel, int place) {
  return place;
}

static const CsimShape shape = {.n_ranks = N_RANKS, .ring_position = position, .ring_rank_at = rank_at};

static CsimPlan *make_plan(GError **error) {
  CsimPlanPart whole = {.offset = 0, .bytes = BUFFER, .chunk = CHUNK};
  CsimPlanSpec spec = {
      .coll = CSIM_COLL_ALL_REDUCE,
      .algo = CSIM_ALGO_RING,
      .count_bytes = BUFFER,
      .elem_bytes = 4,
      .n_channels = 1,
      .parts = &whole,
      .align_bytes = 16,
      .shape = &shape,
  };
  return csim_plan_new(&spec, error);
}

static CsimBytes bytes_sent(const CsimPlan *plan, int rank) {
  CsimPlanCursor cursor;
  CsimPrim prim;
  CsimBytes sent = 0;
  csim_plan_start(plan, (CsimLane){.rank = rank}, &cursor);
  while (csim_plan_next(plan, &cursor, &prim))
    if (prim.flags & CSIM_PRIM_SEND) sent += prim.bytes;
  return sent;
}

int main(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(CsimPlan) plan = make_plan(&error);
  if (!plan || !csim_plan_verify(plan, 2, &error)) {
    fprintf(stderr, "two-gpus: %s\n", error->message);
    return 1;
  }
  g_autoptr(GString) text = g_string_new(NULL);
  csim_plan_print(plan, text);
  fputs(text->str, stdout);
  for (int rank = 0; rank < N_RANKS; rank++)
    printf("rank %d sends %d bytes = 2(n-1)/n of the buffer\n", rank, (int)bytes_sent(plan, rank));
  puts("verified: every rank ends with both contributions, once");
  return 0;
}
