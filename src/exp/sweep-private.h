/*
 * exp/sweep-private.h - what the parts of a sweep share; for sweep*.c only.
 */
#ifndef CSIM_EXP_SWEEP_PRIVATE_H
#define CSIM_EXP_SWEEP_PRIVATE_H

#include "exp/run.h"
#include "exp/sweep.h"

/* --- sweep-point.c ----------------------------------------------------------------- */

/* What points share (CsimLoaded), by the settings that decide it: the most recently used few. Safe from several threads. */
typedef struct CsimShare CsimShare;
CsimShare *csim_share_new(guint keep);
void csim_share_free(CsimShare *share);
/* {"target": ..., "rows": [...]} or {..., "error": "..."}; NULL: interrupted. */
char *csim_point_result(const CsimExperiment *e, guint point, CsimShare *share, const volatile int *interrupt);

/* --- sweep-store.c ------------------------------------------------------------------- */

typedef struct {
  char *folder, *path; /* path: of the file that is appended to */
  int file;            /* -1: not open */
  GHashTable *results; /* key text (16 hex digits) -> result (char*) */
  GPtrArray *stored;   /* char*: keys in order of reading, each once */
} CsimStore;
CsimStore *csim_store_new(const char *folder, guint shard, guint n_shards, GError **error);
void csim_store_free(CsimStore *store);
gboolean csim_store_append(CsimStore *store, const CsimExperiment *e, guint point, const char *key, const char *result, GError **error);
/* Replaces a file of the folder at once: nobody ever sees half of it. */
gboolean csim_store_replace(const CsimStore *store, const char *name, const GString *text, GError **error);
/* "point", "key", "result", "axes": one line with its end. */
void csim_store_line(GString *out, const CsimExperiment *e, guint point, const char *key, const char *result);

struct CsimSweep {
  const CsimExperiment *e;
  CsimSweepOptions options;
  CsimStore *store;
  CsimShare *share;
  GPtrArray *keys;  /* char* of every point of the experiment */
  GArray *todo;     /* guint: points, each key once */
  guint next, done; /* in todo */
  guint reused, stale;
  GError *broken;   /* the store could not be written */
  GMutex mutex;     /* of everything that changes */
  GCond cond;       /* something was done */
};

/* sweep.c: takes points until there are none; tells the caller's progress. */
void csim_sweep_work(CsimSweep *s);
void csim_sweep_report(CsimSweep *s);
gboolean csim_sweep_is_interrupted(const CsimSweep *s);

static inline gboolean csim_sweep_is_mine(const CsimSweep *s, guint point) { return point % s->options.n_shards == s->options.shard; }
static inline const char *csim_sweep_result(const CsimSweep *s, guint point) {
  return (const char *)g_hash_table_lookup(s->store->results, g_ptr_array_index(s->keys, point));
}

#endif
