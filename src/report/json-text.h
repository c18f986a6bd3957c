/*
 * report/json-text.h - JSON written piece by piece, exact for 64-bit integers, independent of the locale.
 *
 * Used by: json.c, trace.c. (cJSON prints integers from 1e15 on in exponent form.) The caller writes brackets and commas.
 */
#ifndef CSIM_REPORT_JSON_TEXT_H
#define CSIM_REPORT_JSON_TEXT_H

#include <glib.h>

/* "text" with quotes and escapes; invalid UTF-8 is replaced. */
void csim_jsonw_string(GString *out, const char *text);
/* Shortest of 9 digits that reads back near enough for any time or bandwidth; null for NaN and infinities. */
void csim_jsonw_number(GString *out, double value);
/* Each writes `, "key": ` (the comma unless out ends in an opening bracket) and the value. */
void csim_jsonw_key(GString *out, const char *key);
void csim_jsonw_member_string(GString *out, const char *key, const char *text);
void csim_jsonw_member_number(GString *out, const char *key, double value);
void csim_jsonw_member_int(GString *out, const char *key, gint64 value);

#endif
