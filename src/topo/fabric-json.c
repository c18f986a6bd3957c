/* topo/fabric-json.c - the member "fabric" of a cluster file. */
#include "topo/cluster-build.h"

/* Limits of what is read; the fabric checks what they mean together. */
#define MAX_RADIX 1024
#define MAX_OVERSUBSCRIPTION 64
#define MAX_PLANES 16
#define MAX_PARTS 4096 /* groups, routers, NICs and cables of one thing */

static void read_int(CsimJson *object, const char *name, int min, int max, int *out) {
  int64_t n = 0;
  if (csim_json_int(object, name, CSIM_JSON_OPTIONAL, min, max, &n)) *out = (int)n;
}

/* A number, or one a tier: [of a leaf, of a spine]. */
static void read_oversubscription(CsimJson *fabric, CsimFabricSpec *spec) {
  CsimJson *value = csim_json_get(fabric, "oversubscription", CSIM_JSON_OPTIONAL);
  double *const out[] = {&spec->oversubscription, &spec->core_oversubscription};
  guint i = 0;
  if (value == NULL) return;
  if (csim_json_type(value) != CSIM_JSON_ARRAY) {
    csim_json_as_double(value, 1.0 / MAX_OVERSUBSCRIPTION, MAX_OVERSUBSCRIPTION, out[0]);
    return;
  }
  for (CsimJson *v = csim_json_first(value); v != NULL; v = csim_json_next(v), i++) {
    if (i < G_N_ELEMENTS(out)) csim_json_as_double(v, 1.0 / MAX_OVERSUBSCRIPTION, MAX_OVERSUBSCRIPTION, out[i]);
    else csim_json_error(v, CSIM_ERROR_SCHEMA, "an oversubscription for a third tier; allowed: [of a leaf, of a spine]");
  }
}

static void read_dims(CsimJson *fabric, CsimFabricSpec *spec) {
  CsimJson *list = csim_json_array(fabric, "dims", CSIM_JSON_OPTIONAL);
  if (list == NULL) return;
  for (CsimJson *v = csim_json_first(list); v != NULL; v = csim_json_next(v)) {
    int64_t n = 0;
    if (spec->n_dims == 3) {
      csim_json_error(v, CSIM_ERROR_SCHEMA, "a torus of more than 3 dimensions; allowed: 2 or 3");
      return;
    }
    if (csim_json_as_int(v, 1, MAX_PARTS, &n)) spec->dims[spec->n_dims++] = (int)n;
  }
  if (spec->n_dims < 2) csim_json_error(list, CSIM_ERROR_SCHEMA, "a torus of %d dimensions; allowed: 2 or 3", spec->n_dims);
}

static const char *interned(CsimJson *object, const char *name) {
  const char *text = NULL;
  return csim_json_text(object, name, CSIM_JSON_REQUIRED, &text) ? g_intern_string(text) : NULL;
}

static void read_cables(CsimJson *list, CsimFabricSpec *spec) {
  spec->links = g_array_new(FALSE, TRUE, sizeof(CsimCableSpec));
  for (CsimJson *v = csim_json_first(list); v != NULL; v = csim_json_next(v)) {
    if (!csim_json_is(v, CSIM_JSON_OBJECT)) continue;
    CsimCableSpec c = {.cables = 1, .loc = csim_json_loc(v)};
    c.from = interned(v, "from");
    c.to = interned(v, "to");
    read_int(v, "cables", 1, MAX_PARTS, &c.cables);
    csim_json_rate(v, "rate", CSIM_JSON_OPTIONAL, &c.rate);
    csim_json_time(v, "cable", CSIM_JSON_OPTIONAL, &c.cable);
    if (c.from != NULL && c.from == c.to) csim_json_error(v, CSIM_ERROR_VALUE, "a cable from '%.60s' to itself; allowed: between two switches", c.from);
    g_array_append_val(spec->links, c);
  }
}

static void read_attach(CsimJson *list, CsimFabricSpec *spec) {
  spec->attach = g_array_new(FALSE, TRUE, sizeof(CsimAttachSpec));
  for (CsimJson *v = csim_json_first(list); v != NULL; v = csim_json_next(v)) {
    if (!csim_json_is(v, CSIM_JSON_OBJECT)) continue;
    CsimAttachSpec a = {.first_nic = -1, .last_nic = -1, .loc = csim_json_loc(v)};
    int64_t nic = 0;
    a.at = interned(v, "switch");
    a.hosts = interned(v, "hosts");
    if (csim_json_int(v, "nic", CSIM_JSON_OPTIONAL, 0, MAX_PARTS, &nic)) a.first_nic = a.last_nic = (int)nic;
    g_array_append_val(spec->attach, a);
  }
}

