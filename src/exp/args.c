#include "exp/args.h"

#include "base/units.h"

#include <string.h>

struct CsimRunArgs {
  CsimRunSpec spec;
  GStringChunk *text;
  GPtrArray *overrides, *sets; /* "NAME=VALUE"; ended by NULL */
  GPtrArray *faults;           /* ended by NULL */
  gboolean min_given, max_given;
  char **environ; /* or NULL */
};

CsimRunArgs *csim_run_args_new(void) {
  CsimRunArgs *args = g_new0(CsimRunArgs, 1);
  csim_run_spec_init(&args->spec);
  args->text = g_string_chunk_new(256);
  args->overrides = g_ptr_array_new();
  args->sets = g_ptr_array_new();
  args->faults = g_ptr_array_new();
  g_ptr_array_add(args->faults, NULL);
  g_ptr_array_add(args->overrides, NULL);
  g_ptr_array_add(args->sets, NULL);
  return args;
}

void csim_run_args_free(CsimRunArgs *args) {
  if (!args) return;
  g_ptr_array_unref(args->overrides);
  g_ptr_array_unref(args->sets);
  g_ptr_array_unref(args->faults);
  g_string_chunk_free(args->text);
  g_strfreev(args->environ);
  g_free(args);
}

/* Setters: one a kind of value. `field` is an offset into CsimRunSpec. */
typedef gboolean (*Setter)(CsimRunArgs *args, gsize field, const char *value, GError **error);

#define FIELD(args, type, offset) (*(type *)((char *)&(args)->spec + (offset)))

static gboolean fail(GError **error, const char *value, const char *allowed) {
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "\"%s\" is not possible; allowed: %s", value, allowed);
  return FALSE;
}

static gboolean set_text(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  FIELD(args, const char *, field) = g_string_chunk_insert(args->text, value);
  return TRUE;
}

static gboolean read_int(const char *value, gint64 min, gint64 max, gint64 *out, GError **error) {
  g_autofree char *range = g_strdup_printf("a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, min, max);
  return g_ascii_string_to_signed(value, 10, min, max, out, NULL) || fail(error, value, range);
}

static gboolean set_count(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  gint64 n;
  if (!read_int(value, 1, 1000000, &n, error)) return FALSE;
  FIELD(args, int, field) = (int)n;
  return TRUE;
}

static gboolean set_root(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  gint64 n;
  if (!read_int(value, 0, G_MAXINT, &n, error)) return FALSE;
  FIELD(args, int, field) = (int)n;
  return TRUE;
}

static gboolean set_factor(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  gint64 n;
  if (!read_int(value, 2, 1024, &n, error)) return FALSE;
  FIELD(args, int, field) = (int)n;
  return TRUE;
}

static gboolean set_seed(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  guint64 n;
  if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXUINT64, &n, NULL)) return fail(error, value, "a whole number from 0 to 2^64-1");
  FIELD(args, uint64_t, field) = n;
  return TRUE;
}

static gboolean set_size(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  CsimBytes size;
  if (!csim_size_parse(value, &size, error)) return FALSE;
  FIELD(args, CsimBytes, field) = size;
  if (field == G_STRUCT_OFFSET(CsimRunSpec, min_bytes)) args->min_given = TRUE;
  if (field == G_STRUCT_OFFSET(CsimRunSpec, max_bytes)) args->max_given = TRUE;
  if (field == G_STRUCT_OFFSET(CsimRunSpec, step_bytes)) args->spec.factor = 0;
  return TRUE;
}

static gboolean set_one_size(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  return set_size(args, G_STRUCT_OFFSET(CsimRunSpec, min_bytes), value, error) &&
         set_size(args, G_STRUCT_OFFSET(CsimRunSpec, max_bytes), value, error);
}

static gboolean set_flag(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  gboolean yes = !strcmp(value, "true") || !strcmp(value, "1");
  if (!yes && strcmp(value, "false") && strcmp(value, "0")) return fail(error, value, "true or false");
  FIELD(args, gboolean, field) = yes;
  return TRUE;
}

/* The names of an enumeration, in its order. */
static gboolean set_choice(CsimRunArgs *args, gsize field, const char *value, const char *const *names, GError **error) {
  for (int i = 0; names[i]; i++) {
    if (g_ascii_strcasecmp(value, names[i])) continue;
    FIELD(args, int, field) = i;
    return TRUE;
  }
  g_autofree char *list = g_strjoinv(", ", (char **)names);
  return fail(error, value, list);
}

static gboolean set_launch(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  return csim_launch_parse(value, &args->spec.launch) || fail(error, value, "process, thread, single");
}
static gboolean set_host(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  return set_choice(args, field, value, (const char *const[]){"bare", "vm", NULL}, error);
}
static gboolean set_fidelity(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  return csim_fidelity_parse(value, &args->spec.fidelity) || fail(error, value, "model, flow, packet");
}
static gboolean set_queue(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  return set_choice(args, field, value, (const char *const[]){"radix", "heap4", NULL}, error);
}

