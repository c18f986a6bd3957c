/*
 * base/json-read.h - JSON in, with the place of every key and value.
 *
 * Used by: loaders of catalogues, clusters, experiments, vectors. cJSON, which
 * writes our output, keeps no places and takes duplicate keys, bad numbers and
 * control characters, so reading is done here, by RFC 8259 to the letter.
 *
 * A loader asks for the members it knows; what is missing, of the wrong type or
 * out of range goes to the document's CsimDiag with its place, and the loader
 * goes on. csim_json_finish then refuses every key that nobody asked for and
 * names the nearest one that somebody did:
 *
 *   g_autoptr(CsimDiag) diag = csim_diag_new();
 *   g_autoptr(CsimJsonDoc) doc = csim_json_read_file(path, diag);
 *   CsimJson *root = csim_json_root(doc, CSIM_JSON_OBJECT);
 *   csim_json_int(root, "count", CSIM_JSON_REQUIRED, 1, 100000, &count);
 *   csim_json_time(root, "latency", CSIM_JSON_OPTIONAL, &latency);
 *   csim_json_finish(doc);
 *   return csim_diag_check(diag, error);
 *
 * A NULL document, object or value is taken everywhere and means "already
 * reported": getters return FALSE or NULL and say nothing more.
 */
#ifndef CSIM_BASE_JSON_READ_H
#define CSIM_BASE_JSON_READ_H

#include "base/diag.h"
#include "collsim/types.h"

#define CSIM_JSON_MAX_DEPTH 64
#define CSIM_JSON_MAX_VALUES (1 << 22) /* about 500 MB of nodes at worst */
/* and CSIM_FILE_LIMIT, 64 MiB of text */

typedef struct CsimJsonDoc CsimJsonDoc;
typedef struct CsimJson CsimJson; /* one value; lives as long as its document */

typedef enum {
  CSIM_JSON_NULL,
  CSIM_JSON_BOOL,
  CSIM_JSON_NUMBER,
  CSIM_JSON_TEXT,
  CSIM_JSON_ARRAY,
  CSIM_JSON_OBJECT
} CsimJsonType;

typedef enum { CSIM_JSON_OPTIONAL, CSIM_JSON_REQUIRED } CsimJsonNeed;

/* Reads a whole document; NULL when it is not JSON or beyond a limit, with the reason in diag. diag is kept (borrowed) for
 * what the getters find, and must outlive the document; NULL drops all findings. */
CsimJsonDoc *csim_json_read_file(const char *path, CsimDiag *diag);
/* name: what places call the text ("<command line>", a file's name). length -1: NUL-ended. */
CsimJsonDoc *csim_json_read_text(const char *name, const char *text, gssize length, CsimDiag *diag);
void csim_json_doc_free(CsimJsonDoc *doc); /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimJsonDoc, csim_json_doc_free)

/* The top value if it has the type, else a finding and NULL. */
CsimJson *csim_json_root(CsimJsonDoc *doc, CsimJsonType type);

/* --- looking at a value (marks it as known) --- */
CsimJsonType csim_json_type(const CsimJson *value); /* value must not be NULL */
CsimLoc csim_json_loc(const CsimJson *value);       /* CSIM_LOC_NONE for NULL */
CsimLoc csim_json_key_loc(const CsimJson *value);   /* place of its key; of the value itself in an array */
const char *csim_json_key(const CsimJson *value);   /* NULL in an array */
guint csim_json_n(const CsimJson *container);       /* items or members; 0 for anything else */
/* The text of a number as written ("1e3"), of a text decoded; NULL for other types. */
const char *csim_json_text_of(const CsimJson *value);

/* All items or members in order of the file, for arrays and for objects whose keys are data; each becomes known.
 *   for (CsimJson *v = csim_json_first(list); v != NULL; v = csim_json_next(v)) ... */
CsimJson *csim_json_first(CsimJson *container);
CsimJson *csim_json_next(CsimJson *value);

/* --- members of an object --- */
/* Of any type. NULL when absent (a finding if required). */
CsimJson *csim_json_get(CsimJson *object, const char *name, CsimJsonNeed need);
/* Of a container type, to go into. */
CsimJson *csim_json_object(CsimJson *object, const char *name, CsimJsonNeed need);
CsimJson *csim_json_array(CsimJson *object, const char *name, CsimJsonNeed need);
/* TRUE and *out, or FALSE with *out untouched: absent and optional (no finding), or absent, wrong type, out of range (a
 * finding). So a default is what *out held before. Texts are borrowed from the document. */
gboolean csim_json_text(CsimJson *object, const char *name, CsimJsonNeed need, const char **out);
gboolean csim_json_bool(CsimJson *object, const char *name, CsimJsonNeed need, gboolean *out);
gboolean csim_json_int(CsimJson *object, const char *name, CsimJsonNeed need, int64_t min, int64_t max,
                       int64_t *out);
gboolean csim_json_double(CsimJson *object, const char *name, CsimJsonNeed need, double min, double max,
                          double *out);
/* Texts with a unit (base/units.h); a bare number is refused with both readings named. A rate must be above zero. */
gboolean csim_json_time(CsimJson *object, const char *name, CsimJsonNeed need, CsimTime *out);
gboolean csim_json_bytes(CsimJson *object, const char *name, CsimJsonNeed need, CsimBytes *out);
gboolean csim_json_rate(CsimJson *object, const char *name, CsimJsonNeed need, CsimRate *out);
/* One of a NULL-ended list; *out is its index. */
gboolean csim_json_choice(CsimJson *object, const char *name, CsimJsonNeed need, const char *const *choices,
                          int *out);

/* --- the same for a value in hand (an array's item, a member whose key is data) --- */
gboolean csim_json_is(CsimJson *value, CsimJsonType type); /* a finding and FALSE when it is not */
gboolean csim_json_as_text(CsimJson *value, const char **out);
gboolean csim_json_as_bool(CsimJson *value, gboolean *out);
gboolean csim_json_as_int(CsimJson *value, int64_t min, int64_t max, int64_t *out);
gboolean csim_json_as_double(CsimJson *value, double min, double max, double *out);
gboolean csim_json_as_time(CsimJson *value, CsimTime *out);
gboolean csim_json_as_bytes(CsimJson *value, CsimBytes *out);
gboolean csim_json_as_rate(CsimJson *value, CsimRate *out);
gboolean csim_json_as_choice(CsimJson *value, const char *const *choices, int *out);

/* A finding of the loader's own at a value. */
void csim_json_error(const CsimJson *value, CsimErrorCode code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Accepts everything below a value without looking at it (a comment, a part that another reader takes). */
void csim_json_ignore(CsimJson *value);
/* Refuses every member that no getter asked for. Call once, at the end of loading. */
void csim_json_finish(CsimJsonDoc *doc);

#endif
