#include "models/pkt/wire.h"

#include "base/units.h"

#include <math.h>

/* Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4; or LRH 8, BTH 12, ICRC 4, VCRC 2; or Ethernet 14, IPv4 20, TCP 32, FCS 4. */
static int base_bytes(CsimPktKind kind) {
  if (kind == CSIM_PKT_TCP) return 14 + CSIM_PKT_TCP_HEADER + 4;
  return kind == CSIM_PKT_IB ? 8 + 12 + 4 + 2 : 14 + 20 + 8 + 12 + 4 + 4;
}
#define RETH 16
#define AETH 4
#define CNP_RESERVED 16

int csim_pkt_data_frame(CsimPktKind kind, int payload, gboolean first) {
  gboolean verbs = kind == CSIM_PKT_ROCE || kind == CSIM_PKT_IB;
  if (kind == CSIM_PKT_TCP) return base_bytes(kind) + payload;
  return base_bytes(kind) + ((payload + 3) & ~3) + (first && verbs ? RETH : 0);
}
int csim_pkt_ack_frame(CsimPktKind kind) {
  return base_bytes(kind) + (kind == CSIM_PKT_TCP ? 0 : AETH);
}
int csim_pkt_cnp_frame(CsimPktKind kind) {
  return base_bytes(kind) + CNP_RESERVED;
}

int64_t csim_pkt_message_packets(CsimBytes bytes, int mtu) {
  return bytes > 0 ? (bytes + mtu - 1) / mtu : 1;
}

CsimBytes csim_pkt_message_wire(CsimPktKind kind, CsimBytes bytes, int mtu) {
  int64_t n = csim_pkt_message_packets(bytes, mtu);
  int last = (int)(bytes - (n - 1) * mtu);
  CsimBytes full = csim_pkt_wire(kind, csim_pkt_data_frame(kind, mtu, FALSE));
  return (n - 1) * full + csim_pkt_wire(kind, csim_pkt_data_frame(kind, last, TRUE));
}

double csim_pkt_ceiling(CsimPktKind kind, int mtu) {
  return (double)mtu / csim_pkt_wire(kind, csim_pkt_data_frame(kind, mtu, FALSE));
}

int csim_pkt_roce_mtu(int ethernet_mtu) {
  int room = ethernet_mtu - 96; /* GRH 40, UDP 8, BTH 12, XRC 4, AtomicETH 28, ICRC 4 */
  for (int mtu = 4096; mtu >= 256; mtu /= 2)
    if (mtu <= room) return mtu;
  return 0;
}

CsimTime csim_pkt_quanta_time(CsimRate rate, int quanta) {
  return csim_rate_time(rate, (CsimBytes)quanta * CSIM_PKT_QUANTUM_BYTES);
}

CsimBytes csim_pkt_headroom(CsimRate rate, CsimTime delay_one_way, int response_quanta, int max_wire) {
  CsimBytes cable = (CsimBytes)ceil((double)rate * 1e-12 * 2.0 * (double)delay_one_way);
  return cable + (CsimBytes)response_quanta * CSIM_PKT_QUANTUM_BYTES + 2 * max_wire + CSIM_PKT_PAUSE_FRAME +
         CSIM_PKT_ETH_EXTRA;
}

int csim_pkt_response_quanta(CsimRate rate) {
  static const struct {
    int gbps, quanta;
  } limits[] = {{10, 67}, {25, 80}, {40, 118}, {50, 147}, {100, 394}, {200, 453}, {400, 905}, {800, 905}};
  for (guint i = 0; i < G_N_ELEMENTS(limits); i++)
    if (rate <= (CsimRate)limits[i].gbps * 125000000) return limits[i].quanta;
  return limits[G_N_ELEMENTS(limits) - 1].quanta;
}

CsimTime csim_pkt_ack_timeout(int exponent) {
  return exponent > 0 ? INT64_C(4096000) << MIN(exponent, 31) : CSIM_TIME_NEVER;
}

double csim_pkt_dynamic_share(double alpha, double shared, int n_ports) {
  return alpha * shared / (1 + alpha * n_ports);
}

static double capped_gbps(CsimRate rate, double bytes, CsimTime loop) {
  return MIN((double)rate * 8e-9, bytes * 8e3 / (double)loop);
}

double csim_pkt_credit_ceiling_gbps(CsimRate rate, CsimBytes buffer, CsimTime loop) {
  return capped_gbps(rate, (double)buffer, loop);
}

double csim_pkt_credit_packets_gbps(CsimRate rate, CsimBytes buffer, CsimTime loop, int frame) {
  int blocks = (frame + CSIM_PKT_IB_BLOCK - 1) / CSIM_PKT_IB_BLOCK;
  return capped_gbps(rate, (double)(buffer / CSIM_PKT_IB_BLOCK / blocks) * frame, loop);
}
