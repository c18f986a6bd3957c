/*
 * base/slab.h - fixed-size objects with 32-bit handles that know when they are stale.
 *
 * Used by: the engine and the models, for what comes and goes during a run
 * (events, flows, packets). Allocating from a slab that has reached its peak
 * asks the system for nothing; csim_slab_system_allocs proves it in tests.
 *
 * Objects lie in chunks of 4096 that never move and never go back before the
 * end. Freed slots are used again last-in first-out, while they are in cache.
 *
 * In builds with AddressSanitizer (or -DCSIM_SLAB_APART=1) every object is its
 * own malloc, so that overruns and use after release are seen.
 */
#ifndef CSIM_BASE_SLAB_H
#define CSIM_BASE_SLAB_H

#include <glib.h>
#include <stdint.h>

#ifndef CSIM_SLAB_APART
#if defined(__SANITIZE_ADDRESS__)
#define CSIM_SLAB_APART 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CSIM_SLAB_APART 1
#endif
#endif
#endif
#ifndef CSIM_SLAB_APART
#define CSIM_SLAB_APART 0
#endif

/* Low 24 bits: slot; high 8 bits: generation, 1..255. So 0 is no object, and a stale handle is recognised
 * until its slot has been used again 255 times. */
typedef uint32_t CsimHandle;
#define CSIM_HANDLE_NONE ((CsimHandle)0)
#define CSIM_HANDLE_SLOT(h) ((h)&0xffffffu)
#define CSIM_SLAB_MAX_OBJECTS (UINT32_C(1) << 24)
#define CSIM_SLAB_CHUNK 4096

typedef struct {
  uint32_t next_free; /* slot; meaningful while free */
  uint8_t generation;
  uint8_t live;
} CsimSlot;

/* Public only so that csim_slab_get is inline; use the functions. */
typedef struct {
  char **chunks;    /* objects, or pointers to them when they lie apart */
  CsimSlot **slots; /* beside each chunk */
  gsize stride;     /* bytes from object to object */
  uint32_t free_head;
  uint32_t n_chunks;
  uint32_t capacity_chunks;
  uint32_t live, peak;
  uint32_t fresh; /* slots below this have been used at least once */
  uint64_t system_allocs;
  gsize object_size;
  const char *name;
} CsimSlab;

/* name: static text for messages and --stats. */
CsimSlab *csim_slab_new(const char *name, gsize object_size);
void csim_slab_free(CsimSlab *slab); /* NULL allowed; live objects go with it */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimSlab, csim_slab_free)

/* A new object, contents undefined, and its handle. More than CSIM_SLAB_MAX_OBJECTS live ones end the program. */
void *csim_slab_alloc(CsimSlab *slab, CsimHandle *handle);
/* The object must be live. */
void csim_slab_release(CsimSlab *slab, CsimHandle handle);
/* Room for n objects before the run starts. */
void csim_slab_reserve(CsimSlab *slab, uint32_t n);

static inline const CsimSlot *csim_slab_slot(const CsimSlab *slab, CsimHandle handle) {
  uint32_t slot = CSIM_HANDLE_SLOT(handle);
  return slot < slab->fresh ? &slab->slots[slot / CSIM_SLAB_CHUNK][slot % CSIM_SLAB_CHUNK] : NULL;
}

static inline void *csim_slab_address(const CsimSlab *slab, uint32_t slot) {
  char *chunk = slab->chunks[slot / CSIM_SLAB_CHUNK];
  char *at = chunk + (slot % CSIM_SLAB_CHUNK) * slab->stride;
#if CSIM_SLAB_APART
  return *(void **)at;
#else
  return at;
#endif
}

/* The object, or NULL when the handle is none or stale. */
static inline void *csim_slab_try(const CsimSlab *slab, CsimHandle handle) {
  const CsimSlot *s = csim_slab_slot(slab, handle);
  if (s == NULL || !s->live || s->generation != handle >> 24) return NULL;
  return csim_slab_address(slab, CSIM_HANDLE_SLOT(handle));
}

/* The object; a stale handle is a bug. */
static inline void *csim_slab_get(const CsimSlab *slab, CsimHandle handle) {
  void *object = csim_slab_try(slab, handle);
  g_assert(object != NULL);
  return object;
}

static inline uint32_t csim_slab_live(const CsimSlab *slab) {
  return slab->live;
}
static inline uint32_t csim_slab_peak(const CsimSlab *slab) {
  return slab->peak;
}
/* Requests to the system so far (growth only; the one malloc an object of the apart mode is not counted). */
static inline uint64_t csim_slab_system_allocs(const CsimSlab *slab) {
  return slab->system_allocs;
}

#endif
