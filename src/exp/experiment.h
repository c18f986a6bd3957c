/*
 * exp/experiment.h - a question as a file: a base run, axes to vary, filters, repeats, wanted outputs.
 *
 * Used by: sweep.h (runs the points), report (draws the outputs), cli. Schema and examples: docs/experiments.md.
 * Implemented in experiment.c (file), experiment-axes.c (axes, conditions), experiment-outputs.c, experiment-points.c (points in order),
 * experiment-text.c (a point's merged description), experiment-try.c (values tried early).
 *
 * A setting is addressed by its path in the merged run description: a key of exp/args.h ("size", "nodes", "env.NCCL_ALGO",
 * "set.gpu.h100.launch") or a place in the cluster ("cluster.fabric.oversubscription", "cluster.faults[0].rate"; "fabric.", "placement."
 * and "faults" alone mean the same). Immutable after reading, shared between threads.
 */
#ifndef CSIM_EXP_EXPERIMENT_H
#define CSIM_EXP_EXPERIMENT_H

#include "base/diag.h"
#include "collsim/types.h"
#include "exp/args.h"

#include <cjson/cJSON.h>

#define CSIM_EXPERIMENT_MAX_POINTS 1000000
#define CSIM_EXPERIMENT_MAX_AXES 32
#define CSIM_EXPERIMENT_MAX_REPEATS 10000
#define CSIM_EXPERIMENT_MAX_LINKS 100000

typedef struct {
  char *path;
  cJSON *value; /* cJSON_NULL: as if it was never set */
  CsimLoc loc;
} CsimSetting;

typedef struct {
  char *label;     /* as tables show it */
  GArray *sets;    /* CsimSetting: one, or those of a labelled object */
  CsimLoc loc;
} CsimAxisValue;

typedef struct {
  char *name;        /* the path, or a name of the user's for an axis of labelled objects */
  GPtrArray *values; /* CsimAxisValue* */
  guint group;       /* axes of one group advance together */
  CsimLoc loc;
} CsimAxis;

/* One member of a condition: a column whose text is one of `any`, or whose number or size lies in min..max. */
typedef struct {
  char *column;
  GPtrArray *any; /* char*; NULL: by range */
  double min, max;
} CsimTest;

typedef enum { CSIM_OUTPUT_TABLE, CSIM_OUTPUT_BEST, CSIM_OUTPUT_LINES, CSIM_OUTPUT_BARS, CSIM_OUTPUT_HEAT, CSIM_OUTPUT_SCALING, CSIM_OUTPUT_TORNADO, CSIM_OUTPUT_CDF, CSIM_OUTPUT_LINKS,
               CSIM_OUTPUT_MAP } CsimOutputKind;

/* What a table or plot shows; columns are axis names and columns of the results (exp/results.h). */
typedef struct {
  CsimOutputKind kind;
  char *file, *title;             /* file: in the output folder; NULL for a table that is only printed */
  char *x, *series, *value, *base; /* series may be NULL; base: the value of x that others are compared with (tornado, table) */
  GArray *where;                  /* CsimTest: rows that count */
  CsimLoc loc;
} CsimOutput;

typedef struct {
  char *path, *folder;    /* the file, and what its relative paths start from */
  char *name, *description;
  uint64_t digest;        /* of the text */
  GArray *base;           /* CsimSetting: run keys */
  cJSON *cluster;         /* laid over the target's; NULL: none */
  GPtrArray *axes;        /* CsimAxis* */
  guint n_groups;
  GPtrArray *only, *skip; /* GArray* of CsimTest */
  guint repeats;          /* 1: none */
  uint64_t first_seed;
  GPtrArray *seed_paths;  /* char*: what the repeat's seed is written to */
  guint links;            /* link loads kept a row, the most used first */
  gboolean links_of_fabric; /* of the fabric only, and then of all of it */
  GPtrArray *outputs;     /* CsimOutput* */
  GArray *points;         /* guint64: combinations that pass the filters, in order; the last axis varies fastest, repeats fastest of all */
} CsimExperiment;

/* NULL with the first error, "file:line:col: what is wrong; what is allowed (and N more)". Every value of every axis is tried on a run's
 * settings and, if it concerns the cluster, on a cluster. */
CsimExperiment *csim_experiment_read(const char *path, GError **error);
/* The same from a text; name for messages; folder: where relative paths start. */
CsimExperiment *csim_experiment_parse(const char *name, const char *folder, const char *text, GError **error);
void csim_experiment_free(CsimExperiment *e);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimExperiment, csim_experiment_free)

int csim_experiment_find_axis(const CsimExperiment *e, const char *name); /* -1: none */

/* --- points --- */
guint csim_experiment_n_points(const CsimExperiment *e);
/* The value that an axis has at a point, and which repeat it is (from 0). */
const CsimAxisValue *csim_experiment_value(const CsimExperiment *e, guint point, guint axis);
guint csim_experiment_repeat(const CsimExperiment *e, guint point);

/* A point's merged description, or that of several points that differ in nothing but their sizes. */
typedef struct {
  GPtrArray *keys, *values; /* char*: run settings in order, each once */
  char *target;             /* as written, for tables */
  char *load_target;        /* what csim_run_new takes: relative paths made whole, a changed cluster as JSON text */
  char *text;               /* canonical: two points with one text are the same run */
  const char *folder;       /* the experiment's */
} CsimDescription;
/* NULL with an error when a path leads nowhere (into a list that is too short, into a number). */
CsimDescription *csim_experiment_describe(const CsimExperiment *e, guint point, GError **error);
void csim_description_free(CsimDescription *d);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimDescription, csim_description_free)
/* The description as settings of a run. CSIM_ERROR_VALUE names the setting. */
CsimRunArgs *csim_description_args(const CsimDescription *d, GError **error);
/* Of the sources that this program's model was built from, as 16 hex digits: changes when the model does (tools/source-digest.py). */
extern const char csim_model_digest[];
/* Digest of everything that decides the result: model, constants, description, contents of the files it names. */
uint64_t csim_description_key(const CsimDescription *d, const CsimExperiment *e);
/* Of the constants that are compiled in, which are the same for every point; computed once. */
uint64_t csim_constants_digest(void);

/* --- conditions --- */
/* TRUE if the text of the test's column fits. */
gboolean csim_test_matches(const CsimTest *test, const char *text);
/* A number, or a size or count with a binary suffix as nccl-tests writes it ("64K"); NAN for other texts. */
double csim_label_number(const char *text);

#endif
