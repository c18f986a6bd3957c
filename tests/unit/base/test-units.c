/* Units: arithmetic, text in, text out, and the words of every refusal. */
#include "base/rng.h"
#include "base/units.h"
#include <math.h>

typedef gboolean (*Parser)(const char *text, int64_t *out, GError **error);

typedef struct {
  const char *text;
  int64_t value;
  const char *message; /* NULL: accepted with this value */
} Case;

static void check(Parser parse, const Case *cases, guint n) {
  for (guint i = 0; i < n; i++) {
    g_autoptr(GError) error = NULL;
    int64_t value = -77;
    gboolean ok = parse(cases[i].text, &value, &error);
    g_test_message("'%s'", cases[i].text);
    g_assert_cmpstr(error != NULL ? error->message : NULL, ==, cases[i].message);
    g_assert_cmpint(ok, ==, cases[i].message == NULL);
    g_assert_cmpint(value, ==, ok ? cases[i].value : -77);
  }
}

#define TIME_UNITS "ps, ns, us, ms, s"
#define SIZE_UNITS "B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024)"
#define RATE_UNITS "b/s or B/s with k, M, G, T or Ki, Mi, Gi, Ti"

static void test_time(void) {
  static const Case cases[] = {
      {"0ns", 0, NULL},
      {"1ps", 1, NULL},
      {"600ns", 600000, NULL},
      {"1.5us", 1500000, NULL},
      {".5ms", 500000000, NULL},
      {"2s", INT64_C(2000000000000), NULL},
      {" 600 ns ", 600000, NULL},
      {"0.4ps", 0, NULL},
      {"0.5ps", 1, NULL},
      {"9223372s", INT64_C(9223372000000000000), NULL},
      {"9223373s", 0, "9223373s: too large for a time"},
      {"600", 0, "600: a time needs a unit; is that 600ns or 600us?"},
      {"600NS", 0, "600NS: 'NS' is not a unit of time; allowed: " TIME_UNITS},
      {"600GB/s", 0, "600GB/s: 'GB/s' is not a unit of time; allowed: " TIME_UNITS},
      {"1e3ns", 0, "1e3ns: 'e3ns' is not a unit of time; allowed: " TIME_UNITS},
      {"-5ns", 0, "-5ns: negative; allowed: zero or more"},
      {"", 0, "'': not a time; allowed: a number of at most 18 digits with a unit: " TIME_UNITS},
      {"ns", 0, "'ns': not a time; allowed: a number of at most 18 digits with a unit: " TIME_UNITS},
      {"1234567890123456789ps", 0,
       "'1234567890123456789ps': not a time; allowed: a number of at most 18 digits with a "
       "unit: " TIME_UNITS},
  };
  check(csim_time_parse, cases, G_N_ELEMENTS(cases));
}

static void test_bytes(void) {
  static const Case cases[] = {
      {"0B", 0, NULL},
      {"1B", 1, NULL},
      {"4KiB", 4096, NULL},
      {"4kB", 4000, NULL},
      {"256MiB", INT64_C(268435456), NULL},
      {"1.5GiB", INT64_C(1610612736), NULL},
      {"8GB", INT64_C(8000000000), NULL},
      {"1TiB", INT64_C(1099511627776), NULL},
      {"8191PiB", INT64_C(8191) << 50, NULL},
      {"8192PiB", 0, "8192PiB: too large for a size"},
      {"256", 0, "256: a size needs a unit; is that 256B or 256MiB?"},
      {"4KB", 0, "4KB: is that kB (1000 bytes) or KiB (1024 bytes)?"},
      {"4K", 0, "4K: is that kB (1000 bytes) or KiB (1024 bytes)?"},
      {"4M", 0, "4M: is that MB (1000^2 bytes) or MiB (1024^2 bytes)?"},
      {"4G", 0, "4G: is that GB (1000^3 bytes) or GiB (1024^3 bytes)?"},
      {"4T", 0, "4T: is that TB (1000^4 bytes) or TiB (1024^4 bytes)?"},
      {"8Gb", 0, "8Gb: 'Gb' is not a unit of size; allowed: " SIZE_UNITS},
  };
  check(csim_bytes_parse, cases, G_N_ELEMENTS(cases));
}

