/* SPDX-License-Identifier: MIT
 *
 * Programs that forbid themselves system calls.  A filter is run here first,
 * over the calls that we make later; if it lets all of them pass, nothing
 * changes.  Else the process is confined: what is mapped and open goes on being
 * counted, and nothing else is tried, since that may be deadly.
 */
#ifndef CACHEPEEK_PRELOAD_SECCOMP_H
#define CACHEPEEK_PRELOAD_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>

/* May each of our system calls pass?  false for a filter we do not understand. */
bool cp_seccomp_lets_us(const struct sock_fprog *program);

/* This filter was installed: the process may be confined from here on. */
void cp_seccomp_installed(const struct sock_fprog *filter);

#endif
