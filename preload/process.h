/* SPDX-License-Identifier: MIT
 *
 * Follows the process: its end, another program in its place, a child.
 */
#ifndef CACHEPEEK_PRELOAD_PROCESS_H
#define CACHEPEEK_PRELOAD_PROCESS_H

#include "regions/record.h"

/*
 * The process ends this way: last readings, state in the record, and the
 * report if this is the root of the tree.  Only the first call does anything.
 */
void cp_process_end(enum cp_how how, int code);

/* Without readings or a report, which are there already or cannot be had: how
 * it ends after all.  Async-signal-safe anywhere. */
void cp_process_cut(enum cp_how how, int code);

/* The calling thread leaves by SYS_exit; the last one takes the process along. */
void cp_thread_leaves(int code);

/* The same for a thread that libc ends; nothing while the main thread is there. */
void cp_thread_left(void);

/* Before an exec, which may fail: returns the state to go back to with
 * cp_exec_failed.  Nothing in a vfork child, whose memory is its parent's. */
void cp_process_exec(void);
void cp_exec_failed(void);

/* In a fork child; and of the table of parts (parts.c). */
void cp_process_forked(void);
void cp_process_after_fork(void);

/* hooks_process.c: registers fork handlers; entries[] ("NAME=value", NULL-terminated,
 * living as long as the process) go into the program's environment before its main. */
void cp_hooks_start(char *const entries[]);

#endif
