/* exp/tuner-text.c - what a search of settings found, as text and as JSON. */
#include "exp/tuner.h"

#include "base/json-write.h"
#include "base/units.h"

#include <string.h>

#define IDLE 0.001 /* a ratio nearer to 1 is no effect */

static char *joined(const GPtrArray *settings, const char *before, const char *between) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < settings->len; i++) g_string_append_printf(out, "%s%s%s", i ? between : "", before, (const char *)g_ptr_array_index(settings, i));
  return g_string_free(out, FALSE);
}

static void append_row(GString *out, const CsimTunerRow *row) {
  g_autofree char *size = csim_size_text(row->size_bytes), *settings = joined(row->settings, "", " ");
  g_autofree char *gain = g_strdup_printf("%.1f %% [%.1f, %.1f]", row->gain.median * 100, row->gain.min * 100, row->gain.max * 100);
  g_string_append_printf(out, "%10s  %10.2f  %10.2f  %-22s  %s\n", size, row->now.median, row->best.median, row->settings->len ? gain : "-",
                         row->settings->len ? settings : "(nothing helps)");
}

/* Neighbouring sizes with the same settings are one range. */
static void append_ranges(GString *out, const CsimTuner *s) {
  for (guint i = 0, end; i < s->rows->len; i = end) {
    const CsimTunerRow *row = &g_array_index(s->rows, CsimTunerRow, i);
    g_autofree char *block = joined(row->settings, "  export ", "\n");
    for (end = i + 1; end < s->rows->len; end++) {
      g_autofree char *next = joined(g_array_index(s->rows, CsimTunerRow, end).settings, "  export ", "\n");
      if (strcmp(block, next)) break;
    }
    g_autofree char *from = csim_size_text(row->size_bytes), *to = csim_size_text(g_array_index(s->rows, CsimTunerRow, end - 1).size_bytes);
    if (row->settings->len) g_string_append_printf(out, "\n# %s to %s\n%s\n", from, to, block);
  }
}

static void append_common(GString *out, const CsimTuner *s) {
  if (s->common < 0) {
    g_string_append(out, "\nNo one block is better for all these sizes together than what is set now.\n");
    return;
  }
  g_autofree char *block = joined(g_array_index(s->rows, CsimTunerRow, s->common).settings, "  export ", "\n");
  g_string_append_printf(out, "\n# one block for all of them: %.1f %% (geometric mean over the sizes)\n%s\n", s->common_gain * 100, block);
}

static void append_verdicts(GString *out, const CsimTuner *s) {
  for (guint i = 0; i < s->verdicts->len; i++) {
    const CsimTunerVerdict *v = &g_array_index(s->verdicts, CsimTunerVerdict, i);
    g_autofree char *size = csim_size_text(v->at_most);
    if (!i) g_string_append(out, "\nwhat is set now, against the same without it:\n");
    if (v->most == 0) g_string_append_printf(out, "  %s: cannot be told, nothing runs without it\n", v->setting);
    else if (v->most < 1 + IDLE && v->least > 1 - IDLE) g_string_append_printf(out, "  %s: no effect\n", v->setting);
    else if (v->most >= 1 + CSIM_TUNER_NOISE)
      g_string_append_printf(out, "  %s: hurts, %.2f times the time at %s%s\n", v->setting, v->most, size, v->least < 1 - CSIM_TUNER_NOISE ? ", and helps elsewhere" : "");
    else if (v->least < 1 - CSIM_TUNER_NOISE) g_string_append_printf(out, "  %s: helps, down to %.2f of the time\n", v->setting, v->least);
    else g_string_append_printf(out, "  %s: hardly any effect\n", v->setting);
  }
}

void csim_tuner_text(GString *out, const CsimTuner *s, const CsimRunSpec *spec) {
  guint tried = 0;
  for (guint i = 0; i < s->rows->len; i++) tried += g_array_index(s->rows, CsimTunerRow, i).tried;
  g_string_append_printf(out, "%s on %s, %d ranks: %u settings tried; medians over %u seeds\n\n", csim_coll_name(spec->coll), spec->target, s->n_ranks, tried,
                         s->rows->len ? g_array_index(s->rows, CsimTunerRow, 0).now.n : 0);
  g_string_append_printf(out, "%10s  %10s  %10s  %-22s  %s\n", "size", "now (us)", "best (us)", "gain [least, most]", "with");
  for (guint i = 0; i < s->rows->len; i++) append_row(out, &g_array_index(s->rows, CsimTunerRow, i));
  append_ranges(out, s);
  append_common(out, s);
  append_verdicts(out, s);
}

/* --- JSON ------------------------------------------------------------------------------------------ */

static void append_settings(GString *out, const GPtrArray *settings) {
  csim_jsonw_key(out, "settings");
  g_string_append_c(out, '{');
  for (guint i = 0; i < settings->len; i++) {
    g_auto(GStrv) pair = g_strsplit((const char *)g_ptr_array_index(settings, i), "=", 2);
    csim_jsonw_member_string(out, pair[0], pair[1]);
  }
  g_string_append_c(out, '}');
}

static void append_spread(GString *out, const char *name, const CsimSpread *s) {
  csim_jsonw_key(out, name);
  g_string_append_c(out, '{');
  csim_jsonw_member_number(out, "min", s->min);
  csim_jsonw_member_number(out, "median", s->median);
  csim_jsonw_member_number(out, "p95", s->p95);
  csim_jsonw_member_number(out, "max", s->max);
  csim_jsonw_member_int(out, "n", s->n);
  g_string_append_c(out, '}');
}

static void append_verdict(GString *out, const CsimTunerVerdict *v) {
  g_string_append_c(out, '{');
  csim_jsonw_member_string(out, "setting", v->setting);
  csim_jsonw_member_number(out, "least_ratio", v->most > 0 ? v->least : 0);
  csim_jsonw_member_number(out, "most_ratio", v->most);
  g_string_append_c(out, '}');
}

void csim_tuner_json(GString *out, const CsimTuner *s, const CsimRunSpec *spec) {
  g_string_append_c(out, '{');
  csim_jsonw_member_string(out, "collective", csim_coll_name(spec->coll));
  csim_jsonw_member_int(out, "ranks", s->n_ranks);
  g_string_append(out, ", \"rows\": [");
  for (guint i = 0; i < s->rows->len; i++) {
    const CsimTunerRow *row = &g_array_index(s->rows, CsimTunerRow, i);
    g_string_append(out, i ? ",\n  {" : "\n  {");
    csim_jsonw_member_int(out, "size_bytes", row->size_bytes);
    append_settings(out, row->settings);
    append_spread(out, "now_us", &row->now);
    append_spread(out, "best_us", &row->best);
    append_spread(out, "gain", &row->gain);
    g_string_append_c(out, '}');
  }
  g_string_append(out, "\n]");
  csim_jsonw_member_int(out, "common_row", s->common);
  csim_jsonw_member_number(out, "common_gain", s->common < 0 ? 0 : s->common_gain);
  g_string_append(out, ", \"present\": [");
  for (guint i = 0; i < s->verdicts->len; i++) {
    if (i) g_string_append(out, ", ");
    append_verdict(out, &g_array_index(s->verdicts, CsimTunerVerdict, i));
  }
  g_string_append(out, "]}\n");
}
