/* SPDX-License-Identifier: MIT
 *
 * How `cachepeek compare` tells the library which machines it is about.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_COMPARED_H
#define CACHEPEEK_BASE_COUNTERS_COMPARED_H

/*
 * Names with commas between them; set by the command only.  The first is the
 * machine that the report is about, CACHEPEEK_MACHINE or not.  There are as many
 * commas behind the last as make it CP_COMPARED_SIZE bytes: a program's misses
 * depend on where its environment lies, and they shall not on who else is asked.
 */
#define CP_COMPARED "CACHEPEEK__MACHINES"
#define CP_COMPARED_SIZE 4096

#endif
