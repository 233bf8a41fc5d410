#!/bin/sh
# SPDX-License-Identifier: MIT
# cachegrind 3.27.1: its file is opened when the program ends, with what the program may do then:
# of one that has confined itself by Landlock (xz 5.8 does, in every run that only writes to
# standard output) there is no file, and the status is the program's.
# Seen: a file of `xz --version`, which does not confine itself, and none of `xz -c`.
. "$(dirname "$0")/common.sh"
need valgrind=1:3.27.1-0.2 xz-utils=5.8.4-1 liblzma5=5.8.4-1
grep -qw landlock /sys/kernel/security/lsm 2> /dev/null || strace -V > /dev/null 2>&1 ||
	[ "$(uname -r | cut -d. -f1)" -ge 6 ] || cannot "this kernel may have no Landlock"
# counted ARGUMENT...: of xz: its status, and whether there is a file
counted()
{
	rm -f counts
	status=0
	valgrind --tool=cachegrind --cachegrind-out-file=counts "$root/usr/bin/xz" "$@" < log > text 2> said || status=$?
	echo "$status $([ -s counts ] && echo file || echo none) $(grep -c "can't open output data file" said)"
}
echo text > log
same "status, file and complaint of xz --version" "0 file 0" "$(counted --version)"
same "status, file and complaint of xz -c" "0 none 1" "$(counted -c)"
