/*
 * base/arena.h - memory that is given back all at once.
 *
 * Used by: loaders (a document's nodes), the communicator, a run. Not for
 * event handlers: what comes and goes in a run is a slab (base/slab.h).
 */
#ifndef CSIM_BASE_ARENA_H
#define CSIM_BASE_ARENA_H

#include <glib.h>
#include <stdint.h>

typedef struct CsimArena CsimArena;

/* chunk_bytes: how much is asked of the system at a time; 0 means 64 KiB. Larger objects get a chunk of their own. */
CsimArena *csim_arena_new(gsize chunk_bytes);
void csim_arena_free(CsimArena *arena); /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimArena, csim_arena_free)

/* `size` zeroed bytes, aligned to 16; lives until a release of an older mark, a reset or the end. size 0 gives a valid pointer. */
void *csim_arena_alloc(CsimArena *arena, gsize size);
/* A NUL-ended copy of `length` bytes. */
char *csim_arena_strndup(CsimArena *arena, const char *text, gsize length);
char *csim_arena_strdup(CsimArena *arena, const char *text); /* NULL gives NULL */

/* n zeroed objects of a type; aborts when n * size overflows, as g_new0 does. */
#define CSIM_ARENA_NEW(arena, Type, n) ((Type *)csim_arena_alloc_n((arena), sizeof(Type), (n)))
void *csim_arena_alloc_n(CsimArena *arena, gsize size, gsize n);

/* Everything allocated after a mark can be dropped together. Marks are released in reverse order of their making. */
typedef struct {
  uint32_t chunk;
  gsize used;
} CsimArenaMark;
CsimArenaMark csim_arena_mark(const CsimArena *arena);
void csim_arena_release(CsimArena *arena, CsimArenaMark mark);
void csim_arena_reset(CsimArena *arena); /* drops everything, keeps the chunks for the next round */

gsize csim_arena_used(const CsimArena *arena);             /* bytes handed out now, with alignment */
gsize csim_arena_peak(const CsimArena *arena);             /* most bytes handed out at once */
uint64_t csim_arena_system_allocs(const CsimArena *arena); /* chunks ever asked of the system */

#endif
