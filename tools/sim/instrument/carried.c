/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "instrument/carried.h"
#include "instrument/flow_registers.h"

#define MAX_DEPTH 12 /* of expressions */
#define WORDS (FLOW_REGISTERS - FIRST_WORD)

/* ---- expressions ---- */

static const IRExpr *made_as(const struct carried *c, const IRExpr *e)
{
	return e->tag == Iex_RdTmp && e->Iex.RdTmp.tmp < CARRIED_TEMPS
		       ? c->made[e->Iex.RdTmp.tmp]
		       : NULL;
}

#define NO_SUM ((struct sum){.nterms = -1})

static struct sum sum_of_register(const struct carried *c, const IRExpr *temp, Int offset)
{
	Int of = register_at(offset);
	struct sum sum = {1, {{of, 0}}, 0};

	if (of < 0 || of >= NGENERAL || offset != GENERAL_FROM + 8 * of)
		return NO_SUM;
	if (c->first_put[of] >= 0 && c->first_put[of] < c->made_at[temp->Iex.RdTmp.tmp])
		return NO_SUM;
	return sum;
}

static struct sum plus(struct sum a, const struct sum *b, Long sign)
{
	if (a.nterms < 0 || b->nterms < 0 || a.nterms + b->nterms > 2 ||
		(sign < 0 && b->nterms))
		return NO_SUM;
	for (Int i = 0; i < b->nterms; i++)
		a.term[a.nterms++] = b->term[i];
	a.offset += sign * b->offset;
	return a;
}

static struct sum shifted(struct sum a, const IRExpr *by)
{
	Int shift = by->tag == Iex_Const ? by->Iex.Const.con->Ico.U8 : 64;

	if (shift > 8)
		return NO_SUM;
	for (Int i = 0; i < a.nterms; i++)
		a.term[i].shift += shift;
	a.offset = (Long)((ULong)a.offset << shift);
	return a;
}

static struct sum sum_of(const struct carried *c, const IRExpr *e, Int depth)
{
	const IRExpr *made = made_as(c, e), *left, *right;
	struct sum a, b;

	if (e->tag == Iex_Const && e->Iex.Const.con->tag == Ico_U64)
		return (struct sum){0, {{0, 0}}, (Long)e->Iex.Const.con->Ico.U64};
	if (!made || depth == MAX_DEPTH)
		return NO_SUM;
	if (made->tag == Iex_Get)
		return sum_of_register(c, e, made->Iex.Get.offset);
	if (made->tag == Iex_RdTmp)
		return sum_of(c, made, depth + 1);
	if (made->tag != Iex_Binop)
		return NO_SUM;
	left = made->Iex.Binop.arg1;
	right = made->Iex.Binop.arg2;
	if (made->Iex.Binop.op == Iop_Shl64)
		return shifted(sum_of(c, left, depth + 1), right);
	if (made->Iex.Binop.op != Iop_Add64 && made->Iex.Binop.op != Iop_Sub64)
		return NO_SUM;
	a = sum_of(c, left, depth + 1);
	b = sum_of(c, right, depth + 1);
	return plus(a, &b, made->Iex.Binop.op == Iop_Add64 ? 1 : -1);
}

/* By how much a register grows in a round; False: otherwise. */
static Bool step_of(const struct carried *c, Int of, Long *step)
{
	struct sum sum;

	*step = 0;
	if (c->last_put[of] < 0)
		return True;
	sum = sum_of(c, c->in->stmts[c->last_put[of]]->Ist.Put.data, 0);
	*step = sum.offset;
	return sum.nterms == 1 && sum.term[0].of == of && sum.term[0].shift == 0;
}

/* The same in the next round, as registers are in this one. */
static struct sum next_round(const struct carried *c, struct sum sum)
{
	for (Int i = 0; i < sum.nterms; i++) {
		Long step;

		if (!step_of(c, sum.term[i].of, &step))
			return NO_SUM;
		sum.offset += (Long)((ULong)step << sum.term[i].shift);
	}
	return sum;
}

static Bool is_term(const struct sum *sum, const struct term *term)
{
	for (Int i = 0; i < sum->nterms; i++)
		if (sum->term[i].of == term->of && sum->term[i].shift == term->shift)
			return True;
	return False;
}

static Bool is_same(const struct sum *a, const struct sum *b)
{
	if (a->nterms < 0 || a->nterms != b->nterms || a->offset != b->offset)
		return False;
	for (Int i = 0; i < a->nterms; i++)
		if (!is_term(a, &b->term[i]) || !is_term(b, &a->term[i]))
			return False;
	return True;
}

static Bool is_vector(IRType type)
{
	return type == Ity_F32 || type == Ity_F64 || type == Ity_V128 || type == Ity_V256;
}

/* It comes from where floats and vectors are computed. */
static Bool is_of_vectors(const struct carried *c, const IRExpr *e)
{
	const IRExpr *made = made_as(c, e);

	if (is_vector(typeOfIRExpr(c->in->tyenv, e)))
		return True;
	if (!made)
		return False;
	if (made->tag == Iex_Get)
		return register_at(made->Iex.Get.offset) >= FIRST_VECTOR;
	return made->tag == Iex_Unop &&
	       is_vector(typeOfIRExpr(c->in->tyenv, made->Iex.Unop.arg));
}

