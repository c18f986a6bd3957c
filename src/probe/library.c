/* probe/library.c - libraries that are looked for at run time. */
#include "probe/library.h"

#include <gmodule.h>
#include <string.h>

/* The loader says "libx.so.1: cannot open shared object file: No such file or directory" where that is all there is to say. */
static gboolean is_absent(const char *message) {
  return !message || strstr(message, "No such file or directory");
}

static GModule *open_first(const CsimLibrary *library, const char *file, const char **found, GError **error) {
  const char *const one[] = {file, NULL};
  const char *const *files = file ? one : library->files;
  g_autofree char *reason = NULL;
  for (int i = 0; files[i]; i++) {
    GModule *module = g_module_open(files[i], G_MODULE_BIND_LOCAL);
    if (module) {
      *found = g_intern_string(files[i]);
      return module;
    }
    const char *message = g_module_error();
    if (!reason && !is_absent(message)) reason = g_strdelimit(g_strdup(message), "\n", ' ');
  }
  g_autofree char *names = g_strjoinv(", ", (char **)files);
  if (reason)
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "%s (%s) cannot be loaded: %s", names, library->what, reason);
  else
    g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "no %s (%s) on this machine; %s", names, library->what, library->needs);
  return NULL;
}

static gboolean find_symbols(const CsimLibrary *library, GModule *module, const char *found, gpointer table, GError **error) {
  for (const CsimSymbol *s = library->symbols; s->name; s++) {
    gpointer symbol = NULL;
    if (!g_module_symbol(module, s->name, &symbol) && !s->optional) {
      g_set_error(error, CSIM_ERROR, CSIM_ERROR_UNSUPPORTED, "%s (%s) has no %s: too old; %s", found, library->what, s->name,
                  library->needs);
      return FALSE;
    }
    memcpy((char *)table + s->offset, &symbol, sizeof symbol);
  }
  return TRUE;
}

gboolean csim_library_open(const CsimLibrary *library, const char *file, gpointer table, const char **found, GError **error) {
  const char *name = NULL;
  GModule *module = open_first(library, file, &name, error);
  if (!module || !find_symbols(library, module, name, table, error)) return FALSE;
  g_module_make_resident(module);
  if (found) *found = name;
  return TRUE;
}
