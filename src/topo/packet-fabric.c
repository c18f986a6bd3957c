#include "topo/fabric-private.h"
#include "topo/packet-fabric-private.h"

/* --- settings ---------------------------------------------------------------- */

static CsimRate widest_nic(const CsimMachine *m) {
  CsimRate line = 0;
  for (guint n = 0; n < csim_machine_cluster(m)->n_nodes; n++)
    for (guint i = 0; i < csim_machine_n_nics(m, n); i++) line = MAX(line, csim_machine_nic_line(m, (CsimNicRef){n, i}));
  return line;
}

static CsimPktKind kind_of(CsimTransport transport) {
  switch (transport) {
  case CSIM_TRANSPORT_IB: return CSIM_PKT_IB;
  case CSIM_TRANSPORT_ROCE: return CSIM_PKT_ROCE;
  case CSIM_TRANSPORT_SOCKET: return CSIM_PKT_TCP;
  case CSIM_TRANSPORT_SLINGSHOT: return CSIM_PKT_SLINGSHOT;
  case CSIM_TRANSPORT_EFA: return CSIM_PKT_SRD;
  }
  g_assert_not_reached();
}

static CsimPacketMachine describe(const CsimMachine *m) {
  const CsimFabricSpec *spec = &csim_machine_cluster(m)->fabric;
  const CsimFabric *f = csim_machine_fabric(m);
  guint planes = f->graph != NULL ? 1 : f->planes;
  CsimPacketMachine d = {.nic = widest_nic(m) / planes, .latency = f->switch_latency, .mtu = spec->mtu};
  d.kind = kind_of(spec->transport);
  d.tiers = (guint)f->tiers;
  d.endpoint = csim_machine_net(m)->endpoint;
  d.link = spec->link_rate > 0 ? spec->link_rate : d.nic;
  d.ports = spec->radix > 0 ? (guint)spec->radix : (guint)csim_catalogue_number(csim_machine_catalogue(m), "switch.radix");
  d.delay[CSIM_TIER_LEAF] = f->tiers > 1 ? MAX(f->cable_leaf, f->cable_spine) : f->cable_leaf;
  d.delay[CSIM_TIER_SPINE] = f->tiers > 2 ? MAX(f->cable_spine, f->cable_core) : f->cable_spine;
  d.delay[CSIM_TIER_CORE] = f->cable_core;
  for (guint i = 0; f->graph != NULL && i < csim_mesh_n_cables(f->graph); i++)
    d.delay[CSIM_TIER_LEAF] = MAX(d.delay[CSIM_TIER_LEAF], csim_mesh_cable_latency(f->graph, i));
  return d;
}

static gboolean plan_of(const CsimMachine *m, const CsimPacketMachine *d, const CsimPacketOptions *options, CsimPacketPlan *plan, GError **error) {
  if (csim_machine_fabric(m)->endpoint_rate <= 0) {
    csim_error_set(error, CSIM_ERROR_ROUTE, CSIM_LOC_NONE, "no node has a NIC, so nothing would be a packet; allowed: nodes with NICs, or --fidelity flow");
    return FALSE;
  }
  return csim_packet_plan(&csim_machine_cluster(m)->fabric.packet, d, options, csim_machine_catalogue(m), plan, error);
}

gboolean csim_packet_fabric_check(const CsimMachine *m, const CsimPacketOptions *options, CsimDiag *diag, GError **error) {
  CsimPacketMachine d = describe(m);
  CsimPacketPlan plan;
  if (!plan_of(m, &d, options, &plan, error)) return FALSE;
  const CsimFabric *f = csim_machine_fabric(m);
  csim_packet_settings_check(&csim_machine_cluster(m)->fabric.packet, &d, &plan, MAX((guint)f->tiers, 1), options, csim_machine_catalogue(m), diag);
  return TRUE;
}

gboolean csim_packet_settings_given(const CsimMachine *m) { return csim_machine_cluster(m)->fabric.packet.given; }

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

