/* SPDX-License-Identifier: MIT
 *	confine HOW [ARGUMENT]
 * Takes something away from itself that a library may have counted on, touches
 * 100 fresh pages in each of the regions "before" (entered once earlier) and
 * "after", and ends with status 7.
 *
 * chroot DIRECTORY, setuid, fsize, nofile, umask: what the system calls of that name do.
 * rights: root without any capability.  mounts: a tree of mounts of its own, with an
 *empty file system on DIRECTORY. strict, filter: no system calls but read, write, close,
 *dup3 and exit; syscall: such a filter by seccomp(2); fault: such a filter, and it ends
 *by SIGSEGV; grow: such a filter, many regions more, and all descriptors closed; take:
 *such a filter, and a file of its own on each of them; allow: a filter that forbids
 * ptrace only; execute: one that kills who executes a program; maze: one that allows
 *everything after some thought; refused: one that the kernel does not take, and it ends
 *by SIGSEGV.  landlock: no file may be opened any more, and it has no child.  written: no
 *file may be written any more, and ARGUMENT is executed.  nothing: none of these.
 */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cachepeek.h"
#include "fresh.h"

enum { PAGES = 100, FILES = 5000 };

static volatile char *memory[3];
static int strict;

static int by_syscall, fault, grow, take;

static int load_filter(struct sock_filter *code, size_t count)
{
	struct sock_fprog program = {(unsigned short)count, code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	if (by_syscall)
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#define LOAD_NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define IF(number, action)                                                               \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),                               \
		BPF_STMT(BPF_RET | BPF_K, action)

static int only_read_write_exit(void)
{
	struct sock_filter code[] = {
		LOAD_NUMBER,
		IF(SYS_read, SECCOMP_RET_ALLOW),
		IF(SYS_write, SECCOMP_RET_ALLOW),
		IF(SYS_close, SECCOMP_RET_ALLOW),
		IF(SYS_dup3, SECCOMP_RET_ALLOW),
		IF(SYS_exit_group, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};

	return load_filter(code, sizeof(code) / sizeof(code[0]));
}

/* That the last instruction is no return is a mistake. */
static int nothing_at_all(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		LOAD_NUMBER,
	};

	return load_filter(code, sizeof(code) / sizeof(code[0])) < 0 ? 0 : -1;
}

static int all_but(unsigned number, unsigned action)
{
	struct sock_filter code[] = {
		LOAD_NUMBER,
		IF(number, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return load_filter(code, sizeof(code) / sizeof(code[0]));
}

#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define MUST(test, k) BPF_JUMP(BPF_JMP | (test), k, 1, 0), KILL
#define MUST_NOT(test, k) BPF_JUMP(BPF_JMP | (test), k, 0, 1), KILL
#define ALU(what, k) BPF_STMT(BPF_ALU | (what), k)
#define SET(k) BPF_STMT(BPF_LD | BPF_IMM, k)

/* Allows everything, but only to who has executed each kind of instruction. */
static int maze(void)
{
	struct sock_filter code[] = {
		SET(100),
		ALU(BPF_ADD | BPF_K, 20),
		BPF_STMT(BPF_MISC | BPF_TAX, 0), /* 120 */
		SET(7),
		ALU(BPF_MUL | BPF_X, 0),
		ALU(BPF_SUB | BPF_K, 40),
		ALU(BPF_DIV | BPF_K, 8),
		ALU(BPF_LSH | BPF_K, 2),
		ALU(BPF_RSH | BPF_K, 1),
		MUST(BPF_JEQ | BPF_K, 200),
		ALU(BPF_OR | BPF_K, 7),
		MUST(BPF_JEQ | BPF_K, 207),
		ALU(BPF_AND | BPF_K, 0xfe),
		ALU(BPF_XOR | BPF_K, 0x0f),
		MUST(BPF_JEQ | BPF_K, 193),
		ALU(BPF_NEG, 0),
		MUST(BPF_JEQ | BPF_K, -193u),
		ALU(BPF_NEG, 0),
		ALU(BPF_ADD | BPF_X, 0),
		BPF_STMT(BPF_ST, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
		MUST(BPF_JEQ | BPF_K, sizeof(struct seccomp_data)),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_STX, 3),
		SET(0),
		BPF_STMT(BPF_LD | BPF_MEM, 3),
		MUST(BPF_JEQ | BPF_K, sizeof(struct seccomp_data)),
		BPF_STMT(BPF_LDX | BPF_MEM, 2),
		BPF_STMT(BPF_MISC | BPF_TXA, 0),
		MUST(BPF_JEQ | BPF_K, 313),
		MUST(BPF_JGT | BPF_K, 312),
		MUST_NOT(BPF_JGT | BPF_K, 313),
		MUST(BPF_JGE | BPF_K, 313),
		MUST_NOT(BPF_JGE | BPF_K, 314),
		MUST(BPF_JSET | BPF_K, 0x38),
		MUST_NOT(BPF_JSET | BPF_K, 0x06),
		MUST(BPF_JEQ | BPF_X, 0),
		BPF_STMT(BPF_LDX | BPF_IMM, 312),
		MUST(BPF_JGT | BPF_X, 0),
		BPF_STMT(BPF_LDX | BPF_W | BPF_LEN, 0),
		BPF_STMT(BPF_MISC | BPF_TXA, 0),
		MUST(BPF_JEQ | BPF_K, sizeof(struct seccomp_data)),
		BPF_STMT(BPF_JMP | BPF_JA, 1),
		KILL,
		SET(SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};

	return load_filter(code, sizeof(code) / sizeof(code[0]));
}

static int become_nobody(void)
{
	return setgroups(0, NULL) < 0 || setgid(65534) < 0 ? -1 : setuid(65534);
}

static int limit(int which, rlim_t to)
{
	struct rlimit both = {to, to};

	return setrlimit(which, &both);
}

static int without(unsigned long long what)
{
	const struct landlock_ruleset_attr all = {.handled_access_fs = what};
	int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);

	if (rules < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		syscall(SYS_landlock_restrict_self, rules, 0) < 0)
		return -1;
	return close(rules);
}

/* Everything of the first version, as xz does from 5.6 on. */
static int no_files(void)
{
	if (without((1 << 13) - 1) < 0)
		return -1;
	/* Whoever waits for any child is told that there is none. */
	if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
		return -1;
	return 0;
}

static int no_writing(const char *program)
{
	if (without(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG) < 0)
		return -1;
	return execl(program, program, NULL);
}

static int without_rights(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};

	return (int)syscall(SYS_capset, &header, none);
}

static int own_mounts(const char *directory)
{
	if (unshare(CLONE_NEWNS) < 0)
		return -1;
	/* EINVAL: its root is no mount, but a directory (chroot). */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 && errno != EINVAL)
		return -1;
	return mount("none", directory, "tmpfs", 0, NULL);
}

static int confine(const char *how, const char *argument)
{
	if (strcmp(how, "chroot") == 0)
		return chroot(argument) < 0 ? -1 : chdir("/");
	if (strcmp(how, "setuid") == 0)
		return become_nobody();
	if (strcmp(how, "fsize") == 0)
		return limit(RLIMIT_FSIZE, 2000);
	if (strcmp(how, "nofile") == 0)
		return limit(RLIMIT_NOFILE, 3);
	if (strcmp(how, "landlock") == 0)
		return no_files();
	if (strcmp(how, "written") == 0)
		return no_writing(argument);
	if (strcmp(how, "umask") == 0)
		return umask(0377) > 0777;
	if (strcmp(how, "rights") == 0)
		return without_rights();
	if (strcmp(how, "mounts") == 0)
		return own_mounts(argument);
	by_syscall = strcmp(how, "syscall") == 0;
	fault = strcmp(how, "fault") == 0 || strcmp(how, "refused") == 0;
	grow = strcmp(how, "grow") == 0;
	take = strcmp(how, "take") == 0;
	if (strcmp(how, "refused") == 0)
		return nothing_at_all();
	if (strcmp(how, "filter") == 0 || by_syscall || fault || grow || take)
		return only_read_write_exit();
	if (strcmp(how, "maze") == 0)
		return maze();
	if (strcmp(how, "allow") == 0)
		return all_but(SYS_ptrace, SECCOMP_RET_ERRNO | EPERM);
	if (strcmp(how, "execute") == 0)
		return all_but(SYS_execve, SECCOMP_RET_KILL_PROCESS);
	strict = strcmp(how, "strict") == 0;
	return strict ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) : 0;
}

static void many_regions(void)
{
	char name[] = "region 00000";

	for (int i = 0; i < 20000; i++) {
		for (int digit = 0, rest = i; digit < 5; digit++, rest /= 10)
			name[11 - digit] = (char)('0' + rest % 10);
		cachepeek_begin(cachepeek_region_register(name));
		cachepeek_end(cachepeek_region_register(name));
	}
}

static void close_all(void)
{
	for (int fd = 3; fd < FILES; fd++)
		close(fd);
}

static void take_all(void)
{
	for (int fd = 3; fd < FILES; fd++)
		dup3(1, fd, 0);
}

int main(int argc, char **argv)
{
	static const char done[] = "done\n";

	for (int i = 0; i < 3; i++)
		memory[i] = fresh(PAGES * PAGE);
	CACHEPEEK_BEGIN("before");
	store_each(memory[0], PAGES, PAGE);
	CACHEPEEK_END("before");
	if (argc < 2 || confine(argv[1], argc > 2 ? argv[2] : NULL) < 0)
		return 1;
	CACHEPEEK_BEGIN("before");
	store_each(memory[1], PAGES, PAGE);
	CACHEPEEK_END("before");
	CACHEPEEK_BEGIN("after");
	store_each(memory[2], PAGES, PAGE);
	CACHEPEEK_END("after");
	if (grow) {
		many_regions();
		close_all();
	}
	if (take)
		take_all();
	if (write(1, done, sizeof(done) - 1) < 0)
		return 1;
	if (strict)
		syscall(SYS_exit, 7);
	if (fault)
		*(volatile char *)8 = 0;
	exit(7);
}
