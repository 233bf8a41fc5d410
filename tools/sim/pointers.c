/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A bad pointer is for the kernel to refuse (EFAULT), and so is a count beyond what it
 * takes (EINVAL).  The core looks at most pointers first; at the memory of some calls it
 * looks unprepared, and dies, and it walks through arrays of any length.
 */
#include "pointers.h"

#include "base/syscall.h"
#include "valgrind/core.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_vki.h"

enum { PAGE = 4096, BPF_ATTRIBUTES = 256, CONTROL_BLOCK = 64, RLIMIT_BOTH = 16 };

Bool can_read(UWord memory, SizeT size)
{
	return VG_(am_is_valid_for_client)(memory, size, VKI_PROT_READ);
}

Bool can_read_text(UWord text)
{
	for (;; text = (text | (PAGE - 1)) + 1) {
		if (!can_read(text, 1))
			return False;
		for (UWord at = text; at <= (text | (PAGE - 1)); at++)
			if (!*(const HChar *)at)
				return True;
	}
}

static Bool can_read_array(UWord array)
{
	for (; can_read(array, sizeof(UWord)); array += sizeof(UWord))
		if (!*(const UWord *)array)
			return True;
	return !array;
}

Bool can_read_texts(UWord array)
{
	if (!array || !can_read_array(array))
		return !array;
	for (; *(const UWord *)array; array += sizeof(UWord))
		if (!can_read_text(*(const UWord *)array))
			return False;
	return True;
}

static Bool can_read_blocks(UWord array, UWord count)
{
	for (UWord i = 0; i < count; i++, array += sizeof(UWord))
		if (!can_read(array, sizeof(UWord)) ||
			!can_read(*(const UWord *)array, CONTROL_BLOCK))
			return False;
	return True;
}

/* ---- counts ---- */

enum { MOST_PARTS = 1024 }; /* UIO_MAXIOV */

UInt messages_to_read(UWord messages, UInt count)
{
	UInt most = count < MOST_PARTS ? count : MOST_PARTS, n = 0;

	while (n < most && can_read(messages + n * sizeof(struct vki_mmsghdr),
				   sizeof(struct vki_mmsghdr)))
		n++;
	return n;
}

UInt counts_of(int number)
{
	switch (number) {
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
		return 1 << 1;
	case SYS_vmsplice:
	case SYS_sendmmsg:
	case SYS_recvmmsg:
		return 1 << 2;
	case SYS_process_vm_readv:
	case SYS_process_vm_writev:
		return 1 << 2 | 1 << 4;
	}
	return 0;
}

UInt narrow_of(int number)
{
	switch (number) {
	case SYS_fcntl:
	case SYS_futex:
		return 1 << 1;
#ifdef SYS_arch_prctl
	case SYS_arch_prctl:
		return 1 << 0;
#endif
	}
	return counts_of(number);
}

/* poll's limit is the program's; the one that is really set is higher (limits.h). */
static Bool polls_too_many(int number, const unsigned long long *args)
{
	return counts_of(number) == 1 << 1 && (UInt)args[1] > (UInt)VG_(fd_soft_limit);
}

/* ---- calls ---- */

/* By what the core reads of it. */
static Bool is_good(int number, const unsigned long long *args)
{
	switch (number) {
	case SYS_execve:
		return can_read_text(args[0]) && can_read_array(args[1]) &&
		       can_read_array(args[2]);
	case SYS_execveat:
		return can_read_text(args[1]) && can_read_array(args[2]) &&
		       can_read_array(args[3]);
	case SYS_prlimit64:
		return !args[2] || can_read(args[2], RLIMIT_BOTH);
	case SYS_bpf:
		return can_read(args[1], BPF_ATTRIBUTES);
	case SYS_io_submit:
		return can_read_blocks(args[2], args[1]);
	case SYS_sendmmsg:
	case SYS_recvmmsg:
		return !(UInt)args[2] || messages_to_read(args[1], 1);
	case SYS_vmsplice:
		return (UInt)args[2] <= MOST_PARTS;
	case SYS_process_vm_readv:
	case SYS_process_vm_writev:
		return (UInt)args[2] <= MOST_PARTS && (UInt)args[4] <= MOST_PARTS;
	}
	return True;
}

Bool pointers_matter(int number)
{
	return number == SYS_execve || number == SYS_execveat ||
	       number == SYS_prlimit64 || number == SYS_bpf || number == SYS_io_submit ||
	       counts_of(number) != 0;
}

Bool pointers_are_bad(const struct seccomp_data *call, long *result)
{
	if (polls_too_many(call->nr, call->args)) {
		*result = -VKI_EINVAL;
		return True;
	}
	if (is_good(call->nr, call->args))
		return False;
	/* The kernel has other reasons as well, and some come first. */
	*result = cp_syscall(call->nr, call->args[0], call->args[1], call->args[2],
		call->args[3], call->args[4], call->args[5]);
	return True;
}
