/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Threads that wait for another one in a loop of several superblocks.  After a number of
 * superblocks that is a multiple of the loop's length the registers of such a thread are
 * what they were; there its turn ends, and nothing is lost where it was no such loop.
 * The thread is looked at after a few superblocks of its turn, and then after more and
 * more, so that what it spends in vain is no more than what it has worked.
 *
 * Loops that look at the clock do not come back to the same registers.  They end the turn
 * at every twentieth look.
 */
#include "pin/pin.h"

#include "valgrind/guest.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "libvex_trc_values.h"

enum { CLOCKS = 20 };

enum {
	REGISTERS = GUEST_EITHER(RAX, X0),
	NREGISTERS = GUEST_EITHER(RIP, PC) + sizeof(UWord) - REGISTERS
};

/* From look to look: each number of superblocks to 20 divides one of them, but 16; from
 * the last on twice as many each time. */
static const Int apart[] = {120, 126, 143, 136, 152, 5040};

enum { NAPART = sizeof(apart) / sizeof(apart[0]) };

static struct {
	Int looks, clocks;
	Int left;   /* superblocks until the next look */
	Int hidden; /* of the turn, behind that */
	UChar registers[NREGISTERS];
} turn = {.left = 120};

void pin_rounds_begin(void)
{
	turn.looks = turn.clocks = 0;
	turn.left = apart[0];
	VG_(memset)(turn.registers, 0, sizeof(turn.registers));
}

void pin_rounds_call(UInt number)
{
	if (number == __NR_clock_gettime || number == __NR_gettimeofday)
		turn.clocks++;
}

/* The core counts superblocks down, and stops below 0; it wants one to be executed. */
void pin_rounds_before(volatile void *state)
{
	volatile guest_state *g = state;
	Int all = (Int)g->host_EvC_COUNTER,
	    left = turn.clocks < CLOCKS && turn.left ? turn.left : 1;

	turn.hidden = 0;
	if (all <= left || !pin_turn_is_wanted())
		return;
	turn.hidden = all - left;
	g->host_EvC_COUNTER = (UInt)left;
}

static Bool is_same(const UChar *registers)
{
	Bool same = VG_(memcmp)(turn.registers, registers, NREGISTERS) == 0;

	VG_(memcpy)(turn.registers, registers, NREGISTERS);
	turn.looks++;
	turn.left = turn.looks < NAPART ? apart[turn.looks]
					: apart[NAPART - 1] << (turn.looks - NAPART + 1);
	return same;
}

/* results: why the core's code has returned. */
void pin_rounds_behind(HWord *results, volatile void *state)
{
	volatile guest_state *g = state;
	Int left = (Int)g->host_EvC_COUNTER;

	if (!turn.hidden)
		return;
	if (left >= 0) {
		turn.left = left;
	} else if (turn.clocks >= CLOCKS || is_same((const UChar *)g + REGISTERS)) {
		pin_spin.given = 1;
		return;
	} else {
		results[0] = VEX_TRC_JMP_BORING;
	}
	g->host_EvC_COUNTER = (UInt)(left + turn.hidden);
}
