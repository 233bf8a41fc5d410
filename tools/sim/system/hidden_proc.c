/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Descriptors as files of /proc: neither in its lists nor behind its links.
 */
#include "base/syscall.h"
#include "pointers.h"
#include "system/hidden_parts.h"
#include "system/registers.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_vki.h"

enum { LONGEST = HIDDEN_LONGEST, PAGE = 4096, OF_PROC = 0x9fa0, SELVES = -10000 };

/* ---- names ---- */

/* The beginning of a path, as far as it can be read. */
static void copy_path(UWord from, HChar to[LONGEST])
{
	UInt n = 0;

	while (n < LONGEST - 1 && ((n && (from + n) % PAGE) || can_read(from + n, 1)) &&
		((const HChar *)from)[n]) {
		to[n] = ((const HChar *)from)[n];
		n++;
	}
	to[n] = '\0';
}

/* Behind the part and its slashes, if that is what comes next. */
static const HChar *pass(const HChar *at, const HChar *part)
{
	SizeT n = VG_(strlen)(part);

	if (!at || VG_(strncmp)(at, part, n) != 0 || (at[n] && at[n] != '/'))
		return NULL;
	for (at += n; *at == '/'; at++)
		;
	return at;
}

static const HChar *pass_number(const HChar *at, UWord *number)
{
	const HChar *from = at;

	*number = 0;
	for (; at && *at >= '0' && *at <= '9' && *number < HIDDEN_NOWHERE; at++)
		*number = *number * 10 + (UWord)(*at - '0');
	if (!at || at == from || (*at && *at != '/'))
		return NULL;
	for (; *at == '/'; at++)
		;
	return at;
}

/* This process's directory of descriptors; behind it. */
static const HChar *pass_directory(const HChar *path)
{
	const HChar *at, *task;
	UWord number;

	for (; *path == '/' && path[1] == '/'; path++)
		;
	if ((at = pass(path, "/dev")))
		return pass(at, "fd");
	if (!(path = pass(path, "/proc")))
		return NULL;
	if (!(at = pass(path, "self")) && !(at = pass(path, "thread-self"))) {
		at = pass_number(path, &number);
		if (!at || number != (UWord)cp_syscall(SYS_getpid))
			return NULL;
	}
	if ((task = pass(at, "task")))
		at = pass_number(task, &number);
	path = at;
	return (at = pass(path, "fd")) ? at : pass(path, "fdinfo");
}

/* Returns how long it is; 0: not known. */
static SizeT name_of(Int fd, HChar to[LONGEST])
{
	HChar name[64];
	long n;

	if (fd == HIDDEN_HERE)
		VG_(strcpy)(name, "/proc/self/cwd");
	else
		VG_(sprintf)(name, "/proc/self/fd/%d", fd);
	n = cp_syscall(SYS_readlinkat, (long)HIDDEN_HERE, name, to, LONGEST - 1);
	to[n > 0 ? n : 0] = '\0';
	return n > 0 ? (SizeT)n : 0;
}

void hidden_path(Int dir, UWord path, const HChar *end, HChar to[LONGEST])
{
	HChar text[LONGEST];
	SizeT n = 0, length, behind = VG_(strlen)(end);

	copy_path(path, text);
	length = VG_(strlen)(text);
	if (length >= behind && text[0] != '/' &&
		VG_(strcmp)(text + length - behind, end) == 0)
		n = name_of(dir, to);
	if (n && n + 1 + length < LONGEST)
		to[n++] = '/';
	VG_(strcpy)(n + length < LONGEST ? to + n : to, text);
}

/* Is it such a directory? */
static Bool is_directory(Int fd)
{
	HChar target[LONGEST];
	const HChar *at;

	if (!name_of(fd, target))
		return False;
	at = pass_directory(target);
	return at && !*at;
}

/* Relative to dir. */
static Bool goes_through(Int dir, UWord path)
{
	HChar text[LONGEST];
	UWord number;

	copy_path(path, text);
	if (text[0] == '/')
		return pass_number(pass_directory(text), &number) && hidden_has(number);
	return pass_number(text, &number) && hidden_has(number) && is_directory(dir);
}

Bool hidden_in_paths(ThreadId tid, Int number)
{
	UInt bits = hidden_paths_of(number), dirs = hidden_takes(tid, number);

	for (UInt i = 0; bits >> i; i++) {
		UWord path = hidden_argument(tid, i);
		Int dir = i && dirs >> (i - 1) & 1 ? (Int)hidden_argument(tid, i - 1)
						   : HIDDEN_HERE;

		if (bits >> i & 1 && path && goes_through(dir, path))
			return True;
	}
	return False;
}

/* ---- lists ---- */

static Bool is_name_hidden(const HChar *name)
{
	UWord number;

	return pass_number(name, &number) && hidden_has(number);
}

/* Returns how long the rest is.  struct linux_dirent has its type behind the name. */
static UWord leave_out(UChar *list, UWord length, Bool wide)
{
	UWord kept = 0;

	for (UWord at = 0, size; at + 19 < length; at += size) {
		size = *(UShort *)(list + at + 16);
		if (!size || size > length - at)
			break;
		if (is_name_hidden((const HChar *)list + at + (wide ? 19 : 18)))
			continue;
		VG_(memmove)(list + kept, list + at, size);
		kept += size;
	}
	return kept;
}

static Bool is_of_proc(Int fd)
{
	UWord about[32];

	return cp_syscall(SYS_fstatfs, (long)fd, about) == 0 && about[0] == OF_PROC;
}

void hidden_list_after(ThreadId tid, Int number, const struct hidden_call *call)
{
	UWord fd = call->given[0], list = call->given[1], size = call->given[2];
	long length = (long)call_take(tid, CALL_RESULT), kept;

	if (length <= 0 || !is_of_proc((Int)fd) || !is_directory((Int)fd))
		return;
	while ((kept = (long)leave_out(
			(UChar *)list, (UWord)length, number == SYS_getdents64)) == 0) {
		length = cp_syscall(number, (long)fd, list, size);
		if (length <= 0) {
			kept = length;
			break;
		}
	}
	call_put(tid, CALL_RESULT, (UWord)kept);
}

/* ---- descriptors of processes ---- */

/* "Pid:\t123" */
Bool hidden_is_this_process(Int pidfd)
{
	static const HChar field[] = "Pid:\t";
	HChar name[64], text[1024];
	const HChar *at;
	UWord number;
	long fd, n;

	if (pidfd <= SELVES)
		return True;
	VG_(sprintf)(name, "/proc/self/fdinfo/%d", pidfd);
	fd = cp_syscall(SYS_openat, (long)HIDDEN_HERE, name, (long)VKI_O_RDONLY);
	if (fd < 0)
		return False;
	n = cp_syscall(SYS_read, fd, text, sizeof(text) - 1);
	cp_syscall(SYS_close, fd);
	text[n > 0 ? n : 0] = '\0';
	at = VG_(strstr)(text, field);
	if (!at)
		return False;
	number = VG_(strtoull10)(at + sizeof(field) - 1, NULL);
	return number == (UWord)cp_syscall(SYS_getpid);
}
