/*
 * topo/packet-fabric-private.h - what the files of the packet fabric share.
 *
 * Nodes of the packet network: hosts (adapters node by node, plane after plane), then the switches: of a tree plane after plane its leaves, its
 * spines pod by pod, its cores spine by spine; of a graph all in order. A cable's first port is at its lower end, its second one more.
 */
#ifndef CSIM_TOPO_PACKET_FABRIC_PRIVATE_H
#define CSIM_TOPO_PACKET_FABRIC_PRIVATE_H

#include "topo/machine-fabric.h"
#include "topo/packet-fabric.h"

#define NO_PORT UINT32_MAX

struct CsimPacketFabric {
  const CsimMachine *machine;
  const CsimFabric *fabric;
  CsimPktNet *net;
  guint *first_host; /* of each node, and their number at the end; of the first plane */
  guint n_hosts;     /* of a plane */
  guint planes, n_leaves, pods, plane_switches;
  uint32_t *host_port;  /* by host; NO_PORT: its switch is lost */
  uint32_t *cable_port; /* first port by cable of the fabric; NO_PORT: it is down */
  CsimRate *cable_rate; /* line rate, with what faults have left of it */
};

static inline guint packet_host(const CsimPacketFabric *p, CsimNicRef nic, guint plane) {
  return plane * p->n_hosts + p->first_host[nic.node] + nic.local;
}
static inline guint packet_leaf(const CsimPacketFabric *p, guint plane, guint leaf) {
  return p->planes * p->n_hosts + plane * p->plane_switches + leaf;
}
static inline guint packet_spine(const CsimPacketFabric *p, guint plane, guint pod, guint spine) {
  return packet_leaf(p, plane, p->n_leaves + pod * p->fabric->spines + spine);
}
static inline guint packet_core(const CsimPacketFabric *p, guint plane, guint spine, guint cable) {
  return packet_leaf(p, plane, p->n_leaves + p->pods * p->fabric->spines + spine * p->fabric->core_up + cable);
}

#endif
