/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Pins what system calls bring: random numbers that are always the same, names of a
 * directory in alphabetical order, the first CPU.  Names the calls whose results cannot
 * be pinned.
 */
#include "pin/pin.h"

#include <errno.h>

#include "base/random.h"

#include "pub_tool_libcfile.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

/* ---- random numbers ---- */

void pin_fill(UChar *to, SizeT size)
{
	while (size--)
		*to++ = (UChar)(cp_random(&pin.random) >> 33);
}

/* /dev/random, /dev/urandom */
static Bool is_random(Int fd)
{
	struct vg_stat s;

	return VG_(fstat)(fd, &s) == 0 && VKI_S_ISCHR(s.mode) &&
	       (s.rdev >> 8 & 0xfff) == 1 &&
	       ((s.rdev & 0xff) == 8 || (s.rdev & 0xff) == 9);
}

/* ---- directories ---- */

/* struct linux_dirent64 */
struct name {
	ULong inode, next;
	UShort size;
	UChar type;
	HChar text[1];
};

static Int by_text(const void *one, const void *other)
{
	return VG_(strcmp)(
		(*(struct name *const *)one)->text, (*(struct name *const *)other)->text);
}

/* The links from name to name stay as they are. */
static void put_back(UChar *to, struct name *const *names, const ULong *next_of, UInt n)
{
	for (UInt i = 0; i < n; i++) {
		VG_(memcpy)(to, names[i], names[i]->size);
		((struct name *)to)->next = next_of[i];
		to += names[i]->size;
	}
}

enum { LEAST = 24 }; /* bytes of an entry */

static void sort_names(UChar *buffer, SizeT size)
{
	UChar *copy = VG_(malloc)("pin", size);
	struct name **names = VG_(malloc)("pin", size / LEAST * sizeof(*names));
	ULong *next_of = VG_(malloc)("pin", size / LEAST * sizeof(*next_of));
	UInt n = 0;

	VG_(memcpy)(copy, buffer, size);
	for (SizeT at = 0; at < size; at += names[n++]->size) {
		names[n] = (struct name *)(copy + at);
		next_of[n] = names[n]->next;
	}
	VG_(ssort)(names, n, sizeof(*names), by_text);
	put_back(buffer, names, next_of, n);
	VG_(free)(next_of);
	VG_(free)(names);
	VG_(free)(copy);
}

/* A long one comes in pieces, and which names are in the first is the kernel's. */
static void look_at_names(Int fd, UChar *buffer, SizeT size)
{
	static Int last = -1;

	if (!size) {
		last = -1;
		return;
	}
	if (fd == last)
		pin.seen |= 1ul << CP_UNPINNED_DIRECTORY;
	last = fd;
	sort_names(buffer, size);
}

/* ---- memory, by which programs choose buffers ---- */

struct sysinfo_ {
	Word uptime;
	UWord loads[3], total, free, shared, buffers, swap, free_swap;
};

enum { UPTIME = 100000 };

static void tell_memory(struct sysinfo_ *to)
{
	*to = (struct sysinfo_){UPTIME, {0, 0, 0}, 16ul << 30, 8ul << 30, 0, 0, 0, 0};
}

/* ---- what cannot be pinned ---- */

static const struct {
	UInt number;
	UChar what;
} unpinned[] = {
	{__NR_getpid, CP_UNPINNED_PID},
	{__NR_gettid, CP_UNPINNED_PID},
	{__NR_getppid, CP_UNPINNED_PID},
	{__NR_getcwd, CP_UNPINNED_CWD},
	{__NR_sched_getaffinity, CP_UNPINNED_CPUS},
	{__NR_socket, CP_UNPINNED_NETWORK},
	{__NR_accept, CP_UNPINNED_NETWORK},
	{__NR_setitimer, CP_UNPINNED_TIMER},
	{__NR_timer_settime, CP_UNPINNED_TIMER},
	{__NR_timerfd_settime, CP_UNPINNED_TIMER},
#ifdef __NR_alarm
	{__NR_alarm, CP_UNPINNED_TIMER},
#endif
	{__NR_getrusage, CP_UNPINNED_USAGE},
	{__NR_uname, CP_UNPINNED_HOST},
};

#define LOADERS "/etc/ld.so."

