/*
 * toy-nodes.h - small made-up machines for the tests of the search and the communicator.
 *
 * The machines are those of the NCCL fact sheet's section 9, whose results came from NCCL 2.30.7's own code.
 */
#ifndef TOY_NODES_H
#define TOY_NODES_H

#include "nccl/comm.h"

typedef struct {
  int n_gpus, sm;
  int nvlinks;         /* to an NVSwitch, each GPU; 0 none */
  int gpus_per_switch; /* PCIe switches under the CPUs; 0: GPUs straight on the CPU */
  int sockets;         /* 1 or 2; GPUs are dealt in halves */
  gboolean amd;
  const char *speed; /* of every PCIe link */
  int width;
  int nic_mbps; /* one NIC beside each GPU; 0 none */
} ToyNode;

char *toy_xml(const ToyNode *toy); /* caller frees */
CsimSystem *toy_system(const ToyNode *toy);
/* n equal machines. */
CsimCluster *toy_cluster(const ToyNode *toy, guint n);
void toy_cluster_free(CsimCluster *cluster);

/* A communicator with its cluster and variables; env: "NAME=VALUE" texts, NULL-ended, may be NULL. */
typedef struct {
  CsimCluster *cluster;
  CsimNcclEnv *env;
  CsimComm *comm;
} ToyJob;
ToyJob toy_job(const ToyNode *toy, guint n_machines, const char *const *env);
void toy_job_clear(ToyJob *job);

#endif
