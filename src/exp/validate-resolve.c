/* exp/validate-resolve.c - which run stands for a measured set: rules of the targets file, and what the set says of itself. */
#include "exp/validate-private.h"

#include "base/json-write.h"

#include <string.h>

/* --- matching ------------------------------------------------------------------- */

static gboolean in_range(TargetRange range, guint value) {
  return range.max == 0 || (value >= range.min && value <= range.max);
}

static guint gpus_per_node(const CsimMeasuredSet *set) {
  return set->n_nodes > 0 ? set->n_gpus / set->n_nodes : 0;
}

static gboolean is_match(const TargetMatch *match, const CsimMeasuredSet *set) {
  for (int f = 0; f < CSIM_N_FACTS; f++)
    for (guint i = 0; match->patterns[f] && i < match->patterns[f]->len; i++)
      if (!csim_words_match(set->facts[f], (const char *)g_ptr_array_index(match->patterns[f], i)))
        return FALSE;
  return in_range(match->nodes, set->n_nodes) && in_range(match->gpus, set->n_gpus) &&
         in_range(match->gpus_per_node, gpus_per_node(set));
}

static const TargetRule *first_match(const CsimTargets *targets, TargetList list,
                                     const CsimMeasuredSet *set) {
  for (guint i = 0; i < targets->lists[list]->len; i++) {
    const TargetRule *rule = (const TargetRule *)g_ptr_array_index(targets->lists[list], i);
    if (is_match(&rule->match, set)) return rule;
  }
  return NULL;
}

/* --- variables ------------------------------------------------------------------ */

/* A later value of a name takes the place of an earlier one. */
static void put(GPtrArray *list, const char *word) {
  const char *equals = strchr(word, '=');
  gsize n = equals ? (gsize)(equals - word) + 1 : strlen(word);
  for (guint i = 0; i < list->len; i++)
    if (!strncmp((const char *)g_ptr_array_index(list, i), word, n)) {
      g_ptr_array_remove_index(list, i);
      break;
    }
  g_ptr_array_add(list, g_strdup(word));
}

static gboolean is_ignored(const CsimTargets *targets, const char *word) {
  for (guint i = 0; targets->ignored && i < targets->ignored->len; i++) {
    const char *name = (const char *)g_ptr_array_index(targets->ignored, i);
    gsize n = strlen(name);
    if (!strncmp(word, name, n) && word[n] == '=') return TRUE;
  }
  return FALSE;
}

/* Every "NCCL_NAME=value" in a text for people: "NCCL_ALGO=Ring; NCCL_IB_TC=41 (tuned)". Commas belong to values. */
static void take_variables(const CsimTargets *targets, const char *text, GPtrArray *out) {
  if (!text) return;
  g_auto(GStrv) words = g_strsplit_set(text, " \t;()\"'", -1);
  for (char **word = words; *word; word++) {
    char *equals = strchr(*word, '=');
    if (!g_str_has_prefix(*word, "NCCL_") || !equals) continue;
    gsize n = strlen(*word);
    while (n > 0 && strchr(",.", (*word)[n - 1])) (*word)[--n] = '\0';
    if (equals[1] != '\0' && !is_ignored(targets, *word)) put(out, *word);
  }
}

/* "iters 20" or "-n 5" in a command line. 0: neither. */
static int told_iters(const char *text) {
  g_auto(GStrv) words = g_strsplit_set(text ? text : "", " \t;,()", -1);
  for (char **word = words; *word; word++) {
    if (!word[1] || (strcmp(*word, "iters") && strcmp(*word, "-n"))) continue;
    guint64 n;
    if (g_ascii_string_to_unsigned(word[1], 10, 1, 100000, &n, NULL)) return (int)n;
  }
  return 0;
}

/* --- the run -------------------------------------------------------------------- */

typedef struct {
  const char *transport, *kind, *routing, *link_rate, *tcp_control, *tcp_queue;
  double oversubscription;
  gboolean sharp;
} Fabric;

static void take_fabric(Fabric *fabric, const TargetRule *rule) {
  if (rule->transport) fabric->transport = rule->transport;
  if (rule->kind) fabric->kind = rule->kind;
  if (rule->routing) fabric->routing = rule->routing;
  if (rule->link_rate) fabric->link_rate = rule->link_rate;
  if (rule->tcp_control) fabric->tcp_control = rule->tcp_control;
  if (rule->tcp_queue) fabric->tcp_queue = rule->tcp_queue;
  if (rule->oversubscription > 0) fabric->oversubscription = rule->oversubscription;
  fabric->sharp |= rule->sharp;
}

