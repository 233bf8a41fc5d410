/* SPDX-License-Identifier: MIT */
#include "preload/patch/calls.h"

#include <signal.h>
#include <sys/mman.h>
#include <unwind.h>

#include "base/syscall.h"
#include "preload/patch/architecture.h"
#include "preload/patch/plan.h"

#define MOST_FUNCTIONS 65536
#define LARGEST_STACK (8u << 20)

enum state {
	FREE,
	OPEN,
	OVER,     /* its region has ended, and nobody knows whether it returns */
	GONE,     /* its frame has been left by a jump or an exception */
	RETURNED, /* in another thread than the one whose list it is on */
};

struct call {
	uintptr_t frame;   /* the highest word of it */
	uintptr_t *slot;   /* where its return address is; NULL: that is not known */
	uint32_t *owner;   /* the thread's innermost call: the head of its list */
	uint32_t function; /* its number */
	uint32_t below;    /* the next one of the thread, or that is free */
	enum state state;
	void *region; /* the library's */
};

extern const char cp_call_stubs[];
extern uintptr_t cp_call_returns[CP_CALLS_ROOM];

uintptr_t cp_call_leave(uintptr_t in_stub);
_Unwind_Reason_Code cp_call_unwound(int version, _Unwind_Action actions,
	_Unwind_Exception_Class class, struct _Unwind_Exception *exception,
	struct _Unwind_Context *context);

/* The places that are patched, without a lock: threads of the program take and give them.
 */
static struct {
	const struct cp_patch_host *host;
	void (*on_loaded)(void);
	struct {
		void *handle; /* the library's */
		int32_t saved_at;
	} functions[MOST_FUNCTIONS];
	uint32_t nfunctions;
	uint64_t missed; /* atomic */
	/* The free ones: the first, and in the upper half how often it has changed. */
	uint64_t free_places; /* atomic */
	uint32_t fresh;       /* atomic: from here on none was ever used */
	int sweeping;         /* atomic: somebody looks for more of them */
	struct call calls[CP_CALLS_ROOM];
} patched;

/* ---- places ---- */

