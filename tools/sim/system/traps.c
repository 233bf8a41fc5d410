/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The processor has a number and an error code for what an instruction raises, and the
 * kernel puts them into the context of each handler from then on, with the last address
 * that was not there.  Where the core makes up a signal there is none of them.  It takes
 * all that it cannot decode for what is no instruction (SIGILL).
 */
#include "system/traps.h"

#if defined(VGA_amd64)
#include "say.h"
#include "system/registers.h"
#include "tool.h"
#include "valgrind/core.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"

enum { DEBUG = 1, BREAKPOINT = 3, OVERFLOW = 4, INVALID = 6, PROTECTION = 13, PAGE = 14 };

void __real_vgPlain_synth_sigill(ThreadId tid, Addr address);
void __wrap_vgPlain_synth_sigill(ThreadId tid, Addr address);

struct trap {
	UWord number, error, address;
};

/* The signal that is about to be given is for this one. */
static Bool is_known;
static struct trap known;

/* The last one of each thread. */
static struct trap *last;

/* ---- what handlers find ---- */

Bool traps_is_debug(void)
{
	return is_known && known.number == DEBUG;
}

/* Addresses in the kernel's half are told to be there. */
static UWord error_of_code(UWord address)
{
	enum { PRESENT = 1, OF_PROGRAM = 4, CODE = 16 };
	Bool is_there = (Word)address < 0 ||
			VG_(am_is_valid_for_client)(address, 1, VKI_PROT_READ);

	return OF_PROGRAM | CODE | (is_there ? PRESENT : 0);
}

static struct trap trap_of(const vki_siginfo_t *told, const struct vki_ucontext *host)
{
	UWord address = (UWord)told->_sifields._sigfault._addr;

	if (is_known)
		return known;
	if (host)
		return (struct trap){
			host->uc_mcontext.trapno, host->uc_mcontext.err, address};
	if (told->si_signo == VKI_SIGILL)
		return (struct trap){.number = INVALID};
	if (told->si_signo == VKI_SIGSEGV && told->si_code != BY_KERNEL)
		return (struct trap){PAGE, error_of_code(address), address};
	return (struct trap){.number = PROTECTION};
}

static Bool is_of_instruction(const vki_siginfo_t *told)
{
	return told->si_code > 0 &&
	       (told->si_signo == VKI_SIGSEGV || told->si_signo == VKI_SIGBUS ||
		       told->si_signo == VKI_SIGILL || told->si_signo == VKI_SIGFPE ||
		       told->si_signo == VKI_SIGTRAP);
}

/* The third argument of a handler is its context. */
void traps_tell(ThreadId tid, const vki_siginfo_t *told, const struct vki_ucontext *host)
{
	struct vki_sigcontext *to =
		&((struct vki_ucontext *)call_take(tid, CALL_ARG3))->uc_mcontext;

	if (!last)
		last = VG_(calloc)("cachepeek.traps", most_threads(), sizeof(*last));
	if (is_of_instruction(told)) {
		struct trap now = trap_of(told, host);

		if (now.number != PAGE)
			now.address = last[tid].address;
		last[tid] = now;
	}
	is_known = False;
	to->trapno = last[tid].number;
	to->err = last[tid].error;
	to->cr2 = last[tid].address;
}

/* ---- addresses that no processor has ---- */

/* The page of the first system calls: the kernel answers jumps to three of its places,
 * and sends a signal for others, which is for no trap. */
static Bool is_in_page_of_calls(Addr address)
{
	return address >= 0xffffffffff600000 && address < 0xffffffffff601000;
}

Bool traps_refuse(ThreadId tid, Addr address)
{
	enum { UNUSED_BITS = 16 };

	if ((Word)(address << UNUSED_BITS) >> UNUSED_BITS == (Word)address &&
		!is_in_page_of_calls(address))
		return False;
	is_known = last && is_in_page_of_calls(address);
	if (is_known)
		known = last[tid];
	VG_(synth_fault)(tid);
	is_known = False;
	return True;
}

/* ---- what the core cannot decode ---- */

enum { LONGEST = 15 };

/* The prefixes, and REX. */
static const UChar *behind_prefixes(const UChar *code)
{
	while (*code == 0x66 || *code == 0xf2 || *code == 0xf3 || (*code & 0xf0) == 0x40)
		code++;
	return code;
}

/* The instructions of two bytes: system registers, caches, and the ways back to programs.
 */
static Bool is_kernels_of_two(const UChar *code)
{
	UInt which = code[1] >> 3 & 7;

	switch (code[0]) {
	case 0x00: /* lldt, ltr */
		return which == 2 || which == 3;
	case 0x01: /* lgdt, lidt, invlpg; lmsw; swapgs */
		return code[1] < 0xc0 ? which == 2 || which == 3 || which >= 6
				      : which == 6 || code[1] == 0xf8 || code[1] == 0xd1;
	}
	return code[0] == 0x06 || code[0] == 0x07 || code[0] == 0x08 || code[0] == 0x09 ||
	       (code[0] >= 0x20 && code[0] <= 0x23) || code[0] == 0x30 ||
	       code[0] == 0x32 || code[0] == 0x33 || code[0] == 0x35;
}

