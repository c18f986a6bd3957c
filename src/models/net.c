#include "models/net.h"

#include "models/pkt/wire.h"

#include <string.h>

#define TIME(field) csim_catalogue_time(c, "%s.%s", transport, field)
#define BYTES(field) csim_catalogue_bytes(c, "%s.%s", transport, field)

/* Payload share of a full packet: the MTU less the headers inside it, over the MTU plus those around it. */
static double packet_efficiency(const CsimCatalogue *c, const char *transport, CsimBytes mtu) {
  CsimBytes payload = mtu - BYTES("inner_header");
  return (double)MAX(payload, 1) / (double)(mtu + BYTES("header"));
}

/* RoCE packets carry at most a power of two; an Ethernet MTU between two gives the lower one (Linux). */
static CsimBytes payload_mtu(const char *transport, CsimBytes mtu) {
  gboolean exact = mtu >= 256 && mtu <= 4096 && (mtu & (mtu - 1)) == 0;
  return strcmp(transport, "roce") != 0 || exact || csim_pkt_roce_mtu((int)mtu) == 0 ? mtu : csim_pkt_roce_mtu((int)mtu);
}

void csim_net_model_init(const CsimCatalogue *c, const char *transport, int mtu, CsimNetModel *net) {
  *net = (CsimNetModel){.transport = g_intern_string(transport)};
  net->g2p = csim_catalogue_time(c, "proxy.g2p");
  net->p2g = csim_catalogue_time(c, "proxy.p2g");
  net->t_post = csim_catalogue_time(c, "proxy.post");
  net->t_poll = csim_catalogue_time(c, "proxy.poll");
  net->flush = csim_catalogue_time(c, "proxy.flush");
  net->p2p_start = csim_catalogue_time(c, "proxy.p2p_start");
  net->p2p_buffer = csim_catalogue_time(c, "proxy.p2p_buffer");
  net->p2p_depth = (uint32_t)csim_catalogue_number(c, "proxy.p2p_depth");
  net->endpoint = TIME("endpoint");
  net->step = TIME("step");
  net->stream_rate = csim_catalogue_rate(c, "%s.stream", transport);
  net->inline_bytes = BYTES("inline");
  net->extra_step = TIME("extra_step");
  CsimRate copy = csim_catalogue_rate(c, "%s.copy", transport);
  net->copy_ps = copy > 0 ? 1e12 / (double)copy : 0;
  net->efficiency = packet_efficiency(c, transport, payload_mtu(transport, mtu > 0 ? mtu : BYTES("mtu")));
  net->fan_in = csim_catalogue_number(c, "%s.fan_in", transport);
  net->derate = csim_catalogue_number(c, "%s.share", transport);
}

gboolean csim_net_has_queue_pairs(const CsimNetModel *net) {
  return g_str_equal(net->transport, "ib") || g_str_equal(net->transport, "roce");
}

CsimRate csim_net_payload_rate(const CsimNetModel *net, CsimRate line_rate) {
  return (CsimRate)((double)line_rate * net->efficiency * net->derate);
}

void csim_shm_model_init(const CsimCatalogue *c, CsimShmModel *shm) {
  shm->load = csim_catalogue_time(c, "shm.load");
  shm->ll_read = csim_catalogue_number(c, "shm.ll_read");
}