static void give_call(uint32_t place)
{
	uint64_t head = __atomic_load_n(&patched.free_places, __ATOMIC_RELAXED), next;

	patched.calls[place].state = FREE;
	do {
		patched.calls[place].below = (uint32_t)head;
		next = ((head >> 32) + 1) << 32 | place;
	} while (!__atomic_compare_exchange_n(&patched.free_places, &head, next, false,
		__ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static uint32_t take_given(void)
{
	uint64_t head = __atomic_load_n(&patched.free_places, __ATOMIC_ACQUIRE), next;

	do {
		if (!(uint32_t)head)
			return 0;
		next = ((head >> 32) + 1) << 32 | patched.calls[(uint32_t)head].below;
	} while (!__atomic_compare_exchange_n(&patched.free_places, &head, next, false,
		__ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
	return (uint32_t)head;
}

static uintptr_t stub_of(uint32_t place)
{
	return (uintptr_t)cp_call_stubs + (uintptr_t)CP_STUB_SIZE * place;
}

/* 0: it is none's. */
static uint32_t place_of(uintptr_t address)
{
	uintptr_t offset = (address & CP_ADDRESS_BITS) - (uintptr_t)cp_call_stubs;

	return offset < (uintptr_t)CP_STUB_SIZE * CP_CALLS_ROOM
		       ? (uint32_t)(offset / CP_STUB_SIZE)
		       : 0;
}

/* Does its frame still have the place's return address, or one that comes back to it?
 * Where that cannot be seen, it may. */
static bool is_intact(uint32_t place)
{
	uintptr_t address;

	if (!patched.calls[place].slot)
		return true;
	if (!patched.host->can_read(patched.calls[place].slot, sizeof(address)))
		return false;
	address = __atomic_load_n(patched.calls[place].slot, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < CP_CALLS_ROOM && place_of(address); i++) {
		if (place_of(address) == place)
			return true;
		address = cp_call_returns[place_of(address)];
	}
	return false;
}

/* Frames that were left, and have been overwritten since. */
static void sweep_calls(void)
{
	if (__atomic_exchange_n(&patched.sweeping, 1, __ATOMIC_ACQUIRE))
		return;
	for (uint32_t place = 1; place < CP_CALLS_ROOM; place++)
		if (patched.calls[place].state == GONE && !is_intact(place))
			give_call(place);
	__atomic_store_n(&patched.sweeping, 0, __ATOMIC_RELEASE);
}

static uint32_t take_call(void)
{
	uint32_t place = take_given();

	if (place)
		return place;
	if (__atomic_load_n(&patched.fresh, __ATOMIC_RELAXED) < CP_CALLS_ROOM) {
		place = __atomic_fetch_add(&patched.fresh, 1, __ATOMIC_RELAXED);
		if (place < CP_CALLS_ROOM)
			return place;
	}
	if (!patched.host->enter())
		return 0;
	sweep_calls();
	patched.host->leave();
	return take_given();
}

/* ---- stacks ---- */

/* A part of memory from low on. */
struct span {
	uintptr_t low, size;
};

static bool is_in(struct span span, uintptr_t address)
{
	return address - span.low < span.size;
}

/* The handler's that we are in, if it has one of its own. */
static struct span signal_stack(void)
{
	stack_t stack;

	if (cp_syscall(SYS_sigaltstack, NULL, &stack) < 0 ||
		!(stack.ss_flags & SS_ONSTACK))
		return (struct span){0, 0};
	return (struct span){(uintptr_t)stack.ss_sp, stack.ss_size};
}

/* Has a call been left whose return address cannot be seen?  It has if another one begins
 * above it on the same stack. */
static bool is_left(uint32_t place, uintptr_t frame)
{
	struct span handler;

	if (patched.calls[place].slot || patched.calls[place].frame == frame)
		return false;
	handler = signal_stack();
	return is_in(handler, frame) == is_in(handler, patched.calls[place].frame);
}

/* ---- a thread's list ---- */

static void end_call(uint32_t place, enum state state)
{
	if (patched.calls[place].state == OPEN)
		patched.host->end(patched.calls[place].region);
	patched.calls[place].state = state;
}

/* Off the list, which has it at *link. */
static void unlink_call(uint32_t *link, enum state state)
{
	uint32_t place = *link;
	bool returned = patched.calls[place].state == RETURNED;

	*link = patched.calls[place].below;
	if (returned)
		patched.calls[place].state = OPEN;
	end_call(place, state);
	if (returned || state == FREE)
		give_call(place);
}

static bool is_over(uint32_t place)
{
	return patched.calls[place].state == RETURNED || !is_intact(place);
}

/* Frames above on the same stack were entered from here; those below have been left. */
static void end_abandoned(uint32_t *top, const uintptr_t *address, uintptr_t frame)
{
	while (*top && patched.calls[*top].frame <= frame &&
		!(patched.calls[*top].frame == frame && place_of(*address) == *top) &&
		(is_over(*top) || is_left(*top, frame)))
		unlink_call(top, OVER);
}

/* A function that has jumped to its beginning, or to another one that came back by a
 * jump: what is open of others in the same frame is over. */
static bool is_again(uint32_t *top, uint32_t number, uintptr_t *address, uintptr_t frame)
{
	uint32_t place = *top;

	while (place && patched.calls[place].frame == frame &&
		patched.calls[place].function != number)
		place = patched.calls[place].below;
	if (!place || patched.calls[place].frame != frame || !place_of(*address))
		return false;
	while (*top != place) {
		uint32_t other = *top;

		*address = cp_call_returns[other];
		unlink_call(top, FREE);
	}
	return true;
}

/* ---- entries and returns ---- */

static uintptr_t *slot_of(uint32_t number, uintptr_t frame)
{
	int32_t saved_at = patched.functions[number].saved_at;

	return saved_at == CP_SAVED_NOWHERE ? NULL : (uintptr_t *)(frame + saved_at);
}

static void open_call(uint32_t *top, uint32_t place, uint32_t number, uintptr_t *address,
	uintptr_t frame, const uintptr_t *arguments)
{
	patched.calls[place] = (struct call){
		frame, slot_of(number, frame), top, number, *top, OPEN, NULL};
	cp_call_returns[place] = *address;
	patched.calls[place].region =
		patched.host->begin(patched.functions[number].handle, arguments);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*address = stub_of(place);
	*top = place;
}

__attribute__((visibility("hidden"))) void cp_call_enter(
	uint32_t number, uintptr_t *address, const uintptr_t *arguments, uintptr_t frame)
{
	uint32_t *top, place;

	if (number == CP_CALL_LOADED) {
		patched.on_loaded();
		return;
	}
	top = patched.host->can_begin();
	if (!top)
		return;
	if (*top) {
		end_abandoned(top, address, frame);
		if (is_again(top, number, address, frame))
			return;
	}
	place = take_call();
	if (place)
		open_call(top, place, number, address, frame, arguments);
	else
		__atomic_fetch_add(&patched.missed, 1, __ATOMIC_RELAXED);
}

/* It may be inside others that are still open, on stacks of their own. */
static bool leave_inner(uint32_t *top, uint32_t place)
{
	uint32_t *link = top;

	while (*link && *link != place) {
		if (is_over(*link))
			unlink_call(link, OVER);
		else
			link = &patched.calls[*link].below;
	}
	if (!*link)
		return false;
	*link = patched.calls[place].below;
	end_call(place, FREE);
	return true;
}

__attribute__((visibility("hidden"))) uintptr_t cp_call_leave(uintptr_t in_stub)
{
	uint32_t place = place_of(in_stub), *top = patched.host->innermost();
	uintptr_t address = cp_call_returns[place];

	if (*top == place) {
		end_call(place, FREE);
		*top = patched.calls[place].below;
	} else if (!leave_inner(top, place) && patched.calls[place].state == OPEN) {
		patched.calls[place].state =
			RETURNED; /* its own thread ends the region */
		return address;
	}
	give_call(place);
	return address;
}

/* ---- other ways out ---- */

/* Called for each frame that an exception leaves: the innermost one above us. */
__attribute__((visibility("hidden"))) _Unwind_Reason_Code cp_call_unwound(int version,
	_Unwind_Action actions, _Unwind_Exception_Class class,
	struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	uint32_t *link;

	(void)version;
	(void)class;
	(void)exception;
	(void)context;
	if (!(actions & _UA_CLEANUP_PHASE))
		return _URC_CONTINUE_UNWIND;
	link = patched.host->innermost();
	while (*link &&
		(patched.calls[*link].frame < (uintptr_t)&link || !is_intact(*link)))
		link = &patched.calls[*link].below;
	if (*link)
		unlink_call(link, GONE);
	return _URC_CONTINUE_UNWIND;
}

/* Ends the calls that the jump leaves on the stack where it ends, and a handler's on
 * another one.  A jump from one coroutine's stack to another leaves nothing: those are
 * farther apart than a stack is large. */
void cp_calls_jump(uintptr_t sp)
{
	uintptr_t here = (uintptr_t)&sp;
	struct span handler = {0, 0}, left = {here, sp - here};
	uint32_t *link = patched.host->innermost();

	if (*link)
		handler = signal_stack();
	if (handler.size && !is_in(handler, sp))
		left = (struct span){sp - LARGEST_STACK, LARGEST_STACK};
	else
		handler.size = 0;
	while (*link) {
		uintptr_t frame = patched.calls[*link].frame;

		if ((is_in(left, frame) && left.size <= LARGEST_STACK) ||
			is_in(handler, frame))
			unlink_call(link, GONE);
		else
			link = &patched.calls[*link].below;
	}
}

/* ---- the beginning ---- */

long cp_calls_add(void *function, int32_t saved_at)
{
	if (patched.nfunctions == MOST_FUNCTIONS || !function)
		return -1;
	patched.functions[patched.nfunctions].handle = function;
	patched.functions[patched.nfunctions].saved_at = saved_at;
	return patched.nfunctions++;
}

uint64_t cp_calls_missed(void)
{
	return __atomic_load_n(&patched.missed, __ATOMIC_RELAXED);
}

/* Now: the page faults would be those of the functions. */
static void touch_memory(void)
{
	for (size_t at = 0; at < sizeof(patched.calls); at += 4096)
		((volatile char *)patched.calls)[at] = 0;
	for (size_t at = 0; at < CP_CALLS_BYTES; at += 4096)
		((volatile char *)cp_call_returns)[at] = 0;
	for (size_t at = 0; at < (size_t)CP_STUB_SIZE * CP_CALLS_ROOM; at += 4096)
		(void)((const volatile char *)cp_call_stubs)[at];
}

enum cp_patch_why cp_calls_start(
	const struct cp_patch_host *library, void (*loaded)(void))
{
	patched.host = library;
	patched.on_loaded = loaded;
	patched.fresh = 1; /* 0 is no place */
	/* The addresses are data, in the place that the code's file keeps for them. */
	if (mmap((void *)cp_call_returns, CP_CALLS_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return CP_PATCH_MEMORY;
	touch_memory();
	return CP_PATCH_DONE;
}
