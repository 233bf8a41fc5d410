/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sample/log.h"
#include "machines/team.h"

#include "pub_tool_guest.h"

#define WORD sizeof(ULong)
/* No instruction writes as many words, and no superblock has as many instructions. */
#define MOST_WORDS 12
#define MOST_INSTRUCTIONS 512
#define MOST_FETCHED 16
enum { BUCKETS = 1 << 14 };

/* The log is of the running thread; sites are the process's. */
static struct {
	enum sample_mode mode;
	IRExpr *now_at; /* of this superblock, or NULL */
	/* And what temporaries of it hold, or NULL; counted: instructions since then. */
	IRExpr *instructions, *end;
	UInt counted;
	Int seen; /* statements in which nothing changed that */
	/* The call that the superblock begins with, while nothing else was called and the
	 * program cannot have left; and the last batch since then, or 0. */
	IRDirty *call;
	UInt last;
	ULong is_log[MAX_TEMPS / 64]; /* a bit of each temporary: sample_is_log */
	ULong fetched[MOST_FETCHED];  /* lines of code that it has written */
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
}

/* ---- where it is ---- */

/* Its address is in the last word of the guest state's second shadow, which
 * native/state.h leaves free. */
enum { SHADOW = 2, SHADOW_AT = sizeof(VexGuestArchState) - WORD };

static IRExpr *in_log(IRExpr *address)
{
	IRTemp t = address->Iex.RdTmp.tmp;

	if (t < MAX_TEMPS)
		logged.is_log[t / 64] |= 1ull << t % 64;
	return address;
}

Bool sample_is_log(const IRExpr *address)
{
	IRTemp t = address->tag == Iex_RdTmp ? address->Iex.RdTmp.tmp : MAX_TEMPS;

	return t < MAX_TEMPS && logged.is_log[t / 64] >> t % 64 & 1;
}

void sample_find(void)
{
	VG_(memset)(logged.is_log, 0, sizeof(logged.is_log));
	logged.now_at = logged.instructions = logged.end = NULL;
	logged.call = NULL;
	logged.nfetched = 0;
	logged.seen = 0;
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

static IRExpr *emit_sum(IRSB *out, IRExpr *a, IRExpr *b)
{
	return emit_kept(out, Ity_I64, IRExpr_Binop(Iop_Add64, a, b));
}

IRExpr *sample_word(IRSB *out, IRExpr *now, const void *word)
{
	return in_log(emit_sum(out, now, emit_constant((Addr)word - (Addr)&sample_now)));
}

/* Whatever is called may empty the log, or have another thread's. */
static void look_for_calls(const IRSB *out)
{
	for (; logged.seen < out->stmts_used; logged.seen++) {
		IRStmtTag tag = out->stmts[logged.seen]->tag;

		if (tag == Ist_Dirty)
			logged.instructions = logged.end = NULL;
		if (tag == Ist_Dirty || tag == Ist_Exit)
			logged.call = NULL;
	}
}

static IRExpr *kept_end(IRSB *out)
{
	look_for_calls(out);
	if (!logged.end)
		logged.end =
			in_log(sample_load(out, sample_now_at(out), &sample_now.end));
	return logged.end;
}

static IRExpr *kept_instructions(IRSB *out)
{
	look_for_calls(out);
	if (!logged.instructions) {
		logged.instructions =
			sample_load(out, sample_now_at(out), &sample_now.instructions);
		logged.counted = 0;
	}
	return logged.instructions;
}

static const HChar call_name[] = "sample";

Bool sample_is_call(const IRStmt *s)
{
	return s->tag == Ist_Dirty && s->Ist.Dirty.details->cee->name == call_name;
}

/* It leaves the number of instructions alone. */
void sample_call(IRSB *out, void (*function)(UWord batches))
{
	IRExpr *instructions = kept_instructions(out);
	IRDirty *d = unsafeIRDirty_0_N(0, call_name,
		VG_(fnptr_to_fnentry)((void *)function), mkIRExprVec_1(emit_constant(0)));

	/* In this order the comparison itself loads. */
	d->guard = emit_kept(out, Ity_I1,
		IRExpr_Binop(Iop_CmpLT64U, instructions,
			sample_load(out, sample_now_at(out), &sample_now.next)));
	d->guard = emit_kept(out, Ity_I1, IRExpr_Unop(Iop_Not1, d->guard));
	addStmtToIRSB(out, IRStmt_Dirty(d));
	look_for_calls(out);
	logged.instructions = instructions;
	logged.call = d;
	logged.last = 0;
}

void sample_count(IRSB *out, UInt instructions)
{
	IRExpr *since;

	if (!instructions)
		return;
	since = kept_instructions(out);
	logged.counted += instructions;
	sample_store(out, sample_now_at(out), &sample_now.instructions,
		emit_sum(out, since, emit_constant(logged.counted)));
}

/* ---- batches ---- */

/* A batch at a line: its number is in the log. */
struct site {
	const struct batch *batch;
	ULong line;
	ULong known[BATCH_PLACES]; /* where those places are; NOT_KNOWN: it is written */
	UInt places, before;       /* before: the one that is run before it, or 0 */
	UInt next;                 /* of the same bucket, or 0 */
};

#define NOT_KNOWN (~0ull)

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

static Bool same_site(const struct site *a, const struct site *b)
{
	for (UInt i = 0; i < BATCH_PLACES; i++)
		if (a->known[i] != b->known[i])
			return False;
	return a->batch == b->batch && a->line == b->line && a->places == b->places &&
	       a->before == b->before;
}

static UInt find_site(struct site site)
{
	UInt *first = &logged.bucket[((Addr)site.batch / 8 ^ site.line * 31) % BUCKETS];

	for (UInt at = *first; at; at = logged.sites[at].next)
		if (same_site(&logged.sites[at], &site))
			return at;
	site.next = *first;
	return *first = add_site(site);
}

/* ---- generated code ---- */

struct writer {
	IRSB *out;
	IRExpr *now, *end; /* end NULL: nothing is written yet */
};

static void put_word(struct writer *w, IRExpr *word)
{
	if (!w->end)
		w->end = kept_end(w->out);
	addStmtToIRSB(w->out, IRStmt_Store(Iend_LE, w->end, word));
}

static void move_end(struct writer *w, IRExpr *by)
{
	w->end = in_log(emit_sum(w->out, w->end, by));
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
			in_log(emit_sum(
				out, offset, emit_constant((Addr)sample_now.due)))));
}

