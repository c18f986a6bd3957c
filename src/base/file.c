/* base/file.c - bounded reading of a whole file. */
#include "base/file.h"
#include "base/units.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define STEP (64 * 1024)

static CsimLoc whole_file(const char *path) {
  return (CsimLoc){g_intern_string(path), 0, 0};
}

static gboolean fail_io(const char *path, int code, GError **error) {
  csim_error_set(error, CSIM_ERROR_IO, whole_file(path), "cannot be read: %s", g_strerror(code));
  return FALSE;
}

static gboolean fail_limit(const char *path, CsimBytes limit, GError **error) {
  char text[CSIM_UNIT_BUF];
  csim_error_set(error, CSIM_ERROR_LIMIT, whole_file(path), "too large; allowed: at most %s",
                 csim_bytes_format(limit, text));
  return FALSE;
}

/* Refuses by the size on disk before a byte is read. */
static gboolean check_size(FILE *f, const char *path, CsimBytes limit, GError **error) {
  struct stat st;
  if (fstat(fileno(f), &st) != 0) return fail_io(path, errno, error);
  if (S_ISDIR(st.st_mode)) return fail_io(path, EISDIR, error);
  if (st.st_size > limit) return fail_limit(path, limit, error);
  return TRUE;
}

static gboolean read_all(FILE *f, const char *path, CsimBytes limit, GByteArray *out, GError **error) {
  guint8 step[STEP];
  size_t n;
  while ((n = fread(step, 1, sizeof step, f)) > 0) {
    if ((CsimBytes)(out->len + n) > limit) return fail_limit(path, limit, error);
    g_byte_array_append(out, step, (guint)n);
  }
  return ferror(f) ? fail_io(path, errno, error) : TRUE;
}

char *csim_file_read(const char *path, CsimBytes limit, gsize *length, GError **error) {
  g_assert(limit >= 0 && limit < G_MAXINT32);
  FILE *f = fopen(path, "rb");
  if (f == NULL) {
    fail_io(path, errno, error);
    return NULL;
  }
  g_autoptr(GByteArray) bytes = g_byte_array_new();
  gboolean ok = check_size(f, path, limit, error) && read_all(f, path, limit, bytes, error);
  fclose(f);
  if (!ok) return NULL;
  if (length != NULL) *length = bytes->len;
  g_byte_array_append(bytes, (const guint8 *)"", 1);
  return (char *)g_byte_array_free(g_steal_pointer(&bytes), FALSE);
}

char *csim_file_read_diag(const char *path, gsize *length, CsimDiag *diag) {
  g_autoptr(GError) error = NULL;
  char *text = csim_file_read(path, CSIM_FILE_LIMIT, length, &error);
  if (text == NULL) csim_diag_add_error(diag, error, whole_file(path));
  return text;
}

gboolean csim_text_check_size(const char *name, gsize length, CsimDiag *diag) {
  g_autoptr(GError) error = NULL;
  if (length <= (gsize)CSIM_FILE_LIMIT) return TRUE;
  fail_limit(name, CSIM_FILE_LIMIT, &error);
  csim_diag_add_error(diag, error, whole_file(name));
  return FALSE;
}

gsize csim_text_mark_length(const char *text, gsize length) {
  return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

gboolean csim_text_check_utf8(const char *name, const char *text, gsize length, CsimDiag *diag) {
  const char *bad, *line_start = text + csim_text_mark_length(text, length);
  if (g_utf8_validate_len(text, length, &bad)) return TRUE;
  CsimLoc loc = {name, 1, 0};
  for (const char *p = text; p < bad; p++) {
    if (*p != '\n') continue;
    loc.line++;
    line_start = p + 1;
  }
  loc.col = (uint32_t)(bad - line_start) + 1;
  csim_diag_add(diag, CSIM_FINDING_ERROR, CSIM_ERROR_SYNTAX, loc, "byte 0x%02x is not UTF-8 text",
                (guint8)*bad);
  return FALSE;
}
