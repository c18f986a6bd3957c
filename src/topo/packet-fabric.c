#include "topo/packet-fabric.h"

#include "topo/machine-fabric.h"

/* Nodes of the packet network: hosts (adapters, node by node), leaves, spines pod by pod, cores spine by spine. Ports come in pairs, a cable's
 * lower end first: the adapters' cables, the leaves', the spines'. */
struct CsimPacketFabric {
  const CsimMachine *machine;
  const CsimFabric *fabric;
  CsimPktNet *net;
  guint *first_host; /* of each node, and their number at the end */
  guint n_hosts, n_leaves, pods;
  guint leaf_ports, core_ports; /* first port of the leaves' cables, of the spines' */
};

/* --- settings ---------------------------------------------------------------- */

static CsimRate widest_nic(const CsimMachine *m) {
  CsimRate line = 0;
  for (guint n = 0; n < csim_machine_cluster(m)->n_nodes; n++)
    for (guint i = 0; i < csim_machine_n_nics(m, n); i++) line = MAX(line, csim_machine_nic_line(m, (CsimNicRef){n, i}));
  return line;
}

static CsimPacketMachine describe(const CsimMachine *m) {
  const CsimFabricSpec *spec = &csim_machine_cluster(m)->fabric;
  const CsimFabric *f = csim_machine_fabric(m);
  CsimPacketMachine d = {.nic = widest_nic(m), .latency = f->switch_latency, .mtu = spec->mtu};
  d.kind = spec->transport == CSIM_TRANSPORT_IB ? CSIM_PKT_IB : CSIM_PKT_ROCE;
  d.link = spec->link_rate > 0 ? spec->link_rate : d.nic;
  d.ports = spec->radix > 0 ? (guint)spec->radix : (guint)csim_catalogue_number(csim_machine_catalogue(m), "switch.radix");
  d.delay[CSIM_TIER_LEAF] = f->tiers > 1 ? MAX(f->cable_leaf, f->cable_spine) : f->cable_leaf;
  d.delay[CSIM_TIER_SPINE] = f->tiers > 2 ? MAX(f->cable_spine, f->cable_core) : f->cable_spine;
  d.delay[CSIM_TIER_CORE] = f->cable_core;
  return d;
}

static gboolean has_packets(const CsimMachine *m) {
  CsimTransport transport = csim_machine_cluster(m)->fabric.transport;
  return transport == CSIM_TRANSPORT_IB || transport == CSIM_TRANSPORT_ROCE;
}

/* Of fabrics the packet level knows trees of one plane. Adaptive routing looks at all cables there, so none may be down. */
static gboolean known_shape(const CsimMachine *m, GError **error) {
  const CsimFabric *f = csim_machine_fabric(m);
  const char *what = f->graph != NULL ? "dragonflies, tori and lists of links" : f->planes > 1 ? "several planes" : NULL;
  for (guint i = 0; f->health != NULL && what == NULL && f->routing == CSIM_ROUTING_ADAPTIVE && i < csim_fabric_n_cables(f); i++)
    if (f->health[i] <= 0) what = "cables that are down under adaptive routing";
  if (what != NULL) csim_error_set(error, CSIM_ERROR_UNSUPPORTED, CSIM_LOC_NONE, "the packet level does not know %s; allowed: with --fidelity flow", what);
  return what == NULL;
}

static gboolean plan_of(const CsimMachine *m, const CsimPacketMachine *d, const CsimPacketOptions *options, CsimPacketPlan *plan, GError **error) {
  if (!known_shape(m, error)) return FALSE;
  if (has_packets(m)) return csim_packet_plan(&csim_machine_cluster(m)->fabric.packet, d, options, csim_machine_catalogue(m), plan, error);
  csim_error_set(error, CSIM_ERROR_UNSUPPORTED, CSIM_LOC_NONE,
                 "the packet level does not know %s; allowed: ib, roce (--fidelity flow simulates the others)",
                 csim_transport_name(csim_machine_cluster(m)->fabric.transport));
  return FALSE;
}

gboolean csim_packet_fabric_check(const CsimMachine *m, const CsimPacketOptions *options, CsimDiag *diag, GError **error) {
  CsimPacketMachine d = describe(m);
  CsimPacketPlan plan;
  if (!plan_of(m, &d, options, &plan, error)) return FALSE;
  const CsimFabric *f = csim_machine_fabric(m);
  csim_packet_settings_check(&csim_machine_cluster(m)->fabric.packet, &d, &plan, (guint)f->tiers, options, csim_machine_catalogue(m), diag);
  return TRUE;
}

gboolean csim_packet_settings_given(const CsimMachine *m) { return has_packets(m) && csim_machine_cluster(m)->fabric.packet.given; }

/* --- building ---------------------------------------------------------------- */