static void apply_settings(const CsimTargets *targets, const CsimMeasuredSet *set, CsimResolved *out,
                           Fabric *fabric) {
  for (guint i = 0; i < targets->lists[TARGETS_SETTINGS]->len; i++) {
    const TargetRule *rule = (const TargetRule *)g_ptr_array_index(targets->lists[TARGETS_SETTINGS], i);
    if (!is_match(&rule->match, set)) continue;
    for (guint k = 0; rule->variables && k < rule->variables->len; k++)
      put(out->variables, (const char *)g_ptr_array_index(rule->variables, k));
    for (guint k = 0; rule->constants && k < rule->constants->len; k++)
      put(out->constants, (const char *)g_ptr_array_index(rule->constants, k));
    out->virtual_machine |= rule->virtual_machine;
    if (rule->has_launch) out->launch = rule->launch;
    if (rule->has_fidelity) out->fidelity = rule->fidelity;
    if (rule->iters > 0) out->iters = (int)rule->iters;
    take_fabric(fabric, rule);
  }
}

static void apply_own(const CsimTargets *targets, const CsimMeasuredSet *set, CsimResolved *out) {
  take_variables(targets, set->facts[CSIM_FACT_TAG], out->variables);
  take_variables(targets, set->facts[CSIM_FACT_ENV], out->variables);
  if (set->has_launch) out->launch = set->launch;
  out->virtual_machine |= set->virtual_machine;
  int iters = set->iters > 0 ? set->iters : told_iters(set->facts[CSIM_FACT_ENV]);
  if (iters > 0) out->iters = iters;
}

/* Hosts of one NVLink domain are one machine; otherwise a host is. */
static void count_nodes(const CsimMeasuredSet *set, gint64 domain, CsimResolved *out) {
  out->n_nodes = MAX(set->n_nodes, 1);
  if (domain > 0 && set->n_gpus > 0) out->n_nodes = (guint)((set->n_gpus + domain - 1) / domain);
  if (set->n_gpus > 0 && set->n_gpus % out->n_nodes == 0)
    out->gpus_per_node = set->n_gpus / out->n_nodes;
  else if (set->n_gpus > 0)
    out->skip = g_strdup_printf("%u GPUs do not divide evenly over %u nodes", set->n_gpus, out->n_nodes);
}

/* "./topo.xml" lies beside the measurement. */
static char *node_path(const CsimMeasuredSet *set, const char *node) {
  if (!g_str_has_prefix(node, "./")) return g_strdup(node);
  g_autofree char *folder = g_path_get_dirname(set->facts[CSIM_FACT_FILE] ? set->facts[CSIM_FACT_FILE] : ".");
  return g_build_filename(folder, node + 2, NULL);
}

static void member(GString *out, const char *key, const char *value) {
  if (value) csim_jsonw_member_string(out, key, value);
}

static char *cluster_text(const CsimResolved *out, const Fabric *fabric) {
  GString *text = g_string_new("{\"nodes\": [{");
  csim_jsonw_member_string(text, "xml", out->node);
  csim_jsonw_member_int(text, "count", out->n_nodes);
  g_string_append(text, "}], \"fabric\": {");
  member(text, "kind", fabric->kind);
  member(text, "transport", fabric->transport);
  member(text, "routing", fabric->routing);
  member(text, "link_rate", fabric->link_rate);
  if (fabric->oversubscription > 0) csim_jsonw_member_number(text, "oversubscription", fabric->oversubscription);
  if (fabric->sharp) {
    csim_jsonw_key(text, "sharp");
    g_string_append(text, "true");
  }
  if (fabric->tcp_control || fabric->tcp_queue) {
    csim_jsonw_key(text, "tcp");
    g_string_append_c(text, '{');
    member(text, "congestion_control", fabric->tcp_control);
    member(text, "queue", fabric->tcp_queue);
    g_string_append_c(text, '}');
  }
  return g_string_free(g_string_append(text, "}}"), FALSE);
}

