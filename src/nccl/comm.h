/*
 * nccl/comm.h - a communicator over a cluster, as ncclCommInitRank would make it.
 *
 * Used by: exec (connections, rings, trees), tuning, cli. Implemented in comm*.c.
 *
 * Ranks are numbered node by node, inside a node by GPU dev. Identical nodes share one search. Rings and
 * trees are answered by function, not stored per rank, so that 16 384 ranks cost little.
 */
#ifndef CSIM_NCCL_COMM_H
#define CSIM_NCCL_COMM_H

#include <cjson/cJSON.h>

#include "nccl/graph.h"
#include "topo/cluster.h"

typedef struct CsimComm CsimComm;

typedef struct {
  const CsimCluster *cluster;
  const CsimNcclEnv *env;
  const int *gpus;   /* devs that take part in every node; NULL: the first n_gpus, or all */
  guint n_gpus;      /* 0: all */
  gboolean mnnvl;    /* hosts of one XML form one NVLink domain */
  gboolean coll_net; /* a CollNet (SHARP) plugin is there and offers all-gather and reduce-scatter */
} CsimCommSpec;

CsimComm *csim_comm_new(const CsimCommSpec *spec, CsimDiag *diag, GError **error);
void csim_comm_free(CsimComm *comm);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimComm, csim_comm_free)

typedef struct {
  int n_ranks, n_machines, n_nodes; /* n_nodes: as NCCL counts them */
  int max_local_ranks, min_local_ranks;
  int n_channels; /* rings and trees (runtime) */
  int n_nvls_channels, n_p2p_channels, n_p2p_per_peer, n_collnet_channels;
  int nvls_support, nvls_chunk, nvls_tree_max_chunk, nvls_heads, collnet_heads;
  int collnet_chain; /* 1: the CollNet chain is usable */
  int sharp_generation; /* of the network that CollNet reduces in; it says which types (models/sharp.h) */
  int tree_depth;
  int cpu_arch, cpu_vendor, min_sm, max_sm;
  gboolean all_nvlink;
  float min_net_bw;
} CsimCommInfo;
const CsimCommInfo *csim_comm_info(const CsimComm *comm);

/* Where a rank lives. local_gpu: index of its GPU node in csim_cluster_system(cluster, machine). */
typedef struct {
  guint machine, local_gpu;
  int node, local_rank;
} CsimRankPlace;
CsimRankPlace csim_comm_place(const CsimComm *comm, int rank);
/* The GPU's sm, NVLink count and so on: */
const CsimTopoNode *csim_comm_gpu(const CsimComm *comm, int rank);

/* Ring of a channel. position 0 is rank 0's place; rank_at(position(r)) == r. */
int csim_comm_ring_position(const CsimComm *comm, int channel, int rank);
int csim_comm_ring_rank_at(const CsimComm *comm, int channel, int position);

typedef struct {
  int up, down[3];
} CsimTreeNode; /* ranks, -1 none */
CsimTreeNode csim_comm_tree(const CsimComm *comm, int channel, int rank);

/* NVLS: the heads of a rank's node, as ranks; head h owns slice h. n = info.nvls_heads. */
int csim_comm_nvls_head(const CsimComm *comm, int rank, int h);
/* Which head of its node a rank is; -1 none. */
int csim_comm_nvls_head_index(const CsimComm *comm, int rank);
/* NVLSTree between heads: up and down as ranks of other nodes' heads; only for head ranks. */
CsimTreeNode csim_comm_nvls_tree(const CsimComm *comm, int channel, int rank);

/* CollNet, where info.n_collnet_channels > 0. Chain of a channel inside a rank's node: its neighbours, -1 none; a rank with no up is the
 * node's head. Heads of CollNetDirect: as NVLS's, n = info.collnet_heads. */
void csim_comm_chain(const CsimComm *comm, int channel, int rank, int *up, int *down);
int csim_comm_direct_head(const CsimComm *comm, int rank, int h);
int csim_comm_node_first(const CsimComm *comm, int node); /* a rank of the node */

/* How two ranks talk on a channel. COLLNET: a head and the network that reduces. */
typedef enum { CSIM_CONN_SELF, CSIM_CONN_P2P, CSIM_CONN_SHM, CSIM_CONN_NET, CSIM_CONN_COLLNET } CsimConnKind;
typedef struct {
  CsimConnKind kind;
  gboolean read;          /* P2P: receiver pulls (A100) */
  int send_net, recv_net; /* NET: local NET index in the sender's / receiver's system */
  gboolean send_gdr, recv_gdr;
  int pxn_rank;  /* NET: relay rank whose proxy sends, or -1 */
  int path_type; /* P2P: GPU-GPU path type */
} CsimConn;
/* is_p2p_op: send/recv connections (shared buffers, PXN), else the rings and trees. */
CsimConn csim_comm_conn(const CsimComm *comm, int channel, int from, int to, gboolean is_p2p_op);
/* Whether it is CSIM_CONN_NET, without looking for the NICs. */
gboolean csim_comm_over_network(const CsimComm *comm, int from, int to);
/* The same for one graph (CSIM_GRAPH_RING, _TREE, _NVLS): rings and trees may leave a node through different
 * NICs. csim_comm_conn takes the graph in which the two are neighbours on that channel, the ring first. */
CsimConn csim_comm_conn_graph(const CsimComm *comm, int graph, int channel, int from, int to);

/* A head's way into the network and out of it, by the same NIC (CSIM_GRAPH_COLLNET_CHAIN, _DIRECT or _NVLS; a head of that graph on that
 * channel). A head uses the NICs of the graph's channels that begin at it. */
CsimConn csim_comm_collnet(const CsimComm *comm, int graph, int channel, int rank);

const CsimGraph *csim_comm_graph(const CsimComm *comm, int graph); /* after agreement; of the first node */

/* A node's own view: its system (only the GPUs of that node, gpu.rank = place in its machine), paths, limits
 * and the links' rest after the search. */
const CsimSystem *csim_comm_system(const CsimComm *comm, int node);
const CsimPaths *csim_comm_paths(const CsimComm *comm, int node);
const CsimSearchLimits *csim_comm_limits(const CsimComm *comm, int node);
const CsimSearch *csim_comm_search(const CsimComm *comm, int node);
/* Rank of a GPU index of csim_comm_system(comm, node). */
int csim_comm_node_rank(const CsimComm *comm, int node, int gpu);

/* NCCL_GRAPH_DUMP_FILE text of the first node's graphs. Caller frees. */
char *csim_comm_graph_xml(const CsimComm *comm);

/* JSON with the oracle's field names; each part may be asked for alone. Caller frees with cJSON_Delete. */
enum {
  CSIM_JSON_SYSTEM = 1,
  CSIM_JSON_GRAPHS = 2,
  CSIM_JSON_CHANNELS = 4,
  CSIM_JSON_TREES = 8,
  CSIM_JSON_TUNING = 16,
  CSIM_JSON_ALL = 31
};
cJSON *csim_comm_to_json(const CsimComm *comm, guint parts);

#endif
