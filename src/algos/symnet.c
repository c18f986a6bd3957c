/*
 * algos/symnet.c - the network that reduces, on symbolic data.
 */
#include "algos/symnet.h"

typedef struct {
  int rank;
  GQueue messages; /* SymMessage *, whole ones first, the one being made last */
  guint given;
  gboolean open;
} Member;

struct SymNet {
  const CsimPlan *plan;
  SymSets *sets;
  GPtrArray *members; /* Member */
  guint answered;
};

static void message_free(gpointer data) {
  sym_message_clear(data);
  g_free(data);
}

static void member_free(gpointer data) {
  Member *m = data;
  g_queue_clear_full(&m->messages, message_free);
  g_free(m);
}

SymNet *sym_net_new(const CsimPlan *plan, SymSets *sets) {
  SymNet *net = g_new0(SymNet, 1);
  net->plan = plan;
  net->sets = sets;
  net->members = g_ptr_array_new_with_free_func(member_free);
  return net;
}

void sym_net_free(SymNet *net) {
  if (!net) return;
  g_ptr_array_unref(net->members);
  g_free(net);
}

static Member *member_at(const SymNet *net, guint i) {
  return g_ptr_array_index(net->members, i);
}

guint sym_net_add(SymNet *net, int rank) {
  Member *m = g_new0(Member, 1);
  m->rank = rank;
  g_queue_init(&m->messages);
  g_ptr_array_add(net->members, m);
  return net->members->len - 1;
}

void sym_net_give(SymNet *net, guint member, const GArray *value, gboolean last) {
  Member *m = member_at(net, member);
  if (!m->open) g_queue_push_tail(&m->messages, g_new0(SymMessage, 1));
  sym_message_put(g_queue_peek_tail(&m->messages), value);
  m->open = !last;
  m->given += last;
}

guint sym_net_given(const SymNet *net, guint member) {
  return member_at(net, member)->given;
}

guint sym_net_missing(const SymNet *net) {
  for (guint i = 0; i < net->members->len; i++)
    if (member_at(net, i)->given == net->answered) return i;
  return G_MAXUINT;
}

/* --- answers ------------------------------------------------------------------------------------------------ */

static const SymMessage *message_of(const SymNet *net, guint member) {
  return g_queue_peek_head(&member_at(net, member)->messages);
}

static void piece_of(const SymMessage *message, guint i, GArray *out) {
  guint begin = i > 0 ? g_array_index(message->ends, guint, i - 1) : 0, end = g_array_index(message->ends, guint, i);
  g_array_set_size(out, 0);
  if (end > begin) g_array_append_vals(out, &g_array_index(message->data, SymPiece, begin), end - begin);
}

static CsimBytes value_bytes(const GArray *value) {
  CsimBytes bytes = 0;
  for (guint i = 0; i < value->len; i++) bytes += g_array_index(value, SymPiece, i).bytes;
  return bytes;
}

/* Piece i summed over the members. */
static const char *sum_piece(const SymNet *net, guint i, GArray *sum, GArray *term) {
  CsimBytes where;
  piece_of(message_of(net, 0), i, sum);
  for (guint m = 1; m < net->members->len; m++) {
    piece_of(message_of(net, m), i, term);
    if (value_bytes(term) != value_bytes(sum)) return "messages have different sizes";
    const char *wrong = sym_value_add(net->sets, sum, term, &where);
    if (wrong) return wrong;
  }
  return NULL;
}

static const char *answer_all_gather(const SymNet *net, SymMessage *out, GArray *value) {
  guint put = 0;
  for (guint m = 0; m < net->members->len; m++) {
    if (message_of(net, m)->ends->len != 1) return "a member's message has several pieces";
    piece_of(message_of(net, m), 0, value);
    if (value->len == 0) continue;
    sym_message_put(out, value);
    put++;
  }
  g_array_set_size(value, 0);
  if (put == 0) sym_message_put(out, value);
  return NULL;
}

/* In whose block does a value of the send buffers lie? */
static gboolean is_for(const SymNet *net, guint member, const GArray *value) {
  if (value->len == 0) return FALSE;
  return g_array_index(value, SymPiece, 0).src / csim_plan_spec(net->plan)->count_bytes == member_at(net, member)->rank;
}

static gboolean same_pieces(const SymNet *net) {
  for (guint m = 1; m < net->members->len; m++)
    if (message_of(net, m)->ends->len != message_of(net, 0)->ends->len) return FALSE;
  return TRUE;
}

static const char *answer_sums(const SymNet *net, guint member, SymMessage *out, GArray *value, GArray *term) {
  gboolean scatter = csim_plan_spec(net->plan)->coll == CSIM_COLL_REDUCE_SCATTER, found = FALSE;
  if (!same_pieces(net)) return "messages have different numbers of pieces";
  for (guint i = 0; i < message_of(net, 0)->ends->len; i++) {
    const char *wrong = sum_piece(net, i, value, term);
    if (wrong) return wrong;
    if (scatter && !is_for(net, member, value)) continue;
    if (scatter && found) return "two pieces of a message lie in one block";
    sym_message_put(out, value);
    found = TRUE;
  }
  g_array_set_size(value, 0);
  if (!found) sym_message_put(out, value);
  return NULL;
}

const char *sym_net_answer(const SymNet *net, guint member, SymMessage *out) {
  g_autoptr(GArray) value = sym_array_new(), term = sym_array_new();
  if (csim_plan_spec(net->plan)->coll == CSIM_COLL_ALL_GATHER) return answer_all_gather(net, out, value);
  return answer_sums(net, member, out, value, term);
}

void sym_net_next(SymNet *net) {
  for (guint m = 0; m < net->members->len; m++) message_free(g_queue_pop_head(&member_at(net, m)->messages));
  net->answered++;
}
