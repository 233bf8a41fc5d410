/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sample/log.h"
#include "machines/team.h"

#include "pub_tool_guest.h"

#define WORD sizeof(ULong)
/* No instruction writes as many words, and no superblock has as many instructions. */
#define MOST_WORDS 12
#define MOST_INSTRUCTIONS 512
#define MOST_FETCHED 16
/* No address has these bits: a line of code, and a load whose place is stored to as well.
 * A store's address is complemented. */
#define CODE (1ull << 62)
#define BOTH (1ull << 61)

/* Between bursts there is nothing to do for the last line of a group. */
enum { LOADED, STORED, FETCHED, TABLES };

enum { BUCKETS = 1 << 14 };

/* The log is of the running thread; sites are the process's. */
static struct {
	enum sample_mode mode;
	ULong newest[TABLES][SAMPLE_MOST_GROUPS];
	IRExpr *now_at;              /* of this superblock, or NULL */
	ULong fetched[MOST_FETCHED]; /* lines of code that it has written */
	UInt nfetched;
	struct site *sites; /* numbered from 1 */
	UInt nsites, room;
	UInt bucket[BUCKETS];
	ULong words[(SAMPLE_LOG_MOST + MOST_INSTRUCTIONS) * MOST_WORDS];
	batch_function *model_of[BATCH_PLACES + 1][2];
} logged;

struct sample_now sample_now = {.next = ~0ull, .end = logged.words};

/* How far an address is moved to the right to be, masked, an offset in the table. */
static UInt due_shift(void)
{
	enum { WORDS = 8 * SAMPLE_DUE_WORDS };
	UInt bytes = 1u << line_shift();

	return bytes > WORDS ? line_shift() - (UInt)__builtin_ctz(WORDS) : 0;
}

static void set_due(enum sample_mode to)
{
	UInt each = (1u << (line_shift() - due_shift())) / WORD;

	for (UInt i = 0; i < (sample_now.chosen.mask + 1) * each; i++)
		sample_now.due[i] =
			to == SAMPLE_ALL || (to == SAMPLE_SETS &&
						    sample_now.chosen.part[i / each])
				? WORD
				: 0;
}

void sample_log_use(enum sample_mode to)
{
	if (to != logged.mode)
		set_due(to);
	logged.mode = to;
	sample_now.header = to == SAMPLE_ALL ? WORD : 0;
	sample_now.code = to == SAMPLE_SETS ? WORD : 0;
	sample_now.end = logged.words;
	VG_(memset)(logged.newest, 0xff, sizeof(logged.newest)); /* NO_LINE */
}

/* ---- where it is ---- */

/* Its address is in the last word of the guest state's second shadow, which
 * native/state.h leaves free. */
enum { SHADOW = 2, SHADOW_AT = sizeof(VexGuestArchState) - WORD };

void sample_find(void)
{
	logged.now_at = NULL;
	logged.nfetched = 0;
}

void sample_show(ThreadId tid)
{
	const struct sample_now *at = &sample_now;

	VG_(set_shadow_regs_area)
	(tid, SHADOW, SHADOW_AT, sizeof(at), (const UChar *)&at);
}

IRExpr *sample_now_at(IRSB *out)
{
	if (!logged.now_at)
		logged.now_at = emit_register(
			out, SHADOW * (Int)sizeof(VexGuestArchState) + SHADOW_AT);
	return logged.now_at;
}

/* ---- batches ---- */

/* A batch at a line: its number is in the log. */
struct site {
	const struct batch *batch;
	ULong line;
	UInt places, next; /* next: of the same bucket, or 0 */
};

static UInt add_site(struct site site)
{
	if (logged.nsites + 1 >= logged.room) {
		logged.room = logged.room ? 2 * logged.room : 4096;
		logged.sites = VG_(realloc)("cachepeek.sites", logged.sites,
			logged.room * sizeof(*logged.sites));
	}
	logged.sites[++logged.nsites] = site;
	return logged.nsites;
}

static UInt find_site(const struct batch *b, ULong line, UInt places)
{
	UInt *first = &logged.bucket[((Addr)b / 8 ^ line * 31) % BUCKETS], at;

	for (at = *first; at; at = logged.sites[at].next)
		if (logged.sites[at].batch == b && logged.sites[at].line == line &&
			logged.sites[at].places == places)
			return at;
	*first = add_site((struct site){b, line, places, *first});
	return *first;
}

/* ---- generated code ---- */

struct writer {
	IRSB *out;
	IRExpr *now, *end;
};

static IRExpr *emit_sum(IRSB *out, IRExpr *a, IRExpr *b)
{
	return emit_kept(out, Ity_I64, IRExpr_Binop(Iop_Add64, a, b));
}

static void put_word(const struct writer *w, IRExpr *word)
{
	addStmtToIRSB(w->out, IRStmt_Store(Iend_LE, w->end, word));
}

static void move_end(struct writer *w, IRExpr *by)
{
	w->end = emit_sum(w->out, w->end, by);
}

/* By how much the end moves for that address. */
static IRExpr *due_of(IRSB *out, IRExpr *address)
{
	UInt shift = due_shift();
	ULong mask =
		((ULong)(sample_now.chosen.mask + 1) << (line_shift() - shift)) - WORD;
	IRExpr *offset = address;

	if (shift)
		offset = emit_kept(out, Ity_I64,
			IRExpr_Binop(Iop_Shr64, offset,
				IRExpr_Const(IRConst_U8((UChar)shift))));
	offset = emit_kept(
		out, Ity_I64, IRExpr_Binop(Iop_And64, offset, emit_constant(mask)));
	return emit_kept(out, Ity_I64,
		IRExpr_Load(Iend_LE, Ity_I64,
			emit_sum(out, offset, emit_constant((Addr)sample_now.due))));
}

