#include "topo/adapters.h"

#include "base/diag.h"

#include <string.h>

#define MOST_NAMED 12 /* adapters in a message */

/* One of the list: "DEV", "DEV:PORT" and so on. */
static gboolean matches(const char *item, gboolean exact, const char *name, int port, int *rail, int *plane) {
  g_auto(GStrv) parts = g_strsplit(item, ":", 4);
  guint n = g_strv_length(parts);
  if (n == 0 || (exact ? strcmp(name, parts[0]) : strncmp(name, parts[0], strlen(parts[0])))) return FALSE;
  int wanted = n > 1 && parts[1][0] ? (int)g_ascii_strtoll(parts[1], NULL, 10) : -1;
  if (wanted != -1 && port != -1 && wanted != port) return FALSE;
  if (rail != NULL && n > 2 && parts[2][0]) *rail = (int)g_ascii_strtoll(parts[2], NULL, 10);
  if (plane != NULL && n > 3 && parts[3][0]) *plane = (int)g_ascii_strtoll(parts[3], NULL, 10);
  return TRUE;
}

gboolean csim_adapters_match(const char *text, const char *name, int port, int *rail, int *plane) {
  gboolean not = text[0] == '^', exact;
  text += not;
  exact = text[0] == '=';
  g_auto(GStrv) list = g_strsplit(text + exact, ",", -1);
  gboolean found = FALSE, any = FALSE;
  if (rail != NULL) *rail = -1;
  if (plane != NULL) *plane = -1;
  for (guint i = 0; list[i] != NULL && !found; i++) {
    if (!list[i][0]) continue;
    any = TRUE;
    found = matches(list[i], exact, name, port, rail, plane);
  }
  return (found || !any) != not;
}

static void set_number(CsimNcclXml *xml, CsimNcclElement *net, const char *key, int value) {
  g_autofree char *text = g_strdup_printf("%d", value);
  if (value >= 0) csim_nccl_xml_set(xml, net, key, text);
}

typedef struct {
  CsimNcclXml *xml;
  const char *text;
  guint left, all;
  GString *names;
} Choice;

/* Of one element, and of what is inside. */
static void choose(Choice *c, CsimNcclElement *e) {
  for (guint i = e->subs->len; i-- > 0;) choose(c, csim_nccl_xml_sub(e, i)); /* backwards: the last ones may go */
  if (strcmp(e->name, "net") != 0) return;
  const char *name = csim_nccl_xml_value(e, "name");
  int rail, plane;
  if (name == NULL) return;
  if (c->all++ < MOST_NAMED) g_string_prepend(g_string_prepend(c->names, c->names->len ? ", " : ""), name);
  if (!csim_adapters_match(c->text, name, (int)csim_nccl_xml_int(e, "port", -1), &rail, &plane)) {
    csim_nccl_xml_drop(e);
    return;
  }
  set_number(c->xml, e, "rail", rail);
  set_number(c->xml, e, "plane", plane);
  c->left++;
}

gboolean csim_adapters_choose(CsimNcclXml *xml, const char *text, const char *node, GError **error) {
  Choice c = {xml, text, 0, 0, g_string_new(NULL)};
  choose(&c, (CsimNcclElement *)csim_nccl_xml_root(xml));
  if (c.all > 0 && c.left == 0)
    csim_error_set(error, CSIM_ERROR_REFERENCE, CSIM_LOC_NONE, "NCCL_IB_HCA=%.80s leaves no adapter of %s (NCCL would go over sockets then); allowed: some of %s%s", text,
                   node, c.names->str, c.all > MOST_NAMED ? " and others" : "");
  g_string_free(c.names, TRUE);
  return c.all == 0 || c.left > 0;
}
