/*
 * algos/verify.c - runs a plan on symbolic data, with no network and no time.
 *
 * All lanes run by turns; a lane goes on while what it needs is there: a message on every connection it
 * receives from, a free place on every connection it sends on (`slots` each), all others at its barrier.
 * A connection into the network (CSIM_TAG_NETWORK) is answered when all members of its group have sent (symnet.h).
 * When nobody can go on and somebody has not ended, that is a dead-lock, and the chain of who waits for
 * whom is told. At the end each output is compared with what the collective promises.
 */
#include "algos/plan-private.h"
#include "algos/promise.h"
#include "algos/symnet.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
  guint tx, rx; /* lanes */
  int from, to;
  guint sent, taken; /* whole messages */
  gboolean open;     /* the next message has pieces, but not yet the last one */
  SymMessage *slots; /* made when first used */
  guint net, member; /* in Run.nets; NO_NET: an ordinary connection */
} Conn;
#define NO_NET G_MAXUINT

/* An aggregation group, and each member's connection. */
typedef struct {
  int channel, tag;
  SymNet *net;
  GArray *conns; /* guint */
} Net;

typedef struct {
  CsimPlanCursor cursor;
  CsimPrim prim;
  gboolean pending, done; /* pending: prim is to be done */
  gboolean at_barrier, queued;
  guint recv, send; /* first ones in Run.lane_conns */
  int n_recv, n_send;
} Lane;

typedef struct {
  const CsimPlan *plan;
  int slots;
  SymSets *sets;
  const SymSet **own; /* [rank] */
  GArray *lanes;      /* Lane, by rank, channel, index */
  guint *first_lane;  /* [rank * n_channels + channel], one more at the end */
  GArray *conns;      /* Conn */
  guint *lane_conns;
  GArray *nets;         /* Net */
  GArray **outputs;     /* [rank] */
  GQueue ready;         /* lane numbers */
  GArray *value, *term; /* scratch */
  GError **error;
} Run;

static Lane *lane_at(const Run *run, guint i) {
  return &g_array_index(run->lanes, Lane, i);
}
static Conn *conn_at(const Run *run, guint i) {
  return &g_array_index(run->conns, Conn, run->lane_conns[i]);
}

G_GNUC_PRINTF(3, 4)
static gboolean fail(Run *run, const Lane *lane, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *what = g_strdup_vprintf(format, args);
  va_end(args);
  CsimLane l = lane->cursor.lane;
  g_set_error(run->error, CSIM_ERROR, CSIM_ERROR_VALUE, "%s %s: rank %d channel %d %s: %s",
              csim_coll_name(run->plan->spec.coll), run->plan->class->name, l.rank, l.channel,
              csim_role_name(csim_plan_role(run->plan, l)), what);
  return FALSE;
}

/* --- lanes and connections ------------------------------------------------------------------------- */

typedef struct {
  int channel, from, to, tag;
  gboolean send;
  guint lane, place;
} End;

static int compare_ends(gconstpointer a, gconstpointer b) {
  const End *x = a, *y = b;
  if (x->channel != y->channel) return x->channel < y->channel ? -1 : 1;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  if (x->to != y->to) return x->to < y->to ? -1 : 1;
  if (x->tag != y->tag) return x->tag < y->tag ? -1 : 1;
  return y->send - x->send; /* the sender first */
}

static gboolean same_conn(const End *x, const End *y) {
  return x->channel == y->channel && x->from == y->from && x->to == y->to && x->tag == y->tag;
}

static guint add_ends(const Run *run, GArray *ends, guint lane, gboolean send) {
  CsimLane id = lane_at(run, lane)->cursor.lane;
  int n = csim_plan_n_peers(run->plan, id, send);
  for (int i = 0; i < n; i++) {
    CsimPeer peer = csim_plan_peer(run->plan, id, send, i);
    End end = {id.channel, send ? id.rank : peer.rank, send ? peer.rank : id.rank, peer.tag, send, lane,
               ends->len};
    g_array_append_val(ends, end);
  }
  return (guint)n;
}

static void add_lane(Run *run, CsimLane id, GArray *ends) {
  Lane lane = {0};
  csim_plan_start(run->plan, id, &lane.cursor);
  g_array_append_val(run->lanes, lane);
  guint number = run->lanes->len - 1;
  Lane *l = lane_at(run, number);
  l->recv = ends->len;
  l->n_recv = add_ends(run, ends, number, FALSE);
  l->send = ends->len;
  l->n_send = add_ends(run, ends, number, TRUE);
}

