/*
 * models/catalogue.h - every constant of the simulator, with unit, source, confidence.
 *
 * Used by: topo and exec (to build models), cli (`collsim models`). The data is
 * data/hardware.json, compiled into the binary; --catalogue FILE lays another file of the same
 * form over it, --set NAME=VALUE one value.
 *
 * An entry's name is a dotted path: "gpu.h100.flag_latency", "nvlink.4.efficiency".
 * "gpu.<model>.*" entries may be inherited: {"like": "h100"} takes what is not given from there.
 */
#ifndef CSIM_MODELS_CATALOGUE_H
#define CSIM_MODELS_CATALOGUE_H

#include "base/diag.h"
#include "collsim/types.h"

typedef enum { CSIM_UNIT_TIME, CSIM_UNIT_RATE, CSIM_UNIT_BYTES, CSIM_UNIT_NUMBER } CsimUnitKind;
typedef enum { CSIM_CONF_MEASURED, CSIM_CONF_DERIVED, CSIM_CONF_FITTED, CSIM_CONF_ASSUMED } CsimConfidence;

typedef struct {
  const char *name;
  CsimUnitKind unit;
  union { CsimTime time; CsimRate rate; CsimBytes bytes; double number; };
  CsimConfidence confidence;
  const char *source; /* one line: where the value comes from */
  const char *meaning; /* one line: what it is */
  CsimLoc loc;
} CsimConstant;

typedef struct CsimCatalogue CsimCatalogue; /* immutable once built; shared between threads */

/* The built-in catalogue plus overlays. overlay_file may be NULL; sets: NULL-ended "name=value" texts or NULL. */
CsimCatalogue *csim_catalogue_new(const char *overlay_file, const char *const *sets, GError **error);
void csim_catalogue_free(CsimCatalogue *catalogue);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimCatalogue, csim_catalogue_free)

const CsimConstant *csim_catalogue_find(const CsimCatalogue *catalogue, const char *name); /* NULL if absent */
guint csim_catalogue_n(const CsimCatalogue *catalogue);
const CsimConstant *csim_catalogue_get(const CsimCatalogue *catalogue, guint i); /* sorted by name */
char *csim_constant_text(const CsimConstant *constant); /* its value with the unit, as csim_*_format and %g print it; caller frees */
/* 64-bit digest over names and values, printed as provenance. */
uint64_t csim_catalogue_digest(const CsimCatalogue *catalogue);

/* Look-ups for model code; a missing name or wrong unit is a bug in the shipped data and asserts. */
CsimTime csim_catalogue_time(const CsimCatalogue *c, const char *format, ...) G_GNUC_PRINTF(2, 3);
CsimRate csim_catalogue_rate(const CsimCatalogue *c, const char *format, ...) G_GNUC_PRINTF(2, 3);
CsimBytes csim_catalogue_bytes(const CsimCatalogue *c, const char *format, ...) G_GNUC_PRINTF(2, 3);
double csim_catalogue_number(const CsimCatalogue *c, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* The catalogue's GPU model name ("h100", "a100", ...) for a compute capability (NCCL's sm, e.g. 90), NVLink count and PCI
 * device id ("0x2335", NULL if unknown); the nearest lower generation if the exact one is unknown. */
const char *csim_catalogue_gpu_model(const CsimCatalogue *c, int sm, int nvlinks, const char *pci_device);

#endif
