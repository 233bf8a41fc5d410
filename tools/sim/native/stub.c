/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/stub.h"

#include "memory.h"
#include "native/assembler.h"
#include "native/mxcsr.h"
#include "native/upper.h"

enum { RAX, RCX, RDX, R8 = 8 };

/* --- Registers --- */

/* An upper half that is not live is 0, as loading the lower one leaves it.  Legacy
 * instructions take twenty times as long where there is something above 128 bits. */
static void load_vector(struct assembler *to, UInt reg, Bool wide, const struct native *n)
{
	UInt skip;

	if (n->form == FORM_LEGACY) {
		asm_xmm(to, ASM_LOAD, reg, state_ymm(reg));
		return;
	}
	if (reg >= 16) {
		asm_zmm(to, ASM_LOAD, reg, state_zmm(reg));
		return;
	}
	asm_ymm(to, ASM_LOAD, reg, state_ymm(reg));
	if (!wide)
		return;
	asm_test(to, (UInt)SIDE_OF(live), 1u << reg);
	skip = asm_skip_if_equal(to);
	asm_load_upper(to, reg, state_upper(reg));
	asm_land(to, skip);
}

/* Legacy instructions keep what is above the lowest 128 bits, others clear what is above
 * their own vectors: nothing is there before a program uses it. */
static void store_vector(struct assembler *to, UInt reg, const struct native *n)
{
	if (reg >= 16) {
		asm_zmm(to, ASM_STORE, reg, state_zmm(reg));
		return;
	}
	if (n->form == FORM_LEGACY) {
		asm_xmm(to, ASM_STORE, reg, state_ymm(reg));
		return;
	}
	asm_ymm(to, ASM_STORE, reg, state_ymm(reg));
	if (n->shape->wide) {
		asm_store_upper(to, reg, state_upper(reg));
		asm_constant(to, ASM_OR, (UInt)SIDE_OF(live), 1u << reg);
	} else if (upper_is_used()) {
		asm_constant(to, ASM_AND, (UInt)SIDE_OF(live), ~(1u << reg));
	}
}

static void load_field(struct assembler *to, UInt field, UInt number, UInt general,
	const struct native *n)
{
	if (field == FIELD_VECTOR)
		load_vector(to, number, n->shape->wide, n);
	else if (field == FIELD_MASK)
		asm_mask(to, ASM_LOAD_MASK, number, state_mask(number));
	else if (field == FIELD_GENERAL)
		asm_general(to, ASM_LOAD_GENERAL, general, state_general(number));
}

/* VP2INTERSECT writes two: the field's lowest bit says nothing. */
static void store_mask(struct assembler *to, UInt number, const struct native *n)
{
	asm_mask(to, ASM_STORE_MASK, number, state_mask(number));
	if (n->shape->feature == FEATURE_AVX512VP2INTERSECT)
		asm_mask(to, ASM_STORE_MASK, number ^ 1, state_mask(number ^ 1));
}

static void store_field(struct assembler *to, UInt field, UInt number, UInt general,
	const struct native *n)
{
	if (field == FIELD_VECTOR)
		store_vector(to, number, n);
	else if (field == FIELD_MASK)
		store_mask(to, number, n);
	else if (field == FIELD_GENERAL)
		asm_general(to, ASM_STORE_GENERAL, general, state_general(number));
}

static void move_implicit(struct assembler *to, UInt opcode, UInt which)
{
	for (UInt reg = RAX; reg <= RDX; reg++)
		if (which >> reg & 1)
			asm_general(to, opcode, reg, state_general(reg));
}

static void load_all(struct assembler *to, const struct native *n)
{
	const struct native_shape *s = n->shape;

	load_field(to, s->reg, n->reg, RCX, n);
	load_field(to, s->vvvv, n->vvvv, RDX, n);
	if (!n->address.used)
		load_field(to, s->rm, n->rm, RAX, n);
	if (s->index)
		load_vector(to, (UInt)n->address.index, s->index_wide, n);
	if ((s->implicit_reads | s->implicit_writes) & IMPLICIT_XMM0)
		load_vector(to, 0, False, n);
	move_implicit(to, ASM_LOAD_GENERAL, s->implicit_reads);
	if (n->mask)
		asm_mask(to, ASM_LOAD_MASK, n->mask, state_mask(n->mask));
}