/* ---- loads and stores ---- */

/* A register and a constant. */
static Bool is_plain(const struct sum *where)
{
	return where->nterms == 1 && !where->term[0].shift;
}

static void add_touch(const struct carried *c, struct touches *all, Int at,
	const IRExpr *address, IRType type, Bool vector)
{
	struct touch touch = {at, sizeofIRType(type), -1, vector, sum_of(c, address, 0)};

	touch.slow |= !is_plain(&touch.where);
	if (touch.where.nterms >= 0 && all->n < CARRIED_TOUCHES)
		all->of[all->n++] = touch;
}

static void note_put(struct carried *c, Int at, Int offset)
{
	Int of = register_at(offset);

	if (of < 0 || of >= NGENERAL)
		return;
	if (c->first_put[of] < 0)
		c->first_put[of] = at;
	c->last_put[of] = at;
}

static void note_statement(struct carried *c, Int at)
{
	const IRStmt *s = c->in->stmts[at];

	if (s->tag == Ist_Put) {
		note_put(c, at, s->Ist.Put.offset);
	} else if (s->tag == Ist_WrTmp && s->Ist.WrTmp.tmp < CARRIED_TEMPS) {
		c->made[s->Ist.WrTmp.tmp] = s->Ist.WrTmp.data;
		c->made_at[s->Ist.WrTmp.tmp] = at;
	}
}

static void note_touch(struct carried *c, Int at)
{
	const IRStmt *s = c->in->stmts[at];

	if (s->tag == Ist_WrTmp && s->Ist.WrTmp.data->tag == Iex_Load)
		add_touch(c, &c->loads, at, s->Ist.WrTmp.data->Iex.Load.addr,
			s->Ist.WrTmp.data->Iex.Load.ty, False);
	else if (s->tag == Ist_Store)
		add_touch(c, &c->stores, at, s->Ist.Store.addr,
			typeOfIRExpr(c->in->tyenv, s->Ist.Store.data),
			is_of_vectors(c, s->Ist.Store.data));
}

static ULong begins_at(const struct carried *c)
{
	for (Int i = 0; i < c->in->stmts_used; i++)
		if (c->in->stmts[i]->tag == Ist_IMark)
			return c->in->stmts[i]->Ist.IMark.addr;
	return 0;
}

/* Its last jump goes to where it begins. */
static Bool is_loop(const struct carried *c, ULong begin)
{
	const IRExpr *next = c->in->next;

	if (next->tag == Iex_Const && next->Iex.Const.con->Ico.U64 == begin)
		return True;
	for (Int i = c->in->stmts_used - 1; i >= 0; i--)
		if (c->in->stmts[i]->tag == Ist_Exit)
			return c->in->stmts[i]->Ist.Exit.dst->Ico.U64 == begin;
	return False;
}

/* The last store in front of that statement that is to the load's place; NULL: none. */
static struct touch *store_to(
	struct carried *c, const struct touch *load, const struct sum *where, Int before)
{
	for (Int i = c->stores.n - 1; i >= 0; i--) {
		struct touch *store = &c->stores.of[i];

		if (store->at < before && store->size == load->size &&
			is_same(&store->where, where))
			return store;
	}
	return NULL;
}

/* Loops have words of their own, as far as there are some. */
static void give_word(struct carried *c, struct touch *store, ULong begin)
{
	if (store->word < 0 && c->words < WORDS) {
		store->word = FIRST_WORD + (Int)((begin / 4 + (ULong)c->words++) % WORDS);
		c->word[store->at] = (UChar)store->word;
	}
}

static void find_store(
	struct carried *c, const struct touch *load, ULong begin, Bool loops)
{
	struct touch *store = store_to(c, load, &load->where, load->at);
	struct sum next;

	if (!store && loops) {
		next = next_round(c, load->where);
		store = store_to(c, load, &next, CARRIED_STATEMENTS);
	}
	if (!store || !(store->slow || load->slow))
		return;
	give_word(c, store, begin);
	if (store->word >= 0)
		c->word[load->at] = (UChar)store->word;
}

void carried_find(struct carried *c, const IRSB *in)
{
	ULong begin;

	c->in = in;
	c->words = c->loads.n = c->stores.n = 0;
	for (Int i = 0; i < NGENERAL; i++)
		c->first_put[i] = c->last_put[i] = -1;
	for (Int i = 0; i < in->stmts_used && i < CARRIED_STATEMENTS; i++) {
		c->word[i] = 0;
		note_statement(c, i);
		note_touch(c, i);
	}
	begin = begins_at(c);
	c->loops = is_loop(c, begin);
	for (Int i = 0; c->stores.n && i < c->loads.n; i++)
		find_store(c, &c->loads.of[i], begin, c->loops);
}

Int carried_at(const struct carried *c, Int at)
{
	return at < CARRIED_STATEMENTS && c->word[at] ? c->word[at] : -1;
}