/* Enumerations of collsim/types.h, by their own parsers. */
static gboolean set_coll(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  return csim_coll_parse(value, &args->spec.coll) ||
         fail(error, value, "all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall, sendrecv, gather, scatter, hypercube");
}
static gboolean set_type(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  return csim_type_parse(value, &args->spec.type) ||
         fail(error, value, "int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, f8e4m3, f8e5m2");
}
static gboolean set_op(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  return csim_op_parse(value, &args->spec.op) || fail(error, value, "sum, prod, min, max, avg");
}

static void add_pair(GPtrArray *array, char *pair) {
  array->pdata[array->len - 1] = pair;
  g_ptr_array_add(array, NULL);
}

static gboolean add_assignment(CsimRunArgs *args, GPtrArray *array, const char *value, GError **error) {
  if (!strchr(value, '=') || value[0] == '=') return fail(error, value, "NAME=VALUE");
  add_pair(array, g_string_chunk_insert(args->text, value));
  return TRUE;
}

static gboolean set_env(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  return add_assignment(args, args->overrides, value, error);
}
static gboolean set_fault(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  add_pair(args->faults, g_string_chunk_insert(args->text, value));
  return TRUE;
}
static gboolean set_constant(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  return add_assignment(args, args->sets, value, error);
}
static gboolean set_algo(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  g_autofree char *pair = g_strconcat("NCCL_ALGO=", value, NULL);
  return set_env(args, field, pair, error);
}
static gboolean set_proto(CsimRunArgs *args, gsize field, const char *value, GError **error) {
  g_autofree char *pair = g_strconcat("NCCL_PROTO=", value, NULL);
  return set_env(args, field, pair, error);
}

#define AT(member) G_STRUCT_OFFSET(CsimRunSpec, member)
static const struct { const char *key; Setter set; gsize field; } settings[] = {
  {"target", set_text, AT(target)},
  {"collective", set_coll, AT(coll)},
  {"type", set_type, AT(type)},
  {"redop", set_op, AT(op)},
  {"root", set_root, AT(root)},
  {"nodes", set_count, AT(n_nodes)},
  {"gpus_per_node", set_count, AT(gpus_per_node)},
  {"gpus", set_text, AT(gpus)},
  {"placement", set_text, AT(placement)},
  {"fault", set_fault, 0},
  {"size", set_one_size, 0},
  {"min_bytes", set_size, AT(min_bytes)},
  {"max_bytes", set_size, AT(max_bytes)},
  {"step_bytes", set_size, AT(step_bytes)},
  {"factor", set_factor, AT(factor)},
  {"iters", set_count, AT(iters)},
  {"launch", set_launch, AT(launch)},
  {"host", set_host, AT(virtual_machine)},
  {"fidelity", set_fidelity, AT(fidelity)},
  {"seed", set_seed, AT(seed)},
  {"queue", set_queue, AT(queue)},
  {"no_symmetry", set_flag, AT(no_symmetry)},
  {"whole_fabric", set_flag, AT(whole_fabric)},
  {"digest", set_flag, AT(digest)},
  {"catalogue", set_text, AT(catalogue_file)},
  {"algo", set_algo, 0},
  {"proto", set_proto, 0},
  {"env", set_env, 0},
  {"set", set_constant, 0},
};

const char *const *csim_run_args_keys(void) {
  static const char *keys[G_N_ELEMENTS(settings) + 1];
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) keys[i] = settings[i].key;
  return keys;
}

/* "env.NCCL_ALGO" = "Ring" is "env" = "NCCL_ALGO=Ring"; TRUE if the key is of this kind. */
static gboolean set_member(CsimRunArgs *args, const char *key, const char *value) {
  GPtrArray *array = g_str_has_prefix(key, "env.") ? args->overrides : g_str_has_prefix(key, "set.") ? args->sets : NULL;
  if (!array || !key[4]) return FALSE;
  g_autofree char *pair = g_strconcat(key + 4, "=", value, NULL);
  add_pair(array, g_string_chunk_insert(args->text, pair));
  return TRUE;
}

gboolean csim_run_args_set(CsimRunArgs *args, const char *key, const char *value, GError **error) {
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++)
    if (!strcmp(settings[i].key, key)) return settings[i].set(args, settings[i].field, value, error);
  if (set_member(args, key, value)) return TRUE;
  const char *near = csim_nearest(key, csim_run_args_keys());
  if (near)
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_REFERENCE, "no setting \"%s\"; did you mean \"%s\"?", key, near);
  else
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_REFERENCE, "no setting \"%s\"", key);
  return FALSE;
}

CsimRunSpec csim_run_args_spec(const CsimRunArgs *args) {
  CsimRunSpec spec = args->spec;
  if (spec.max_bytes < spec.min_bytes && !args->max_given) spec.max_bytes = spec.min_bytes;
  if (spec.max_bytes < spec.min_bytes && !args->min_given) spec.min_bytes = spec.max_bytes;
  spec.overrides = (const char *const *)args->overrides->pdata;
  spec.environ = (const char *const *)args->environ;
  spec.sets = (const char *const *)args->sets->pdata;
  spec.faults = (const char *const *)args->faults->pdata;
  return spec;
}

void csim_run_args_use_environment(CsimRunArgs *args) {
  g_auto(GStrv) environ = g_get_environ();
  g_strfreev(args->environ);
  args->environ = csim_nccl_conf_environ((const char *const *)environ, NULL, NULL);
}
