/* SPDX-License-Identifier: MIT
 *
 * Programs that forbid themselves system calls.  A filter is run here first,
 * over the calls that we make later; if it lets all of them pass, nothing
 * changes.  Else the process is confined: what is mapped and open goes on being
 * counted, and nothing else is tried, since that may be deadly.
 */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_SECCOMP_H
#define CACHEPEEK_PRELOAD_PROGRAM_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>

/* Can the kernel read it?  If not, nothing is going to change: programs pass NULL to ask
 * whether there are filters. */
bool cp_seccomp_is_filter(const struct sock_fprog *filter);

/* Around the system call that confines the calling thread, to strict mode
 * (filter: NULL) or by a filter; done: it succeeded. */
void cp_seccomp_before(const struct sock_fprog *filter);
void cp_seccomp_after(const struct sock_fprog *filter, bool done);

#endif