/* For those, the processor has another exception than for what is no instruction: hlt,
 * cli, sti, and ports; and for what is longer than any. */
static Bool is_kernels(const UChar *start)
{
	const UChar *code = behind_prefixes(start);

	if (code - start >= LONGEST)
		return True;
	if (code[0] == 0x0f)
		return is_kernels_of_two(code + 1);
	return code[0] == 0xf4 || code[0] == 0xfa || code[0] == 0xfb ||
	       (code[0] >= 0x6c && code[0] <= 0x6f) || (code[0] & 0xf4) == 0xe4;
}

static void trap(ThreadId tid, Addr next, UWord number, UWord error)
{
	is_known = True;
	known = (struct trap){number, error, 0};
	if (next)
		VG_(set_IP)(tid, next);
	if (number == DEBUG || number == BREAKPOINT)
		VG_(synth_sigtrap)(tid);
	else
		VG_(synth_fault)(tid);
	is_known = False;
}

/* int N; those that programs may not make have a descriptor, whose number is told. */
static void interrupt(ThreadId tid, Addr next, UWord which)
{
	enum { OF_IDT = 2 };

	if (which == BREAKPOINT || which == OVERFLOW)
		trap(tid, next, which, 0);
	else
		trap(tid, 0, PROTECTION, which << 3 | OF_IDT);
}

/* They work alone, or fail by what they find in memory: sldt to verw, smsw, lar and lsl;
 * lss, lfs, lgs; fs and gs on the stack; far jumps, calls and returns; moves to segment
 * registers; calls of the kernel as a program of 32 bits. */
static Bool is_of_segments(const UChar *code)
{
	UInt which;

	code = behind_prefixes(code);
	which = code[1] >> 3 & 7;
	if (code[0] == 0x0f)
		return (code[1] == 0x00 && !is_kernels_of_two(code + 1)) ||
		       (code[1] == 0x01 && (code[2] >> 3 & 7) == 4) || code[1] == 0x02 ||
		       code[1] == 0x03 || code[1] == 0xb2 || code[1] == 0xb4 ||
		       code[1] == 0xb5 || code[1] == 0xa0 || code[1] == 0xa1 ||
		       code[1] == 0xa8 || code[1] == 0xa9;
	return (code[0] == 0x8e && which != 1 && which < 6) || code[0] == 0xca ||
	       code[0] == 0xcb || code[0] == 0xcf ||
	       (code[0] == 0xff && code[1] < 0xc0 && (which == 3 || which == 5)) ||
	       (code[0] == 0xcd && code[1] == 0x80);
}

/* clzero, rdpru; xsavec; movdir64b. */
static Bool is_rare(const UChar *start)
{
	const UChar *code = behind_prefixes(start);

	return code[0] == 0x0f &&
	       ((code[1] == 0x01 && (code[2] == 0xfc || code[2] == 0xfd)) ||
		       (code[1] == 0xc7 && code[2] < 0xc0 && (code[2] >> 3 & 7) == 4) ||
		       (code[1] == 0x38 && code[2] == 0xf8 && *start == 0x66));
}

static void say_what_it_lacks(const UChar *code)
{
	static Bool said, said_rare;

	if (is_rare(code))
		say_once(&said_rare,
			"cachepeek: the simulated PMU has no CLZERO, RDPRU, XSAVEC and "
			"MOVDIR64B: the program gets SIGILL: count it with CACHEPEEK_ENGINE=perf\n");

	if (is_of_segments(code))
		say_once(&said,
			"cachepeek: the simulated PMU has no instructions about segments, "
			"and no calls of 32-bit programs (int $0x80): the program gets "
			"SIGILL: count it with CACHEPEEK_ENGINE=perf\n");
}

void __wrap_vgPlain_synth_sigill(ThreadId tid, Addr address)
{
	UChar code[LONGEST + 3] = {0};

	for (UInt i = 0; i < sizeof(code) &&
			 VG_(am_is_valid_for_client)(address + i, 1, VKI_PROT_READ);
		i++)
		code[i] = ((const UChar *)address)[i];
	say_what_it_lacks(code);
	if (code[0] == 0xf1)
		trap(tid, address + 1, DEBUG, 0);
	else if (code[0] == 0xcd && code[1] != 0x80)
		interrupt(tid, address + 2, code[1]);
	else if (is_kernels(code))
		VG_(synth_fault)(tid);
	else
		__real_vgPlain_synth_sigill(tid, address);
}
#endif
