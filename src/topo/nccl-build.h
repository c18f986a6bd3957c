/* topo/nccl-build.h - what the parts of the graph builder share. Private to src/topo/nccl-build*.c. */
#ifndef CSIM_TOPO_NCCL_BUILD_H
#define CSIM_TOPO_NCCL_BUILD_H

#include "topo/nccl-xml-tree.h"

/* GB/s; NCCL 2.30.7, src/graph/topo.h. */
#define CSIM_BW_LOCAL 5000.0f
#define CSIM_BW_MLOPART 2618.0f

typedef struct {
  const CsimNcclXml *xml;
  CsimBuildOptions options;
  CsimDiag *diag;
  CsimNcclOutcome *outcome;
  CsimSystem *system;
  GArray *hosts;                  /* uint64_t host hashes, in order of appearance: index = systemId */
  int next_gpu_dev, next_net_dev; /* for elements without dev */
  GError **error;
} CsimBuild;

/* Sets outcome and error; always FALSE. */
gboolean csim_build_fail(CsimBuild *b, CsimLoc loc, int result, const char *reason, const char *format, ...)
    G_GNUC_PRINTF(5, 6);
/* Required attributes: FALSE with "missing-attribute element/key". */
gboolean csim_build_text(CsimBuild *b, const CsimNcclElement *node, const char *key, const char **out);
gboolean csim_build_int(CsimBuild *b, const CsimNcclElement *node, const char *key, int *out);

/* Copy of a text for people, printable; NULL if absent. */
char *csim_build_label(const CsimNcclElement *node, const char *key);

static inline uint64_t csim_build_id(int host, uint64_t local) {
  return (uint64_t)host << 56 | (local & CSIM_NODE_LOCAL_MASK);
}
static inline void csim_build_both(CsimTopoNode *a, CsimTopoNode *b, CsimLinkType type, float bw,
                                   CsimLoc loc) {
  csim_node_connect(a, b, type, bw, loc);
  csim_node_connect(b, a, type, bw, loc);
}

/* Host number of a <cpu>: distinct host_hash values in order of appearance. */
int csim_build_host(CsimBuild *b, const CsimNcclElement *cpu);

/* nccl-build-device.c */
gboolean csim_build_gpus(CsimBuild *b, const CsimNcclElement *pci, int host, uint64_t bus,
                         CsimTopoNode **first_dev);
gboolean csim_build_nic(CsimBuild *b, const CsimNcclElement *nic, CsimTopoNode *node, int host,
                        uint64_t pci_id, int width, int speed);
uint64_t csim_build_device_id(const CsimNcclElement *pci);
/* nccl-build-links.c: everything that joins nodes across the tree, in NCCL's order. */
gboolean csim_build_links(CsimBuild *b, const CsimNcclElement *root);
void csim_build_flatten(CsimSystem *system); /* nccl-build-bcm.c */

#endif
