/* base/diag.c - places, the error domain, and the collector of findings. */
#include "base/diag.h"
#include <string.h>

/* --- errors with a place ------------------------------------------------ */

/* The place travels inside the GError, so that csim_error_prefix_loc need not guess from the text. */
typedef struct {
  CsimLoc loc;
} CsimErrorPrivate;

static void csim_error_private_init(CsimErrorPrivate *p) {
  p->loc = CSIM_LOC_NONE;
}
static void csim_error_private_copy(const CsimErrorPrivate *from, CsimErrorPrivate *to) {
  to->loc = from->loc;
}
static void csim_error_private_clear(CsimErrorPrivate *p) {
  (void)p;
}

G_DEFINE_EXTENDED_ERROR(CsimError, csim_error)

static void append_place(GString *s, CsimLoc loc) {
  if (loc.file == NULL) return;
  g_string_append(s, loc.file);
  if (loc.line > 0) g_string_append_printf(s, ":%u", loc.line);
  if (loc.line > 0 && loc.col > 0) g_string_append_printf(s, ":%u", loc.col);
  g_string_append(s, ": ");
}

/* A message is one line of UTF-8, whatever the input that it quotes. Takes and returns `text`. */
static char *one_line(char *text) {
  for (char *p = text; *p != '\0'; p++)
    if (g_ascii_iscntrl(*p)) *p = '?';
  if (g_utf8_validate(text, -1, NULL)) return text;
  char *valid = g_utf8_make_valid(text, -1);
  g_free(text);
  return valid;
}

static char *placed(CsimLoc loc, const char *text) {
  GString *s = g_string_new(NULL);
  append_place(s, loc);
  g_string_append(s, text);
  return one_line(g_string_free(s, FALSE));
}

static GError *error_at(CsimErrorCode code, CsimLoc loc, const char *text) {
  g_autofree char *message = placed(loc, text);
  GError *e = g_error_new_literal(CSIM_ERROR, code, message);
  csim_error_get_private(e)->loc = loc;
  return e;
}

void csim_error_set(GError **error, CsimErrorCode code, CsimLoc loc, const char *format, ...) {
  if (error == NULL) return;
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  g_propagate_error(error, error_at(code, loc, text));
}

void csim_error_prefix_loc(GError **error, CsimLoc loc) {
  if (error == NULL || *error == NULL || loc.file == NULL) return;
  GError *e = *error;
  CsimErrorPrivate *p = e->domain == CSIM_ERROR ? csim_error_get_private(e) : NULL;
  if (p != NULL && p->loc.file != NULL) return;
  char *message = placed(loc, e->message);
  g_free(e->message);
  e->message = message;
  if (p != NULL) p->loc = loc;
}

/* --- the collector ------------------------------------------------------ */

struct CsimDiag {
  GPtrArray *findings; /* of CsimFinding, order of arrival */
  GHashTable *seen;    /* severity, place and text as one string */
  guint counts[CSIM_FINDING_ERROR + 1];
};

static void finding_free(gpointer data) {
  CsimFinding *f = data;
  g_free(f->text);
  g_free(f);
}

CsimDiag *csim_diag_new(void) {
  CsimDiag *d = g_new0(CsimDiag, 1);
  d->findings = g_ptr_array_new_with_free_func(finding_free);
  d->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  return d;
}

void csim_diag_free(CsimDiag *diag) {
  if (diag == NULL) return;
  g_ptr_array_unref(diag->findings);
  g_hash_table_unref(diag->seen);
  g_free(diag);
}

/* Takes finding.text. */
static void add(CsimDiag *d, CsimFinding finding) {
  finding.text = one_line(finding.text);
  char *key = g_strdup_printf("%d %s:%u:%u %s", finding.severity, finding.loc.file ? finding.loc.file : "",
                              finding.loc.line, finding.loc.col, finding.text);
  if (!g_hash_table_add(d->seen, key)) {
    g_free(finding.text);
    return;
  }
  d->counts[finding.severity]++;
  CsimFinding *f = g_new(CsimFinding, 1);
  *f = finding;
  g_ptr_array_add(d->findings, f);
}

gboolean csim_diag_full(const CsimDiag *diag) {
  return diag == NULL || diag->counts[CSIM_FINDING_ERROR] >= CSIM_DIAG_MAX;
}

void csim_diag_add(CsimDiag *diag, CsimSeverity severity, CsimErrorCode code, CsimLoc loc, const char *format,
                   ...) {
  if (diag == NULL) return;
  if (severity == CSIM_FINDING_ERROR && csim_diag_full(diag)) {
    diag->counts[severity]++; /* not even formatted: a hostile file may hold millions */
    return;
  }
  va_list args;
  va_start(args, format);
  char *text = g_strdup_vprintf(format, args);
  va_end(args);
  add(diag, (CsimFinding){.severity = severity, .code = code, .loc = loc, .text = text});
}

