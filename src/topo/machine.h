/*
 * topo/machine.h - the cluster as simulated links, and routes over them.
 *
 * Used by: exec. Built from a CsimCluster and the catalogue. Link ids are dense, 0..n-1, so that exec
 * can make one fluid link of each (lazily). Ids of a node's links are computed, not stored per node, so
 * that 2048 nodes cost no memory until they are used.
 *
 * A GPU is named by (node, local GPU index in its system), a NIC by (node, local NET index).
 */
#ifndef CSIM_TOPO_MACHINE_H
#define CSIM_TOPO_MACHINE_H

#include "models/catalogue.h"
#include "models/fluid.h"
#include "models/net.h"
#include "topo/cluster.h"

typedef struct CsimMachine CsimMachine;

typedef enum {
  CSIM_RES_NVLINK_OUT, CSIM_RES_NVLINK_IN, /* a GPU's port into NVSwitch, or a direct GPU-GPU link bundle */
  CSIM_RES_PCIE,                           /* one direction of a PCIe link */
  CSIM_RES_CPU, CSIM_RES_MEMORY, CSIM_RES_C2C, /* socket link, host memory, Grace C2C */
  CSIM_RES_NIC_OUT, CSIM_RES_NIC_IN,       /* the wire of a NIC, payload rate */
  CSIM_RES_FABRIC                          /* a switch-to-switch link */
} CsimResKind;

typedef struct {
  CsimResKind kind;
  CsimRate capacity; /* payload bytes/s for the usual access (kernel stores, full MTU) */
  double softness;   /* see models/fluid.h */
} CsimRes;

typedef struct {
  guint n;
  CsimFlowLink link[48];
  CsimTime latency; /* propagation and switch latency along the way, beyond one NVLink hop, which flag latencies contain */
} CsimRoute;

typedef struct {
  uint64_t seed;     /* of random faults that have none */
  gboolean keep_all; /* leave no link of the fabric out of routes: for maps of link loads */
} CsimMachineOptions;
/* CSIM_ERROR_LIMIT for a fabric too small for its nodes, CSIM_ERROR_REFERENCE for a fault on what is not there. */
CsimMachine *csim_machine_new_with(const CsimCluster *cluster, const CsimCatalogue *catalogue, const CsimMachineOptions *options, GError **error);
CsimMachine *csim_machine_new(const CsimCluster *cluster, const CsimCatalogue *catalogue, GError **error);
void csim_machine_free(CsimMachine *machine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimMachine, csim_machine_free)

const CsimCluster *csim_machine_cluster(const CsimMachine *m);
const CsimCatalogue *csim_machine_catalogue(const CsimMachine *m);
guint csim_machine_n_links(const CsimMachine *m);
CsimRes csim_machine_link(const CsimMachine *m, CsimLinkId id);
/* The fabric's links are *first .. *first + the result - 1. */
guint csim_machine_fabric_links(const CsimMachine *m, CsimLinkId *first);
/* Links of the fabric that lose and get back a part of their rate while a call runs; `cable` numbers what flaps, for random draws. *n of them. */
typedef struct {
  CsimLinkId link;
  guint cable;
  CsimRate lost;
  CsimTime period, down;
} CsimMachineFlap;
const CsimMachineFlap *csim_machine_flaps(const CsimMachine *m, guint *n);
/* Do routes over the fabric depend on how many others there are (`loads` of csim_machine_route_fabric)? */
gboolean csim_machine_balances(const CsimMachine *m);
/* Can flows of one pair of NICs take different ways, by their hash? */
gboolean csim_machine_spreads(const CsimMachine *m);
/* "node3/gpu2 NVLink out", "leaf0-spine1.0 up": for traces and --explain. Caller frees. */
char *csim_machine_link_name(const CsimMachine *m, CsimLinkId id);

typedef struct { guint node, local; } CsimGpuRef, CsimNicRef;

/* The catalogue's model of a GPU ("h100", for csim_gpu_model_init), and its NVLinks in all. */
const char *csim_machine_gpu_model(const CsimMachine *m, CsimGpuRef gpu);
guint csim_machine_gpu_nvlinks(const CsimMachine *m, CsimGpuRef gpu);
/* Share of its usual clock at which the GPU runs: 1 unless a fault says less. */
double csim_machine_gpu_clock(const CsimMachine *m, CsimGpuRef gpu);
/* Adapters, proxies and sockets of the cluster's transport and MTU. */
const CsimNetModel *csim_machine_net(const CsimMachine *m);

/*
 * Each fills *out and returns TRUE, or FALSE with CSIM_ERROR_ROUTE.
 * A route leaves out every link that provably cannot bind (docs/models/hardware.md, "What is left out"), so it may have
 * fewer links than the wires it stands for; latency counts all of them. Weights: kernel accesses to PCIe peers and host memory move
 * smaller packets than a link's capacity is stated for.
 */
gboolean csim_machine_route_p2p(const CsimMachine *m, CsimGpuRef from, CsimGpuRef to, CsimRoute *out, GError **error);
/* Through host memory (SHM), which lies at the receiver's socket (NCCL_SHM_LOCALITY's default): first half GPU -> memory, second
 * half memory -> GPU. from = to: a GPU's staging buffer for the network. */
gboolean csim_machine_route_shm(const CsimMachine *m, CsimGpuRef from, CsimGpuRef to, CsimRoute *up, CsimRoute *down, GError **error);
/* Between GPU and NIC inside a node, one direction; if !gdr between the GPU's host memory and the NIC (the other half, GPU to its own
 * host memory and back, is csim_machine_route_shm with from = to). */
gboolean csim_machine_route_nic(const CsimMachine *m, CsimGpuRef gpu, CsimNicRef nic, gboolean gdr, gboolean to_nic, CsimRoute *out, GError **error);
/* NIC to NIC over the fabric. flow_hash: entropy for ECMP (seed, channel, QP). loads: flows on each of the fabric's links so far, which a fabric
 * that balances looks at and counts up; NULL: none. */
gboolean csim_machine_route_fabric(const CsimMachine *m, CsimNicRef from, CsimNicRef to, uint32_t flow_hash, uint32_t *loads, CsimRoute *out,
                                   GError **error);
/* Where a NIC hangs: its rate on the line (bits as bytes/s), the number of its leaf switch, and how many switches a message to another
 * NIC passes (1: both on one leaf). For trees in the switches. */
CsimRate csim_machine_nic_line(const CsimMachine *m, CsimNicRef nic);
guint csim_machine_leaf(const CsimMachine *m, CsimNicRef nic);
gboolean csim_machine_switches(const CsimMachine *m, CsimNicRef from, CsimNicRef to, guint *n, GError **error);
/* The NVLink ports of one GPU (for NVLS); FALSE if it has none. */
gboolean csim_machine_nvlink_ports(const CsimMachine *m, CsimGpuRef gpu, CsimLinkId *out_port, CsimLinkId *in_port);

#endif
