/*
 * algos/plan.c - one plan, whatever the algorithm: checks, dispatch, registry, and the case of a single rank.
 */
#include "algos/plan-private.h"

static const PlanClass *const classes[] = {&plan_ring,          &plan_tree,           &plan_nvls, &plan_nvls_tree,
                                           &plan_collnet_chain, &plan_collnet_direct, &plan_pat,  &plan_p2p,
                                           &plan_hypercube};

/* --- a range, chunk by chunk ----------------------------------------------------------------------- */

enum { FLAGS, RECV_PEER, SEND_PEER, SRC, DST, LEFT, CHUNK };

void plan_stream_start(CsimPlanCursor *cursor, const PlanStream *s) {
  cursor->state[FLAGS] = s->flags;
  cursor->state[RECV_PEER] = s->recv_peer;
  cursor->state[SEND_PEER] = s->send_peer;
  cursor->state[SRC] = s->src;
  cursor->state[DST] = s->dst;
  cursor->state[LEFT] = s->bytes;
  cursor->state[CHUNK] = s->chunk;
}

gboolean plan_stream_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out) {
  int64_t *at = cursor->state;
  if (at[LEFT] <= 0) return FALSE;
  CsimBytes bytes = MIN(at[LEFT], at[CHUNK]);
  guint flags = (guint)at[FLAGS];
  *out = (CsimPrim){.flags = (uint16_t)flags,
                    .recv_peer = (int)at[RECV_PEER],
                    .send_peer = (int)at[SEND_PEER],
                    .src_offset = flags & CSIM_PRIM_SRC ? at[SRC] : 0,
                    .dst_offset = flags & CSIM_PRIM_DST ? at[DST] : 0,
                    .bytes = bytes};
  at[SRC] += bytes;
  at[DST] += bytes;
  at[LEFT] -= bytes;
  return TRUE;
}

uint64_t plan_stream_signature(const CsimPlanCursor *cursor) {
  const int64_t *at = cursor->state;
  uint64_t peers = (uint64_t)(uint32_t)at[RECV_PEER] << 32 | (uint32_t)at[SEND_PEER];
  return plan_fold(plan_fold(plan_fold(plan_fold(0, (uint64_t)at[FLAGS]), peers), (uint64_t)at[LEFT]), (uint64_t)at[CHUNK]);
}

/* --- one rank: NCCL copies, if the buffers differ -------------------------------------------------- */

static int solo_lanes(const CsimPlan *plan, int rank, int channel) {
  return 1;
}
static CsimRole solo_role(const CsimPlan *plan, CsimLane lane) {
  return CSIM_ROLE_P2P_COPY;
}
static int solo_n_peers(const CsimPlan *plan, CsimLane lane, gboolean send) {
  return 0;
}
static CsimPeer solo_peer(const CsimPlan *plan, CsimLane lane, gboolean send, int i) {
  g_assert_not_reached();
}

static void solo_start(const CsimPlan *plan, CsimPlanCursor *cursor) {
  const CsimPlanPart *part = plan_part(plan, cursor->lane.channel);
  plan_stream_start(cursor, &(PlanStream){PRIM_COPY, CSIM_PEER_NONE, CSIM_PEER_NONE, part->offset,
                                          part->offset, part->bytes, part->chunk});
}

static const PlanClass plan_solo = {
    .name = "copy",
    .lanes = solo_lanes,
    .role = solo_role,
    .n_peers = solo_n_peers,
    .peer = solo_peer,
    .start = solo_start,
    .next = plan_stream_next,
};

/* --- making one ------------------------------------------------------------------------------------ */

static const PlanClass *find_class(const CsimPlanSpec *spec) {
  for (guint i = 0; i < G_N_ELEMENTS(classes); i++)
    if (classes[i]->algo == spec->algo && (classes[i]->colls & COLL_BIT(spec->coll))) {
      gboolean solo = spec->shape->n_ranks == 1 && spec->algo != CSIM_ALGO_P2P;
      return solo ? &plan_solo : classes[i];
    }
  return NULL;
}

