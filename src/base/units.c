/* base/units.c - exact arithmetic and text forms of time, bytes and rates. */
#include "base/units.h"
#include "base/diag.h"
#include <math.h>
#include <string.h>

typedef unsigned __int128 u128;

CsimTime csim_rate_time(CsimRate rate, CsimBytes bytes) {
  g_assert(rate > 0 && bytes >= 0);
  uint64_t b = (uint64_t)bytes, r = (uint64_t)rate;
  /* Up to 9 MB the product fits 63 bits, and one division by hardware replaces a library call. */
  if (b <= (uint64_t)(INT64_MAX / CSIM_S))
    return (CsimTime)(b * (uint64_t)CSIM_S / r + (b * (uint64_t)CSIM_S % r != 0));
  u128 t = ((u128)b * (uint64_t)CSIM_S + (r - 1)) / r;
  return t > (u128)INT64_MAX ? CSIM_TIME_NEVER : (CsimTime)t;
}

CsimTime csim_time_add(CsimTime a, CsimTime b) {
  CsimTime sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? CSIM_TIME_NEVER : INT64_MIN;
}

/* --- reading: number, then unit ------------------------------------------ */

/* A decimal number as digits * 10^-decimals; at most 18 digits, so that digits fits. */
typedef struct {
  uint64_t digits;
  int decimals;
} Decimal;

#define MAX_DIGITS 18

/* Reads "12", "1.5", ".5"; returns the first byte behind it, or NULL if there is no number or too many digits. */
static const char *read_decimal(const char *s, Decimal *out) {
  Decimal d = {0, 0};
  int n = 0, significant = 0;
  gboolean in_fraction = FALSE;
  for (;; s++) {
    if (*s == '.' && !in_fraction) {
      in_fraction = TRUE;
      continue;
    }
    if (!g_ascii_isdigit(*s)) break;
    n++;
    if (d.digits > 0 || *s != '0') significant++;
    if (significant > MAX_DIGITS || d.decimals >= MAX_DIGITS) return NULL;
    d.digits = d.digits * 10 + (uint64_t)(*s - '0');
    d.decimals += in_fraction;
  }
  *out = d;
  return n > 0 ? s : NULL;
}

/* number * multiplier / divisor, rounded to the nearest; FALSE beyond int64. */
static gboolean scale(Decimal d, uint64_t multiplier, uint64_t divisor, int64_t *out) {
  u128 below = divisor, value;
  for (int i = 0; i < d.decimals; i++) below *= 10;
  value = ((u128)d.digits * multiplier + below / 2) / below;
  if (value > (u128)INT64_MAX) return FALSE;
  *out = (int64_t)value;
  return TRUE;
}

typedef struct {
  const char *name;
  uint64_t multiplier;
  uint64_t divisor;
} Unit;

/* What a kind of quantity needs to know to read its text. */
typedef struct {
  const char *noun;        /* "time" */
  const char *allowed;     /* "ps, ns, us, ms, s" */
  const char *readings[2]; /* what a bare number might have meant */
  gboolean (*find)(const char *text, Unit *out);
} Kind;

static gboolean refuse(GError **error, CsimErrorCode code, const char *text, const char *why) {
  csim_error_set(error, code, CSIM_LOC_NONE, "%.40s: %s", text, why);
  return FALSE;
}

static gboolean refuse_number(GError **error, const char *text, const Kind *kind) {
  if (*text == '-') return refuse(error, CSIM_ERROR_VALUE, text, "negative; allowed: zero or more");
  csim_error_set(error, CSIM_ERROR_SYNTAX, CSIM_LOC_NONE,
                 "'%.40s': not a %s; allowed: a number of at most %d digits with a unit: %s", text, kind->noun,
                 MAX_DIGITS, kind->allowed);
  return FALSE;
}

