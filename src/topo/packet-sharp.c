/* topo/packet-sharp.c - aggregation trees over a machine's packet network. */
#include "topo/packet-fabric-private.h"

guint csim_packet_fabric_tree(CsimPacketFabric *p, const CsimNicRef *nics, guint n, const CsimPktTreeSpec *spec, GError **error) {
  g_autofree guint *hosts = g_new(guint, n);
  guint plane = spec->number % p->planes;
  for (guint i = 0; i < n; i++) {
    hosts[i] = packet_host(p, nics[i], plane);
    if (p->host_port[hosts[i]] != NO_PORT) continue;
    csim_error_set(error, CSIM_ERROR_ROUTE, CSIM_LOC_NONE, "the switch of a member of an aggregation tree is lost; allowed: NCCL_COLLNET_ENABLE=0, or a placement "
                                                            "without its node");
    return G_MAXUINT32;
  }
  return csim_pkt_add_tree(p->net, hosts, n, spec, error);
}
