/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What tools/sim/native asks of the Valgrind tool, in a shadow: instructions that VEX
 * does not decode are executed by the host there, too.  Stubs are in memory that the
 * shadows share, as translations call them.
 *
 * Flags of floating-point exceptions are not followed, as nothing is decided by them.
 */
#include "tools/shadow/parts.h"

#include "native/host.h"
#include "native/kept.h"
#include "native/mend.h"
#include "native/mxcsr.h"
#include "native/native.h"
#include "native/state.h"
#include "native/upper.h"

struct mxcsr mxcsr = {.hosted = MXCSR_FLAGS | MXCSR_FLUSH};

/* Components of what XSAVE stores, as the kernel does at a signal. */
enum component { MASKS = 5, UPPER, HIGH, COMPONENTS };
static UInt offset_of[COMPONENTS];

/* ---- the processor ---- */

void mxcsr_start(void)
{
}

/* Kept translations clear upper halves from the beginning on: which window is the first
 * to use them nobody knows. */
void extended_start(void)
{
	tool_options.native = tool_options.shows_host = True;
	native_start();
	saved_start();
	if (!(native_host_kept_state() >> UPPER & 1))
		return;
	upper_begin_use();
	for (UInt c = MASKS; c < COMPONENTS; c++)
		offset_of[c] = native_cpuid(0xd, c).output[1];
}

/* ---- the program's state ---- */

static void take_component(
	void *to, const UChar *image, ULong saved, enum component c, SizeT size)
{
	if (offset_of[c] && saved >> c & 1)
		VG_(memcpy)(to, image + offset_of[c], size);
}

Bool extended_take(struct shadow_thread *t, const UChar *image, ULong saved, UInt value)
{
	struct side_state *side = (struct side_state *)t->side;

	take_component(side->mask, image, saved, MASKS, sizeof(side->mask));
	take_component(side->upper, image, saved, UPPER, sizeof(side->upper));
	take_component(side->zmm, image, saved, HIGH, sizeof(side->zmm));
	side->live = offset_of[UPPER] ? 0xffff : 0;
	side->mxcsr = value ^ MXCSR_USUAL;
	mxcsr.is_other = (side->mxcsr & ~mxcsr.hosted) != 0;
	return mxcsr.is_other;
}

UInt extended_mxcsr(const struct shadow_thread *t)
{
	return MXCSR_USUAL | (side_of(&t->guest)->mxcsr & MXCSR_FLUSH);
}

/* ---- what it asks for ---- */

void *native_keep_stub(const struct assembler *a)
{
	UChar *at = translate_room(a->n);

	return at ? VG_(memcpy)(at, a->bytes, a->n) : NULL;
}

const NSegment *VG_(am_find_nsegment)(Addr a)
{
	return memory_code(a);
}

/* Nobody looks at frames of signals, of which a shadow has none. */
void native_frame_note(void)
{
}

void mend_begin_block(void)
{
}

void mend_statement(IRSB *out, const IRSB *in, Int at)
{
	addStmtToIRSB(out, in->stmts[at]);
}

/* ---- what VEX tells of its own processor ---- */

typedef void helper(VexGuestAMD64State *state);
helper __wrap_amd64g_dirtyhelper_CPUID_avx2;

/* The program has asked the processor itself until now. */
void __wrap_amd64g_dirtyhelper_CPUID_avx2(VexGuestAMD64State *state)
{
	struct cpuid c = native_cpuid((UInt)state->guest_RAX, (UInt)state->guest_RCX);

	state->guest_RAX = c.output[0];
	state->guest_RBX = c.output[1];
	state->guest_RCX = c.output[2];
	state->guest_RDX = c.output[3];
}
