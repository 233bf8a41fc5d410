/* SPDX-License-Identifier: MIT
 *
 * Jumps out of functions: longjmp and its kin.
 */
#ifndef CACHEPEEK_PRELOAD_JUMP_H
#define CACHEPEEK_PRELOAD_JUMP_H

#include <stdint.h>

/* From now on `watcher` is called before each jump, with what will be the stack pointer.
 * Nothing if this libc's jmp_buf is not one that we know. */
void cp_jump_watch(void (*watcher)(uintptr_t sp));

#endif
