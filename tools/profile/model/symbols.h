/* SPDX-License-Identifier: MIT
 *
 * From places in files to functions, lines, inlined calls and instructions, by
 * libdw and capstone: separate debug files are found by build ID or link.
 */
#ifndef CACHEPEEK_TOOLS_SYMBOLS_H
#define CACHEPEEK_TOOLS_SYMBOLS_H

#include "base/arena.h"
#include "tools/profile/model/profile.h"

struct cp_symbols;

/* Opens the file at path, whose build ID has to be that one (size 0: any).  NULL
 * with one phrase in why if it cannot be used.  Freed by cp_symbols_close. */
struct cp_symbols *cp_symbols_open(const char *path, const uint8_t *build_id,
	size_t build_id_size, const char **why);
void cp_symbols_close(struct cp_symbols *symbols);

/* The address that the file's headers give to what is at this offset of it. */
bool cp_symbols_address(struct cp_symbols *symbols, uint64_t offset, uint64_t *address);

/* Fills in function, offset, file and line for at->address, as far as they are
 * known. */
void cp_symbols_find(
	struct cp_symbols *symbols, struct cp_arena *arena, struct cp_place_in_code *at);

/* Sets file and line to where the function is declared that at is in, if that is known:
 * its first instruction may be of a line that another function's code came from. */
void cp_symbols_declared(
	struct cp_symbols *symbols, struct cp_arena *arena, struct cp_place_in_code *at);

/* Why the line numbers of code that was asked for cannot be read; NULL: they can. */
const char *cp_symbols_unread(const struct cp_symbols *symbols);

/* The name of the variable at that address, of a static one in a function
 * FUNCTION::NAME, and where it is declared if that is known; NULL: none. */
const char *cp_symbols_variable(struct cp_symbols *symbols, struct cp_arena *arena,
	uint64_t address, const char **file, unsigned *line);

/* The same of the thread-local variable that begins there in its block; NULL: none. */
const char *cp_symbols_thread_local(
	struct cp_symbols *symbols, struct cp_arena *arena, uint64_t offset);

/* " [inlined f @LINE]" for each inlined call that the address is in, the
 * innermost first; "" if there is none. */
const char *cp_symbols_inlined(
	struct cp_symbols *symbols, struct cp_arena *arena, uint64_t address);

/* Sets caller to the innermost call that stands in a source of the unit's own folders,
 * where the line at that place is none and was inlined; false: there is no such call. */
bool cp_symbols_caller(struct cp_symbols *symbols, struct cp_arena *arena,
	const struct cp_place_in_code *at, struct cp_place_in_code *caller);

/* Is the instruction's address, in the function that begins there, what an array has, or
 * what that points to: for (p = table[i]; p; p = p->next)? */
bool cp_symbols_chains(struct cp_symbols *symbols, uint64_t function, uint64_t address);

/* Is it what an array has for each round of the loop around it? */
bool cp_symbols_indexes(struct cp_symbols *symbols, uint64_t function, uint64_t address);

/* Does it, in that function, read memory that it or one of the next few writes again? */
bool cp_symbols_updates(struct cp_symbols *symbols, uint64_t function, uint64_t address);

/* The instruction's text; "" if it is not known. */
const char *cp_symbols_instruction(
	struct cp_symbols *symbols, struct cp_arena *arena, uint64_t address);

/* The name as the source has it, of C++ and Rust. */
const char *cp_source_name(struct cp_arena *arena, const char *name);

#endif
