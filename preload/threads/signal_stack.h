/* SPDX-License-Identifier: MIT
 *
 * The alternate stacks of threads, which the handler of fatal signals (program/fatal.h)
 * needs when a thread's own stack has overflowed.
 */
#ifndef CACHEPEEK_PRELOAD_THREADS_SIGNAL_STACK_H
#define CACHEPEEK_PRELOAD_THREADS_SIGNAL_STACK_H

#include <signal.h>
#include <stdbool.h>

/* The calling thread gets one, unless the program gave it one, and gives it back. */
void cp_signal_stack_begin(void);
void cp_signal_stack_end(void);

/* Is this the calling thread's, given by us?  Which is: */
bool cp_signal_stack_is_ours(const stack_t *stack);
void cp_signal_stack_show(stack_t *stack);

#endif
