/* SPDX-License-Identifier: MIT
 *
 * An instruction is four bytes, as a jump is: a patch takes one, and nothing can jump
 * into it.
 */
#include "preload/patch/plan.h"

#include <string.h>

#include "preload/patch/jumps.h"

#define STACK_POINTER 31
#define LINK 30
#define FARTHEST 64 /* instructions up to where the return address is saved */

#define NOP 0xd503201fu
#define PACIASP 0xd503233fu
#define PACIBSP 0xd503237fu
#define AUTIASP 0xd50323bfu
#define AUTIBSP 0xd50323ffu
#define BRANCH 0x14000000u

static uint32_t word_at(uintptr_t at)
{
	uint32_t word;

	memcpy(&word, (const void *)at, sizeof(word));
	return word;
}

/* The bits of a word from low on, as a number with a sign. */
static int64_t signed_bits(uint32_t word, unsigned low, unsigned count)
{
	return (int64_t)((uint64_t)word << (64 - low - count)) >> (64 - count);
}

static uint32_t bits_of(uint32_t word, unsigned low, unsigned count)
{
	return word >> low & ((1u << count) - 1);
}

/* ---- instructions that are relative to their place ---- */

enum kind {
	PLAIN,
	JUMP,
	CALL,
	CALL_REGISTER,
	CONDITION_19, /* branches, with so many bits of distance */
	CONDITION_14,
	ADDRESS, /* adr, adrp */
	LITERAL, /* ldr of what is near */
	PREFETCH,
	FIXED,
	UNKNOWN,
};

static const struct form {
	uint32_t mask, value;
	enum kind kind;
} forms[] = {
	{0xffff0000, 0x00000000, UNKNOWN}, /* udf */
	{0xfc000000, 0x14000000, JUMP}, {0xfc000000, 0x94000000, CALL},
	{0xfffffc1f, 0xd63f0000, CALL_REGISTER},
	{0xfefff800, 0xd63f0800, FIXED},        /* calls that check a signature */
	{0xff000000, 0x54000000, CONDITION_19}, /* b.cond, bc.cond */
	{0x7e000000, 0x34000000, CONDITION_19}, /* cbz, cbnz */
	{0x7e000000, 0x36000000, CONDITION_14}, /* tbz, tbnz */
	{0x1f000000, 0x10000000, ADDRESS}, {0xff000000, 0xd8000000, PREFETCH},
	{0x3b000000, 0x18000000, LITERAL},
	{0xfffff800, 0xd71f0800, PLAIN}, /* braa: does not come back */
};

static enum kind kind_of(uint32_t word)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if ((word & forms[i].mask) == forms[i].value)
			return forms[i].kind;
	return PLAIN;
}

/* A branch's; 0: it is none. */
static uintptr_t target_of(uintptr_t at)
{
	uint32_t word = word_at(at);

	switch (kind_of(word)) {
	case JUMP:
	case CALL:
		return at + (uintptr_t)(signed_bits(word, 0, 26) * 4);
	case CONDITION_19:
		return at + (uintptr_t)(signed_bits(word, 5, 19) * 4);
	case CONDITION_14:
		return at + (uintptr_t)(signed_bits(word, 5, 14) * 4);
	default:
		return 0;
	}
}

/* ---- where the return address is saved ---- */

/* Instructions that move the stack pointer, by a number that they have. */
static int64_t move_of(uint32_t word)
{
	static const struct {
		uint32_t mask, value;
		unsigned low, count, scale;
	} moves[] = {
		{0xffe00fe0, 0xf8000fe0, 12, 9, 1},  /* str x, [sp, #n]! */
		{0xffe00fe0, 0xfc000fe0, 12, 9, 1},  /* of d */
		{0xffc003e0, 0xa98003e0, 15, 7, 8},  /* stp x, x, [sp, #n]! */
		{0xffc003e0, 0x6d8003e0, 15, 7, 8},  /* of d */
		{0xffc003e0, 0xad8003e0, 15, 7, 16}, /* of q */
	};
	int64_t by = (int64_t)bits_of(word, 10, 12) << (word & 1u << 22 ? 12 : 0);

	if ((word & 0xff8003ff) == 0xd10003ff)
		return -by;
	if ((word & 0xff8003ff) == 0x910003ff)
		return by;
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
		if ((word & moves[i].mask) == moves[i].value)
			return signed_bits(word, moves[i].low, moves[i].count) *
			       moves[i].scale;
	return 0;
}

/* Does it save the return address, and how far above the stack pointer, as that is then?
 */
