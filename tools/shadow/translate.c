/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Translations, in memory that all shadows of a process share: what one has translated
 * the next finds.  A shadow may be killed at any instruction; if that was while code was
 * being changed, the next one throws all of it away.
 *
 * Where a window's bounds are is known before it begins (the program has been there
 * already).  Blocks that contain one of those instructions are left at once when they are
 * entered, and others, which look whether the registers are the same, are executed in
 * their place until the window is over.
 */
#include "tools/shadow/parts.h"

#include "emit.h"

#include <sys/mman.h>

#define CODE (128ul << 20)
#define LOOKING_CODE (4ul << 20) /* the end of it: blocks of one window; before that: */
#define STUBS (8ul << 20)        /* what blocks call */
#define BLOCKS (CODE - LOOKING_CODE - STUBS)
#define MOST_CODE 60000 /* of a block */
#define TABLE (1u << 17)
#define FAST (1u << 14) /* run.S knows */
#define DIVERTED 64
#define JUMP 13

struct fast {
	Addr guest;
	void *code;
};

struct block {
	Addr guest;
	void *code;
	VexGuestExtents extents;
};

/* A block that is left at its entry: what was there before. */
struct diverted {
	UChar *at, was[JUMP];
};

static struct kept {
	UInt changing; /* code is being written now */
	UInt nblocks, ndiverted;
	SizeT used, stubs_used;
	ULong layout;
	struct diverted diverted[DIVERTED];
	struct fast fast[FAST];
	struct block table[TABLE];
} * kept;
static UChar *code;

/* run.S looks there. */
struct fast *shadow_fast __attribute__((visibility("hidden")));

/* Only this shadow's: they are not in the table. */
static struct {
	Bool on;  /* there are bounds */
	Bool now; /* the block that is being translated contains one */
	UInt n;
	SizeT used;
	struct fast blocks[DIVERTED];
} looking;

extern const UChar shadow_chain_slow[], shadow_chain_fast[], shadow_look_up[],
	shadow_assisted[], shadow_diverted[];

/* ---- the beginning ---- */

static void on_failure(void) __attribute__((noreturn));

static void on_failure(void)
{
	shadow_finish(CP_SHADOW_BROKEN, 0, 0);
}

static void on_output(const HChar *text, SizeT size)
{
	(void)text, (void)size; /* of the failure that comes now */
}

/* As the simulated PMU tells Valgrind's core: see cp_sim_core_options. */
static void start_vex(void)
{
	VexControl control;

	LibVEX_default_VexControl(&control);
	control.iropt_register_updates_default = VexRegUpdAllregsAtMemAccess;
	control.guest_chase = False;
	LibVEX_Init(on_failure, on_output, 0, &control);
}

const HChar *translate_start(void)
{
	code = shadow_map(
		CODE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_NORESERVE);
	if (!code)
		return "the system forbids memory that is both writable and executable "
		       "(SELinux: execmem), or there is no memory";
	kept = shadow_map(
		sizeof(*kept), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE);
	if (!kept || !shadow_heap_start())
		return "no memory for translations (is there a limit, `ulimit -v`?)";
	shadow_fast = kept->fast;
	start_vex();
	return NULL;
}

/* At the same places, as there are pointers into them. */
Bool translate_start_again(void)
{
	return shadow_map_again(code, CODE, PROT_READ | PROT_WRITE | PROT_EXEC) &&
	       shadow_map_again(kept, sizeof(*kept), PROT_READ | PROT_WRITE) &&
	       shadow_heap_start_again();
}

/* ---- the table ---- */

static UInt bucket_of(Addr guest)
{
	return (UInt)((guest * 0x9e3779b97f4a7c15ull) >> 47);
}

static struct fast *fast_of(Addr guest)
{
	return &kept->fast[(guest ^ (guest >> 8)) & (FAST - 1)];
}

static void *find_block(Addr guest)
{
	UInt i = bucket_of(guest);

	for (; kept->table[i].guest; i = (i + 1) % TABLE)
		if (kept->table[i].guest == guest)
			return kept->table[i].code;
	return NULL;
}

