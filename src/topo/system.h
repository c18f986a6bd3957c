/*
 * topo/system.h - one machine (or NVLink domain) as NCCL's graph sees it.
 *
 * Built from an NCCL topology XML by topo/nccl-xml.h with every rule of NCCL 2.30
 * (ncclTopoGetSystemFromXml). Read by nccl (paths, search) and by topo/machine.h (which makes
 * simulated links of it). Immutable after loading, except through csim_system_copy + csim_system_remove.
 *
 * Order matters: the order of nodes of a type and of the links of a node is
 * NCCL's, since its searches break ties by it.
 */
#ifndef CSIM_TOPO_SYSTEM_H
#define CSIM_TOPO_SYSTEM_H

#include "base/diag.h"
#include "collsim/types.h"

/* Node types, in NCCL's order. */
typedef enum {
  CSIM_NODE_GPU, CSIM_NODE_PCI, CSIM_NODE_NVS, CSIM_NODE_CPU, CSIM_NODE_NIC, CSIM_NODE_NET,
  CSIM_NODE_GIN, CSIM_NODE_RMA, CSIM_NODE_DEV, CSIM_NODE_CXB, CSIM_N_NODE_TYPES
} CsimNodeType;

typedef enum {
  CSIM_LINK_LOC = 0, CSIM_LINK_NVL = 1, CSIM_LINK_C2C = 3, CSIM_LINK_PCI = 4, CSIM_LINK_SYS = 9, CSIM_LINK_NET = 10
} CsimLinkType;

/* CPU architecture and vendor numbers as NCCL's and the oracle's. */
enum { CSIM_ARCH_X86 = 1, CSIM_ARCH_POWER = 2, CSIM_ARCH_ARM = 3, CSIM_ARCH_MIXED = 4 };
enum { CSIM_VENDOR_INTEL = 1, CSIM_VENDOR_AMD = 2, CSIM_VENDOR_ZHAOXIN = 3, CSIM_VENDOR_MIXED = 4 };

typedef struct CsimTopoNode CsimTopoNode;

typedef struct {
  CsimLinkType type;
  float bw; /* GB/s as NCCL computes it, one direction */
  CsimTopoNode *remote;
  CsimLoc loc; /* the XML element that made it */
} CsimTopoLink;

struct CsimTopoNode {
  CsimNodeType type;
  int index;    /* position within its type; kept up to date by csim_system_remove */
  uint64_t id;  /* systemId << 56 | local id, NCCL's */
  CsimLoc loc;
  char *label;  /* NET: name of the device ("mlx5_0"); CPU: affinity mask as written; else NULL */
  union {
    struct { int dev, rank, sm, gdr, mlopart; } gpu; /* rank: the XML's; nccl renumbers. gdr: -1 not given */
    struct { int dev, sm; uint64_t device; int nvlinks; uint64_t bus; int partitions;
             double clock; const CsimTopoNode *bound; } dev; /* physical GPU; dev: NVML index;
                  * device: v<<48|d<<32|sv<<16|sd; nvlinks: sum of the counts; partitions: memory-locality parts of this GPU (1);
                  * clock: share of its usual clock that a slow GPU has, 0: all of it; bound: the CPU whose
                  * memory its process has buffers in (faults.h), NULL: the nearest */
    struct { uint64_t device; } pci;
    struct { int arch, vendor, model; int numa; } cpu; /* model 1..4: Intel generation class (oracle README) */
    struct { int dev; uint64_t asic, pci_id, local_gpu; float bw, latency; int port, maxconn, gdr, coll, rail, plane;
             int pci_width, pci_speed, place; CsimTime stuck_from, stuck_for; gboolean stuck; } net; /* stuck_for 0: for ever; bw GB/s, latency us; place: 1 + rail in the fabric of the machine when whole, 0: csim_net_rail counts */
  };
  GArray *links; /* CsimTopoLink, in NCCL's stored order */
};

typedef struct {
  int n_hosts;                /* distinct host_hash values */
  GPtrArray *nodes[CSIM_N_NODE_TYPES]; /* CsimTopoNode*, index order */
  char *name;                 /* file name without folder and .xml */
} CsimSystem;

/* Empty; name may be NULL. */
CsimSystem *csim_system_new(const char *name);
void csim_system_free(CsimSystem *system);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimSystem, csim_system_free)
CsimSystem *csim_system_copy(const CsimSystem *system);
/* Removes a node and every link to it (order of the rest kept). */
void csim_system_remove(CsimSystem *system, CsimTopoNode *node);
/* Keeps only the GPUs whose dev is in devs[0..n), as NCCL does when a job uses part of a machine: the other GPUs go, and then every
 * PCI switch and CPU that leads to no GPU or NIC any more. A dev that does not exist is a CSIM_ERROR_REFERENCE. */
gboolean csim_system_keep_gpus(CsimSystem *system, const int *devs, guint n, GError **error);

/* For builders. New node at the end of its type; id must carry the host in its top byte. */
CsimTopoNode *csim_system_add(CsimSystem *system, CsimNodeType type, uint64_t id, CsimLoc loc);
/* First node of that type and id, or NULL. */
CsimTopoNode *csim_system_find(const CsimSystem *system, CsimNodeType type, uint64_t id);
/* One direction. The same pair and type again adds to the bandwidth; links stay sorted by bandwidth, widest first, older first among equals. */
void csim_node_connect(CsimTopoNode *from, CsimTopoNode *to, CsimLinkType type, float bw, CsimLoc loc);

static inline guint csim_system_n(const CsimSystem *s, CsimNodeType t) { return s->nodes[t]->len; }
static inline CsimTopoNode *csim_system_node(const CsimSystem *s, CsimNodeType t, guint i) {
  return (CsimTopoNode *)g_ptr_array_index(s->nodes[t], i);
}
static inline CsimTopoLink *csim_node_link(const CsimTopoNode *n, guint i) { return &g_array_index(n->links, CsimTopoLink, i); }
#define CSIM_NODE_LOCAL_MASK ((UINT64_C(1) << 56) - 1)
static inline int csim_node_host(const CsimTopoNode *n) { return (int)(n->id >> 56); }

/* Rail of a NET in the fabric: the described one, else its place among its host's NETs. */
guint csim_net_rail(const CsimSystem *system, guint net);

/* "GPU/0", "NVS/0", with several hosts "GPU/1-3": the oracle's names. Caller frees. */
char *csim_node_name(const CsimSystem *system, const CsimTopoNode *node);
const char *csim_node_type_name(CsimNodeType type);
const char *csim_link_type_name(CsimLinkType type);

#endif
