/* base/slab.c - chunks, the free list, generations. */
#include "base/slab.h"
#include <string.h>

#define NO_SLOT UINT32_MAX
#define ALIGNMENT 8

CsimSlab *csim_slab_new(const char *name, gsize object_size) {
  g_assert(object_size > 0 && object_size <= 1 << 20);
  CsimSlab *s = g_new0(CsimSlab, 1);
  s->name = name;
  s->object_size = object_size;
  s->stride = CSIM_SLAB_APART ? sizeof(void *) : (object_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  s->free_head = NO_SLOT;
  return s;
}

static void free_live_objects(CsimSlab *s) {
  for (uint32_t i = 0; CSIM_SLAB_APART && i < s->fresh; i++)
    if (s->slots[i / CSIM_SLAB_CHUNK][i % CSIM_SLAB_CHUNK].live) g_free(csim_slab_address(s, i));
}

void csim_slab_free(CsimSlab *slab) {
  if (slab == NULL) return;
  free_live_objects(slab);
  for (uint32_t i = 0; i < slab->n_chunks; i++) {
    g_free(slab->chunks[i]);
    g_free(slab->slots[i]);
  }
  g_free(slab->chunks);
  g_free(slab->slots);
  g_free(slab);
}

static void grow_tables(CsimSlab *s) {
  s->capacity_chunks = MAX(16, s->capacity_chunks * 2);
  s->chunks = g_renew(char *, s->chunks, s->capacity_chunks);
  s->slots = g_renew(CsimSlot *, s->slots, s->capacity_chunks);
  s->system_allocs += 2;
}

static void add_chunk(CsimSlab *s) {
  if ((s->n_chunks + 1) * (uint64_t)CSIM_SLAB_CHUNK > CSIM_SLAB_MAX_OBJECTS)
    g_error("slab %s: more than %u objects at once", s->name, CSIM_SLAB_MAX_OBJECTS);
  if (s->n_chunks == s->capacity_chunks) grow_tables(s);
  s->chunks[s->n_chunks] = g_malloc(s->stride * CSIM_SLAB_CHUNK);
  s->slots[s->n_chunks] = g_new0(CsimSlot, CSIM_SLAB_CHUNK);
  s->n_chunks++;
  s->system_allocs += 2;
}

static uint32_t take_slot(CsimSlab *s) {
  uint32_t slot = s->free_head;
  if (slot == NO_SLOT) {
    if (s->fresh == s->n_chunks * CSIM_SLAB_CHUNK) add_chunk(s);
    return s->fresh++;
  }
  s->free_head = s->slots[slot / CSIM_SLAB_CHUNK][slot % CSIM_SLAB_CHUNK].next_free;
  return slot;
}

void *csim_slab_alloc(CsimSlab *slab, CsimHandle *handle) {
  uint32_t slot = take_slot(slab);
  CsimSlot *meta = &slab->slots[slot / CSIM_SLAB_CHUNK][slot % CSIM_SLAB_CHUNK];
  meta->generation = meta->generation == 255 ? 1 : meta->generation + 1;
  meta->live = 1;
  slab->live++;
  slab->peak = MAX(slab->peak, slab->live);
  *handle = (CsimHandle)meta->generation << 24 | slot;
#if CSIM_SLAB_APART
  void **at = (void **)(slab->chunks[slot / CSIM_SLAB_CHUNK] + (slot % CSIM_SLAB_CHUNK) * slab->stride);
  *at = g_malloc(slab->object_size);
#endif
  return csim_slab_address(slab, slot);
}

void csim_slab_release(CsimSlab *slab, CsimHandle handle) {
  void *object = csim_slab_get(slab, handle);
  uint32_t slot = CSIM_HANDLE_SLOT(handle);
  CsimSlot *meta = &slab->slots[slot / CSIM_SLAB_CHUNK][slot % CSIM_SLAB_CHUNK];
  if (CSIM_SLAB_APART) g_free(object);
  meta->live = 0;
  meta->next_free = slab->free_head;
  slab->free_head = slot;
  slab->live--;
}

void csim_slab_reserve(CsimSlab *slab, uint32_t n) {
  while ((uint64_t)slab->n_chunks * CSIM_SLAB_CHUNK < n) add_chunk(slab);
}