static void count_hosts(CsimPacketFabric *p) {
  guint nodes = csim_machine_cluster(p->machine)->n_nodes;
  p->first_host = g_new(guint, nodes + 1);
  for (guint n = 0; n < nodes; n++) {
    p->first_host[n] = p->n_hosts;
    p->n_hosts += csim_machine_n_nics(p->machine, n);
  }
  p->first_host[nodes] = p->n_hosts;
}

static guint n_leaves(const CsimFabric *f) {
  return f->tiers > 1 ? f->leaves : f->kind == CSIM_FABRIC_RAIL_ONLY ? f->rails : 1;
}

/* Cables in all, in 64 bits: they may be too many. */
static uint64_t n_cables(const CsimPacketFabric *p) {
  const CsimFabric *f = p->fabric;
  uint64_t cables = p->n_hosts;
  if (f->tiers > 1) cables += (uint64_t)f->leaves * f->up;
  if (f->tiers > 2) cables += (uint64_t)f->pods * f->spines * f->core_up;
  return cables;
}

static gboolean check_size(const CsimPacketFabric *p, GError **error) {
  uint64_t ports = 2 * n_cables(p);
  if (ports <= CSIM_PACKET_MAX_PORTS) return TRUE;
  csim_error_set(error, CSIM_ERROR_LIMIT, CSIM_LOC_NONE,
                 "a network of %" G_GUINT64_FORMAT " ports; allowed at the packet level: %d (--fidelity flow has no such limit)", ports,
                 CSIM_PACKET_MAX_PORTS);
  return FALSE;
}

static void add_nodes(CsimPacketFabric *p, const CsimPktSwitch *tier) {
  const CsimFabric *f = p->fabric;
  for (guint n = 0; n < csim_machine_cluster(p->machine)->n_nodes; n++)
    for (guint i = 0; i < csim_machine_n_nics(p->machine, n); i++) {
      g_autofree char *name = g_strdup_printf("%s/nic%u", csim_cluster_node_name(csim_machine_cluster(p->machine), n), i);
      csim_pkt_add_host(p->net, name);
    }
  for (guint l = 0; l < p->n_leaves; l++) {
    g_autofree char *name = f->tiers > 1 || p->n_leaves > 1 ? g_strdup_printf("leaf%u", l) : g_strdup("switch");
    csim_pkt_add_switch(p->net, name, &tier[CSIM_TIER_LEAF]);
  }
  for (guint s = 0; f->tiers > 1 && s < p->pods * f->spines; s++) {
    g_autofree char *name = f->tiers > 2 ? g_strdup_printf("spine%u.%u", s / f->spines, s % f->spines) : g_strdup_printf("spine%u", s);
    csim_pkt_add_switch(p->net, name, &tier[CSIM_TIER_SPINE]);
  }
  for (guint c = 0; f->tiers > 2 && c < f->spines * f->core_up; c++) {
    g_autofree char *name = g_strdup_printf("core%u.%u", c / f->core_up, c % f->core_up);
    csim_pkt_add_switch(p->net, name, &tier[CSIM_TIER_CORE]);
  }
}

static guint leaf_node(const CsimPacketFabric *p, guint leaf) { return p->n_hosts + leaf; }
static guint spine_node(const CsimPacketFabric *p, guint pod, guint spine) { return p->n_hosts + p->n_leaves + pod * p->fabric->spines + spine; }
static guint core_node(const CsimPacketFabric *p, guint spine, guint cable) {
  return p->n_hosts + p->n_leaves + p->pods * p->fabric->spines + spine * p->fabric->core_up + cable;
}

static void connect_nics(CsimPacketFabric *p) {
  double share = csim_machine_net(p->machine)->derate, loss = csim_machine_cluster(p->machine)->fabric.packet.loss;
  for (guint n = 0, host = 0; n < csim_machine_cluster(p->machine)->n_nodes; n++)
    for (guint i = 0; i < csim_machine_n_nics(p->machine, n); i++, host++) {
      CsimNicRef nic = {n, i};
      CsimPktCable cable = {(CsimRate)((double)csim_machine_nic_line(p->machine, nic) * share), p->fabric->cable_leaf, loss};
      guint leaf = csim_fabric_leaf(p->fabric, csim_machine_nic_endpoint(p->machine, nic));
      csim_pkt_connect(p->net, host, leaf_node(p, leaf), &cable);
    }
}

/* A cable with what faults have left of it; one that is down is on no way, and keeps its rate. */
static CsimPktCable cable_of(const CsimPacketFabric *p, guint cable, CsimRate rate, CsimTime delay) {
  double health = p->fabric->health != NULL ? p->fabric->health[cable] : 1;
  return (CsimPktCable){(CsimRate)((double)rate * (health > 0 ? health : 1)), delay, csim_machine_cluster(p->machine)->fabric.packet.loss};
}

