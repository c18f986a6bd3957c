#include "cli/options.h"

#include "base/diag.h"

#include <string.h>

struct CliArgs {
  const CliVerb *verb;
  GArray *given;       /* CliGiven */
  GPtrArray *operands; /* const char*, borrowed */
  gboolean options_ended;
};

void cli_verb_foreach_option(const CliVerb *verb, void (*fn)(const CliOption *option, void *data), void *data) {
  for (const CliOption *const *table = verb->tables; table && *table; table++)
    for (const CliOption *option = *table; option->name; option++) fn(option, data);
}

typedef struct {
  const char *name;
  gsize length;
  char letter;
  const CliOption *found;
} Search;

static void match(const CliOption *option, void *data) {
  Search *s = data;
  gboolean hit = s->letter ? option->letter == s->letter : strlen(option->name) == s->length && !strncmp(option->name, s->name, s->length);
  if (hit && !s->found) s->found = option;
}

static void collect_name(const CliOption *option, void *data) { g_ptr_array_add(data, (void *)option->name); }

static void unknown_option(const CliVerb *verb, const char *name, GError **error) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  cli_verb_foreach_option(verb, collect_name, names);
  g_ptr_array_add(names, (void *)"help");
  g_ptr_array_add(names, NULL);
  const char *near = csim_nearest(name, (const char *const *)names->pdata);
  if (near)
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "no option --%s; did you mean --%s?", name, near);
  else
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "no option --%s; `collsim %s --help` lists them", name, verb->name);
}

static void add_given(CliArgs *args, const CliOption *option, const char *value) {
  CliGiven given = {option, value};
  g_array_append_val(args->given, given);
}

/* The value of an option that was not attached to it: the next word, which must not look like an option. */
static const char *next_value(char ***argv, const CliOption *option, GError **error) {
  const char *word = (*argv)[1];
  if (word && (word[0] != '-' || !word[1] || g_ascii_isdigit(word[1]))) {
    (*argv)++;
    return word;
  }
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--%s needs a value; --%s %s", option->name, option->name, option->arg);
  return NULL;
}

static gboolean parse_long(CliArgs *args, char ***argv, GError **error) {
  const char *name = **argv + 2;
  const char *equals = strchr(name, '=');
  Search s = {name, equals ? (gsize)(equals - name) : strlen(name), 0, NULL};
  cli_verb_foreach_option(args->verb, match, &s);
  if (!s.found) {
    g_autofree char *wrong = g_strndup(name, s.length);
    unknown_option(args->verb, wrong, error);
    return FALSE;
  }
  if (!s.found->arg && equals) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "--%s takes no value", s.found->name);
    return FALSE;
  }
  const char *value = equals ? equals + 1 : s.found->arg ? next_value(argv, s.found, error) : NULL;
  if (s.found->arg && !value) return FALSE;
  add_given(args, s.found, value);
  return TRUE;
}

static gboolean parse_letters(CliArgs *args, char ***argv, GError **error) {
  for (const char *c = **argv + 1; *c; c++) {
    Search s = {NULL, 0, *c, NULL};
    cli_verb_foreach_option(args->verb, match, &s);
    if (!s.found) {
      g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "no option -%c; `collsim %s --help` lists them", *c, args->verb->name);
      return FALSE;
    }
    if (!s.found->arg) {
      add_given(args, s.found, NULL);
      continue;
    }
    const char *value = c[1] ? c + 1 : next_value(argv, s.found, error);
    if (!value) return FALSE;
    add_given(args, s.found, value);
    return TRUE;
  }
  return TRUE;
}

static gboolean parse_word(CliArgs *args, char ***argv, GError **error) {
  char *word = **argv;
  if (args->options_ended || word[0] != '-' || !word[1]) {
    g_ptr_array_add(args->operands, word);
    return TRUE;
  }
  if (!strcmp(word, "--")) {
    args->options_ended = TRUE;
    return TRUE;
  }
  return word[1] == '-' ? parse_long(args, argv, error) : parse_letters(args, argv, error);
}

static gboolean check_operands(const CliArgs *args, GError **error) {
  const CliVerb *verb = args->verb;
  int n = (int)args->operands->len;
  if (n < verb->min_operands) {
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "`collsim %s` needs %s; `collsim %s --help` shows how", verb->name, verb->operands, verb->name);
    return FALSE;
  }
  if (verb->max_operands >= 0 && n > verb->max_operands) {
    const char *extra = g_ptr_array_index(args->operands, verb->max_operands);
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_VALUE, "\"%s\" is one argument too many; collsim %s %s", extra, verb->name, verb->operands);
    return FALSE;
  }
  return TRUE;
}

CliArgs *cli_args_parse(const CliVerb *verb, char **argv, GError **error) {
  g_autoptr(CliArgs) args = g_new0(CliArgs, 1);
  args->verb = verb;
  args->given = g_array_new(FALSE, FALSE, sizeof(CliGiven));
  args->operands = g_ptr_array_new();
  for (; *argv; argv++)
    if (!parse_word(args, &argv, error)) return NULL;
  return check_operands(args, error) ? g_steal_pointer(&args) : NULL;
}

void cli_args_free(CliArgs *args) {
  if (!args) return;
  g_array_unref(args->given);
  g_ptr_array_unref(args->operands);
  g_free(args);
}

const CliVerb *cli_args_verb(const CliArgs *args) { return args->verb; }
guint cli_args_n_given(const CliArgs *args) { return args->given->len; }
CliGiven cli_args_given(const CliArgs *args, guint i) { return g_array_index(args->given, CliGiven, i); }
guint cli_args_n_operands(const CliArgs *args) { return args->operands->len; }

const char *cli_args_operand(const CliArgs *args, guint i) {
  return i < args->operands->len ? g_ptr_array_index(args->operands, i) : NULL;
}

static const CliGiven *last_given(const CliArgs *args, const char *name) {
  for (guint i = args->given->len; i-- > 0;) {
    const CliGiven *given = &g_array_index(args->given, CliGiven, i);
    if (!strcmp(given->option->name, name)) return given;
  }
  return NULL;
}

gboolean cli_args_flag(const CliArgs *args, const char *name) { return last_given(args, name) != NULL; }

const char *cli_args_value(const CliArgs *args, const char *name) {
  const CliGiven *given = last_given(args, name);
  return given ? given->value : NULL;
}
