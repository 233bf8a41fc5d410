/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Pointers that the program passes to the kernel and that may be bad.
 */
#ifndef CACHEPEEK_SIM_POINTERS_H
#define CACHEPEEK_SIM_POINTERS_H

#include <linux/seccomp.h>

#include "pub_tool_basics.h"

Bool can_read(UWord memory, SizeT size);
Bool can_read_text(UWord text);

/* An array with a closing NULL, and its strings: NULL has none. */
Bool can_read_texts(UWord array);

/* Arguments of which the kernel takes 32 bits, and the core 64, a bit each: those that
 * count the elements of an array, and all. */
UInt counts_of(int number);
UInt narrow_of(int number);

/* How many headers of sendmmsg and recvmmsg the kernel takes and can read. */
UInt messages_to_read(UWord messages, UInt count);

/* Is it a call of which the core reads more than it has made sure of? */
Bool pointers_matter(int number);

/* Would the core read what cannot be read, or more than the kernel does?  result: that is
 * the program's answer. */
Bool pointers_are_bad(const struct seccomp_data *call, long *result);

#endif
