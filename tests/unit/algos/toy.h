/*
 * tests/unit/algos/toy.h - small communicators made by hand, so that plans can be tested without the layer
 * nccl.
 *
 * Rings are random permutations, another one on every channel; trees are NCCL's double binary tree over the
 * nodes (even channels the first, odd ones the second) with a chain inside each node that begins at another
 * GPU on every channel; the send/recv schedule is NCCL's.
 */
#ifndef CSIM_TEST_TOY_H
#define CSIM_TEST_TOY_H

#include "algos/plan.h"

#define TOY_MAX_CHANNELS 16

typedef struct {
  CsimShape shape; /* shape.data is the Toy */
  int n_nodes, n_channels, group;
  int *node_of, *node_first; /* [rank], [node], the latter with one more */
  int *ranks;                /* 0 .. n-1, for node_ranks */
  int *order[TOY_MAX_CHANNELS], *position[TOY_MAX_CHANNELS];
  CsimBytes p2p_chunk, p2p_min_part;
} Toy;

/* sizes: GPUs of each node. */
Toy *toy_new(const int *sizes, int n_nodes, int n_channels, guint32 seed);
Toy *toy_new_even(int n_ranks, int per_node, int n_channels); /* the last node takes the rest */
void toy_free(Toy *toy);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Toy, toy_free)

/*
 * A plan with count_bytes split into near-equal parts at multiples of `grain` (so that some channels may
 * have none), each with this chunk. Fails the test if the plan cannot be made.
 */
CsimPlan *toy_plan(const Toy *toy, CsimColl coll, CsimAlgo algo, int root, CsimBytes count_bytes,
                   CsimBytes grain, CsimBytes chunk);

#endif
