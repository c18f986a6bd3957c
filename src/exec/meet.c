/*
 * exec/meet.c - connections: both ends name theirs, equal names meet.
 *
 * Connections are numbered in the order of their names. An all-to-all of a thousand ranks has a million, so the sort goes digit by digit.
 */
#include "exec/exec-private.h"

#include <string.h>

typedef struct { uint64_t key; uint32_t lane, entry; } End;

static uint64_t end_key(int channel, int from, int to, int tag) {
  return ((uint64_t)channel << 58) | ((uint64_t)tag << 44) | ((uint64_t)from << 22) | (uint64_t)to;
}

/* By key, equal ones in their order; `spare` is as long. Digits that are the same in all keys cost one count: channels and tags are few. */
#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

static void sort_ends(GArray *ends, GArray *spare) {
  End *from = (End *)(void *)ends->data, *to = (End *)(void *)spare->data;
  for (guint shift = 0; shift < 64; shift += DIGIT_BITS) {
    guint place[DIGITS] = {0}, sum = 0;
    for (guint i = 0; i < ends->len; i++) place[from[i].key >> shift & (DIGITS - 1)]++;
    if (ends->len == 0 || place[from[0].key >> shift & (DIGITS - 1)] == ends->len) continue;
    for (guint d = 0; d < DIGITS; d++) {
      guint n = place[d];
      place[d] = sum;
      sum += n;
    }
    for (guint i = 0; i < ends->len; i++) to[place[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
    End *swap = from;
    from = to;
    to = swap;
  }
  if (from != (End *)(void *)ends->data) memcpy(ends->data, from, ends->len * sizeof(End));
}

static void collect_ends(CsimExec *x, GArray *tx, GArray *rx) {
  for (uint32_t i = 0; i < x->n_lanes; i++) {
    const Lane *l = &x->lanes[i];
    CsimLane id = l->cursor.lane;
    for (guint k = 0; k < l->n_recv; k++) {
      CsimPeer p = csim_plan_peer(x->plan, id, FALSE, (int)k);
      End e = {end_key(id.channel, p.rank, id.rank, p.tag), i, l->recv + k};
      g_array_append_val(rx, e);
    }
    for (guint k = 0; k < l->n_send; k++) {
      CsimPeer p = csim_plan_peer(x->plan, id, TRUE, (int)k);
      End e = {end_key(id.channel, id.rank, p.rank, p.tag), i, l->send + k};
      g_array_append_val(tx, e);
    }
  }
}

void exec_meet(CsimExec *x) {
  guint n = x->lane_conns->len / 2;
  g_autoptr(GArray) tx = g_array_sized_new(FALSE, FALSE, sizeof(End), n);
  g_autoptr(GArray) rx = g_array_sized_new(FALSE, FALSE, sizeof(End), n);
  collect_ends(x, tx, rx);
  g_assert(tx->len == rx->len);
  g_autoptr(GArray) spare = g_array_sized_new(FALSE, FALSE, sizeof(End), tx->len);
  sort_ends(tx, spare);
  sort_ends(rx, spare);
  x->n_conns = tx->len;
  x->conns = g_new0(Conn, x->n_conns);
  for (uint32_t i = 0; i < x->n_conns; i++) {
    const End *t = &g_array_index(tx, End, i), *r = &g_array_index(rx, End, i);
    g_assert(t->key == r->key);
    x->conns[i].tx_lane = t->lane;
    x->conns[i].rx_lane = r->lane;
    x->conns[i].tag = (uint8_t)(t->key >> 44 & 0xff);
    g_array_index(x->lane_conns, uint32_t, t->entry) = i;
    g_array_index(x->lane_conns, uint32_t, r->entry) = i;
  }
}
