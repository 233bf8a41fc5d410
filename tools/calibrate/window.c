/* SPDX-License-Identifier: MIT
 *
 * The reorder window: two loads that miss, with more and more instructions between them.
 * Where the second no longer fits into the window with the first, they wait for each
 * other.  The loop is written as machine code.
 *
 * Where two threads share a core, each may have half of the window while the other one
 * runs, which in a virtual machine is not to be seen: only the least of many tries, and
 * the knowledge that fewer instructions are never slower, tell the window of a thread
 * that is alone.
 */
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/calibrate/calibrate.h"

enum { FIRST = 64, STEP = 16, POINTS = 56, TURNS = 400, TRIES = 4, ROOM = 1 << 16 };

/* rdi, rsi (x0, x1): where the two walks are; rdx (x2): how many turns. */
typedef void loop_fn(void **one, void **other, size_t turns);

struct loop {
	loop_fn *run;
	void **one, **other;
};

static unsigned char *put_bytes(unsigned char *at, const void *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return at + size;
}

/* Half of them write a register: those that do nothing may share a place in the window,
 * and where all write one, registers run out before the window does. */
static unsigned char *write_others(unsigned char *at, unsigned count)
{
#if defined(__x86_64__)
	static const unsigned char two[] = {
		0x90, 0xb8, 1, 0, 0, 0}; /* nop; mov $1, %eax */
#elif defined(__aarch64__)
	static const uint32_t two[] = {0xd503201f, 0x52800029}; /* nop; mov w9, 1 */
#endif

	for (; count >= 2; count -= 2)
		at = put_bytes(at, two, sizeof(two));
	return at;
}

#if defined(__x86_64__)
static unsigned char *write_turn(unsigned char *at, const unsigned char *top)
{
	static const unsigned char turn[] = {0x48, 0xff, 0xca, 0x0f,
		0x85}, /* dec %rdx; jnz */
		ret = 0xc3;
	int32_t back;

	at = put_bytes(at, turn, sizeof(turn));
	back = (int32_t)(top - (at + sizeof(back)));
	return put_bytes(put_bytes(at, &back, sizeof(back)), &ret, 1);
}

static const unsigned char load_one[] = {0x48, 0x8b, 0x3f}; /* mov (%rdi), %rdi */
static const unsigned char load_other[] = {0x48, 0x8b, 0x36};
#elif defined(__aarch64__)
static unsigned char *write_turn(unsigned char *at, const unsigned char *top)
{
	static const uint32_t turn = 0xf1000442, ret = 0xd65f03c0; /* subs x2, x2, 1 */
	uint32_t back;

	at = put_bytes(at, &turn, sizeof(turn));
	back = 0x54000001 | ((uint32_t)((top - at) / 4) & 0x7ffff) << 5; /* b.ne */
	return put_bytes(put_bytes(at, &back, sizeof(back)), &ret, sizeof(ret));
}

static const uint32_t load_one[] = {0xf9400000}; /* ldr x0, [x0] */
static const uint32_t load_other[] = {0xf9400021};
#endif

static void write_loop(unsigned char *at, unsigned between)
{
	const unsigned char *top = at;

	at = put_bytes(at, load_one, sizeof(load_one));
	at = put_bytes(write_others(at, between), load_other, sizeof(load_other));
	write_turn(write_others(at, between), top);
}

static void run_loop(void *context)
{
	struct loop *loop = context;

	loop->run(loop->one, loop->other, TURNS);
}

/* A cycle of TURNS lines from all over the memory, none of which is in a cache. */
static void **link_lines(char *memory, size_t bytes, uint64_t seed)
{
	size_t lines = bytes / CP_LINE;
	uint64_t state = seed;
	char *first = memory, *at = memory;

	for (unsigned i = 1; i <= TURNS; i++) {
		char *next = first;

		state = cp_next_state(state);
		if (i < TURNS)
			next = memory + (state >> 20) % lines * CP_LINE;
		*(void **)(void *)at = next;
		at = next;
	}
	for (unsigned i = 0; i < TURNS; i++) {
		char *next = *(char **)(void *)at;

		cp_flush_line(at);
		at = next;
	}
	cp_flush_end();
	return (void **)(void *)first;
}

static double time_of(const struct cp_host *host, unsigned char *code, unsigned between)
{
	struct loop loop = {.run = NULL};
	double best = NAN;

	if (mprotect(code, ROOM, PROT_READ | PROT_WRITE) < 0)
		return NAN;
	write_loop(code, between);
	__builtin___clear_cache((char *)code, (char *)code + ROOM);
	if (mprotect(code, ROOM, PROT_READ | PROT_EXEC) < 0)
		return NAN;
	memcpy(&loop.run, &(void *){code}, sizeof(loop.run));
	for (unsigned i = 0; i < TRIES; i++) {
		double one;

		loop.one = link_lines(host->pages, host->page_bytes / 2, 2 * i + 3);
		loop.other = link_lines(host->pages + host->page_bytes / 2,
			host->page_bytes / 2, 2 * i + 4);
		one = cp_best(1, TURNS, run_loop, &loop) / host->ns;
		if (isnan(best) || one < best)
			best = one;
	}
	return best;
}

static void find_window(
	const struct cp_host *host, const struct cp_kept *kept, struct cp_round *round)
{
	double curve[POINTS], middle;
	size_t at;

	for (unsigned i = 0; i < POINTS; i++)
		curve[i] = kept->window[i];
	cp_curve_settle(curve, POINTS);
	/* Passing the instructions takes time, too. */
	for (unsigned i = 0; i < POINTS; i++)
		curve[i] -= 2 * (FIRST + i * STEP) / host->width;
	/* Neither miss waits for the whole of the other one: half of it is much. */
	at = cp_curve_step(curve, POINTS, curve[0], 1.4 * curve[0]);
	middle = FIRST + ((double)at + 0.5) * STEP;
	if (at + 1 < POINTS)
		cp_found_between(round, CP_FIGURE_WINDOW, middle, middle - STEP / 2.0,
			middle + STEP / 2.0);
}

void cp_measure_window(struct cp_host *host, struct cp_round *round)
{
	unsigned char *code = mmap(
		NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return;
	for (unsigned i = 0; i < POINTS && !cp_host_is_late(host); i++)
		cp_keep(host, &host->kept.window[i],
			time_of(host, code, FIRST + i * STEP));
	munmap(code, ROOM);
	if (!cp_host_is_late(host))
		cp_find_both(host, round, find_window);
}
