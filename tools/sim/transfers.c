/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfers.h"

#include "base/random.h"
#include "model/every.h"
#include "pub_tool_vkiscnums.h"
#include "simulated.h"
#include "table.h"
#include "valgrind/core.h"

/* References of all threads together; of a slot, data references. */
#define SLOT 50
#define WINDOW (32 * SLOT)
#define PERIOD (16 * WINDOW)

/* Slots are counted in 256ths, chances in 65536ths. */
#define ONE_SLOT 256u
#define ONE 65536u
/* Uses that are left of an earlier one: it is still the same. */
#define STILL_USED (ONE_SLOT / 4)

/* A thread's counts fade to the half in so many of its windows. */
#define HALF_LIFE 16

#define USERS 4
#define ROOM (1u << 15) /* lines */
#define RECENT 256

struct user {
	UInt serial; /* the thread's; 0: nobody */
	UInt period; /* of what stands here */
	UInt uses, writes;
	UInt slot; /* the last one */
	UShort tid;
	Bool wrote; /* in that slot */
};

struct line {
	ULong number; /* plus one; 0: free */
	struct user users[USERS];
};

/* Slots that windows have seen of a thread; they fade as well. */
struct runner {
	UInt serial; /* 0: it has ended */
	Bool waits;  /* in a system call */
	UInt slots;
	UInt period, window; /* the thread's own; the last that it was in */
	UInt slot;
};

static struct {
	struct table lines; /* empty: there is one thread only */
	UInt living, serials, windows, line_shift;
	ULong clock; /* of data references */
	ULong place; /* of the window in its period */
	Int window;  /* so many references are left of it */
	uint64_t random;
	struct runner *runners; /* by ThreadId */
	ThreadId now;
	struct seat **seats; /* the running thread's; NULL: nobody's */
	UInt part;           /* of a transfer, that is not counted yet */
	struct recent {
		ULong number;
		UInt slot;
		Bool wrote;
	} recent[RECENT];
} transfers;

/* ---- what fades ---- */

/* 2^(-k / HALF_LIFE), in 65536ths. */
static const UInt faded[HALF_LIFE] = {65536, 62757, 60097, 57549, 55109, 52773, 50535,
	48393, 46341, 44376, 42495, 40693, 38968, 37316, 35734, 34219};

static UInt fade(UInt value, UInt periods)
{
	if (periods / HALF_LIFE > 31)
		return 0;
	return (UInt)((ULong)(value >> periods / HALF_LIFE) * faded[periods % HALF_LIFE] /
		      ONE);
}

/* NULL: nobody, or it has ended. */
static struct runner *runner_of(const struct user *user)
{
	struct runner *runner = &transfers.runners[user->tid];

	return user->serial && runner->serial == user->serial ? runner : NULL;
}

/* With what the thread has run since. */
static void fade_user(struct user *user)
{
	const struct runner *runner = runner_of(user);

	if (!runner) {
		user->serial = user->uses = 0;
		return;
	}
	user->uses = fade(user->uses, runner->period - user->period);
	user->writes = fade(user->writes, runner->period - user->period);
	user->period = runner->period;
}

/* ---- lines ---- */

/* Do several threads use it, and does one of them write? */
static Bool is_busy(struct line *line)
{
	UInt threads = 0, writes = 0;

	for (struct user *user = line->users; user < line->users + USERS; user++) {
		fade_user(user);
		if (user->uses < STILL_USED)
			continue;
		threads++;
		writes += user->writes;
	}
	return threads > 1 && writes > 0;
}

static Bool is_kept(const void *line, const void *of)
{
	(void)of;
	return transfers.lines.used < ROOM / 4 && is_busy((struct line *)line);
}

static struct line *line_at(ULong number)
{
	struct line *line = table_find(&transfers.lines, sizeof(*line), number + 1);

	if (line)
		return line;
	if (transfers.lines.used >= ROOM / 2)
		table_resize(&transfers.lines, sizeof(*line), ROOM, is_kept, NULL);
	return table_add(&transfers.lines, sizeof(*line), number + 1);
}

/* The running thread's, in the place of who used it least if all are taken. */
static struct user *user_of(struct line *line)
{
	UInt serial = transfers.runners[transfers.now].serial;
	struct user *least = &line->users[0];

	for (struct user *user = line->users; user < line->users + USERS; user++) {
		fade_user(user);
		if (user->serial == serial)
			return user;
		if (user->uses < least->uses)
			least = user;
	}
	*least = (struct user){.serial = serial,
		.period = transfers.runners[transfers.now].period,
		.slot = ~0u,
		.tid = (UShort)transfers.now};
	return least;
}

/* ---- how many ---- */

/* The part of the thread's slots in which it writes the line; it runs at the same time.
 */
static ULong part_written(const struct user *user)
{
	const struct runner *runner = runner_of(user);

	if (!runner || runner->waits || !user->writes)
		return 0;
	return user->writes >= runner->slots ? ONE
					     : (ULong)user->writes * ONE / runner->slots;
}

/* The chance that others have written the line since the thread used it. */
static UInt chance_of(struct line *line, const struct user *mine)
{
	ULong used = (ULong)mine->uses * ONE / transfers.runners[transfers.now].slots,
	      written = 0, free = ONE;

	for (struct user *user = line->users; user < line->users + USERS; user++) {
		ULong part = user == mine ? 0 : part_written(user);

		written += part;
		free = free * (ONE - part) / ONE;
	}
	return written ? (UInt)(written * ONE / (written + used * free / ONE)) : 0;
}

