/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Registers of x87, vectors and masks in the frame of a signal, where the core leaves
 * what was on the stack: handlers see them in the kernel's layout (that of XSAVE), begin
 * with clean ones, and what they write there is in force behind the handler.
 */
#include "native/host.h"
#include "native/mxcsr.h"
#include "native/native.h"
#include "pointers.h"
#include "say.h"
#include "valgrind/core.h"

#include "pub_tool_vki.h"

/* --- The layout --- */

enum {
	LEGACY = 512, /* bytes of FXSAVE, the last of which say what comes behind them */
	HEADER = 64,
	MAGIC_BEGIN = 0x46505853,
	MAGIC_END = 0x46505845,
	HAS_STATE = 1, /* of uc_flags: UC_FP_XSTATE */
};

enum component { X87, SSE, AVX, MASKS = 5, UPPER, HIGH, COMPONENTS };

struct area {
	UChar legacy[24];
	UInt mxcsr, mxcsr_mask;
	UChar registers[432];
	UInt magic, extended_size;
	ULong features;
	UInt size, unused[7];
	ULong has;
	ULong header[7];
};

_Static_assert(sizeof(struct area) == LEGACY + HEADER, "the kernel's");

/* The kernel's frame of a signal, which is the same for all. */
static struct {
	/* CPUID leaves virtual machines: it takes longer than the rest of a signal. */
	struct {
		UInt size, offset;
	} layout[COMPONENTS];
	/* The context's place in a frame, from where the handler's stack begins. */
	PtrdiffT context_at;
	/* The places of the core's own marks, which it asserts; a core may have none. */
	PtrdiffT begin_at, end_at;
	Bool is_unmarked;
	Bool is_avx512_used; /* by the program */
} frame;

void native_frame_note(void)
{
	frame.is_avx512_used = True;
}

/* State of AVX-512 is saved only in a program that uses any: stacks of handlers are
 * small. */
static UInt saved_features(void)
{
	return native_host_kept_state() & (frame.is_avx512_used ? 0xe7 : 7);
}

static UInt area_size(ULong saved)
{
	UInt size = sizeof(struct area);

	for (UInt c = AVX; c < COMPONENTS; c++) {
		if (!(saved >> c & 1))
			continue;
		if (!frame.layout[c].size) {
			struct cpuid host = native_cpuid(0xd, c);

			frame.layout[c].size = host.output[0];
			frame.layout[c].offset = host.output[1];
		}
		size = frame.layout[c].offset + frame.layout[c].size;
	}
	return size;
}

/* --- A thread's state --- */

struct thread_state {
	guest_state guest;
	UChar shadows[2 * sizeof(guest_state)]; /* struct side_state */
};

static struct side_state *side_state_of(struct thread_state *t)
{
	return (struct side_state *)t->shadows;
}

static void take_registers(ThreadId tid, struct thread_state *t)
{
	for (UInt i = 0; i < 3; i++)
		VG_(get_shadow_regs_area)
	(tid, (UChar *)t + i * sizeof(guest_state), (Int)i, 0, sizeof(guest_state));
}

static void give_registers(ThreadId tid, const struct thread_state *t)
{
	for (UInt i = 0; i < 3; i++)
		VG_(set_shadow_regs_area)
	(tid, (Int)i, 0, sizeof(guest_state), (const UChar *)t + i * sizeof(guest_state));
}

/* --- Between a thread's state and an area --- */

static void copy_state(UChar *in_area, void *in_state, SizeT size, Bool to_area)
{
	if (to_area)
		VG_(memcpy)(in_area, in_state, size);
	else
		VG_(memcpy)(in_state, in_area, size);
}

/* Copies the components behind SSE. */
static void copy_component(
	struct thread_state *t, UChar *at, enum component c, Bool to_area)
{
	struct side_state *side = side_state_of(t);

	if (c == MASKS)
		copy_state(at, side->mask, sizeof(side->mask), to_area);
	else if (c == HIGH)
		copy_state(at, side->zmm, sizeof(side->zmm), to_area);
	for (UInt i = 0; i < 16; i++) {
		if (c == AVX)
			copy_state(at + 16 * i, (UChar *)&t->guest + state_ymm(i) + 16,
				16, to_area);
		else if (c == UPPER && (side->live >> i & 1 || !to_area))
			copy_state(at + 32 * i, &side->upper[i], 32, to_area);
	}
	if (c == UPPER && !to_area)
		side->live = 0xffff;
}

static void save_frame(struct thread_state *t, struct area *to)
{
	UInt size = area_size(saved_features()), end = MAGIC_END;

	VG_(memset)(to, 0, size);
	LibVEX_GuestAMD64_fxsave(&t->guest, (HWord)to);
	to->mxcsr = mxcsr_read(&t->guest);
	to->magic = MAGIC_BEGIN;
	to->extended_size = size + sizeof(end);
	to->size = size;
	to->features = to->has = saved_features();
	for (UInt c = AVX; c < COMPONENTS; c++)
		if (to->features >> c & 1)
			copy_component(t, (UChar *)to + frame.layout[c].offset, c, True);
	VG_(memcpy)((UChar *)to + size, &end, sizeof(end));
}