static void read_shape(CsimJson *fabric, CsimFabricSpec *spec) {
  read_int(fabric, "tiers", 1, 3, &spec->tiers);
  read_int(fabric, "radix", 2, MAX_RADIX, &spec->radix);
  read_int(fabric, "planes", 1, MAX_PLANES, &spec->planes);
  read_int(fabric, "groups", 1, MAX_PARTS, &spec->groups);
  read_int(fabric, "routers", 1, MAX_PARTS, &spec->routers);
  read_int(fabric, "hosts", 1, MAX_PARTS, &spec->hosts);
  read_int(fabric, "global", 1, MAX_PARTS, &spec->global);
  read_int(fabric, "cables", 1, MAX_PARTS, &spec->cables);
  read_oversubscription(fabric, spec);
  read_dims(fabric, spec);
  CsimJson *links = csim_json_array(fabric, "links", CSIM_JSON_OPTIONAL), *attach = csim_json_array(fabric, "attach", CSIM_JSON_OPTIONAL);
  if (links != NULL) read_cables(links, spec);
  if (attach != NULL) read_attach(attach, spec);
}

/* A member that the kind does not know would do nothing without a word. */
static void check_members(CsimJson *fabric, const CsimFabricSpec *spec) {
  enum { TREES = 1 << CSIM_FABRIC_FAT_TREE | 1 << CSIM_FABRIC_RAIL | 1 << CSIM_FABRIC_RAIL_ONLY, FLY = 1 << CSIM_FABRIC_DRAGONFLY | 1 << CSIM_FABRIC_DRAGONFLY_PLUS,
         TORUS = 1 << CSIM_FABRIC_TORUS, LIST = 1 << CSIM_FABRIC_LINKS, ONE = 1 << CSIM_FABRIC_SWITCH };
  static const struct { const char *member; int kinds; const char *where; } of[] = {
      {"tiers", TREES | ONE, "trees"}, {"oversubscription", TREES | ONE, "trees"}, {"planes", TREES | ONE, "trees and one switch"},
      {"radix", TREES | ONE | FLY, "trees and dragonflies"}, {"groups", FLY, "dragonflies"}, {"routers", 1 << CSIM_FABRIC_DRAGONFLY, "dragonfly"},
      {"global", 1 << CSIM_FABRIC_DRAGONFLY, "dragonfly"}, {"hosts", 1 << CSIM_FABRIC_DRAGONFLY | TORUS, "dragonfly and torus"},
      {"dims", TORUS, "torus"}, {"cables", TORUS, "torus"}, {"links", LIST, "links"}, {"attach", LIST, "links"}};
  for (gsize i = 0; i < G_N_ELEMENTS(of); i++) {
    CsimJson *value = csim_json_get(fabric, of[i].member, CSIM_JSON_OPTIONAL);
    if (value != NULL && (of[i].kinds >> spec->kind & 1) == 0)
      csim_json_error(value, CSIM_ERROR_SCHEMA, "\"%s\" has no meaning for this kind of fabric; allowed: with %s", of[i].member, of[i].where);
  }
  if (spec->kind == CSIM_FABRIC_LINKS && (spec->links == NULL || spec->attach == NULL))
    csim_json_error(fabric, CSIM_ERROR_SCHEMA, "a list of links needs both of its parts; allowed: with \"links\" and \"attach\"");
}

/* In the order of the enumerations. */
const char *const csim_fabric_kind_names[] = {"switch", "fat-tree", "rail", "rail-only", "dragonfly", "dragonfly+", "torus", "links", NULL};
const char *const csim_transport_names[] = {"ib", "roce", "socket", "slingshot", "efa", NULL};
const char *const csim_routing_names[] = {"static", "ecmp", "adaptive", NULL};

void csim_fabric_spec_read(CsimJson *fabric, CsimFabricSpec *spec) {
  int kind = (int)spec->kind, transport = (int)spec->transport, routing = (int)spec->routing;
  int64_t mtu = 0;
  gboolean routed = csim_json_choice(fabric, "routing", CSIM_JSON_OPTIONAL, csim_routing_names, &routing);
  csim_json_choice(fabric, "kind", CSIM_JSON_OPTIONAL, csim_fabric_kind_names, &kind);
  csim_json_choice(fabric, "transport", CSIM_JSON_OPTIONAL, csim_transport_names, &transport);
  csim_json_int(fabric, "mtu", CSIM_JSON_OPTIONAL, 256, 65536, &mtu);
  csim_json_rate(fabric, "link_rate", CSIM_JSON_OPTIONAL, &spec->link_rate);
  csim_json_time(fabric, "cable_leaf", CSIM_JSON_OPTIONAL, &spec->cable_leaf);
  csim_json_time(fabric, "cable_spine", CSIM_JSON_OPTIONAL, &spec->cable_spine);
  csim_json_bool(fabric, "sharp", CSIM_JSON_OPTIONAL, &spec->sharp);
  csim_packet_settings_read(fabric, &spec->packet);
  /* Ethernet spreads by hashing unless told otherwise. */
  if (!routed) routing = transport != CSIM_TRANSPORT_IB ? CSIM_ROUTING_ECMP : CSIM_ROUTING_ADAPTIVE;
  spec->kind = (CsimFabricKind)kind;
  spec->transport = (CsimTransport)transport;
  spec->routing = (CsimRouting)routing;
  spec->mtu = (int)mtu;
  read_shape(fabric, spec);
  check_members(fabric, spec);
}
