/* SPDX-License-Identifier: MIT
 *
 * The text of /proc/self/maps.
 */
#ifndef BASE_FILES_MAPS_H
#define BASE_FILES_MAPS_H

#include <stddef.h>
#include <stdint.h>

/* Reads it to text, which has room for size bytes; returns the bytes before the NUL.  Of
 * more mappings than there is room for the first ones are read; of an error, nothing. */
size_t cp_maps_read(char *text, size_t size);

/* A number of it, in hexadecimal digits; *at is behind them then. */
uint64_t cp_maps_number(const char **at);

#endif
