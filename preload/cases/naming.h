/* SPDX-License-Identifier: MIT
 *
 * Functions whose regions have names of their own: "func:PATTERN={arg1+8:std::string}".
 * The name is read of the arguments when the function is called.
 */
#ifndef CACHEPEEK_PRELOAD_CASES_NAMING_H
#define CACHEPEEK_PRELOAD_CASES_NAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/name_pattern.h"
#include "regions/names.h"

/* So many arguments of a call, which are in registers, are known. */
#define CP_NAMING_ARGUMENTS 4

/* One that is a region. */
struct cp_function {
	struct cp_name *name;  /* its own, as its file has it */
	struct cp_name *plain; /* the same of C++ */
	struct cp_span naming; /* "={...}"; empty: it is called by its own */
};

/* A function that is named is wanted, whatever else is left out.  false: no memory. */
bool cp_function_set(struct cp_function *function, const char *name, const char *plain,
	struct cp_span naming);

/* How the region of a call is called: as the arguments say, or if they say nothing as the
 * function.  The calling thread is in the library, and not counted. */
struct cp_name *cp_function_named(
	const struct cp_function *function, const uintptr_t *arguments);

/* The same of any function: most have their own name, which costs a call nothing. */
static inline struct cp_name *cp_function_called(
	const struct cp_function *function, const uintptr_t *arguments)
{
	if (function->naming.at == function->naming.end)
		return function->name;
	return cp_function_named(function, arguments);
}

/* Tells of those in the list that cannot be read. */
void cp_naming_complain(const char *patterns);

#endif
