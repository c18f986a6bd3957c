/*
 * collsim/version.h - the release.
 *
 * Used by: everybody who prints or compares it. A test keeps it equal to meson.build's and CITATION.cff's.
 */
#ifndef COLLSIM_VERSION_H
#define COLLSIM_VERSION_H

#define COLLSIM_VERSION "0.1.0"

#endif
