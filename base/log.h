/* SPDX-License-Identifier: MIT
 *
 * Lines for the user, on a duplicate of stderr that the program cannot close.
 */
#ifndef CACHEPEEK_BASE_LOG_H
#define CACHEPEEK_BASE_LOG_H

#include <stdbool.h>

/* Where lines go: 2 until somebody sets it; -1: to stderr if it is what it was. */
extern int cp_log_fd;

/* Remembers today's stderr: a file that the program opens in its place gets no line of
 * ours. */
void cp_log_remember_stderr(void);

/* Where lines would go now; -1: nowhere. */
int cp_log_target(void);

/* No system call but write(2) is allowed any more. */
extern bool cp_log_only_write;

/* 0: warnings only, 1: decisions, 2: steps, 3: everything. */
extern int cp_log_level;

/* "cachepeek: TEXT\n" in one write(2); a longer line is cut at 1,000 bytes.
 * No allocation, async-signal-safe, errno kept. */
void cp_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
