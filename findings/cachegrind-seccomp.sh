#!/bin/sh
# SPDX-License-Identifier: MIT
# Valgrind 3.19.0 has no seccomp(2): each of its operations fails with ENOSYS, the question which
# actions there are, too.  prctl(2) takes the same filter.  libseccomp, which asks first and then goes
# another way, does not do for the program what it does without cachegrind.
# Seen: alone 0 and 0 (seccomp), 0 (prctl); under cachegrind -1 and -1, errno 38, and 0.
. "$(dirname "$0")/common.sh"
need valgrind=1:3.19.0-1
cat > filter.c <<'END_OF_C'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};
	unsigned action = SECCOMP_RET_ERRNO;
	int asked, taken;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	asked = (int)syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
	taken = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	printf("%d %d %d ", asked, taken, taken ? errno : 0);
	printf("%d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	return 0;
}
END_OF_C
cc -o filter filter.c
same "alone" "0 0 0 0" "$(./filter)"
same "under cachegrind" "-1 -1 38 0" "$(valgrind -q --tool=cachegrind --cachegrind-out-file=counts ./filter 2> said)"