static void add_lanes(Run *run, GArray *ends) {
  int n_channels = run->plan->spec.n_channels;
  run->first_lane = g_new(guint, (gsize)run->plan->n * (gsize)n_channels + 1);
  guint *first = run->first_lane;
  for (int r = 0; r < run->plan->n; r++)
    for (int c = 0; c < n_channels; c++) {
      *first++ = run->lanes->len;
      for (int i = 0, n = csim_plan_lanes(run->plan, r, c); i < n; i++)
        add_lane(run, (CsimLane){r, c, i}, ends);
    }
  *first = run->lanes->len;
}

static Net *net_at(const Run *run, guint i) {
  return &g_array_index(run->nets, Net, i);
}

/* Ends come in order of ranks inside a channel, and so do the members of a group. */
static void join_network(Run *run, const End *end, Conn *conn) {
  guint i = 0;
  while (i < run->nets->len && (net_at(run, i)->channel != end->channel || net_at(run, i)->tag != end->tag)) i++;
  if (i == run->nets->len) {
    Net net = {end->channel, end->tag, sym_net_new(run->plan, run->sets), g_array_new(FALSE, FALSE, sizeof(guint))};
    g_array_append_val(run->nets, net);
  }
  conn->net = i;
  conn->member = sym_net_add(net_at(run, i)->net, end->from);
  g_array_append_val(net_at(run, i)->conns, run->conns->len);
}

/* Sender and receiver of each connection stand side by side in the sorted ends. */
static gboolean join_ends(Run *run, GArray *ends) {
  run->lane_conns = g_new(guint, MAX(ends->len, 1));
  g_array_sort(ends, compare_ends);
  for (guint i = 0; i < ends->len; i += 2) {
    const End *tx = &g_array_index(ends, End, i), *rx = tx + 1;
    gboolean paired = i + 1 < ends->len && same_conn(tx, rx);
    if (!paired || !tx->send || rx->send)
      return fail(run, lane_at(run, tx->lane), "the connection from rank %d to rank %d (tag %d) %s", tx->from,
                  tx->to, tx->tag,
                  paired     ? "has two lanes on one side"
                  : tx->send ? "has no receiver"
                             : "has no sender");
    run->lane_conns[tx->place] = run->lane_conns[rx->place] = run->conns->len;
    Conn conn = {tx->lane, rx->lane, tx->from, tx->to, .slots = NULL, .net = NO_NET};
    if (tx->tag >= CSIM_TAG_NETWORK) join_network(run, tx, &conn);
    g_array_append_val(run->conns, conn);
  }
  return TRUE;
}

/* --- one primitive --------------------------------------------------------------------------------- */

typedef struct {
  const Lane *for_lane;
  const Conn *conn;
  gboolean data;
} Wait;

static guint given(const Run *run, const Conn *c) {
  return c->net == NO_NET ? c->sent : sym_net_given(net_at(run, c->net)->net, c->member);
}

/* The lane that keeps a connection's receiver waiting: the sender, or the member of its group whose message is missing. */
static const Lane *late_sender(const Run *run, const Conn *c) {
  if (c->net == NO_NET) return lane_at(run, c->tx);
  const Net *net = net_at(run, c->net);
  guint member = sym_net_missing(net->net);
  if (member == G_MAXUINT) return lane_at(run, c->tx);
  return lane_at(run, g_array_index(run->conns, Conn, g_array_index(net->conns, guint, member)).tx);
}

/* What the lane waits for; FALSE if nothing. */
static gboolean find_wait(const Run *run, const Lane *l, Wait *wait) {
  guint r0 = l->recv + (guint)csim_peer_begin(l->prim.recv_peer),
        s0 = l->send + (guint)csim_peer_begin(l->prim.send_peer);
  for (int i = 0; i < csim_peer_count(l->prim.recv_peer, l->n_recv); i++) {
    const Conn *c = conn_at(run, r0 + i);
    if (c->sent == c->taken) {
      *wait = (Wait){late_sender(run, c), c, TRUE};
      return TRUE;
    }
  }
  for (int i = 0; i < csim_peer_count(l->prim.send_peer, l->n_send); i++) {
    const Conn *c = conn_at(run, s0 + i);
    if (given(run, c) - c->taken == (guint)run->slots) {
      *wait = (Wait){lane_at(run, c->rx), c, FALSE};
      return TRUE;
    }
  }
  return FALSE;
}

