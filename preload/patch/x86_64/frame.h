/* SPDX-License-Identifier: MIT
 *
 * The frame that trampolines (plan.c) and entries (stubs.S) agree on.
 */
#ifndef CACHEPEEK_PRELOAD_PATCH_X86_64_FRAME_H
#define CACHEPEEK_PRELOAD_PATCH_X86_64_FRAME_H

#define CP_CALLS_SKIP 136 /* more than the red zone, and the stack stays aligned */

#endif