static void count_switches(CsimPacketFabric *p) {
  const CsimFabric *f = p->fabric;
  p->planes = f->graph != NULL ? 1 : f->planes;
  p->pods = f->tiers > 2 ? f->pods : 1;
  p->n_leaves = f->graph != NULL                     ? csim_mesh_n_switches(f->graph)
                : f->tiers > 1                       ? f->leaves
                : f->kind == CSIM_FABRIC_RAIL_ONLY ? f->rails
                                                     : 1;
  guint spines = f->graph == NULL && f->tiers > 1 ? p->pods * f->spines : 0, cores = f->graph == NULL && f->tiers > 2 ? f->spines * f->core_up : 0;
  p->plane_switches = p->n_leaves + spines + cores;
}

/* In 64 bits: they may be too many. */
static gboolean check_size(const CsimPacketFabric *p, GError **error) {
  const CsimFabric *f = p->fabric;
  uint64_t cables = (uint64_t)p->planes * p->n_hosts;
  if (f->graph != NULL) cables += csim_mesh_n_cables(f->graph);
  if (f->graph == NULL && f->tiers > 1) cables += (uint64_t)p->planes * f->leaves * f->up;
  if (f->graph == NULL && f->tiers > 2) cables += (uint64_t)p->planes * f->pods * f->spines * f->core_up;
  if (2 * cables <= CSIM_PACKET_MAX_PORTS) return TRUE;
  csim_error_set(error, CSIM_ERROR_LIMIT, CSIM_LOC_NONE,
                 "a network of %" G_GUINT64_FORMAT " ports; allowed at the packet level: %d (--fidelity flow has no such limit)", 2 * cables,
                 CSIM_PACKET_MAX_PORTS);
  return FALSE;
}

static void add_hosts(CsimPacketFabric *p) {
  const CsimCluster *cluster = csim_machine_cluster(p->machine);
  for (guint plane = 0; plane < p->planes; plane++)
    for (guint n = 0; n < cluster->n_nodes; n++)
      for (guint i = 0; i < csim_machine_n_nics(p->machine, n); i++) {
        g_autofree char *name = g_strdup_printf("%s/nic%u", csim_cluster_node_name(cluster, n), i);
        g_autofree char *port = p->planes > 1 ? g_strdup_printf("%s.%u", name, plane) : NULL;
        csim_pkt_add_host(p->net, port ? port : name);
      }
}

static void add_switch(CsimPacketFabric *p, guint plane, const CsimPktSwitch *tiers, CsimPacketTier tier, const char *format, ...) G_GNUC_PRINTF(5, 6);
static void add_switch(CsimPacketFabric *p, guint plane, const CsimPktSwitch *tiers, CsimPacketTier tier, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *name = g_strdup_vprintf(format, arguments);
  g_autofree char *full = g_strdup_printf("plane%u/%s", plane, name);
  va_end(arguments);
  csim_pkt_add_switch(p->net, p->planes > 1 ? full : name, &tiers[tier]);
}

static void add_tree(CsimPacketFabric *p, guint plane, const CsimPktSwitch *tier) {
  const CsimFabric *f = p->fabric;
  for (guint l = 0; l < p->n_leaves; l++)
    if (f->tiers > 1 || p->n_leaves > 1) add_switch(p, plane, tier, CSIM_TIER_LEAF, "leaf%u", l);
    else add_switch(p, plane, tier, CSIM_TIER_LEAF, "switch");
  for (guint s = 0; f->tiers > 1 && s < p->pods * f->spines; s++)
    if (f->tiers > 2) add_switch(p, plane, tier, CSIM_TIER_SPINE, "spine%u.%u", s / f->spines, s % f->spines);
    else add_switch(p, plane, tier, CSIM_TIER_SPINE, "spine%u", s);
  for (guint c = 0; f->tiers > 2 && c < f->spines * f->core_up; c++)
    add_switch(p, plane, tier, CSIM_TIER_CORE, "core%u.%u", c / f->core_up, c % f->core_up);
}