static gboolean refuse_bare(GError **error, const char *number, const Kind *kind) {
  csim_error_set(error, CSIM_ERROR_VALUE, CSIM_LOC_NONE, "%s: a %s needs a unit; is that %s%s or %s%s?",
                 number, kind->noun, number, kind->readings[0], number, kind->readings[1]);
  return FALSE;
}

/* Units that look like one and are two: name both. */
static const char *ambiguous(const char *unit) {
  static const struct {
    const char *unit, *question;
  } table[] = {
      {"KB", "is that kB (1000 bytes) or KiB (1024 bytes)?"},
      {"K", "is that kB (1000 bytes) or KiB (1024 bytes)?"},
      {"M", "is that MB (1000^2 bytes) or MiB (1024^2 bytes)?"},
      {"G", "is that GB (1000^3 bytes) or GiB (1024^3 bytes)?"},
      {"T", "is that TB (1000^4 bytes) or TiB (1024^4 bytes)?"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(table); i++)
    if (strcmp(unit, table[i].unit) == 0) return table[i].question;
  return NULL;
}

static gboolean refuse_unit(GError **error, const char *text, const char *unit, const Kind *kind) {
  const char *question = strcmp(kind->noun, "size") == 0 ? ambiguous(unit) : NULL;
  if (question != NULL) return refuse(error, CSIM_ERROR_VALUE, text, question);
  csim_error_set(error, CSIM_ERROR_VALUE, CSIM_LOC_NONE, "%.40s: '%.20s' is not a unit of %s; allowed: %s",
                 text, unit, kind->noun, kind->allowed);
  return FALSE;
}

static gboolean parse(const char *text, const Kind *kind, int64_t *out, GError **error) {
  Decimal number;
  Unit unit;
  g_autofree char *trimmed = g_strstrip(g_strdup(text));
  const char *unit_text = read_decimal(trimmed, &number);
  if (unit_text == NULL) return refuse_number(error, trimmed, kind);
  if (*unit_text == '\0') return refuse_bare(error, trimmed, kind);
  while (*unit_text == ' ') unit_text++;
  if (!kind->find(unit_text, &unit)) return refuse_unit(error, trimmed, unit_text, kind);
  if (scale(number, unit.multiplier, unit.divisor, out)) return TRUE;
  csim_error_set(error, CSIM_ERROR_LIMIT, CSIM_LOC_NONE, "%.40s: too large for a %s", trimmed, kind->noun);
  return FALSE;
}

static gboolean find_time(const char *text, Unit *out) {
  static const Unit units[] = {
      {"ps", 1, 1}, {"ns", 1000, 1}, {"us", 1000000, 1}, {"ms", 1000000000, 1}, {"s", 1000000000000, 1}};
  for (guint i = 0; i < G_N_ELEMENTS(units); i++) {
    if (strcmp(text, units[i].name) != 0) continue;
    *out = units[i];
    return TRUE;
  }
  return FALSE;
}

static const Unit prefixes[] = {
    {"Ki", UINT64_C(1) << 10, 1},
    {"Mi", UINT64_C(1) << 20, 1},
    {"Gi", UINT64_C(1) << 30, 1},
    {"Ti", UINT64_C(1) << 40, 1},
    {"Pi", UINT64_C(1) << 50, 1},
    {"k", 1000, 1},
    {"M", 1000000, 1},
    {"G", 1000000000, 1},
    {"T", UINT64_C(1000000000000), 1},
    {"P", UINT64_C(1000000000000000), 1},
    {"", 1, 1},
};

/* prefix + base, e.g. "Gi" + "B/s"; both tables are small. */
static gboolean find_prefixed(const char *text, const Unit *bases, guint n_bases, Unit *out) {
  for (guint p = 0; p < G_N_ELEMENTS(prefixes); p++) {
    if (!g_str_has_prefix(text, prefixes[p].name)) continue;
    const char *rest = text + strlen(prefixes[p].name);
    for (guint b = 0; b < n_bases; b++) {
      if (strcmp(rest, bases[b].name) != 0) continue;
      *out = (Unit){text, prefixes[p].multiplier, bases[b].divisor};
      return TRUE;
    }
  }
  return FALSE;
}

static gboolean find_bytes(const char *text, Unit *out) {
  static const Unit bases[] = {{"B", 1, 1}};
  return find_prefixed(text, bases, G_N_ELEMENTS(bases), out);
}

static gboolean find_rate(const char *text, Unit *out) {
  static const Unit bases[] = {{"B/s", 1, 1}, {"b/s", 1, 8}, {"bit/s", 1, 8}, {"bps", 1, 8}, {"Bps", 1, 1}};
  return find_prefixed(text, bases, G_N_ELEMENTS(bases), out);
}

static const Kind time_kind = {"time", "ps, ns, us, ms, s", {"ns", "us"}, find_time};
static const Kind size_kind = {"size",
                               "B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024)",
                               {"B", "MiB"},
                               find_bytes};
static const Kind rate_kind = {
    "rate", "b/s or B/s with k, M, G, T or Ki, Mi, Gi, Ti", {"Gb/s", "GB/s"}, find_rate};

gboolean csim_time_parse(const char *text, CsimTime *out, GError **error) {
  return parse(text, &time_kind, out, error);
}
gboolean csim_bytes_parse(const char *text, CsimBytes *out, GError **error) {
  return parse(text, &size_kind, out, error);
}
gboolean csim_rate_parse(const char *text, CsimRate *out, GError **error) {
  return parse(text, &rate_kind, out, error);
}

/* Exponent of 1024 for the suffix of an nccl-tests size ("", "K", "KB", "KiB", either case), or -1. */
static int size_suffix(const char *s) {
  static const char letters[] = "KMGT";
  const char *letter = *s != '\0' ? strchr(letters, g_ascii_toupper(*s)) : NULL;
  int power = letter != NULL ? (int)(letter - letters) + 1 : 0;
  if (power > 0) s++;
  gboolean ends =
      *s == '\0' || g_ascii_strcasecmp(s, "B") == 0 || (power > 0 && g_ascii_strcasecmp(s, "iB") == 0);
  return ends ? power : -1;
}

gboolean csim_size_parse(const char *text, CsimBytes *out, GError **error) {
  Decimal number;
  const char *rest = read_decimal(text, &number);
  int power = rest != NULL ? size_suffix(rest) : -1;
  if (power < 0) {
    csim_error_set(error, CSIM_ERROR_SYNTAX, CSIM_LOC_NONE,
                   "'%.40s': not a size; allowed: digits with K, M, G or T (powers of 1024), e.g. 8, 64K, 1G",
                   text);
    return FALSE;
  }
  if (scale(number, UINT64_C(1) << (10 * power), 1, out)) return TRUE;
  csim_error_set(error, CSIM_ERROR_LIMIT, CSIM_LOC_NONE, "%.40s: too large for a size", text);
  return FALSE;
}

/* --- printing: the shortest text that is near enough ----------------------- */

#define NEAR 0.0005 /* the header's promise: within 0.05 % */

/* Puts the shortest decimal of value (in unit) into buf if it is shorter than what is there. */
static void try_unit(double value, const Unit *unit, char *buf) {
  static const char *const formats[] = {"%.0f", "%.1f", "%.2f", "%.3f", "%.4f"};
  double scaled = value / (double)unit->multiplier;
  if (scaled < 1 - NEAR && unit->multiplier > 1) return;
  for (guint decimals = 0; decimals < G_N_ELEMENTS(formats); decimals++) {
    char number[CSIM_UNIT_BUF], whole[2 * CSIM_UNIT_BUF];
    g_ascii_formatd(number, sizeof number, formats[decimals], scaled);
    if (fabs(g_ascii_strtod(number, NULL) - scaled) > NEAR * scaled) continue;
    g_snprintf(whole, sizeof whole, "%s%s", number, unit->name);
    if (*buf == '\0' || strlen(whole) < strlen(buf)) g_strlcpy(buf, whole, CSIM_UNIT_BUF);
    return;
  }
}

/* units: largest first. The first unit not above the value and, for values rounded up to it, the next larger one. */
static void try_family(double value, const Unit *units, guint n, double step, char *buf) {
  for (guint i = 0; i < n; i++) {
    double scaled = value / (double)units[i].multiplier;
    if (scaled < step * (1 + NEAR) || i == 0) try_unit(value, &units[i], buf);
  }
}

static char *format(int64_t value, const Unit *decimal, guint n, const Unit *binary, guint n_binary,
                    char *buf) {
  char text[CSIM_UNIT_BUF] = "";
  double magnitude = fabs((double)value);
  if (n_binary > 0) try_family(magnitude, binary, n_binary, 1024, text);
  try_family(magnitude, decimal, n, 1000, text);
  g_snprintf(buf, CSIM_UNIT_BUF, "%s%s", value < 0 ? "-" : "", text);
  return buf;
}

char *csim_time_format(CsimTime t, char *buf) {
  static const Unit units[] = {
      {"s", 1000000000000, 1}, {"ms", 1000000000, 1}, {"us", 1000000, 1}, {"ns", 1000, 1}, {"ps", 1, 1}};
  if (t == CSIM_TIME_NEVER) {
    g_strlcpy(buf, "never", CSIM_UNIT_BUF);
    return buf;
  }
  if (t == 0) {
    g_strlcpy(buf, "0s", CSIM_UNIT_BUF);
    return buf;
  }
  return format(t, units, G_N_ELEMENTS(units), NULL, 0, buf);
}

char *csim_bytes_format(CsimBytes b, char *buf) {
  static const Unit binary[] = {{"TiB", UINT64_C(1) << 40, 1},
                                {"GiB", UINT64_C(1) << 30, 1},
                                {"MiB", UINT64_C(1) << 20, 1},
                                {"KiB", UINT64_C(1) << 10, 1}};
  static const Unit decimal[] = {{"TB", UINT64_C(1000000000000), 1},
                                 {"GB", 1000000000, 1},
                                 {"MB", 1000000, 1},
                                 {"kB", 1000, 1},
                                 {"B", 1, 1}};
  return format(b, decimal, G_N_ELEMENTS(decimal), binary, G_N_ELEMENTS(binary), buf);
}

char *csim_rate_format(CsimRate r, char *buf) {
  static const Unit units[] = {{"TB/s", UINT64_C(1000000000000), 1},
                               {"GB/s", 1000000000, 1},
                               {"MB/s", 1000000, 1},
                               {"kB/s", 1000, 1},
                               {"B/s", 1, 1}};
  return format(r, units, G_N_ELEMENTS(units), NULL, 0, buf);
}

char *csim_size_text(CsimBytes bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  guint unit = 0;
  for (; unit + 1 < G_N_ELEMENTS(units) && bytes >= 1024 && bytes % 1024 == 0; unit++) bytes /= 1024;
  return g_strdup_printf("%" G_GINT64_FORMAT "%s", bytes, units[unit]);
}

char *csim_number_text(double value, const char *format) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  if (!isfinite(value)) return g_strdup("");
  return g_strdup(g_ascii_formatd(text, sizeof text, format, value));
}

char *csim_range_text(int64_t min, int64_t max) {
  if (max != INT64_MAX)
    return g_strdup_printf("a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, min, max);
  if (min != INT64_MIN) return g_strdup_printf("a whole number of at least %" G_GINT64_FORMAT, min);
  return g_strdup("a whole number");
}

char *csim_range_text_double(double min, double max) {
  if (!isinf(max)) return g_strdup_printf("a number from %g to %g", min, max);
  return isinf(min) ? g_strdup("a number") : g_strdup_printf("a number of at least %g", min);
}