static IRExpr *word_of(IRSB *out, const struct batch_place *p, IRExpr *at)
{
	return p->first_kind == STORE
		       ? emit_kept(out, Ity_I64, IRExpr_Unop(Iop_Not64, at))
	       : p->writes
		       ? emit_kept(out, Ity_I64,
				 IRExpr_Binop(Iop_Or64, at, emit_constant(SAMPLE_BOTH)))
		       : at;
}

/* A place that is the same whenever the batch runs is not written if that is a matter
 * of bursts only: the site has it. */
static Bool is_known(const struct batch_place *p, const IRExpr *at)
{
	ULong first = at->tag == Iex_Const ? at->Iex.Const.con->Ico.U64 : 0,
	      shift = line_shift();

	return at->tag == Iex_Const &&
	       sample_leaves_out(&sample_now.chosen, first >> shift) &&
	       sample_leaves_out(&sample_now.chosen, (first + p->last) >> shift);
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
	if (is_known(p, at))
		return;
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
	put_word(w, emit_constant(SAMPLE_CODE | line));
	move_end(w, sample_load(w->out, w->now, &sample_now.code));
}

/* Of those that are run whenever the superblock is, its first call writes the last one.
 */
static void write_site(struct writer *w, UInt site)
{
	if (logged.call) {
		logged.last = site;
		logged.call->args[0] = emit_constant(site);
		return;
	}
	put_word(w, emit_constant(site));
	move_end(w, sample_load(w->out, w->now, &sample_now.header));
}

static UInt site_of(const struct batch *b, ULong line, IRExpr *const *at, UInt places)
{
	struct site site = {.batch = b,
		.line = line,
		.places = places,
		.before = logged.call ? logged.last : 0};

	for (UInt i = 0; i < BATCH_PLACES; i++)
		site.known[i] = i < places && is_known(&b->place[i], at[i])
					? at[i]->Iex.Const.con->Ico.U64
					: NOT_KNOWN;
	return find_site(site);
}

