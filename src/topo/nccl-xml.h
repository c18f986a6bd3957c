/*
 * topo/nccl-xml.h - NCCL's own XML dialect: reader, writer, and graph builder.
 *
 * NCCL's parser is hand-written and is not an XML parser (no prolog, no tabs between elements, no entities, at most 16 attributes ...).
 * The reader accepts and refuses what NCCL does, keeps line and column of every element and attribute, and reports what NCCL would
 * silently misread to `diag`. All rules: NCCL 2.30.7, src/graph/xml.cc and topo.cc.
 *
 * Limits of ours, stated in the message: file 64 MiB, nesting 256, 1000 attributes an element. NCCL's own limit of 256 elements holds
 * for a file of one host; a file of several hosts (fused by NCCL itself) may have 256 a host.
 */
#ifndef CSIM_TOPO_NCCL_XML_H
#define CSIM_TOPO_NCCL_XML_H

#include "topo/system.h"

typedef struct CsimNcclXml CsimNcclXml; /* tree of accepted elements */

/* NCCL's result numbers. */
enum {
  CSIM_NCCL_SUCCESS = 0,
  CSIM_NCCL_INTERNAL_ERROR = 3,
  CSIM_NCCL_INVALID_ARGUMENT = 4,
  CSIM_NCCL_INVALID_USAGE = 5
};

/* What NCCL would have said, in the words of the reference vectors. */
typedef struct {
  int result;       /* NCCL's result number */
  guint n_elements; /* elements accepted until then */
  char reason
      [80]; /* short name of NCCL's complaint ("expected-quote", "missing-attribute pci/class"), "" if none */
} CsimNcclOutcome;

CsimNcclXml *csim_nccl_xml_load(const char *path, CsimDiag *diag, GError **error);
CsimNcclXml *csim_nccl_xml_parse(const char *name, const char *text, gsize length, CsimDiag *diag,
                                 GError **error);
/* As csim_nccl_xml_parse; outcome may be NULL. */
CsimNcclXml *csim_nccl_xml_parse_outcome(const char *name, const char *text, gsize length, CsimDiag *diag,
                                         CsimNcclOutcome *outcome, GError **error);
void csim_nccl_xml_free(CsimNcclXml *xml);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsimNcclXml, csim_nccl_xml_free)
guint csim_nccl_xml_n_elements(const CsimNcclXml *xml);
/* Written as NCCL_TOPO_DUMP_FILE writes it. Empty text for an empty file. */
char *csim_nccl_xml_to_text(const CsimNcclXml *xml);

/* How the graph is built where NCCL would ask the hardware. */
typedef struct {
  gboolean
      strict; /* refuse what NCCL's builder refuses (gpu without gdr or dev); else gdr counts as 1, and dev is numbered in file order */
  gboolean every_gpu;  /* GPUs take part whether or not they have a rank */
  gboolean every_coll; /* every net can do CollNet */
  gboolean own_host;   /* the process lives on the host whose hash is `host_hash`: it must be in the file */
  uint64_t host_hash;
} CsimBuildOptions;

/* The node graph. The error's text names NCCL's reason; code CSIM_ERROR_NCCL. nccl_result (may be NULL) gets NCCL's result
 * number (0 success, 3 internal error, 4 invalid argument, 5 invalid usage) for comparison with vectors. */
CsimSystem *csim_system_from_xml(const CsimNcclXml *xml, CsimDiag *diag, int *nccl_result, GError **error);
/* The same with options (NULL: none). *partial (may be NULL) gets what was built before an error; the caller frees it. */
CsimSystem *csim_system_build(const CsimNcclXml *xml, const CsimBuildOptions *options, CsimDiag *diag,
                              CsimNcclOutcome *outcome, CsimSystem **partial, GError **error);
/* csim_nccl_xml_load + csim_system_from_xml. */
CsimSystem *csim_system_load(const char *path, CsimDiag *diag, GError **error);

#endif
