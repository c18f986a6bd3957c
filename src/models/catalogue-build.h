/*
 * models/catalogue-build.h - the catalogue while it is put together; private to models/catalogue*.c.
 *
 * Layers go on in order: built-in file, overlay file, --set values. Each gives *explicit* constants and groups; what a group
 * does not give is looked up in the group that its "like" names, at the end, so that a value set on
 * gpu.h100 reaches gpu.h200 too.
 */
#ifndef CSIM_MODELS_CATALOGUE_BUILD_H
#define CSIM_MODELS_CATALOGUE_BUILD_H

#include "models/catalogue.h"

/* A group is the object that holds constants: "gpu.h100". Strings are interned. */
typedef struct {
  const char *path, *like; /* like: path of the group to inherit from, NULL for none */
  CsimLoc like_loc;
  int sm, nvlinks;    /* "match": 0 not given */
  GPtrArray *devices; /* const char*, PCI device ids in lower case */
} CsimGroup;

typedef struct {
  GHashTable *constants; /* interned name -> CsimConstant*, owned */
  GHashTable *groups;    /* interned path -> CsimGroup*, owned */
  CsimDiag *diag;        /* borrowed */
} CsimCatalogueBuild;

/* Reads one file of constants (text of `length` bytes called `name`; text NULL: reads the file `name`). overlay: names must exist already,
 * and source and confidence may be left out. Findings go to build->diag. */
void csim_catalogue_read(CsimCatalogueBuild *build, const char *name, const char *text, gssize length,
                         gboolean overlay);
/* "gpu.h100.flag_latency=620ns". */
void csim_catalogue_set(CsimCatalogueBuild *build, const char *assignment);

CsimConstant *csim_catalogue_constant_new(const char *name);
CsimGroup *csim_catalogue_group(CsimCatalogueBuild *build, const char *path); /* made when new */
/* Follows "like"; NULL if no group on the way gives it. */
const CsimConstant *csim_catalogue_resolve(const CsimCatalogueBuild *build, const char *name);
/* NULL-ended names that exist, explicit or inherited; sorted; free with g_strfreev. */
char **csim_catalogue_names(const CsimCatalogueBuild *build);

#endif