static void connect_switches(CsimPacketFabric *p, CsimRate rate) {
  const CsimFabric *f = p->fabric;
  p->leaf_ports = csim_pkt_n_ports(p->net);
  for (guint l = 0; f->tiers > 1 && l < f->leaves; l++)
    for (guint c = 0; c < f->up; c++) {
      CsimPktCable cable = cable_of(p, l * f->up + c, rate, f->cable_spine);
      csim_pkt_connect(p->net, leaf_node(p, l), spine_node(p, l / f->leaves_per_pod, c % f->spines), &cable);
    }
  p->core_ports = csim_pkt_n_ports(p->net);
  for (guint s = 0; f->tiers > 2 && s < p->pods * f->spines; s++)
    for (guint c = 0; c < f->core_up; c++) {
      CsimPktCable cable = cable_of(p, f->leaves * f->up + s * f->core_up + c, rate, f->cable_core);
      csim_pkt_connect(p->net, spine_node(p, s / f->spines, s % f->spines), core_node(p, s % f->spines, c), &cable);
    }
}

CsimPacketFabric *csim_packet_fabric_new(const CsimMachine *machine, CsimEngine *engine, const CsimPacketOptions *options, GError **error) {
  g_autoptr(CsimPacketFabric) p = g_new0(CsimPacketFabric, 1);
  CsimPacketMachine d = describe(machine);
  CsimPacketPlan plan;
  p->machine = machine;
  p->fabric = csim_machine_fabric(machine);
  p->n_leaves = n_leaves(p->fabric);
  p->pods = p->fabric->tiers > 2 ? p->fabric->pods : 1;
  count_hosts(p);
  if (!plan_of(machine, &d, options, &plan, error) || !check_size(p, error)) return NULL;
  p->net = csim_pkt_net_new(engine, &plan.spec);
  add_nodes(p, plan.tier);
  connect_nics(p);
  connect_switches(p, d.link);
  return g_steal_pointer(&p);
}

void csim_packet_fabric_free(CsimPacketFabric *p) {
  if (!p) return;
  csim_pkt_net_free(p->net);
  g_free(p->first_host);
  g_free(p);
}

CsimPktNet *csim_packet_fabric_net(const CsimPacketFabric *p) { return p->net; }

/* --- queue pairs ------------------------------------------------------------- */

static guint host_of(const CsimPacketFabric *p, CsimNicRef nic) { return p->first_host[nic.node] + nic.local; }

static guint leaf_port(const CsimPacketFabric *p, guint leaf, guint cable) { return p->leaf_ports + 2 * (leaf * p->fabric->up + cable); }
static guint core_port(const CsimPacketFabric *p, guint leaf, guint up, guint cable) {
  const CsimFabric *f = p->fabric;
  return p->core_ports + 2 * ((leaf / f->leaves_per_pod * f->spines + up % f->spines) * f->core_up + cable);
}

/* The ports by which a packet leaves each node of its way. */
static guint ports_of(const CsimPacketFabric *p, guint from, guint to, const CsimFabricPath *path, guint *ports) {
  guint n = 0;
  ports[n++] = 2 * from;
  if (path->over_spine) ports[n++] = leaf_port(p, path->from_leaf, path->up);
  if (path->over_core) {
    ports[n++] = core_port(p, path->from_leaf, path->up, path->core);
    ports[n++] = core_port(p, path->to_leaf, path->up, path->core) + 1;
  }
  if (path->over_spine) ports[n++] = leaf_port(p, path->to_leaf, path->down) + 1;
  ports[n++] = 2 * to + 1;
  return n;
}

guint csim_packet_fabric_qp(CsimPacketFabric *p, CsimNicRef from, CsimNicRef to, uint32_t flow_hash, GError **error) {
  CsimEndpoint a = csim_machine_nic_endpoint(p->machine, from), b = csim_machine_nic_endpoint(p->machine, to);
  guint src = host_of(p, from), dst = host_of(p, to), there[CSIM_PKT_MAX_HOPS], back[CSIM_PKT_MAX_HOPS];
  CsimFabricPath path, way_back;
  if (!csim_fabric_path(p->fabric, a, b, flow_hash, NULL, &path, error) || !csim_fabric_path(p->fabric, b, a, flow_hash, NULL, &way_back, error))
    return G_MAXUINT32;
  gboolean adaptive = csim_machine_cluster(p->machine)->fabric.routing == CSIM_ROUTING_ADAPTIVE;
  CsimPktQpSpec spec = {.path = there, .back = back, .routing = adaptive ? CSIM_PKT_ADAPTIVE : CSIM_PKT_ONE_PATH};
  spec.n_path = ports_of(p, src, dst, &path, there);
  spec.n_back = ports_of(p, dst, src, &way_back, back);
  return csim_pkt_add_qp(p->net, src, dst, &spec, error);
}
