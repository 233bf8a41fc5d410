/* SPDX-License-Identifier: MIT
 *
 * Warnings: the user is told once, and finds them in the report.
 */
#ifndef CACHEPEEK_PRELOAD_WARN_H
#define CACHEPEEK_PRELOAD_WARN_H

/* One line for the user, kept in the record for the report as well.  Said
 * aloud once per process tree. */
void cp_warn(const char *line);
/* In the report only. */
void cp_keep_warning(const char *line);

/* A line of the record under a key of its own, which the report puts into its words; cut
 * off at 600 bytes. */
void cp_keep_note(const char *key, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* On stderr only, where the report tells it in its own words. */
void cp_say_first(const char *line);

/* There is a record now: what was said before is kept there. */
void cp_keep_early_warnings(void);

#endif
