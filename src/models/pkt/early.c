/* models/pkt/early.c - frames that have come before their turn, for receivers that take them in any order. */
#include "models/pkt/pkt-private.h"

#define FIRST_SIZE 1024 /* bits */

static inline gboolean get(const uint64_t *bits, int64_t i) { return bits[i / 64] >> (i % 64) & 1; }
static inline void put(uint64_t *bits, int64_t i, gboolean on) {
  bits[i / 64] = (bits[i / 64] & ~(UINT64_C(1) << (i % 64))) | (uint64_t)(on != 0) << (i % 64);
}

static void copy_bits(const uint64_t *from, int64_t old, uint64_t *to, int64_t size, int64_t first) {
  for (int64_t psn = first; psn < first + old; psn++) put(to, psn & (size - 1), get(from, psn & (old - 1)));
}

/* Room for a PSN that far ahead. */
static void grow(CsimPktNet *net, Qp *qp, int64_t ahead) {
  Early *e = &qp->early, old = *e;
  if (ahead < e->size) return;
  e->size = MAX(FIRST_SIZE, old.size);
  while (e->size <= ahead) e->size *= 2;
  uint64_t **now[] = {&e->seen, &e->asks, &e->lasts}, *before[] = {old.seen, old.asks, old.lasts};
  for (guint i = 0; i < G_N_ELEMENTS(now); i++) {
    *now[i] = g_new0(uint64_t, (gsize)e->size / 64);
    if (old.size) copy_bits(before[i], old.size, *now[i], e->size, qp->expected);
    g_free(before[i]);
  }
  net->system_allocs++;
}

gboolean pkt_early_take(CsimPktNet *net, Qp *qp, const Packet *p) {
  Early *e = &qp->early;
  if (p->psn < qp->expected) return FALSE;
  grow(net, qp, p->psn - qp->expected);
  int64_t at = p->psn & (e->size - 1);
  if (get(e->seen, at)) return FALSE;
  put(e->seen, at, TRUE);
  put(e->asks, at, p->flags & PKT_ACK_REQUEST);
  put(e->lasts, at, p->flags & PKT_LAST);
  return TRUE;
}

gboolean pkt_early_next(Qp *qp, guint8 *flags) {
  Early *e = &qp->early;
  int64_t at = qp->expected & (e->size - 1);
  if (!e->size || !get(e->seen, at)) return FALSE;
  *flags = (guint8)((get(e->asks, at) ? PKT_ACK_REQUEST : 0) | (get(e->lasts, at) ? PKT_LAST : 0));
  put(e->seen, at, FALSE);
  qp->expected++;
  return TRUE;
}

void pkt_early_free(Early *e) {
  g_free(e->seen);
  g_free(e->asks);
  g_free(e->lasts);
}
