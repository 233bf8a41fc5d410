/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The superblock being instrumented: instrument.c gathers its references,
 * settle.c turns them into code, a batch at a time.
 */
#ifndef CACHEPEEK_SIM_BLOCK_H
#define CACHEPEEK_SIM_BLOCK_H

#include "model/orders.h"
#include "tool.h"

/* An address as far as it is known: root + offset; no root: a constant. */
struct address {
	IRTemp root, temp;
	ULong offset;
};

struct reference {
	enum batch_kind kind;
	UInt size, tick, place;
	Int number; /* of its instruction in the batch; used: so many later */
	UInt used;
	Int load; /* of the superblock; -1: none that is followed */
	Addr instruction;
	struct address at; /* of code: the line number, in offset */
};

struct place {
	struct address at;
	UInt size, tick; /* tick: of the last reference to it */
	Bool writes;
};

struct tally {
	UInt ticks, instructions, loads, stores, rmw;
};

#define MAX_TEMPS 8192

/* Are an instruction's stores non-temporal?  Masked: of some bytes. */
enum streams { STREAMS_NOT, STREAMS, STREAMS_MASKED };

struct block {
	IRSB *out;
	IRTypeEnv *types;
	Addr instruction;
	enum streams streams;
	Addr next;  /* behind it; 0: there is none yet; for machines out of order */
	Addr from;  /* the batch is entered from there */
	ULong line; /* of that instruction */
	/* Is it one of strings/strings.h?  Then it is not counted yet: its length, and
	 * what makes its rounds. */
	UInt string;
	const IRStmt *string_call;
	Bool is_apart;   /* the batch is of none of the superblock's statements */
	UInt more_ports; /* ticks that the batch takes beside what its flow says */
	UInt uncounted;  /* instructions since the last exit; if they are sampled */

	/* The batch so far.  No lines: nothing. */
	ULong first_line;
	UInt lines, second_line_tick, nrefs, nplaces;
	struct tally now;
	struct reference refs[BATCH_ITEMS];
	struct place places[BATCH_PLACES];

	IRTemp root[MAX_TEMPS];
	Long offset[MAX_TEMPS];
};

struct address address_of(const struct block *b, const IRExpr *a);
IRExpr *address_value(const struct address *at);

UInt line_shift(void);
void forget_batch(struct block *b);
void settle(struct block *b);
void settle_direct(
	struct block *b, enum batch_kind kind, IRExpr *a, UInt size, IRExpr *guard);

void settle_stream(struct block *b, IRExpr *a, UInt size, IRExpr *guard);
void settle_order(struct block *b, enum cache_order order, IRExpr *a);
/* The batch of a string instruction: those of a whole block (strings_site), and its
 * rounds that were made last.  Without a batch: each is made by itself. */
const struct batch *settle_apart(struct block *b);
struct strings_site;
void settle_string(struct block *b, const struct strings_site *site, UInt places);

/* Is it a call of the model's? */
Bool settle_is_call(const IRStmt *s);

struct masked;
void settle_masked(struct block *b, enum batch_kind kind, const struct masked *masked);

/* batches.c */
const struct batch *batch_keep(const struct batch *batch);

#endif
