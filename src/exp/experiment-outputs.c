/* exp/experiment-outputs.c - wanted tables and plots of an experiment file. */
#include "exp/experiment-private.h"

#include "exp/results.h"

#include <string.h>

static const struct {
  const char *name, *x, *value; /* defaults; NULL: must be given */
} kinds[] = {
  [CSIM_OUTPUT_TABLE] = {"table", "size_bytes", "busbw_gbps"},
  [CSIM_OUTPUT_BEST] = {"best", "size_bytes", "time_us"},
  [CSIM_OUTPUT_LINES] = {"lines", "size_bytes", "busbw_gbps"},
  [CSIM_OUTPUT_BARS] = {"bars", NULL, "busbw_gbps"},
  [CSIM_OUTPUT_HEAT] = {"heat", NULL, "busbw_gbps"},
  [CSIM_OUTPUT_SCALING] = {"scaling", "ranks", "busbw_gbps"},
  [CSIM_OUTPUT_TORNADO] = {"tornado", NULL, "time_us"},
  [CSIM_OUTPUT_CDF] = {"cdf", NULL, "time_us"},
  [CSIM_OUTPUT_LINKS] = {"links", NULL, NULL},
  [CSIM_OUTPUT_MAP] = {"map", NULL, NULL},
};

static gboolean is_column(const CsimExperiment *e, const char *name) {
  return csim_experiment_find_axis(e, name) >= 0 || g_strv_contains(csim_result_columns(), name) || (!strcmp(name, "repeat") && e->repeats > 1);
}

static char *check_column(const CsimExperiment *e, CsimJson *place, const char *name) {
  char *whole = csim_path_whole(name);
  if (is_column(e, whole)) return whole;
  if (!strcmp(name, "size")) { /* no axis of that name: the rows' own */
    g_free(whole);
    return g_strdup("size_bytes");
  }
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < e->axes->len; i++) g_ptr_array_add(names, ((CsimAxis *)g_ptr_array_index(e->axes, i))->name);
  for (const char *const *column = csim_result_columns(); *column; column++) g_ptr_array_add(names, (void *)*column);
  g_ptr_array_add(names, NULL);
  g_autofree char *hint = csim_suggest(name, (const char *const *)names->pdata);
  csim_json_error(place, CSIM_ERROR_REFERENCE, "'%.80s' is no axis and no column of the results%s", name, hint);
  return whole;
}

/* A column by name, or the kind's usual one; NULL if neither. */
static char *read_column(const CsimExperiment *e, CsimJson *object, const char *member, const char *usual, CsimJsonNeed need) {
  const char *name = usual;
  if (!csim_json_text(object, member, usual ? CSIM_JSON_OPTIONAL : need, &name) && !usual) return NULL;
  CsimJson *place = csim_json_get(object, member, CSIM_JSON_OPTIONAL);
  return check_column(e, place ? place : object, name);
}

static void read_file(CsimOutput *o, CsimJson *object) {
  const char *file = NULL;
  gboolean drawn = o->kind != CSIM_OUTPUT_TABLE && o->kind != CSIM_OUTPUT_BEST;
  if (!csim_json_text(object, "file", drawn ? CSIM_JSON_REQUIRED : CSIM_JSON_OPTIONAL, &file)) return;
  const char *dot = strrchr(file, '.');
  gboolean good = file[0] && !strchr(file, '/') && (!dot || (drawn ? !strcmp(dot, ".svg") || !strcmp(dot, ".png") : !strcmp(dot, ".csv") || !strcmp(dot, ".md")));
  if (good) o->file = g_strdup(file);
  else csim_json_error(csim_json_get(object, "file", CSIM_JSON_OPTIONAL), CSIM_ERROR_VALUE, "'file' is \"%.80s\"; allowed: %s, in the output folder", file,
                       drawn ? "NAME.svg, NAME.png, or NAME for both" : "NAME.csv or NAME.md");
}

static void read_output(CsimExperiment *e, CsimJson *object) {
  const char *names[G_N_ELEMENTS(kinds) + 1] = {NULL}, *title = NULL, *base = NULL;
  int kind = 0;
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) names[i] = kinds[i].name;
  if (!csim_json_is(object, CSIM_JSON_OBJECT) || !csim_json_choice(object, "kind", CSIM_JSON_REQUIRED, names, &kind)) return;
  CsimOutput *o = g_new0(CsimOutput, 1);
  gboolean links = kind == CSIM_OUTPUT_LINKS || kind == CSIM_OUTPUT_MAP, cdf = kind == CSIM_OUTPUT_CDF;
  o->kind = (CsimOutputKind)kind;
  o->loc = csim_json_loc(object);
  csim_json_text(object, "title", CSIM_JSON_OPTIONAL, &title);
  csim_json_text(object, "base", CSIM_JSON_OPTIONAL, &base);
  o->title = g_strdup(title);
  o->base = g_strdup(base);
  o->x = read_column(e, object, "x", kinds[kind].x, links || cdf ? CSIM_JSON_OPTIONAL : CSIM_JSON_REQUIRED);
  o->series = read_column(e, object, "series", NULL, kind == CSIM_OUTPUT_HEAT ? CSIM_JSON_REQUIRED : CSIM_JSON_OPTIONAL);
  o->value = read_column(e, object, "value", kinds[kind].value, CSIM_JSON_OPTIONAL);
  o->where = csim_tests_read(csim_json_object(object, "where", CSIM_JSON_OPTIONAL));
  for (CsimJson *v = csim_json_first(csim_json_object(object, "where", CSIM_JSON_OPTIONAL)); v; v = csim_json_next(v)) g_free(check_column(e, v, csim_json_key(v)));
  read_file(o, object);
  if (links && e->links == 0) csim_json_error(object, CSIM_ERROR_SCHEMA, "loads of links must be kept; allowed: \"links\": 64 (how many a row) or {\"most\": 1000, \"of\": \"fabric\"} at the top");
  g_ptr_array_add(e->outputs, o);
}

void csim_experiment_read_outputs(CsimExperiment *e, CsimJson *root) {
  CsimJson *list = csim_json_array(root, "outputs", CSIM_JSON_OPTIONAL);
  for (CsimJson *v = csim_json_first(list); v; v = csim_json_next(v)) read_output(e, v);
}
