/* probe/table.c - measured rows and facts as CSV and JSON. */
#include "probe/table.h"

#include "base/csv.h"
#include "base/file.h"
#include "collsim/version.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/utsname.h>

typedef struct {
  char *key, *value;
} Fact;

struct CsimProbeTable {
  const char *const *columns;
  guint n_columns;
  GPtrArray *facts; /* Fact* */
  GPtrArray *rows;  /* char**, NULL-ended */
};

static void free_fact(gpointer data) {
  Fact *fact = (Fact *)data;
  g_free(fact->key);
  g_free(fact->value);
  g_free(fact);
}

CsimProbeTable *csim_probe_table_new(const char *const *columns) {
  CsimProbeTable *t = g_new0(CsimProbeTable, 1);
  t->columns = columns;
  t->n_columns = g_strv_length((char **)columns);
  t->facts = g_ptr_array_new_with_free_func(free_fact);
  t->rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
  return t;
}

void csim_probe_table_free(CsimProbeTable *t) {
  if (!t) return;
  g_ptr_array_unref(t->facts);
  g_ptr_array_unref(t->rows);
  g_free(t);
}

/* --- facts ---------------------------------------------------------------------- */

static Fact *find_fact(const CsimProbeTable *t, const char *key) {
  for (guint i = 0; i < t->facts->len; i++) {
    Fact *fact = (Fact *)g_ptr_array_index(t->facts, i);
    if (!strcmp(fact->key, key)) return fact;
  }
  return NULL;
}

void csim_probe_table_fact(CsimProbeTable *t, const char *key, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *value = g_strstrip(g_strdelimit(g_strdup_vprintf(format, arguments), "\r\n", ' '));
  va_end(arguments);
  Fact *fact = find_fact(t, key);
  if (*value == '\0') return;
  if (!fact) {
    fact = g_new0(Fact, 1);
    fact->key = g_strdup(key);
    g_ptr_array_add(t->facts, fact);
  }
  g_free(fact->value);
  fact->value = g_steal_pointer(&value);
}

const char *csim_probe_table_get(const CsimProbeTable *t, const char *key) {
  const Fact *fact = find_fact(t, key);
  return fact ? fact->value : NULL;
}

/* The value of "name : value" in /proc/cpuinfo, or NULL. */
static char *cpu_fact(const char *name) {
  gsize length, n = strlen(name);
  g_autofree char *text = csim_file_read("/proc/cpuinfo", INT64_C(1) << 20, &length, NULL);
  g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", 64);
  for (char **line = lines; *line; line++) {
    const char *colon = strchr(*line, ':');
    if (colon && !strncmp(*line, name, n) && strchr("\t :", (*line)[n])) return g_strstrip(g_strdup(colon + 1));
  }
  return NULL;
}

gboolean csim_probe_is_virtual_machine(void) {
  g_autofree char *flags = cpu_fact("flags");
  g_auto(GStrv) words = g_strsplit(flags ? flags : "", " ", -1);
  return g_strv_contains((const char *const *)words, "hypervisor");
}

void csim_probe_table_machine(CsimProbeTable *t) {
  g_autoptr(GDateTime) now = g_date_time_new_now_utc();
  g_autofree char *date = g_date_time_format(now, "%Y-%m-%d %H:%M:%S UTC"), *cpu = cpu_fact("model name");
  struct utsname host;
  csim_probe_table_fact(t, "date", "%s", date);
  csim_probe_table_fact(t, "program", "collsim %s", COLLSIM_VERSION);
  if (uname(&host) == 0) csim_probe_table_fact(t, "kernel", "%s %s", host.release, host.machine);
  csim_probe_table_fact(t, "processor", "%s, %u cores", cpu ? cpu : "unknown", g_get_num_processors());
  csim_probe_table_fact(t, "machine", "%s", csim_probe_is_virtual_machine() ? "virtual" : "no hypervisor seen");
}

/* --- rows ----------------------------------------------------------------------- */

void csim_probe_table_row(CsimProbeTable *t, const char *const *cells) {
  char **row = g_new0(char *, t->n_columns + 1);
  for (guint i = 0; i < t->n_columns; i++) row[i] = g_strdup(cells[i] ? cells[i] : "");
  g_ptr_array_add(t->rows, row);
}

guint csim_probe_table_n_rows(const CsimProbeTable *t) {
  return t->rows->len;
}

/* --- text ----------------------------------------------------------------------- */

static void csv_line(GString *out, const char *const *cells, guint n) {
  for (guint i = 0; i < n; i++) {
    g_autofree char *cell = g_strdelimit(g_strdup(cells[i]), "\r\n", ';'); /* readers go line by line */
    if (i) g_string_append_c(out, ',');
    csim_csv_append_cell(out, cell);
  }
  g_string_append_c(out, '\n');
}

void csim_probe_table_csv(const CsimProbeTable *t, GString *out) {
  for (guint i = 0; i < t->facts->len; i++) {
    const Fact *fact = (const Fact *)g_ptr_array_index(t->facts, i);
    g_string_append_printf(out, "# %s: %s\n", fact->key, fact->value);
  }
  csv_line(out, t->columns, t->n_columns);
  for (guint i = 0; i < t->rows->len; i++)
    csv_line(out, (const char *const *)g_ptr_array_index(t->rows, i), t->n_columns);
}

static cJSON *json_cell(const char *text) {
  char *end;
  if (*text == '\0') return cJSON_CreateNull();
  double value = g_ascii_strtod(text, &end);
  return *end == '\0' && isfinite(value) ? cJSON_CreateRaw(text) : cJSON_CreateString(text);
}

static cJSON *json_row(const CsimProbeTable *t, char **row) {
  cJSON *object = cJSON_CreateObject();
  for (guint i = 0; i < t->n_columns; i++) cJSON_AddItemToObject(object, t->columns[i], json_cell(row[i]));
  return object;
}

void csim_probe_table_json(const CsimProbeTable *t, GString *out) {
  cJSON *root = cJSON_CreateObject(), *facts = cJSON_AddObjectToObject(root, "facts");
  cJSON *rows = cJSON_AddArrayToObject(root, "rows");
  cJSON_AddStringToObject(root, "collsim", COLLSIM_VERSION);
  for (guint i = 0; i < t->facts->len; i++) {
    const Fact *fact = (const Fact *)g_ptr_array_index(t->facts, i);
    cJSON_AddStringToObject(facts, fact->key, fact->value);
  }
  for (guint i = 0; i < t->rows->len; i++)
    cJSON_AddItemToArray(rows, json_row(t, (char **)g_ptr_array_index(t->rows, i)));
  char *text = cJSON_PrintUnformatted(root);
  g_string_append_printf(out, "%s\n", text);
  cJSON_free(text);
  cJSON_Delete(root);
}
