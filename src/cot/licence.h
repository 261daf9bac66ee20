/* The licence that a file names itself. */
#ifndef COT_LICENCE_H
#define COT_LICENCE_H

#include "base/arena.h"

/* The SPDX expression behind the first SPDX-License-Identifier: of a text, in the arena; NULL: there is none. */
const char *cot_licence_in(struct arena *arena, const char *text);

#endif
