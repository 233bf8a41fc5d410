#!/bin/sh
# SPDX-License-Identifier: MIT
# Boots an emulated machine with the lines of a file as its /tests, and prints
# its console.
#
#	tests/vm/boot.sh DIRECTORY CPU TESTS [free]
#
# DIRECTORY is prepare.sh's, with the initramfs of vm.mk in it.  CPU is rv64… for
# riscv64, anything else is of arm64.  The emulator counts instructions to make
# time, so that counts repeat exactly; on arm64 two cycles each (shift=1), so
# that the two counters cannot be confused.  "free" leaves that out: then there
# is no event "instructions".
set -eu

dir=$1 cpu=$2 tests=$3
shift=1 machine=virt,dtb-randomness=off
qemu=qemu-system-aarch64 console=ttyAMA0
case $cpu in
rv64*)
	shift=0 machine=virt console=ttyS0
	lib=$dir/emulator/usr/lib/x86_64-linux-gnu
	qemu="$(echo "$dir"/emulator/usr/lib*/ld-linux-*.so.*) --library-path $lib
		$dir/emulator/usr/bin/qemu-system-riscv64 -L $dir/emulator/usr/share/qemu"
	;;
esac
icount="-icount shift=$shift,sleep=off -rtc base=2020-01-01,clock=vm"
[ "${4-}" = free ] && icount=

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$tests" "$work/tests"
# The kernel unpacks one archive after the other.
{
	cat "$dir/initramfs.gz"
	(cd "$work" && echo tests | cpio -o -H newc --quiet | gzip -1)
} > "$work/initramfs"

# One CPU: with more, -icount counts what idle ones do.
timeout 900 $qemu -M $machine -cpu "$cpu" -smp 1 -m 256 $icount \
	-nographic -nodefaults -serial stdio -monitor none -no-reboot \
	-kernel "$dir/kernel" -initrd "$work/initramfs" \
	-append "console=$console quiet nokaslr norandmaps" < /dev/null | tr -d '\r'