static gboolean has_root(CsimColl coll) {
  return coll == CSIM_COLL_BROADCAST || coll == CSIM_COLL_REDUCE || coll == CSIM_COLL_GATHER ||
         coll == CSIM_COLL_SCATTER;
}

static gboolean check_spec(const CsimPlanSpec *spec, GError **error) {
  int n = spec->shape->n_ranks;
  g_assert(n >= 1 && spec->n_channels >= 1 && spec->count_bytes >= 0 && spec->elem_bytes >= 1);
  for (int c = 0; spec->algo != CSIM_ALGO_P2P && c < spec->n_channels; c++) {
    const CsimPlanPart *p = &spec->parts[c];
    g_assert(p->bytes == 0 || (p->offset >= 0 && p->chunk > 0 && p->offset + p->bytes <= spec->count_bytes));
  }
  if (!has_root(spec->coll) || (spec->root >= 0 && spec->root < n)) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "root %d is not a rank; ranks are 0 to %d", spec->root,
              n - 1);
  return FALSE;
}

CsimPlan *csim_plan_new(const CsimPlanSpec *spec, GError **error) {
  const PlanClass *class = find_class(spec);
  if (!class) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "there is no %s for %s",
                spec->algo == CSIM_ALGO_P2P ? "send/recv form" : csim_algo_name(spec->algo),
                csim_coll_name(spec->coll));
    return NULL;
  }
  if (!check_spec(spec, error)) return NULL;
  CsimPlan *plan = g_new0(CsimPlan, 1);
  plan->spec = *spec;
  if (spec->parts) plan->spec.parts = g_memdup2(spec->parts, sizeof *spec->parts * (gsize)spec->n_channels);
  plan->n = spec->shape->n_ranks;
  plan->class = class;
  plan->next = class->next;
  if (!class->setup || class->setup(plan, error)) return plan;
  plan->class = &plan_solo; /* nothing to tear down */
  csim_plan_free(plan);
  return NULL;
}

void csim_plan_free(CsimPlan *plan) {
  if (!plan) return;
  if (plan->class->teardown) plan->class->teardown(plan);
  g_free((gpointer)plan->spec.parts);
  g_free(plan);
}

/* --- questions ------------------------------------------------------------------------------------- */

const CsimPlanSpec *csim_plan_spec(const CsimPlan *plan) {
  return &plan->spec;
}

int csim_plan_lanes(const CsimPlan *plan, int rank, int channel) {
  g_assert(rank >= 0 && rank < plan->n && channel >= 0 && channel < plan->spec.n_channels);
  return plan->class->lanes(plan, rank, channel);
}

CsimRole csim_plan_role(const CsimPlan *plan, CsimLane lane) {
  return plan->class->role(plan, lane);
}

int csim_plan_n_peers(const CsimPlan *plan, CsimLane lane, gboolean send) {
  return plan->class->n_peers(plan, lane, send);
}

CsimPeer csim_plan_peer(const CsimPlan *plan, CsimLane lane, gboolean send, int i) {
  g_assert(i >= 0);
  return plan->class->peer(plan, lane, send, i);
}

void csim_plan_start(const CsimPlan *plan, CsimLane lane, CsimPlanCursor *cursor) {
  *cursor = (CsimPlanCursor){.lane = lane};
  plan->class->start(plan, cursor);
}

gboolean csim_plan_next(const CsimPlan *plan, CsimPlanCursor *cursor, CsimPrim *out) {
  return plan->next(plan, cursor, out);
}

/* --- registry -------------------------------------------------------------------------------------- */

static const char *coll_list(guint colls) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (int c = 0; c < CSIM_N_COLLS; c++)
    if (colls & COLL_BIT(c)) g_string_append_printf(text, "%s%s", text->len ? "," : "", csim_coll_name(c));
  return g_intern_string(text->str);
}

const CsimAlgoInfo *csim_algos(guint *n) {
  static CsimAlgoInfo infos[G_N_ELEMENTS(classes)];
  for (guint i = 0; i < G_N_ELEMENTS(classes); i++) {
    const PlanClass *c = classes[i];
    infos[i] = (CsimAlgoInfo){c->algo, c->name, c->summary, coll_list(c->colls)};
  }
  *n = G_N_ELEMENTS(classes);
  return infos;
}
