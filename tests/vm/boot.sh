#!/bin/sh
# SPDX-License-Identifier: MIT
# Boots the emulated machine with the lines of a file as its /tests, and prints
# its console.
#
#	tests/vm/boot.sh DIRECTORY CPU TESTS [free]
#
# DIRECTORY is prepare.sh's, with the initramfs of vm.mk in it.  The emulator
# counts instructions to make time, two cycles each (shift=1), so that counts
# repeat exactly and the two counters cannot be confused; "free" leaves that
# out: then there is no event "instructions".
set -eu

dir=$1 cpu=$2 tests=$3
icount='-icount shift=1,sleep=off -rtc base=2020-01-01,clock=vm'
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
timeout 300 qemu-system-aarch64 -M virt,dtb-randomness=off -cpu "$cpu" -smp 1 -m 256 $icount \
	-nographic -nodefaults -serial stdio -monitor none -no-reboot \
	-kernel "$dir/kernel" -initrd "$work/initramfs" \
	-append 'console=ttyAMA0 quiet nokaslr norandmaps' < /dev/null | tr -d '\r'