static void poke(Run *run, guint lane) {
  Lane *l = lane_at(run, lane);
  if (l->queued || l->done) return;
  l->queued = TRUE;
  g_queue_push_tail(&run->ready, GUINT_TO_POINTER(lane));
}

static gboolean check_range(Run *run, const Lane *l, const char *buffer, CsimBytes offset,
                            gboolean per_rank) {
  CsimBytes size = run->plan->spec.count_bytes * (per_rank ? run->plan->n : 1), bytes = l->prim.bytes;
  int elem = run->plan->spec.elem_bytes;
  if (bytes == 0) return TRUE;
  if (bytes < 0 || offset < 0 || offset + bytes > size)
    return fail(run, l, "%s of %s bytes %" PRId64 " to %" PRId64 ", which has %" PRId64,
                csim_prim_name(&l->prim), buffer, offset, offset + bytes, size);
  if (offset % elem == 0 && bytes % elem == 0) return TRUE;
  return fail(run, l, "%s cuts an element of %d bytes: %s bytes %" PRId64 " to %" PRId64,
              csim_prim_name(&l->prim), elem, buffer, offset, offset + bytes);
}

static gboolean load_own(Run *run, const Lane *l, GArray *value) {
  const CsimPrim *p = &l->prim;
  int rank = l->cursor.lane.rank;
  CsimColl coll = run->plan->spec.coll;
  CsimBytes where;
  g_array_set_size(value, 0);
  if (!(p->flags & CSIM_PRIM_FROM_DST)) {
    if (!check_range(run, l, "the input", p->src_offset, promise_input_per_rank(coll))) return FALSE;
    sym_value_set(value, p->bytes, p->src_offset, run->own[rank]);
    return TRUE;
  }
  if (!check_range(run, l, "the output", p->src_offset, promise_output_per_rank(coll))) return FALSE;
  if (sym_buffer_load(run->outputs[rank], p->src_offset, p->bytes, value, &where)) return TRUE;
  return fail(run, l, "%s reads output byte %" PRId64 " before it is stored", csim_prim_name(p), where);
}

/* run->value (+)= run->term */
static gboolean add_term(Run *run, const Lane *l, gboolean first) {
  if (first) {
    GArray *swap = run->value;
    run->value = run->term;
    run->term = swap;
    return TRUE;
  }
  CsimBytes where;
  const char *wrong = sym_value_add(run->sets, run->value, run->term, &where);
  return wrong ? fail(run, l, "%s %s at byte %" PRId64 " of the message", csim_prim_name(&l->prim), wrong,
                      where)
               : TRUE;
}

static CsimBytes value_bytes(const GArray *value) {
  CsimBytes bytes = 0;
  for (guint i = 0; i < value->len; i++) bytes += g_array_index(value, SymPiece, i).bytes;
  return bytes;
}

static gboolean take(Run *run, const Lane *l, Conn *c, gboolean first) {
  gboolean last = sym_message_take(&c->slots[c->taken % (guint)run->slots], run->term);
  CsimBytes bytes = value_bytes(run->term);
  if (bytes != l->prim.bytes)
    return fail(run, l, "%s expects %" PRId64 " bytes and rank %d sends %" PRId64, csim_prim_name(&l->prim),
                l->prim.bytes, c->from, bytes);
  if (last) {
    c->taken++;
    poke(run, c->tx);
  }
  return add_term(run, l, first);
}

static SymMessage *next_slot(Run *run, Conn *c) {
  if (!c->slots) c->slots = g_new0(SymMessage, run->slots);
  return &c->slots[c->sent % (guint)run->slots];
}

/* The network answers as often as all members have sent. NULL, or what is wrong. */
static const char *answer(Run *run, Net *net) {
  while (sym_net_missing(net->net) == G_MAXUINT) {
    for (guint m = 0; m < net->conns->len; m++) {
      Conn *c = &g_array_index(run->conns, Conn, g_array_index(net->conns, guint, m));
      const char *wrong = sym_net_answer(net->net, m, next_slot(run, c));
      if (wrong) return wrong;
      c->sent++;
      poke(run, c->rx);
    }
    sym_net_next(net->net);
  }
  return NULL;
}

static gboolean give(Run *run, const Lane *l, Conn *c, gboolean more) {
  c->open = more;
  if (c->net != NO_NET) {
    sym_net_give(net_at(run, c->net)->net, c->member, run->value, !more);
    const char *wrong = more ? NULL : answer(run, net_at(run, c->net));
    return wrong ? fail(run, l, "%s ends a step in which the network %s", csim_prim_name(&l->prim), wrong) : TRUE;
  }
  sym_message_put(next_slot(run, c), run->value);
  if (more) return TRUE;
  c->sent++;
  poke(run, c->rx);
  return TRUE;
}

