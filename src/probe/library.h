/*
 * probe/library.h - a shared library that is looked for at run time, and the functions wanted of it.
 *
 * Used by: cuda.c, nccl.c, verbs.c. Implemented with GModule, so that one binary runs with and without GPUs, NCCL and RDMA.
 *
 * A library is opened once a process and stays: drivers do not like to be unloaded.
 */
#ifndef CSIM_PROBE_LIBRARY_H
#define CSIM_PROBE_LIBRARY_H

#include "collsim/error.h"

typedef struct {
  const char *name; /* symbol; NULL ends a list */
  gsize offset;     /* of the function pointer in the table */
  gboolean optional; /* absent: the pointer stays NULL */
} CsimSymbol;

typedef struct {
  const char *what;          /* for people: "the NVIDIA driver's library" */
  const char *const *files;  /* candidates in order, NULL-ended; without a '/': the loader's search path */
  const char *needs;         /* end of the message: "needs an NVIDIA GPU and its driver" */
  const CsimSymbol *symbols; /* ended by a NULL name */
} CsimLibrary;

/* One line of a list of symbols: member of the table, name in the library. */
#define CSIM_SYMBOL(Table, member, name) {name, G_STRUCT_OFFSET(Table, member), FALSE}
#define CSIM_SYMBOL_OPTIONAL(Table, member, name) {name, G_STRUCT_OFFSET(Table, member), TRUE}

/* Fills the function pointers of `table`. file NULL: the candidates; otherwise this file and no other. *found (may be NULL):
 * static text, the name that was opened. FALSE and CSIM_ERROR_UNSUPPORTED, one line, when there is no such library or it lacks a
 * symbol: "libnccl.so.2: no such library; ...". */
gboolean csim_library_open(const CsimLibrary *library, const char *file, gpointer table, const char **found, GError **error);

#endif
