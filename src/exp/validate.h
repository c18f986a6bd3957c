/*
 * exp/validate.h - measured collectives beside what the simulator says: sets in, errors per set out.
 *
 * Used by: `collsim validate`, tests. Implemented in validate*.c. A set is one collective on one machine over some sizes, from an
 * nccl-tests log, a CSV file or a row of an INDEX.tsv. What it was measured on is either given (--target) or found by the rules of
 * a targets file (experiments/validation/targets.json, compiled in), which look at words of the set's description, so that sets
 * nobody has seen before map too. A set that the rules cannot place is named with the reason, never dropped silently.
 *
 * Errors are |predicted / measured - 1| of what was measured: the time, or busbw where a set has nothing else. Bias is the median of
 * predicted time / measured time - 1 in both cases: above zero the prediction is too slow.
 */
#ifndef CSIM_EXP_VALIDATE_H
#define CSIM_EXP_VALIDATE_H

#include "exp/run.h"

/* What is known of a set, as text; rules look for words in these. */
typedef enum {
  CSIM_FACT_NAME, /* slug, or the file's name; "nccl2:Ring-LL:all_reduce" where a file holds several sets */
  CSIM_FACT_FILE, /* path as given */
  CSIM_FACT_TAG,  /* the tag column of a file of several sets */
  CSIM_FACT_HARDWARE,
  CSIM_FACT_FABRIC,
  CSIM_FACT_COLLECTIVE,
  CSIM_FACT_ALGO, /* "ring", "NVLS enabled": what the publisher calls the series */
  CSIM_FACT_NCCL, /* version text */
  CSIM_FACT_ENV,  /* variables and command line as far as they are told */
  CSIM_FACT_NOTES,
  CSIM_FACT_CONFIDENCE, /* the index's own word: "high", "medium", "low" */
  CSIM_N_FACTS
} CsimFact;
/* The keys of "match" in a targets file, NULL-ended. */
extern const char *const csim_fact_names[CSIM_N_FACTS + 1];

typedef struct {
  CsimBytes size; /* the size column of nccl-tests */
  CsimType type;
  CsimOp op;
  double time_us;    /* 0: not published */
  double busbw_gbps; /* 0: not published */
  CsimLoc loc;
} CsimMeasuredRow;

typedef struct {
  char *facts[CSIM_N_FACTS]; /* NULL: unknown */
  guint n_nodes, n_gpus;     /* hosts, GPUs in all; 0: unknown */
  CsimColl coll;
  CsimLaunch launch; /* with has_launch: what the log itself says */
  gboolean has_coll, has_launch;
  gboolean virtual_machine; /* it says that it was measured in one ("machine: virtual", as `collsim probe` writes) */
  int iters;      /* 0: not said */
  GArray *rows;   /* CsimMeasuredRow, sorted by size; out of place where there is a choice */
  char *unusable; /* why it cannot be compared at all ("no rows with a collective"), or NULL */
} CsimMeasuredSet;
CsimMeasuredSet *csim_measured_set_new(void);
void csim_measured_set_free(gpointer set);
void csim_measured_set_settle(
    CsimMeasuredSet *set); /* sorts the rows by size; repeats of a size become one row, their medians */
void csim_measured_fact(CsimMeasuredSet *set, CsimFact fact, const char *text); /* NULL or "" leaves it */

/* --- readers (validate-csv.c, validate-log.c, validate-index.c) ---
 * Each appends its sets (CsimMeasuredSet*) to `sets`. FALSE: the file cannot be read. Junk lines are skipped and counted in NOTES. */
gboolean csim_measured_csv(GPtrArray *sets, const char *name, const char *text, gsize length, GError **error);
gboolean csim_measured_file(GPtrArray *sets, const char *path,
                            GError **error); /* CSV by its name, else a log */
/* Files below a folder, in order of their paths; index (INDEX.tsv) adds what it knows of DIR/slug.csv, and rows without a file become
 * unusable sets. index NULL: DIR/INDEX.tsv if it is there. */
gboolean csim_measured_folder(GPtrArray *sets, const char *folder, const char *index, GError **error);

/* --- targets (validate-targets.c, validate-resolve.c) --- */
typedef struct CsimTargets CsimTargets;
/* path NULL: the file compiled in. Errors: all findings of the schema with their places. */
CsimTargets *csim_targets_load(const char *path, GError **error);
void csim_targets_free(CsimTargets *targets);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimTargets, csim_targets_free)