static void keep_block(Addr guest, void *at, const VexGuestExtents *extents)
{
	UInt i = bucket_of(guest);

	while (kept->table[i].guest)
		i = (i + 1) % TABLE;
	kept->table[i].code = at;
	kept->table[i].extents = *extents;
	kept->table[i].guest = guest;
	kept->nblocks++;
}

void translate_forget_all(void)
{
	kept->changing = 1;
	for (UInt i = 0; i < TABLE && kept->nblocks; i++)
		kept->table[i].guest = 0;
	VG_(memset)(kept->fast, 0, sizeof(kept->fast));
	kept->nblocks = kept->ndiverted = looking.n = 0;
	kept->used = kept->stubs_used = looking.used = 0;
	shadow_heap_empty();
	kept->changing = 0;
}

UChar *translate_room(SizeT size)
{
	UChar *at = code + BLOCKS + kept->stubs_used;

	size = (size + 15) & ~15ul;
	if (kept->stubs_used + size > STUBS)
		return NULL;
	kept->stubs_used += size;
	return at;
}

/* ---- where the window's bounds are ---- */

static Addr code_of(UInt bound)
{
	return shadow_plan.shared->bound[bound].reg[CP_SHADOW_CODE];
}

static Bool contains(const VexGuestExtents *extents, Addr a)
{
	for (UInt i = 0; i < extents->n_used; i++)
		if (a >= extents->base[i] && a < extents->base[i] + extents->len[i])
			return True;
	return False;
}

static Bool contains_bound(const VexGuestExtents *extents)
{
	for (UInt bound = 0; bound < CP_SHADOW_NBOUNDS; bound++)
		if (contains(extents, code_of(bound)))
			return True;
	return False;
}

/* movabs $shadow_diverted, %r11; jmp *%r11 */
static void divert(UChar *at)
{
	struct diverted *d = &kept->diverted[kept->ndiverted];
	UChar jump[JUMP] = {0x49, 0xbb, [10] = 0x41, 0xff, 0xe3};
	const UChar *to = shadow_diverted;

	if (kept->ndiverted == DIVERTED)
		shadow_finish(CP_SHADOW_BROKEN, 0, 0);
	VG_(memcpy)(jump + 2, &to, sizeof(to));
	d->at = at;
	VG_(memcpy)(d->was, at, JUMP);
	kept->changing = 1;
	kept->ndiverted++;
	VG_(memcpy)(at, jump, JUMP);
	kept->changing = 0;
}

static void undo_diversions(void)
{
	kept->changing = 1;
	for (UInt i = kept->ndiverted; i-- > 0;)
		VG_(memcpy)(kept->diverted[i].at, kept->diverted[i].was, JUMP);
	kept->ndiverted = 0;
	kept->changing = 0;
}

void translate_look(void)
{
	Int check = LibVEX_evCheckSzB(VexArchAMD64);

	looking.on = True;
	for (UInt i = 0; i < TABLE; i++) {
		struct block *b = &kept->table[i];

		if (!b->guest || !contains_bound(&b->extents))
			continue;
		divert((UChar *)b->code + check);
		fast_of(b->guest)->guest = 0;
	}
}

static void *find_looking(Addr guest)
{
	for (UInt i = 0; i < looking.n; i++)
		if (looking.blocks[i].guest == guest)
			return looking.blocks[i].code;
	return NULL;
}

static Bool is_looking(Addr guest)
{
	return find_looking(guest) != NULL;
}

/* Statements from that one on come to be before that other one. */
static void move_before(IRSB *out, Int from, Int at)
{
	for (; from < out->stmts_used; from++, at++) {
		IRStmt *s = out->stmts[from];

		for (Int i = from; i > at; i--)
			out->stmts[i] = out->stmts[i - 1];
		out->stmts[at] = s;
	}
}

/* A call that sees all registers as they are before the instruction, and is made where
 * they may be the same: in a loop of a few instructions most turns make none.  Returns
 * how many statements that takes. */
