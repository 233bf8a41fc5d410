/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "instrument/waits.h"
#include "instrument/flow_keep.h"

/* The nearest of them is so many cycles away. */
static UInt nearest_of(const struct trails *of)
{
	UInt nearest = MAX_PATH;

	for (UInt i = 0; i < SOURCE_WORDS; i++)
		for (ULong sources = of->sources.of[i]; sources;) {
			UInt cycles = of->from[64 * i + take_source(&sources)] - 1u;

			nearest = nearest < cycles ? nearest : cycles;
		}
	return nearest;
}

/* The instructions that wait for the same; behind the last that there is room for, those
 * wait for everything that any does. */
static struct flow_wait *wait_for(struct made_waits *making, ULong registers, ULong loads)
{
	UInt i = 0;

	while (i < making->waits.n &&
		(making->of[i].registers != registers || making->of[i].loads != loads))
		i++;
	if (i == MAX_WAITS)
		i--;
	else if (i == making->waits.n)
		making->of[making->waits.n++] = (struct flow_wait){0, 0, 0, 0};
	making->of[i].registers |= registers;
	making->of[i].loads |= loads;
	return &making->of[i];
}

/* A load behind others that hit waits for these, too; for its value it does so anyway. */
void waits_note(struct made_waits *making, const struct trails *of, UInt cycles, UInt l1)
{
	ULong registers = of->sources.of[OF_REGISTERS], loads = of->sources.of[OF_LOADS];
	UInt longer = cycles > l1 ? cycles - l1 : 0, most = nearest_of(of) + l1;
	struct flow_wait *wait;

	if (!(registers | loads))
		return;
	wait = wait_for(making, registers, loads);
	longer = longer < most ? longer : most;
	wait->instructions++;
	wait->longer += longer;
	if (longer > making->waits.longest)
		making->waits.longest = longer;
	making->waits.registers |= registers;
	making->waits.loads |= loads;
}

const struct flow_waits *waits_take(struct made_waits *making)
{
	const struct flow_waits *kept = NULL;

	for (UInt i = 0; i < making->waits.n; i++)
		making->of[i].longer /= making->of[i].instructions;
	if (making->waits.n)
		kept = flow_keep_piece((const ULong *)making,
			(sizeof(making->waits) +
				making->waits.n * sizeof(making->of[0])) /
				sizeof(ULong));
	VG_(memset)(&making->waits, 0, sizeof(making->waits));
	return kept;
}
