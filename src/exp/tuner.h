/*
 * exp/tuner.h - the NCCL settings with which a collective simulates fastest, size by size.
 *
 * Used by: cli (`collsim tune --search`). For each size, from NCCL's own choice with the user's settings: one variable after the other is tried
 * with each value that can matter on the target, and kept if it saves more than a noise limit; then again until nothing does. What is found and what
 * was there are simulated with other seeds, so that a gain is given with its spread. Greedy: pairs of variables that help together only are missed.
 */
#ifndef CSIM_EXP_TUNER_H
#define CSIM_EXP_TUNER_H

#include "exp/results.h"
#include "exp/run.h"

#define CSIM_TUNER_NOISE 0.01 /* a smaller share of the time is not worth a variable */

typedef struct {
  int jobs;   /* sizes at once */
  int seeds;  /* of the final comparison */
  void (*progress)(guint done, guint of); /* sizes; may be NULL */
} CsimTunerOptions;

typedef struct {
  CsimBytes size_bytes;
  GPtrArray *settings;   /* char*, "NCCL_X=V": on top of what the user has set; empty: nothing helps */
  CsimSpread now, best;  /* time in us over seeds */
  CsimSpread gain;       /* now / best - 1, seed by seed */
  guint tried;
} CsimTunerRow;

/* A variable that the user has set, without it: time with / time without, at each size. */
typedef struct {
  char *setting;         /* "NCCL_X=V" */
  double least, most;    /* ratio over sizes: above 1 it hurts, below it helps */
  CsimBytes at_most;     /* the size of `most` */
} CsimTunerVerdict;

typedef struct {
  int n_ranks;
  GArray *rows;          /* CsimTunerRow, in order of size */
  GArray *verdicts;      /* CsimTunerVerdict */
  int common;            /* row whose settings are best for all sizes together; -1: none are better than what is there */
  double common_gain;    /* geometric mean over sizes, of now / with them - 1 */
} CsimTuner;

/* spec: what to tune (target, collective, sizes, present settings). NULL with an error: as csim_run_new, or interrupted. */
CsimTuner *csim_tuner(const CsimRunSpec *spec, const CsimTunerOptions *options, GError **error);
void csim_tuner_free(CsimTuner *search);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimTuner, csim_tuner_free)

/* The rows, an export block for every range of sizes with the same settings, the block for all, and what present settings do. */
void csim_tuner_text(GString *out, const CsimTuner *search, const CsimRunSpec *spec);
void csim_tuner_json(GString *out, const CsimTuner *search, const CsimRunSpec *spec);

#endif