static bool saves_address(uint32_t word, int64_t *above)
{
	uint32_t pair = word & 0xffc003e0;

	*above = 0;
	if ((word & 0xffe00fff) == 0xf8000ffe) /* str x30, [sp, #n]! */
		return true;
	if ((word & 0xffc003ff) == 0xf90003fe) { /* str x30, [sp, #n] */
		*above = (int64_t)bits_of(word, 10, 12) * 8;
		return true;
	}
	if (pair != 0xa98003e0 && pair != 0xa90003e0)
		return false;
	if (pair == 0xa90003e0)
		*above = signed_bits(word, 15, 7) * 8;
	if (bits_of(word, 0, 5) == LINK)
		return true;
	*above += 8;
	return bits_of(word, 10, 5) == LINK;
}

/* The first place where that is done, as compilers write it. */
static int32_t find_saved(const struct cp_code *code)
{
	uintptr_t end = code->size ? code->address + code->size : code->end;
	int64_t moved = 0, above;

	if (end > code->end)
		end = code->end;
	for (unsigned i = 0; i < FARTHEST && code->address + 4 * i + 4 <= end; i++) {
		uint32_t word = word_at(code->address + 4ul * i);

		moved += move_of(word);
		if (saves_address(word, &above))
			return (int32_t)(moved + above) + 8;
	}
	return CP_SAVED_NOWHERE;
}

/* ---- what is patched ---- */

static bool is_mark_of_entry(uint32_t word)
{
	return (word & 0xffffff3f) == 0xd503241f; /* bti, and what it allows */
}

static bool is_signing(uint32_t word)
{
	return word == PACIASP || word == PACIBSP;
}

/* The return address is not signed there any more, or never was. */
static bool is_jumped_to(const struct cp_code *code, const struct cp_plan *plan)
{
	uintptr_t end = code->size ? code->address + code->size : code->end;

	for (uintptr_t at = code->address; at + 4 <= end && at + 4 <= code->end; at += 4)
		if (target_of(at) == plan->at)
			return true;
	return false;
}

static enum cp_patch_why can_move(uint32_t word)
{
	switch (kind_of(word)) {
	case FIXED:
		return CP_PATCH_FIXED;
	case UNKNOWN:
		return CP_PATCH_UNKNOWN;
	case CALL_REGISTER: /* x30 has its own return address by then */
		return bits_of(word, 5, 5) == LINK ? CP_PATCH_FIXED : CP_PATCH_DONE;
	default:
		return CP_PATCH_DONE;
	}
}

/* It is changed behind the mark, which indirect calls have to find. */
enum cp_patch_why cp_plan_make(const struct cp_code *code, struct cp_plan *plan)
{
	plan->at = code->address;
	plan->replaced = CP_JUMP_SIZE;
	if (code->address % 4)
		return CP_PATCH_UNKNOWN;
	if (plan->at + 8 <= code->end && is_mark_of_entry(word_at(plan->at)))
		plan->at += 4;
	plan->is_signed = plan->at + 8 <= code->end && is_signing(word_at(plan->at));
	if (plan->is_signed)
		plan->at += 4;
	if (plan->at + 4 > code->end ||
		(code->size && plan->at + 4 > code->address + code->size))
		return CP_PATCH_SHORT;
	if (plan->is_signed && is_jumped_to(code, plan))
		return CP_PATCH_TARGET;
	plan->saved_at = find_saved(code);
	return can_move(word_at(plan->at));
}

/* Nobody jumps into one instruction. */
void cp_find_jumps(const struct dl_phdr_info *info, struct cp_target *targets,
	size_t count, struct cp_store *store)
{
	(void)info;
	(void)targets;
	(void)count;
	(void)store;
}

/* ---- the code that takes its place ---- */

#define MOST_LITERALS 4

/* Literals are behind the code: until all of it is there, loads know only which. */
struct output {
	uint8_t *to;
	size_t size;
	uintptr_t address;
	bool far;
	unsigned nliterals;
	struct {
		size_t load;
		uint8_t bytes[16];
	} literals[MOST_LITERALS];
};

static void put_word(struct output *out, uint32_t word)
{
	memcpy(out->to + out->size, &word, sizeof(word));
	out->size += sizeof(word);
}

static bool branch_to(uintptr_t from, uintptr_t to, uint32_t *word)
{
	int64_t way = (int64_t)(to - from);

	*word = BRANCH | ((uint32_t)(way / 4) & 0x3ffffff);
	return way >= -(1 << 27) && way < 1 << 27;
}

static void put_branch(struct output *out, uintptr_t target)
{
	uint32_t word;

	if (!branch_to(out->address + out->size, target, &word))
		out->far = true;
	put_word(out, word);
}

/* A load of a literal, whose distance is added later. */
static void put_load(struct output *out, uint32_t load, const void *bytes, size_t size)
{
	unsigned i = out->nliterals++;

	out->literals[i].load = out->size;
	memset(out->literals[i].bytes, 0, sizeof(out->literals[i].bytes));
	memcpy(out->literals[i].bytes, bytes, size);
	put_word(out, load);
}

