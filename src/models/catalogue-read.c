#include "base/json-read.h"
#include "base/units.h"
#include "models/catalogue-build.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* --- values ------------------------------------------------------------------ */

static const char *unit_kind_name(CsimUnitKind kind) {
  static const char *const names[] = {"time", "rate", "size", "number"};
  return names[kind];
}

/* "48.7GB/s" is a rate, "8KiB" a size, "620ns" a time; anything that does not end in a letter is tried as a number. */
static CsimUnitKind kind_of_text(const char *text) {
  gsize length = strlen(text);
  if (g_str_has_suffix(text, "/s")) return CSIM_UNIT_RATE;
  if (length > 0 && text[length - 1] == 'B') return CSIM_UNIT_BYTES;
  if (length > 0 && text[length - 1] == 's') return CSIM_UNIT_TIME;
  return CSIM_UNIT_NUMBER;
}

static gboolean parse_number(const char *text, double *out, GError **error) {
  char *end = NULL;
  errno = 0;
  double value = g_ascii_strtod(text, &end);
  if (end != text && *end == '\0' && errno == 0 && isfinite(value)) {
    *out = value;
    return TRUE;
  }
  csim_error_set(
      error, CSIM_ERROR_SYNTAX, CSIM_LOC_NONE,
      "'%.40s': not a value; allowed: a time (620ns), a rate (48.7GB/s), a size (8KiB) or a number", text);
  return FALSE;
}

/* Sets value and unit from text with a unit or a bare number; FALSE and an error without place. */
static gboolean parse_constant(CsimConstant *constant, const char *text, GError **error) {
  constant->unit = kind_of_text(text);
  switch (constant->unit) {
  case CSIM_UNIT_TIME:
    return csim_time_parse(text, &constant->time, error);
  case CSIM_UNIT_RATE:
    return csim_rate_parse(text, &constant->rate, error);
  case CSIM_UNIT_BYTES:
    return csim_bytes_parse(text, &constant->bytes, error);
  case CSIM_UNIT_NUMBER:
    break;
  }
  return parse_number(text, &constant->number, error);
}

/* --- files ------------------------------------------------------------------- */

typedef struct {
  CsimCatalogueBuild *build;
  gboolean overlay;
  GPtrArray *added; /* CsimConstant*, of this file, to be checked when its groups are known */
} Reader;

static void read_value(CsimJson *entry, CsimConstant *constant) {
  CsimJson *value = csim_json_get(entry, "value", CSIM_JSON_REQUIRED);
  if (value == NULL) return;
  CsimJsonType type = csim_json_type(value);
  g_autoptr(GError) error = NULL;
  if (type != CSIM_JSON_TEXT && type != CSIM_JSON_NUMBER)
    csim_json_error(value, CSIM_ERROR_SCHEMA,
                    "a constant's value is a number or a text with a unit, e.g. 620ns");
  else if (!parse_constant(constant, csim_json_text_of(value), &error))
    csim_json_error(value, CSIM_ERROR_VALUE, "%s", error->message);
}

static void read_entry(Reader *reader, CsimJson *entry, const char *name) {
  static const char *const confidences[] = {"measured", "derived", "fitted", "assumed", NULL};
  CsimJsonNeed need = reader->overlay ? CSIM_JSON_OPTIONAL : CSIM_JSON_REQUIRED;
  CsimConstant *constant = csim_catalogue_constant_new(name);
  int confidence = CSIM_CONF_ASSUMED;
  const char *source = csim_json_loc(entry).file, *meaning = NULL;
  constant->loc = csim_json_loc(entry);
  read_value(entry, constant);
  csim_json_choice(entry, "confidence", need, confidences, &confidence);
  csim_json_text(entry, "source", need, &source);
  csim_json_text(entry, "meaning", CSIM_JSON_OPTIONAL, &meaning);
  constant->confidence = (CsimConfidence)confidence;
  constant->source = g_intern_string(source);
  constant->meaning = g_intern_string(meaning);
  g_ptr_array_add(reader->added, constant);
}

static void read_match(Reader *reader, CsimJson *match, const char *path) {
  CsimGroup *group = csim_catalogue_group(reader->build, path);
  int64_t sm = group->sm, nvlinks = group->nvlinks;
  csim_json_int(match, "sm", CSIM_JSON_OPTIONAL, 10, 999, &sm);
  csim_json_int(match, "nvlinks", CSIM_JSON_OPTIONAL, 1, 64, &nvlinks);
  group->sm = (int)sm;
  group->nvlinks = (int)nvlinks;
  const char *device = NULL;
  for (CsimJson *v = csim_json_first(csim_json_array(match, "devices", CSIM_JSON_OPTIONAL)); v != NULL;
       v = csim_json_next(v)) {
    if (!csim_json_as_text(v, &device)) continue;
    g_autofree char *lower = g_ascii_strdown(device, -1);
    g_ptr_array_add(group->devices, (gpointer)g_intern_string(lower));
  }
}

static void read_like(Reader *reader, CsimJson *value, const char *path) {
  const char *sibling = NULL;
  if (!csim_json_as_text(value, &sibling)) return;
  CsimGroup *group = csim_catalogue_group(reader->build, path);
  const char *dot = strrchr(path, '.');
  g_autofree char *like = g_strdup_printf("%.*s%s", dot != NULL ? (int)(dot - path + 1) : 0, path, sibling);
  group->like = g_intern_string(like);
  group->like_loc = csim_json_loc(value);
}

