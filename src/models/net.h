/*
 * models/net.h - what a message costs outside the wires: proxy threads, adapters, sockets, shared memory.
 *
 * Used by: exec (proxies, SHM) and topo (adapter payload rate, hop latency). Filled from the catalogue
 * ("proxy.*", "nic.*", "<transport>.*", "switch.*", "cable.*", "shm.*").
 *
 * Life of a network message (Simple; one message a slice, at most 8/sliceSteps in flight):
 *   kernel posts -> g2p -> sender's proxy thread (serial, t_post a message) -> wire at the adapter's rate -> route latency
 *   -> receiver's proxy thread (serial, t_poll) -> flush if needed -> p2g -> visible to the kernel;
 *   the slot is granted again after p2g + route latency + t_post.
 */
#ifndef CSIM_MODELS_NET_H
#define CSIM_MODELS_NET_H

#include "models/catalogue.h"

typedef struct {
  const char *transport;    /* "ib", "roce", "socket", "slingshot", "efa"; "loopback": sockets inside a host */
  CsimTime g2p, p2g;        /* = proxy.g2p, proxy.p2g: flag between GPU and proxy thread */
  CsimTime t_post, t_poll;  /* = proxy.post, proxy.poll: serial per proxy thread and message */
  CsimTime flush;           /* = proxy.flush: read back after a GPUDirect receive, where the GPU needs it (sm < 90) */
  CsimTime p2p_start;       /* = proxy.p2p_start: send/recv over the network, until the proxy has taken up a call's operations */
  CsimTime p2p_buffer;      /* = proxy.p2p_buffer: send/recv over the network, for each message: the next buffer is handed out */
  uint32_t p2p_depth;       /* = proxy.p2p_depth: messages of send/recv under way on a connection */
  CsimTime endpoint;        /* = <transport>.endpoint: one adapter with its driver path, each side, small message; not part of
                             * routes, whose latency has the PCIe way to the adapter, switches and cables */
  CsimTime step;            /* = <transport>.step: further software time per message (TCP stack), 0 for verbs */
  CsimRate stream_rate;     /* = <transport>.stream: what one TCP stream or queue pair carries while it sends; 0: no limit. A queue pair sends
                             * a message of a collective when the one before is acknowledged, a round trip after its end */
  CsimBytes inline_bytes;   /* = <transport>.inline: above this a message needs one more step (socket's inline part); 0: no such step */
  CsimTime extra_step;      /* = <transport>.extra_step: that step's time */
  double copy_ps;           /* from <transport>.copy: ps a byte that the proxy thread itself takes, at each end, where the processor moves the
                             * data (sockets without helper threads); 0 where the adapter does */
  double efficiency;        /* payload of one full-MTU packet / wire bytes */
  double fan_in;            /* = <transport>.fan_in: what an adapter takes in from several nodes at once, while it sends to several; share */
  double derate;            /* = <transport>.share: what NCCL reaches of line rate x efficiency */
} CsimNetModel;

/* transport: one of the names above; mtu: bytes, 0 for the transport's usual one. */
void csim_net_model_init(const CsimCatalogue *catalogue, const char *transport, int mtu, CsimNetModel *out);

/* Does NCCL's own InfiniBand transport (queue pairs, NCCL_IB_* variables) serve it? */
gboolean csim_net_has_queue_pairs(const CsimNetModel *net);

/* Payload bytes/s of an adapter whose line rate is line_rate: line_rate * efficiency * derate. */
CsimRate csim_net_payload_rate(const CsimNetModel *net, CsimRate line_rate);

/* Shared memory between two GPUs of a host: the receiver's loads cross PCIe and come back. An LL or LL128 iteration, which polls the data
 * themselves, takes one such round; a Simple operation waits for its first load. */
typedef struct {
  CsimTime load;        /* = shm.load: what a load from host memory takes longer than one from the GPU's own */
  double ll_read;       /* = shm.ll_read: LL's reads of 16 bytes a thread load the way down so many times as much as Simple's */
} CsimShmModel;
void csim_shm_model_init(const CsimCatalogue *catalogue, CsimShmModel *out);

#endif
