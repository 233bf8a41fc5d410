/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The user's number.  Whoever runs the program, it finds that it is 0, as root's is in a
 * user namespace: programs that compare owners agree with themselves because files of the
 * user are 0's, too, and 0 as an argument is the user again.  The kernel knows nothing of
 * this, so that the program may do what its user may.
 *
 * Numbers that the program takes on later are shown as they are, also to what it
 * executes: the run's first process tells its children whose number is shown as 0.
 */
#include "pin/pin.h"

#include <elf.h>

#include "pub_tool_libcproc.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#define SHOWN "CACHEPEEK__USER"
#define WRITABLE (VKI_PROT_READ | VKI_PROT_WRITE)

/* ---- whose is it? ---- */

static Bool read_numbers(const HChar *text, struct pin_user_number *to)
{
	HChar *end;

	if (!text)
		return False;
	to->user = (UInt)VG_(strtoull10)(text, &end);
	if (*end != ':')
		return False;
	to->group = (UInt)VG_(strtoull10)(end + 1, NULL);
	return True;
}

HChar *pin_user_start(HChar *const *envp, Bool kept)
{
	struct pin_user_number own = {(UInt)VG_(geteuid)(), (UInt)VG_(getegid)()};
	HChar *told;

	pin.user.kept = kept;
	pin.user.changed = VG_(calloc)("pin", most_threads(), sizeof(*pin.user.changed));
	if (read_numbers(pin_find(envp, SHOWN), &pin.user.as_root)) {
		pin.user.has_groups = own.user != pin.user.as_root.user ||
				      own.group != pin.user.as_root.group;
		return NULL;
	}
	pin.user.as_root = own;
	told = VG_(malloc)("pin", sizeof(SHOWN) + 24);
	VG_(sprintf)(told, SHOWN "=%u:%u", own.user, own.group);
	return told;
}

static UInt shown_user(UInt number)
{
	return number == pin.user.as_root.user && !pin.user.kept ? 0 : number;
}

static UInt shown_group(UInt number)
{
	return number == pin.user.as_root.group && !pin.user.kept ? 0 : number;
}

UWord pin_user_auxiliary(UWord kind, UWord value)
{
	if (kind == AT_UID || kind == AT_EUID)
		return shown_user((UInt)value);
	if (kind == AT_GID || kind == AT_EGID)
		return shown_group((UInt)value);
	return value;
}

/* ---- arguments ---- */

enum { ARGUMENTS = 4 };

/* Which arguments are numbers of users and groups, a bit each. */
static const struct taker {
	UInt number;
	UChar users, groups;
} takers[] = {
	{__NR_setuid, 1, 0},
	{__NR_setgid, 0, 1},
	{__NR_setreuid, 3, 0},
	{__NR_setregid, 0, 3},
	{__NR_setresuid, 7, 0},
	{__NR_setresgid, 0, 7},
	{__NR_setfsuid, 1, 0},
	{__NR_setfsgid, 0, 1},
	{__NR_fchown, 2, 4},
	{__NR_fchownat, 4, 8},
#ifdef __NR_chown
	{__NR_chown, 2, 4},
	{__NR_lchown, 2, 4},
#endif
};

static const struct taker *find_taker(UInt number)
{
	for (UInt i = 0; i < sizeof(takers) / sizeof(takers[0]); i++)
		if (takers[i].number == number)
			return &takers[i];
	return NULL;
}

void pin_user_before(ThreadId tid, UInt number)
{
	const struct taker *taker = pin.user.kept ? NULL : find_taker(number);

	for (UInt i = 0; taker && i < ARGUMENTS; i++) {
		UInt own = taker->users >> i & 1    ? pin.user.as_root.user
			   : taker->groups >> i & 1 ? pin.user.as_root.group
						    : 0;

		if (!own || (UInt)pin_take(tid, (enum pin_register)i) != 0)
			continue;
		pin_put(tid, (enum pin_register)i, own);
		pin.user.changed[tid] |= 1 << i;
	}
}

void pin_user_behind(ThreadId tid)
{
	for (UInt i = 0; i < ARGUMENTS; i++)
		if (pin.user.changed[tid] >> i & 1)
			pin_put_back(tid, (enum pin_register)i, 0);
	pin.user.changed[tid] = 0;
}

/* ---- answers ---- */

static void answer_three(const UWord *to, UInt (*shown)(UInt))
{
	for (UInt i = 0; i < 3; i++)
		*(UInt *)to[i] = shown(*(UInt *)to[i]);
}

/* One group, the user's. */
static void answer_groups(ThreadId tid, const UWord *args)
{
	UInt *to = (UInt *)args[1];

	if (pin.user.has_groups || (Int)args[0] < 0)
		return;
	if (args[0] && !VG_(am_is_valid_for_client)((Addr)to, sizeof(*to), WRITABLE))
		return;
	if (args[0])
		*to = 0;
	pin_put(tid, PIN_RESULT, 1);
}

static void answer_stat(struct vki_stat *to)
{
	to->st_uid = shown_user(to->st_uid);
	to->st_gid = shown_group(to->st_gid);
}

static void answer_statx(struct vki_statx *to)
{
	to->stx_uid = shown_user(to->stx_uid);
	to->stx_gid = shown_group(to->stx_gid);
}

static void answer_files(UInt number, const UWord *args)
{
	switch (number) {
	case __NR_newfstatat:
		answer_stat((struct vki_stat *)args[2]);
		break;
#ifdef __NR_stat
	case __NR_stat:
	case __NR_lstat:
#endif
	case __NR_fstat:
		answer_stat((struct vki_stat *)args[1]);
		break;
	case __NR_statx:
		answer_statx((struct vki_statx *)args[4]);
		break;
	}
}

static void answer_numbers(ThreadId tid, UInt number, const UWord *args, UInt result)
{
	switch (number) {
	case __NR_getuid:
	case __NR_geteuid:
	case __NR_setfsuid:
		pin_put(tid, PIN_RESULT, shown_user(result));
		break;
	case __NR_getgid:
	case __NR_getegid:
	case __NR_setfsgid:
		pin_put(tid, PIN_RESULT, shown_group(result));
		break;
	case __NR_getresuid:
		answer_three(args, shown_user);
		break;
	case __NR_getresgid:
		answer_three(args, shown_group);
		break;
	case __NR_setgroups:
		pin.user.has_groups = True;
		break;
	}
}

static Bool is_asked_for(UInt number)
{
	switch (number) {
	case __NR_getuid:
	case __NR_geteuid:
	case __NR_getresuid:
	case __NR_getgid:
	case __NR_getegid:
	case __NR_getresgid:
		return pin.user.kept;
	case __NR_getgroups:
		return pin.user.kept || pin.user.has_groups;
	}
	return False;
}

/* Asked for too little room, the kernel fails, and this does not. */
void pin_user_after(ThreadId tid, UInt number, const UWord *args, SysRes result)
{
	if (is_asked_for(number))
		pin.seen |= 1ul << CP_UNPINNED_USER;
	if (pin.user.kept)
		return;
	if (number == __NR_getgroups)
		answer_groups(tid, args);
	if (sr_isError(result))
		return;
	answer_numbers(tid, number, args, (UInt)sr_Res(result));
	answer_files(number, args);
}
