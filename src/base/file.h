/*
 * base/file.h - whole files into memory, up to a stated limit.
 *
 * Used by: the JSON and XML readers and by other loaders of text.
 */
#ifndef CSIM_BASE_FILE_H
#define CSIM_BASE_FILE_H

#include "collsim/error.h"
#include "collsim/types.h"

#define CSIM_FILE_LIMIT (INT64_C(64) << 20) /* 64 MiB: the limit of every reader of ours */

/* The bytes of `path`, NUL-ended, at most `limit` of them; *length may be NULL. NULL and CSIM_ERROR_IO (absent, a folder,
 * not readable) or CSIM_ERROR_LIMIT. A device or pipe is read up to the limit, so /dev/zero ends too. Caller frees. */
char *csim_file_read(const char *path, CsimBytes limit, gsize *length, GError **error);

#endif
