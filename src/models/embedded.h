/*
 * models/embedded.h - files of data/ and topologies/ compiled into the binary.
 *
 * Used by: the catalogue and the shipped nodes. Written by data/embed.py at build time.
 */
#ifndef CSIM_MODELS_EMBEDDED_H
#define CSIM_MODELS_EMBEDDED_H

#include <stddef.h>

typedef struct {
  const char *name; /* file name without folder; NULL ends a table */
  const char *text; /* NUL-ended */
  size_t length;
} CsimEmbedded;

extern const CsimEmbedded csim_embedded_hardware[]; /* data/hardware.json */
extern const CsimEmbedded csim_embedded_nodes[];    /* topologies/ *.xml, defined in the topo layer */

#endif
