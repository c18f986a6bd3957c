/*
 * exp/experiment-private.h - what the parts of the experiment reader share; for experiment*.c only.
 */
#ifndef CSIM_EXP_EXPERIMENT_PRIVATE_H
#define CSIM_EXP_EXPERIMENT_PRIVATE_H

#include "base/json-read.h"
#include "exp/experiment.h"

/* A value as a cJSON tree, numbers with the digits of the file. */
cJSON *csim_json_copy(CsimJson *value);
/* As tables show it: a text itself, "default" for null, else JSON in one line. Caller frees. */
char *csim_json_label(const cJSON *value);

GArray *csim_settings_new(void); /* of CsimSetting, which it owns */

/* experiment-axes.c. Findings go to the document's diag. */
void csim_experiment_read_axes(CsimExperiment *e, CsimJson *root);
/* TRUE if a path can be one: a run's key, env., set., cluster. and its short forms. */
gboolean csim_path_is_known(const char *path);
/* The path with "cluster." in front where it was left out; caller frees. */
char *csim_path_whole(const char *path);
GArray *csim_tests_read(CsimJson *object); /* an object of columns; never NULL */

/* experiment-outputs.c */
void csim_experiment_read_outputs(CsimExperiment *e, CsimJson *root);

/* experiment-points.c: lists the points that pass the filters. */
gboolean csim_experiment_list(CsimExperiment *e, GError **error);

/* experiment-text.c: sets `path` (without "cluster.") in a tree; NULL or cJSON_NULL takes it away. */
gboolean csim_tree_set(cJSON *root, const char *path, const cJSON *value, GError **error);

/* experiment-try.c: each value of each axis alone on the base: the settings, and the cluster's members. */
gboolean csim_experiment_try_values(const CsimExperiment *e, GError **error);

#endif
