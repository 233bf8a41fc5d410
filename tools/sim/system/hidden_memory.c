/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Descriptors that the program names in memory.  The call finds a number there that
 * cannot be open, and fails for it or is over at once; then the program's is there again.
 */
#include "base/syscall.h"
#include "pointers.h"
#include "system/hidden_parts.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"

void hidden_word(Int *at, struct hidden_call *call)
{
	if (!VG_(am_is_valid_for_client)(
		    (Addr)at, sizeof(*at), VKI_PROT_READ | VKI_PROT_WRITE) ||
		*at < 0 || !hidden_has((UWord)*at))
		return;
	if (call->n_words == call->room) {
		call->room = 2 * call->room + 16;
		call->words = VG_(realloc)(
			"hidden", call->words, call->room * sizeof(*call->words));
	}
	call->words[call->n_words].at = at;
	call->words[call->n_words++].given = *at;
	*at = HIDDEN_NOWHERE;
}

static void hide_at(UWord memory, UWord offset, struct hidden_call *call)
{
	if (memory)
		hidden_word((Int *)(memory + offset), call);
}

static void hide_each(UWord array, UWord n, UWord size, struct hidden_call *call)
{
	for (UWord i = 0; i < n && can_read(array + i * size, sizeof(Int)); i++)
		hide_at(array, i * size, call);
}

static UInt word_at(UWord memory, UWord offset)
{
	return can_read(memory + offset, sizeof(UInt)) ? *(UInt *)(memory + offset) : 0;
}

static UWord pointer_at(UWord memory, UWord offset)
{
	return can_read(memory + offset, sizeof(UWord)) ? *(UWord *)(memory + offset) : 0;
}

/* ---- messages ---- */

static void hide_passed(struct vki_msghdr *message, struct hidden_call *call)
{
	UChar *at, *end;

	if (!can_read((UWord)message, sizeof(*message)) ||
		!can_read((UWord)message->msg_control, message->msg_controllen))
		return;
	at = message->msg_control;
	end = at + message->msg_controllen;
	while ((SizeT)(end - at) >= sizeof(struct vki_cmsghdr)) {
		struct vki_cmsghdr *c = (struct vki_cmsghdr *)at;
		SizeT length = c->cmsg_len, left = (SizeT)(end - at);

		if (length < sizeof(*c) || length > left)
			return;
		if (c->cmsg_level == VKI_SOL_SOCKET && c->cmsg_type == VKI_SCM_RIGHTS)
			hide_each((UWord)(c + 1), (length - sizeof(*c)) / sizeof(Int),
				sizeof(Int), call);
		at += VKI_CMSG_ALIGN(length) < left ? VKI_CMSG_ALIGN(length) : left;
	}
}

static void hide_messages(struct vki_mmsghdr *messages, UInt n, struct hidden_call *call)
{
	for (UInt i = 0; i < n; i++)
		hide_passed(&messages[i].msg_hdr, call);
}

/* The kernel goes as far in an array of messages as it can read; the core does not look.
 */
static void cut_counts(ThreadId tid, Int number, UWord *a, struct hidden_call *call)
{
	for (UInt i = 0, counts = narrow_of(number); counts >> i; i++) {
		UInt n = (UInt)a[i];

		if (!(counts >> i & 1))
			continue;
		if (number == SYS_sendmmsg || number == SYS_recvmmsg)
			n = messages_to_read(a[1], n);
		if (n != a[i])
			hidden_change(tid, i, n, call);
		a[i] = n;
	}
}

/* ---- bpf ---- */

/* Where each command's attributes have some; 0 is the end, behind the first. */
static const struct {
	UChar command, offsets[3];
} programs[] = {
	{0, {20, 48, 72}},                                /* MAP_CREATE */
	{1, {0}},                                         /* MAP_LOOKUP_ELEM */
	{2, {0}}, {3, {0}}, {4, {0}}, {5, {72, 112}},     /* PROG_LOAD */
	{6, {8, 16}},                                     /* OBJ_PIN */
	{7, {16}},                                        /* OBJ_GET */
	{8, {0, 4, 16}},                                  /* PROG_ATTACH */
	{9, {0, 4, 20}},                                  /* PROG_DETACH */
	{10, {0}},                                        /* PROG_TEST_RUN */
	{15, {0}},                                        /* OBJ_GET_INFO_BY_FD */
	{16, {0}},                                        /* PROG_QUERY */
	{17, {8}},                                        /* RAW_TRACEPOINT_OPEN */
	{20, {4}},                                        /* TASK_FD_QUERY */
	{21, {0}},                                        /* MAP_LOOKUP_AND_DELETE_ELEM */
	{22, {0}},                                        /* MAP_FREEZE */
	{24, {36}},                                       /* MAP_LOOKUP_BATCH */
	{25, {36}}, {26, {36}}, {27, {36}}, {28, {0, 4}}, /* LINK_CREATE */
	{29, {0, 4, 12}},                                 /* LINK_UPDATE */
	{32, {0}},    /* ENABLE_STATS has none; ITER_CREATE before 5.8 */
	{33, {0}},    /* ITER_CREATE */
	{34, {0}},    /* LINK_DETACH */
	{35, {0, 4}}, /* PROG_BIND_MAP */
	{36, {4}},    /* TOKEN_CREATE */
};