static void add_switches(CsimPacketFabric *p, const CsimPktSwitch *tier) {
  const CsimMesh *graph = p->fabric->graph;
  for (guint s = 0; graph != NULL && s < p->n_leaves; s++) csim_pkt_add_switch(p->net, csim_mesh_switch_name(graph, s), &tier[CSIM_TIER_LEAF]);
  for (guint plane = 0; graph == NULL && plane < p->planes; plane++) add_tree(p, plane, tier);
}

/* --- cables ------------------------------------------------------------------ */

static double loss_of(const CsimPacketFabric *p) { return csim_machine_cluster(p->machine)->fabric.packet.loss; }

static gboolean is_lost(const CsimPacketFabric *p, guint plane, guint leaf) {
  return p->fabric->graph == NULL && p->fabric->tiers > 1 && fabric_leaf_dead(p->fabric, plane, leaf);
}

static void connect_nics(CsimPacketFabric *p) {
  double share = csim_machine_net(p->machine)->derate / p->planes;
  guint host = 0;
  p->host_port = g_new(uint32_t, p->planes * p->n_hosts + 1);
  for (guint plane = 0; plane < p->planes; plane++)
    for (guint n = 0; n < csim_machine_cluster(p->machine)->n_nodes; n++)
      for (guint i = 0; i < csim_machine_n_nics(p->machine, n); i++, host++) {
        CsimNicRef nic = {n, i};
        CsimPktCable cable = {(CsimRate)((double)csim_machine_nic_line(p->machine, nic) * share), p->fabric->cable_leaf, loss_of(p)};
        guint leaf = csim_fabric_leaf(p->fabric, csim_machine_nic_endpoint(p->machine, nic));
        gboolean none = leaf == UINT_MAX || is_lost(p, plane, leaf);
        p->host_port[host] = none ? NO_PORT : csim_pkt_connect(p->net, host, packet_leaf(p, plane, leaf), &cable);
      }
}

/* What faults have left of it; one that is down is not laid. */
static void lay(CsimPacketFabric *p, guint number, guint a, guint b, CsimRate rate, CsimTime delay) {
  double health = fabric_health(p->fabric, number);
  CsimPktCable cable = {(CsimRate)((double)rate * health), delay, loss_of(p)};
  p->cable_rate[number] = cable.rate;
  p->cable_port[number] = health > 0 ? csim_pkt_connect(p->net, a, b, &cable) : NO_PORT;
}

static void connect_tree(CsimPacketFabric *p, guint plane, CsimRate rate) {
  const CsimFabric *f = p->fabric;
  for (guint l = 0; f->tiers > 1 && l < f->leaves; l++)
    for (guint c = 0; c < f->up; c++)
      lay(p, fabric_leaf_cable(f, plane, l, c), packet_leaf(p, plane, l), packet_spine(p, plane, l / f->leaves_per_pod, c % f->spines), rate, f->cable_spine);
  for (guint s = 0; f->tiers > 2 && s < p->pods * f->spines; s++)
    for (guint c = 0; c < f->core_up; c++)
      lay(p, fabric_core_cable(f, plane, s / f->spines, s % f->spines, c), packet_spine(p, plane, s / f->spines, s % f->spines),
          packet_core(p, plane, s % f->spines, c), rate, f->cable_core);
}

/* A graph's rates are payload. */
static void connect_graph(CsimPacketFabric *p) {
  const CsimNetModel *net = csim_machine_net(p->machine);
  for (guint i = 0; i < csim_mesh_n_cables(p->fabric->graph); i++) {
    guint a, b;
    CsimRate payload;
    csim_mesh_cable(p->fabric->graph, i, &a, &b, &payload);
    CsimRate line = (CsimRate)((double)payload / (net->efficiency * net->derate) + 0.5);
    lay(p, i, packet_leaf(p, 0, a), packet_leaf(p, 0, b), line, csim_mesh_cable_latency(p->fabric->graph, i));
  }
}

