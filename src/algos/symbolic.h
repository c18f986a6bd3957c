/*
 * algos/symbolic.h - data that only remember where they come from.
 *
 * A *piece* is a run of bytes; byte i of it is the sum of byte src+i of the send buffers of the ranks in
 * its set. A *value* is a list of pieces that cover a message from byte 0 on; a *buffer* a sorted list of
 * pieces at their places, with holes. Both are GArray of SymPiece. Used by: verify.c. Implemented in
 * symbolic.c.
 */
#ifndef CSIM_ALGOS_SYMBOLIC_H
#define CSIM_ALGOS_SYMBOLIC_H

#include "collsim/types.h"

/* Sets of ranks, each kept once: equal sets are equal pointers. */
typedef struct SymSets SymSets;
typedef struct SymSet SymSet;

SymSets *sym_sets_new(int n_ranks);
void sym_sets_free(SymSets *sets);
const SymSet *sym_set_one(SymSets *sets, int rank);
const SymSet *sym_set_all(SymSets *sets);
const SymSet *sym_set_union(SymSets *sets, const SymSet *a,
                            const SymSet *b);               /* NULL if they have a rank in common */
char *sym_set_text(const SymSets *sets, const SymSet *set); /* "0-2,5"; caller frees */

typedef struct {
  CsimBytes at, bytes; /* place and length */
  CsimBytes src;
  const SymSet *set;
} SymPiece;

GArray *sym_array_new(void);
/* Makes *value one piece of bytes (none if 0). */
void sym_value_set(GArray *value, CsimBytes bytes, CsimBytes src, const SymSet *set);
/*
 * value += other, of the same length. NULL if fine, else what is wrong (static text) at byte *where: the
 * two are different elements, or a rank's contribution is in both.
 */
const char *sym_value_add(SymSets *sets, GArray *value, const GArray *other, CsimBytes *where);

/* A message of several values, put and taken one by one; starts all zero. */
typedef struct {
  GArray *data; /* SymPiece */
  GArray *ends; /* guint: where each value ends in data */
  guint taken;  /* values */
} SymMessage;
void sym_message_put(SymMessage *message, const GArray *value);
/* Replaces *value by the next one. TRUE if that was the last; the message is empty again then. */
gboolean sym_message_take(SymMessage *message, GArray *value);
void sym_message_clear(SymMessage *message);

/* Stores the value from byte offset on. FALSE if a byte, *where, had been stored before. */
gboolean sym_buffer_store(GArray *buffer, CsimBytes offset, const GArray *value, CsimBytes *where);
/* Appends the bytes [offset, offset + bytes) to *value. FALSE if byte *where has not been stored. */
gboolean sym_buffer_load(const GArray *buffer, CsimBytes offset, CsimBytes bytes, GArray *value,
                         CsimBytes *where);

#endif
