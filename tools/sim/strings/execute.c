/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The rounds of a string instruction, made by the host, and the references that they are.
 *
 * A processor's microcode moves whole blocks where it goes upwards and the operands are
 * not in each other's way; then a block is a load and a store.  Elsewhere, and where it
 * compares or loads into a register, each element is one.  In the caches each line is
 * looked up once in either case, when its first byte is come to.
 */
#include "strings/strings.h"

#if defined(VGA_amd64)

#include "model/every.h"
#include "settled.h"
#include "valgrind/guest.h"

enum { PAGE = 4096, SUBTRACTION = 5 }; /* to VEX, of bytes: what the flags are of */

/* An operand: what the rounds went over, and the block that was told last. */
struct operand {
	Addr low, high;
	Addr told;
};

/* An instruction that has rounds left, as its thread left it. */
struct left {
	Addr pc;
	ULong rcx, rsi, rdi;
	Addr told[2];
};

/* The rounds that have just been made. */
static struct {
	struct string s;
	ULong rounds;
	Bool is_down, differs;        /* differs: comparing has ended it */
	struct operand first, second; /* by rsi and by rdi */
	struct left *left;            /* by thread */
} now;

/* ---- the host's instruction ---- */

struct rounds {
	Addr from, to;
	ULong count, rax;
};

#define REPEAT(prefix, operation)                                                        \
	do {                                                                             \
		if (is_down)                                                             \
			__asm__ volatile("std\n\t" prefix " " operation "\n\tcld"        \
					 : "+S"(r->from), "+D"(r->to), "+c"(r->count),   \
					 "+a"(r->rax)                                    \
					 :                                               \
					 : "cc", "memory");                              \
		else                                                                     \
			__asm__ volatile(prefix " " operation                            \
					 : "+S"(r->from), "+D"(r->to), "+c"(r->count),   \
					 "+a"(r->rax)                                    \
					 :                                               \
					 : "cc", "memory");                              \
	} while (0)

#define REPEATS(name, prefix, operation)                                                 \
	static void name(struct rounds *r, UInt log_size, Bool is_down)                  \
	{                                                                                \
		if (log_size == 0)                                                       \
			REPEAT(prefix, operation "b");                                   \
		else if (log_size == 1)                                                  \
			REPEAT(prefix, operation "w");                                   \
		else if (log_size == 2)                                                  \
			REPEAT(prefix, operation "l");                                   \
		else                                                                     \
			REPEAT(prefix, operation "q");                                   \
	}

REPEATS(move, "rep", "movs")
REPEATS(store, "rep", "stos")
REPEATS(load, "rep", "lods")
REPEATS(compare, "repe", "cmps")
REPEATS(compare_until, "repne", "cmps")
REPEATS(scan, "repe", "scas")
REPEATS(scan_until, "repne", "scas")

static void make_rounds(struct rounds *r, const struct string *s, Bool is_down)
{
	static void (*const of[5][2])(struct rounds *, UInt, Bool) = {{move, move},
		{store, store}, {load, load}, {compare, compare_until},
		{scan, scan_until}};

	of[s->kind][s->until_equal](r, s->log_size, is_down);
}

/* ---- how many ---- */

/* Rounds within the page of the first of them; an element across its end is one. */
static ULong rounds_in_page(Addr at, UInt log_size, Bool is_down)
{
	Addr in_page = at % PAGE, room = PAGE - in_page;

	if (room < 1u << log_size)
		return 1;
	return is_down ? (in_page >> log_size) + 1 : room >> log_size;
}

static ULong choose_count(const struct string *s, const struct rounds *r, Bool is_down)
{
	ULong count = r->count, most;

	most = rounds_in_page(r->from, s->log_size, is_down);
	if (strings_use_first(s->kind) && most < count)
		count = most;
	most = rounds_in_page(r->to, s->log_size, is_down);
	if (strings_use_second(s->kind) && most < count)
		count = most;
	return count;
}

/* ---- registers ---- */

static ULong shortened(const struct string *s, ULong value)
{
	return s->is_short ? (UInt)value : value;
}

static Addr base_of(const guest_state *g, enum string_segment segment)
{
	return segment == SEGMENT_FS   ? g->guest_FS_CONST
	       : segment == SEGMENT_GS ? g->guest_GS_CONST
				       : 0;
}

static ULong element_at(Addr at, UInt log_size)
{
	ULong value = 0;

	VG_(memcpy)(&value, (const void *)at, 1u << log_size);
	return value;
}

