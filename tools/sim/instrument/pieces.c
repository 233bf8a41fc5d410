/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "instrument/pieces.h"

enum piece_kind { PIECE_LOAD, PIECE_STORE, PIECE_LOAD_IF, PIECE_STORE_IF, PIECE_NONE };

struct piece {
	enum piece_kind kind;
	Int at;
	struct address where;
	UInt size;
	IRExpr *address, *guard;
	/* The index of the piece that its reference begins with, and of the next one. */
	UInt head, next;
};

/* More than any instruction but fxsave and xsave makes: the rest of theirs are
 * references of their own. */
#define MOST 40

/* The pieces of the superblock that is being made. */
static struct {
	struct piece pieces[MOST];
	UInt n;
} made;

/* --- What only the emulation makes --- */

#if defined(VGA_amd64)
static Bool is_prefix(UChar byte)
{
	return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0xf0 ||
	       byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 ||
	       byte == 0x64 || byte == 0x65 || byte == 0x67 || (byte & 0xf0) == 0x40;
}

/* The opcode in the map 0F of an instruction, and what follows it; or NULL. */
static const UChar *opcode_0f(const UChar *code, const UChar *end)
{
	while (code < end && is_prefix(*code))
		code++;
	if (end - code >= 3 && code[0] == 0x0f)
		return code + 1;
	if (end - code >= 4 && code[0] == 0xc5)
		return code + 2;
	if (end - code >= 5 && code[0] == 0xc4 && (code[1] & 0x1f) == 1)
		return code + 3;
	return NULL;
}

/* bt, bts, btr and btc of a register, whose bits the core looks for in the stack. */
static Bool is_bit_test(const UChar *opcode)
{
	return (opcode[0] & 0xe7) == 0xa3 && opcode[1] >= 0xc0;
}

/* maskmovq and maskmovdqu: what is not stored is loaded and stored by the core. */
static Bool is_masked_store(const UChar *opcode)
{
	return opcode[0] == 0xf7;
}

static Bool is_emulated_only(enum piece_kind kind, const UChar *opcode)
{
	return opcode &&
	       (is_bit_test(opcode) || (is_masked_store(opcode) && kind == PIECE_LOAD));
}

static const UChar *opcode_of(const IRStmt *imark)
{
	const UChar *code = (const UChar *)imark->Ist.IMark.addr;

	return opcode_0f(code, code + imark->Ist.IMark.len);
}
#else
static Bool is_emulated_only(enum piece_kind kind, const UChar *opcode)
{
	(void)kind, (void)opcode;
	return False;
}

static const UChar *opcode_of(const IRStmt *imark)
{
	(void)imark;
	return NULL;
}
#endif

/* --- Gathering --- */

static struct piece piece_of(const struct block *b, const IRStmt *s)
{
	struct piece p = {.kind = PIECE_NONE};
	IRType result, loaded;

	if (s->tag == Ist_WrTmp && s->Ist.WrTmp.data->tag == Iex_Load) {
		p.kind = PIECE_LOAD;
		p.address = s->Ist.WrTmp.data->Iex.Load.addr;
		p.size = sizeofIRType(s->Ist.WrTmp.data->Iex.Load.ty);
	} else if (s->tag == Ist_Store) {
		p.kind = PIECE_STORE;
		p.address = s->Ist.Store.addr;
		p.size = sizeofIRType(typeOfIRExpr(b->types, s->Ist.Store.data));
	} else if (s->tag == Ist_LoadG) {
		typeOfIRLoadGOp(s->Ist.LoadG.details->cvt, &result, &loaded);
		p.kind = PIECE_LOAD_IF;
		p.address = s->Ist.LoadG.details->addr;
		p.guard = s->Ist.LoadG.details->guard;
		p.size = sizeofIRType(loaded);
	} else if (s->tag == Ist_StoreG) {
		p.kind = PIECE_STORE_IF;
		p.address = s->Ist.StoreG.details->addr;
		p.guard = s->Ist.StoreG.details->guard;
		p.size =
			sizeofIRType(typeOfIRExpr(b->types, s->Ist.StoreG.details->data));
	}
	return p;
}

#if defined(VGA_amd64)

static Bool follows_piece(const struct piece *p, const struct piece *before)
{
	return p->kind == before->kind && p->where.root == before->where.root &&
	       p->where.offset == before->where.offset + before->size &&
	       (!p->guard || p->size == before->size);
}

/* The piece before it in memory, of those that nothing follows yet. */
static void join_piece(UInt n)
{
	for (UInt i = 0; i < n; i++) {
		if (made.pieces[i].next || made.pieces[i].kind == PIECE_NONE ||
			!follows_piece(&made.pieces[n], &made.pieces[i]))
			continue;
		made.pieces[i].next = n;
		made.pieces[n].head = made.pieces[i].head;
		return;
	}
}

#else

static void join_piece(UInt n)
{
	(void)n;
}

#endif

static void add_piece(const struct block *b, const struct piece *p, Int at)
{
	struct piece *new = &made.pieces[made.n];

	*new = *p;
	new->at = at;
	new->where = address_of(b, p->address);
	new->head = made.n;
	new->next = 0;
	join_piece(made.n);
	made.n++;
}

void pieces_begin(const struct block *b, const IRSB *in, Int imark)
{
	const UChar *opcode = opcode_of(in->stmts[imark]);

	made.n = 0;
	if (tool_options.pieces)
		return;
	for (Int i = imark + 1; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark;
		i++) {
		struct piece p = piece_of(b, in->stmts[i]);

		if (p.kind == PIECE_NONE || made.n == MOST)
			continue;
		if (is_emulated_only(p.kind, opcode))
			p.size = 0;
		add_piece(b, &p, i);
	}
}

/* --- Asking --- */

static const struct piece *find_piece(Int at)
{
	for (UInt i = 0; i < made.n; i++)
		if (made.pieces[i].at == at)
			return &made.pieces[i];
	return NULL;
}

UInt pieces_size(Int at, UInt size)
{
	const struct piece *p = find_piece(at);
	UInt all;

	if (!p)
		return size;
	if (p != &made.pieces[p->head])
		return 0;
	for (all = p->size; p->next; all += p->size)
		p = &made.pieces[p->next];
	return all;
}

static Bool is_last(const struct piece *p)
{
	for (UInt i = 0; i < made.n; i++)
		if (made.pieces[i].head == p->head && made.pieces[i].at > p->at)
			return False;
	return True;
}

enum masked_part pieces_masked(Int at, struct masked *masked)
{
	const struct piece *last = find_piece(at), *p;

	if (!last || !last->guard ||
		!(last->next || last->head != (UInt)(last - made.pieces)))
		return MASKED_NOT;
	if (!is_last(last))
		return MASKED_MIDDLE;
	p = &made.pieces[last->head];
	masked->first = p->address;
	masked->size = p->size;
	masked->guard[0] = p->guard;
	for (masked->lanes = 1; p->next && masked->lanes < PIECES_LANES;
		masked->lanes++) {
		p = &made.pieces[p->next];
		masked->guard[masked->lanes] = p->guard;
	}
	return MASKED_LAST;
}
