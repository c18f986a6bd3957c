/* Values of options that a verb reads itself. */
#include "cli/cli.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const CliOption *find_given(const CliArgs *args, const char *name) {
  for (guint i = 0; i < cli_args_n_given(args); i++)
    if (!strcmp(cli_args_given(args, i).option->name, name)) return cli_args_given(args, i).option;
  g_assert_not_reached();
}

void cli_prefix_option(GError **error, const CliOption *option) {
  if (option->letter) g_prefix_error(error, "-%c/--%s: ", option->letter, option->name);
  else g_prefix_error(error, "--%s: ", option->name);
}

static gboolean refuse(const CliArgs *args, const char *name, const char *text, const char *allowed, GError **error) {
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "\"%s\" is not possible; allowed: %s", text, allowed);
  cli_prefix_option(error, find_given(args, name));
  return FALSE;
}

gboolean cli_uint64_option(const CliArgs *args, const char *name, uint64_t min, uint64_t max, uint64_t *out, GError **error) {
  const char *text = cli_args_value(args, name);
  if (!text || g_ascii_string_to_unsigned(text, 10, min, max, out, NULL)) return TRUE;
  g_autofree char *allowed = g_strdup_printf("a whole number from %" PRIu64 " to %" PRIu64, min, max);
  return refuse(args, name, text, allowed, error);
}

gboolean cli_int_option(const CliArgs *args, const char *name, int min, int max, int *out, GError **error) {
  g_assert(min >= 0);
  uint64_t value = 0;
  if (!cli_uint64_option(args, name, (uint64_t)min, (uint64_t)max, &value, error)) return FALSE;
  if (cli_args_value(args, name)) *out = (int)value;
  return TRUE;
}

gboolean cli_number_option(const CliArgs *args, const char *name, double min, double max, double *out, GError **error) {
  const char *text = cli_args_value(args, name);
  char *end;
  if (!text) return TRUE;
  double value = g_ascii_strtod(text, &end);
  if (end != text && *end == '\0' && value >= min && value <= max) {
    *out = value;
    return TRUE;
  }
  g_autofree char *allowed = csim_range_text_double(min, max);
  return refuse(args, name, text, allowed, error);
}

gboolean cli_unit_option(const CliArgs *args, const char *name, gboolean (*parse)(const char *, int64_t *, GError **), int64_t *out, GError **error) {
  const char *text = cli_args_value(args, name);
  if (!text || parse(text, out, error)) return TRUE;
  cli_prefix_option(error, find_given(args, name));
  return FALSE;
}

const char *const *cli_all_values(const CliArgs *args, const char *name, GPtrArray *out) {
  for (guint i = 0; i < cli_args_n_given(args); i++)
    if (!strcmp(cli_args_given(args, i).option->name, name)) g_ptr_array_add(out, (void *)cli_args_given(args, i).value);
  g_ptr_array_add(out, NULL);
  return (const char *const *)out->pdata;
}
