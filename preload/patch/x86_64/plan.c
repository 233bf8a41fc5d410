/* SPDX-License-Identifier: MIT */
#include "preload/patch/plan.h"

#include <string.h>

#include "preload/patch/x86_64/frame.h"
#include "preload/patch/x86_64/decode.h"

#define SHORT_REACH 128 /* of a jump with one byte */

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

static struct cp_instruction instruction_at(uintptr_t at, uintptr_t end)
{
	return cp_decode((const uint8_t *)at, end - at, at);
}

/* ---- what a jump would overwrite ---- */

static enum cp_patch_why can_move(const struct cp_instruction *i)
{
	switch (i->kind) {
	case CP_NO_INSTRUCTION:
		return CP_PATCH_UNKNOWN;
	case CP_RELATIVE:
		return CP_PATCH_FIXED;
	case CP_CALL_INDIRECT:
		return i->uses_stack_pointer ? CP_PATCH_FIXED : CP_PATCH_DONE;
	default:
		return CP_PATCH_DONE;
	}
}

static bool goes_on(const struct cp_instruction *i)
{
	return i->kind != CP_END && i->kind != CP_JUMP;
}

/* Where a function ends, what is between it and the next one belongs to nobody. */
static enum cp_patch_why measure_entry(const struct cp_code *code, struct cp_plan *plan)
{
	bool ended = false;

	for (plan->replaced = 0; plan->replaced < CP_JUMP_SIZE;) {
		uintptr_t at = plan->at + plan->replaced;
		struct cp_instruction i;
		enum cp_patch_why why;

		if (at >= code->end ||
			(!ended && code->size && at >= code->address + code->size))
			return CP_PATCH_SHORT;
		i = instruction_at(at, code->end);
		if (ended && i.kind != CP_PADDING)
			return CP_PATCH_SHORT;
		why = can_move(&i);
		if (why != CP_PATCH_DONE)
			return why;
		ended = ended || !goes_on(&i);
		plan->replaced += i.size;
	}
	if (plan->at + plan->replaced > code->end)
		return CP_PATCH_SHORT;
	return CP_PATCH_DONE;
}

/* ---- jumps into it ---- */

static bool is_inside(const struct cp_plan *plan, uintptr_t target)
{
	return target > plan->at && target < plan->at + plan->replaced;
}

/* By short jumps; jumps.c looks for all others.  Before the function it may take some
 * instructions to be in step with the code. */
static bool is_jumped_into(const struct cp_code *code, const struct cp_plan *plan)
{
	uintptr_t at = plan->at - code->low > 2 * SHORT_REACH ? plan->at - 2 * SHORT_REACH
							      : code->low,
		  last = plan->at + plan->replaced + SHORT_REACH;

	if (last > code->high)
		last = code->high;
	while (at < last) {
		struct cp_instruction i = instruction_at(at, code->high);

		if (i.target && is_inside(plan, i.target))
			return true;
		if (at < plan->at && at + i.size > plan->at)
			at = plan->at;
		else
			at += i.size ? i.size : 1;
	}
	return false;
}

enum cp_patch_why cp_plan_make(const struct cp_code *code, struct cp_plan *plan)
{
	enum cp_patch_why why;

	plan->saved_at = 0;
	plan->is_signed = false;
	plan->at = code->address;
	if (code->end - code->address > sizeof(endbr64) &&
		memcmp((const void *)code->address, endbr64, sizeof(endbr64)) == 0)
		plan->at += sizeof(endbr64);
	why = measure_entry(code, plan);
	if (why == CP_PATCH_DONE && is_jumped_into(code, plan))
		why = CP_PATCH_TARGET;
	return why;
}

/* ---- the code that takes its place ---- */

struct output {
	uint8_t *to;
	size_t size;
	uintptr_t address;
	bool far;
};

static void put_bytes(struct output *out, const void *bytes, size_t size)
{
	memcpy(out->to + out->size, bytes, size);
	out->size += size;
}

#define PUT(out, ...)                                                                    \
	put_bytes(out, (const uint8_t[]){__VA_ARGS__},                                   \
		sizeof((const uint8_t[]){__VA_ARGS__}))

