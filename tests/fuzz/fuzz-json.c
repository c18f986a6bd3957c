/*
 * fuzz-json.c - the JSON reader on any bytes: it must accept or refuse with one line, and what it accepts must be
 * what cJSON reads in the same text.
 */
#include "base/json-read.h"
#include "lines.h"
#include <cjson/cJSON.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every getter on every value: none may fall over, whatever the type. */
static void try_getters(CsimJson *value) {
  static const char *const choices[] = {"ring", "tree", NULL};
  const char *text;
  gboolean on;
  int64_t n;
  double d;
  int choice;
  csim_json_as_text(value, &text);
  csim_json_as_bool(value, &on);
  csim_json_as_int(value, -5, 1000, &n);
  csim_json_as_double(value, 0, 1, &d);
  csim_json_as_time(value, &n);
  csim_json_as_bytes(value, &n);
  csim_json_as_rate(value, &n);
  csim_json_as_choice(value, choices, &choice);
  csim_json_int(value, "count", CSIM_JSON_REQUIRED, 0, 10, &n);
}

static gboolean is_long_number(const CsimJson *v) {
  return csim_json_type(v) == CSIM_JSON_NUMBER &&
         strlen(csim_json_text_of(v)) > 60; /* cJSON reads 63 letters */
}

static gboolean has_long_number(CsimJson *v) {
  if (is_long_number(v)) return TRUE;
  for (CsimJson *child = csim_json_first(v); child != NULL; child = csim_json_next(child))
    if (has_long_number(child)) return TRUE;
  return FALSE;
}

static void compare_scalar(CsimJson *ours, const cJSON *theirs) {
  switch (csim_json_type(ours)) {
  case CSIM_JSON_NULL:
    g_assert_true(cJSON_IsNull(theirs));
    break;
  case CSIM_JSON_BOOL:
    g_assert_true(cJSON_IsBool(theirs));
    break;
  case CSIM_JSON_TEXT:
    g_assert_cmpstr(csim_json_text_of(ours), ==, theirs->valuestring);
    break;
  case CSIM_JSON_NUMBER:
    g_assert_true(cJSON_IsNumber(theirs));
    g_assert_cmpfloat(g_ascii_strtod(csim_json_text_of(ours), NULL), ==, theirs->valuedouble);
    break;
  case CSIM_JSON_ARRAY:
    g_assert_true(cJSON_IsArray(theirs));
    break;
  case CSIM_JSON_OBJECT:
    g_assert_true(cJSON_IsObject(theirs));
    break;
  }
}

static void compare(CsimJson *ours, const cJSON *theirs) {
  const cJSON *other = theirs->child;
  compare_scalar(ours, theirs);
  for (CsimJson *child = csim_json_first(ours); child != NULL; child = csim_json_next(child)) {
    g_assert_nonnull(other);
    g_assert_cmpstr(csim_json_key(child), ==, other->string);
    compare(child, other);
    other = other->next;
  }
  g_assert_null(other);
}

static void compare_with_cjson(CsimJson *root, const char *text, size_t size) {
  if (has_long_number(root)) return;
  cJSON *theirs = cJSON_ParseWithLength(text, size);
  g_assert_nonnull(theirs);
  compare(root, theirs);
  cJSON_Delete(theirs);
}

static void try_all(CsimJson *value) {
  g_assert_cmpuint(csim_json_loc(value).line, >, 0);
  g_assert_cmpuint(csim_json_loc(value).col, >, 0);
  try_getters(value);
  for (CsimJson *child = csim_json_first(value); child != NULL; child = csim_json_next(child)) try_all(child);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimJsonDoc) doc = csim_json_read_text("fuzz", (const char *)data, (gssize)size, diag);
  if (doc == NULL) {
    g_assert_cmpuint(csim_diag_count(diag, CSIM_FINDING_ERROR), ==, 1);
  } else {
    CsimJson *root = csim_json_root(doc, CSIM_JSON_OBJECT);
    if (root == NULL) root = csim_json_root(doc, CSIM_JSON_ARRAY);
    if (root != NULL) compare_with_cjson(root, (const char *)data, size);
    if (root != NULL) try_all(root);
    csim_json_finish(doc);
  }
  check_findings(diag);
  return 0;
}
