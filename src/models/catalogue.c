#include "models/catalogue.h"

#include "base/hash.h"
#include "base/units.h"
#include "models/catalogue-build.h"
#include "models/embedded.h"
#include <string.h>

#define MAX_LIKE 16 /* "like" steps; more is a circle */

struct CsimCatalogue {
  GPtrArray *sorted;     /* const CsimConstant*, by name */
  GHashTable *by_name;   /* name -> CsimConstant*, owned */
  GPtrArray *gpu_groups; /* CsimGroup*, "gpu.*", by path */
  GHashTable *groups;    /* owns them */
  uint64_t digest;
};

/* --- building ---------------------------------------------------------------- */

CsimConstant *csim_catalogue_constant_new(const char *name) {
  CsimConstant *constant = g_new0(CsimConstant, 1);
  constant->name = g_intern_string(name);
  return constant;
}

static void group_free(gpointer data) {
  CsimGroup *group = (CsimGroup *)data;
  g_ptr_array_unref(group->devices);
  g_free(group);
}

CsimGroup *csim_catalogue_group(CsimCatalogueBuild *build, const char *path) {
  CsimGroup *group = (CsimGroup *)g_hash_table_lookup(build->groups, path);
  if (group != NULL) return group;
  group = g_new0(CsimGroup, 1);
  group->path = g_intern_string(path);
  group->devices = g_ptr_array_new();
  g_hash_table_insert(build->groups, (gpointer)group->path, group);
  return group;
}

const CsimConstant *csim_catalogue_resolve(const CsimCatalogueBuild *build, const char *name) {
  g_autofree char *path = g_strdup(name);
  char *dot = strrchr(path, '.');
  const CsimConstant *found = (const CsimConstant *)g_hash_table_lookup(build->constants, name);
  if (found != NULL || dot == NULL) return found;
  const char *leaf = name + (dot - path) + 1;
  *dot = '\0';
  const CsimGroup *group = (const CsimGroup *)g_hash_table_lookup(build->groups, path);
  for (int step = 0; group != NULL && group->like != NULL && step < MAX_LIKE; step++) {
    g_autofree char *inherited = g_strdup_printf("%s.%s", group->like, leaf);
    found = (const CsimConstant *)g_hash_table_lookup(build->constants, inherited);
    if (found != NULL) return found;
    group = (const CsimGroup *)g_hash_table_lookup(build->groups, group->like);
  }
  return NULL;
}

static int by_text(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static GPtrArray *sorted_keys(GHashTable *table) {
  GPtrArray *keys = g_ptr_array_new();
  GHashTableIter iter;
  gpointer key = NULL;
  g_hash_table_iter_init(&iter, table);
  while (g_hash_table_iter_next(&iter, &key, NULL)) g_ptr_array_add(keys, key);
  g_ptr_array_sort(keys, by_text);
  return keys;
}

/* Adds group.leaf for each constant that `from` gives itself. */
static void add_leaves(const CsimCatalogueBuild *build, const GPtrArray *explicit_names, const char *from,
                       const char *group, GHashTable *out) {
  g_autofree char *prefix = g_strdup_printf("%s.", from);
  gsize skip = strlen(prefix);
  for (guint i = 0; i < explicit_names->len; i++) {
    const char *name = (const char *)g_ptr_array_index(explicit_names, i);
    if (!g_str_has_prefix(name, prefix) || strchr(name + skip, '.') != NULL) continue;
    g_autofree char *own = g_strdup_printf("%s.%s", group, name + skip);
    g_hash_table_add(out, (gpointer)g_intern_string(own));
  }
}

static GPtrArray *all_names(const CsimCatalogueBuild *build) {
  g_autoptr(GPtrArray) explicit_names = sorted_keys(build->constants);
  g_autoptr(GPtrArray) paths = sorted_keys(build->groups);
  g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < explicit_names->len; i++)
    g_hash_table_add(names, g_ptr_array_index(explicit_names, i));
  for (guint i = 0; i < paths->len; i++) {
    const char *path = (const char *)g_ptr_array_index(paths, i);
    const CsimGroup *group = (const CsimGroup *)g_hash_table_lookup(build->groups, path);
    for (int step = 0; group != NULL && group->like != NULL && step < MAX_LIKE; step++) {
      add_leaves(build, explicit_names, group->like, path, names);
      group = (const CsimGroup *)g_hash_table_lookup(build->groups, group->like);
    }
  }
  return sorted_keys(names);
}

char **csim_catalogue_names(const CsimCatalogueBuild *build) {
  g_autoptr(GPtrArray) names = all_names(build);
  char **out = g_new0(char *, names->len + 1);
  for (guint i = 0; i < names->len; i++) out[i] = g_strdup((const char *)g_ptr_array_index(names, i));
  return out;
}

