/*
 * fuzz-xml.c - the XML reader on any bytes: it must accept or refuse with one line, and every place that it gives
 * must be the place of that very name in the text.
 */
#include "base/xml-read.h"
#include "lines.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
  const char *text;
  size_t size;
} Input;

/* The bytes at a place, or NULL when there are no such line and column. Columns count from behind a byte order mark. */
static const char *at(const Input *in, CsimLoc loc) {
  const char *p = in->text, *end = in->text + in->size;
  if (in->size >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3;
  for (uint32_t line = 1; line < loc.line; line++) {
    p = memchr(p, '\n', (size_t)(end - p));
    if (p == NULL) return NULL;
    p++;
  }
  return p + loc.col - 1 < end ? p + loc.col - 1 : NULL;
}

static void check_place(const Input *in, CsimLoc loc, const char *name) {
  const char *p = at(in, loc);
  g_assert_nonnull(p);
  g_assert_cmpuint((size_t)(in->text + in->size - p), >=, strlen(name));
  g_assert_cmpmem(p, strlen(name), name, strlen(name));
}

static void try_attribute(CsimXml *e, const char *name) {
  static const char *const choices[] = {"ring", "tree", NULL};
  int64_t n;
  double d;
  int choice;
  csim_xml_int(e, name, CSIM_XML_REQUIRED, -5, 1000, &n);
  csim_xml_double(e, name, CSIM_XML_REQUIRED, 0, 1, &d);
  csim_xml_time(e, name, CSIM_XML_REQUIRED, &n);
  csim_xml_bytes(e, name, CSIM_XML_REQUIRED, &n);
  csim_xml_rate(e, name, CSIM_XML_REQUIRED, &n);
  csim_xml_choice(e, name, CSIM_XML_REQUIRED, choices, &choice);
}

static void try_all(CsimXml *e, const Input *in) {
  g_autofree char *tag = g_strconcat("<", csim_xml_name(e), NULL);
  check_place(in, csim_xml_loc(e), tag);
  for (guint i = 0; i < csim_xml_n_attributes(e); i++) {
    const char *name = csim_xml_attribute_name(e, i);
    check_place(in, csim_xml_attribute_loc(e, name), name);
    if (i < 4) try_attribute(e, name);
  }
  g_assert_nonnull(csim_xml_text_of(e));
  csim_xml_child(e, "gpu", CSIM_XML_OPTIONAL);
  for (CsimXml *c = csim_xml_first(e, "gpu"); c != NULL; c = csim_xml_next(c, "gpu")) try_all(c, in);
  for (CsimXml *c = csim_xml_first(e, "cpu"); c != NULL; c = csim_xml_next(c, NULL)) try_all(c, in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(CsimDiag) diag = csim_diag_new();
  g_autoptr(CsimXmlDoc) doc = csim_xml_read_text("fuzz", (const char *)data, (gssize)size, diag);
  if (doc == NULL) {
    g_assert_cmpuint(csim_diag_count(diag, CSIM_FINDING_ERROR), ==, 1);
  } else {
    Input in = {(const char *)data, size};
    try_all(csim_xml_root(doc, NULL), &in);
    csim_xml_finish(doc);
  }
  check_findings(diag);
  return 0;
}
