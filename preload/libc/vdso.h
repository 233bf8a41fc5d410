/* SPDX-License-Identifier: MIT
 *
 * The code that the kernel maps into each process.
 */
#ifndef CACHEPEEK_PRELOAD_LIBC_VDSO_H
#define CACHEPEEK_PRELOAD_LIBC_VDSO_H

#include <time.h>

/* 0 or -errno; -ENOSYS where there is no such code (under a simulator, say). */
int cp_vdso_clock_gettime(clockid_t clock, struct timespec *now);

#endif