static void test_rate(void) {
  static const Case cases[] = {
      {"400Gb/s", INT64_C(50000000000), NULL},
      {"50GB/s", INT64_C(50000000000), NULL},
      {"400Gbps", INT64_C(50000000000), NULL},
      {"400Gbit/s", INT64_C(50000000000), NULL},
      {"50GBps", INT64_C(50000000000), NULL},
      {"1.8TB/s", INT64_C(1800000000000), NULL},
      {"48.7GB/s", INT64_C(48700000000), NULL},
      {"1MiB/s", 1048576, NULL},
      {"8b/s", 1, NULL},
      {"0Gb/s", 0, NULL},
      {"400", 0, "400: a rate needs a unit; is that 400Gb/s or 400GB/s?"},
      {"400GB", 0, "400GB: 'GB' is not a unit of rate; allowed: " RATE_UNITS},
      {"400gb/s", 0, "400gb/s: 'gb/s' is not a unit of rate; allowed: " RATE_UNITS},
  };
  check(csim_rate_parse, cases, G_N_ELEMENTS(cases));
}

static void test_size(void) {
#define NOT_A_SIZE(text) \
  "'" text "': not a size; allowed: digits with K, M, G or T (powers of 1024), e.g. 8, 64K, 1G"
  static const Case cases[] = {
      {"0", 0, NULL},
      {"8", 8, NULL},
      {"64K", 65536, NULL},
      {"64k", 65536, NULL},
      {"1M", 1 << 20, NULL},
      {"1G", 1 << 30, NULL},
      {"8g", INT64_C(8) << 30, NULL},
      {"1T", INT64_C(1) << 40, NULL},
      {"1GB", 1 << 30, NULL},
      {"1GiB", 1 << 30, NULL},
      {"1.5K", 1536, NULL},
      {"8B", 8, NULL},
      {"1X", 0, NOT_A_SIZE("1X")},
      {"1KX", 0, NOT_A_SIZE("1KX")},
      {"8iB", 0, NOT_A_SIZE("8iB")},
      {"-8", 0, NOT_A_SIZE("-8")},
      {"", 0, NOT_A_SIZE("")},
      {"G", 0, NOT_A_SIZE("G")},
      {"99999999T", 0, "99999999T: too large for a size"},
  };
  check(csim_size_parse, cases, G_N_ELEMENTS(cases));
}

static void test_rate_time(void) {
  g_assert_cmpint(csim_rate_time(1, 0), ==, 0);
  g_assert_cmpint(csim_rate_time(CSIM_S, 1), ==, 1);
  g_assert_cmpint(csim_rate_time(CSIM_S + 1, 1), ==, 1); /* rounded up, never 0 */
  g_assert_cmpint(csim_rate_time(3, 1), ==, INT64_C(333333333334));
  g_assert_cmpint(csim_rate_time(INT64_C(50000000000), INT64_C(1) << 30), ==, INT64_C(21474836480));
  g_assert_cmpint(csim_rate_time(1, INT64_MAX), ==, CSIM_TIME_NEVER);
  g_assert_cmpint(csim_rate_time(INT64_MAX, INT64_MAX), ==, CSIM_S);
}

/* The fast path and the 128-bit path are one function: compare with long division in 128 bits on both sides of the seam. */
static void test_rate_time_exact(void) {
  CsimRng rng;
  csim_rng_init(&rng, 1, 0, 0);
  for (int i = 0; i < 20000; i++) {
    CsimBytes bytes = csim_rng_range(&rng, 0, i % 2 ? 20000000 : INT64_C(1) << 40);
    CsimRate rate = csim_rng_range(&rng, 1, INT64_C(1) << (1 + i % 50));
    unsigned __int128 product = (unsigned __int128)bytes * (uint64_t)CSIM_S,
                      quotient = product / (uint64_t)rate;
    if (quotient * (uint64_t)rate != product) quotient++;
    CsimTime expected = quotient > INT64_MAX ? CSIM_TIME_NEVER : (CsimTime)quotient;
    g_assert_cmpint(csim_rate_time(rate, bytes), ==, expected);
  }
}