/* As a process begins. */
static void clear_state(struct thread_state *t)
{
	guest_state *g = &t->guest;

	VG_(memset)((UChar *)g + state_ymm(0), 0, 16 * 32);
	VG_(memset)(t->shadows, 0, sizeof(t->shadows));
	VG_(memset)(g->guest_FPTAG, 0, sizeof(g->guest_FPTAG));
	g->guest_FTOP = 0;
	g->guest_FPROUND = g->guest_FC3210 = g->guest_SSEROUND = 0;
}

/* The area says which were saved: a handler may be the first to use 512 bits. */
static Bool has_components(const struct area *from)
{
	ULong saved = from->features & saved_features();

	return from->magic == MAGIC_BEGIN && from->features == saved &&
	       from->size == area_size(saved) && can_read((UWord)from, area_size(saved));
}

static void restore_frame(struct thread_state *t, struct area *from)
{
	clear_state(t);
	if (!from || !can_read((UWord)from, sizeof(*from)))
		return;
	LibVEX_GuestAMD64_fxrstor((HWord)from, &t->guest);
	mxcsr_write(&t->guest, from->mxcsr & 0xffff);
	for (UInt c = AVX; has_components(from) && c < COMPONENTS; c++)
		if (from->features & from->has & 1u << c)
			copy_component(
				t, (UChar *)from + frame.layout[c].offset, c, False);
}

/* --- Frames --- */

Addr native_frame_room(Addr top)
{
	return tool_options.native
		       ? (top - area_size(saved_features()) - sizeof(UInt)) & ~63ul
		       : top;
}

enum { MARK_OF_BEGIN = 0x31415927, MARK_OF_END = 0x27182818 };

static PtrdiffT find_mark(Addr base, PtrdiffT from, Addr top, UInt mark)
{
	while (base + (Addr)from + sizeof(mark) <= top) {
		if (*(const UInt *)(base + (Addr)from) == mark)
			return from;
		from += (PtrdiffT)sizeof(mark);
	}
	return 0;
}

static void find_marks(ThreadId tid, Addr top)
{
	Addr base = VG_(get_SP)(tid);
	PtrdiffT begin;

	if (frame.end_at)
		return;
	begin = (PtrdiffT)(sizeof(Addr) + sizeof(struct vki_ucontext));
	frame.begin_at = find_mark(base, begin, top, MARK_OF_BEGIN);
	if (frame.begin_at)
		frame.end_at = find_mark(base, frame.begin_at, top, MARK_OF_END);
	frame.is_unmarked = !frame.end_at;
}

void native_frame_fill(ThreadId tid, Addr room)
{
	struct thread_state t;
	struct vki_ucontext *context;

	find_marks(tid, room);
	if (!tool_options.native)
		return;
	take_registers(tid, &t);
	context = (struct vki_ucontext *)t.guest.guest_RDX;
	frame.context_at = (PtrdiffT)(t.guest.guest_RDX - t.guest.guest_RSP);
	save_frame(&t, (struct area *)room);
	context->uc_mcontext.fpstate = (void *)room;
	context->uc_flags |= HAS_STATE;
	clear_state(&t);
	t.guest.guest_DFLAG = 1; /* a handler's strings go upwards */
	give_registers(tid, &t);
}

typedef void destroy_frame(ThreadId tid, Bool is_rt);
destroy_frame __real_vgPlain_sigframe_destroy, __wrap_vgPlain_sigframe_destroy;

/* The core has put back the address to which the handler returns. */
static const struct vki_ucontext *context_of(ThreadId tid)
{
	Addr at = VG_(get_SP)(tid) + (Addr)frame.context_at;

	return frame.context_at && can_read(at, sizeof(struct vki_ucontext))
		       ? (const struct vki_ucontext *)at
		       : NULL;
}

static void destroy(ThreadId tid, Bool is_rt)
{
	const struct vki_ucontext *context = tool_options.native ? context_of(tid) : NULL;
	struct area *from = context ? (struct area *)context->uc_mcontext.fpstate : NULL;
	struct thread_state t;

	__real_vgPlain_sigframe_destroy(tid, is_rt);
	if (!context)
		return;
	take_registers(tid, &t);
	restore_frame(&t, from);
	give_registers(tid, &t);
}

static Bool has_mark(Addr at, UInt mark)
{
	return can_read(at, sizeof(mark)) && *(const UInt *)at == mark;
}

/* Whether the frame is one that the core has made.  What the program has made itself, the
 * kernel would take. */
static Bool is_cores(Addr base)
{
	static Bool said;

	if (frame.is_unmarked)
		return True;
	if (frame.end_at && has_mark(base + (Addr)frame.begin_at, MARK_OF_BEGIN) &&
		has_mark(base + (Addr)frame.end_at, MARK_OF_END))
		return True;
	if (can_read(base, sizeof(Addr) + sizeof(struct vki_ucontext)))
		say_once(&said,
			"cachepeek: the simulated PMU returns (rt_sigreturn) from frames "
			"only that it made for signals: the program gets SIGSEGV; count "
			"it with CACHEPEEK_ENGINE=perf\n");
	return False;
}

void __wrap_vgPlain_sigframe_destroy(ThreadId tid, Bool is_rt)
{
	Addr base = VG_(get_SP)(tid), stack = base + sizeof(Addr);

	if (!is_cores(base)) {
		VG_(set_shadow_regs_area)
		(tid, 0, (PtrdiffT)STATE_OF(guest_RSP), sizeof(stack),
			(const UChar *)&stack);
		VG_(synth_fault)(tid);
		return;
	}
	destroy(tid, is_rt);
}
