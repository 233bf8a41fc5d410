/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * execve and execveat.  The core looks at the file, and if it finds nothing wrong it
 * gives up the program before it asks the kernel.  It asks for more than the kernel does
 * (that the file may be read, and is of this architecture), and for less (arguments that
 * are too long, a file system where nothing may be executed, a file that is being
 * written): then the process was at an end.  Here the kernel is asked first, and the core
 * is told what it said, in the place of what the core would look at (--wrap).
 */
#include "system/exec.h"

#include "base/syscall.h"
#include "system/confine.h"
#include "system/links.h"
#include "system/registers.h"
#include "pointers.h"
#include "system/sent.h"
#include "tool.h"
#include "system/vfork.h"
#include "valgrind/core.h"

#include "pub_tool_libcfile.h"
#include "pub_tool_libcsignal.h"
#include "pub_tool_vki.h"

SysRes __real_vgPlain_pre_exec_check(const HChar *path, Int *fd, Bool allow_setuid);
SysRes __wrap_vgPlain_pre_exec_check(const HChar *path, Int *fd, Bool allow_setuid);

static UInt refused; /* why this exec fails; 0: the core is to find out */

/* It is made once more, behind signals that have come: the length of the instruction, and
 * what is in the result's place before it. */
enum { AGAIN = 512, CHECKED };
#if defined(VGA_amd64)
enum { INSTRUCTION = 2 };
#define BEFORE_CALL(number, args) (number)
#else
enum { INSTRUCTION = 4 };
#define BEFORE_CALL(number, args) (args)[0]
#endif

SysRes __wrap_vgPlain_pre_exec_check(const HChar *path, Int *fd, Bool allow_setuid)
{
	/* With fd it is the program itself that is loaded. */
	if (!fd && refused)
		return VG_(mk_SysRes_Error)(refused);
	return __real_vgPlain_pre_exec_check(path, fd, allow_setuid);
}

/* ---- signals, as the next program is to find them ---- */

enum { NSIGNALS = 64, SET = 8, HANDLER = 0, DEFAULT = 0, IGNORE = 1 };

/* The kernel's struct sigaction, larger than any. */
struct action {
	UWord word[8];
};

struct signals {
	UWord mask;
	struct action action[NSIGNALS + 1];
};

static UWord client_mask(ThreadId tid)
{
	vki_sigset_t mask;

	VG_(do_sys_sigprocmask)(tid, VKI_SIG_SETMASK, NULL, &mask);
	return mask.sig[0];
}

static Bool is_ignored(Int number)
{
	vki_sigaction_fromK_t action;

	return !sr_isError(VG_(do_sys_sigaction)(number, NULL, &action)) &&
	       (UWord)action.ksa_handler == IGNORE;
}

/* One that has come, and that the program does not block, strikes before the next program
 * is there. */
static Bool is_struck(ThreadId tid)
{
	UWord pending = 0;

	cp_syscall(SYS_rt_sigpending, &pending, (long)SET);
	return (pending & ~client_mask(tid)) != 0;
}

/* The core handles what the program does not, and the program's own are not to run any
 * more: what is ignored stays so, and what is blocked stays pending. */
static void set_actions(struct signals *signals, UWord blocked)
{
	for (Int i = 1; i <= NSIGNALS; i++) {
		struct action wanted = {{is_ignored(i) ? IGNORE : DEFAULT}};
		UWord now;

		cp_syscall(SYS_rt_sigaction, i, NULL, &signals->action[i], (long)SET);
		now = signals->action[i].word[HANDLER];
		if (now == wanted.word[HANDLER] ||
			(blocked >> (i - 1) & 1 && wanted.word[HANDLER] == DEFAULT))
			continue;
		cp_syscall(SYS_rt_sigaction, i, &wanted, NULL, (long)SET);
	}
}

static void become_program(struct signals *signals, ThreadId tid)
{
	UWord mask = client_mask(tid), all = ~(UWord)0;

	cp_syscall(SYS_rt_sigprocmask, (long)VKI_SIG_SETMASK, &all, &signals->mask,
		(long)SET);
	sent_keep(tid);
	set_actions(signals, mask);
	sent_before();
	cp_syscall(SYS_rt_sigprocmask, (long)VKI_SIG_SETMASK, &mask, NULL, (long)SET);
}

