/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * VEX's code sets MXCSR for a conversion, and sets the usual value behind it.  Flags that
 * the program has raised are to stay, as FTZ and DAZ; so, mostly, nothing is set:
 *
 *	mov $3, %reg; and $3, %reg; shl $13, %reg; or $0x1f80, %reg
 *	push %reg; ldmxcsr 0(%rsp)	to zero: CVTTSD2SI, which is so by itself
 *	...
 *	push $0x1f80; ldmxcsr 0(%rsp)	as usual
 *
 * Another register than one that holds 3 has the mode that the program has set, mostly
 *the usual one.  The linker puts this function in the place of VEX's (--wrap), which
 *writes one instruction.
 */
#include "native/mxcsr.h"
#include "native/native.h"

typedef Int emit_instruction(void *is_profile, UChar *to, Int size,
	const void *instruction, Bool is_long, UInt endness, const void *slow,
	const void *fast, const void *indirect, const void *assisted);
emit_instruction __real_emit_AMD64Instr, __wrap_emit_AMD64Instr;

/* MXCSR, as the code sees it that is being written. */
static struct {
	/* Is MXCSR not as usual?  (set by the code that is written) */
	UChar is_changed;
	struct {
		UInt matched;       /* instructions of the sequence */
		Bool is_truncation; /* between the first LDMXCSR and the second */
	} sequence;
} modes;

/* --- What VEX writes --- */

static Bool ends_with(const UChar *code, Int length, const HChar *end, Int size)
{
	return length >= size && VG_(memcmp)(code + length - size, end, size) == 0;
}

#define ENDS(string) ends_with(code, length, string, sizeof(string) - 1)

static Bool is_load(const UChar *code, Int length)
{
	return length == 6 && ENDS("\x40\x0f\xae\x54\x24\x00");
}

static Bool is_reset(const UChar *code, Int length)
{
	return length == 5 && ENDS("\x68\x80\x1f\x00\x00");
}

/* Is it the next of those that push the mode to zero? */
static Bool is_next(UInt matched, const UChar *code, Int length)
{
	switch (matched) {
	case 1:
		return ENDS("\x03"); /* and $3 */
	case 2:
		return ENDS("\x0d"); /* shl $13 */
	case 3:
		return ENDS("\x80\x1f\x00\x00"); /* or $0x1f80 */
	case 4:
		return length <= 2 && (code[length - 1] & 0xf8) == 0x50; /* push */
	default:
		return False;
	}
}

enum { TO_ZERO = 5, AS_USUAL };

static void note_change(const UChar *code, Int length)
{
	if (length >= 5 && length <= 6 && (code[length - 5] & 0xf8) == 0xb8 &&
		ENDS("\x03\x00\x00\x00"))
		modes.sequence.matched = 1;
	else if (is_reset(code, length))
		modes.sequence.matched = AS_USUAL;
	else if (is_next(modes.sequence.matched, code, length))
		modes.sequence.matched++;
	else
		modes.sequence.matched = 0;
}

/* --- What is written --- */

struct writing {
	UChar *to;
	Int n;
};

static void write_code(struct writing *w, const void *code, Int size)
{
	VG_(memcpy)(w->to + w->n, code, size);
	w->n += size;
}

#define WRITE(w, string) write_code(w, string, sizeof(string) - 1)

static void write_changed(struct writing *w, UChar value)
{
	UInt at = (UInt)(Addr)&modes.is_changed;

	write_code(w, &at, sizeof(at));
	write_code(w, &value, sizeof(value));
}

/* Pushes flags, FTZ and DAZ as they are: push %rax; stmxcsr 12(%rsp); mov 12(%rsp),
 * %eax; and $0x807f, %eax; or %eax, 8(%rsp); pop %rax; ldmxcsr (%rsp) */
#define CARRY                                                                            \
	"\x50\x0f\xae\x5c\x24\x0c\x8b\x44\x24\x0c\x25\x7f\x80\x00\x00\x09\x44\x24\x08"   \
	"\x58\x0f\xae\x14\x24"
enum { CARRY_SIZE = sizeof(CARRY) - 1, STORE_SIZE = 8 };

static void write_load(struct writing *w, Bool usual)
{
	static const UChar skip[] = {0x74, CARRY_SIZE + STORE_SIZE};

	if (usual) {
		WRITE(w, "\x80\x3c\x25"); /* cmpb $0, is_changed */
		write_changed(w, 0);
	} else {
		WRITE(w, "\x81\x3c\x24\x80\x1f\x00\x00"); /* cmpl $0x1f80, (%rsp) */
	}
	write_code(w, skip, sizeof(skip)); /* je */
	WRITE(w, CARRY);
	WRITE(w, "\xc6\x04\x25"); /* movb, is_changed */
	write_changed(w, !usual);
}

static Int replace_load(UChar *code)
{
	struct writing w = {code, 0};

	if (modes.sequence.matched == TO_ZERO || modes.sequence.is_truncation) {
		modes.sequence.is_truncation = modes.sequence.matched == TO_ZERO;
		WRITE(&w, "\x0f\x1f\x00"); /* nop */
	} else {
		write_load(&w, modes.sequence.matched == AS_USUAL);
	}
	modes.sequence.matched = 0;
	return w.n;
}

/* CVTSD2SI to CVTTSD2SI, CVTPS2DQ to CVTTPS2DQ. */
static void make_truncating(UChar *code, Int length)
{
	Int at = length > 1 && (code[1] & 0xf0) == 0x40 ? 2 : 1; /* behind REX */

	if (length < at + 2 || code[at] != 0x0f)
		return;
	if (code[0] == 0xf2 && code[at + 1] == 0x2d)
		code[at + 1] = 0x2c;
	if (code[0] == 0x66 && code[at + 1] == 0x5b)
		code[0] = 0xf3;
}

Int __wrap_emit_AMD64Instr(void *is_profile, UChar *to, Int size, const void *instruction,
	Bool is_long, UInt endness, const void *slow, const void *fast,
	const void *indirect, const void *assisted)
{
	Int length = __real_emit_AMD64Instr(is_profile, to, size, instruction, is_long,
		endness, slow, fast, indirect, assisted);

	if (!tool_options.native)
		return length;
	if (is_load(to, length))
		return replace_load(to);
	if (modes.sequence.is_truncation)
		make_truncating(to, length);
	note_change(to, length);
	return length;
}
