/* SPDX-License-Identifier: MIT
 *
 * Makes every call of the kernel's table, and some that there are not, with arguments of
 * which each is wrong, and prints what comes of it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* They do not return, wait, or go on where nothing is wrong. */
static const int works[] = {
	SYS_exit, SYS_exit_group, SYS_clone, 435, /* clone3 */
	SYS_rt_sigsuspend, SYS_rt_sigreturn, SYS_vhangup, SYS_kill, SYS_tkill, SYS_tgkill,
	SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_setsid, SYS_setpgid,
	SYS_restart_syscall, SYS_munlockall, SYS_sync, SYS_brk, SYS_wait4, SYS_waitid,
	SYS_set_robust_list, SYS_set_tid_address, SYS_umask, SYS_times, SYS_gettid,
	SYS_getpid, SYS_getppid, SYS_msgget,
#ifdef SYS_fork
	SYS_fork, SYS_vfork, SYS_pause, SYS_alarm, SYS_arch_prctl, SYS_getpgrp,
	334, /* rseq */
	335, /* uretprobe, which is a signal */
	336, /* uprobe */
#endif
};

/* Programs that behave differently (cachepeek-differences(7)) make these. */
static const int differs[] = {
	SYS_remap_file_pages,
	SYS_userfaultfd,
	437, /* openat2 */
	453, /* map_shadow_stack */
	462, /* mseal */
#ifdef SYS_modify_ldt
	SYS_modify_ldt,
#endif
};

/* Which of the wrong arguments is said is another one. */
static const int order[] = {
	SYS_mprotect,
	SYS_pkey_mprotect,
	SYS_rt_sigaction,
	SYS_fcntl,
	SYS_ppoll,
	SYS_dup3,
#ifdef SYS__sysctl
	SYS__sysctl,
#endif
};

#define IN(number, list) is_in(number, list, sizeof(list) / sizeof((list)[0]))

static bool is_in(int number, const int *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == number)
			return true;
	return false;
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int number = 0; number < 480; number++) {
		long result;

		if (IN(number, works) || IN(number, differs) || IN(number, order))
			continue;
		result = syscall(number, -1l, -1l, -1l, -1l, -1l, -1l);
		printf("%d: %d\n", number, result == -1 ? errno : 0);
	}
	return 0;
}
