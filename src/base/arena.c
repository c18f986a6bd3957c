/* base/arena.c - bump allocation in a list of chunks that is kept over resets. */
#include "base/arena.h"
#include <string.h>

#define ALIGNMENT 16 /* what malloc promises on 64-bit machines */
#define DEFAULT_CHUNK (64 * 1024)

typedef struct {
  char *memory;
  gsize size;
  gsize used;
} Chunk;

struct CsimArena {
  GArray *chunks;   /* of Chunk; those behind `current` are empty */
  uint32_t current; /* chunk that is being filled; may be chunks->len when there is none */
  gsize chunk_bytes;
  gsize used, peak;
  uint64_t system_allocs;
};

static Chunk *chunk_at(const CsimArena *a, uint32_t i) {
  return &g_array_index(a->chunks, Chunk, i);
}

CsimArena *csim_arena_new(gsize chunk_bytes) {
  CsimArena *a = g_new0(CsimArena, 1);
  a->chunks = g_array_new(FALSE, FALSE, sizeof(Chunk));
  a->chunk_bytes = chunk_bytes > 0 ? chunk_bytes : DEFAULT_CHUNK;
  return a;
}

void csim_arena_free(CsimArena *arena) {
  if (arena == NULL) return;
  for (uint32_t i = 0; i < arena->chunks->len; i++) g_free(chunk_at(arena, i)->memory);
  g_array_unref(arena->chunks);
  g_free(arena);
}

/* A chunk with room for `size`: the next kept one that is large enough, else a new one put in its place. */
static Chunk *next_chunk(CsimArena *a, gsize size) {
  uint32_t at = a->chunks->len > 0 ? a->current + 1 : 0;
  if (at >= a->chunks->len || chunk_at(a, at)->size < size) {
    Chunk fresh = {.size = MAX(size, a->chunk_bytes)};
    fresh.memory = g_malloc(fresh.size);
    a->system_allocs++;
    g_array_insert_val(a->chunks, at, fresh);
  }
  a->current = at;
  return chunk_at(a, at);
}

void *csim_arena_alloc(CsimArena *arena, gsize size) {
  g_assert(size <= G_MAXSSIZE - ALIGNMENT);
  gsize rounded = (MAX(size, 1) + ALIGNMENT - 1) & ~(gsize)(ALIGNMENT - 1);
  Chunk *c = arena->chunks->len > 0 ? chunk_at(arena, arena->current) : NULL;
  if (c == NULL || c->size - c->used < rounded) c = next_chunk(arena, rounded);
  void *p = c->memory + c->used;
  c->used += rounded;
  arena->used += rounded;
  arena->peak = MAX(arena->peak, arena->used);
  return memset(p, 0, rounded);
}

void *csim_arena_alloc_n(CsimArena *arena, gsize size, gsize n) {
  gsize bytes;
  if (!g_size_checked_mul(&bytes, size, n)) g_error("arena: %" G_GSIZE_FORMAT " objects overflow memory", n);
  return csim_arena_alloc(arena, bytes);
}

char *csim_arena_strndup(CsimArena *arena, const char *text, gsize length) {
  char *copy = csim_arena_alloc(arena, length + 1);
  memcpy(copy, text, length);
  return copy;
}

char *csim_arena_strdup(CsimArena *arena, const char *text) {
  return text != NULL ? csim_arena_strndup(arena, text, strlen(text)) : NULL;
}

CsimArenaMark csim_arena_mark(const CsimArena *arena) {
  if (arena->chunks->len == 0) return (CsimArenaMark){0, 0};
  return (CsimArenaMark){arena->current, chunk_at(arena, arena->current)->used};
}

void csim_arena_release(CsimArena *arena, CsimArenaMark mark) {
  if (arena->chunks->len == 0) return;
  g_assert(mark.chunk <= arena->current && mark.used <= chunk_at(arena, mark.chunk)->used);
  for (uint32_t i = mark.chunk; i <= arena->current; i++) {
    Chunk *c = chunk_at(arena, i);
    gsize keep = i == mark.chunk ? mark.used : 0;
    arena->used -= c->used - keep;
    c->used = keep;
  }
  arena->current = mark.chunk;
}

void csim_arena_reset(CsimArena *arena) {
  csim_arena_release(arena, (CsimArenaMark){0, 0});
}

gsize csim_arena_used(const CsimArena *arena) {
  return arena->used;
}
gsize csim_arena_peak(const CsimArena *arena) {
  return arena->peak;
}
uint64_t csim_arena_system_allocs(const CsimArena *arena) {
  return arena->system_allocs;
}
