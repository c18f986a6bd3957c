/*
 * topo/hostlist.h - host names as Slurm writes them: node[001-004,007],login1.
 *
 * Used by: placement, faults, explicit fabrics. Grammar: names separated by commas outside brackets; a name may have
 * one or more brackets, each a list of numbers and ranges; leading zeros give the width (Slurm's scontrol show hostnames).
 */
#ifndef CSIM_TOPO_HOSTLIST_H
#define CSIM_TOPO_HOSTLIST_H

#include "collsim/error.h"

#define CSIM_HOSTLIST_MAX 65536

/* Names in order, char*, to be unreferenced. NULL with CSIM_ERROR_SYNTAX or CSIM_ERROR_LIMIT and no place in the message. */
GPtrArray *csim_hostlist_parse(const char *text, GError **error);

#endif