static Int look_before(IRSB *out, Int at, UInt bound)
{
	Int from = out->stmts_used;
	IRDirty *d = unsafeIRDirty_0_N(
		1, "passed", (void *)shadow_passed, mkIRExprVec_1(emit_constant(bound)));

	d->guard = registers_may_be(out, &shadow_plan.shared->bound[bound]);
	d->nFxState = 1;
	d->fxState[0].fx = Ifx_Read;
	d->fxState[0].offset = __builtin_offsetof(VexGuestAMD64State, guest_RAX);
	d->fxState[0].size = 16 * 8;
	d->fxState[0].nRepeats = 0;
	d->fxState[0].repeatLen = 0;
	addStmtToIRSB(out, IRStmt_Dirty(d));
	move_before(out, from, at);
	return out->stmts_used - from;
}

/* Stubs of patched functions, which keep all registers, are not in it. */
static Bool is_library(Addr code)
{
	return code >= (Addr)shadow_plan.own[0].begin &&
	       code < (Addr)shadow_plan.own[0].end;
}

/* At the end of a function of the library. */
static void forget_at_return(IRSB *out)
{
	IRDirty *d = unsafeIRDirty_0_N(
		1, "forget", (void *)registers_forget, mkIRExprVec_1(out->next));

	d->nFxState = 1;
	d->fxState[0].fx = Ifx_Modify;
	d->fxState[0].offset = __builtin_offsetof(VexGuestAMD64State, guest_RAX);
	d->fxState[0].size = 16 * 8;
	d->fxState[0].nRepeats = 0;
	d->fxState[0].repeatLen = 0;
	addStmtToIRSB(out, IRStmt_Dirty(d));
}

/* The last one first: a window does not end where it begins.  Returns how many statements
 * that takes. */
static Int look_at(IRSB *out, Int mark)
{
	Addr instruction = out->stmts[mark]->Ist.IMark.addr;
	Int added = 0;

	for (UInt bound = CP_SHADOW_NBOUNDS; bound-- > 0;) {
		if (instruction != code_of(bound))
			continue;
		looking.now = True;
		added += look_before(out, mark + 1 + added, bound);
	}
	return added;
}

/* What the host executes is behind the block that VEX knew of when it chose its checks:
 * looking.now may be found out here alone. */
static IRSB *instrument_block(void *closure, IRSB *in, const VexGuestLayout *layout,
	const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
	IRType host_word)
{
	IRSB *out = instrument(closure, in, layout, extents, host, guest_word, host_word);

	if (out->jumpkind == Ijk_Ret && is_library(extents->base[0]))
		forget_at_return(out);
	for (Int i = 0; looking.on && i < out->stmts_used; i++)
		if (out->stmts[i]->tag == Ist_IMark)
			i += look_at(out, i);
	return out;
}

/* ---- translation ---- */

static Bool never(void *closure, Addr a)
{
	(void)closure, (void)a;
	return False;
}

/* Also the moment where it is known what the block contains. */
static UInt choose_checks(
	void *closure, VexRegisterUpdates *updates, const VexGuestExtents *extents)
{
	UInt checks = 0;

	(void)closure;
	looking.now = looking.on && contains_bound(extents);
	if (looking.now)
		*updates = VexRegUpdAllregsAtEachInsn;
	for (UInt i = 0; i < extents->n_used; i++)
		if (memory_may_change(extents->base[i]))
			checks |= 1u << i;
	return checks;
}

static UInt capabilities(void)
{
	UInt caps =
		VEX_HWCAPS_AMD64_SSE3 | VEX_HWCAPS_AMD64_CX16 | VEX_HWCAPS_AMD64_RDTSCP;

	if (__builtin_cpu_supports("ssse3"))
		caps |= VEX_HWCAPS_AMD64_SSSE3;
	if (__builtin_cpu_supports("avx"))
		caps |= VEX_HWCAPS_AMD64_AVX;
	if (__builtin_cpu_supports("avx2"))
		caps |= VEX_HWCAPS_AMD64_AVX2 | VEX_HWCAPS_AMD64_BMI |
			VEX_HWCAPS_AMD64_LZCNT | VEX_HWCAPS_AMD64_F16C;
	return caps;
}

