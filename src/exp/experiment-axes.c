/* exp/experiment-axes.c - axes and conditions of an experiment file. */
#include "exp/experiment-private.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- paths ------------------------------------------------------------------------ */

/* Members of a cluster file that may be named without "cluster." in front. */
static const char *const short_forms[] = {"fabric", "placement", "faults", "nodes[", NULL};

static gboolean is_short(const char *path) {
  for (int i = 0; short_forms[i]; i++) {
    gsize n = strlen(short_forms[i]);
    if (!strncmp(path, short_forms[i], n) && (short_forms[i][n - 1] == '[' || strchr(".[", path[n]))) return TRUE; /* strchr finds the end, too */
  }
  return FALSE;
}

char *csim_path_whole(const char *path) { return is_short(path) ? g_strconcat("cluster.", path, NULL) : g_strdup(path); }

gboolean csim_path_is_known(const char *path) {
  static const char *const families[] = {"env.", "set.", "cluster.", NULL};
  for (int i = 0; families[i]; i++)
    if (g_str_has_prefix(path, families[i])) return path[strlen(families[i])] != '\0';
  if (!strcmp(path, "env") || !strcmp(path, "set")) return FALSE; /* a run's, but not one setting */
  return is_short(path) || g_strv_contains(csim_run_args_keys(), path);
}

/* --- conditions ------------------------------------------------------------------------ */

double csim_label_number(const char *text) {
  char *end;
  double value = g_ascii_strtod(text, &end);
  CsimBytes size;
  CsimRate rate;
  CsimTime time;
  if (end != text && *end == '\0') return value;
  if (csim_size_parse(text, &size, NULL)) return (double)size;
  if (csim_rate_parse(text, &rate, NULL)) return (double)rate;
  return csim_time_parse(text, &time, NULL) ? (double)time * 1e-12 : NAN;
}

static gboolean same_label(const char *a, const char *b) {
  return !strcmp(a, b) || csim_label_number(a) == csim_label_number(b); /* NAN equals nothing */
}

gboolean csim_test_matches(const CsimTest *test, const char *text) {
  if (!test->any) {
    double value = csim_label_number(text);
    return value >= test->min && value <= test->max;
  }
  for (guint i = 0; i < test->any->len; i++)
    if (same_label((const char *)g_ptr_array_index(test->any, i), text)) return TRUE;
  return FALSE;
}

static void clear_test(gpointer data) {
  CsimTest *test = (CsimTest *)data;
  g_free(test->column);
  if (test->any) g_ptr_array_unref(test->any);
}

static GArray *tests_new(void) {
  GArray *tests = g_array_new(FALSE, FALSE, sizeof(CsimTest));
  g_array_set_clear_func(tests, clear_test);
  return tests;
}

static char *scalar_label(CsimJson *value) {
  cJSON *copy = csim_json_copy(value);
  char *label = csim_json_label(copy);
  cJSON_Delete(copy);
  return label;
}

static void read_bound(CsimJson *range, const char *name, double *out) {
  CsimJson *bound = csim_json_get(range, name, CSIM_JSON_OPTIONAL);
  if (!bound) return;
  g_autofree char *text = scalar_label(bound);
  *out = csim_label_number(text);
  if (isnan(*out)) csim_json_error(bound, CSIM_ERROR_VALUE, "'%s' is no number; allowed: a number, or a size such as \"64K\"", name);
}

static CsimTest read_test(CsimJson *value) {
  CsimTest test = {csim_path_whole(csim_json_key(value)), NULL, -HUGE_VAL, HUGE_VAL};
  if (csim_json_type(value) == CSIM_JSON_OBJECT) {
    read_bound(value, "min", &test.min);
    read_bound(value, "max", &test.max);
    return test;
  }
  test.any = g_ptr_array_new_with_free_func(g_free);
  if (csim_json_type(value) == CSIM_JSON_ARRAY)
    for (CsimJson *v = csim_json_first(value); v; v = csim_json_next(v)) g_ptr_array_add(test.any, scalar_label(v));
  else g_ptr_array_add(test.any, scalar_label(value));
  return test;
}

GArray *csim_tests_read(CsimJson *object) {
  GArray *tests = tests_new();
  for (CsimJson *v = csim_json_first(object); v; v = csim_json_next(v)) {
    CsimTest test = read_test(v);
    g_array_append_val(tests, test);
  }
  return tests;
}

/* --- values of an axis ------------------------------------------------------------------- */

static void free_value(gpointer data) {
  CsimAxisValue *value = (CsimAxisValue *)data;
  g_free(value->label);
  g_array_unref(value->sets);
  g_free(value);
}

static CsimAxisValue *value_new(CsimAxis *axis, char *label, CsimLoc loc) {
  CsimAxisValue *value = g_new0(CsimAxisValue, 1);
  value->label = label;
  value->loc = loc;
  value->sets = csim_settings_new();
  g_ptr_array_add(axis->values, value);
  return value;
}

