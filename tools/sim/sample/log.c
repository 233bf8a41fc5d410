/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sample/log.h"
#include "machines/team.h"
#include "sample/words.h"

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
	UInt nfetched, nroots;
	struct words planned;
	struct {
		IRTemp of;
		IRExpr *due; /* where the table has it, in bytes */
	} root[WORDS_MOST];
	struct site *sites; /* numbered from 1 */
	UInt nsites, room;
	UInt bucket[BUCKETS];
	ULong words[(SAMPLE_LOG_MOST + MOST_INSTRUCTIONS) * MOST_WORDS];
	/* In a burst, those of the superblock that have been read, as addresses. */
	ULong told[WORDS_MOST];
	UInt ntold;
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

/* The table's words for one group, and for all: it is there twice, half of it on either
 * side. */
static UInt due_each(void)
{
	return (1u << (line_shift() - due_shift())) / WORD;
}

static UInt due_all(void)
{
	return (sample_now.chosen.mask + 1) * due_each();
}

static void set_due(enum sample_mode to)
{
	UInt all = due_all(), each = due_each();

	for (UInt i = 0; i < 2 * all; i++) {
		UInt group = (i + all / 2) % all / each;

		sample_now.due[i] =
			to == SAMPLE_ALL || (to == SAMPLE_SETS &&
						    sample_now.chosen.part[group])
				? WORD
				: 0;
	}
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

void sample_find(Bool faults)
{
	logged.planned.faults = faults;
	VG_(memset)(logged.is_log, 0, sizeof(logged.is_log));
	logged.now_at = logged.instructions = logged.end = NULL;
	logged.call = NULL;
	logged.nfetched = logged.nroots = 0;
	logged.seen = 0;
	logged.planned.n = 0;
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

		if (tag == Ist_Dirty) {
			logged.instructions = logged.end = NULL;
			logged.planned.n = 0;
		}
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
	/* Where its places are: so far behind a word of the superblock, or there. */
	struct {
		ULong offset;
		UInt word;
	} at[BATCH_PLACES];
	UInt places, before; /* before: the one that is run before it, or 0 */
	UInt first, words;   /* words: of its own, from that one of the superblock on */
	UChar stores, wide;  /* a bit of each of these */
	UInt next;           /* of the same bucket, or 0 */
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

static Bool same_site(const struct site *a, const struct site *b)
{
	for (UInt i = 0; i < BATCH_PLACES; i++)
		if (a->at[i].offset != b->at[i].offset || a->at[i].word != b->at[i].word)
			return False;
	return a->batch == b->batch && a->line == b->line && a->places == b->places &&
	       a->before == b->before && a->first == b->first && a->words == b->words &&
	       a->stores == b->stores && a->wide == b->wide;
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

/* Where the table has that address, in bytes. */
static IRExpr *place_in_due(IRSB *out, IRExpr *address)
{
	UInt shift = due_shift();
	IRExpr *offset = address;

	if (shift)
		offset = emit_kept(out, Ity_I64,
			IRExpr_Binop(Iop_Shr64, offset,
				IRExpr_Const(IRConst_U8((UChar)shift))));
	return emit_kept(out, Ity_I64,
		IRExpr_Binop(Iop_And64, offset, emit_constant((due_all() - 1) * WORD)));
}

static IRExpr *place_of_root(IRSB *out, IRTemp root)
{
	IRExpr *due;

	for (UInt i = 0; i < logged.nroots; i++)
		if (logged.root[i].of == root)
			return logged.root[i].due;
	due = place_in_due(out, IRExpr_RdTmp(root));
	if (logged.nroots < WORDS_MOST) {
		logged.root[logged.nroots].of = root;
		logged.root[logged.nroots++].due = due;
	}
	return due;
}

/* By how much the end moves for what is so far behind that place, up to half of the
 * table. */
static IRExpr *due_behind(IRSB *out, IRExpr *place, Long by)
{
	const ULong *middle = sample_now.due + due_all() / 2;

	return emit_kept(out, Ity_I64,
		IRExpr_Load(Iend_LE, Ity_I64,
			in_log(emit_sum(
				out, place, emit_constant((Addr)middle + (ULong)by)))));
}

/* The same multiple of 8 in each copy of the table. */
static Long folded(Long offset)
{
	Long all = (Long)(due_all() * WORD), in = offset & (all - 1);

	return in < all / 2 ? in : in - all;
}

/* References so far apart have one word. */
static Long reach(void)
{
	return sample_now.chosen.apart ? (Long)(1u << line_shift()) - 1 : 0;
}

/* The group of a multiple of 8 from the root hangs on the root's place. */
static IRExpr *due_from(IRSB *out, IRTemp root, Long offset)
{
	IRExpr *at;

	if (offset % (Long)WORD == 0 && !due_shift())
		return due_behind(out, place_of_root(out, root), folded(offset));
	at = emit_sum(out, IRExpr_RdTmp(root), emit_constant((ULong)offset));
	return due_behind(out, place_in_due(out, at), 0);
}

static IRExpr *due_of(IRSB *out, const struct word *word, IRExpr *at)
{
	IRTemp root = word->at.root;
	IRExpr *due;

	if (root == IRTemp_INVALID || word->low % (Long)WORD)
		due = due_behind(out, place_in_due(out, at), 0);
	else
		due = due_from(out, root, word->low);
	if (word->high == word->low)
		return due;
	return emit_kept(out, Ity_I64,
		IRExpr_Binop(Iop_Or64, due, due_from(out, root, word->high)));
}

static IRExpr *marked(IRSB *out, enum word_kind kind, IRExpr *at)
{
	return kind == WORD_STORES ? emit_kept(out, Ity_I64, IRExpr_Unop(Iop_Not64, at))
	       : kind == WORD_BOTH
		       ? emit_kept(out, Ity_I64,
				 IRExpr_Binop(Iop_Or64, at, emit_constant(SAMPLE_BOTH)))
		       : at;
}

/* A reference of up to a word that spans two lines is rare, and the second line then has
 * references of its own, as a rule: it is written for wider ones only. */
static void write_word(struct writer *w, const struct word *word)
{
	IRExpr *at = address_value(&word->at);

	put_word(w, marked(w->out, word->kind, at));
	move_end(w, due_of(w->out, word, at));
	if (!word->last)
		return;
	at = emit_sum(w->out, at, emit_constant(word->last));
	put_word(w, marked(w->out, word->kind, at));
	move_end(w, due_behind(w->out, place_in_due(w->out, at), 0));
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
	put_word(w,
		emit_constant(SAMPLE_CODE | (line << line_shift() & (SAMPLE_BOTH - 1))));
	move_end(w, sample_load(w->out, w->now, &sample_now.code));
}

/* Sites that are run whenever the superblock is have one word: its first call writes the
 * last one. */
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

static UInt site_of(const struct batch *b, ULong line, const struct address *at,
	UInt places, const struct words_plan *plan)
{
	struct site site = {.batch = b,
		.line = line,
		.places = places,
		.first = plan->first,
		.words = plan->end - plan->first,
		.before = logged.call ? logged.last : 0};

	for (UInt i = 0; i < places; i++) {
		site.at[i].word = plan->word[i];
		site.at[i].offset = at[i].offset;
		if (plan->word[i] != NO_WORD)
			site.at[i].offset -= logged.planned.all[plan->word[i]].at.offset;
	}
	for (UInt i = 0; i < site.words; i++) {
		const struct word *word = &logged.planned.all[site.first + i];

		site.stores |= (UChar)((word->kind == WORD_STORES) << i);
		site.wide |= (UChar)((word->last != 0) << i);
	}
	return find_site(site);
}

void sample_write(IRSB *out, const struct batch *b, ULong line, const struct address *at,
	UInt places)
{
	struct writer w = {.out = out, .now = sample_now_at(out)};
	struct words_plan plan;

	look_for_calls(out);
	logged.planned.reach = reach();
	logged.planned.chosen = &sample_now.chosen;
	words_plan(&logged.planned, &plan, b, at, places);
	write_site(&w, site_of(b, line, at, places, &plan));
	for (UInt i = 0; i <= b->more_lines; i++)
		write_code(&w, line + i);
	for (UInt i = plan.first; i < plan.end; i++)
		write_word(&w, &logged.planned.all[i]);
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

/* Have they been written?  A fault ends a superblock before its batch is. */
static Bool are_there(const struct site *site, const ULong *from, const ULong *end)
{
	if (site->first == 0)
		logged.ntold = 0;
	return logged.ntold >= site->first &&
	       (!site->words || (from < end && !is_chain(*from)));
}

static const ULong *read_words(const struct site *site, const ULong *from)
{
	for (UInt i = 0; i < site->words; i++) {
		ULong word = *from++;

		logged.told[site->first + i] =
			site->stores >> i & 1 ? ~word : word & ~SAMPLE_BOTH;
		from += site->wide >> i & 1;
	}
	logged.ntold = site->first + site->words;
	return from;
}

static const ULong *run_batch(
	const struct site *site, const ULong *from, const ULong *end)
{
	const struct batch *b = site->batch;
	ULong at[BATCH_PLACES];

	if (!are_there(site, from, end))
		return from;
	from = read_words(site, from);
	for (UInt i = 0; i < site->places; i++) {
		at[i] = site->at[i].offset;
		if (site->at[i].word != NO_WORD)
			at[i] += logged.told[site->at[i].word];
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

Bool sample_order(Addr a)
{
	sample_drain();
	return logged.mode == SAMPLE_NOTHING ||
	       (logged.mode == SAMPLE_SETS &&
		       sample_leaves_out(&sample_now.chosen, a >> line_shift()));
}

static void pass_line(ULong line)
{
	uint64_t word = ~((uint64_t)line << line_shift());

	for (UInt i = 0; i < team.size; i++)
		if (team.member[i]->ignores_orders)
			team.member[i]->paths.log(team.member[i], &word, &word + 1);
		else
			core_pass(team.member[i], line);
}

/* Between bursts only what the lines were in sampled sets is of interest. */
Bool sample_stream(Addr a, UWord size)
{
	UInt shift = line_shift();

	sample_drain();
	if (logged.mode == SAMPLE_ALL)
		return False;
	for (ULong line = a >> shift;
		logged.mode == SAMPLE_SETS && line <= (a + size - 1) >> shift; line++)
		if (!sample_leaves_out(&sample_now.chosen, line))
			pass_line(line);
	return True;
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
