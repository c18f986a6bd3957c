/* topo/check.c - attributes that NCCL misreads without a word. */
#include "topo/check.h"
#include "topo/nccl-xml-tree.h"
#include <stdlib.h>
#include <string.h>

static void warn(CsimDiag *diag, CsimLoc loc, const char *text) {
  csim_diag_add(diag, CSIM_FINDING_WARNING, CSIM_ERROR_NCCL, loc, "%s", text);
}

static void note(CsimDiag *diag, CsimLoc loc, const char *text) {
  csim_diag_add(diag, CSIM_FINDING_NOTE, CSIM_ERROR_NCCL, loc, "%s", text);
}

/* --- PCIe --------------------------------------------------------------- */

static double pci_gbps(int lanes, int speed) {
  return lanes * speed / 80.0;
}

static void check_width(const CsimNcclElement *pci, int speed, CsimDiag *diag) {
  const CsimNcclAttr *width = csim_nccl_xml_attr(pci, "link_width");
  if (width == NULL) return;
  int lanes = (int)strtol(width->value, NULL, 0);
  if (lanes == 0) {
    const char *text = csim_nccl_xml_value(pci, "link_speed");
    csim_diag_add(diag, CSIM_FINDING_WARNING, CSIM_ERROR_NCCL, width->loc,
                  "link_width=\"%s\"; NCCL takes 16 lanes: %g GB/s at %s", width->value, pci_gbps(16, speed),
                  text != NULL && *text != '\0' ? text : "Gen3");
  } else if (lanes < 0) {
    csim_diag_add(diag, CSIM_FINDING_WARNING, CSIM_ERROR_NCCL, width->loc,
                  "link_width=\"%s\" gives NCCL a negative bandwidth; it will not start", width->value);
  }
}

/* What the writer will have meant: usable 100 Mbit/s a lane for that many GT/s, 0 if the text starts with no known number. */
static int meant_speed(const char *text) {
  static const struct {
    double gts;
    int speed;
  } generations[] = {{2.5, 15}, {5, 30}, {8, 60}, {16, 120}, {32, 240}, {64, 480}};
  double gts = g_ascii_strtod(text, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(generations); i++)
    if (gts == generations[i].gts) return generations[i].speed;
  return 0;
}

static void check_speed(const CsimNcclElement *pci, CsimDiag *diag) {
  const CsimNcclAttr *speed = csim_nccl_xml_attr(pci, "link_speed");
  gboolean known;
  if (speed == NULL) return;
  int taken = csim_dict_pci_speed(speed->value, &known), meant = meant_speed(speed->value);
  int lanes = (int)csim_nccl_xml_int(pci, "link_width", 0);
  if (lanes <= 0) lanes = 16;
  check_width(pci, taken, diag);
  if (known) return;
  double got = pci_gbps(lanes, taken), lost = pci_gbps(lanes, meant) - got;
  if (meant == 0)
    csim_diag_add(diag, CSIM_FINDING_WARNING, CSIM_ERROR_NCCL, speed->loc,
                  "link_speed=\"%s\" is not in NCCL's table; it takes Gen3: %g GB/s", speed->value, got);
  else
    csim_diag_cost(diag, speed->loc, MAX(lost, 0),
                   "link_speed=\"%s\" lacks the suffix \" PCIe\" and is not in NCCL's table; it takes Gen3: "
                   "%g GB/s instead of %g",
                   speed->value, got, got + lost);
}

/* --- GPUs and NICs ------------------------------------------------------ */

static void check_gpu(const CsimNcclElement *gpu, CsimDiag *diag) {
  if (csim_nccl_xml_attr(gpu, "gdr") == NULL)
    note(diag, gpu->loc, "GPU without gdr; NCCL asks the driver, here it counts as 1");
  if (csim_nccl_xml_attr(gpu, "dev") == NULL)
    note(diag, gpu->loc, "GPU without dev; NCCL asks the driver, here GPUs are numbered in file order");
}

static void check_nvlink(const CsimNcclElement *link, CsimDiag *diag) {
  const CsimNcclAttr *count = csim_nccl_xml_attr(link, "count");
  if (count == NULL || strtol(count->value, NULL, 0) > 0) return;
  csim_diag_add(diag, CSIM_FINDING_WARNING, CSIM_ERROR_NCCL, count->loc,
                "NVLink count=\"%s\"; NCCL makes a link without bandwidth", count->value);
}

static void check_net(const CsimNcclElement *net, CsimDiag *diag) {
  if (csim_nccl_xml_attr(net, "dev") == NULL) {
    warn(diag, net->loc, "net without dev; NCCL leaves it out without a word");
    return;
  }
  if (csim_nccl_xml_int(net, "speed", 0) <= 0) {
    const CsimNcclAttr *speed = csim_nccl_xml_attr(net, "speed");
    warn(diag, speed != NULL ? speed->loc : net->loc,
         "net without a speed above 0; NCCL takes 10 Gb/s: 1.25 GB/s");
  }
  if (csim_nccl_xml_attr(net, "gdr") == NULL)
    warn(diag, net->loc, "net without gdr; NCCL takes 0: no GPUDirect, all traffic through host memory");
  else if (csim_nccl_xml_int(net, "gdr", 0) == 0)
    note(diag, csim_nccl_xml_attr(net, "gdr")->loc,
         "net with gdr=\"0\": no GPUDirect, all traffic through host memory");
}

void csim_check_elements(const CsimNcclXml *xml, CsimDiag *diag) {
  const struct {
    const char *name;
    void (*check)(const CsimNcclElement *element, CsimDiag *diag);
  } checks[] = {{"pci", check_speed}, {"gpu", check_gpu}, {"nvlink", check_nvlink}, {"net", check_net}};
  for (guint i = 0; diag != NULL && i < xml->elements->len; i++) {
    const CsimNcclElement *element = g_ptr_array_index(xml->elements, i);
    for (guint c = 0; c < G_N_ELEMENTS(checks); c++)
      if (strcmp(element->name, checks[c].name) == 0) checks[c].check(element, diag);
  }
}
