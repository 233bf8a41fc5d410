/* SPDX-License-Identifier: MIT
 *
 * The signal of ticks: one of the two that the C library keeps for itself.  A program
 * can neither block it, nor wait for it, nor have a handler for it: its calls say that
 * there is no such signal, and all signals together (sigfillset) are without it.
 */
#ifndef CACHEPEEK_PRELOAD_SHADOW_TICK_SIGNAL_H
#define CACHEPEEK_PRELOAD_SHADOW_TICK_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* 0, or -errno: it is in use already, or this is no x86-64. */
int cp_tick_signal_start(void (*on_tick)(int, siginfo_t *, void *));

/* Not after the first pthread_cancel, with which ticks end. */
bool cp_tick_signal_is_ours(void);

/* A timer of the calling thread's CPU time: its number, or -errno.  Its signals have
 * data. */
int cp_tick_timer(void *data);
/* ns: 0: it is off. */
void cp_tick_timer_arm(int timer, uint64_t ns);
void cp_tick_timer_end(int timer);

#endif
