/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * String instructions of x86-64 with a repeat prefix (rep movs, stos, lods, cmps, scas).
 *
 * VEX makes a loop of them, each round of which is an instruction to who counts, and at a
 * fault has taken a round off rcx that was not made.  Here generated code calls a
 * function that has the host make as many rounds as lie within a page of each operand: a
 * fault is at the first of them, or there is none.  The superblock begins again at the
 * instruction until all are made.  What was made is then told to the models, a block of
 * memory after the other.
 */
#ifndef CACHEPEEK_SIM_STRINGS_STRINGS_H
#define CACHEPEEK_SIM_STRINGS_STRINGS_H

#include "tool.h"

/* Blocks are as long as lines of nearly all processors, whatever the machine's are. */
#define STRINGS_BLOCK 64

/* While an instruction is decoded: adds what it does, and returns its length; 0: it is
 * none of these, or is VEX's. */
UInt strings_make(IRSB *out, Addr pc, const UChar *code);
/* VEX is given this in its place: a jump, as code that the instruction may have changed
 * is not to be in the same superblock. */
extern const UChar strings_stand_in[16];

/* An instruction, decoded. */
enum string_kind { STRING_MOVS, STRING_STOS, STRING_LODS, STRING_CMPS, STRING_SCAS };
enum string_segment { SEGMENT_NONE, SEGMENT_FS, SEGMENT_GS };

struct string {
	enum string_kind kind;
	UInt log_size;
	Bool until_equal, is_short;  /* repne; 32 bits of addresses and rcx */
	enum string_segment segment; /* of what rsi points to */
};

/* Is the instruction whose IMark that is one?  Its last statement leaves the superblock
 * if there are rounds left. */
Bool strings_begins(const IRSB *in, Int imark);
Bool strings_is_call(const IRStmt *s);
struct string strings_called(const IRStmt *call);

/* The batches that tell the models of it, where that is another way to say the same (run
 * is not NULL).  Of blocks: whole ones that are loaded, and stored; index 1: where each
 * element is one; part: what a round takes beside its reference, in others, to machines
 * out of order.  Of iterations: an instruction and what it refers to; index 1: the
 * references only. */
struct strings_site {
	Addr instruction;
	ULong line; /* of code that was fetched last */
	const struct batch *load[2], *store[2], *part, *round[2];
	batch_function *run, *run_part;
};

/* Behind those rounds: makes their references.  Returns how many were made at a time, a
 * block or an element. */
ULong strings_tell(const struct strings_site *site);
/* The same where each is an instruction, but for one that the processor has in any case:
 * the last, if comparing ends it, and else one that finds rcx to be 0. */
void strings_tell_each(const struct strings_site *site);

/* execute.c: by a word that a constant of generated code can be.  1: there are rounds
 * left. */
ULong strings_execute(void *state, ULong packed);

static inline ULong strings_pack(const struct string *s)
{
	return (ULong)s->kind | s->log_size << 4 | (UInt)s->until_equal << 8 |
	       (UInt)s->is_short << 9 | (UInt)s->segment << 10;
}

static inline struct string strings_unpack(ULong packed)
{
	return (struct string){
		.kind = (enum string_kind)(packed & 15),
		.log_size = packed >> 4 & 15,
		.until_equal = packed >> 8 & 1,
		.is_short = packed >> 9 & 1,
		.segment = (enum string_segment)(packed >> 10),
	};
}

static inline Bool strings_store(enum string_kind kind)
{
	return kind <= STRING_STOS;
}

static inline Bool strings_compare(enum string_kind kind)
{
	return kind >= STRING_CMPS;
}

static inline Bool strings_use_first(enum string_kind kind)
{
	return kind != STRING_STOS && kind != STRING_SCAS;
}

static inline Bool strings_use_second(enum string_kind kind)
{
	return kind != STRING_LODS;
}

#endif