static gboolean store(Run *run, const Lane *l) {
  CsimBytes where;
  if (!check_range(run, l, "the output", l->prim.dst_offset, promise_output_per_rank(run->plan->spec.coll)))
    return FALSE;
  if (sym_buffer_store(run->outputs[l->cursor.lane.rank], l->prim.dst_offset, run->value, &where))
    return TRUE;
  return fail(run, l, "%s stores output byte %" PRId64 " a second time", csim_prim_name(&l->prim), where);
}

static gboolean check_flags(Run *run, const Lane *l) {
  const CsimPrim *p = &l->prim;
  gboolean recv = (p->flags & CSIM_PRIM_RECV) != 0, send = (p->flags & CSIM_PRIM_SEND) != 0;
  if (recv != (p->recv_peer != CSIM_PEER_NONE) || send != (p->send_peer != CSIM_PEER_NONE) ||
      csim_peer_begin(p->recv_peer) + csim_peer_count(p->recv_peer, l->n_recv) > l->n_recv ||
      csim_peer_begin(p->send_peer) + csim_peer_count(p->send_peer, l->n_send) > l->n_send)
    return fail(run, l, "%s has the wrong peers", csim_prim_name(p));
  if (recv || (p->flags & CSIM_PRIM_SRC)) return TRUE;
  return fail(run, l, "a primitive has nothing to work on");
}

static gboolean do_prim(Run *run, Lane *l) {
  const CsimPrim *p = &l->prim;
  guint r0 = l->recv + (guint)csim_peer_begin(p->recv_peer),
        s0 = l->send + (guint)csim_peer_begin(p->send_peer);
  gboolean first = TRUE;
  if (p->flags & CSIM_PRIM_SRC) {
    if (!load_own(run, l, run->term) || !add_term(run, l, TRUE)) return FALSE;
    first = FALSE;
  }
  for (int i = 0; i < csim_peer_count(p->recv_peer, l->n_recv); i++, first = FALSE)
    if (!take(run, l, conn_at(run, r0 + i), first)) return FALSE;
  if ((p->flags & CSIM_PRIM_DST) && !store(run, l)) return FALSE;
  for (int i = 0; i < csim_peer_count(p->send_peer, l->n_send); i++)
    if (!give(run, l, conn_at(run, s0 + i), i < p->more)) return FALSE;
  return TRUE;
}

/* --- barriers -------------------------------------------------------------------------------------- */

/* Lets the lane's group go when all of it has come. */
static void arrive(Run *run, Lane *l) {
  CsimLane id = l->cursor.lane;
  gsize n = (gsize)run->plan->spec.n_channels, base = (gsize)id.rank * n;
  gboolean kernel = l->prim.flags & CSIM_PRIM_KERNEL_END;
  guint begin = run->first_lane[kernel ? base : base + (gsize)id.channel];
  guint end = run->first_lane[kernel ? base + n : base + (gsize)id.channel + 1];
  l->at_barrier = TRUE;
  for (guint i = begin; i < end; i++)
    if (!lane_at(run, i)->at_barrier || lane_at(run, i)->prim.flags != l->prim.flags) return;
  for (guint i = begin; i < end; i++) {
    lane_at(run, i)->at_barrier = lane_at(run, i)->pending = FALSE;
    poke(run, i);
  }
}

/* --- running --------------------------------------------------------------------------------------- */

/* Runs the lane until it must wait; FALSE on an error. */
static gboolean run_lane(Run *run, Lane *l) {
  Wait wait;
  for (;;) {
    if (!l->pending) {
      if (!csim_plan_next(run->plan, &l->cursor, &l->prim)) {
        l->done = TRUE;
        return TRUE;
      }
      l->pending = TRUE;
    }
    if (l->prim.flags & (CSIM_PRIM_BATCH_END | CSIM_PRIM_KERNEL_END)) {
      if (!l->at_barrier) arrive(run, l);
      if (l->pending) return TRUE;
      continue;
    }
    if (!check_flags(run, l)) return FALSE;
    if (find_wait(run, l, &wait)) return TRUE;
    if (!do_prim(run, l)) return FALSE;
    l->pending = FALSE;
  }
}

