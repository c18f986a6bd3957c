/* exp/validate-private.h - a targets file in memory; private to validate-targets.c (reads it) and validate-resolve.c (applies it). */
#ifndef CSIM_EXP_VALIDATE_PRIVATE_H
#define CSIM_EXP_VALIDATE_PRIVATE_H

#include "base/json-read.h"
#include "exp/validate.h"

typedef struct {
  gint64 min, max;
} TargetRange; /* max 0: anything */

/* All of it must hold; nothing in it: every set. */
typedef struct {
  GPtrArray *patterns[CSIM_N_FACTS]; /* char*; NULL: not looked at */
  TargetRange nodes, gpus, gpus_per_node;
} TargetMatch;

/* One form for the rules of all lists; each list reads its own members, the rest stays NULL or 0. */
typedef struct {
  TargetMatch match;
  const char *text; /* reason of a skip, source of a derive, explanation of a why */
  /* machines */
  const char *node;     /* shipped node, XML file, or "./topo.xml" beside the set's file */
  gint64 domain;        /* GPUs of one NVLink domain of several hosts; 0: a host is a node */
  gint64 gpus_per_node; /* every node has so many, whatever the set says of nodes; 0: the set says */
  const char *thin;     /* what the description lacks; such sets do not count */
  /* machines and settings: fabric; NULL or 0 leaves it as the node says */
  const char *transport, *kind, *routing, *link_rate;
  const char *tcp_control, *tcp_queue; /* of `tcp`: congestion_control, queue */
  double oversubscription;
  gboolean sharp;
  /* settings */
  GPtrArray *variables, *constants; /* char* */
  gboolean has_launch, virtual_machine, has_fidelity;
  CsimLaunch launch;
  CsimFidelity fidelity;
  gint64 iters;
} TargetRule;

typedef enum {
  TARGETS_SKIP,
  TARGETS_MACHINES,
  TARGETS_SETTINGS,
  TARGETS_DERIVE,
  TARGETS_WHY,
  N_TARGET_LISTS
} TargetList;

struct CsimTargets {
  CsimDiag *diag;                   /* outlives doc */
  CsimJsonDoc *doc;                 /* the texts above are its */
  GPtrArray *lists[N_TARGET_LISTS]; /* TargetRule* */
  GPtrArray *ignored;               /* variables of a set that say nothing to a simulator */
};

#endif
