/*
 * base/units.h - exact arithmetic on time, bytes and rates; text in and out.
 *
 * Used by: every layer.
 *
 * Text needs its unit: "400Gb/s" and "50GB/s" are the same rate, "600ns" a
 * time, "256MiB" a size. A bare number is refused with a message that names
 * both readings ("400: is that 400Gb/s or 400GB/s?"). Sizes in the manner of
 * nccl-tests ("8", "1G", binary multiples) have their own parser.
 */
#ifndef CSIM_BASE_UNITS_H
#define CSIM_BASE_UNITS_H

#include "collsim/types.h"

/* Time to move `bytes` at `rate`, rounded up; 128-bit product, so exact for all inputs.
 * rate > 0, bytes >= 0; saturates at CSIM_TIME_NEVER. */
CsimTime csim_rate_time(CsimRate rate, CsimBytes bytes);
/* a + b with saturation at CSIM_TIME_NEVER. */
CsimTime csim_time_add(CsimTime a, CsimTime b);

/* Parsers: TRUE and *out, or FALSE and a CSIM_ERROR_VALUE/SYNTAX error (message without place). */
gboolean csim_time_parse(const char *text, CsimTime *out, GError **error);   /* ps ns us ms s */
gboolean csim_bytes_parse(const char *text, CsimBytes *out, GError **error); /* B kB KiB MB MiB GB GiB ... */
gboolean csim_rate_parse(const char *text, CsimRate *out, GError **error);   /* Gb/s GB/s Mb/s MiB/s ... */
/* nccl-tests form: digits with an optional K, M, G or T (1024-based, either case, optional trailing B/iB). */
gboolean csim_size_parse(const char *text, CsimBytes *out, GError **error);

/* Printers write into `buf` (CSIM_UNIT_BUF bytes) and return it; shortest form that reads back to
 * within 0.05 %: "1.5us", "48.7GB/s", "256MiB". */
#define CSIM_UNIT_BUF 32
char *csim_time_format(CsimTime t, char *buf);
char *csim_bytes_format(CsimBytes b, char *buf);
char *csim_rate_format(CsimRate r, char *buf);

/* Exact sizes: "1GiB", "64KiB", "1000B". Caller frees. */
char *csim_size_text(CsimBytes bytes);
/* A number by a printf format ("%.3f") in any locale, "" if it is not finite. Caller frees. */
char *csim_number_text(double value, const char *format);


static inline double csim_time_us(CsimTime t) { return (double)t * 1e-6; }
static inline CsimTime csim_time_from_us(double us) { return (CsimTime)(us * 1e6 + 0.5); }

/* What a bounded number may be, for messages: "a whole number from 1 to 8", "a number of at least 0". The extremes of the
 * type (INT64_MIN/MAX, -/+HUGE_VAL) mean no bound. Caller frees. */
char *csim_range_text(int64_t min, int64_t max);
char *csim_range_text_double(double min, double max);

#endif
