/*
 * exec/collnet-private.h - what collnet-build.c and collnet.c share: trees, groups and members of a call over a reducing network.
 *
 * NCCL 2.30, src/transport/coll_net.cc: a head has one network communicator a NIC, whatever the channels. Its proxy joins the slots of up to
 * eight channels into one network operation, and posts operations in a fixed order: step k of all batches, then step k + 1. So:
 *   tree    heads that reduce with each other over one NIC each: what the switches know as one aggregation tree
 *   group   a tree's operations of one batch of channels
 *   member  a head's part of a group: its slots of that batch
 */
#ifndef CSIM_EXEC_COLLNET_PRIVATE_H
#define CSIM_EXEC_COLLNET_PRIVATE_H

#include "exec/exec-private.h"
#include "models/sharp.h"

#define COLLNET_BATCH 8 /* COLLNET_GROUP_NSUBS, same file */

typedef struct {
  uint32_t group, rank;
  uint32_t first_net, n_nets; /* in Collnet.nets */
  uint32_t posted;            /* operations that the proxy has given to the network */
  uint8_t filled[SLOTS];      /* slots of operation k % SLOTS that the kernel has filled */
  uint32_t landed, done;      /* packets: results that are down, that the proxy has been told of */
  CsimTime posted_at[SLOTS]; /* packets: of operation k % SLOTS */
  CsimTime latency;
  uint32_t out_hint, back_hint, both_hint; /* csim_fluid_start_at's */
} Member;

typedef struct {
  uint32_t tree;
  uint32_t first_member, n_members;
  uint32_t answered;       /* operations that have left the switches */
  uint32_t flows;          /* of the operation under way; packets: and members that have not sent all */
  uint32_t packet_tree;
  CsimTime latency;        /* of the farthest member */
  CsimTime head_start;     /* of the operation under way, as a flow (models/sharp.h) */
} Batch;

typedef struct {
  uint32_t first_batch, n_batches;
  uint32_t next;           /* operations begun, all batches together: operation next / n_batches of batch next % n_batches */
  uint32_t domain;
} Tree;

/* Trees that may not stream at once: one tree, or all trees of a switch. */
typedef struct {
  gboolean busy;
  uint32_t after; /* the tree that streamed last: the next one is looked for behind it */
} Domain;

struct Collnet {
  CsimSharpModel sharp;
  uint32_t *nets; /* by tree, batch, rank, channel */
  GArray *members, *batches, *trees, *domains;
  uint32_t *member_of; /* per entry of CsimExec.nets */
};

typedef struct { CsimBytes out, back; } Volume;
/* Of a member's operation k (collnet.c). */
Volume collnet_volume(const CsimExec *x, const Member *m, uint32_t k);

/* collnet-packets.c: a tree for each batch; the packets of operation k; whether a member's results can be told; one has come. */
gboolean collnet_packets_begin(CsimExec *x, GError **error);
void collnet_packets_start(CsimExec *x, Batch *b, uint32_t k);
void collnet_packets_answer(CsimExec *x, uint32_t member);
void collnet_packets_landed(CsimExec *x, uint32_t member);

static inline Member *collnet_member(const CsimExec *x, uint32_t i) { return &g_array_index(x->collnet->members, Member, i); }
static inline Batch *collnet_batch(const CsimExec *x, uint32_t i) { return &g_array_index(x->collnet->batches, Batch, i); }
static inline Tree *collnet_tree(const CsimExec *x, uint32_t i) { return &g_array_index(x->collnet->trees, Tree, i); }
static inline Domain *collnet_domain(const CsimExec *x, uint32_t i) { return &g_array_index(x->collnet->domains, Domain, i); }

#endif
