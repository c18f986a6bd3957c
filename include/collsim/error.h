/*
 * collsim/error.h - the one error domain of the library.
 *
 * Used by: everybody who returns or reads an error.
 *
 * A message is one line for the person who gave the input:
 *   file:line:col: what is wrong; what is allowed
 * The library never prints. Bugs are g_assert, never a GError.
 */
#ifndef COLLSIM_ERROR_H
#define COLLSIM_ERROR_H

#include <glib.h>

G_BEGIN_DECLS

#define CSIM_ERROR (csim_error_quark())

typedef enum {
  CSIM_ERROR_SYNTAX,      /* not XML, not JSON, not a number */
  CSIM_ERROR_SCHEMA,      /* well formed, but the wrong key, type or nesting */
  CSIM_ERROR_REFERENCE,   /* names something that does not exist */
  CSIM_ERROR_VALUE,       /* right kind, impossible value */
  CSIM_ERROR_ROUTE,       /* no path between two things that must talk */
  CSIM_ERROR_UNSUPPORTED, /* understood, but not simulated */
  CSIM_ERROR_LIMIT,       /* larger than a stated limit */
  CSIM_ERROR_IO,          /* the operating system said no */
  CSIM_ERROR_INTERRUPTED, /* stopped by the user; partial results stand */
  CSIM_ERROR_NCCL         /* NCCL itself would refuse this ("no algorithm left") */
} CsimErrorCode;

GQuark csim_error_quark(void);

G_END_DECLS
#endif
