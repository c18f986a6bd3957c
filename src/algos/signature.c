/*
 * algos/signature.c - what a lane does, offsets aside, as one number.
 */
#include "algos/plan-private.h"

static uint64_t walk(const CsimPlan *plan, CsimPlanCursor *cursor) {
  CsimPrim p;
  uint64_t hash = 0;
  while (plan->next(plan, cursor, &p)) {
    hash = plan_fold(hash, (uint64_t)p.flags << 32 | p.more);
    hash = plan_fold(hash, (uint64_t)(uint32_t)p.recv_peer << 32 | (uint32_t)p.send_peer);
    hash = plan_fold(hash, (uint64_t)p.bytes);
  }
  return hash;
}

uint64_t csim_plan_signature(const CsimPlan *plan, CsimLane lane) {
  CsimPlanCursor cursor;
  csim_plan_start(plan, lane, &cursor);
  if (plan->next == plan_stream_next) return plan_stream_signature(&cursor);
  return plan->class->signature ? plan->class->signature(plan, &cursor) : walk(plan, &cursor);
}
