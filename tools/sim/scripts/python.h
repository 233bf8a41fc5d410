/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which line of a Python program the running thread is in, as the interpreter's own
 * memory has it: CPython 3.11, 3.12 and 3.13.
 *
 * The interpreter has a list of its threads' states, each of which has the frame of the
 * innermost function of Python: its code object, and the bytecode instruction that is
 * being executed.  A thread that has released the lock of the interpreter is where it
 * called what did that.  All of this is read from the program's memory, and none of it
 * is believed: pages are looked for, and objects have to be of their type.
 */
#ifndef CACHEPEEK_SIM_PYTHON_H
#define CACHEPEEK_SIM_PYTHON_H

#include "tool.h"

/* The variables _PyRuntime, Py_Version and PyCode_Type of the interpreter. */
struct python_symbols {
	Addr runtime, version, code_type;
};

/* An instruction of a code object, and what tells the object from another one that
 * comes to be where it was. */
struct python_at {
	Addr code, instruction;
	Addr file, line_table; /* file: a string */
};

/* 0x030b for 3.11; 0: it cannot be read. */
UInt python_version(const struct python_symbols *symbols);
/* Returns whether its frames can be read. */
Bool python_use(const struct python_symbols *symbols);
/* Memory was unmapped. */
void python_unmapped(Addr a, SizeT len);
/* Another thread runs. */
void python_run(void);

/* Where the running thread is, and where the innermost function is that is in no library:
 * the same one, if none is.  They stay so until the next call; NULL: in no function of
 * Python. */
const struct python_at *python_find(const struct python_at **own);

/* python_code.c: the line, from 1 on; 0: the compiler gave the instruction none. */
UInt python_line(const struct python_at *at);
/* The names of the function and of its file, NUL-terminated, in UTF-8; what has no room
 * is left out.  False: they are no strings. */
Bool python_function(const struct python_at *at, HChar *to, UInt room);
Bool python_file(const struct python_at *at, HChar *to, UInt room);
/* Is that file the interpreter's, or in a directory that packages are installed in? */
Bool python_is_library(Addr file);

#endif