static void add_set(CsimAxisValue *value, const char *path, cJSON *tree, CsimLoc loc) {
  CsimSetting s = {g_strdup(path), tree, loc};
  g_array_append_val(value->sets, s);
}

/* {"label": "template", "env.NCCL_PROTO": "Simple", "env.NCCL_BUFFSIZE": 8388608} */
static void read_bundle(CsimAxis *axis, CsimJson *object) {
  const char *label = NULL;
  if (!csim_json_is(object, CSIM_JSON_OBJECT) || !csim_json_text(object, "label", CSIM_JSON_REQUIRED, &label)) return;
  CsimAxisValue *value = value_new(axis, g_strdup(label), csim_json_loc(object));
  for (CsimJson *v = csim_json_first(object); v; v = csim_json_next(v)) {
    const char *key = csim_json_key(v);
    if (!strcmp(key, "label")) continue;
    g_autofree char *path = csim_path_whole(key);
    if (csim_path_is_known(key)) add_set(value, path, csim_json_copy(v), csim_json_loc(v));
    else csim_json_error(v, CSIM_ERROR_REFERENCE, "'%.80s' is no setting; allowed: a setting of a run, env.NAME, set.CONSTANT, cluster.PATH", key);
  }
}

static void read_value(CsimAxis *axis, CsimJson *v, gboolean named) {
  if (named) {
    read_bundle(axis, v);
    return;
  }
  cJSON *tree = csim_json_copy(v);
  CsimAxisValue *value = value_new(axis, csim_json_label(tree), csim_json_loc(v));
  add_set(value, axis->name, tree, csim_json_loc(v));
}

/* --- ranges: {"from": "1K", "to": "1G", "factor": 4}, {"from": 1, "to": 9, "step": 2} ------- */

/* Numbers stay numbers; what was written with a suffix gets one again where it can. */
static char *range_label(int64_t value, gboolean sizes) {
  return sizes && value >= 1024 && value % 1024 == 0 ? csim_size_text(value) : g_strdup_printf("%" PRId64, value);
}

static gboolean read_end(CsimJson *range, const char *name, int64_t *out, gboolean *sizes) {
  CsimJson *end = csim_json_get(range, name, CSIM_JSON_REQUIRED);
  if (!end) return FALSE;
  if (csim_json_type(end) == CSIM_JSON_NUMBER) return csim_json_as_int(end, 0, INT64_MAX / 4096, out);
  const char *text;
  *sizes = TRUE;
  if (!csim_json_as_text(end, &text)) return FALSE;
  if (csim_size_parse(text, out, NULL)) return TRUE;
  csim_json_error(end, CSIM_ERROR_VALUE, "'%s' is \"%.40s\"; allowed: a whole number, or a size such as \"64K\"", name, text);
  return FALSE;
}

static gboolean read_stride(CsimJson *range, int64_t *factor, int64_t *step) {
  gboolean sizes;
  *factor = *step = 0;
  csim_json_int(range, "factor", CSIM_JSON_OPTIONAL, 2, 1024, factor);
  if (csim_json_get(range, "step", CSIM_JSON_OPTIONAL)) read_end(range, "step", step, &sizes);
  if ((*factor > 0) != (*step > 0)) return TRUE;
  csim_json_error(range, CSIM_ERROR_SCHEMA, "a range grows in one way; allowed: {\"from\": F, \"to\": T, \"factor\": N} or {..., \"step\": N}");
  return FALSE;
}

static void read_range(CsimAxis *axis, CsimJson *range) {
  int64_t from, to, factor, step;
  gboolean sizes = FALSE;
  if (!read_end(range, "from", &from, &sizes) || !read_end(range, "to", &to, &sizes) || !read_stride(range, &factor, &step)) return;
  if (from > to || (factor && !from)) {
    csim_json_error(range, CSIM_ERROR_VALUE, "this range never gets to its end; allowed: 'from' up to 'to', above 0 with a factor");
    return;
  }
  for (int64_t value = from; value <= to && axis->values->len <= CSIM_EXPERIMENT_MAX_POINTS;) {
    char *label = range_label(value, sizes);
    add_set(value_new(axis, label, csim_json_loc(range)), axis->name, sizes ? cJSON_CreateString(label) : cJSON_CreateRaw(label), csim_json_loc(range));
    if (factor ? __builtin_mul_overflow(value, factor, &value) : __builtin_add_overflow(value, step, &value)) break;
  }
}

/* --- axes -------------------------------------------------------------------------------- */

