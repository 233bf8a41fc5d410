/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "window.h"

#include "base/probe.h"
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

/* The window that is open, and the core that refers. */
static struct {
	struct window *now;
	struct core *core;
	ULong executed; /* before this time slice */
	UInt data_shift, code_shift, page_shift, unit_shift;
} window;

/* ---- sets ---- */

static ULong find_key(const struct set *set, ULong key, UInt epoch)
{
	return CP_PROBE(set->room, cp_hash_word(key) >> 24, i,
		set->slots[i].epoch != epoch || set->slots[i].key == key);
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
	struct set *set = &window.now->set[which];
	ULong i;

	if (set->used >= set->room / 2)
		grow_set(set, window.now->epoch);
	i = find_key(set, key, window.now->epoch);
	if (set->slots[i].epoch == window.now->epoch)
		return;
	set->slots[i].key = key;
	set->slots[i].epoch = window.now->epoch;
	set->used++;
	window.core->count[CP_SIM_WINDOW_data_lines + which]++;
}

/* ---- references ---- */

/* Before its first reference. */
static void begin_window(ULong now)
{
	window.now->end = now + tool_options.window;
	window.now->epoch++;
	for (UInt i = 0; i < NSETS; i++)
		window.now->set[i].used = 0;
	window.core->count[CP_SIM_WINDOWS]++;
}

static void see_code(uint64_t line)
{
	Addr a = line << window.unit_shift;
	ULong now;

	if (!window.now)
		return;
	now = window.executed +
	      ((window.core->flex ? front->clock : window.core->clock) >> 32);
	if (now >= window.now->end)
		begin_window(now);
	touch_key(CODE_LINES, a >> window.code_shift);
	touch_key(CODE_PAGES, a >> window.page_shift);
}

static void see_data(uint64_t addr, uint32_t size, enum batch_kind kind)
{
	ULong last = addr + size - 1;

	if (!window.now || kind == BATCH_PREFETCH)
		return;
	if (!window.now->end)
		begin_window(window.executed);
	for (ULong line = addr >> window.data_shift; line <= last >> window.data_shift;
		line++)
		touch_key(DATA_LINES, line);
	for (ULong page = addr >> window.page_shift; page <= last >> window.page_shift;
		page++)
		touch_key(DATA_PAGES, page);
}

/* ---- its life ---- */

struct window *window_begin(struct window *was)
{
	if (!tool_options.window)
		return NULL;
	if (!was)
		was = VG_(calloc)("cachepeek.window", 1, sizeof(*was));
	was->end = 0;
	return was;
}

void window_use(struct window *w, struct core *core, ULong instructions)
{
	window.now = w;
	window.core = core;
	window.executed = instructions;
}

void window_end(struct window *w)
{
	if (w)
		w->end = 0;
}

void window_start(void)
{
	if (!tool_options.window)
		return;
	window.unit_shift = log2_of(tool_options.machine.line);
	window.data_shift = log2_of(tool_options.machine.l1d.line);
	window.code_shift = log2_of(tool_options.machine.l1i.line);
	window.page_shift = log2_of(tool_options.machine.page);
	every_add(see_code, see_data);
}
