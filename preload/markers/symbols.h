/* SPDX-License-Identifier: MIT
 *
 * The names of functions, by their address.
 */
#ifndef CACHEPEEK_PRELOAD_MARKERS_SYMBOLS_H
#define CACHEPEEK_PRELOAD_MARKERS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp_recording;

/* Where an address is. */
struct cp_symbol {
	const char *name; /* of the function that begins there; NULL: not known */
	const char *path; /* of the file */
	uint64_t offset;  /* as its own headers count */
};

/*
 * The name of the function that begins at address, from the dynamic symbols or
 * the symbol table of its file; where there is none, "file+0xoffset".  Not
 * demangled.  Its length.  Reads files: not for hot paths.
 */
size_t cp_symbol_name(const void *address, char *to, size_t size);

/* false: in no file.  The texts live on.  Rules as above. */
bool cp_symbol_find(const void *address, struct cp_symbol *symbol);

/* Tells the record, once each, in which files addresses were found: those who
 * look for their lines later need to know. */
void cp_symbol_describe(struct cp_recording *record);

/* In a fork child, whose record is new. */
void cp_symbols_after_fork(void);

#endif
