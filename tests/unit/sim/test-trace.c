/*
 * Trace buffer: names, records, bound, and writing to nobody.
 */
#include "sim/trace.h"

static void test_records(void) {
  g_autoptr(CsimTrace) trace = csim_trace_new(0);
  uint32_t send = csim_trace_name(trace, "send"), rate = csim_trace_name(trace, "rate");
  g_assert_cmpuint(csim_trace_name(trace, "send"), ==, send);
  g_assert_cmpuint(rate, !=, send);
  for (guint i = 0; i < 70000; i++)
    csim_trace_add_span(trace, i, send, i, i + 5, 3);
  csim_trace_add_counter(trace, 7, rate, 99, 1.5);
  g_assert_cmpuint(csim_trace_n(trace), ==, 70001);
  const CsimTraceRecord *span = csim_trace_get(trace, 66000), *counter = csim_trace_get(trace, 70000);
  g_assert_cmpint(span->begin, ==, 66000);
  g_assert_cmpint(span->end, ==, 66005);
  g_assert_cmpuint(span->track, ==, 66000);
  g_assert_cmpuint(span->arg, ==, 3);
  g_assert_cmpuint(span->kind, ==, CSIM_TRACE_SPAN);
  g_assert_cmpstr(csim_trace_name_text(trace, span->name), ==, "send");
  g_assert_cmpuint(counter->kind, ==, CSIM_TRACE_COUNTER);
  g_assert_cmpfloat(counter->value, ==, 1.5);
  g_assert_cmpstr(csim_trace_name_text(trace, 99), ==, "?");
  csim_trace_clear(trace);
  g_assert_cmpuint(csim_trace_n(trace), ==, 0);
  g_assert_cmpuint(csim_trace_name(trace, "rate"), ==, rate);
}

static void test_bound(void) {
  g_autoptr(CsimTrace) trace = csim_trace_new(10);
  for (guint i = 0; i < 25; i++)
    csim_trace_add_counter(trace, i, 0, i, 0);
  g_assert_cmpuint(csim_trace_n(trace), ==, 10);
  g_assert_cmpuint(csim_trace_dropped(trace), ==, 15);
  g_assert_cmpuint(csim_trace_get(trace, 9)->track, ==, 9);
}

static void test_nobody(void) {
  csim_trace_add_span(NULL, 0, 0, 0, 1, 0);
  csim_trace_add_counter(NULL, 0, 0, 0, 1);
  csim_trace_free(NULL);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/trace/records", test_records);
  g_test_add_func("/trace/bound", test_bound);
  g_test_add_func("/trace/nobody", test_nobody);
  return g_test_run();
}