static bool is_in_reach(uintptr_t from, uintptr_t to, int32_t *distance)
{
	intptr_t way = (intptr_t)(to - from);

	*distance = (int32_t)way;
	return way == *distance;
}

/* Four bytes that end an instruction. */
static void put_distance(struct output *out, uintptr_t target)
{
	int32_t distance;

	if (!is_in_reach(out->address + out->size + sizeof(distance), target, &distance))
		out->far = true;
	put_bytes(out, &distance, sizeof(distance));
}

static void put_jump(struct output *out, uintptr_t target)
{
	PUT(out, 0xe9);
	put_distance(out, target);
}

/* The value stands before the push, behind a jump over it. */
static void put_push(struct output *out, uintptr_t value)
{
	uintptr_t at;

	PUT(out, 0xeb, sizeof(value));
	at = out->address + out->size;
	put_bytes(out, &value, sizeof(value));
	PUT(out, 0xff, 0x35);
	put_distance(out, at);
}

/* As it is, but for what is relative to its place. */
static void put_moved(struct output *out, const struct cp_instruction *i, uintptr_t from)
{
	size_t start = out->size;
	int32_t distance;

	put_bytes(out, (const void *)from, i->size);
	if (!i->displacement_at)
		return;
	memcpy(&distance, (const void *)(from + i->displacement_at), sizeof(distance));
	if (!is_in_reach(out->address + out->size, from + i->size + (intptr_t)distance,
		    &distance))
		out->far = true;
	memcpy(out->to + start + i->displacement_at, &distance, sizeof(distance));
}

/* A call returns to where it stood, so that nobody who unwinds sees another place. */
static void put_indirect_call(
	struct output *out, const struct cp_instruction *i, uintptr_t from)
{
	size_t start;

	put_push(out, from + i->size);
	start = out->size;
	put_moved(out, i, from);
	for (size_t at = start; at + 1 < out->size; at++)
		if (out->to[at] == 0xff) { /* /2 is call, /4 is jmp */
			out->to[at + 1] = (out->to[at + 1] & ~0x38) | 4 << 3;
			break;
		}
}

static void put_instruction(
	struct output *out, const struct cp_instruction *i, uintptr_t from)
{
	switch (i->kind) {
	case CP_JUMP:
		put_jump(out, i->target);
		break;
	case CP_BRANCH:
		PUT(out, 0x0f, 0x80 | i->condition);
		put_distance(out, i->target);
		break;
	case CP_CALL:
		put_push(out, from + i->size);
		put_jump(out, i->target);
		break;
	case CP_CALL_INDIRECT:
		put_indirect_call(out, i, from);
		break;
	default:
		put_moved(out, i, from);
	}
}

/* Below what the function may have there, if it has jumped to its own beginning. */
static void put_enter(struct output *out, uint32_t number, uintptr_t enter)
{
	int32_t skip = -CP_CALLS_SKIP, back = CP_CALLS_SKIP + 8;

	PUT(out, 0x48, 0x8d, 0xa4, 0x24); /* lea skip(%rsp), %rsp */
	put_bytes(out, &skip, sizeof(skip));
	PUT(out, 0x68); /* push $number */
	put_bytes(out, &number, sizeof(number));
	PUT(out, 0xff, 0x15); /* call *enter(%rip) */
	put_distance(out, enter);
	PUT(out, 0x48, 0x8d, 0xa4, 0x24);
	put_bytes(out, &back, sizeof(back));
}

size_t cp_plan_build(const struct cp_plan *plan, uint32_t number, uintptr_t enter,
	uintptr_t address, uint8_t to[CP_TRAMPOLINE_SIZE])
{
	struct output out = {.to = to, .address = address};
	uintptr_t end = plan->at + plan->replaced;

	put_enter(&out, number, enter);
	for (uintptr_t at = plan->at; at < end;) {
		struct cp_instruction i = instruction_at(at, end);

		put_instruction(&out, &i, at);
		at += i.size;
	}
	put_jump(&out, end);
	return out.far ? 0 : out.size;
}

bool cp_plan_jump(
	const struct cp_plan *plan, uintptr_t trampoline, uint8_t to[CP_JUMP_SIZE])
{
	struct output out = {.to = to, .address = plan->at};

	put_jump(&out, trampoline);
	return !out.far;
}