static IRExpr *word_of(IRSB *out, const struct batch_place *p, IRExpr *at)
{
	return p->first_kind == STORE
		       ? emit_kept(out, Ity_I64, IRExpr_Unop(Iop_Not64, at))
	       : p->writes ? emit_kept(out, Ity_I64,
				     IRExpr_Binop(Iop_Or64, at, emit_constant(BOTH)))
			   : at;
}

static void write_reference(struct writer *w, const struct batch_place *p, IRExpr *at)
{
	put_word(w, word_of(w->out, p, at));
	move_end(w, due_of(w->out, at));
}

/* A reference of up to a word that spans two lines is rare, and the second line then has
 * references of its own, as a rule: it is written for wider ones only. */
static Bool is_wide(const struct batch_place *p)
{
	return p->last >= WORD;
}

static void write_place(struct writer *w, const struct batch_place *p, IRExpr *at)
{
	write_reference(w, p, at);
	if (is_wide(p))
		write_reference(w, p, emit_sum(w->out, at, emit_constant(p->last)));
}

/* Once in a superblock, between whose instructions no other code is fetched. */
static Bool is_fetched(ULong line)
{
	for (UInt i = 0; i < logged.nfetched; i++)
		if (logged.fetched[i] == line)
			return True;
	if (logged.nfetched < MOST_FETCHED)
		logged.fetched[logged.nfetched++] = line;
	return False;
}

static void write_code(struct writer *w, ULong line)
{
	if (sample_leaves_out(&sample_now.chosen, line) || is_fetched(line))
		return;
	put_word(w, emit_constant(CODE | line));
	move_end(w, sample_load(w->out, w->now, &sample_now.code));
}

void sample_write(
	IRSB *out, const struct batch *b, ULong line, IRExpr *const *at, UInt places)
{
	struct writer w = {.out = out, .now = sample_now_at(out)};

	w.end = sample_load(out, w.now, &sample_now.end);
	put_word(&w, emit_constant(find_site(b, line, places)));
	move_end(&w, sample_load(out, w.now, &sample_now.header));
	for (UInt i = 0; i <= b->more_lines; i++)
		write_code(&w, line + i);
	for (UInt i = 0; i < places; i++)
		write_place(&w, &b->place[b->order[i]], at[b->order[i]]);
	sample_store(out, w.now, &sample_now.end, w.end);
}

/* ---- in a burst ---- */

void sample_model(batch_function *model, UInt places, UInt lines)
{
	logged.model_of[places][lines - 1] = model;
}

static const ULong *run_batch(const ULong *from)
{
	const struct site *site = &logged.sites[*from++];
	const struct batch *b = site->batch;
	ULong at[BATCH_PLACES] = {0};

	for (UInt i = 0; i < site->places; i++) {
		const struct batch_place *p = &b->place[b->order[i]];

		at[b->order[i]] = p->first_kind == STORE ? ~*from : *from & ~BOTH;
		from += 1u + is_wide(p);
	}
	logged.model_of[site->places][b->more_lines](
		b, site->line, at[0], at[1], at[2], at[3]);
	return from;
}

/* ---- between them ---- */

/* The same on each machine: what has been asked for last in a group is the program's. */
static void touch_code(ULong line)
{
	ULong *last = &logged.newest[FETCHED][line & sample_now.chosen.mask];

	if (*last == line)
		return;
	*last = line;
	for (UInt i = 0; i < team.size; i++)
		sample_sets_code(team.member[i], line);
}

static void touch_data(ULong line, enum access kind, Bool writes)
{
	UInt group = line & sample_now.chosen.mask;
	ULong *last = &logged.newest[LOADED][group],
	      *stored = &logged.newest[STORED][group];

	if ((writes ? *stored : *last) == line)
		return;
	*stored = writes ? line : NO_LINE;
	*last = line;
	for (UInt i = 0; i < team.size; i++)
		sample_sets_data(team.member[i], line, kind, writes);
}

static void replay_word(ULong word, UInt shift)
{
	if ((Long)word < 0)
		touch_data(~word >> shift, STORE, True);
	else if (word & CODE)
		touch_code(word ^ CODE);
	else
		touch_data((word & ~BOTH) >> shift, LOAD, (word & BOTH) != 0);
}

/* ---- both ---- */

void sample_drain(void)
{
	const ULong *at = logged.words, *end = sample_now.end;

	sample_now.end = logged.words;
	if (logged.mode == SAMPLE_ALL)
		while (at < end)
			at = run_batch(at);
	else if (logged.mode == SAMPLE_SETS)
		while (at < end)
			replay_word(*at++, line_shift());
}

Bool sample_direct(Addr a, UWord size, enum access kind)
{
	sample_drain();
	if (logged.mode == SAMPLE_ALL)
		return False;
	if (logged.mode == SAMPLE_SETS)
		for (ULong line = a >> line_shift();
			line <= (a + size - 1) >> line_shift(); line++)
			if (!sample_leaves_out(&sample_now.chosen, line))
				touch_data(line, kind, kind == STORE);
	return True;
}
