/*
 * topo/packet-fabric.h - a machine's adapters, switches and cables as a network of packets.
 *
 * Used by: exec at packet fidelity. Built from the same fabric as the flow level's links, cable by cable, nothing left out; a connection
 * takes the same way (static, ECMP) as its flow would. Settings: topo/packet-settings.h. Equations: docs/models/packet.md.
 *
 * An adapter's cable passes the `share` of its line rate that NCCL reaches (models/net.h), in both directions; cables between switches
 * their full rate.
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

/* Before the engine's first event. CSIM_ERROR_UNSUPPORTED for a transport that has no packet model, CSIM_ERROR_VALUE for an MTU that it does
 * not have, CSIM_ERROR_LIMIT for more ports than CSIM_PACKET_MAX_PORTS. */
#define CSIM_PACKET_MAX_PORTS 65000
CsimPacketFabric *csim_packet_fabric_new(const CsimMachine *machine, CsimEngine *engine, const CsimPacketOptions *options, GError **error);
void csim_packet_fabric_free(CsimPacketFabric *fabric); /* before the engine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimPacketFabric, csim_packet_fabric_free)

CsimPktNet *csim_packet_fabric_net(const CsimPacketFabric *fabric);

/* A queue pair between two adapters; flow_hash as csim_machine_route_fabric's. G_MAXUINT32 and CSIM_ERROR_ROUTE if there is no way. */
guint csim_packet_fabric_qp(CsimPacketFabric *fabric, CsimNicRef from, CsimNicRef to, uint32_t flow_hash, GError **error);

#endif