static void test_add(void) {
  g_assert_cmpint(csim_time_add(1, 2), ==, 3);
  g_assert_cmpint(csim_time_add(CSIM_TIME_NEVER, 1), ==, CSIM_TIME_NEVER);
  g_assert_cmpint(csim_time_add(CSIM_TIME_NEVER, CSIM_TIME_NEVER), ==, CSIM_TIME_NEVER);
  g_assert_cmpint(csim_time_add(CSIM_TIME_NEVER - 1, 1), ==, CSIM_TIME_NEVER);
}

typedef struct {
  int64_t value;
  const char *time, *bytes, *rate;
} Printed;

static void test_print(void) {
  static const Printed cases[] = {
      {0, "0s", "0B", "0B/s"},
      {1, "1ps", "1B", "1B/s"},
      {999, "999ps", "999B", "999B/s"},
      {1024, "1.024ns", "1KiB", "1.024kB/s"},
      {1500, "1.5ns", "1.5kB", "1.5kB/s"},
      {1536, "1.536ns", "1.5KiB", "1.536kB/s"},
      {999999, "1us", "1MB", "1MB/s"},
      {1500000, "1.5us", "1.5MB", "1.5MB/s"},
      {1 << 20, "1.049us", "1MiB", "1.049MB/s"},
      {1 << 28, "268.4us", "256MiB", "268.4MB/s"},
      {INT64_C(48700000000), "48.7ms", "48.7GB", "48.7GB/s"},
      {INT64_C(1) << 40, "1.1s", "1TiB", "1.1TB/s"},
      {-1500, "-1.5ns", "-1.5kB", "-1.5kB/s"},
  };
  char buf[CSIM_UNIT_BUF];
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_assert_cmpstr(csim_time_format(cases[i].value, buf), ==, cases[i].time);
    g_assert_cmpstr(csim_bytes_format(cases[i].value, buf), ==, cases[i].bytes);
    g_assert_cmpstr(csim_rate_format(cases[i].value, buf), ==, cases[i].rate);
  }
  g_assert_cmpstr(csim_time_format(CSIM_TIME_NEVER, buf), ==, "never");
}

static void check_round_trip(int64_t value, char *(*print)(int64_t, char *), Parser parse) {
  char buf[CSIM_UNIT_BUF];
  int64_t back;
  g_assert_true(parse(print(value, buf), &back, NULL));
  g_assert_cmpfloat(fabs((double)(back - value)), <=, 0.000501 * (double)value + 0.5);
}

static void test_round_trip(void) {
  CsimRng rng;
  csim_rng_init(&rng, 2, 0, 0);
  for (int i = 0; i < 20000; i++) {
    int64_t value = csim_rng_range(&rng, 0, INT64_C(1) << (1 + i % 61));
    check_round_trip(value, csim_time_format, csim_time_parse);
    check_round_trip(value, csim_bytes_format, csim_bytes_parse);
    check_round_trip(value, csim_rate_format, csim_rate_parse);
  }
}

static void test_microseconds(void) {
  g_assert_cmpint(csim_time_from_us(1.5), ==, 1500000);
  g_assert_cmpfloat(csim_time_us(1500000), ==, 1.5);
}

/* Exact, whatever it costs. */
static void test_size_text(void) {
  static const struct { CsimBytes bytes; const char *text; } cases[] = {
    {0, "0B"}, {1000, "1000B"}, {1024, "1KiB"}, {1536, "1536B"}, {65536, "64KiB"}, {INT64_C(8) << 30, "8GiB"}, {INT64_C(1) << 50, "1024TiB"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = csim_size_text(cases[i].bytes);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/units/time", test_time);
  g_test_add_func("/units/bytes", test_bytes);
  g_test_add_func("/units/rate", test_rate);
  g_test_add_func("/units/size", test_size);
  g_test_add_func("/units/rate-time", test_rate_time);
  g_test_add_func("/units/rate-time-exact", test_rate_time_exact);
  g_test_add_func("/units/add", test_add);
  g_test_add_func("/units/print", test_print);
  g_test_add_func("/units/round-trip", test_round_trip);
  g_test_add_func("/units/microseconds", test_microseconds);
  g_test_add_func("/units/size-text", test_size_text);
  return g_test_run();
}
