/* base/asked.c - owner -> names, each once, in order of asking. */
#include "base/asked.h"
#include "base/diag.h"

GHashTable *csim_asked_new(void) {
  return g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
}

void csim_asked_note(GHashTable *asked, gconstpointer owner, const char *name) {
  GPtrArray *names = g_hash_table_lookup(asked, owner);
  if (names == NULL) {
    names = g_ptr_array_new_with_free_func(g_free);
    g_hash_table_insert(asked, (gpointer)owner, names);
  }
  /* Copies and not GLib's interned strings: those are never freed, and a caller may ask for names out of the input. */
  if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL)) g_ptr_array_add(names, g_strdup(name));
}

char *csim_asked_suggest(GHashTable *asked, gconstpointer owner, const char *name) {
  g_autoptr(GPtrArray) list = g_ptr_array_new();
  GPtrArray *names = g_hash_table_lookup(asked, owner);
  for (guint i = 0; names != NULL && i < names->len; i++) g_ptr_array_add(list, g_ptr_array_index(names, i));
  g_ptr_array_add(list, NULL);
  return csim_suggest(name, (const char *const *)list->pdata);
}