void csim_diag_cost(CsimDiag *diag, CsimLoc loc, double cost_gbps, const char *format, ...) {
  if (diag == NULL) return;
  va_list args;
  va_start(args, format);
  char *text = g_strdup_vprintf(format, args);
  va_end(args);
  add(diag,
      (CsimFinding){.severity = CSIM_FINDING_WARNING, .loc = loc, .text = text, .cost_gbps = cost_gbps});
}

guint csim_diag_count(const CsimDiag *diag, CsimSeverity at_least) {
  guint n = 0;
  for (int s = at_least; diag != NULL && s <= CSIM_FINDING_ERROR; s++) n += diag->counts[s];
  return n;
}

guint csim_diag_n(const CsimDiag *diag) {
  return diag == NULL ? 0 : diag->findings->len;
}

const CsimFinding *csim_diag_get(const CsimDiag *diag, guint i) {
  g_assert(i < csim_diag_n(diag));
  return g_ptr_array_index(diag->findings, i);
}

/* The message without the place that csim_error_set or csim_error_prefix_loc put in front. */
static const char *bare_message(const GError *error, CsimLoc loc) {
  g_autofree char *place = placed(loc, "");
  return g_str_has_prefix(error->message, place) ? error->message + strlen(place) : error->message;
}

void csim_diag_add_error(CsimDiag *diag, const GError *error, CsimLoc fallback) {
  gboolean ours = error->domain == CSIM_ERROR;
  CsimLoc loc = ours ? csim_error_get_private(error)->loc : CSIM_LOC_NONE;
  csim_diag_add(diag, CSIM_FINDING_ERROR, ours ? (CsimErrorCode)error->code : CSIM_ERROR_IO,
                loc.file != NULL ? loc : fallback, "%s", bare_message(error, loc));
}

char *csim_finding_format(const CsimFinding *f) {
  static const char *const names[] = {"note", "warning", "error"};
  GString *s = g_string_new(NULL);
  append_place(s, f->loc);
  g_string_append_printf(s, "%s: %s", names[f->severity], f->text);
  if (f->cost_gbps > 0) g_string_append_printf(s, " (costs %.3g GB/s)", f->cost_gbps);
  return g_string_free(s, FALSE);
}

gboolean csim_diag_check(const CsimDiag *diag, GError **error) {
  guint n = csim_diag_count(diag, CSIM_FINDING_ERROR);
  if (n == 0) return TRUE;
  const CsimFinding *first = NULL;
  for (guint i = 0; first == NULL; i++) {
    const CsimFinding *f = csim_diag_get(diag, i);
    if (f->severity == CSIM_FINDING_ERROR) first = f;
  }
  if (n == 1)
    csim_error_set(error, first->code, first->loc, "%s", first->text);
  else
    csim_error_set(error, first->code, first->loc, "%s (and %u more)", first->text, n - 1);
  return FALSE;
}

/* --- the nearest name --------------------------------------------------- */

#define NAME_MAX_LEN 63 /* longer names get no suggestion: the table below stays small */

static guint min3(guint a, guint b, guint c) {
  return MIN(MIN(a, b), c);
}

/* Edits (insert, delete, replace, swap neighbours) between a and b, letters compared without case. */
static guint distance(const char *a, const char *b) {
  guint n = (guint)strlen(a), m = (guint)strlen(b);
  guint d[NAME_MAX_LEN + 1][NAME_MAX_LEN + 1];
  for (guint i = 0; i <= n; i++) d[i][0] = i;
  for (guint j = 0; j <= m; j++) d[0][j] = j;
  for (guint i = 1; i <= n; i++) {
    for (guint j = 1; j <= m; j++) {
      char x = g_ascii_tolower(a[i - 1]), y = g_ascii_tolower(b[j - 1]);
      d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (x != y));
      if (i > 1 && j > 1 && x == g_ascii_tolower(b[j - 2]) && y == g_ascii_tolower(a[i - 2]))
        d[i][j] = MIN(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[n][m];
}

const char *csim_nearest(const char *name, const char *const *candidates) {
  size_t len = strlen(name);
  if (len == 0 || len > NAME_MAX_LEN) return NULL;
  guint best = (guint)MAX(2, len / 3) + 1;
  const char *found = NULL;
  for (; *candidates != NULL; candidates++) {
    if (strlen(*candidates) > NAME_MAX_LEN) continue;
    guint d = distance(name, *candidates);
    /* Short names are all within two edits of each other: fewer than half of the letters may differ. */
    if (d >= best || 2 * d >= MIN(len, strlen(*candidates))) continue;
    best = d;
    found = *candidates;
  }
  return found;
}

#define MAX_LISTED 16

char *csim_suggest(const char *name, const char *const *candidates) {
  const char *nearest = csim_nearest(name, candidates);
  if (nearest != NULL) return g_strdup_printf("; did you mean '%s'?", nearest);
  GString *s = g_string_new(candidates[0] != NULL ? "; allowed: " : "; nothing is allowed here");
  for (guint i = 0; candidates[i] != NULL && i <= MAX_LISTED; i++)
    g_string_append_printf(s, "%s%s", i > 0 ? ", " : "", i < MAX_LISTED ? candidates[i] : "...");
  return g_string_free(s, FALSE);
}
