/* exp/validate-targets.c - reads a targets file: rules from what is known of a measured set to what is simulated. */
#include "exp/validate-private.h"

#include "models/embedded.h"
#include <string.h>

#define MAX_NUMBER 10000000 /* of nodes and GPUs in a rule */

extern const CsimEmbedded csim_embedded_targets[]; /* experiments/validation/targets.json */

static void free_list(GPtrArray *list) {
  if (list) g_ptr_array_unref(list);
}

static void free_rule(gpointer data) {
  TargetRule *rule = (TargetRule *)data;
  for (int f = 0; f < CSIM_N_FACTS; f++) free_list(rule->match.patterns[f]);
  free_list(rule->variables);
  free_list(rule->constants);
  g_free(rule);
}

/* --- members of a rule ---------------------------------------------------------- */

/* A text, or an array of texts. NULL when absent. The texts are the document's. */
static GPtrArray *read_texts(CsimJson *object, const char *name) {
  CsimJson *value = csim_json_get(object, name, CSIM_JSON_OPTIONAL);
  const char *text = NULL;
  if (!value) return NULL;
  GPtrArray *texts = g_ptr_array_new();
  if (csim_json_type(value) != CSIM_JSON_ARRAY) {
    if (csim_json_as_text(value, &text)) g_ptr_array_add(texts, (void *)text);
    return texts;
  }
  for (CsimJson *item = csim_json_first(value); item; item = csim_json_next(item))
    if (csim_json_as_text(item, &text)) g_ptr_array_add(texts, (void *)text);
  return texts;
}

/* 8, or [2, 16]. */
static void read_range(CsimJson *object, const char *name, TargetRange *range) {
  CsimJson *value = csim_json_get(object, name, CSIM_JSON_OPTIONAL);
  if (!value) return;
  if (csim_json_type(value) != CSIM_JSON_ARRAY) {
    if (csim_json_as_int(value, 1, MAX_NUMBER, &range->min)) range->max = range->min;
    return;
  }
  if (csim_json_n(value) != 2) {
    csim_json_error(value, CSIM_ERROR_SCHEMA, "%u values; allowed: a number, or [smallest, largest]",
                    csim_json_n(value));
    return;
  }
  CsimJson *first = csim_json_first(value);
  if (csim_json_as_int(first, 1, MAX_NUMBER, &range->min))
    csim_json_as_int(csim_json_next(first), range->min, MAX_NUMBER, &range->max);
}

static void read_match(CsimJson *rule, TargetMatch *match) {
  CsimJson *object = csim_json_object(rule, "match", CSIM_JSON_REQUIRED);
  if (!object) return;
  for (int f = 0; f < CSIM_N_FACTS; f++) match->patterns[f] = read_texts(object, csim_fact_names[f]);
  read_range(object, "nodes", &match->nodes);
  read_range(object, "gpus", &match->gpus);
  read_range(object, "gpus_per_node", &match->gpus_per_node);
}

/* The settings of TCP that decide at packet fidelity; the cluster reader checks their values. */
static void read_tcp(CsimJson *fabric, TargetRule *out) {
  CsimJson *tcp = csim_json_object(fabric, "tcp", CSIM_JSON_OPTIONAL);
  if (!tcp) return;
  csim_json_text(tcp, "congestion_control", CSIM_JSON_OPTIONAL, &out->tcp_control);
  csim_json_text(tcp, "queue", CSIM_JSON_OPTIONAL, &out->tcp_queue);
}

/* The names of cluster.h's fabrics; the cluster reader checks what they mean together. */
static void read_fabric(CsimJson *rule, TargetRule *out) {
  CsimJson *fabric = csim_json_object(rule, "fabric", CSIM_JSON_OPTIONAL);
  int choice;
  CsimRate rate;
  if (!fabric) return;
  if (csim_json_choice(fabric, "kind", CSIM_JSON_OPTIONAL, csim_fabric_kind_names, &choice)) out->kind = csim_fabric_kind_names[choice];
  if (csim_json_choice(fabric, "transport", CSIM_JSON_OPTIONAL, csim_transport_names, &choice))
    out->transport = csim_transport_names[choice];
  if (csim_json_choice(fabric, "routing", CSIM_JSON_OPTIONAL, csim_routing_names, &choice))
    out->routing = csim_routing_names[choice];
  if (csim_json_rate(fabric, "link_rate", CSIM_JSON_OPTIONAL, &rate))
    out->link_rate = csim_json_text_of(csim_json_get(fabric, "link_rate", CSIM_JSON_REQUIRED));
  csim_json_double(fabric, "oversubscription", CSIM_JSON_OPTIONAL, 0.015625, 64, &out->oversubscription);
  csim_json_bool(fabric, "sharp", CSIM_JSON_OPTIONAL, &out->sharp);
  read_tcp(fabric, out);
}

