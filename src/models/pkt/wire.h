/*
 * models/pkt/wire.h - bytes of frames, packets of messages, pause quanta, headroom: the arithmetic of the
 * packet level.
 *
 * Used by: the packet network, settings checks, tests. Pure functions.
 *
 * A frame's bytes are what a switch buffer holds (with FCS or VCRC); its wire bytes are what occupies the
 * link: Ethernet adds 8 bytes of preamble and 12 of gap, InfiniBand nothing that is not already below the
 * quoted data rate. Sources: IEEE 802.3, 802.1Qbb; IBTA InfiniBand Architecture vol. 1 and its Annex A17
 * (RoCEv2 over IPv4, untagged).
 */
#ifndef CSIM_MODELS_PKT_WIRE_H
#define CSIM_MODELS_PKT_WIRE_H

#include "collsim/types.h"

typedef enum {
  CSIM_PKT_ROCE,
  CSIM_PKT_IB,
  CSIM_PKT_SLINGSHOT, /* Ethernet with credits on every link; headers taken as RoCE's */
  CSIM_PKT_SRD,       /* EFA's: frames over all ways, over lossy Ethernet; headers taken as RoCE's */
  CSIM_PKT_TCP        /* IPv4, with time stamps as Linux has them */
} CsimPktKind;
/* Is a buffer's room lent link by link, so that nothing is dropped for want of it? */
static inline int csim_pkt_has_credits(CsimPktKind kind) { return kind == CSIM_PKT_IB || kind == CSIM_PKT_SLINGSHOT; }

#define CSIM_PKT_PAUSE_FRAME 64   /* bytes of a PFC frame */
#define CSIM_PKT_ETH_EXTRA 20     /* preamble, start delimiter and gap: on the wire only */
#define CSIM_PKT_QUANTUM_BYTES 64 /* a pause quantum is 512 bit times */
#define CSIM_PKT_MAX_QUANTA 65535
#define CSIM_PKT_IB_BLOCK 64 /* credits are counted in blocks of this size */

/* Bytes of a WRITE packet with that payload; `first`: First or Only, which carry the 16 bytes of RETH (RoCE, InfiniBand).
 * Payload is padded to 4 (TCP: to the least frame). */
int csim_pkt_data_frame(CsimPktKind kind, int payload, gboolean first);
int csim_pkt_ack_frame(CsimPktKind kind); /* ACK or NAK */
int csim_pkt_cnp_frame(CsimPktKind kind);
static inline int csim_pkt_wire(CsimPktKind kind, int frame) {
  return frame + (kind == CSIM_PKT_IB ? 0 : CSIM_PKT_ETH_EXTRA);
}

/* Packets of a message of bytes >= 0 (an empty one takes a packet), and what they occupy on the wire. */
int64_t csim_pkt_message_packets(CsimBytes bytes, int mtu);
CsimBytes csim_pkt_message_wire(CsimPktKind kind, CsimBytes bytes, int mtu);
/* Payload's share of the link in a long stream of Middle packets. */
double csim_pkt_ceiling(CsimPktKind kind, int mtu);

/* Payload of a full segment: the IP MTU less IPv4 20 and TCP 32, time stamps among them. */
#define CSIM_PKT_TCP_HEADER 52

/* RoCE payload that fits an Ethernet MTU: the largest of 256..4096 after 96 bytes of headers (Linux,
 * iboe_get_mtu); 0: none. */
int csim_pkt_roce_mtu(int ethernet_mtu);

CsimTime csim_pkt_quanta_time(CsimRate rate, int quanta);
/*
 * What may still arrive after XOFF was decided, in bytes: cable both ways, the peer's response, a frame of
 * ours that is leaving when the PAUSE wants to, one of the peer's that has just started, and the PAUSE
 * itself. max_wire: the largest frame on the wire.
 */
CsimBytes csim_pkt_headroom(CsimRate rate, CsimTime delay_one_way, int response_quanta, int max_wire);
/* The response time that IEEE 802.3 31B.3.7 allows, in quanta; the next faster known rate's for a rate
 * between two. */
int csim_pkt_response_quanta(CsimRate rate);

/* Local ACK timeout of the verbs: 4.096 us x 2^exponent; exponent 0 (and below): never. */
CsimTime csim_pkt_ack_timeout(int exponent);
/* Bytes per congested port at XOFF with dynamic threshold alpha and n ports that all are at it. */
double csim_pkt_dynamic_share(double alpha, double shared, int n_ports);
/* Bits/s at most through a virtual lane with that much buffer when a credit is away for `loop`; never above
 * rate. */
double csim_pkt_credit_ceiling_gbps(CsimRate rate, CsimBytes buffer, CsimTime loop);
/* The same with whole packets in whole blocks: what a stream of equal packets really gets. */
double csim_pkt_credit_packets_gbps(CsimRate rate, CsimBytes buffer, CsimTime loop, int frame);

#endif
