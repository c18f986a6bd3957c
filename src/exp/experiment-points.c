/* exp/experiment-points.c - every combination of the axes that passes the filters, numbered in order. */
#include "exp/experiment-private.h"

/* A combination is a number in a mixed base: one digit a group of axes, the last group's the lowest. */
static guint group_size(const CsimExperiment *e, guint group) {
  for (guint i = 0; i < e->axes->len; i++) {
    const CsimAxis *axis = (const CsimAxis *)g_ptr_array_index(e->axes, i);
    if (axis->group == group) return axis->values->len;
  }
  return 1;
}

static const CsimAxisValue *value_at(const CsimExperiment *e, guint64 combination, guint axis) {
  const CsimAxis *a = (const CsimAxis *)g_ptr_array_index(e->axes, axis);
  for (guint group = e->n_groups; --group > a->group;) combination /= group_size(e, group);
  return (const CsimAxisValue *)g_ptr_array_index(a->values, combination % a->values->len);
}

static gboolean matches_all(const CsimExperiment *e, guint64 combination, const GArray *tests) {
  for (guint i = 0; i < tests->len; i++) {
    const CsimTest *test = &g_array_index(tests, CsimTest, i);
    int axis = csim_experiment_find_axis(e, test->column);
    if (axis < 0 || !csim_test_matches(test, value_at(e, combination, (guint)axis)->label)) return FALSE;
  }
  return TRUE;
}

static gboolean matches_one(const CsimExperiment *e, guint64 combination, const GPtrArray *filters) {
  for (guint i = 0; i < filters->len; i++)
    if (matches_all(e, combination, (const GArray *)g_ptr_array_index(filters, i))) return TRUE;
  return FALSE;
}

static gboolean too_many(const CsimExperiment *e, GError **error) {
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_LIMIT, "%s: more than %d points; allowed: that many", e->path, CSIM_EXPERIMENT_MAX_POINTS);
  return FALSE;
}

gboolean csim_experiment_list(CsimExperiment *e, GError **error) {
  guint64 n = 1;
  for (guint group = 0; group < e->n_groups; group++) {
    n *= group_size(e, group);
    if (n > CSIM_EXPERIMENT_MAX_POINTS) return too_many(e, error);
  }
  for (guint64 c = 0; c < n; c++)
    if ((e->only->len == 0 || matches_one(e, c, e->only)) && !matches_one(e, c, e->skip)) g_array_append_val(e->points, c);
  if ((guint64)e->points->len * e->repeats > CSIM_EXPERIMENT_MAX_POINTS) return too_many(e, error);
  if (e->points->len > 0) return TRUE;
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "%s: \"only\" and \"skip\" leave no point", e->path);
  return FALSE;
}

guint csim_experiment_n_points(const CsimExperiment *e) { return e->points->len * e->repeats; }
guint csim_experiment_repeat(const CsimExperiment *e, guint point) { return point % e->repeats; }

const CsimAxisValue *csim_experiment_value(const CsimExperiment *e, guint point, guint axis) {
  return value_at(e, g_array_index(e->points, guint64, point / e->repeats), axis);
}
