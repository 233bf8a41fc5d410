/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_TOOLS_CALIBRATE_COMMAND_H
#define CACHEPEEK_TOOLS_CALIBRATE_COMMAND_H

#include <jansson.h>

/* cachepeek doctor --calibrate: measures, prints a table, or adds it to the document, and
 * writes the file (NULL: the user's host.machine).  The exit status, after saying why. */
int cp_calibrate_command(const char *file, json_t *document);

#endif
