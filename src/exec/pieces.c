/*
 * exec/pieces.c - messages that several primitives fill and several take.
 *
 * A piece costs its lane's time like any operation; only the last one hands the slot on. The receiver begins when the whole
 * message is there, takes piece by piece, and gives the slot back with the last.
 */
#include "exec/exec-private.h"

/* Messages between the one being made and the oldest not yet taken: a network connection's sender has its slots back before the receiver
 * has taken theirs, so two rings of them. */
#define KEPT (2 * SLOTS)

struct Pieces {
  CsimBytes bytes;      /* of the message being made */
  uint16_t made, taken; /* pieces of it; of the message being taken */
  uint16_t count[KEPT]; /* of message k % KEPT */
};

static gboolean has_pieces(const CsimExec *x) {
  if (x->choice.algo == CSIM_ALGO_PAT) return TRUE;
  return csim_plan_spec(x->plan)->coll != CSIM_COLL_ALL_REDUCE && csim_plan_spec(x->plan)->shape->network &&
         (x->choice.algo == CSIM_ALGO_COLLNET_DIRECT || x->choice.algo == CSIM_ALGO_NVLS);
}

void exec_pieces_begin(CsimExec *x) {
  if (has_pieces(x)) x->pieces = g_new0(struct Pieces, x->n_conns);
}

void exec_pieces_end(CsimExec *x) { g_clear_pointer(&x->pieces, g_free); }

gboolean exec_pieces_put(CsimExec *x, const Conn *c, gboolean more, CsimBytes *bytes) {
  struct Pieces *p = &x->pieces[c - x->conns];
  p->bytes += *bytes;
  p->made++;
  if (more) return FALSE;
  *bytes = p->bytes;
  p->count[c->sent % KEPT] = p->made;
  p->bytes = 0;
  p->made = 0;
  return TRUE;
}

void exec_pieces_announce(CsimExec *x, const Conn *c, uint32_t k, guint n) { x->pieces[c - x->conns].count[k % KEPT] = (uint16_t)n; }

gboolean exec_pieces_take(CsimExec *x, const Conn *c) {
  struct Pieces *p = &x->pieces[c - x->conns];
  if (++p->taken < p->count[c->consumed % KEPT]) return FALSE;
  p->taken = 0;
  return TRUE;
}
