/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From the program's hard limit on the numbers are the core's, which asks for that in
 * some calls only: others would read, lock, change the mode of the program's own file.
 * Below it are a few of the library's, which has a table of them (base/fd.c).  In a call
 * of the program's the number is one that cannot be open, so that the kernel says what it
 * says of it.
 */
#include "system/hidden.h"

#include "base/fd_limit.h"
#include "base/syscall.h"
#include "system/hidden_parts.h"
#include "system/registers.h"
#include "tool.h"
#include "valgrind/core.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"

static const UWord places[HIDDEN_ARGS] = {
	CALL_ARG1, CALL_ARG2, CALL_ARG3, CALL_ARG4, CALL_ARG5, CALL_ARG6};

UWord hidden_argument(ThreadId tid, UInt i)
{
	return call_take(tid, (PtrdiffT)places[i]);
}

/* ---- whose is a number? ---- */

/* The library's: where each is kept by its number, and whose they are. */
static struct {
	Int **slots, *lowest, *highest;
	const Int *pid;
	UChar *of_program; /* by ThreadId: it has called syscall(2) */
} own;

static Bool is_there(UWord memory, SizeT size)
{
	return VG_(am_is_valid_for_client)(memory, size, VKI_PROT_READ | VKI_PROT_WRITE);
}

void hidden_start(UWord slots, UWord lowest, UWord highest, UWord pid)
{
	if (!is_there(slots, CP_FD_MAX * sizeof(*own.slots)) ||
		!is_there(lowest, sizeof(Int)) || !is_there(highest, sizeof(Int)) ||
		!is_there(pid, sizeof(Int)))
		return;
	if (!own.of_program)
		own.of_program = VG_(calloc)("hidden", most_threads(), 1);
	own.slots = (Int **)slots;
	own.lowest = (Int *)lowest;
	own.highest = (Int *)highest;
	own.pid = (const Int *)pid;
}

/* A child of vfork does with its copies what it wants to. */
static Bool has_own(void)
{
	return own.slots && *own.highest >= 0 && *own.pid == VG_(getpid)();
}

static Bool is_own(UWord fd)
{
	return fd < CP_FD_MAX && has_own() && own.slots[fd];
}

Bool hidden_has(UWord fd)
{
	return fd >= (UWord)VG_(fd_hard_limit) || is_own(fd);
}

UInt hidden_next(UInt from)
{
	if (has_own())
		for (UInt fd = from; (Int)fd <= *own.highest; fd++)
			if (is_own(fd))
				return fd;
	return from > (UInt)VG_(fd_hard_limit) ? from : (UInt)VG_(fd_hard_limit);
}

/* ---- whose is a call? ---- */

void hidden_call_is_programs(ThreadId tid)
{
	if (own.of_program)
		own.of_program[tid] = True;
}

/* The library, which clears up behind the core, too, makes some by functions of libc. */
static Bool is_librarys(ThreadId tid)
{
	Bool programs = own.of_program && own.of_program[tid];

	if (programs)
		own.of_program[tid] = False;
	return threads_is_paused(tid) || (!programs && own_code_at(VG_(get_IP)(tid)));
}

/* ---- numbers that the program chooses ---- */

static Int find_other(Int fd, Int from, Int end)
{
	long other =
		cp_syscall(SYS_fcntl, (long)fd, (long)VKI_F_DUPFD_CLOEXEC, (long)from);

	if (other < end && other < CP_FD_MAX)
		return (Int)other;
	cp_syscall(SYS_close, other);
	return -1;
}

/* The library's descriptor there moves, or is lost, as when it is asked itself. */
static void give_way(Int fd)
{
	Int *slot = own.slots[fd], soft = VG_(fd_soft_limit),
	    to = find_other(fd, soft, VG_(fd_hard_limit));

	if (to < 0)
		to = find_other(fd, soft / 2, soft);
	if (to >= 0) {
		own.slots[to] = slot;
		if (to < *own.lowest)
			*own.lowest = to;
		if (to > *own.highest)
			*own.highest = to;
	}
	*slot = to;
	own.slots[fd] = NULL;
}

