/* SPDX-License-Identifier: MIT
 * Signal handlers, inlined into main: no functions beside those that tests count.
 */
#ifndef CACHEPEEK_TESTS_HANDLERS_HH
#define CACHEPEEK_TESTS_HANDLERS_HH

#include <csignal>
#include <cstdlib>

__attribute__((always_inline)) static inline void make_signal_stack()
{
	stack_t stack = {};

	stack.ss_size = 1 << 16;
	stack.ss_sp = std::malloc(stack.ss_size);
	sigaltstack(&stack, nullptr);
}

__attribute__((always_inline)) static inline void handle(
	int number, void (*handler)(int), int flags)
{
	struct sigaction action = {};

	action.sa_handler = handler;
	action.sa_flags = flags;
	sigaction(number, &action, nullptr);
}

#endif