static void hide_in_program(
	UWord command, UWord attributes, UWord size, struct hidden_call *call)
{
	for (UInt i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		for (UInt k = 0; programs[i].command == command && k < 3; k++)
			if ((k == 0 || programs[i].offsets[k]) &&
				programs[i].offsets[k] + sizeof(Int) <= size)
				hide_at(attributes, programs[i].offsets[k], call);
}

/* ---- others ---- */

enum { FOR_THREAD = 2, PATH_BENEATH = 1, ATTACH = 50, ATTACH_GROUP = 52 };

/* aio: its file, and one for its end. */
static void hide_in_blocks(UWord n, UWord blocks, struct hidden_call *call)
{
	for (UWord i = 0; i < n && can_read(blocks + i * sizeof(UWord), sizeof(UWord));
		i++) {
		UWord block = pointer_at(blocks, i * sizeof(UWord));

		hide_at(block, 20, call);
		if (word_at(block, 56) & 1)
			hide_at(block, 60, call);
	}
}

/* ioctl: structs of which one is a part. */
static void hide_in_request(UInt request, UWord argument, struct hidden_call *call)
{
	switch (request) {
	case 0x4020940d: /* FICLONERANGE */
		hide_at(argument, 0, call);
		break;
	case 0xc0189436: /* FIDEDUPERANGE */
		hide_each(argument + 24, word_at(argument, 16) & 0xffff, 32, call);
		break;
	case 0xc028660f: /* EXT4_IOC_MOVE_EXT */
		hide_at(argument, 4, call);
		break;
	case 0xc00c642e: /* DRM_IOCTL_PRIME_FD_TO_HANDLE */
		hide_at(argument, 8, call);
		break;
	case 0xc0303e03: /* SYNC_IOC_MERGE */
		hide_at(argument, 32, call);
		break;
	}
}

/* io_uring_register, by its operations. */
static void hide_registered(UWord what, UWord at, UWord n, struct hidden_call *call)
{
	switch (what & 0x7fffffff) {
	case 2: /* FILES */
		hide_each(at, n, sizeof(Int), call);
		break;
	case 4: /* EVENTFD */
	case 7: /* EVENTFD_ASYNC */
		hide_at(at, 0, call);
		break;
	case 6: /* FILES_UPDATE */
		hide_each(pointer_at(at, 8), n, sizeof(Int), call);
		break;
	case 13: /* FILES2 */
		hide_each(pointer_at(at, 16), word_at(at, 0), sizeof(Int), call);
		break;
	case 14: /* FILES_UPDATE2 */
		hide_each(pointer_at(at, 8), word_at(at, 24), sizeof(Int), call);
		break;
	case 20: /* RING_FDS */
		hide_each(at + 8, n, 16, call);
		break;
	}
}

/* Hides descriptors in the kernel's newer calls. */
static void hide_in_newer(Int number, const UWord *a, struct hidden_call *call)
{
	switch (number) {
	case IO_URING_SETUP:
		hide_at(a[1], 24, call);
		break;
	case IO_URING_REGISTER:
		hide_registered(a[1], a[2], a[3], call);
		break;
	case MOUNT_SETATTR:
	case OPEN_TREE_ATTR:
		hide_at(a[3], 24, call);
		break;
	case STATMOUNT:
	case LISTMOUNT:
		hide_at(a[0], 4, call);
		break;
	case LANDLOCK_ADD_RULE:
		if (a[1] == PATH_BENEATH)
			hide_at(a[2], 8, call);
		break;
	}
}

static void hide_in_structs(Int number, const UWord *a, struct hidden_call *call)
{
	switch (number) {
	case SYS_io_submit:
		hide_in_blocks(a[1], a[2], call);
		break;
	case SYS_bpf:
		hide_in_program(a[0], a[1], a[2], call);
		break;
	case SYS_ioctl:
		hide_in_request((UInt)a[1], a[2], call);
		break;
	case SYS_kcmp:
		if (a[2] == 7 && a[1] == (UWord)cp_syscall(SYS_getpid))
			hide_at(a[4], 0, call);
		break;
	case SYS_mq_notify:
		if (word_at(a[1], 12) == FOR_THREAD)
			hide_at(a[1], 8, call);
		break;
	case SYS_setsockopt:
		if (a[1] == VKI_SOL_SOCKET && (a[2] == ATTACH || a[2] == ATTACH_GROUP))
			hide_at(a[3], 0, call);
		break;
	default:
		hide_in_newer(number, a, call);
	}
}

void hidden_in_memory(ThreadId tid, Int number, struct hidden_call *call)
{
	UWord a[HIDDEN_ARGS];

	for (UInt i = 0; i < HIDDEN_ARGS; i++)
		a[i] = hidden_argument(tid, i);
	cut_counts(tid, number, a, call);
	switch (number) {
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
		if (can_read(a[0], a[1] * sizeof(struct vki_pollfd)))
			hide_each(a[0], a[1], sizeof(struct vki_pollfd), call);
		break;
	case SYS_sendmsg:
		hide_passed((struct vki_msghdr *)a[1], call);
		break;
	case SYS_sendmmsg:
		hide_messages((struct vki_mmsghdr *)a[1], (UInt)a[2], call);
		break;
	case SYS_pselect6: /* without a mask it may have any size */
		if (can_read(a[5], sizeof(UWord)) && !*(const UWord *)a[5])
			hidden_change(tid, 5, 0, call);
		break;
	case IO_URING_ENTER:
		hidden_in_ring(tid, call);
		break;
	default:
		hide_in_structs(number, a, call);
	}
}

/* ---- select ---- */

Bool hidden_in_sets(ThreadId tid)
{
	Int n = (Int)hidden_argument(tid, 0);

	if (n <= 0 || n > (1 << 20)) /* beyond what the kernel has */
		return False;
	for (UInt i = 1; i <= 3; i++) {
		UWord set = hidden_argument(tid, i);

		for (UInt fd = hidden_next(0); set && fd < (UInt)n;
			fd = hidden_next(fd + 1))
			if (can_read(set + fd / 8, 1) &&
				((UChar *)set)[fd / 8] >> fd % 8 & 1)
				return True;
	}
	return False;
}
