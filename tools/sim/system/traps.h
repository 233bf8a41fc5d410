/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which trap of the processor a signal is for, on x86-64.
 */
#ifndef CACHEPEEK_SIM_TRAPS_H
#define CACHEPEEK_SIM_TRAPS_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"

/* The code of a signal of which the kernel does not say more. */
enum { BY_KERNEL = 128 };

struct vki_ucontext;

#if defined(VGA_amd64)
/* Is the signal that is about to be given that of a debugger's trap? */
Bool traps_is_debug(void);

/* The thread goes to this address.  True: no processor has it, and the thread has a
 * signal. */
Bool traps_refuse(ThreadId tid, Addr address);

/* In the context that a handler is given.  host: the host's; NULL: the core has made the
 * signal up. */
void traps_tell(ThreadId tid, const vki_siginfo_t *told, const struct vki_ucontext *host);
#else
static inline Bool traps_refuse(ThreadId tid, Addr address)
{
	(void)tid, (void)address;
	return False;
}

static inline void traps_tell(
	ThreadId tid, const vki_siginfo_t *told, const struct vki_ucontext *host)
{
	(void)tid, (void)told, (void)host;
}
#endif

#endif
