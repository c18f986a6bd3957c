/*
 * bad-files.h - runs a loader over a folder of bad inputs and compares what it says, word for word.
 *
 * Used by: the tests of the readers. The folder holds the inputs and one file expected.txt with the findings as
 * csim_finding_format prints them, in order; lines of one input stand together. With COLLSIM_UPDATE=1 in the
 * environment expected.txt is written anew instead (then read the difference before committing it).
 */
#ifndef TEST_BAD_FILES_H
#define TEST_BAD_FILES_H

#include "base/diag.h"

/* Loads a file (name relative to the folder) and leaves its findings in diag. */
typedef void (*BadLoader)(const char *file, CsimDiag *diag);

/* folder: below tests/bad of the source tree. Fails the test on any difference, and when there are fewer than `at_least`. */
void bad_files_check(const char *folder, const char *extension, guint at_least, BadLoader load);

#endif
