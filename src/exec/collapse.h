/*
 * exec/collapse.h - simulates one rank of each class of equivalent ranks.
 *
 * Used by: build.c, between making paths and making the run's state. What is merged, why it is exact, what breaks it: docs/models/symmetry.md.
 */
#ifndef CSIM_EXEC_COLLAPSE_H
#define CSIM_EXEC_COLLAPSE_H

#include "exec/exec-private.h"

/*
 * Replaces lanes, blocks, connections, network ends and paths by those of the first rank of each class. The other ranks lose their lanes; the
 * first one's Rank.weight is the size of its class. x->link_rates then has one entry a class of links that carry something, and
 * x->link_rep says which entry stands for a link of x->machine_of. Does nothing (weights of 1, link_rep NULL) when no two ranks are alike or
 * weights of merged flows would not be exact.
 */
void exec_collapse(CsimExec *x);

#endif
