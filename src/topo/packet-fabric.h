/*
 * topo/packet-fabric.h - a machine's adapters, switches and cables as a network of packets.
 *
 * Used by: exec at packet fidelity. Built from the same fabric as the flow level's links (trees, several planes, graphs of switches), cable by cable;
 * cables that are down are not laid. A connection takes the same way (static, ECMP) as its flow would. Building is in packet-fabric.c, ways
 * in packet-ways.c, aggregation trees in packet-sharp.c. Settings: topo/packet-settings.h. Equations: docs/models/packet.md.
 *
 * An adapter's cable passes the `share` of its line rate that NCCL reaches (models/net.h), in both directions; cables between switches
 * their full rate. With several planes an adapter has a port, and so a host of the packet network, on each.
 */
#ifndef CSIM_TOPO_PACKET_FABRIC_H
#define CSIM_TOPO_PACKET_FABRIC_H

#include "models/pkt/pkt.h"
#include "topo/machine.h"

typedef struct CsimPacketFabric CsimPacketFabric;

/* Would csim_packet_fabric_new refuse the machine's transport or settings? Without building anything. What works against each other in them goes
 * to diag (NULL allowed). */
gboolean csim_packet_fabric_check(const CsimMachine *machine, const CsimPacketOptions *options, CsimDiag *diag, GError **error);
/* Has the cluster something to check, at whatever fidelity it is run? */
gboolean csim_packet_settings_given(const CsimMachine *machine);

/* Before the engine's first event. CSIM_ERROR_VALUE for an MTU that the transport does
 * not have, CSIM_ERROR_LIMIT for more ports than CSIM_PACKET_MAX_PORTS. */
#define CSIM_PACKET_MAX_PORTS 65000
CsimPacketFabric *csim_packet_fabric_new(const CsimMachine *machine, CsimEngine *engine, const CsimPacketOptions *options, GError **error);
void csim_packet_fabric_free(CsimPacketFabric *fabric); /* before the engine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimPacketFabric, csim_packet_fabric_free)

CsimPktNet *csim_packet_fabric_net(const CsimPacketFabric *fabric);

/*
 * Queue pairs between two adapters that together are one of NCCL's: one, or with adaptive routing over several planes one on each plane that has a
 * way. Their numbers go to qps (room for CSIM_PACKET_MAX_PLANES); returns how many, or 0 and CSIM_ERROR_ROUTE if there is no way.
 * flow_hash as csim_machine_route_fabric's.
 */
#define CSIM_PACKET_MAX_PLANES 16
guint csim_packet_fabric_qps(CsimPacketFabric *fabric, CsimNicRef from, CsimNicRef to, uint32_t flow_hash, guint *qps, GError **error);

/* An aggregation tree of adapters, each once; with several planes on the number-th of them. As csim_pkt_add_tree. */
guint csim_packet_fabric_tree(CsimPacketFabric *fabric, const CsimNicRef *nics, guint n, const CsimPktTreeSpec *spec, GError **error);

/* NICs that are stuck (faults.h), as hosts of the packet network: CsimPacketStuck; the caller frees. until CSIM_TIME_NEVER: for ever. */
typedef struct {
  guint host;
  CsimTime from, until;
} CsimPacketStuck;
GArray *csim_packet_fabric_stuck(const CsimPacketFabric *fabric);

/* A cable that flaps goes down, until then, or comes back. lost: of its payload rate, as CsimMachineFlap's. What is on the wire still arrives. */
void csim_packet_fabric_flap(CsimPacketFabric *fabric, guint cable, CsimRate lost, gboolean down, CsimTime until);

#endif
