/* SPDX-License-Identifier: MIT
 *
 * Tests that speak TAP, the Test Anything Protocol that prove(1) reads.
 *
 * A test calls plan(N) first, or plan_lazy() when it cannot know N, then its
 * assertions, from any thread.  Each prints one line with one write(2).  When
 * the process that planned exits, the plan is checked: the exit status is 1 if
 * an assertion failed or their number is not the planned one, unless the test
 * chose another non-zero status.  Forked children print nothing, count
 * nothing, and keep their own exit status.
 *
 * Messages are printf formats, NULL for none.  Assertions return whether they
 * held.
 */
#ifndef CACHEPEEK_TESTS_TAP_H
#define CACHEPEEK_TESTS_TAP_H

#include <stdbool.h>
#include <stdint.h>

#define TAP_PRINTF(at, first) __attribute__((format(printf, at, first)))

void plan(unsigned count);
void plan_lazy(void);
/* The whole test does not apply here: prints why and exits 0. */
void skip_all(const char *format, ...) TAP_PRINTF(1, 2) __attribute__((noreturn));

bool ok(bool condition, const char *format, ...) TAP_PRINTF(2, 3);
bool is_int(long long got, long long want, const char *format, ...) TAP_PRINTF(3, 4);
bool is_u64(uint64_t got, uint64_t want, const char *format, ...) TAP_PRINTF(3, 4);
/* NULL equals only NULL. */
bool is_string(const char *got, const char *want, const char *format, ...)
	TAP_PRINTF(3, 4);
/* |got - want| <= epsilon; NaN is near to nothing. */
bool is_double_near(double got, double want, double epsilon, const char *format, ...)
	TAP_PRINTF(4, 5);

/* Stands for count assertions that cannot run here. */
void skip(unsigned count, const char *format, ...) TAP_PRINTF(2, 3);
/* The next count assertions of this process are expected to fail, and why. */
void todo(unsigned count, const char *format, ...) TAP_PRINTF(2, 3);

/* A comment on stderr, every line of it with a "# ". */
void diag(const char *format, ...) TAP_PRINTF(1, 2);
/* Nothing more can be tested, here or in any other test: exits 255. */
void bail(const char *format, ...) TAP_PRINTF(1, 2) __attribute__((noreturn));

/* How often to do what is done so often to meet what is rare: n times; a tenth of that
 * under Memcheck, which takes 50 times as long and looks at each instruction anyway. */
unsigned tap_repeats(unsigned n);

/* The exit of a test's arenas. */
void tap_no_memory(void) __attribute__((noreturn));

#endif
