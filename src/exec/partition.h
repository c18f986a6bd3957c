/*
 * exec/partition.h - which ranks and links of a built call behave alike.
 *
 * Used by: collapse.c. Implemented by partition.c (colour refinement). Theory and proof sketch: docs/models/symmetry.md.
 *
 * Two ranks are of one class if their lanes, taken in order, run the same programme (flags, peers, bytes), and every connection leads to the
 * same place of a rank of the same class, with the same latency, kind, proxies and classes of links. Two links are of one class if they have
 * the same capacity and softness, and the same flows (by class of their connection) cross them with the same weights.
 * Channels of a rank are never merged: a lane's channel and place in its rank are part of what is compared.
 */
#ifndef CSIM_EXEC_PARTITION_H
#define CSIM_EXEC_PARTITION_H

#include "exec/exec-private.h"

typedef struct {
  uint32_t *rank_class; /* n_ranks; classes are numbered by their first rank */
  uint32_t *link_class; /* one per entry of x->link_rates, numbered by their first link */
  uint32_t n_rank_classes, n_link_classes;
  uint16_t *tx_entry, *rx_entry; /* per connection: which of the sender's sends, of the receiver's receives */
} Partition;

/* x is built and pruned, and has not run. Never NULL: without any symmetry there are as many classes as ranks. */
Partition *exec_partition_new(const CsimExec *x);
void exec_partition_free(Partition *p); /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Partition, exec_partition_free)

#endif