static char *label(const char *node, const CsimResolved *out, const Fabric *fabric) {
  GString *text = g_string_new(node);
  if (out->n_nodes > 1) g_string_append_printf(text, "*%u", out->n_nodes);
  if (out->gpus_per_node > 0) g_string_append_printf(text, " -g %u", out->gpus_per_node);
  if (fabric->transport) g_string_append_printf(text, " %s", fabric->transport);
  if (fabric->sharp) g_string_append(text, " sharp");
  if (out->fidelity == CSIM_FIDELITY_PACKET) g_string_append(text, " packets");
  return g_string_free(text, FALSE);
}

static CsimResolved *resolved_new(void) {
  CsimResolved *out = g_new0(CsimResolved, 1);
  out->variables = g_ptr_array_new_with_free_func(g_free);
  out->constants = g_ptr_array_new_with_free_func(g_free);
  out->iters = 20; /* nccl-tests' -n */
  out->fidelity = CSIM_FIDELITY_FLOW;
  return out;
}

static void finish(CsimResolved *out) {
  g_ptr_array_add(out->variables, NULL);
  g_ptr_array_add(out->constants, NULL);
}

static void place(const CsimTargets *targets, const CsimMeasuredSet *set, const TargetRule *machine,
                  CsimResolved *out) {
  Fabric fabric = {0};
  take_fabric(&fabric, machine);
  count_nodes(set, machine->domain > 0 ? machine->domain : machine->gpus_per_node, out);
  apply_settings(targets, set, out, &fabric);
  apply_own(targets, set, out);
  out->node = node_path(set, machine->node);
  out->label = label(machine->node, out, &fabric);
  gboolean plain = !fabric.transport && !fabric.kind && !fabric.routing && !fabric.link_rate &&
                   fabric.oversubscription == 0 && !fabric.sharp && !fabric.tcp_control && !fabric.tcp_queue;
  out->target = plain ? g_strdup(out->node) : cluster_text(out, &fabric);
  if (machine->thin && !out->skip) out->skip = g_strdup_printf("description too thin: %s", machine->thin);
}

static char *unplaced(const CsimMeasuredSet *set) {
  const char *hardware = set->facts[CSIM_FACT_HARDWARE], *fabric = set->facts[CSIM_FACT_FABRIC];
  if (!hardware) return g_strdup("nothing says what hardware it is; --target does");
  return g_strdup_printf("no rule for hardware \"%.100s\"%s%.60s%s", hardware, fabric ? ", fabric \"" : "",
                         fabric ? fabric : "", fabric ? "\"" : "");
}

CsimResolved *csim_targets_resolve(const CsimTargets *targets, const CsimMeasuredSet *set) {
  CsimResolved *out = resolved_new();
  const TargetRule *skip = first_match(targets, TARGETS_SKIP, set),
                   *machine = first_match(targets, TARGETS_MACHINES, set);
  const TargetRule *derive = first_match(targets, TARGETS_DERIVE, set),
                   *why = first_match(targets, TARGETS_WHY, set);
  out->derive = derive != NULL;
  out->derive_from = derive ? g_strdup(derive->text) : NULL;
  out->why = why ? g_strdup(why->text) : NULL;
  if (set->unusable)
    out->skip = g_strdup(set->unusable);
  else if (skip)
    out->skip = g_strdup(skip->text);
  else if (machine)
    place(targets, set, machine, out);
  else
    out->skip = unplaced(set);
  finish(out);
  return out;
}

CsimResolved *csim_targets_given(const CsimTargets *targets, const CsimMeasuredSet *set, const char *target) {
  CsimResolved *out = resolved_new();
  gboolean counted = strchr(target, '*') || g_str_has_suffix(target, ".json") || target[0] == '{';
  apply_own(targets, set, out);
  if (set->unusable)
    out->skip = g_strdup(set->unusable);
  else if (!counted)
    count_nodes(set, 0, out);
  else if (set->n_nodes > 0 && set->n_gpus > 0)
    out->gpus_per_node = set->n_gpus / set->n_nodes;
  out->node = g_strdup(target);
  out->target = g_strdup(target);
  out->label = g_strdup(target);
  finish(out);
  return out;
}

void csim_resolved_label(CsimResolved *out, const char *text) {
  g_free(out->label);
  out->label = g_strdup(text);
}

void csim_resolved_free(CsimResolved *out) {
  if (!out) return;
  g_free(out->skip);
  g_free(out->node);
  g_free(out->target);
  g_free(out->label);
  g_free(out->derive_from);
  g_free(out->why);
  g_ptr_array_unref(out->variables);
  g_ptr_array_unref(out->constants);
  g_free(out);
}