static void connect_switches(CsimPacketFabric *p, CsimRate rate) {
  p->cable_rate = g_new0(CsimRate, csim_fabric_n_cables(p->fabric) + 1);
  p->cable_port = g_new(uint32_t, csim_fabric_n_cables(p->fabric) + 1);
  if (p->fabric->graph != NULL) connect_graph(p);
  for (guint plane = 0; p->fabric->graph == NULL && plane < p->planes; plane++) connect_tree(p, plane, rate);
}

/* Strands on several planes are parts of one queue pair. */
static void limit_queue_pairs(const CsimPacketFabric *p, CsimPktSpec *spec) {
  gboolean one = p->fabric->routing != CSIM_ROUTING_ADAPTIVE || spec->kind == CSIM_PKT_TCP;
  guint strands = one ? 1 : p->planes;
  spec->qp_rate = csim_machine_net(p->machine)->stream_rate / strands;
}

CsimPacketFabric *csim_packet_fabric_new(const CsimMachine *machine, CsimEngine *engine, const CsimPacketOptions *options, GError **error) {
  g_autoptr(CsimPacketFabric) p = g_new0(CsimPacketFabric, 1);
  CsimPacketMachine d = describe(machine);
  CsimPacketPlan plan;
  p->machine = machine;
  p->fabric = csim_machine_fabric(machine);
  count_switches(p);
  count_hosts(p);
  if (!plan_of(machine, &d, options, &plan, error) || !check_size(p, error)) return NULL;
  if (!options->unpaced) limit_queue_pairs(p, &plan.spec);
  plan.spec.stop_on_failure = TRUE; /* no collective ends without it */
  p->net = csim_pkt_net_new(engine, &plan.spec);
  add_hosts(p);
  add_switches(p, plan.tier);
  connect_nics(p);
  connect_switches(p, d.link);
  return g_steal_pointer(&p);
}

void csim_packet_fabric_free(CsimPacketFabric *p) {
  if (!p) return;
  csim_pkt_net_free(p->net);
  g_free(p->first_host);
  g_free(p->host_port);
  g_free(p->cable_port);
  g_free(p->cable_rate);
  g_free(p);
}

CsimPktNet *csim_packet_fabric_net(const CsimPacketFabric *p) { return p->net; }

GArray *csim_packet_fabric_stuck(const CsimPacketFabric *p) {
  const CsimCluster *cluster = csim_machine_cluster(p->machine);
  GArray *stuck = g_array_new(FALSE, FALSE, sizeof(CsimPacketStuck));
  for (guint n = 0; n < cluster->n_nodes; n++)
    for (guint i = 0; i < csim_machine_n_nics(p->machine, n); i++)
      for (guint plane = 0; plane < p->planes; plane++) {
        const CsimTopoNode *net = csim_system_node(csim_cluster_hardware(cluster, n), CSIM_NODE_NET, i);
        CsimPacketStuck s = {packet_host(p, (CsimNicRef){n, i}, plane), net->net.stuck_from,
                             net->net.stuck_for > 0 ? net->net.stuck_from + net->net.stuck_for : CSIM_TIME_NEVER};
        if (net->net.stuck && p->host_port[s.host] != NO_PORT) g_array_append_val(stuck, s);
      }
  return stuck;
}

void csim_packet_fabric_flap(CsimPacketFabric *p, guint cable, CsimRate lost, gboolean down, CsimTime until) {
  CsimRate payload = p->fabric->cable, rate = p->cable_rate[cable];
  if (p->cable_port[cable] == NO_PORT) return;
  if (p->fabric->graph != NULL) csim_mesh_cable(p->fabric->graph, cable, NULL, NULL, &payload);
  if (down) rate = (CsimRate)((double)rate * (1 - (double)lost / (double)payload));
  for (guint end = 0; end < 2; end++)
    if (rate > 0) csim_pkt_set_rate(p->net, p->cable_port[cable] + end, rate);
    else csim_pkt_hold(p->net, p->cable_port[cable] + end, until);
}
