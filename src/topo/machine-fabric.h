/*
 * topo/machine-fabric.h - a machine's adapters and fabric, for whoever builds its network anew.
 *
 * Used by: topo/packet-fabric.c only. Implemented in machine.c. Everybody else asks for routes (topo/machine.h).
 */
#ifndef CSIM_TOPO_MACHINE_FABRIC_H
#define CSIM_TOPO_MACHINE_FABRIC_H

#include "topo/fabric.h"
#include "topo/machine.h"

const CsimFabric *csim_machine_fabric(const CsimMachine *m);
guint csim_machine_n_nics(const CsimMachine *m, guint node);
CsimEndpoint csim_machine_nic_endpoint(const CsimMachine *m, CsimNicRef nic);

#endif
