/*
 * base/json-write.h - JSON written piece by piece, exact for 64-bit integers, independent of the locale.
 *
 * Used by: everything that writes a line or an object of JSON without a tree. (cJSON prints integers from 1e15 on in exponent form.)
 * The caller writes brackets, and commas between items; members take care of theirs.
 */
#ifndef CSIM_BASE_JSON_WRITE_H
#define CSIM_BASE_JSON_WRITE_H

#include <glib.h>

/* "text" with quotes and escapes; invalid UTF-8 is replaced. NULL: null. */
void csim_jsonw_string(GString *out, const char *text);
/* Shortest of 9 digits that reads back near enough for any time or bandwidth; null for NaN and infinities. */
void csim_jsonw_number(GString *out, double value);
/* Each writes `, "key": ` (the comma unless out ends in an opening bracket) and the value. */
void csim_jsonw_key(GString *out, const char *key);
void csim_jsonw_member_string(GString *out, const char *key, const char *text);
void csim_jsonw_member_number(GString *out, const char *key, double value);
void csim_jsonw_member_int(GString *out, const char *key, gint64 value);
void csim_jsonw_member_uint(GString *out, const char *key, guint64 value);
void csim_jsonw_member_digest(GString *out, const char *key, guint64 digest); /* as a text of 16 hexadecimal digits */

#endif