/* ldr x, =value */
static void put_value(struct output *out, unsigned into, uintptr_t value)
{
	put_load(out, 0x58000000 | into, &value, sizeof(value));
}

static void put_literals(struct output *out)
{
	while (out->size % 16)
		put_word(out, NOP);
	for (unsigned i = 0; i < out->nliterals; i++) {
		size_t load = out->literals[i].load;
		uint32_t word = word_at((uintptr_t)out->to + load) |
				(uint32_t)((out->size - load) / 4) << 5;

		memcpy(out->to + load, &word, sizeof(word));
		memcpy(out->to + out->size, out->literals[i].bytes,
			sizeof(out->literals[i].bytes));
		out->size += sizeof(out->literals[i].bytes);
	}
}

/* With its condition it goes over the jump that goes on. */
static void put_condition(
	struct output *out, uint32_t word, uintptr_t from, unsigned count)
{
	uint32_t distance = ((1u << count) - 1) << 5;

	put_word(out, (word & ~distance) | 2u << 5);
	put_branch(out, from + 4);
	put_branch(out, target_of(from));
}

static uintptr_t address_of(uint32_t word, uintptr_t from)
{
	int64_t distance = signed_bits(word, 5, 19) * 4 + bits_of(word, 29, 2);

	if (word >> 31)
		return (from & ~0xffful) + (uintptr_t)(distance * 4096);
	return from + (uintptr_t)distance;
}

/* Memory that a general register points to may have been relocated, or have changed; of
 * vector registers there is none to have the address in, but they are constants. */
static void put_literal(struct output *out, uint32_t word, uintptr_t from)
{
	uintptr_t at = from + (uintptr_t)(signed_bits(word, 5, 19) * 4);
	unsigned into = bits_of(word, 0, 5), what = bits_of(word, 30, 2);
	static const uint32_t loads[] = {0xb9400000, 0xf9400000, 0xb9800000};

	if (word & 1u << 26) {
		put_load(out, word & ~(((1u << 19) - 1) << 5), (const void *)at,
			(size_t)4 << what);
	} else if (into == STACK_POINTER) { /* here the register that is zero */
		put_word(out, NOP);
	} else {
		put_value(out, into, at);
		put_word(out, loads[what] | into << 5 | into);
	}
}

static void put_moved(struct output *out, uint32_t word, uintptr_t from)
{
	switch (kind_of(word)) {
	case JUMP:
		put_branch(out, target_of(from));
		break;
	case CALL: /* which returns to where it stood */
		put_value(out, LINK, from + 4);
		put_branch(out, target_of(from));
		break;
	case CALL_REGISTER:
		put_value(out, LINK, from + 4);
		put_word(out, word & ~(1u << 21)); /* br */
		break;
	case CONDITION_19:
		put_condition(out, word, from, 19);
		break;
	case CONDITION_14:
		put_condition(out, word, from, 14);
		break;
	case ADDRESS:
		put_value(out, bits_of(word, 0, 5), address_of(word, from));
		break;
	case LITERAL:
		put_literal(out, word, from);
		break;
	case PREFETCH:
		break;
	default:
		put_word(out, word);
	}
}

/* stubs.S takes it from there. */
static void put_enter(struct output *out, uint32_t number, uintptr_t enter)
{
	uintptr_t code;

	memcpy(&code, (const void *)enter, sizeof(code));
	put_word(out, 0xa9bf7bfd); /* stp x29, x30, [sp, #-16]! */
	put_word(out, 0xa9bf47f0); /* stp x16, x17, [sp, #-16]! */
	put_value(out, 16, code);
	put_value(out, 17, number);
	put_word(out, 0xd63f0200); /* blr x16 */
	put_word(out, 0xa8c147f0); /* ldp x16, x17, [sp], #16 */
	put_word(out, 0xa8c17bfd); /* ldp x29, x30, [sp], #16 */
}

size_t cp_plan_build(const struct cp_plan *plan, uint32_t number, uintptr_t enter,
	uintptr_t address, uint8_t to[CP_TRAMPOLINE_SIZE])
{
	struct output out = {.to = to, .address = address};
	uint32_t before = plan->is_signed ? word_at(plan->at - 4) : 0;

	/* The address that takes its place is signed as its own. */
	if (plan->is_signed)
		put_word(&out, before == PACIASP ? AUTIASP : AUTIBSP);
	put_enter(&out, number, enter);
	if (plan->is_signed)
		put_word(&out, before);
	put_moved(&out, word_at(plan->at), plan->at);
	put_branch(&out, plan->at + 4);
	put_literals(&out);
	return out.far ? 0 : out.size;
}

bool cp_plan_jump(
	const struct cp_plan *plan, uintptr_t trampoline, uint8_t to[CP_JUMP_SIZE])
{
	uint32_t word;
	bool reaches = branch_to(plan->at, trampoline, &word);

	memcpy(to, &word, sizeof(word));
	return reaches;
}