static void become_core(const struct signals *signals)
{
	UWord all = ~(UWord)0;

	cp_syscall(SYS_rt_sigprocmask, (long)VKI_SIG_SETMASK, &all, NULL, (long)SET);
	for (Int i = 1; i <= NSIGNALS; i++)
		cp_syscall(SYS_rt_sigaction, i, &signals->action[i], NULL, (long)SET);
	cp_syscall(SYS_rt_sigprocmask, (long)VKI_SIG_SETMASK, &signals->mask, NULL,
		(long)SET);
}

/* ---- the environment, without what the core has put there ---- */

/* Whoever starts a program under another Valgrind says so in this one, which the core
 * takes for its own. */
static HChar *launcher_path(HChar **environment)
{
	static const HChar name[] = "VALGRIND_LAUNCHER=";

	for (; *environment; environment++)
		if (VG_(strncmp)(*environment, name, sizeof(name) - 1) == 0)
			return *environment;
	return NULL;
}

static HChar **clean_environment(HChar **given)
{
	HChar *kept = launcher_path(given), **copy = VG_(env_clone)(given);
	Int n = 0;

	VG_(env_remove_valgrind_env_stuff)(copy, True, NULL);
	while (copy[n])
		n++;
	if (kept) { /* where there is room for it */
		copy[n] = kept;
		copy[n + 1] = NULL;
	}
	return copy;
}

/* With the texts that the core has copied. */
static void free_environment(HChar **copy)
{
	for (HChar **entry = copy; *entry; entry++)
		if (VG_(strncmp)(*entry, "LD_PRELOAD=", 11) == 0 ||
			VG_(strncmp)(*entry, "LD_LIBRARY_PATH=", 16) == 0)
			VG_(free)(*entry);
	VG_(free)(copy);
}

/* ---- the call ---- */

enum { EMPTY_PATH = 0x1000 }; /* AT_EMPTY_PATH */

/* By its path, which names the process, unless another file or none is there. */
static long execute_itself(UWord argv, HChar **environment)
{
	HChar path[VKI_PATH_MAX];

	if (links_name_program(path))
		return cp_syscall(SYS_execve, path, argv, environment);
	return cp_syscall(
		SYS_execveat, VG_(cl_exec_fd), "", argv, environment, (long)EMPTY_PATH);
}

static long execute_program(UInt number, const UWord *args, HChar **environment)
{
	if (number == __NR_execve && links_are_own(args[0]))
		return execute_itself(args[1], environment);
	if (number == __NR_execve)
		return cp_syscall(SYS_execve, args[0], args[1], environment);
	return cp_syscall(SYS_execveat, args[0], args[1], args[2], environment, args[4]);
}

/* Searches along PATH find nothing, mostly: then signals stay as they are. */
static Bool is_there(UInt number, const UWord *args)
{
	struct vg_stat file;

	return number != __NR_execve ||
	       (can_read(args[0], 1) &&
		       !sr_isError(VG_(stat)((const HChar *)args[0], &file)));
}

void exec_before(ThreadId tid, UInt number, const UWord *args)
{
	static struct signals signals;
	HChar **given, **environment;
	long result;

	refused = 0;
	if ((number != __NR_execve && number != __NR_execveat) || !is_there(number, args))
		return;
	given = (HChar **)args[number == __NR_execve ? 2 : 3];
	if (!can_read_texts((UWord)given)) {
		refused = VKI_EFAULT; /* the core would read them */
		return;
	}
	if (is_struck(tid)) {
		refused = AGAIN;
		return;
	}
	environment = given ? clean_environment(given) : NULL;
	threads_sync();
	vfork_tell();
	become_program(&signals, tid);
	confine_exec(tid);
	result = execute_program(number, args, environment);
	become_core(&signals);
	if (environment)
		free_environment(environment);
	refused = result == 0 ? CHECKED : (UInt)-result;
}

/* The core has looked at arguments before it asked. */
void exec_after(ThreadId tid, UInt number, const UWord *args)
{
	(void)number, (void)args;
	if (refused == AGAIN) {
		call_put(tid, CALL_RESULT, BEFORE_CALL(number, args));
		VG_(set_IP)(tid, VG_(get_IP)(tid) - INSTRUCTION);
		VG_(poll_signals)(tid);
	} else if (refused == CHECKED) { /* AT_EXECVE_CHECK: it could be executed */
		call_put(tid, CALL_RESULT, 0);
	} else if (refused) {
		call_put(tid, CALL_RESULT, (UWord) - (long)refused);
	}
	refused = 0;
}
