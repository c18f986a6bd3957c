/* The grammar of NCCL_ALGO and NCCL_PROTO. Source: NCCL 2.30.7, src/graph/tuning.cc. */
#include "nccl/env-internal.h"

#include <string.h>

/* Function names as this grammar knows them, in the order of NCCL's function numbers. */
static const char *const functions[CSIM_N_NCCL_FUNCS] = {"Broadcast", "Reduce", "AllGather", "ReduceScatter",
                                                         "AllReduce"};

typedef struct {
  const char *variable, *text;
  const char *const *elements;
  guint n_elements;
  gboolean *mask, *named;
} ListReader;

static gboolean refuse(const ListReader *r, GError **error, const char *what, const char *token,
                       const char *allowed) {
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_NCCL, "%s: %s \"%s\" in \"%s\"; %s", r->variable, what, token,
              r->text, allowed);
  return FALSE;
}

static gboolean refuse_name(const ListReader *r, GError **error, const char *what, const char *token,
                            const char *const *names, guint n) {
  g_autoptr(GString) allowed = g_string_new("NCCL knows");
  for (guint i = 0; i < n; i++) g_string_append_printf(allowed, "%s %s", i ? "," : "", names[i]);
  return refuse(r, error, what, token, allowed->str);
}

static int position_of(const char *name, const char *const *names, guint n) {
  for (guint i = 0; i < n; i++)
    if (g_ascii_strcasecmp(name, names[i]) == 0) return (int)i;
  return -1;
}

/* "^a,b" or "a,b" into one function's row. Empty elements (",,") are skipped, as NCCL skips them. */
static gboolean read_row(const ListReader *r, const char *list, gboolean *row, GError **error) {
  gboolean listed = TRUE;
  if (*list == '^') {
    listed = FALSE;
    list++;
  }
  for (guint e = 0; e < r->n_elements; e++) row[e] = !listed;
  g_auto(GStrv) names = g_strsplit(list, ",", -1);
  for (char **name = names; *name; name++) {
    if (!**name) continue;
    int e = position_of(*name, r->elements, r->n_elements);
    if (e < 0) return refuse_name(r, error, "unknown name", *name, r->elements, r->n_elements);
    row[e] = listed;
  }
  return TRUE;
}

static gboolean apply(const ListReader *r, guint func, const char *list, GError **error) {
  if (r->named) r->named[func] = TRUE;
  return read_row(r, list, r->mask + func * r->n_elements, error);
}

static gboolean apply_all(const ListReader *r, const char *list, GError **error) {
  for (guint f = 0; f < CSIM_N_NCCL_FUNCS; f++)
    if (!apply(r, f, list, error)) return FALSE;
  return TRUE;
}

/* The first two non-empty pieces of "func:list", as NCCL's tokenizer sees them; the rest is ignored. */
static void cut_entry(char *entry, const char **first, const char **second) {
  char *save = NULL;
  *first = strtok_r(entry, ":", &save);
  *second = strtok_r(NULL, ":", &save);
}

/* entry: changed. at_start: nothing, not even a separator, comes before it. */
static gboolean read_entry(const ListReader *r, char *entry, gboolean at_start, GError **error) {
  const char *func, *list;
  cut_entry(entry, &func, &list);
  if (!func) return TRUE; /* only colons */
  if (!list && !at_start)
    return refuse(r, error, "no function in front of", func, "only the first entry may leave it out");
  if (!list) return apply_all(r, func, error);
  int f = position_of(func, functions, CSIM_N_NCCL_FUNCS);
  if (f < 0) return refuse_name(r, error, "unknown function", func, functions, CSIM_N_NCCL_FUNCS);
  return apply(r, (guint)f, list, error);
}

gboolean csim_env_list_parse(const char *variable, const char *text, const char *const *elements,
                             guint n_elements, gboolean *mask, gboolean *named, GError **error) {
  ListReader reader = {variable, text, elements, n_elements, mask, named};
  g_auto(GStrv) entries = g_strsplit(text, ";", -1);
  for (guint i = 0; entries[i]; i++)
    if (*entries[i] && !read_entry(&reader, entries[i], i == 0, error)) return FALSE;
  return TRUE;
}
