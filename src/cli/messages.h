/*
 * cli/messages.h - finds the module that carries messages between ranks, where there are several.
 *
 * Used by: cmd-sweep.c. Implemented in cmd-sweep-ranks.c.
 */
#ifndef CSIM_CLI_MESSAGES_H
#define CSIM_CLI_MESSAGES_H

#include "exp/messages.h"

/* *out is NULL unless mpirun has started more than one of us. FALSE with CSIM_ERROR_UNSUPPORTED if it did and there is no module. */
gboolean cli_messages(const CsimMessages **out, GError **error);

#endif