/* Every "like" must name a group, and must not come back to itself. */
static void check_likes(const CsimCatalogueBuild *build) {
  g_autoptr(GPtrArray) paths = sorted_keys(build->groups);
  for (guint i = 0; i < paths->len; i++) {
    const CsimGroup *start =
        (const CsimGroup *)g_hash_table_lookup(build->groups, g_ptr_array_index(paths, i));
    const CsimGroup *group = start;
    int step = 0;
    while (group != NULL && group->like != NULL && step++ < MAX_LIKE)
      group = (const CsimGroup *)g_hash_table_lookup(build->groups, group->like);
    if (group == NULL)
      csim_diag_add(build->diag, CSIM_FINDING_ERROR, CSIM_ERROR_REFERENCE, start->like_loc,
                    "%s is like %s, which does not exist; allowed: the name of a group beside it",
                    start->path, start->like);
    else if (group->like != NULL)
      csim_diag_add(build->diag, CSIM_FINDING_ERROR, CSIM_ERROR_REFERENCE, start->like_loc,
                    "%s is like itself over more than %d steps", start->path, MAX_LIKE);
  }
}

/* --- freezing ---------------------------------------------------------------- */

static uint64_t add_to_digest(uint64_t hash, const CsimConstant *c) {
  uint64_t bits = (uint64_t)c->time;
  if (c->unit == CSIM_UNIT_NUMBER) memcpy(&bits, &c->number, sizeof bits);
  hash = csim_hash_bytes(hash, c->name, strlen(c->name) + 1);
  return csim_hash_u64(csim_hash_u32(hash, (uint32_t)c->unit), bits);
}

/* Meaning comes from the nearest group above that gives one. */
static const char *inherited_meaning(const CsimCatalogueBuild *build, const CsimConstant *c) {
  const char *dot = strrchr(c->name, '.');
  if (c->meaning != NULL || dot == NULL) return c->meaning;
  g_autofree char *path = g_strndup(c->name, dot - c->name);
  const CsimGroup *group = (const CsimGroup *)g_hash_table_lookup(build->groups, path);
  for (int step = 0; group != NULL && group->like != NULL && step < MAX_LIKE; step++) {
    g_autofree char *above = g_strdup_printf("%s%s", group->like, dot);
    const CsimConstant *found = (const CsimConstant *)g_hash_table_lookup(build->constants, above);
    if (found != NULL && found->meaning != NULL) return found->meaning;
    group = (const CsimGroup *)g_hash_table_lookup(build->groups, group->like);
  }
  return NULL;
}

static CsimCatalogue *freeze(CsimCatalogueBuild *build) {
  CsimCatalogue *c = g_new0(CsimCatalogue, 1);
  g_autoptr(GPtrArray) names = all_names(build);
  c->sorted = g_ptr_array_new();
  c->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
  c->gpu_groups = g_ptr_array_new();
  c->digest = CSIM_HASH_INIT;
  for (guint i = 0; i < names->len; i++) {
    CsimConstant *own = csim_catalogue_constant_new((const char *)g_ptr_array_index(names, i));
    const char *name = own->name;
    *own = *csim_catalogue_resolve(build, name);
    own->name = name;
    own->meaning = inherited_meaning(build, own);
    g_hash_table_insert(c->by_name, (gpointer)name, own);
    g_ptr_array_add(c->sorted, own);
    c->digest = add_to_digest(c->digest, own);
  }
  g_autoptr(GPtrArray) paths = sorted_keys(build->groups);
  for (guint i = 0; i < paths->len; i++)
    if (g_str_has_prefix((const char *)g_ptr_array_index(paths, i), "gpu."))
      g_ptr_array_add(c->gpu_groups, g_hash_table_lookup(build->groups, g_ptr_array_index(paths, i)));
  c->groups = g_steal_pointer(&build->groups);
  return c;
}

CsimCatalogue *csim_catalogue_new(const char *overlay_file, const char *const *sets, GError **error) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(GHashTable) constants = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
  CsimCatalogueBuild build = {.constants = constants, .diag = diag};
  build.groups = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, group_free);
  const CsimEmbedded *shipped = &csim_embedded_hardware[0];
  csim_catalogue_read(&build, shipped->name, shipped->text, (gssize)shipped->length, FALSE);
  if (overlay_file != NULL) csim_catalogue_read(&build, overlay_file, NULL, 0, TRUE);
  for (gsize i = 0; sets != NULL && sets[i] != NULL; i++) csim_catalogue_set(&build, sets[i]);
  check_likes(&build);
  CsimCatalogue *catalogue = csim_diag_check(diag, error) ? freeze(&build) : NULL;
  if (build.groups != NULL) g_hash_table_unref(build.groups);
  return catalogue;
}

