/*
 * topo/adapters.h - which adapters NCCL's InfiniBand plugin takes: NCCL_IB_HCA.
 *
 * Used by: faults-node.c, which makes a node's system without those that are not chosen; nobody else needs to know. Acts on InfiniBand and
 * RoCE: other networks have plugins of their own, which do not read it.
 *
 * Text: "[^][=]DEV[:PORT[:RAIL[:PLANE]]],..." as NCCL 2.30 reads it (src/transport/net_ib): with "=" names are compared whole, else a name
 * is chosen that starts with DEV, so that mlx5_1 is mlx5_10, too; "^" turns the choice round; "^=" is both. A rail and a plane are written to
 * the adapter's net element.
 */
#ifndef CSIM_TOPO_ADAPTERS_H
#define CSIM_TOPO_ADAPTERS_H

#include "topo/nccl-xml-edit.h"

/* Is the adapter chosen? rail, plane (may be NULL): what the text says of them, else -1. */
gboolean csim_adapters_match(const char *text, const char *name, int port, int *rail, int *plane);
/* Drops the net elements that are not chosen. FALSE with CSIM_ERROR_REFERENCE if none is left: NCCL would fall back to sockets. */
gboolean csim_adapters_choose(CsimNcclXml *xml, const char *text, const char *node, GError **error);

#endif
