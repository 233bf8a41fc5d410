/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/mxcsr.h"

#include "base/syscall.h"
#include "pin/pin.h"

#include "pub_tool_vki.h"

struct mxcsr mxcsr __attribute__((used)) = {.hosted = MXCSR_FLAGS};
_Static_assert(__builtin_offsetof(struct mxcsr, to_load) == 8, "as in mxcsr_begin");

/* --- The host's --- */

static UInt host_mxcsr(void)
{
	UInt value;

	__asm__ volatile("stmxcsr %0" : "=m"(value));
	return value;
}

static void set_host_mxcsr(UInt value)
{
	__asm__ volatile("ldmxcsr %0" ::"m"(value));
}

static UInt flush_of(const guest_state *g)
{
	return side_of(g)->mxcsr & mxcsr.hosted & MXCSR_FLUSH;
}

/* --- The program's --- */

UInt mxcsr_read(guest_state *g)
{
	return side_of(g)->mxcsr ^ MXCSR_USUAL;
}

void mxcsr_write(guest_state *g, UInt value)
{
	struct side_state *side = (struct side_state *)(g + 1);

	side->mxcsr = value ^ MXCSR_USUAL;
	g->guest_SSEROUND = (value & MXCSR_ROUNDING) >> 13;
}

static void gather_flags(guest_state *g)
{
	((struct side_state *)(g + 1))->mxcsr |= host_mxcsr() & MXCSR_FLAGS;
}

/* --- VEX's code begins and ends --- */

typedef void run_code(HWord *results, volatile void *state, Addr code);
run_code __real_vgPlain_disp_run_translations, __wrap_vgPlain_disp_run_translations;

/* Where the core's dispatcher is told to begin, which loads MXCSR before that. */
extern const UChar mxcsr_begin[];
__asm__(".text\nmxcsr_begin:\n"
	"	ldmxcsr mxcsr+8(%rip)\n"
	"	jmp *mxcsr(%rip)\n");

void __wrap_vgPlain_disp_run_translations(HWord *results, volatile void *state, Addr code)
{
	guest_state *g = (guest_state *)state;

	pin_rounds_before(state);
	pin_turn_goes_on(state);
	if (!tool_options.native) {
		__real_vgPlain_disp_run_translations(results, state, code);
		pin_rounds_behind(results, state);
		return;
	}
	mxcsr.code = code;
	mxcsr.to_load = MXCSR_USUAL | flush_of(g);
	__real_vgPlain_disp_run_translations(
		results, state, flush_of(g) ? (Addr)mxcsr_begin : code);
	gather_flags(g);
	set_host_mxcsr(MXCSR_USUAL);
	pin_rounds_behind(results, state);
}

/* The dispatcher looks whether MXCSR is as usual in the end, and gives up if not. That
 * look is taken out: it has no use then, as MXCSR is set above. */
static UChar *find_look(void)
{
	/* cmpl $0x1f80, (%rsp); pop %r15; jne */
	static const UChar look[] = {
		0x81, 0x3c, 0x24, 0x80, 0x1f, 0, 0, 0x41, 0x5f, 0x75};
	UChar *at = (UChar *)&__real_vgPlain_disp_run_translations;

	for (UInt i = 0; i < 256; i++)
		if (VG_(memcmp)(at + i, look, sizeof(look)) == 0)
			return at + i + sizeof(look) - 1;
	return NULL;
}

void mxcsr_start(void)
{
	static const UChar nothing[] = {0x66, 0x90};
	UChar *look = tool_options.hosted_flush ? find_look() : NULL;
	Addr page = VG_PGROUNDDN((Addr)look);
	SizeT size = VG_PGROUNDUP((Addr)look + sizeof(nothing)) - page;

	if (!look || cp_syscall(SYS_mprotect, page, size,
			     (long)(VKI_PROT_READ | VKI_PROT_WRITE | VKI_PROT_EXEC)) != 0)
		return;
	VG_(memcpy)(look, nothing, sizeof(nothing));
	cp_syscall(SYS_mprotect, page, size, (long)(VKI_PROT_READ | VKI_PROT_EXEC));
	mxcsr.hosted |= MXCSR_FLUSH;
}

/* --- XSAVE, FXSAVE and what restores them, by VEX --- */

enum { AREA_MXCSR = 24 };

typedef void state_helper(guest_state *g, HWord area);
state_helper __real_amd64g_dirtyhelper_XSAVE_COMPONENT_1_EXCLUDING_XMMREGS,
	__wrap_amd64g_dirtyhelper_XSAVE_COMPONENT_1_EXCLUDING_XMMREGS,
	__real_amd64g_dirtyhelper_XRSTOR_COMPONENT_1_EXCLUDING_XMMREGS,
	__wrap_amd64g_dirtyhelper_XRSTOR_COMPONENT_1_EXCLUDING_XMMREGS;

void __wrap_amd64g_dirtyhelper_XSAVE_COMPONENT_1_EXCLUDING_XMMREGS(
	guest_state *g, HWord area)
{
	__real_amd64g_dirtyhelper_XSAVE_COMPONENT_1_EXCLUDING_XMMREGS(g, area);
	if (!tool_options.native)
		return;
	gather_flags(g);
	*(UInt *)(area + AREA_MXCSR) = mxcsr_read(g);
}

void __wrap_amd64g_dirtyhelper_XRSTOR_COMPONENT_1_EXCLUDING_XMMREGS(
	guest_state *g, HWord area)
{
	__real_amd64g_dirtyhelper_XRSTOR_COMPONENT_1_EXCLUDING_XMMREGS(g, area);
	if (!tool_options.native)
		return;
	mxcsr_write(g, *(const UInt *)(area + AREA_MXCSR));
	set_host_mxcsr(MXCSR_USUAL | flush_of(g));
}
