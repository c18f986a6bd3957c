/*
 * base/file.h - whole files into memory, up to a stated limit.
 *
 * Used by: the JSON and XML readers and by other loaders of text.
 */
#ifndef CSIM_BASE_FILE_H
#define CSIM_BASE_FILE_H

#include "base/diag.h"
#include "collsim/types.h"

#define CSIM_FILE_LIMIT (INT64_C(64) << 20) /* 64 MiB: the limit of every reader of ours */

/* The bytes of `path`, NUL-ended, at most `limit` of them; *length may be NULL. NULL and CSIM_ERROR_IO (absent, a folder,
 * not readable) or CSIM_ERROR_LIMIT. A device or pipe is read up to the limit, so /dev/zero ends too. Caller frees. */
char *csim_file_read(const char *path, CsimBytes limit, gsize *length, GError **error);

/* For readers that report to a CsimDiag (NULL allowed): the file up to CSIM_FILE_LIMIT, or NULL with a finding. */
char *csim_file_read_diag(const char *path, gsize *length, CsimDiag *diag);
/* FALSE with a finding when a text is over CSIM_FILE_LIMIT. */
gboolean csim_text_check_size(const char *name, gsize length, CsimDiag *diag);
/* FALSE with a finding at the first byte that is not UTF-8 (or is NUL). name: interned. */
gboolean csim_text_check_utf8(const char *name, const char *text, gsize length, CsimDiag *diag);
/* Bytes of a byte order mark at the start: 3 or 0. Readers skip it, and columns count from behind it. */
gsize csim_text_mark_length(const char *text, gsize length);

#endif
