/* Arenas and slabs: contents, marks, generations, and that a steady state asks the system for nothing. */
#include "base/arena.h"
#include "base/rng.h"
#include "base/slab.h"
#include <string.h>

static void test_arena(void) {
  g_autoptr(CsimArena) a = csim_arena_new(256);
  char *first = csim_arena_strdup(a, "hello");
  g_assert_cmpuint((gsize)first % 16, ==, 0);
  char *large = csim_arena_alloc(a, 10000); /* larger than a chunk */
  for (int i = 0; i < 10000; i++) g_assert_cmpint(large[i], ==, 0);
  memset(large, 'x', 10000);
  for (int i = 0; i < 100; i++) {
    uint64_t *p = CSIM_ARENA_NEW(a, uint64_t, 7);
    for (int k = 0; k < 7; k++) g_assert_cmpuint(p[k], ==, 0);
    memset(p, 'y', 7 * sizeof *p);
  }
  g_assert_cmpstr(first, ==, "hello");
  g_assert_cmpint(large[9999], ==, 'x');
  g_assert_null(csim_arena_strdup(a, NULL));
  g_assert_nonnull(csim_arena_alloc(a, 0));
}

static void test_arena_marks(void) {
  g_autoptr(CsimArena) a = csim_arena_new(128);
  CsimArenaMark empty = csim_arena_mark(a);
  char *kept = csim_arena_strdup(a, "kept");
  gsize used = csim_arena_used(a);
  CsimArenaMark mark = csim_arena_mark(a);
  for (int i = 0; i < 50; i++) memset(csim_arena_alloc(a, 40), 0xff, 40);
  gsize peak = csim_arena_peak(a);
  csim_arena_release(a, mark);
  g_assert_cmpuint(csim_arena_used(a), ==, used);
  g_assert_cmpstr(kept, ==, "kept");
  char *again = csim_arena_alloc(a, 40);
  for (int i = 0; i < 40; i++) g_assert_cmpint(again[i], ==, 0); /* zeroed though the memory is used again */
  csim_arena_release(a, empty);
  g_assert_cmpuint(csim_arena_used(a), ==, 0);
  g_assert_cmpuint(csim_arena_peak(a), ==, peak);
}

static void fill(CsimArena *a) {
  for (int i = 0; i < 200; i++) csim_arena_alloc(a, (gsize)(i * 7 % 300));
}

static void test_arena_steady(void) {
  g_autoptr(CsimArena) a = csim_arena_new(1024);
  fill(a);
  uint64_t allocs = csim_arena_system_allocs(a);
  for (int round = 0; round < 10; round++) {
    csim_arena_reset(a);
    fill(a);
  }
  g_assert_cmpuint(csim_arena_system_allocs(a), ==, allocs);
}

static void test_slab_generations(void) {
  g_autoptr(CsimSlab) s = csim_slab_new("test", 24);
  CsimHandle a, b;
  void *pa = csim_slab_alloc(s, &a);
  g_assert_cmpuint(a, !=, CSIM_HANDLE_NONE);
  g_assert_true(csim_slab_get(s, a) == pa);
  csim_slab_release(s, a);
  g_assert_null(csim_slab_try(s, a));
  csim_slab_alloc(s, &b);
  g_assert_cmpuint(CSIM_HANDLE_SLOT(a), ==, CSIM_HANDLE_SLOT(b)); /* last in, first out */
  g_assert_cmpuint(a, !=, b);
  g_assert_null(csim_slab_try(s, a));
  g_assert_nonnull(csim_slab_try(s, b));
  g_assert_null(csim_slab_try(s, CSIM_HANDLE_NONE));
  g_assert_null(csim_slab_try(s, 0xffffffffu));
}

/* A handle stays stale until its slot has been used 255 times more; it never becomes 0. */
static void test_slab_wrap(void) {
  g_autoptr(CsimSlab) s = csim_slab_new("test", 8);
  CsimHandle old, h;
  csim_slab_alloc(s, &old);
  csim_slab_release(s, old);
  for (int i = 0; i < 254; i++) {
    csim_slab_alloc(s, &h);
    g_assert_cmpuint(h, !=, CSIM_HANDLE_NONE);
    g_assert_null(csim_slab_try(s, old));
    csim_slab_release(s, h);
  }
  csim_slab_alloc(s, &h);
  g_assert_cmpuint(h, ==, old);
}

static void test_slab_lifo(void) {
  g_autoptr(CsimSlab) s = csim_slab_new("test", 16);
  CsimHandle h[10], again;
  for (int i = 0; i < 10; i++) csim_slab_alloc(s, &h[i]);
  for (int i = 0; i < 10; i++) csim_slab_release(s, h[i]);
  for (int i = 9; i >= 0; i--) {
    csim_slab_alloc(s, &again);
    g_assert_cmpuint(CSIM_HANDLE_SLOT(again), ==, CSIM_HANDLE_SLOT(h[i]));
  }
}

#define N 20000 /* about five chunks */

static void test_slab_random(void) {
  g_autoptr(CsimSlab) s = csim_slab_new("test", sizeof(uint64_t));
  g_autofree CsimHandle *handles = g_new0(CsimHandle, N);
  CsimRng rng;
  csim_rng_init(&rng, 7, 0, 0);
  uint32_t live = 0, peak = 0;
  for (int i = 0; i < 10 * N; i++) {
    uint64_t k = csim_rng_below(&rng, N);
    if (handles[k] == CSIM_HANDLE_NONE) {
      *(uint64_t *)csim_slab_alloc(s, &handles[k]) = k;
      live++;
      peak = MAX(peak, live);
    } else {
      g_assert_cmpuint(*(uint64_t *)csim_slab_get(s, handles[k]), ==, k);
      csim_slab_release(s, handles[k]);
      handles[k] = CSIM_HANDLE_NONE;
      live--;
    }
    g_assert_cmpuint(csim_slab_live(s), ==, live);
  }
  g_assert_cmpuint(csim_slab_peak(s), ==, peak);
}

static void test_slab_steady(void) {
  g_autoptr(CsimSlab) s = csim_slab_new("test", 32);
  g_autofree CsimHandle *h = g_new(CsimHandle, N);
  csim_slab_reserve(s, N);
  uint64_t allocs = csim_slab_system_allocs(s);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < N; i++) csim_slab_alloc(s, &h[i]);
    for (int i = 0; i < N; i++) csim_slab_release(s, h[i]);
  }
  g_assert_cmpuint(csim_slab_system_allocs(s), ==, allocs);
}

static void test_slab_stale_is_fatal(void) {
  if (g_test_subprocess()) {
    CsimSlab *s = csim_slab_new("test", 8);
    CsimHandle h;
    csim_slab_alloc(s, &h);
    csim_slab_release(s, h);
    csim_slab_release(s, h);
    return;
  }
  g_test_trap_subprocess(NULL, 0, 0);
  g_test_trap_assert_failed();
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/arena/contents", test_arena);
  g_test_add_func("/arena/marks", test_arena_marks);
  g_test_add_func("/arena/steady", test_arena_steady);
  g_test_add_func("/slab/generations", test_slab_generations);
  g_test_add_func("/slab/wrap", test_slab_wrap);
  g_test_add_func("/slab/lifo", test_slab_lifo);
  g_test_add_func("/slab/random", test_slab_random);
  g_test_add_func("/slab/steady", test_slab_steady);
  g_test_add_func("/slab/stale-is-fatal", test_slab_stale_is_fatal);
  return g_test_run();
}
