/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_BASE_TEXT_COLOUR_H
#define CACHEPEEK_BASE_TEXT_COLOUR_H

#include <stdbool.h>

/* In text: on terminals, in pipes too, or nowhere.  Files never have any. */
enum cp_colour { CP_COLOUR_AUTO, CP_COLOUR_ALWAYS, CP_COLOUR_NEVER };

/* As users say it for all programs: NO_COLOR, CLICOLOR_FORCE, CLICOLOR, TERM=dumb, the
 * first of them that says anything. */
enum cp_colour cp_colour_of(const char *(*environment)(const char *name));

/* Has text for this descriptor colour, if it is no file? */
bool cp_colour_on(enum cp_colour colour, int fd);

#endif