static void count_transfer(UInt chance)
{
	ULong part = transfers.part + (ULong)chance * (PERIOD / WINDOW);

	for (UInt i = 0; i < tool_options.nmachines; i++)
		transfers.seats[i]->core->count[CP_SIM_contended_transfers] += part / ONE;
	transfers.part = (UInt)(part % ONE);
}

static void use_line(struct line *line, UInt slot, Bool writes)
{
	struct user *user = user_of(line);

	if (user->slot != slot) {
		if (user->uses >= STILL_USED)
			count_transfer(chance_of(line, user));
		user->uses += ONE_SLOT;
		user->slot = slot;
		user->wrote = False;
	}
	if (writes && !user->wrote) {
		user->writes += ONE_SLOT;
		user->wrote = True;
	}
}

/* ---- references ---- */

static void see_line(ULong number, UInt slot, Bool writes)
{
	struct recent *recent = &transfers.recent[number % RECENT];

	if (recent->number == number + 1 && recent->slot == slot &&
		(recent->wrote || !writes))
		return;
	*recent = (struct recent){number + 1, slot, writes};
	use_line(line_at(number), slot, writes);
}

static void see_slot(struct runner *runner, UInt slot)
{
	if (runner->slot == slot)
		return;
	if (runner->window != transfers.windows) {
		runner->window = transfers.windows;
		runner->period++;
		runner->slots = fade(runner->slots, 1);
	}
	runner->slots += ONE_SLOT;
	runner->slot = slot;
}

static void see_data(uint64_t addr, uint32_t size, enum batch_kind kind)
{
	Bool writes = kind == BATCH_WRITE || kind == BATCH_MODIFY || kind == BATCH_STREAM;
	UInt slot = (UInt)(transfers.clock++ / SLOT);
	ULong last;

	if (!transfers.seats || kind == BATCH_PREFETCH || !size)
		return;
	see_slot(&transfers.runners[transfers.now], slot);
	last = (addr + size - 1) >> transfers.line_shift;
	for (ULong number = addr >> transfers.line_shift; number <= last; number++)
		see_line(number, slot, writes);
}

/* ---- windows ---- */

/* So many references until the next one, of the next period. */
static void await_window(void)
{
	ULong place = cp_random(&transfers.random) % (PERIOD - WINDOW);
	ULong wait = PERIOD - WINDOW - transfers.place + place;

	every_part_await(EVERY_TRANSFERS, (int64_t)wait);
	transfers.clock += wait;
	transfers.place = place;
	transfers.window = WINDOW;
	transfers.windows++;
}

static int wants_part(uint32_t references)
{
	if (transfers.living < 2) {
		every_part_await(EVERY_TRANSFERS, INT64_MAX);
		return 0;
	}
	transfers.window -= (Int)references;
	if (transfers.window < 0)
		await_window();
	return transfers.window > 0;
}

/* ---- threads ---- */

void transfers_use(ThreadId tid, struct seat **seats)
{
	if (transfers.runners)
		transfers.runners[tid].waits = False;
	if (transfers.now != tid)
		VG_(memset)(transfers.recent, 0, sizeof(transfers.recent));
	transfers.now = tid;
	transfers.seats = seats;
}

void transfers_before_call(ThreadId tid, UInt number)
{
	if (transfers.runners)
		transfers.runners[tid].waits = number != __NR_sched_yield;
}

static void begin_windows(void)
{
	table_resize(&transfers.lines, sizeof(struct line), ROOM, NULL, NULL);
	VG_(memset)(transfers.recent, 0, sizeof(transfers.recent));
	await_window();
}

static void end_windows(void)
{
	every_part_await(EVERY_TRANSFERS, INT64_MAX);
	VG_(free)(transfers.lines.slots);
	transfers.lines = (struct table){0};
}

void transfers_thread_comes(void)
{
	Bool code_tells = every_has_any();

	if (!transfers.runners || every_parts.of[EVERY_TRANSFERS].wants)
		return;
	every_parts.of[EVERY_TRANSFERS].wants = wants_part;
	every_parts.of[EVERY_TRANSFERS].see = see_data;
	if (!code_tells)
		VG_(discard_translations)(0, ~0ull >> 1, "cachepeek");
}

void transfers_thread_begin(ThreadId tid)
{
	if (!transfers.runners)
		return;
	transfers.runners[tid] =
		(struct runner){.serial = ++transfers.serials, .slot = ~0u};
	if (++transfers.living == 2)
		begin_windows();
}

void transfers_thread_end(ThreadId tid)
{
	if (!transfers.runners || !transfers.runners[tid].serial)
		return;
	transfers.runners[tid].serial = 0;
	if (--transfers.living == 1)
		end_windows();
}

void transfers_fork_child(ThreadId tid)
{
	if (!transfers.runners)
		return;
	for (ThreadId other = 1; other < VG_N_THREADS; other++)
		if (other != tid)
			transfers_thread_end(other);
	transfers.part = 0;
}

void transfers_start(void)
{
	if (tool_options.sample.sets) /* whose code tells nobody */
		return;
	transfers.runners = VG_(calloc)(
		"cachepeek.runners", most_threads(), sizeof(*transfers.runners));
	transfers.line_shift = log2_of(tool_options.machine.l1d.line);
}