/* The flags are of what was compared last; returns whether it was equal. */
static Bool set_flags(
	guest_state *g, const struct string *s, const struct rounds *r, Long step)
{
	ULong all = s->log_size == 3 ? ~0ull : (1ull << (8u << s->log_size)) - 1;
	ULong a = s->kind == STRING_CMPS ? element_at(r->from - (Addr)step, s->log_size)
					 : r->rax & all;
	ULong b = element_at(r->to - (Addr)step, s->log_size);

	g->guest_CC_OP = SUBTRACTION + s->log_size;
	g->guest_CC_DEP1 = a;
	g->guest_CC_DEP2 = b;
	g->guest_CC_NDEP = 0;
	return a == b;
}

/* ---- rounds ---- */

static struct operand operand_of(Addr first, ULong size, ULong rounds, Bool is_down)
{
	Addr low = is_down ? first - (rounds - 1) * size : first;

	return (struct operand){low, low + rounds * size, 0};
}

static struct left *left_of_thread(void)
{
	static struct left *all;

	if (!all)
		all = VG_(calloc)("cachepeek.strings", most_threads(), sizeof(*all));
	return &all[VG_(get_running_tid)()];
}

/* Does it go on with what the thread has left? */
static Bool goes_on(const struct left *l, const guest_state *g)
{
	return l->pc == g->guest_RIP && l->rcx == g->guest_RCX &&
	       l->rsi == g->guest_RSI && l->rdi == g->guest_RDI;
}

static void note_rounds(const guest_state *g, const struct string *s,
	const struct rounds *begun, ULong rounds, Bool is_down)
{
	ULong size = 1ull << s->log_size;

	now.s = *s;
	now.rounds = rounds;
	now.is_down = is_down;
	now.first = operand_of(begun->from, size, rounds, is_down);
	now.second = operand_of(begun->to, size, rounds, is_down);
	now.left = left_of_thread();
	if (!goes_on(now.left, g))
		now.left->told[0] = now.left->told[1] = ~0ul;
	now.first.told = now.left->told[0];
	now.second.told = now.left->told[1];
}

static void write_registers(
	guest_state *g, const struct string *s, ULong rounds, Long step, ULong rax)
{
	ULong by = rounds * (ULong)step;

	if (s->kind == STRING_LODS)
		g->guest_RAX = rax;
	if (strings_use_first(s->kind))
		g->guest_RSI = shortened(s, g->guest_RSI + by);
	if (strings_use_second(s->kind))
		g->guest_RDI = shortened(s, g->guest_RDI + by);
	g->guest_RCX = shortened(s, g->guest_RCX) - rounds;
}

static void keep_left(const guest_state *g, Bool is_left)
{
	*now.left = (struct left){.pc = is_left ? g->guest_RIP : 0,
		.rcx = g->guest_RCX,
		.rsi = g->guest_RSI,
		.rdi = g->guest_RDI};
}

/* The core counts superblocks until a turn ends, and signals are looked for.  A block
 * takes about as long as one. */
static void spend_turn(guest_state *g, ULong blocks)
{
	UInt *left = &g->host_EvC_COUNTER;

	*left = *left > blocks ? *left - (UInt)blocks : 0;
}

ULong strings_execute(void *state, ULong packed)
{
	guest_state *g = state;
	struct string s = strings_unpack(packed);
	Bool is_down = (Long)g->guest_DFLAG < 0, is_left;
	Long step = is_down ? -(1l << s.log_size) : 1l << s.log_size;
	struct rounds r = {base_of(g, s.segment) + shortened(&s, g->guest_RSI),
		shortened(&s, g->guest_RDI), shortened(&s, g->guest_RCX), g->guest_RAX};
	struct rounds begun = r;
	ULong rounds;

	now.rounds = 0;
	if (!r.count)
		return 0;
	rounds = r.count = choose_count(&s, &r, is_down);
	make_rounds(&r, &s, is_down);
	rounds -= r.count;
	note_rounds(g, &s, &begun, rounds, is_down);
	write_registers(g, &s, rounds, step, r.rax);
	spend_turn(g, rounds << s.log_size >> 6);
	is_left = g->guest_RCX != 0;
	now.differs =
		strings_compare(s.kind) && set_flags(g, &s, &r, step) == s.until_equal;
	keep_left(g, is_left && !now.differs);
	return is_left && !now.differs;
}

/* ---- references ---- */