void sample_write(
	IRSB *out, const struct batch *b, ULong line, IRExpr *const *at, UInt places)
{
	struct writer w = {.out = out, .now = sample_now_at(out)};

	look_for_calls(out);
	write_site(&w, site_of(b, line, at, places));
	for (UInt i = 0; i <= b->more_lines; i++)
		write_code(&w, line + i);
	for (UInt i = 0; i < places; i++) {
		UInt n = batch_order(b, i);

		write_place(&w, &b->place[n], at[n]);
	}
	if (!w.end)
		return;
	sample_store(out, w.now, &sample_now.end, w.end);
	logged.end = w.end;
}

/* ---- in a burst ---- */

/* No address is like that, and lines of code are not written in a burst. */
static Bool is_chain(ULong word)
{
	return word >> 62 == SAMPLE_CODE >> 62;
}

void sample_begin(UWord batches)
{
	if (logged.mode == SAMPLE_ALL && batches)
		*sample_now.end++ = SAMPLE_CODE | batches;
}

void sample_model(batch_function *model, UInt places, UInt lines)
{
	logged.model_of[places][lines - 1] = model;
}

static const ULong *read_place(const ULong *from, const struct batch_place *p, ULong *at)
{
	*at = p->first_kind == STORE ? ~*from : *from & ~SAMPLE_BOTH;
	return from + 1 + is_wide(p);
}

/* Have they been written?  A fault ends a superblock before its batch is. */
static Bool are_there(const struct site *site, const ULong *from, const ULong *end)
{
	for (UInt i = 0; i < site->places; i++)
		if (site->known[i] == NOT_KNOWN && (from >= end || is_chain(*from)))
			return False;
	return True;
}

static const ULong *run_batch(
	const struct site *site, const ULong *from, const ULong *end)
{
	const struct batch *b = site->batch;
	ULong at[BATCH_PLACES];

	if (!are_there(site, from, end))
		return from;
	for (UInt i = 0; i < site->places; i++) {
		UInt n = batch_order(b, i);

		at[n] = site->known[n];
		if (at[n] == NOT_KNOWN)
			from = read_place(from, &b->place[n], &at[n]);
	}
	logged.model_of[site->places][b->more_lines](
		b, site->line, at[0], at[1], at[2], at[3]);
	return from;
}

static const ULong *run_chain(UInt last, const ULong *from, const ULong *end)
{
	const struct site *site = &logged.sites[last];

	if (site->before)
		from = run_chain(site->before, from, end);
	return run_batch(site, from, end);
}

/* The number of a batch, or of the last one of some that are run one after the other. */
static const ULong *run_next(const ULong *from, const ULong *end)
{
	ULong number = *from++;

	return is_chain(number) ? run_chain((UInt)number, from, end)
				: run_batch(&logged.sites[number], from, end);
}

/* ---- between them ---- */

/* The same on each machine. */
static void run_log(const ULong *at, const ULong *end)
{
	for (UInt i = 0; i < team.size; i++)
		team.member[i]->paths.log(
			team.member[i], (const uint64_t *)at, (const uint64_t *)end);
}

/* ---- both ---- */

void sample_drain(void)
{
	const ULong *at = logged.words, *end = sample_now.end;

	sample_now.end = logged.words;
	if (logged.mode == SAMPLE_ALL)
		while (at < end)
			at = run_next(at, end);
	else if (logged.mode == SAMPLE_SETS && at < end)
		run_log(at, end);
}

static void touch_line(ULong line, enum access kind)
{
	ULong a = line << line_shift(), word = kind == STORE ? ~a : a;

	if (!sample_leaves_out(&sample_now.chosen, line))
		run_log(&word, &word + 1);
}

Bool sample_direct(Addr a, UWord size, enum access kind)
{
	UInt shift = line_shift();

	sample_drain();
	if (logged.mode == SAMPLE_ALL)
		return False;
	if (logged.mode == SAMPLE_SETS)
		for (ULong line = a >> shift; line <= (a + size - 1) >> shift; line++)
			touch_line(line, kind);
	return True;
}
