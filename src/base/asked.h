/*
 * base/asked.h - which names a loader asked an element for; private to the JSON and XML readers.
 *
 * What nobody asked for is unknown, and what was asked for is what to suggest.
 */
#ifndef CSIM_BASE_ASKED_H
#define CSIM_BASE_ASKED_H

#include <glib.h>

GHashTable *csim_asked_new(void); /* free with g_hash_table_unref */
void csim_asked_note(GHashTable *asked, gconstpointer owner, const char *name);
/* csim_suggest among the names that `owner` was asked for; caller frees. */
char *csim_asked_suggest(GHashTable *asked, gconstpointer owner, const char *name);

#endif