void csim_catalogue_free(CsimCatalogue *c) {
  if (c == NULL) return;
  g_ptr_array_unref(c->sorted);
  g_ptr_array_unref(c->gpu_groups);
  g_hash_table_unref(c->by_name);
  g_hash_table_unref(c->groups);
  g_free(c);
}

/* --- reading ----------------------------------------------------------------- */

const CsimConstant *csim_catalogue_find(const CsimCatalogue *c, const char *name) {
  return (const CsimConstant *)g_hash_table_lookup(c->by_name, name);
}

guint csim_catalogue_n(const CsimCatalogue *c) {
  return c->sorted->len;
}

const CsimConstant *csim_catalogue_get(const CsimCatalogue *c, guint i) {
  g_assert(i < c->sorted->len);
  return (const CsimConstant *)g_ptr_array_index(c->sorted, i);
}

uint64_t csim_catalogue_digest(const CsimCatalogue *c) {
  return c->digest;
}

static const CsimConstant *look_up(const CsimCatalogue *c, CsimUnitKind unit, const char *format,
                                   va_list args) {
  char name[128];
  g_vsnprintf(name, sizeof name, format, args);
  const CsimConstant *found = csim_catalogue_find(c, name);
  if (found == NULL || found->unit != unit)
    g_error("catalogue: '%s' %s", name, found == NULL ? "is missing" : "has the wrong unit");
  return found;
}

#define LOOK_UP(unit)                                         \
  va_list args;                                               \
  va_start(args, format);                                     \
  const CsimConstant *found = look_up(c, unit, format, args); \
  va_end(args)

CsimTime csim_catalogue_time(const CsimCatalogue *c, const char *format, ...) {
  LOOK_UP(CSIM_UNIT_TIME);
  return found->time;
}

CsimRate csim_catalogue_rate(const CsimCatalogue *c, const char *format, ...) {
  LOOK_UP(CSIM_UNIT_RATE);
  return found->rate;
}

CsimBytes csim_catalogue_bytes(const CsimCatalogue *c, const char *format, ...) {
  LOOK_UP(CSIM_UNIT_BYTES);
  return found->bytes;
}

double csim_catalogue_number(const CsimCatalogue *c, const char *format, ...) {
  LOOK_UP(CSIM_UNIT_NUMBER);
  return found->number;
}

/* --- which GPU --------------------------------------------------------------- */

static gboolean has_device(const CsimGroup *group, const char *pci_device) {
  for (guint i = 0; pci_device != NULL && i < group->devices->len; i++)
    if (g_ascii_strcasecmp((const char *)g_ptr_array_index(group->devices, i), pci_device) == 0) return TRUE;
  return FALSE;
}

/* How well a group fits; 0 not at all. A generation above `sm` never fits; among the rest the nearest one, then the one
 * with this link count, then the one made first of its kind (without a link count). */
static int fit(const CsimGroup *group, int sm, int nvlinks) {
  if (group->sm == 0 || group->sm > sm) return 0;
  int links = group->nvlinks == 0 ? 1 : group->nvlinks == nvlinks ? 2 : 0;
  return links == 0 ? 0 : group->sm * 8 + links * 2 + (group->like == NULL || links == 2 ? 1 : 0);
}

const char *csim_catalogue_gpu_model(const CsimCatalogue *c, int sm, int nvlinks, const char *pci_device) {
  const CsimGroup *best = NULL;
  int best_fit = 0;
  for (guint i = 0; i < c->gpu_groups->len; i++) {
    const CsimGroup *group = (const CsimGroup *)g_ptr_array_index(c->gpu_groups, i);
    int its = fit(group, sm, nvlinks);
    if (has_device(group, pci_device)) return group->path + strlen("gpu.");
    if (its > best_fit) {
      best = group;
      best_fit = its;
    }
  }
  return best != NULL ? best->path + strlen("gpu.") : "p100"; /* older than all: the oldest */
}

char *csim_constant_text(const CsimConstant *constant) {
  char text[CSIM_UNIT_BUF];
  switch (constant->unit) {
  case CSIM_UNIT_TIME: return g_strdup(csim_time_format(constant->time, text));
  case CSIM_UNIT_RATE: return g_strdup(csim_rate_format(constant->rate, text));
  case CSIM_UNIT_BYTES: return g_strdup(csim_bytes_format(constant->bytes, text));
  case CSIM_UNIT_NUMBER: return csim_number_text(constant->number, "%g");
  }
  g_assert_not_reached();
}
