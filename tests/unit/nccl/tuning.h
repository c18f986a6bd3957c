/*
 * tuning.h - a tuning table from an input, and its choice, for the tests of tables, choices and pieces.
 */
#ifndef TUNING_H
#define TUNING_H

#include "nccl/tune-internal.h"

/* settings: "NAME=VALUE" texts, NULL-ended, may be NULL. */
CsimTuning *tuning_with(const CsimTuneInput *in, const char *const *settings);
/* Of floats and sums; there must be one. */
CsimChoice choose(const CsimTuning *t, CsimColl func, CsimBytes bytes);

#endif
