/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A process that dies of a signal.  Its threads leave, and the last one sends
 * the signal to the process.  Now and then, if several were leaving at that
 * moment, the call comes back; the core then panics ("signal was supposed to be
 * fatal"), and the process exits with 1.  The linker puts this function in the
 * place of the core's (--wrap): it sends the signal again.
 */
#include "tool.h"

#define PATIENCE 1000

void __real_vgPlain_kill_self(Int number);
void __wrap_vgPlain_kill_self(Int number);

void __wrap_vgPlain_kill_self(Int number)
{
	for (UInt i = 0; i < PATIENCE; i++)
		__real_vgPlain_kill_self(number);
}
