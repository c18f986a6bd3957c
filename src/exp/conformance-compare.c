/* exp/conformance-compare.c - JSON against JSON, with the few places where a number is a measured float. */
#include "exp/conformance-private.h"
#include <math.h>
#include <string.h>

#define TOLERANCE 1e-3 /* of bandwidths, latencies and times */

/* Which numbers below here may differ by the tolerance. */
typedef enum { ALL_EXACT, ALL_FLOAT, SECOND_FLOAT, FIFTH_FLOAT } Floats;

static Floats floats_under(const char *key, Floats above) {
  static const char *const all[] = {"bw",       "lat",     "us",      "latency",      "maxBw", "totalBw",
                                    "minNetBw", "bwIntra", "bwInter", "latencyInter", NULL};
  if (g_strv_contains(all, key)) return ALL_FLOAT;
  if (strcmp(key, "links") == 0 || strcmp(key, "paths") == 0) return SECOND_FLOAT; /* [type, GB/s, ...] */
  if (strcmp(key, "choice") == 0) return FIFTH_FLOAT; /* [algorithm, protocol, channels, threads, us] */
  return above;
}

/* Parser cases have links as [node, type, GB/s, node], so the number decides, not its place. */
static Floats floats_at(Floats in, int index) {
  if (in == SECOND_FLOAT) return index == 1 || index == 2 ? ALL_FLOAT : ALL_EXACT;
  if (in == FIFTH_FLOAT) return index == 4 ? ALL_FLOAT : ALL_EXACT;
  return in;
}

static gboolean same_number(double a, double b, Floats floats) {
  if (a == b) return TRUE;
  return floats == ALL_FLOAT && fabs(a - b) <= TOLERANCE * MAX(fabs(a), fabs(b));
}

static gboolean compare(CsimConformance *c, const char *where, const cJSON *a, const cJSON *b, Floats floats);

static gboolean compare_objects(CsimConformance *c, const char *where, const cJSON *a, const cJSON *b,
                                Floats floats) {
  const cJSON *item;
  cJSON_ArrayForEach(item, a) {
    g_autofree char *below = g_strdup_printf("%s.%s", where, item->string);
    const cJSON *other = cJSON_GetObjectItemCaseSensitive(b, item->string);
    if (!compare(c, below, item, other, floats_under(item->string, floats))) return FALSE;
  }
  cJSON_ArrayForEach(item, b) {
    if (cJSON_GetObjectItemCaseSensitive(a, item->string) != NULL) continue;
    g_autofree char *below = g_strdup_printf("%s.%s", where, item->string);
    csim_conformance_add(c, below, NULL, item);
    return FALSE;
  }
  return TRUE;
}

/* A list of rows may have null rows among them. */
static gboolean holds_rows(const cJSON *array) {
  const cJSON *item;
  cJSON_ArrayForEach(item, array) {
    if (cJSON_IsArray(item) || cJSON_IsObject(item)) return TRUE;
  }
  return FALSE;
}

static gboolean compare_arrays(CsimConformance *c, const char *where, const cJSON *a, const cJSON *b,
                               Floats floats) {
  const cJSON *x = a->child, *y = b->child;
  gboolean leaf = !holds_rows(a);
  for (int i = 0; x != NULL && y != NULL; i++, x = x->next, y = y->next) {
    g_autofree char *below = g_strdup_printf("%s[%d]", where, i);
    if (!compare(c, below, x, y, leaf ? floats_at(floats, i) : floats)) return FALSE;
  }
  if (x == NULL && y == NULL) return TRUE;
  g_autofree char *below =
      g_strdup_printf("%s[%d]", where, MIN(cJSON_GetArraySize(a), cJSON_GetArraySize(b)));
  csim_conformance_add(c, below, x, y);
  return FALSE;
}

static gboolean compare(CsimConformance *c, const char *where, const cJSON *a, const cJSON *b,
                        Floats floats) {
  gboolean same_kind = b != NULL && (a->type & 0xff) == (b->type & 0xff);
  if (same_kind && cJSON_IsObject(a)) return compare_objects(c, where, a, b, floats);
  if (same_kind && cJSON_IsArray(a)) return compare_arrays(c, where, a, b, floats);
  gboolean same = same_kind;
  if (same && cJSON_IsNumber(a)) same = same_number(a->valuedouble, b->valuedouble, floats);
  if (same && cJSON_IsString(a)) same = strcmp(a->valuestring, b->valuestring) == 0;
  if (!same) csim_conformance_add(c, where, a, b);
  return same;
}

gboolean csim_conformance_compare(CsimConformance *c, const char *where, const cJSON *expected,
                                  const cJSON *got) {
  const char *key = strrchr(where, '.');
  return compare(c, where, expected, got, floats_under(key != NULL ? key + 1 : where, ALL_EXACT));
}
