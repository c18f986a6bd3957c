/*
 * nccl/trees.h - the double binary tree over nodes.
 *
 * Used by: the communicator (trees and NVLS trees between nodes). Pure arithmetic, nothing stored.
 * Source: fact sheet 3.3; NCCL 2.30.7, src/graph/trees.cc.
 */
#ifndef CSIM_NCCL_TREES_H
#define CSIM_NCCL_TREES_H

/* Neighbours of a node, -1 none; child_type: this node is its parent's child 0 or 1. */
typedef struct {
  int up, down[2], child_type;
} CsimBtree;

/* tree 0: plain; tree 1: mirrored (even n) or shifted by one (odd n). node < n. */
CsimBtree csim_btree(int tree, int n, int node);

#endif
