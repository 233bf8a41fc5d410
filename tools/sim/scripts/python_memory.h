/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The memory of the program, as far as it can be read, and where its interpreter has
 * what is looked for: for python.c and python_code.c.
 */
#ifndef CACHEPEEK_SIM_PYTHON_MEMORY_H
#define CACHEPEEK_SIM_PYTHON_MEMORY_H

#include "readable.h"

/* Bytes from the beginning of each object on.  3.11 and 3.12: of the release's builds,
 * as the headers in Include/internal have them; 3.13: as _PyRuntime says itself. */
struct python_layout {
	ULong interpreters;              /* of _PyRuntime: the first one */
	ULong next_interpreter, threads; /* of an interpreter */
	ULong previous_thread, next_thread, native_id, frame; /* of a thread's state */
	Bool is_indirect;                /* `frame` is where it has another object, */
	ULong frame_of_that;             /* which has the frame */
	ULong caller, code, instruction; /* of a frame */
	ULong file, qualified_name, line_table, first_line, bytecode; /* of code */
	ULong ascii, compact; /* of a string: its characters */
};

extern struct python_layout python_layout;

/* Offsets that every object has. */
enum { PYTHON_TYPE = 8, PYTHON_SIZE = 16, PYTHON_BYTES = 32 };

/* False: there is no such memory.  a is a multiple of the word's size. */
static inline Bool python_word(Addr a, Addr *to)
{
	if (a % sizeof(*to) || !is_readable(a, READABLE_ANY))
		return False;
	*to = *(const Addr *)a;
	return True;
}

static inline Bool python_int(Addr a, Int *to)
{
	if (a % sizeof(*to) || !is_readable(a, READABLE_ANY))
		return False;
	*to = *(const Int *)a;
	return True;
}

static inline Bool python_byte(Addr a, UChar *to)
{
	if (!is_readable(a, READABLE_ANY))
		return False;
	*to = *(const UChar *)a;
	return True;
}

#endif