static void read_group(Reader *reader, CsimJson *object, const char *path);

static void read_member(Reader *reader, CsimJson *member, const char *path) {
  const char *key = csim_json_key(member);
  g_autofree char *name = path[0] != '\0' ? g_strdup_printf("%s.%s", path, key) : g_strdup(key);
  if (path[0] == '\0' && strcmp(key, "format") == 0) return;
  if (strcmp(key, "like") == 0) {
    read_like(reader, member, path);
    return;
  }
  if (!csim_json_is(member, CSIM_JSON_OBJECT)) return;
  if (strcmp(key, "match") == 0)
    read_match(reader, member, path);
  else if (csim_json_get(member, "value", CSIM_JSON_OPTIONAL) != NULL)
    read_entry(reader, member, name);
  else
    read_group(reader, member, name);
}

static void read_group(Reader *reader, CsimJson *object, const char *path) {
  if (path[0] != '\0') csim_catalogue_group(reader->build, path);
  for (CsimJson *member = csim_json_first(object); member != NULL; member = csim_json_next(member))
    read_member(reader, member, path);
}

static void unknown_name(CsimCatalogueBuild *build, const char *name, CsimLoc loc) {
  g_auto(GStrv) names = csim_catalogue_names(build);
  const char *nearest = csim_nearest(name, (const char *const *)names);
  csim_diag_add(build->diag, CSIM_FINDING_ERROR, CSIM_ERROR_REFERENCE, loc, "unknown constant '%s'; %s%s%s",
                name, nearest != NULL ? "did you mean '" : "'collsim models' lists them",
                nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

static gboolean same_unit(CsimCatalogueBuild *build, const CsimConstant *old, const CsimConstant *new) {
  if (old->unit == new->unit) return TRUE;
  csim_diag_add(build->diag, CSIM_FINDING_ERROR, CSIM_ERROR_VALUE, new->loc, "'%s' is a %s, not a %s",
                new->name, unit_kind_name(old->unit), unit_kind_name(new->unit));
  return FALSE;
}

/* Puts a constant of a later layer over what is there; its meaning stays. */
static void lay_over(CsimCatalogueBuild *build, CsimConstant *constant) {
  const CsimConstant *old = csim_catalogue_resolve(build, constant->name);
  if (old == NULL) unknown_name(build, constant->name, constant->loc);
  if (old == NULL || !same_unit(build, old, constant)) {
    g_free(constant);
    return;
  }
  if (constant->meaning == NULL) constant->meaning = old->meaning;
  g_hash_table_replace(build->constants, (gpointer)constant->name, constant);
}

static void keep_added(Reader *reader) {
  for (guint i = 0; i < reader->added->len; i++) {
    CsimConstant *constant = (CsimConstant *)g_ptr_array_index(reader->added, i);
    if (reader->overlay)
      lay_over(reader->build, constant);
    else
      g_hash_table_replace(reader->build->constants, (gpointer)constant->name, constant);
  }
}

void csim_catalogue_read(CsimCatalogueBuild *build, const char *name, const char *text, gssize length,
                         gboolean overlay) {
  g_autoptr(CsimJsonDoc) doc = text != NULL ? csim_json_read_text(name, text, length, build->diag)
                                            : csim_json_read_file(name, build->diag);
  static const char *const formats[] = {"collsim-hardware-1", NULL};
  CsimJson *root = csim_json_root(doc, CSIM_JSON_OBJECT);
  if (root == NULL) return;
  g_autoptr(GPtrArray) added = g_ptr_array_new();
  Reader reader = {.build = build, .overlay = overlay, .added = added};
  int format = 0;
  csim_json_choice(root, "format", CSIM_JSON_REQUIRED, formats, &format);
  read_group(&reader, root, "");
  csim_json_finish(doc);
  keep_added(&reader);
}

/* --- the command line -------------------------------------------------------- */

void csim_catalogue_set(CsimCatalogueBuild *build, const char *assignment) {
  const CsimLoc place = {g_intern_static_string("--set"), 0, 0};
  const char *equals = strchr(assignment, '=');
  if (equals == NULL) {
    csim_diag_add(build->diag, CSIM_FINDING_ERROR, CSIM_ERROR_SYNTAX, place,
                  "'%s' has no '='; allowed: NAME=VALUE, e.g. gpu.h100.flag_latency=620ns", assignment);
    return;
  }
  g_autofree char *name = g_strndup(assignment, equals - assignment);
  CsimConstant *constant = csim_catalogue_constant_new(name);
  g_autoptr(GError) error = NULL;
  constant->loc = place;
  constant->confidence = CSIM_CONF_ASSUMED;
  constant->source = g_intern_static_string("--set");
  if (parse_constant(constant, equals + 1, &error)) {
    lay_over(build, constant);
    return;
  }
  csim_diag_add(build->diag, CSIM_FINDING_ERROR, CSIM_ERROR_VALUE, place, "%s: %s", name, error->message);
  g_free(constant);
}