static void store_all(struct assembler *to, const struct native *n)
{
	const struct native_shape *s = n->shape;

	if (s->writes & WRITES_REG)
		store_field(to, s->reg, n->reg, RCX, n);
	if (s->writes & WRITES_VVVV)
		store_field(to, s->vvvv, n->vvvv, RDX, n);
	if (s->writes & WRITES_RM && !n->address.used)
		store_field(to, s->rm, n->rm, RAX, n);
	if (s->implicit_writes & IMPLICIT_XMM0)
		store_vector(to, 0, n);
	move_implicit(to, ASM_STORE_GENERAL, s->implicit_writes);
	if (s->writes & WRITES_MASK && n->mask)
		asm_mask(to, ASM_STORE_MASK, n->mask, state_mask(n->mask));
}

/* To VEX, flags that are copied: CC_OP 0 has them in CC_DEP1. */
static void store_flags(struct assembler *to)
{
	/* pushf; pop %r8; and $OF|SF|ZF|AF|PF|CF, %r8d */
	ASM(to, "\x9c\x41\x58\x41\x81\xe0\xd5\x08\x00\x00");
	asm_general(to, ASM_STORE_GENERAL, R8, (UInt)STATE_OF(guest_CC_DEP1));
	ASM(to, "\x45\x31\xc0"); /* xor %r8d, %r8d */
	asm_general(to, ASM_STORE_GENERAL, R8, (UInt)STATE_OF(guest_CC_OP));
	asm_general(to, ASM_STORE_GENERAL, R8, (UInt)STATE_OF(guest_CC_DEP2));
	asm_general(to, ASM_STORE_GENERAL, R8, (UInt)STATE_OF(guest_CC_NDEP));
}

/* --- MXCSR --- */

static void asm_mxcsr(struct assembler *to, UInt opcode)
{
	asm_byte(to, opcode);
	asm_state(to, RAX, (UInt)SIDE_OF(mxcsr));
}

enum { FROM_STATE = 0x8b, TO_STATE = 0x89, OR_FROM_STATE = 0x0b, OR_TO_STATE = 0x09 };

/* The flags raised by now, in %eax. */
static void load_flags_raised(struct assembler *to)
{
	/* push %rax; stmxcsr (%rsp); pop %rax; and $0x3f, %eax */
	ASM(to, "\x50\x0f\xae\x1c\x24\x58\x83\xe0\x3f");
}

/* %eax to the host's. */
static void load_mxcsr(struct assembler *to)
{
	/* push %rax; ldmxcsr (%rsp); pop %rax */
	ASM(to, "\x50\x0f\xae\x14\x24\x58");
}

/* Makes of %eax the MXCSR that VEX's code runs with: the program's FTZ and DAZ. */
static void load_mxcsr_for_vex(struct assembler *to)
{
	asm_byte(to, 0x25); /* and, %eax */
	asm_word(to, mxcsr.hosted & MXCSR_FLUSH);
	asm_byte(to, 0x0d); /* or, %eax */
	asm_word(to, MXCSR_USUAL);
	load_mxcsr(to);
}

static UInt skip_unless_other(struct assembler *to)
{
	asm_test(to, (UInt)SIDE_OF(mxcsr), 0xffff & ~mxcsr.hosted);
	return asm_skip_if_equal(to);
}

static void set_mxcsr(struct assembler *to)
{
	UInt skip = skip_unless_other(to);

	load_flags_raised(to);
	asm_mxcsr(to, OR_FROM_STATE);
	asm_mxcsr(to, TO_STATE);
	asm_byte(to, 0x35); /* xor, %eax */
	asm_word(to, MXCSR_USUAL);
	load_mxcsr(to);
	asm_land(to, skip);
}

static void reset_mxcsr(struct assembler *to)
{
	UInt skip = skip_unless_other(to);

	load_flags_raised(to);
	asm_mxcsr(to, OR_TO_STATE);
	asm_mxcsr(to, FROM_STATE);
	load_mxcsr_for_vex(to);
	asm_land(to, skip);
}

