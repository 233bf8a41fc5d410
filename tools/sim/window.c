/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "window.h"
#include "model/every.h"
#include "machines/front.h"

/* Keys that were put there in this epoch; those of others are as if free. */
struct set {
	struct slot_of_set {
		ULong key;
		UInt epoch;
	} * slots;
	ULong room, used;
};

enum { DATA_LINES, DATA_PAGES, CODE_LINES, CODE_PAGES, NSETS };

struct window {
	ULong end; /* instructions of the thread; 0: it is over */
	UInt epoch;
	struct set set[NSETS];
};

static struct window *window;
static struct core *window_core;
static ULong executed; /* before this time slice */
static UInt data_shift, code_shift, page_shift, unit_shift;

/* ---- sets ---- */

static ULong find_key(const struct set *set, ULong key, UInt epoch)
{
	ULong i = (key * 0x9e3779b97f4a7c15ull >> 24) & (set->room - 1);

	while (set->slots[i].epoch == epoch && set->slots[i].key != key)
		i = (i + 1) & (set->room - 1);
	return i;
}

static void grow_set(struct set *set, UInt epoch)
{
	struct set old = *set;

	set->room = old.room ? 2 * old.room : 1024;
	set->slots = VG_(calloc)("cachepeek.window", set->room, sizeof(*set->slots));
	for (ULong i = 0; i < old.room; i++)
		if (old.slots[i].epoch == epoch)
			set->slots[find_key(set, old.slots[i].key, epoch)] = old.slots[i];
	VG_(free)(old.slots);
}

static void touch_key(UInt which, ULong key)
{
	struct set *set = &window->set[which];
	ULong i;

	if (set->used >= set->room / 2)
		grow_set(set, window->epoch);
	i = find_key(set, key, window->epoch);
	if (set->slots[i].epoch == window->epoch)
		return;
	set->slots[i].key = key;
	set->slots[i].epoch = window->epoch;
	set->used++;
	window_core->count[CP_SIM_WINDOW_data_lines + which]++;
}

/* ---- references ---- */

/* Before its first reference. */
static void begin_window(ULong now)
{
	window->end = now + window_length;
	window->epoch++;
	for (UInt i = 0; i < NSETS; i++)
		window->set[i].used = 0;
	window_core->count[CP_SIM_WINDOWS]++;
}

static void see_code(uint64_t line)
{
	Addr a = line << unit_shift;
	ULong now;

	if (!window)
		return;
	now = executed + ((window_core->flex ? front->clock : window_core->clock) >> 32);
	if (now >= window->end)
		begin_window(now);
	touch_key(CODE_LINES, a >> code_shift);
	touch_key(CODE_PAGES, a >> page_shift);
}

static void see_data(uint64_t addr, uint32_t size, enum batch_kind kind)
{
	ULong last = addr + size - 1;

	(void)kind;
	if (!window)
		return;
	if (!window->end)
		begin_window(executed);
	for (ULong line = addr >> data_shift; line <= last >> data_shift; line++)
		touch_key(DATA_LINES, line);
	for (ULong page = addr >> page_shift; page <= last >> page_shift; page++)
		touch_key(DATA_PAGES, page);
}

/* ---- its life ---- */

struct window *window_begin(struct window *was)
{
	if (!window_length)
		return NULL;
	if (!was)
		was = VG_(calloc)("cachepeek.window", 1, sizeof(*was));
	was->end = 0;
	return was;
}

void window_use(struct window *w, struct core *core, ULong instructions)
{
	window = w;
	window_core = core;
	executed = instructions;
}

void window_end(struct window *w)
{
	if (w)
		w->end = 0;
}

void window_start(void)
{
	if (!window_length)
		return;
	unit_shift = log2_of(tool_machine.line);
	data_shift = log2_of(tool_machine.l1d.line);
	code_shift = log2_of(tool_machine.l1i.line);
	page_shift = log2_of(tool_machine.page);
	every_add(see_code, see_data);
}