/* The next part of an operand: the rest of a block, from so far on. */
static ULong next_part(const struct operand *o, ULong from, Addr *at)
{
	Addr low = o->low + from, high = o->high - from;

	if (now.is_down) {
		low = (high - 1) & ~(STRINGS_BLOCK - 1ul);
		low = low < o->low ? o->low : low;
	} else {
		high = (low | (STRINGS_BLOCK - 1)) + 1;
		high = high > o->high ? o->high : high;
	}
	*at = low;
	return high - low;
}

/* Whole blocks move upwards; stores must not be to what is loaded next. */
static Bool moves_blocks(void)
{
	if (now.is_down || !strings_store(now.s.kind))
		return False;
	return now.s.kind == STRING_STOS ||
	       now.second.low - now.first.low - 1 >= STRINGS_BLOCK - 1;
}

/* A block, or so many elements. */
static void spend_rounds(const struct strings_site *site, ULong size)
{
	ULong rounds = moves_blocks() ? 1 : size >> now.s.log_size;

	for (; site->part && rounds; rounds--)
		site->run_part(site->part, site->line, 0, 0, 0, 0);
}

static void refer(const struct strings_site *site, Addr at, ULong size, Bool stores)
{
	const struct batch *const *batch = stores ? site->store : site->load;

	if (site->run && size == STRINGS_BLOCK) {
		site->run(batch[!moves_blocks()], site->line, at, 0, 0, 0);
		return;
	}
	if (stores)
		settled_store(at, size, site->instruction);
	else
		settled_load(at, size, site->instruction);
	if (stores == strings_store(now.s.kind))
		spend_rounds(site, size);
}

/* A block that was told already is nothing new to the models, but these bytes are to who
 * looks at every one.  Returns where the next part begins. */
static ULong tell_part(const struct strings_site *site, struct operand *o, ULong from,
	Bool stores, UInt *blocks)
{
	Addr at, block;
	ULong size = next_part(o, from, &at);

	block = at / STRINGS_BLOCK;
	if (block == o->told) {
		every_by(site->instruction);
		if (every_has_any())
			every_direct(at, (uint32_t)size, stores ? STORE : LOAD);
		return from + size;
	}
	o->told = block;
	++*blocks;
	refer(site, at, size, stores);
	return from + size;
}

/* In the order of the rounds; of a round first the first operand. */
static void tell_blocks(const struct strings_site *site, UInt *first, UInt *second)
{
	ULong all = now.rounds << now.s.log_size;
	ULong a = strings_use_first(now.s.kind) ? 0 : all,
	      b = strings_use_second(now.s.kind) ? 0 : all;

	while (a < all || b < all)
		if (a <= b && a < all)
			a = tell_part(site, &now.first, a, False, first);
		else
			b = tell_part(
				site, &now.second, b, strings_store(now.s.kind), second);
}

ULong strings_tell(const struct strings_site *site)
{
	UInt first = 0, second = 0, rounds = (UInt)now.rounds;
	Bool stores = strings_store(now.s.kind);

	if (!rounds)
		return 0;
	tell_blocks(site, &first, &second);
	now.left->told[0] = now.first.told;
	now.left->told[1] = now.second.told;
	if (moves_blocks())
		return second;
	if (strings_use_first(now.s.kind))
		settled_more(rounds - first, 0);
	if (strings_use_second(now.s.kind))
		settled_more(stores ? 0 : rounds - second, stores ? rounds - second : 0);
	return rounds;
}

/* ---- iterations ---- */

static Addr element_of(const struct operand *o, ULong round)
{
	ULong by = round << now.s.log_size;

	return now.is_down ? o->high - by - (1ul << now.s.log_size) : o->low + by;
}

static void refer_apart(const struct strings_site *site, Addr first, Addr second)
{
	UWord size = 1ul << now.s.log_size;

	if (strings_use_first(now.s.kind))
		settled_load(first, size, site->instruction);
	if (!strings_use_second(now.s.kind))
		return;
	if (strings_store(now.s.kind))
		settled_store(second, size, site->instruction);
	else
		settled_load(second, size, site->instruction);
}

void strings_tell_each(const struct strings_site *site)
{
	Bool has_first = strings_use_first(now.s.kind);

	for (ULong i = 0; i < now.rounds; i++) {
		Addr first = element_of(&now.first, i),
		     second = element_of(&now.second, i);
		Bool is_last = now.differs && i == now.rounds - 1;

		if (site->run)
			site->run(site->round[is_last], site->line,
				has_first ? first : second, second, 0, 0);
		else
			refer_apart(site, first, second);
	}
	if (!site->run)
		settled_instructions(now.rounds - now.differs);
}

#endif
