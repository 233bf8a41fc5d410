#!/bin/sh
# SPDX-License-Identifier: MIT
# glibc 2.43: start_thread makes a name for the thread's stack of the digits of its number,
# also where nobody asks for it (glibc.mem.decorate_maps=0): instructions of a program with
# threads hang on how many processes there have been.
# Seen: about 22 instructions more of each thread whose number has 5 digits in place of 3.
. "$(dirname "$0")/common.sh"
[ "$(getconf GNU_LIBC_VERSION)" = "glibc 2.43" ] || cannot "another C library"
need valgrind=1:3.27.1-0.2
apart="unshare --pid --fork --mount-proc --propagation unchanged"
[ "$(id -u)" = 0 ] || apart="unshare --user --map-root-user --pid --fork --mount-proc"
$apart true 2> /dev/null || cannot "no numbers of processes of one's own"
cat > threads.c <<'END'
#include <pthread.h>
#include <unistd.h>

/* Until it is waited for, each time. */
static void *nothing(void *argument)
{
	usleep(2000);
	return argument;
}

int main(void)
{
	for (int i = 0; i < 60; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, nothing, NULL);
		pthread_join(thread, NULL);
	}
	return 0;
}
END
cc -o threads threads.c -pthread
# instructions LAST: where the last process had that number; the least of five runs
instructions()
{
	for run in 1 2 3 4 5; do
		$apart sh -c "echo $1 > /proc/sys/kernel/ns_last_pid
			valgrind --tool=cachegrind --cachegrind-out-file=counts --cache-sim=no ./threads > log 2>&1"
		awk '/^summary:/ { print $2 }' counts
	done | sort -n | head -n 1
}
three=$(instructions 200) five=$(instructions 20000)
each=$(((five - three) / 60))
[ $each -lt 18 ] || [ $each -gt 26 ] || each="about 22"
same "instructions more of a thread whose number has 5 digits, not 3" "about 22" "$each"
