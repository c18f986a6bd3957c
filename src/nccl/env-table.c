/* The table of NCCL variables. Source: NCCL 2.30.7 (NCCL_PARAM definitions over src/) and NVIDIA's user guide (ranges). */
#include "nccl/env.h"

/* Last columns of a row: what the simulator does with it, and how the text is read. */
#define MODELLED TRUE, CSIM_VAR_INT, FALSE
#define MODELLED_LEVEL TRUE, CSIM_VAR_LEVEL, FALSE
#define MODELLED_TEXT TRUE, CSIM_VAR_TEXT, FALSE
#define IGNORED FALSE, CSIM_VAR_INT, FALSE
#define IGNORED_TEXT FALSE, CSIM_VAR_TEXT, FALSE
#define TIMELESS FALSE, CSIM_VAR_INT, TRUE
#define TIMELESS_TEXT FALSE, CSIM_VAR_TEXT, TRUE

/* One row a line. */
/* clang-format off */
static const CsimNcclVar vars[] = {
    /* choice of algorithm, protocol, channels, threads */
    {"NCCL_ALGO", "unset", "[func:]list[;func:list...]", "algorithms that may be chosen; ^ in front of a list excludes", MODELLED_TEXT},
    {"NCCL_PROTO", "unset", "[func:]list[;func:list...]", "protocols that may be chosen; naming LL128 enables it anywhere", MODELLED_TEXT},
    {"NCCL_MIN_NCHANNELS", "0", "1..64", "copies channels up to this number after the search", MODELLED},
    {"NCCL_MAX_NCHANNELS", "64", "1..64", "cuts the channels to this number after the search", MODELLED},
    {"NCCL_MIN_NRINGS", "unset", "1..64", "old name of NCCL_MIN_NCHANNELS", MODELLED},
    {"NCCL_MAX_NRINGS", "unset", "1..64", "old name of NCCL_MAX_NCHANNELS", MODELLED},
    {"NCCL_MIN_CTAS", "1", "1..64", "smallest number of channels, given through the communicator's configuration", MODELLED},
    {"NCCL_MAX_CTAS", "64", "1..64", "largest number of channels, given through the communicator's configuration", MODELLED},
    {"NCCL_NTHREADS", "512 (256 on slow rings)", "64..512, multiple of 32", "threads a channel for Simple and LL", MODELLED},
    {"NCCL_LL128_NTHREADS", "640", "160..640, multiple of 32", "threads a channel for LL128", MODELLED},
    {"NCCL_THREAD_THRESHOLDS", "unset", "six numbers", "bytes a thread below which channels and threads are dropped: Tree LL, LL128, Simple, Ring LL, LL128, Simple", MODELLED_TEXT},
    {"NCCL_NET_OVERHEAD", "1000 (AMD 2000)", "ns", "network cost of a ring step in the cost table", MODELLED},
    {"NCCL_LL128_C2C", "1", "0, 1", "LL128 up to PXN distance to the NIC on sm 90 and later", MODELLED},
    {"NCCL_PAT_ENABLE", "2", "0, 1, 2", "PAT: 2 only with one GPU a node, 1 always, 0 never", MODELLED},
    {"NCCL_UNPACK_DOUBLE_NCHANNELS", "1", "0, 1", "twice the channels with a network device that unpacks", IGNORED},
    {"NCCL_CTA_POLICY", "DEFAULT", "DEFAULT, EFFICIENCY, ZERO", "trades channels for copy engines with registered buffers", IGNORED_TEXT},
    {"NCCL_CGA_CLUSTER_SIZE", "4 (sm 90 and later)", "0..8", "thread blocks launched as one cluster", IGNORED},

    /* buffers */
    {"NCCL_BUFFSIZE", "4194304", "bytes", "Simple buffer of a connection; an eighth of it is one slot", MODELLED},
    {"NCCL_LL_BUFFSIZE", "524288", "bytes", "LL buffer of a connection", MODELLED},
    {"NCCL_LL128_BUFFSIZE", "4915200", "bytes", "LL128 buffer of a connection", MODELLED},

    /* topology and search */
    {"NCCL_CROSS_NIC", "2", "0, 1, 2", "rings may enter and leave a node by different NICs: never, always, if it is faster", MODELLED},
    {"NCCL_NETDEVS_POLICY", "AUTO", "AUTO, ALL, MAX:n", "how many NICs a GPU uses", MODELLED_TEXT},
    {"NCCL_P2P_LEVEL", "PXB", "LOC..SYS or 0..5", "largest distance between two GPUs for direct access", MODELLED_LEVEL},
    {"NCCL_P2P_DISABLE", "0", "0, 1", "no direct access between GPUs: shared memory or network instead; NVLS stays on", MODELLED},
    {"NCCL_P2P_READ_ENABLE", "-2 (A100 pairs)", "0, 1", "the receiver pulls instead of the sender pushing", MODELLED},
    {"NCCL_P2P_DIRECT_DISABLE", "0", "0, 1", "no direct pointers between GPUs of one process", IGNORED},
    {"NCCL_P2P_USE_CUDA_MEMCPY", "0", "0, 1", "copy engines move P2P data, driven by the proxy", IGNORED},
    {"NCCL_IGNORE_DISABLED_P2P", "0", "0, 1, 2", "go on when the driver reports a broken P2P path", TIMELESS},
    {"NCCL_SHM_DISABLE", "0", "0, 1", "no shared memory between GPUs without P2P: network instead", MODELLED},
    {"NCCL_SHM_LOCALITY", "2", "1 sender, 2 receiver", "on whose side the shared buffer lies", IGNORED},
    {"NCCL_NVB_DISABLE", "0", "0, 1", "no paths through a middle GPU over NVLink", MODELLED},
    {"NCCL_NVB_PRECONNECT", "1", "0, 1", "connects such paths at start", TIMELESS},
    {"NCCL_NET_DISABLE_INTRA", "0", "0, 1", "never the network between GPUs of one node, even where it is faster", MODELLED},
    {"NCCL_NET_GDR_LEVEL", "P2C", "LOC..SYS or 0..5", "largest GPU-NIC distance for GPUDirect RDMA", MODELLED_LEVEL},
    {"NCCL_NET_GDR_READ", "-2 (sm 80 and later)", "0, 1", "GPUDirect RDMA on the sending side", MODELLED},
    {"NCCL_NET_GDR_C2C", "1", "0, 1", "GPUDirect RDMA through a CPU that is attached by C2C", MODELLED},
    {"NCCL_NET_GDR_MLOPART", "0", "0, 1", "GPUDirect RDMA for GPU partitions", MODELLED},
    {"NCCL_PXN_DISABLE", "0", "0, 1", "no relay through another GPU to reach its NIC", MODELLED},
    {"NCCL_PXN_C2C", "1", "0, 1", "the relay may reach its NIC through C2C and the CPU", MODELLED},
    {"NCCL_P2P_PXN_LEVEL", "2", "0, 1, 2", "relay for send/recv: never, if needed, always", MODELLED},
    {"NCCL_NET_MERGE_LEVEL", "PORT", "LOC, PORT, PIX..SYS", "distance up to which NICs are fused into one", IGNORED_TEXT},
    {"NCCL_NET_MERGE_POLICY", "ALL", "ALL, RAIL", "which NICs may be fused", IGNORED_TEXT},
    {"NCCL_NET_FORCE_MERGE", "unset", "a,b;c,d", "names the NICs to fuse", IGNORED_TEXT},
    {"NCCL_TOPO_FILE", "unset", "path", "reads the topology from this XML; here the target names it", IGNORED_TEXT},
    {"NCCL_TOPO_DUMP_FILE", "unset", "path", "writes the topology (every rank of the host must have it set); here: collsim topo", TIMELESS_TEXT},
    {"NCCL_TOPO_DUMP_FILE_RANK", "0", "rank", "which rank writes it", TIMELESS},
    {"NCCL_GRAPH_FILE", "unset", "path", "reads search results instead of searching", MODELLED_TEXT},
    {"NCCL_GRAPH_DUMP_FILE", "unset", "path", "writes search results; here: collsim graph --xml", TIMELESS_TEXT},
    {"NCCL_GRAPH_DUMP_FILE_RANK", "0", "rank", "which rank writes them", TIMELESS},
    {"NCCL_MULTI_RANK_GPU_ENABLE", "0", "0, 1", "several ranks on one GPU", IGNORED},

    /* NVLS, CollNet, multi-node NVLink */
    {"NCCL_NVLS_ENABLE", "2", "0, 1, 2", "NVLink SHARP: 0 off, 1 on, 2 if the driver reports it", MODELLED},
    {"NCCL_NVLS_NCHANNELS", "16 (sm 100: 24 or 32)", "1..64", "channels of the NVLS algorithms", MODELLED},
    {"NCCL_NVLS_CHUNKSIZE", "131072", "bytes", "largest NVLS chunk", MODELLED},
    {"NCCL_NVLSTREE_MAX_CHUNKSIZE", "-2 (65536 from 4 nodes)", "bytes", "largest NVLSTree chunk", MODELLED},
    {"NCCL_COLLNET_ENABLE", "0", "0, 1", "in-network reduction through a CollNet plugin", MODELLED},
    {"NCCL_COLLNET_NODE_THRESHOLD", "2", "nodes", "fewest nodes for CollNet", MODELLED},
    {"NCCL_MNNVL_ENABLE", "2", "0, 1, 2", "several hosts as one NVLink domain", MODELLED},
    {"NCCL_MNNVL_UUID", "-1", "number", "name of the NVLink domain", IGNORED},
    {"NCCL_MNNVL_CLIQUE_ID", "-1", "number", "part of the NVLink domain", IGNORED},
    {"NCCL_MNNVL_CROSS_CLIQUE", "0", "0, 1", "NVLink between parts of a domain", IGNORED},
    {"NCCL_MNNVL_SCATTER_NETS_ENABLE", "1", "0, 1", "spreads channels over the NICs of all hosts of a domain", MODELLED},
    {"NCCL_MNNVL_RAIL_PER_HOST", "0", "0, 1", "rails are counted inside each host of a domain", MODELLED},

    /* send and receive */
    {"NCCL_NCHANNELS_PER_NET_PEER", "unset", "1..64", "channels to one remote peer, for send/recv only", MODELLED},
    {"NCCL_MIN_P2P_NCHANNELS", "1", "1..64", "fewest channels for send/recv", MODELLED},
    {"NCCL_MAX_P2P_NCHANNELS", "64", "1..64", "most channels for send/recv", MODELLED},
    {"NCCL_P2P_PER_CHANNEL_NET_BW", "14", "GB/s", "network rate that one send/recv channel is taken to carry", MODELLED},
    {"NCCL_P2P_MAX_PEERS", "number of ranks", "ranks", "peers that a send/recv phase is expected to have", MODELLED},
    {"NCCL_P2P_SCHEDULE_GROUP_SIZE", "8", "ranks", "ranks handled together in the order of send/recv rounds", MODELLED},
    {"NCCL_P2P_NET_CHUNKSIZE", "131072", "bytes", "send/recv chunk with several nodes", MODELLED},
    {"NCCL_P2P_PCI_CHUNKSIZE", "131072", "bytes", "send/recv chunk inside a PCIe node", MODELLED},
    {"NCCL_P2P_NVL_CHUNKSIZE", "524288", "bytes", "send/recv chunk inside an NVLink node", MODELLED},
    {"NCCL_P2P_LL_THRESHOLD", "16384", "bytes a channel", "send/recv uses LL up to this size", MODELLED},
    {"NCCL_ALLOC_P2P_NET_LL_BUFFERS", "0", "0, 1", "LL for send/recv over the network", MODELLED},
    {"NCCL_CHUNK_SIZE", "0", "bytes", "overrides the send/recv chunk", MODELLED},
    {"NCCL_NET_SHARED_BUFFERS", "-2 (1)", "0, 1", "send/recv connections of a rank share network buffers", IGNORED},
    {"NCCL_NET_SHARED_COMMS", "1", "0, 1", "send/recv connections to one remote process share network connections", IGNORED},

    /* InfiniBand and RoCE */
    {"NCCL_IB_DISABLE", "0", "0, 1", "no InfiniBand/RoCE: sockets instead", IGNORED},
    {"NCCL_IB_HCA", "unset", "[^=]dev[:port[:rail[:plane]]],...", "which HCAs to use: names that start so, = whole names, ^ all others", MODELLED_TEXT},
    {"NCCL_IB_QPS_PER_CONNECTION", "1", "1..128", "queue pairs a connection; messages rotate over them", MODELLED},
    {"NCCL_IB_SPLIT_DATA_ON_QPS", "0", "0, 1", "cuts every message over all queue pairs (felt where routes are hashed)", MODELLED},
    {"NCCL_IB_TC", "-1 (0)", "0..255", "traffic class; its DSCP (a quarter) names the priority at packet fidelity", MODELLED},
    {"NCCL_IB_FIFO_TC", "-1 (as NCCL_IB_TC)", "0..255", "traffic class of the clear-to-send messages", IGNORED},
    {"NCCL_IB_SL", "-1 (0)", "0..15", "service level", IGNORED},
    {"NCCL_IB_GID_INDEX", "-1", "index", "RoCE address to use; -1 picks one", TIMELESS},
    {"NCCL_IB_ROCE_VERSION_NUM", "2", "1, 2", "RoCE version of the picked address", TIMELESS},
    {"NCCL_IB_ADDR_FAMILY", "AF_INET", "AF_INET, AF_INET6", "family of the picked address", TIMELESS_TEXT},
    {"NCCL_IB_ADDR_RANGE", "unset", "CIDR", "range of the picked address", TIMELESS_TEXT},
    {"NCCL_IB_TIMEOUT", "20", "1..22", "acknowledge timeout of 4.096 us * 2^x; matters after a loss only (packet fidelity)", MODELLED},
    {"NCCL_IB_RETRY_CNT", "7", "0..7", "retries after a loss (packet fidelity)", MODELLED},
    {"NCCL_IB_PKEY", "0", "index", "partition key", TIMELESS},
    {"NCCL_IB_AR_THRESHOLD", "8192", "bytes", "larger messages are written apart from their notice when adaptive routing is on", MODELLED},
    {"NCCL_IB_ADAPTIVE_ROUTING", "-2 (IB 1, RoCE 0)", "0, 1", "the port routes adaptively: a queue pair waits for each message to be acknowledged", MODELLED},
    {"NCCL_IB_PCI_RELAXED_ORDERING", "2", "0, 1, 2", "relaxed PCIe ordering for registered memory", IGNORED},
    {"NCCL_IB_USE_INLINE", "0", "0, 1", "clear-to-send inside the work request", IGNORED},
    {"NCCL_IB_ECE_ENABLE", "1", "0, 1", "enhanced connection establishment", TIMELESS},
    {"NCCL_IB_MERGE_NICS", "1", "0, 1", "the plugin may fuse ports", IGNORED},
    {"NCCL_IB_MERGE_VFS", "1", "0, 1", "virtual functions of a port count as one card", IGNORED},
    {"NCCL_IB_DATA_DIRECT", "1", "0, 1, 2", "data-direct device of ConnectX-8", IGNORED},
    {"NCCL_IB_OOO_RQ", "0", "0, 1", "receive queues that take messages out of order", IGNORED},
    {"NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS", "-2 (0)", "0, 1", "posts receives in advance", IGNORED},
    {"NCCL_IB_RETURN_ASYNC_EVENTS", "1", "0, 1", "reports asynchronous device errors", TIMELESS},
    {"NCCL_IB_WARN_RAIL_LOCAL", "0", "0, 1", "warns when a connection leaves its rail", TIMELESS},
    {"NCCL_NET_IB_MAX_RECVS", "8", "1..8", "receives posted together on a shared connection", IGNORED},

    /* sockets */
    {"NCCL_SOCKET_IFNAME", "unset", "[^=]prefix,...", "interfaces for sockets and start-up", IGNORED_TEXT},
    {"NCCL_SOCKET_FAMILY", "unset", "AF_INET, AF_INET6", "address family", TIMELESS_TEXT},
    {"NCCL_SOCKET_NTHREADS", "-2 (0; AWS 2, GCP 4)", "0..16", "helper threads of a socket connection, which copy instead of the proxy", MODELLED},
    {"NCCL_NSOCKS_PERTHREAD", "-2 (1; AWS 8)", "product with threads <= 64", "sockets of a helper thread; nothing without helper threads", MODELLED},
    {"NCCL_SOCKET_INLINE", "128", "bytes", "data sent along with the size on the control socket", IGNORED},
    {"NCCL_SOCKET_MIN_TASKSIZE", "65536", "bytes", "smallest piece when a message is cut over sockets (packet fidelity)", MODELLED},
    {"NCCL_SOCKET_RCVBUF", "-1", "bytes", "receive buffer of a socket", IGNORED},
    {"NCCL_SOCKET_SNDBUF", "-1", "bytes", "send buffer of a socket", IGNORED},
    {"NCCL_SOCKET_RETRY_CNT", "34", "count", "connection attempts", TIMELESS},
    {"NCCL_SOCKET_RETRY_SLEEP_MSEC", "100", "ms", "pause between attempts", TIMELESS},
    {"NCCL_SOCKET_POLL_TIMEOUT_MSEC", "0", "ms", "polls instead of spinning during start-up", TIMELESS},
    {"NCCL_OOB_NET_ENABLE", "0", "0, 1", "start-up messages through the network plugin", TIMELESS},
    {"NCCL_OOB_NET_IFNAME", "unset", "list", "devices for that", TIMELESS_TEXT},

    /* network in general */
    {"NCCL_NET", "unset", "plugin name", "network plugin by name (IB, Socket, ...)", IGNORED_TEXT},
    {"NCCL_NET_PLUGIN", "unset", "name or path", "external network plugin", IGNORED_TEXT},
    {"NCCL_TUNER_PLUGIN", "unset", "name or path", "external tuner: may change every choice", IGNORED_TEXT},
    {"NCCL_PROFILER_PLUGIN", "unset", "name or path", "external profiler", IGNORED_TEXT},
    {"NCCL_ENV_PLUGIN", "unset", "name or path", "external source of variables", IGNORED_TEXT},
    {"NCCL_NET_FORCE_FLUSH", "0", "0, 1", "flush received data on sm 90 and later too", IGNORED},
    {"NCCL_GDR_FLUSH_DISABLE", "0", "0, 1", "never flush received data", IGNORED},
    {"NCCL_DMABUF_ENABLE", "1", "0, 1", "registers GPU memory through DMA-BUF", TIMELESS},
    {"NCCL_GDRCOPY_ENABLE", "0", "0, 1", "proxy counters in GPU memory", IGNORED},
    {"NCCL_GDRCOPY_SYNC_ENABLE", "1", "0, 1", "which counters, with NCCL_GDRCOPY_ENABLE", IGNORED},
    {"NCCL_GDRCOPY_FLUSH_ENABLE", "0", "0, 1", "flush by a PCIe read, with NCCL_GDRCOPY_ENABLE", IGNORED},
    {"NCCL_GDRCOPY_FIFO_ENABLE", "1", "0, 1", "work FIFO in GPU memory, with NCCL_GDRCOPY_ENABLE", IGNORED},
    {"NCCL_NET_OPTIONAL_RECV_COMPLETION", "1", "0, 1", "LL and LL128 receives need no completion", IGNORED},
    {"NCCL_PROGRESS_APPENDOP_FREQ", "8", "rounds", "how often a busy proxy looks for new work", IGNORED},
    {"NCCL_PROXY_APPEND_BATCH_SIZE", "16", "batches", "how much it takes at once", IGNORED},
    {"NCCL_PROXY_CPUSET", "unset", "cpu list", "where the proxy runs", IGNORED_TEXT},
    {"NCCL_IGNORE_CPU_AFFINITY", "0", "0, 1", "places threads by the GPU only", IGNORED},

    /* launch, memory, registration */
    {"NCCL_RUNTIME_CONNECT", "1", "0, 1", "connects at the first use of an algorithm, which makes that call slow", TIMELESS},
    {"NCCL_WORK_FIFO_BYTES", "1048576", "bytes", "queue of work that does not fit the kernel arguments", IGNORED},
    {"NCCL_WORK_ARGS_BYTES", "largest", "bytes", "kernel argument space for work", IGNORED},
    {"NCCL_LAUNCH_MODE", "PARALLEL", "PARALLEL, GROUP", "how the GPUs of one process are launched", IGNORED_TEXT},
    {"NCCL_LAUNCH_ORDER_IMPLICIT", "0", "0, 1", "orders kernels of several communicators", IGNORED},
    {"NCCL_LAUNCH_RACE_FATAL", "1", "0, 1", "stops on racing launches", TIMELESS},
    {"NCCL_MEM_SYNC_DOMAIN", "1", "0, 1", "memory fences apart from those of compute kernels", IGNORED},
    {"NCCL_LOCAL_REGISTER", "1", "0, 1", "uses registered user buffers directly", IGNORED},
    {"NCCL_GRAPH_REGISTER", "1", "0, 1", "registers the buffers of captured graphs", IGNORED},
    {"NCCL_LEGACY_CUDA_REGISTER", "0", "0, 1", "registers buffers of older allocators", IGNORED},
    {"NCCL_WIN_ENABLE", "1", "0, 1", "memory windows", IGNORED},
    {"NCCL_CUMEM_ENABLE", "-2", "0, 1", "which memory allocator", TIMELESS},
    {"NCCL_CUMEM_HOST_ENABLE", "-1", "0, 1", "host buffers near the GPU, not where its process is bound", MODELLED},
    {"NCCL_SYM_CTAS", "0", "count", "thread blocks of symmetric kernels", IGNORED},
    {"NCCL_SYM_KERNEL", "unset", "name", "which symmetric kernel", IGNORED_TEXT},
    {"NCCL_SYM_CE_THRESHOLD", "8388608", "bytes", "copy engines from this size on with symmetric memory", IGNORED},
    {"NCCL_SYM_NOWIN_ENABLE", "0", "0, 1", "symmetric kernels without windows", IGNORED},
    {"NCCL_GRAPH_MIXING_SUPPORT", "1", "0, 1", "captured graphs and plain launches may mix", IGNORED},
    {"NCCL_SET_STACK_SIZE", "0", "0, 1", "sets the kernel stack size", TIMELESS},
    {"NCCL_SET_THREAD_NAME", "0", "0, 1", "names the helper threads", TIMELESS},
    {"NCCL_IPC_USE_ABSTRACT_SOCKET", "1", "0, 1", "kind of local socket for start-up", TIMELESS},

    /* start-up, checks, logs */
    {"NCCL_HOSTID", "unset", "text", "stands for host name and boot id when hosts are told apart", IGNORED_TEXT},
    {"NCCL_COMM_ID", "unset", "host:port", "meeting point of the ranks", TIMELESS_TEXT},
    {"NCCL_COMM_BLOCKING", "unset", "0, 1", "calls wait for completion of set-up", TIMELESS},
    {"NCCL_COMM_SPLIT_SHARE_RESOURCES", "unset", "0, 1", "split communicators share channels", IGNORED},
    {"NCCL_COMM_SHRINK_SHARE_RESOURCES", "unset", "0, 1", "shrunk communicators share channels", IGNORED},
    {"NCCL_UID_STAGGER_THRESHOLD", "256", "ranks", "staggers start-up from this number on", TIMELESS},
    {"NCCL_UID_STAGGER_RATE", "7000", "ranks a second", "how fast", TIMELESS},
    {"NCCL_CHECK_POINTERS", "0", "0, 1", "checks user pointers in each call", TIMELESS},
    {"NCCL_CONF_FILE", "~/.nccl.conf", "path", "the user's file of settings", MODELLED_TEXT},
    {"NCCL_DEBUG", "unset", "VERSION, WARN, INFO, TRACE", "log level", TIMELESS_TEXT},
    {"NCCL_DEBUG_SUBSYS", "INIT,BOOTSTRAP,ENV", "list", "what is logged", TIMELESS_TEXT},
    {"NCCL_DEBUG_FILE", "stdout", "path", "where to", TIMELESS_TEXT},
    {"NCCL_DEBUG_TIMESTAMP_FORMAT", "[%F %T]", "strftime text", "time stamps in logs", TIMELESS_TEXT},
    {"NCCL_DEBUG_TIMESTAMP_LEVELS", "WARN", "list", "which lines carry one", TIMELESS_TEXT},
    {"NCCL_RAS_ENABLE", "1", "0, 1", "health monitor", TIMELESS},
    {"NCCL_RAS_ADDR", "localhost:28028", "host:port", "where the monitor listens", TIMELESS_TEXT},
    {"NCCL_RAS_TIMEOUT_FACTOR", "1", "number", "stretches its timeouts", TIMELESS},
};
/* clang-format on */

const CsimNcclVar *csim_nccl_vars(guint *n) {
  if (n) *n = G_N_ELEMENTS(vars);
  return vars;
}

static GHashTable *index_rows(void) {
  GHashTable *index = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < G_N_ELEMENTS(vars); i++)
    g_hash_table_insert(index, (gpointer)vars[i].name, (gpointer)&vars[i]);
  return index;
}

const CsimNcclVar *csim_nccl_var_find(const char *name) {
  static gsize ready;
  static GHashTable *index; /* built once, read only afterwards, lives as long as the process */
  if (g_once_init_enter(&ready)) {
    index = index_rows();
    g_once_init_leave(&ready, 1);
  }
  return (const CsimNcclVar *)g_hash_table_lookup(index, name);
}
