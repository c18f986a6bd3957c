/* Tables of measurements and targets files on any bytes: no crash; rows sorted, each with a size, a number and a place; errors of one line. */
#include "base/file.h"
#include "exp/validate.h"

#include <stddef.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_set(const CsimMeasuredSet *set) {
  g_assert_true(set->rows->len > 0 || set->unusable);
  for (guint i = 0; i < set->rows->len; i++) {
    const CsimMeasuredRow *row = &g_array_index(set->rows, CsimMeasuredRow, i);
    g_assert_cmpint(row->size, >, i > 0 ? (row - 1)->size - 1 : 0);
    g_assert_true(row->time_us > 0 || row->busbw_gbps > 0);
    g_assert_cmpuint(row->loc.line, >, 0);
  }
  for (int f = 0; f < CSIM_N_FACTS; f++)
    g_assert_true(!set->facts[f] || g_utf8_validate(set->facts[f], -1, NULL));
}

/* What the rules make of any description: a run or a reason, never neither. */
static void check_mapping(const CsimMeasuredSet *set) {
  static CsimTargets *targets;
  if (!targets) targets = csim_targets_load(NULL, NULL);
  CsimResolved *resolved = csim_targets_resolve(targets, set);
  g_assert_true(resolved->target || resolved->skip);
  csim_resolved_free(resolved);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(csim_measured_set_free);
  g_assert_true(csim_measured_csv(sets, "fuzz.csv", (const char *)data, size, NULL));
  g_assert_cmpuint(sets->len, >, 0);
  for (guint i = 0; i < sets->len; i++) {
    check_set((const CsimMeasuredSet *)g_ptr_array_index(sets, i));
    check_mapping((const CsimMeasuredSet *)g_ptr_array_index(sets, i));
  }
  return 0;
}
