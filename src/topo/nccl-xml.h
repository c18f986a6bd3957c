/*
 * topo/nccl-xml.h - NCCL's own XML dialect: reader, writer, and graph builder.
 *
 * NCCL's parser is hand-written and is not an XML parser (no prolog, no tabs between elements, no entities,
 * at most 16 attributes ...). The reader accepts and refuses what NCCL does, keeps line and column of every element and attribute,
 * and reports what NCCL would silently misread to `diag`.
 * Limits of ours, stated in the message: file 64 MiB, depth 64 (NCCL: 256 elements).
 */
#ifndef CSIM_TOPO_NCCL_XML_H
#define CSIM_TOPO_NCCL_XML_H

#include "topo/system.h"

typedef struct CsimXml CsimXml; /* tree of accepted elements */

CsimXml *csim_xml_load(const char *path, CsimDiag *diag, GError **error);
CsimXml *csim_xml_parse(const char *name, const char *text, gsize length, CsimDiag *diag, GError **error);
void csim_xml_free(CsimXml *xml);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimXml, csim_xml_free)
/* Written as NCCL_TOPO_DUMP_FILE writes it. */
char *csim_xml_to_text(const CsimXml *xml);

/* The node graph. The error's text names NCCL's reason; code CSIM_ERROR_NCCL. nccl_result (may be NULL) gets NCCL's result
 * number (0 success, 3 internal error, 4 invalid argument, 5 invalid usage) for comparison with vectors. */
CsimSystem *csim_system_from_xml(const CsimXml *xml, CsimDiag *diag, int *nccl_result, GError **error);
/* csim_xml_load + csim_system_from_xml. */
CsimSystem *csim_system_load(const char *path, CsimDiag *diag, GError **error);

#endif
