/* SPDX-License-Identifier: MIT
 *
 * Go programs, whose end the library does not see: the runtime of the language makes
 * the exit system call itself.
 */
#ifndef CACHEPEEK_PRELOAD_GOLANG_H
#define CACHEPEEK_PRELOAD_GOLANG_H

/* In a Go program: says that it writes no report, and from here on takes a reading of
 * all threads now and then, so that its record has counts. */
void cp_golang_start(void);

#endif