/* LDMXCSR is executed, and may fault; then the host's is made what VEX's code needs. */
static void assemble_load_mxcsr(struct assembler *to)
{
	/* ldmxcsr (%rsi); mov (%rsi), %eax; xor $0x1f80, %eax */
	ASM(to, "\x0f\xae\x16\x8b\x06\x35\x80\x1f\x00\x00");
	asm_mxcsr(to, TO_STATE);
	/* mov (%rsi), %eax; shr $13, %eax; and $3, %eax */
	ASM(to, "\x8b\x06\xc1\xe8\x0d\x83\xe0\x03");
	asm_general(to, ASM_STORE_GENERAL, RAX, (UInt)STATE_OF(guest_SSEROUND));
	ASM(to, "\x8b\x06");
	load_mxcsr_for_vex(to);
}

static void assemble_store_mxcsr(struct assembler *to)
{
	load_flags_raised(to);
	asm_mxcsr(to, OR_TO_STATE);
	asm_mxcsr(to, FROM_STATE);
	/* xor $0x1f80, %eax; mov %eax, (%rsi) */
	ASM(to, "\x35\x80\x1f\x00\x00\x89\x06");
}

/* --- The stub --- */

/* Then it may round, even if it converts from memory to a general register. */
static Bool has_vectors(const struct native *n)
{
	const struct native_shape *s = n->shape;

	return n->form == FORM_EVEX || s->reg == FIELD_VECTOR ||
	       s->vvvv == FIELD_VECTOR || s->rm == FIELD_VECTOR || s->index ||
	       s->implicit_reads & IMPLICIT_XMM0 ||
	       (s->reg == FIELD_GENERAL &&
		       (s->feature == FEATURE_SSE || s->feature == FEATURE_SSE2 ||
			       s->feature == FEATURE_AVX));
}

static void assemble_usual(struct assembler *to, const struct native *n)
{
	Bool vectors = has_vectors(n);

	if (vectors)
		set_mxcsr(to);
	load_all(to, n);
	asm_bytes(to, n->code, n->ncode);
	if (n->shape->writes & WRITES_FLAGS)
		store_flags(to);
	store_all(to, n);
	if (vectors) {
		reset_mxcsr(to);
		ASM(to, "\xc5\xf8\x77"); /* vzeroupper */
	}
}

static void assemble_stub(struct assembler *to, const struct native *n)
{
	const UChar *code = (const UChar *)n->pc;

	to->n = 0;
	if (mxcsr_is_load(code, n->length))
		assemble_load_mxcsr(to);
	else if (mxcsr_is_store(code, n->length))
		assemble_store_mxcsr(to);
	else
		assemble_usual(to, n);
	asm_byte(to, 0xc3); /* ret */
}

/* --- Keeping --- */

#define CHUNK (1u << 20)
#define BUCKETS 4096
struct kept {
	struct kept *next;
	UChar *at;
	UInt size;
};

/* Executable, as all of the core's memory. */
static UChar *take_room(UInt size)
{
	static UChar *chunk;
	static UInt used = CHUNK;

	if (used + size > CHUNK) {
		chunk = valgrind_alloc(CHUNK);
		used = 0;
	}
	if (!chunk)
		return NULL;
	used += (size + 15) & ~15u;
	return chunk + used - ((size + 15) & ~15u);
}

static UInt hash_code(const struct assembler *a)
{
	UInt h = 5381;

	for (UInt i = 0; i < a->n; i++)
		h = h * 33 ^ a->bytes[i];
	return h % BUCKETS;
}

static void *keep_stub(const struct assembler *a)
{
	static struct kept *buckets[BUCKETS];
	struct kept **first = &buckets[hash_code(a)], *k;

	for (k = *first; k; k = k->next)
		if (k->size == a->n && VG_(memcmp)(k->at, a->bytes, a->n) == 0)
			return k->at;
	k = VG_(malloc)("cachepeek.stub", sizeof(*k));
	*k = (struct kept){*first, take_room(a->n), a->n};
	if (!k->at) {
		VG_(free)(k);
		return NULL;
	}
	VG_(memcpy)(k->at, a->bytes, a->n);
	*first = k;
	return k->at;
}

void *native_stub(const struct native *n)
{
	static struct assembler a;

	assemble_stub(&a, n);
	return keep_stub(&a);
}
