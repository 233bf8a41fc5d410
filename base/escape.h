/* SPDX-License-Identifier: MIT
 *
 * The way back to a caller when memory has run out.  setjmp(3) may be replaced: that of
 * ThreadSanitizer's runtime crashes in constructors that run before its own.  So the
 * compiler's are used, which call nothing.
 */
#ifndef CACHEPEEK_BASE_ESCAPE_H
#define CACHEPEEK_BASE_ESCAPE_H

struct cp_escape {
	void *words[5];
};

/* 0 at first, and 1 when cp_escape_take() has come back here, for as long as the
 * function that sets it runs.  As with setjmp(3), variables of that function that are
 * changed in between are volatile. */
#define CP_ESCAPE_SET(escape) __builtin_setjmp((escape).words)

_Noreturn void cp_escape_take(struct cp_escape *escape);

#endif
