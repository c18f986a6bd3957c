#include "models/pkt/pkt.h"

#define GBPS 125000000 /* bytes/s */
#define KB 1000
#define MIB (1024 * 1024)

CsimPktSpec csim_pkt_spec_roce(void) {
  return (CsimPktSpec){.kind = CSIM_PKT_ROCE,
                       .seed = 1,
                       .mtu = 4096,
                       .data_class = 3,
                       .ack_class = 3,
                       .cnp_class = 6,
                       .strict_mask = 1 << 6,
                       .ack_every = 16,
                       .ack_timeout = csim_pkt_ack_timeout(20),
                       .retry_count = 7,
                       .cnp_interval = 50 * CSIM_US,
                       .dcqcn = csim_dcqcn_paper(GBPS / 10),
                       .pfc_mask = 1 << 3,
                       .pause_quanta = CSIM_PKT_MAX_QUANTA};
}

CsimPktSpec csim_pkt_spec_ib(void) {
  CsimPktSpec spec = csim_pkt_spec_roce();
  spec.kind = CSIM_PKT_IB;
  spec.data_class = spec.ack_class = spec.cnp_class = 0;
  spec.strict_mask = spec.pfc_mask = 0;
  spec.vl_buffer = 2048 * CSIM_PKT_IB_BLOCK;
  spec.credit_turnaround = 200 * CSIM_NS;
  return spec;
}

CsimPktSwitch csim_pkt_switch_hpcc(CsimRate rate, CsimTime delay) {
  CsimBytes flight = (CsimBytes)((double)rate * (double)delay * 1e-12);
  return (CsimPktSwitch){.buffer = rate / GBPS * 16 * MIB / 50,
                         .reserve = 4 * 1024,
                         .headroom = 3 * flight,
                         .alpha = 1.0 / 8,
                         .xon_gap = 3 * KB,
                         .lossy_alpha = 1};
}

void csim_pkt_switch_ecn(CsimPktSwitch *sw, CsimRate rate, guint8 classes) {
  sw->ecn_min = rate / GBPS * 100 / 25 * KB;
  sw->ecn_max = rate / GBPS * 400 / 25 * KB;
  sw->ecn_pmax = 0.2;
  sw->ecn_mask = classes;
}
