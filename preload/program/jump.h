/* SPDX-License-Identifier: MIT
 *
 * Jumps out of functions: longjmp and its kin.
 */
#ifndef CACHEPEEK_PRELOAD_JUMP_H
#define CACHEPEEK_PRELOAD_JUMP_H

#include <stdint.h>

/* Learns where a jmp_buf has its stack pointer.  From now on a jump by which a signal
 * handler leaves work of ours that it has interrupted is noted in the record: the work
 * stays half done, so the thread keeps out from there on. */
void cp_jump_start(void);

/* From now on `watcher` is called before each jump, with what will be the stack pointer.
 * Nothing if this libc's jmp_buf is not one that we know. */
void cp_jump_watch(void (*watcher)(uintptr_t sp));

#endif