static void read_axis(CsimExperiment *e, CsimJson *v) {
  const char *key = csim_json_key(v);
  gboolean named = !csim_path_is_known(key);
  CsimAxis *axis = g_new0(CsimAxis, 1);
  axis->name = csim_path_whole(key);
  axis->values = g_ptr_array_new_with_free_func(free_value);
  axis->group = e->axes->len;
  axis->loc = csim_json_key_loc(v);
  g_ptr_array_add(e->axes, axis);
  if (csim_json_type(v) == CSIM_JSON_OBJECT && !named) {
    read_range(axis, v);
    return;
  }
  if (!csim_json_is(v, CSIM_JSON_ARRAY)) return;
  if (csim_json_n(v) == 0) csim_json_error(v, CSIM_ERROR_VALUE, "axis '%.80s' has no values; allowed: one or more", key);
  CsimJson *first = csim_json_first(v);
  if (named && first && csim_json_type(first) != CSIM_JSON_OBJECT) {
    g_autofree char *hint = csim_suggest(key, csim_run_args_keys());
    csim_json_error(v, CSIM_ERROR_REFERENCE, "axis '%.80s' is no setting%s; or env.NAME, set.CONSTANT, cluster.PATH, or any name with values {\"label\": L, PATH: VALUE, ...}", key, hint);
    csim_json_ignore(v);
    return;
  }
  for (CsimJson *item = first; item; item = csim_json_next(item)) read_value(axis, item, named);
}

int csim_experiment_find_axis(const CsimExperiment *e, const char *name) {
  for (guint i = 0; i < e->axes->len; i++)
    if (!strcmp(((const CsimAxis *)g_ptr_array_index(e->axes, i))->name, name)) return (int)i;
  return -1;
}

/* An axis by name; a finding at v if there is none. */
static int wanted_axis(const CsimExperiment *e, CsimJson *v, const char *name) {
  g_autofree char *whole = csim_path_whole(name);
  int axis = csim_experiment_find_axis(e, whole);
  if (axis >= 0) return axis;
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < e->axes->len; i++) g_ptr_array_add(names, ((CsimAxis *)g_ptr_array_index(e->axes, i))->name);
  g_ptr_array_add(names, NULL);
  g_autofree char *hint = csim_suggest(name, (const char *const *)names->pdata);
  csim_json_error(v, CSIM_ERROR_REFERENCE, "there is no axis '%.80s'%s", name, hint);
  return -1;
}

/* "zip": [["nodes", "cluster.fabric.radix"], ...] */
static void read_zip(CsimExperiment *e, CsimJson *names) {
  const CsimAxis *leader = NULL;
  if (!csim_json_is(names, CSIM_JSON_ARRAY)) return;
  for (CsimJson *v = csim_json_first(names); v; v = csim_json_next(v)) {
    const char *name;
    int i = csim_json_as_text(v, &name) ? wanted_axis(e, v, name) : -1;
    if (i < 0) continue;
    CsimAxis *axis = (CsimAxis *)g_ptr_array_index(e->axes, (guint)i);
    if (leader && axis->values->len != leader->values->len)
      csim_json_error(v, CSIM_ERROR_VALUE, "axes that advance together have as many values each: '%s' has %u, '%s' %u", leader->name, leader->values->len, axis->name,
                      axis->values->len);
    if (leader) axis->group = leader->group;
    else leader = axis;
  }
}

/* Groups without gaps, in order of their first axes. */
static void number_groups(CsimExperiment *e) {
  for (guint i = 0; i < e->axes->len; i++) {
    CsimAxis *axis = (CsimAxis *)g_ptr_array_index(e->axes, i);
    axis->group = axis->group == i ? e->n_groups++ : ((CsimAxis *)g_ptr_array_index(e->axes, axis->group))->group;
  }
}

static void read_filters(CsimExperiment *e, CsimJson *root, const char *name, GPtrArray *out) {
  CsimJson *list = csim_json_array(root, name, CSIM_JSON_OPTIONAL);
  for (CsimJson *v = csim_json_first(list); v; v = csim_json_next(v)) {
    if (!csim_json_is(v, CSIM_JSON_OBJECT)) continue;
    g_ptr_array_add(out, csim_tests_read(v));
    for (CsimJson *member = csim_json_first(v); member; member = csim_json_next(member)) wanted_axis(e, member, csim_json_key(member));
  }
}

void csim_experiment_read_axes(CsimExperiment *e, CsimJson *root) {
  CsimJson *axes = csim_json_object(root, "axes", CSIM_JSON_OPTIONAL);
  for (CsimJson *v = csim_json_first(axes); v; v = csim_json_next(v)) read_axis(e, v);
  if (e->axes->len > CSIM_EXPERIMENT_MAX_AXES)
    csim_json_error(axes, CSIM_ERROR_LIMIT, "%u axes; allowed: %d", e->axes->len, CSIM_EXPERIMENT_MAX_AXES);
  CsimJson *zip = csim_json_array(root, "zip", CSIM_JSON_OPTIONAL);
  for (CsimJson *v = csim_json_first(zip); v; v = csim_json_next(v)) read_zip(e, v);
  number_groups(e);
  read_filters(e, root, "only", e->only);
  read_filters(e, root, "skip", e->skip);
}
