/* topo/faults.c - faults from JSON and from the command line. */
#include "topo/faults.h"

#include "topo/cluster-build.h"
#include <stdarg.h>
#include <string.h>

static const char *const kinds[] = {"link", "switch", "nic", "pcie", "nvlink", "gpu", "loss", "stuck", "bind", NULL};
static const char *const numbers[] = {"rate", "clock", "width", "generation", "links", "count", "seed", "numa", NULL};

gboolean csim_fault_fail(const CsimFault *f, GError **error, CsimErrorCode code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  if (f->text != NULL) csim_error_set(error, code, CSIM_LOC_NONE, "fault \"%.120s\": %s", f->text, text);
  else csim_error_set(error, code, f->loc, "%s", text);
  return FALSE;
}

/* --- members by kind --------------------------------------------------------- */

static void read_seen(CsimJson *object, CsimFault *f) {
  static const char *const names[] = {"yes", "no", "only", NULL};
  int seen = 0;
  if (csim_json_choice(object, "seen", CSIM_JSON_OPTIONAL, names, &seen)) f->seen = (CsimFaultSeen)(CSIM_SEEN + seen);
}

static void read_flapping(CsimJson *object, CsimFault *f) {
  gboolean period = csim_json_time(object, "period", CSIM_JSON_OPTIONAL, &f->period);
  gboolean down = csim_json_time(object, "down", CSIM_JSON_OPTIONAL, &f->down);
  if (period != down) csim_json_error(object, CSIM_ERROR_SCHEMA, "\"period\" and \"down\" belong together; allowed: both, or none");
  if (period && down && (f->down <= 0 || f->down >= f->period))
    csim_json_error(object, CSIM_ERROR_VALUE, "a flapping link is down for a part of its period; allowed: 0 < down < period");
}

static void read_link(CsimJson *object, CsimFault *f) {
  int64_t count = 1;
  csim_json_double(object, "rate", CSIM_JSON_OPTIONAL, 0, 1, &f->rate);
  if (csim_json_int(object, "count", CSIM_JSON_OPTIONAL, 1, 1000000, &count) && strcmp(f->at, "random") != 0)
    csim_json_error(object, CSIM_ERROR_SCHEMA, "a count of named links; allowed: with \"at\": \"random\"");
  f->count = (guint)count;
}

static void read_pcie(CsimJson *object, CsimFault *f) {
  int64_t width = 0, generation = 0;
  csim_json_int(object, "width", CSIM_JSON_OPTIONAL, 1, 32, &width);
  csim_json_int(object, "generation", CSIM_JSON_OPTIONAL, 1, 6, &generation);
  f->width = (int)width;
  f->generation = (int)generation;
  if (width == 0 && generation == 0)
    csim_json_error(object, CSIM_ERROR_SCHEMA, "a PCIe fault without effect; allowed: \"width\" (1 to 32), \"generation\" (1 to 6), or both");
  read_seen(object, f);
}

static void read_nvlink(CsimJson *object, CsimFault *f) {
  int64_t links = 1;
  csim_json_int(object, "links", CSIM_JSON_OPTIONAL, 1, 18, &links);
  if (csim_json_text(object, "to", CSIM_JSON_OPTIONAL, &f->to)) f->to = g_intern_string(f->to);
  f->links = (int)links;
}

static void read_members(CsimJson *object, CsimFault *f) {
  int64_t seed = 0, numa = 0;
  switch (f->kind) {
  case CSIM_FAULT_LINK:
    read_link(object, f);
    read_flapping(object, f);
    f->has_seed = csim_json_int(object, "seed", CSIM_JSON_OPTIONAL, 0, INT64_MAX, &seed);
    f->seed = (uint64_t)seed;
    break;
  case CSIM_FAULT_SWITCH:
    break;
  case CSIM_FAULT_NIC:
    csim_json_double(object, "rate", CSIM_JSON_OPTIONAL, 0, 1, &f->rate);
    read_seen(object, f);
    break;
  case CSIM_FAULT_PCIE:
    read_pcie(object, f);
    break;
  case CSIM_FAULT_NVLINK:
    read_nvlink(object, f);
    break;
  case CSIM_FAULT_GPU:
    csim_json_double(object, "clock", CSIM_JSON_REQUIRED, 0.01, 1, &f->clock);
    break;
  case CSIM_FAULT_LOSS:
    csim_json_double(object, "rate", CSIM_JSON_REQUIRED, 0, 0.5, &f->rate);
    break;
  case CSIM_FAULT_STUCK:
    csim_json_time(object, "from", CSIM_JSON_OPTIONAL, &f->period);
    csim_json_time(object, "for", CSIM_JSON_OPTIONAL, &f->down);
    break;
  case CSIM_FAULT_BIND:
    csim_json_int(object, "numa", CSIM_JSON_REQUIRED, 0, 1023, &numa);
    f->numa = (int)numa;
    break;
  }
}

static void read_fault(CsimJson *object, GArray *out) {
  int kind = 0;
  CsimFault f = {.clock = 1, .count = 1, .loc = csim_json_loc(object)};
  if (!csim_json_is(object, CSIM_JSON_OBJECT)) return;
  if (!csim_json_choice(object, "kind", CSIM_JSON_REQUIRED, kinds, &kind)) {
    csim_json_ignore(object);
    return;
  }
  f.kind = (CsimFaultKind)kind;
  if (f.kind != CSIM_FAULT_LOSS) {
    if (!csim_json_text(object, "at", CSIM_JSON_REQUIRED, &f.at)) return;
    f.at = g_intern_string(f.at);
  }
  read_members(object, &f);
  g_array_append_val(out, f);
}

void csim_faults_read(CsimJson *array, GArray *out) {
  for (CsimJson *v = csim_json_first(array); v != NULL; v = csim_json_next(v)) read_fault(v, out);
}

/* --- the command line's form ------------------------------------------------- */

/* KIND:AT:WORDS. A bus id has colons of its own, so WORDS is what follows the last colon, if it has an equals sign. */
static char *fault_to_json(const char *text) {
  if (text[0] == '{') return g_strdup(text);
  const char *colon = strchr(text, ':'), *last = strrchr(text, ':');
  const char *words = last != NULL && strchr(last, '=') != NULL ? last + 1 : NULL;
  const char *end = words != NULL ? last : text + strlen(text);
  GString *out = g_string_new("{");
  g_autofree char *kind = g_strndup(text, colon != NULL ? (gsize)(colon - text) : strlen(text));
  csim_cluster_append_member(out, "kind", kind, numbers);
  if (colon != NULL && colon < end) {
    g_autofree char *at = g_strndup(colon + 1, (gsize)(end - colon - 1));
    csim_cluster_append_member(out, "at", at, numbers);
  }
  if (words != NULL) csim_cluster_append_words(out, words, "value", numbers);
  return g_string_free(g_string_append_c(out, '}'), FALSE);
}

gboolean csim_fault_parse(const char *text, GArray *out, GError **error) {
  g_autofree char *json = fault_to_json(text);
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimJsonDoc) doc = csim_json_read_text("--fault", json, -1, diag);
  CsimJson *root = csim_json_root(doc, CSIM_JSON_OBJECT);
  guint before = out->len;
  if (root != NULL) {
    read_fault(root, out);
    csim_json_finish(doc);
  }
  for (guint i = before; i < out->len; i++) g_array_index(out, CsimFault, i).text = g_intern_string(text);
  return csim_cluster_check_words(diag, "fault", text, error);
}
