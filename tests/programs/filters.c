/* SPDX-License-Identifier: MIT
 *	filters together|apart|far|last
 * Asks what seccomp(2) has, loads filters with each of its flags, one that a simulator
 * can live with and one that it cannot, and says what its two threads may do.
 * apart, far: the other thread has one of its own, of the one kind and of the other.
 * last: its user may begin no process more.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	TSYNC = 1,
	LOG = 2,
	SPEC_ALLOW = 4,
	LISTENER = 8,
	TSYNC_ESRCH = 16,
	UNKNOWN = 1 << 20
};

static pthread_barrier_t turn;

static void say(const char *what, long result)
{
	printf("%s: %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
}

static long load(unsigned call, unsigned error, unsigned flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static void try_calls(const char *who)
{
	say(who, syscall(SYS_getpgid, 0) > 0 ? 1 : -1);
	say(who, syscall(SYS_openat, AT_FDCWD, "/nowhere", O_RDONLY, 0));
}

static void *other(void *how)
{
	pthread_barrier_wait(&turn);
	if (strcmp(how, "apart") == 0)
		say("its own", load(SYS_getsid, 81, 0));
	if (strcmp(how, "far") == 0)
		say("its own", load(SYS_openat, 82, 0));
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	try_calls("the other thread");
	return NULL;
}

static void ask(void)
{
	unsigned allow = SECCOMP_RET_ALLOW, none = 0x12340000;
	char sizes[64];

	say("may allow", syscall(SYS_seccomp, 2, 0, &allow));
	say("may do what there is not", syscall(SYS_seccomp, 2, 0, &none));
	say("sizes", syscall(SYS_seccomp, 3, 0, sizes));
	say("an operation that is not there", syscall(SYS_seccomp, 99, 0, sizes));
	say("no program", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL));
	say("strict with a flag", syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL));
	say("a flag that is not there", load(SYS_getpgid, 71, UNKNOWN));
}

/* Root may always. */
static void begin_no_more(void)
{
	static const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_NPROC, &none);
	syscall(SYS_setuid, 65534);
}

int main(int argc, char **argv)
{
	static const unsigned flags[] = {0, LOG, SPEC_ALLOW, LOG | SPEC_ALLOW};
	pthread_t thread;

	if (argc != 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	ask();
	pthread_barrier_init(&turn, NULL, 2);
	pthread_create(&thread, NULL, other, argv[1]);
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	if (strcmp(argv[1], "last") == 0)
		begin_no_more();
	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		say("a filter", load(SYS_getpgid, 70 + i, flags[i]));
		say("another one", load(SYS_openat, 75 + i, flags[i]));
	}
	try_calls("this thread");
	say("for all", load(SYS_getpgid, 60, TSYNC | TSYNC_ESRCH));
	say("for all", load(SYS_openat, 61, TSYNC | TSYNC_ESRCH | LOG));
	pthread_barrier_wait(&turn);
	pthread_join(thread, NULL);
	return 5;
}