static void describe(VexTranslateArgs *args, Addr guest)
{
	VG_(memset)(args, 0, sizeof(*args));
	args->arch_guest = args->arch_host = VexArchAMD64;
	LibVEX_default_VexArchInfo(&args->archinfo_guest);
	args->archinfo_guest.endness = VexEndnessLE;
	args->archinfo_guest.hwcaps = capabilities();
	args->archinfo_host = args->archinfo_guest;
	LibVEX_default_VexAbiInfo(&args->abiinfo_both);
	args->abiinfo_both.guest_stack_redzone_size = 128;
	args->abiinfo_both.guest_amd64_assume_fs_is_const = True;
	args->abiinfo_both.guest_amd64_assume_gs_is_const = True;
	args->guest_bytes = (const UChar *)guest;
	args->guest_bytes_addr = guest;
	args->chase_into_ok = never;
	args->instrument1 = instrument_block;
	args->needs_self_check = choose_checks;
	args->disp_cp_chain_me_to_slowEP = shadow_chain_slow;
	args->disp_cp_chain_me_to_fastEP = shadow_chain_fast;
	args->disp_cp_xindir = shadow_look_up;
	args->disp_cp_xassisted = shadow_assisted;
}

/* Code has no addresses of its own in it until it is chained: blocks that look are moved
 * to where this window's are. */
static void *remember(Addr guest, void *at, SizeT size, const VexGuestExtents *extents)
{
	if (!looking.now) {
		kept->used += size;
		keep_block(guest, at, extents);
		return at;
	}
	if (looking.n == DIVERTED)
		shadow_finish(CP_SHADOW_BROKEN, 0, guest);
	at = VG_(memcpy)(code + CODE - LOOKING_CODE + looking.used, at, size);
	looking.used += size;
	looking.blocks[looking.n++] = (struct fast){guest, at};
	return at;
}

static void *translate_new(Addr guest)
{
	VexTranslateArgs args;
	VexTranslateResult result;
	VexGuestExtents extents;
	Int used = 0;
	void *at;

	if (kept->used + MOST_CODE > BLOCKS || kept->nblocks > TABLE / 2 ||
		looking.used + MOST_CODE > LOOKING_CODE)
		shadow_finish(CP_SHADOW_BROKEN, 1, guest);
	describe(&args, guest);
	at = args.host_bytes = code + kept->used;
	args.host_bytes_size = MOST_CODE;
	args.host_bytes_used = &used;
	args.guest_extents = &extents;
	result = LibVEX_Translate(&args);
	if (result.status != VexTransOK)
		shadow_finish(CP_SHADOW_BROKEN, 2, guest);
	return remember(guest, at, ((SizeT)used + 31) & ~31ul, &extents);
}

void *translate(Addr guest)
{
	void *at = find_looking(guest);

	if (at)
		return at;
	at = find_block(guest);
	/* Diverted: it is in the table, and not to be executed in this window. */
	if (at && looking.on)
		for (UInt i = 0; i < kept->ndiverted; i++)
			if (kept->diverted[i].at ==
				(UChar *)at + LibVEX_evCheckSzB(VexArchAMD64))
				at = NULL;
	if (!at)
		at = translate_new(guest);
	if (!is_looking(guest))
		*fast_of(guest) = (struct fast){guest, at};
	return at;
}

void translate_chain(Addr place, const void *entry, void *to, Bool fast)
{
	Addr own = (Addr)code + CODE - LOOKING_CODE;

	/* Kept code does not lead to code that is not kept. */
	if ((Addr)to >= own && place < own)
		return;
	kept->changing = 1;
	LibVEX_Chain(VexArchAMD64, VexEndnessLE, (void *)place, entry,
		(UChar *)to + (fast ? LibVEX_evCheckSzB(VexArchAMD64) : 0));
	kept->changing = 0;
}

Bool translate_owns(Addr a)
{
	return (a >= (Addr)code && a < (Addr)code + CODE) ||
	       (a >= (Addr)kept && a < (Addr)(kept + 1)) || shadow_heap_has(a);
}

/* ---- of a window ---- */

void translate_begin(ULong layout)
{
	if (kept->changing || layout != kept->layout || kept->used > BLOCKS / 4 * 3 ||
		kept->stubs_used > STUBS / 4 * 3 || kept->nblocks > TABLE / 8 * 3)
		translate_forget_all();
	undo_diversions();
	kept->layout = layout;
}

void translate_end(void)
{
	undo_diversions();
}
