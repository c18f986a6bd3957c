/*
 * topo/node-links.h - the links inside one kind of node, and the ways through them.
 *
 * Used by: topo/machine.c only, which has one of these for each CsimSystem and adds node * n to the ids.
 *
 * Vertices are the system's PCI switches, CPUs, NICs, physical GPUs (DEV) and C2C bridges; the way between two of them is the cheapest by
 * what traffic avoids: sockets, host bridges, Grace C2C, switches, in this order. PCIe trees have one way only.
 */
#ifndef CSIM_TOPO_NODE_LINKS_H
#define CSIM_TOPO_NODE_LINKS_H

#include "models/pcie.h"
#include "topo/machine.h"

#define CSIM_NO_LINK UINT32_MAX

typedef struct {
  CsimResKind kind;
  CsimRate capacity;
  double softness;
  gboolean pruned;               /* cannot bind: left out of routes */
  const CsimTopoNode *from, *to; /* to is NULL for memory and wires */
} CsimNodeLink;

typedef struct {
  const CsimTopoNode *dev;
  const char *model;                /* catalogue name, interned */
  guint nvlinks;                    /* all of its links */
  uint32_t nvl_out, nvl_in;         /* ports into NVSwitch, or CSIM_NO_LINK */
  double read_weight, write_weight; /* kernel loads from, stores to host memory */
} CsimNodeGpu;

typedef struct {
  const CsimTopoNode *nic;
  uint32_t out, in;
  guint rail, host;
  CsimRate line_rate;
} CsimNodeNet;

typedef struct {
  const CsimSystem *system;
  GArray *links;       /* CsimNodeLink, ids 0.. */
  GArray *gpus, *nets; /* CsimNodeGpu, CsimNodeNet, by local index */
  guint n_vertices;
  const CsimTopoNode **vertex;
  uint32_t **arc; /* [vertex][i] link id of vertex's i-th link, or CSIM_NO_LINK */
  uint16_t *next; /* [target * n_vertices + vertex]: which link of vertex leads to target; UINT16_MAX none */
  uint32_t *memory;                /* [vertex]: link of a CPU's memory */
  guint offset[CSIM_N_NODE_TYPES]; /* first vertex of a type */
  CsimTime nvlink_latency, cpu_latency, c2c_latency;
  CsimPcieModel pcie;
} CsimNodeLinks;

CsimNodeLinks *csim_node_links_new(const CsimSystem *system, const CsimCatalogue *catalogue,
                                   const CsimNetModel *net);
/* Fills n->next (node-ways.c); called once by csim_node_links_new. */
void csim_node_find_ways(CsimNodeLinks *links);
void csim_node_links_free(CsimNodeLinks *links);

/* FALSE for a node that is no vertex (GPU, NET, NVS). */
gboolean csim_node_vertex(const CsimNodeLinks *n, const CsimTopoNode *node, guint *vertex);
/* The CPU nearest to a vertex, NULL if none can be reached. */
const CsimTopoNode *csim_node_local_cpu(const CsimNodeLinks *n, const CsimTopoNode *node);
/* Appends the way from one vertex node to another: link ids (of this node kind) with `weight`; FALSE if there is none, or
 * more links than a route holds. */
gboolean csim_node_way(const CsimNodeLinks *n, const CsimTopoNode *from, const CsimTopoNode *to,
                       double weight, CsimRoute *route);
/* Between a GPU and a NIC: where they meet at an x86 host bridge only pcie.root_share of the links is usable. */
gboolean csim_node_nic_way(const CsimNodeLinks *n, const CsimTopoNode *from, const CsimTopoNode *to,
                           CsimRoute *route);
/* As csim_node_way for kernel stores from GPU to GPU: smaller packets, smaller still behind an Intel host bridge. */
gboolean csim_node_peer_way(const CsimNodeLinks *n, const CsimTopoNode *from, const CsimTopoNode *to,
                            CsimRoute *route);
/* The direct NVLink bundle between two DEVs; CSIM_NO_LINK if none. */
uint32_t csim_node_nvlink_between(const CsimNodeLinks *n, const CsimTopoNode *from, const CsimTopoNode *to);
void csim_node_route_add(const CsimNodeLinks *n, CsimRoute *route, uint32_t link, double weight);

#endif
