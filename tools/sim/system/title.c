/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Shows others the program's command line and environment: ps, top and /proc show the
 * strings between four addresses, which are those of the simulator until the kernel is
 * told the program's.  From then on they also show the title that a program gives itself.
 * A kernel without PR_SET_MM_MAP goes on showing the simulator's.
 */
#include "tool.h"
#include "pub_tool_libcfile.h"

#include <linux/prctl.h>

#include "base/syscall.h"
#include "valgrind/core.h"

static Bool shown;

static ULong read_number(const HChar **at)
{
	ULong value = 0;

	while (**at == ' ')
		++*at;
	for (; **at && **at != ' '; ++*at)
		value = value * 10 + (ULong)(**at - '0');
	return value;
}

/* Fields that stay: 26 startcode 27 endcode 28 startstack 45 start_data 46 end_data 47
 * start_brk of proc(5). */
static Bool read_map(struct prctl_mm_map *map)
{
	ULong field[48];
	HChar text[1024];
	const HChar *at;
	SysRes file = VG_(open)("/proc/self/stat", VKI_O_RDONLY, 0);
	Int length;

	if (sr_isError(file))
		return False;
	length = VG_(read)((Int)sr_Res(file), text, sizeof(text) - 1);
	VG_(close)((Int)sr_Res(file));
	text[length > 0 ? length : 0] = '\0';
	at = VG_(strrchr)(text, ')');
	if (!at || at[1] != ' ' || !at[2])
		return False;
	at += 3; /* the state is a letter */
	for (UInt i = 4; i < 48; i++)
		field[i] = read_number(&at);
	map->start_code = field[26];
	map->end_code = field[27];
	map->start_stack = field[28];
	map->start_data = field[45];
	map->end_data = field[46];
	map->start_brk = field[47];
	map->brk = (ULong)cp_syscall(SYS_brk, 0);
	map->exe_fd = (__u32)-1;
	return True;
}

static void give_to_program(void)
{
	SysRes file = VG_(open)("/proc/self/cmdline", VKI_O_RDONLY, 0);

	if (sr_isError(file))
		return;
	if (VG_(cl_cmdline_fd) >= 0)
		VG_(close)(VG_(cl_cmdline_fd));
	VG_(cl_cmdline_fd) = VG_(safe_fd)((Int)sr_Res(file));
}

void title_after_fork(void)
{
	if (shown)
		give_to_program(); /* it was the parent's */
}

Bool title_show(Addr arguments, Addr variables, Addr end)
{
	struct prctl_mm_map map;

	VG_(memset)(&map, 0, sizeof(map));
	if (!read_map(&map))
		return False;
	map.arg_start = arguments;
	map.arg_end = map.env_start = variables;
	map.env_end = end;
	shown = cp_syscall(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0) ==
		0;
	if (shown)
		give_to_program();
	return shown;
}