typedef struct {
  char *skip;                   /* why it is not run, or NULL */
  char *node;                   /* shipped node or XML file */
  char *target;                 /* what the run gets: the node, or a cluster as JSON text */
  char *label;                  /* for people: "dgx-b200*4 roce sharp" */
  guint n_nodes, gpus_per_node; /* 0: as the target says */
  GPtrArray *variables;         /* "NCCL_X=V", NULL-ended */
  GPtrArray *constants;         /* "name=value" for the catalogue, NULL-ended */
  CsimLaunch launch;
  CsimFidelity fidelity; /* flow, or packet where the description tells what decides there */
  gboolean virtual_machine;
  int iters;
  gboolean derive;         /* constants were fitted on it */
  char *derive_from, *why; /* which ones; what is known about its error; NULL: nothing */
} CsimResolved;
CsimResolved *csim_targets_resolve(const CsimTargets *targets, const CsimMeasuredSet *set);
/* For --target: everything from the user, the set's own variables and launch kept. */
CsimResolved *csim_targets_given(const CsimTargets *targets, const CsimMeasuredSet *set, const char *target);
void csim_resolved_label(CsimResolved *resolved, const char *label);
void csim_resolved_free(CsimResolved *resolved);
/* Has text the words of a pattern? "H100": begins a word and is not followed by a digit; "a|b": either; "!a": not a. Case does not matter. */
gboolean csim_words_match(const char *text, const char *pattern);

/* --- results (validate.c, validate-run.c, validate-stats.c) --- */
typedef struct {
  CsimMeasuredRow measured;
  double time_us, busbw_gbps; /* predicted */
  double error, slower;       /* |predicted / measured - 1|; predicted time / measured time - 1 */
  CsimAlgo algo;
  CsimProto proto;
  int n_channels;
} CsimCompared;

typedef struct {
  guint n;
  double median, p90, max, bias;
} CsimErrorStats; /* n 0: the rest is NAN */
enum {
  CSIM_CLASS_S,
  CSIM_CLASS_M,
  CSIM_CLASS_L,
  CSIM_N_CLASSES
}; /* below 64 KiB, below 16 MiB, from 16 MiB */

typedef struct {
  CsimMeasuredSet *set;
  CsimResolved *resolved;
  GArray *rows; /* CsimCompared */
  CsimErrorStats all, by_class[CSIM_N_CLASSES];
  gboolean busbw_only;
  char *skipped; /* why there is no result or why it does not count; NULL: counts */
  char *note;    /* "time limit after 5 of 21 sizes"; NULL: complete */
  guint n_left_out; /* sizes whose algorithm is not simulated */
  double wall_s;
} CsimSetResult;

typedef struct {
  guint n_sets, n_rows; /* that count */
  double median_error, median_error_large,
      p90_sets; /* over sets: median of medians, of medians from 16 MiB, 90th percentile of medians */
} CsimKindSummary;

typedef struct {
  GPtrArray *sets; /* CsimSetResult*, in order of the input */
  CsimKindSummary check, derive;
  guint n_skipped;
  uint64_t catalogue_digest;
} CsimValidation;

typedef struct {
  const CsimTargets *targets;
  const char *target; /* for every set, or NULL */
  const char *label;  /* for people, in place of target; NULL: target */
  gboolean virtual_machine; /* with target: it is one */
  gboolean predict;   /* rows need no measured value; errors are NAN */
  double limit_s;     /* processor time of a set; 0: none */
  int jobs;           /* threads */
  gboolean all;       /* also run what does not count, if it can be placed */
  gboolean has_fidelity; /* `fidelity` for every set; otherwise rules tell, flow where none does */
  CsimFidelity fidelity;
  uint64_t seed;
  const char *catalogue_file;
  const char *const *constants; /* "name=value" or NULL */
  const volatile int *interrupt;
  void (*progress)(guint done, guint of, void *data); /* from this thread; may be NULL */
  void *data;
} CsimValidateOptions;

/* Takes over the sets. Never fails as a whole: what goes wrong with a set is its `skipped`. */
CsimValidation *csim_validate(GPtrArray *sets, const CsimValidateOptions *options);
/* Is the median error of every set that counts at most so large a fraction? */
gboolean csim_validation_within(const CsimValidation *validation, double tolerance);
void csim_validation_free(CsimValidation *validation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimValidation, csim_validation_free)

/* Parts of it, for tests. */
CsimErrorStats csim_error_stats(const CsimCompared *rows, guint n, CsimBytes min, CsimBytes below);
void csim_set_result_count(CsimSetResult *result); /* statistics from its rows */
void csim_validate_set(CsimSetResult *result, const CsimValidateOptions *options);
void csim_validation_summarise(CsimValidation *validation);

#endif
