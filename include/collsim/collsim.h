/*
 * collsim/collsim.h - everything that libcollsim offers, in one include.
 *
 * Used by: programs outside this project. pkg-config: collsim. Depends on GLib.
 */
#ifndef COLLSIM_COLLSIM_H
#define COLLSIM_COLLSIM_H

#include "collsim/error.h"
#include "collsim/request.h"
#include "collsim/types.h"
#include "collsim/version.h"

#endif