static Bool chooses(Int number)
{
#ifdef SYS_dup2
	if (number == SYS_dup2)
		return True;
#endif
	return number == SYS_dup3;
}

/* Returns whether it can be had. */
static Bool make_room(UWord from, UWord to)
{
	if (!hidden_has(to))
		return True;
	if (to >= (UWord)VG_(fd_soft_limit))
		return False;
	if (!hidden_has(from) && cp_syscall(SYS_fcntl, from, (long)VKI_F_GETFD) >= 0)
		give_way((Int)to);
	return True;
}

/* ---- before and behind ---- */

void hidden_change(ThreadId tid, UInt i, UWord value, struct hidden_call *call)
{
	call->changed |= 1u << i;
	call_put(tid, (PtrdiffT)places[i], value);
}

static void hide_arguments(ThreadId tid, Int number, struct hidden_call *call)
{
	UInt taken = hidden_takes(tid, number);

	if (chooses(number) && !make_room((UInt)call->given[0], (UInt)call->given[1]))
		hidden_change(tid, 1, HIDDEN_NOWHERE, call);
	for (UInt i = 0; taken >> i; i++)
		if (taken >> i & 1 && (Int)call->given[i] >= 0 &&
			hidden_has((UInt)call->given[i]))
			hidden_change(tid, i, HIDDEN_NOWHERE, call);
}

struct hidden_call hidden_before(ThreadId tid, Int number)
{
	struct hidden_call call = {.librarys = is_librarys(tid)};

	for (UInt i = 0; i < HIDDEN_ARGS; i++)
		call.given[i] = hidden_argument(tid, i);
	if (call.librarys)
		return call;
	hidden_in_memory(tid, number, &call);
	hide_arguments(tid, number, &call);
	return call;
}

static Bool is_list(Int number)
{
#ifdef SYS_getdents
	if (number == SYS_getdents)
		return True;
#endif
	return number == SYS_getdents64;
}

void hidden_behind(ThreadId tid, Int number, struct hidden_call *call)
{
	for (UInt i = 0; i < call->n_words; i++)
		*call->words[i].at = call->words[i].given;
	VG_(free)(call->words);
	for (UInt i = 0; call->changed >> i; i++)
		if (call->changed >> i & 1 && places[i] != CALL_RESULT)
			call_put(tid, (PtrdiffT)places[i], call->given[i]);
	if (!call->librarys && is_list(number))
		hidden_list_after(tid, number, call);
}

/* ---- without a call ---- */

/* All but the hidden ones, one range after another. */
static long close_range(UInt first, UInt last, UWord flags)
{
	UInt end = (UInt)VG_(fd_hard_limit), next;
	long result;

	if (first > last || first >= end)
		return cp_syscall(CLOSE_RANGE, first > last ? 1l : (long)HIDDEN_NOWHERE,
			first > last ? 0l : (long)HIDDEN_NOWHERE, flags);
	if (last >= end)
		last = end - 1;
	for (; first <= last; first = next + 1) {
		next = hidden_next(first);
		if (next == first)
			continue;
		result = cp_syscall(CLOSE_RANGE, (long)first,
			(long)(next > last ? last : next - 1), flags);
		if (result < 0)
			return result;
	}
	return 0;
}

static Bool is_select(Int number)
{
#ifdef SYS_select
	if (number == SYS_select)
		return True;
#endif
	return number == SYS_pselect6;
}

Bool hidden_answers(ThreadId tid, Int number, const struct hidden_call *call)
{
	long result;

	if (call->librarys)
		return False;
	if (number == CLOSE_RANGE)
		result = close_range(
			(UInt)call->given[0], (UInt)call->given[1], call->given[2]);
	else if (is_select(number) && hidden_in_sets(tid))
		result = -VKI_EBADF;
	else if (hidden_in_paths(tid, number))
		result = -VKI_ENOENT;
	else
		return False;
	call_put(tid, CALL_RESULT, (UWord)result);
	return True;
}

void hidden_after(UInt number, const UWord *args, SysRes result)
{
	if (!sr_isError(result))
		hidden_ring_after(number, args, result);
}