static gboolean run_all(Run *run) {
  for (guint i = 0; i < run->lanes->len; i++) poke(run, i);
  while (!g_queue_is_empty(&run->ready)) {
    Lane *l = lane_at(run, GPOINTER_TO_UINT(g_queue_pop_head(&run->ready)));
    l->queued = FALSE;
    if (!l->done && !run_lane(run, l)) return FALSE;
  }
  return TRUE;
}

/* --- how it ended ---------------------------------------------------------------------------------- */

#define TOLD_WAITS 8

static gboolean report_deadlock(Run *run, const Lane *stuck) {
  g_autoptr(GString) text = g_string_new("dead-lock");
  const Lane *l = stuck;
  for (int i = 0; i < TOLD_WAITS && !l->done; i++) {
    CsimLane id = l->cursor.lane;
    Wait wait = {0};
    g_string_append_printf(text, "; rank %d channel %d %s ", id.rank, id.channel,
                           csim_role_name(csim_plan_role(run->plan, id)));
    if (l->at_barrier || !find_wait(run, l, &wait)) {
      g_string_append(text, "waits for other lanes of its rank at a barrier");
      break;
    }
    g_string_append_printf(text, "waits for %s rank %d", wait.data ? "data from" : "room towards",
                           wait.data ? wait.conn->from : wait.conn->to);
    l = wait.for_lane;
    if (l == stuck) break;
  }
  if (l->done) g_string_append(text, ", who has ended");
  return fail(run, stuck, "%s", text->str);
}

static gboolean check_ends(Run *run) {
  for (guint i = 0; i < run->lanes->len; i++)
    if (!lane_at(run, i)->done) return report_deadlock(run, lane_at(run, i));
  for (guint i = 0; i < run->conns->len; i++) {
    const Conn *c = &g_array_index(run->conns, Conn, i);
    if (c->open) return fail(run, lane_at(run, c->tx), "a message to rank %d has no end", c->to);
    if (given(run, c) != c->sent) return fail(run, lane_at(run, c->tx), "the network never answers the last message");
    if (c->sent != c->taken)
      return fail(run, lane_at(run, c->rx), "%u messages from rank %d are left over", c->sent - c->taken,
                  c->from);
  }
  return TRUE;
}

/* --- begin and end --------------------------------------------------------------------------------- */

static void open_run(Run *run) {
  int n = run->plan->n;
  run->sets = sym_sets_new(n);
  run->own = g_new(const SymSet *, n);
  run->outputs = g_new(GArray *, n);
  for (int r = 0; r < n; r++) {
    run->own[r] = sym_set_one(run->sets, r);
    run->outputs[r] = sym_array_new();
  }
  run->lanes = g_array_new(FALSE, FALSE, sizeof(Lane));
  run->conns = g_array_new(FALSE, FALSE, sizeof(Conn));
  run->nets = g_array_new(FALSE, FALSE, sizeof(Net));
  run->value = sym_array_new();
  run->term = sym_array_new();
  g_queue_init(&run->ready);
}

static void free_messages(Run *run) {
  for (guint i = 0; i < run->conns->len; i++) {
    SymMessage *slots = g_array_index(run->conns, Conn, i).slots;
    for (int k = 0; slots && k < run->slots; k++) sym_message_clear(&slots[k]);
    g_free(slots);
  }
}

static void free_nets(Run *run) {
  for (guint i = 0; i < run->nets->len; i++) {
    sym_net_free(net_at(run, i)->net);
    g_array_unref(net_at(run, i)->conns);
  }
  g_array_unref(run->nets);
}

static void close_run(Run *run) {
  free_messages(run);
  free_nets(run);
  for (int r = 0; r < run->plan->n; r++) g_array_unref(run->outputs[r]);
  g_array_unref(run->lanes);
  g_array_unref(run->conns);
  g_array_unref(run->value);
  g_array_unref(run->term);
  g_queue_clear(&run->ready);
  g_free(run->outputs);
  g_free(run->own);
  g_free(run->first_lane);
  g_free(run->lane_conns);
  sym_sets_free(run->sets);
}

gboolean csim_plan_verify(const CsimPlan *plan, int slots, GError **error) {
  g_assert(slots >= 1);
  Run run = {.plan = plan, .slots = slots, .error = error};
  g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(End));
  open_run(&run);
  add_lanes(&run, ends);
  gboolean good = join_ends(&run, ends) && run_all(&run) && check_ends(&run) &&
                  promise_check(plan, run.sets, run.outputs, error);
  close_run(&run);
  return good;
}
