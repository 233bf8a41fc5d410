/* SPDX-License-Identifier: MIT
 *
 * A printf that is ours: no malloc, no stdio, no locale (a program that chose
 * a decimal comma must not put commas into our JSON), async-signal-safe.
 */
#ifndef CACHEPEEK_BASE_FORMAT_H
#define CACHEPEEK_BASE_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/*
 * Writes at most size bytes including the NUL; returns the length that the
 * whole text would have had, as snprintf does.
 *
 * Understood: %s %c %d %i %u %x %%, the modifiers l, ll, z; a width, the flags
 * '-' and '0', a precision for %s (also .*), %f and %g.  %g prints the
 * shortest of plain and exponent form with up to 17 significant digits.
 * NaN and infinities print as "nan" and "inf".  Digits are exact and rounded as
 * libc rounds them (a half to the even digit), also where floating-point is emulated.
 */
size_t cp_vformat(char *to, size_t size, const char *format, va_list args);
size_t cp_format(char *to, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
