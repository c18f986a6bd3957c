/* exp/conformance-parser.c - the small texts of parser-cases.json through our reader and builder. */
#include "exp/conformance-private.h"
#include <stdio.h>
#include <string.h>

cJSON *csim_conformance_counts(const CsimSystem *system) {
  cJSON *counts = cJSON_CreateObject();
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++)
    if (csim_system_n(system, t) > 0)
      cJSON_AddNumberToObject(counts, csim_node_type_name(t), csim_system_n(system, t));
  return counts;
}

static cJSON *reasons(const CsimNcclOutcome *outcome) {
  cJSON *list = cJSON_CreateArray();
  if (outcome->reason[0] != '\0') cJSON_AddItemToArray(list, cJSON_CreateString(outcome->reason));
  return list;
}

/* [node, type, GB/s, node] of every link, in stored order. */
static cJSON *links_of(const CsimSystem *system) {
  cJSON *list = cJSON_CreateArray();
  for (int t = 0; t < CSIM_N_NODE_TYPES; t++)
    for (guint i = 0; i < csim_system_n(system, t); i++) {
      const CsimTopoNode *node = csim_system_node(system, t, i);
      for (guint l = 0; l < node->links->len; l++) {
        const CsimTopoLink *link = csim_node_link(node, l);
        g_autofree char *from = csim_node_name(system, node), *to = csim_node_name(system, link->remote);
        cJSON *row = cJSON_CreateArray();
        cJSON_AddItemToArray(row, cJSON_CreateString(from));
        cJSON_AddItemToArray(row, cJSON_CreateString(csim_link_type_name(link->type)));
        cJSON_AddItemToArray(row, cJSON_CreateNumber(link->bw));
        cJSON_AddItemToArray(row, cJSON_CreateString(to));
        cJSON_AddItemToArray(list, row);
      }
    }
  return list;
}

static void add_build(cJSON *out, const CsimNcclXml *xml) {
  /* The texts were built on a host whose hash is 0, with the file's own ranks and nothing filled in. */
  const CsimBuildOptions options = {.strict = TRUE, .own_host = TRUE, .host_hash = 0};
  CsimNcclOutcome outcome;
  CsimSystem *partial;
  g_autoptr(CsimSystem) system = csim_system_build(xml, &options, NULL, &outcome, &partial, NULL);
  cJSON_AddNumberToObject(out, "build", outcome.result);
  cJSON_AddItemToObject(out, "nodesByType", csim_conformance_counts(system != NULL ? system : partial));
  if (system != NULL) cJSON_AddItemToObject(out, "links", links_of(system));
  cJSON_AddItemToObject(out, "buildWarnings", reasons(&outcome));
  csim_system_free(partial);
}

static cJSON *take(const char *text) {
  cJSON *out = cJSON_CreateObject();
  CsimNcclOutcome outcome;
  g_autoptr(CsimNcclXml) xml = csim_nccl_xml_parse_outcome("case", text, strlen(text), NULL, &outcome, NULL);
  cJSON_AddNumberToObject(out, "parse", outcome.result);
  cJSON_AddItemToObject(out, "warnings", reasons(&outcome));
  if (xml == NULL || outcome.n_elements == 0) {
    cJSON_AddNumberToObject(out, "nodes", outcome.n_elements);
    return out;
  }
  g_autofree char *written = csim_nccl_xml_to_text(xml);
  cJSON_AddStringToObject(out, "readBack", written);
  add_build(out, xml);
  return out;
}

/* A text may be left out of the vector for its size, with a description instead of it: "(300 leaf pci elements)". */
static char *text_of(const cJSON *xml) {
  const char *text = xml->valuestring, *cut = strstr(text, "...(");
  int n = 0;
  if (cut == NULL || sscanf(cut, "...(%d leaf pci elements)", &n) != 1 || n <= 0 || n > 100000)
    return g_strdup(text);
  const char *end = strrchr(text, '\n');
  const char *line = g_strrstr_len(text, cut - text, "<pci ");
  if (line == NULL) return g_strdup(text);
  g_autofree char *head = g_strndup(text, (gsize)(line - text));
  GString *whole = g_string_new(head);
  for (int i = 0; i < n; i++)
    g_string_append_printf(whole,
                           "<pci busid=\"0000:%02x:%02x.0\" class=\"0x060400\" link_speed=\"8.0 GT/s PCIe\" "
                           "link_width=\"16\"/>\n",
                           i / 32, i % 32);
  g_string_append(whole, end != NULL && end > cut ? end + 1 : "");
  return g_string_free(whole, FALSE);
}

/* The vectors' short names of NCCL's messages are their maker's words. A name that no published vector has may be another's word for the
 * same complaint: then only that there is one is compared. */
static gboolean is_known(const char *reason) {
  static const char *const names[] = {"unsupported-version",  "bad-character-in-tag",
                                      "expected-quote",       "text-outside-tags",
                                      "unterminated-element", "mismatched-close",
                                      "value-too-long",       "too-many-elements",
                                      "own-host-not-in-file", NULL};
  return g_strv_contains(names, reason) || g_str_has_prefix(reason, "missing-attribute ");
}

static void accept_unknown_name(const cJSON *expected, cJSON *got, const char *key) {
  const cJSON *theirs = cJSON_GetObjectItemCaseSensitive(expected, key),
              *ours = cJSON_GetObjectItemCaseSensitive(got, key);
  if (cJSON_GetArraySize(theirs) == 0 || cJSON_GetArraySize(ours) == 0) return;
  const cJSON *name = cJSON_GetArrayItem(theirs, 0);
  if (!cJSON_IsString(name) || is_known(name->valuestring)) return;
  cJSON_ReplaceItemInObjectCaseSensitive(got, key, cJSON_Duplicate(theirs, TRUE));
}

static void run_case(CsimConformance *c, const cJSON *item) {
  const cJSON *xml = cJSON_GetObjectItemCaseSensitive(item, "xml"),
              *expected = cJSON_GetObjectItemCaseSensitive(item, "out");
  c->n_cases++;
  if (!cJSON_IsString(xml) || !cJSON_IsObject(expected)) {
    csim_conformance_add(c, item->string, item, NULL);
    return;
  }
  g_autofree char *text = text_of(xml), *where = g_strdup_printf("case %s", item->string);
  cJSON *got = take(text);
  accept_unknown_name(expected, got, "warnings");
  accept_unknown_name(expected, got, "buildWarnings");
  if (csim_conformance_compare(c, where, expected, got)) c->n_equal++;
  cJSON_Delete(got);
}

void csim_conformance_parser(CsimConformance *c, const cJSON *cases) {
  const cJSON *item;
  cJSON_ArrayForEach(item, cases) run_case(c, item);
}