/* Each program opens the loader's. */
static void note_file(const HChar *path)
{
	static const struct {
		const HChar *place;
		UChar what;
	} places[] = {{"/proc/", CP_UNPINNED_PROC}, {"/sys/", CP_UNPINNED_PROC},
		{"/etc/", CP_UNPINNED_ETC}};

	if (VG_(strncmp)(path, LOADERS, sizeof(LOADERS) - 1) == 0)
		return;
	for (UInt i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (VG_(strncmp)(path, places[i].place, VG_(strlen)(places[i].place)) ==
			0)
			pin.seen |= 1ul << places[i].what;
}

/* Functions of libc that only make such a call have no frame: what is on top of the
 * stack is where they go back to. */
static Bool is_librarys(ThreadId tid)
{
	Addr stack = VG_(get_SP)(tid);

	if (pin.of_program && pin.of_program[tid])
		return False;
	return threads_is_paused(tid) || own_code_at(VG_(get_IP)(tid)) ||
	       (VG_(am_is_valid_for_client)(stack, sizeof(Addr), VKI_PROT_READ) &&
		       own_code_at(*(const Addr *)stack));
}

static void note_call(ThreadId tid, UInt number, const UWord *args)
{
	if (is_librarys(tid))
		return;
	for (UInt i = 0; i < sizeof(unpinned) / sizeof(unpinned[0]); i++)
		if (unpinned[i].number == number)
			pin.seen |= 1ul << unpinned[i].what;
	if (number == __NR_openat)
		note_file((const HChar *)args[1]);
#ifdef __NR_open
	if (number == __NR_open)
		note_file((const HChar *)args[0]);
#endif
}

/* ---- who wakes a thread? ---- */

/* A file has what is read, and nobody needs to come. */
static Bool is_file(Int fd)
{
	struct vg_stat s;

	return VG_(fstat)(fd, &s) == 0 && (VKI_S_ISREG(s.mode) || VKI_S_ISDIR(s.mode));
}

/* A call that time or another process ends, or may. */
static Bool waits_for_others(UInt number, const UWord *args)
{
	switch (number) {
	case __NR_read:
	case __NR_readv:
		return !is_file((Int)args[0]);
	case __NR_nanosleep:
	case __NR_clock_nanosleep:
	case __NR_ppoll:
	case __NR_pselect6:
	case __NR_epoll_pwait:
	case __NR_recvfrom:
	case __NR_recvmsg:
	case __NR_accept:
	case __NR_accept4:
	case __NR_wait4:
	case __NR_waitid:
	case __NR_rt_sigtimedwait:
	case __NR_rt_sigsuspend:
	case __NR_flock:
	case __NR_io_getevents:
#ifdef __NR_poll
	case __NR_poll:
	case __NR_select:
	case __NR_epoll_wait:
	case __NR_pause:
#endif
		return True;
	}
	return False;
}

static void note_wait(UInt number, const UWord *args, SysRes result)
{
	Bool in_vain =
		number == __NR_futex && sr_isError(result) && sr_Err(result) == ETIMEDOUT;

	if (pin_turns() && (in_vain || waits_for_others(number, args)))
		pin.seen |= 1ul << CP_UNPINNED_TURNS;
}

/* ---- all of them ---- */

/* The end of the process waits until its other threads have had their turns. */
static Bool may_wait(ThreadId tid, UInt number)
{
	return number == __NR_exit_group || number == __NR_futex ||
	       number == __NR_ppoll || number == __NR_wait4 || number == __NR_nanosleep ||
	       (number == __NR_read && !is_file((Int)pin_take(tid, PIN_FIRST)));
}

void pin_before(ThreadId tid, UInt number)
{
	if (!pin.wanted)
		return;
	pin_turn_keep(tid, is_librarys(tid) && !may_wait(tid, number));
	pin_mapping_before(tid, number);
	pin_clock_before(tid);
	if (!is_librarys(tid))
		pin_user_before(tid, number);
}

void pin_behind(ThreadId tid)
{
	if (!pin.wanted)
		return;
	pin_clock_behind(tid);
	pin_user_behind(tid);
	pin_turn_keep(tid, False);
}

void pin_call_is_programs(ThreadId tid)
{
	if (pin.wanted && !pin.of_program)
		pin.of_program = VG_(calloc)("pin", most_threads(), 1);
	if (pin.of_program)
		pin.of_program[tid] = True;
}

static void note_result(ThreadId tid, UInt number, const UWord *args, SysRes result)
{
	pin_clock_after(tid, number, args, result);
	if (!is_librarys(tid)) {
		note_wait(number, args, result);
		pin_user_after(tid, number, args, result);
	}
	if (sr_isError(result))
		return;
	note_call(tid, number, args);
	pin_mapping_after(number, args, result);
	if (number == __NR_getrandom)
		pin_fill((UChar *)args[0], sr_Res(result));
	else if (number == __NR_read && sr_Res(result) && is_random((Int)args[0]))
		pin_fill((UChar *)args[1], sr_Res(result));
	else if (number == __NR_getdents64)
		look_at_names((Int)args[0], (UChar *)args[1], sr_Res(result));
	else if (number == __NR_getcpu && args[0])
		*(UInt *)args[0] = 0;
	else if (number == __NR_sysinfo)
		tell_memory((struct sysinfo_ *)args[0]);
}

void pin_after(ThreadId tid, UInt number, const UWord *args, SysRes result)
{
	if (!pin.wanted)
		return;
	note_result(tid, number, args, result);
	if (pin.of_program)
		pin.of_program[tid] = False;
}