static void read_machine(CsimJson *rule, TargetRule *out) {
  csim_json_text(rule, "node", CSIM_JSON_REQUIRED, &out->node);
  csim_json_int(rule, "domain", CSIM_JSON_OPTIONAL, 2, MAX_NUMBER, &out->domain);
  csim_json_int(rule, "gpus_per_node", CSIM_JSON_OPTIONAL, 1, MAX_NUMBER, &out->gpus_per_node);
  csim_json_text(rule, "thin", CSIM_JSON_OPTIONAL, &out->thin);
  read_fabric(rule, out);
}

static void read_settings(CsimJson *rule, TargetRule *out) {
  static const char *const fidelities[] = {"flow", "packet", NULL};
  static const CsimFidelity of_name[] = {CSIM_FIDELITY_FLOW, CSIM_FIDELITY_PACKET};
  const char *launches[CSIM_N_LAUNCHES + 1] = {NULL};
  int launch, fidelity;
  for (int i = 0; i < CSIM_N_LAUNCHES; i++) launches[i] = csim_launch_name((CsimLaunch)i);
  out->variables = read_texts(rule, "variables");
  out->constants = read_texts(rule, "constants");
  out->has_launch = csim_json_choice(rule, "launch", CSIM_JSON_OPTIONAL, launches, &launch);
  if (out->has_launch) out->launch = (CsimLaunch)launch;
  out->has_fidelity = csim_json_choice(rule, "fidelity", CSIM_JSON_OPTIONAL, fidelities, &fidelity);
  if (out->has_fidelity) out->fidelity = of_name[fidelity];
  csim_json_int(rule, "iters", CSIM_JSON_OPTIONAL, 1, 100000, &out->iters);
  csim_json_bool(rule, "virtual_machine", CSIM_JSON_OPTIONAL, &out->virtual_machine);
  read_fabric(rule, out);
}

/* --- the file ------------------------------------------------------------------- */

static void read_rule(CsimTargets *targets, TargetList list, CsimJson *object) {
  static const char *const texts[N_TARGET_LISTS] = {
      [TARGETS_SKIP] = "reason", [TARGETS_DERIVE] = "from", [TARGETS_WHY] = "text"};
  if (!csim_json_is(object, CSIM_JSON_OBJECT)) return;
  TargetRule *rule = g_new0(TargetRule, 1);
  g_ptr_array_add(targets->lists[list], rule);
  read_match(object, &rule->match);
  if (texts[list]) csim_json_text(object, texts[list], CSIM_JSON_REQUIRED, &rule->text);
  if (list == TARGETS_MACHINES) read_machine(object, rule);
  if (list == TARGETS_SETTINGS) read_settings(object, rule);
}

static void read_lists(CsimTargets *targets, CsimJson *root) {
  static const char *const names[N_TARGET_LISTS] = {"skip", "machines", "settings", "derive", "why"};
  static const char *const formats[] = {"collsim-targets-1", NULL};
  int format;
  csim_json_choice(root, "format", CSIM_JSON_REQUIRED, formats, &format);
  csim_json_ignore(csim_json_get(root, "about", CSIM_JSON_OPTIONAL));
  for (int i = 0; i < N_TARGET_LISTS; i++) {
    CsimJson *list =
        csim_json_array(root, names[i], i == TARGETS_MACHINES ? CSIM_JSON_REQUIRED : CSIM_JSON_OPTIONAL);
    for (CsimJson *object = csim_json_first(list); object; object = csim_json_next(object))
      read_rule(targets, (TargetList)i, object);
  }
  targets->ignored = read_texts(root, "ignored_variables");
}

CsimTargets *csim_targets_load(const char *path, GError **error) {
  g_autoptr(CsimTargets) targets = g_new0(CsimTargets, 1);
  targets->diag = csim_diag_new();
  for (int i = 0; i < N_TARGET_LISTS; i++) targets->lists[i] = g_ptr_array_new_with_free_func(free_rule);
  const CsimEmbedded *own = &csim_embedded_targets[0];
  targets->doc = path ? csim_json_read_file(path, targets->diag)
                      : csim_json_read_text(own->name, own->text, (gssize)own->length, targets->diag);
  CsimJson *root = csim_json_root(targets->doc, CSIM_JSON_OBJECT);
  if (root) {
    read_lists(targets, root);
    csim_json_finish(targets->doc);
  }
  return csim_diag_check(targets->diag, error) ? g_steal_pointer(&targets) : NULL;
}

void csim_targets_free(CsimTargets *targets) {
  if (!targets) return;
  for (int i = 0; i < N_TARGET_LISTS; i++) free_list(targets->lists[i]);
  free_list(targets->ignored);
  csim_json_doc_free(targets->doc);
  csim_diag_free(targets->diag);
  g_free(targets);
}
