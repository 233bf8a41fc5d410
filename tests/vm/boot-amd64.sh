#!/bin/sh
# SPDX-License-Identifier: MIT
# Boots an emulated x86-64, of a model that bochs knows, with the lines of a file as its
# /tests, and prints its console.  It executes AVX-512, which qemu does not.
#
#	tests/vm/boot-amd64.sh DIRECTORY MODEL TESTS [SECONDS]
#
# DIRECTORY is prepare.sh's, with the initramfs of vm.mk in it.  After SECONDS (600) it is
# stopped.
set -eu

dir=$(cd "$1" && pwd) model=$2 tests=$3 seconds=${4:-600}
source=$(cd "$(dirname "$0")" && pwd)/boot-amd64.S
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$tests" "$work/tests"
cd "$work"
# The kernel unpacks one archive after the other.
{
	cat "$dir/initramfs.gz"
	echo tests | cpio -o -H newc --quiet | gzip -1
} > initramfs
# Both in pieces of the boot sector's.  The kernel's header says of how many sectors that
# code is that it does not need.
sectors=$(od -An -tu1 -j497 -N1 "$dir/kernel")
tail -c +$(((sectors + 1) * 512 + 1)) "$dir/kernel" > system
initramfs=$(stat -c %s initramfs)
truncate -s %32K system initramfs

# The emulator's XSAVEC, protection keys and fast copies are not what a kernel or a loader expects; the rest
# is time.
command='console=ttyS0 quiet nokaslr mitigations=off nopti noxsaves clearcpuid=xsavec,xsaves,pku,fsrm,erms'
command="$command tsc=reliable no_timer_check init_on_alloc=0 cryptomgr.notests apparmor=0 audit=0 nowatchdog GLIBC_TUNABLES=glibc.cpu.hwcaps=-XSAVEC"
gcc -c -o boot.o -DKERNEL="\"$dir/kernel\"" -DCOMMAND="\"$command\"" -DINITRAMFS_SIZE="$initramfs" \
	-DSYSTEM_PIECES=$(($(stat -c %s system) >> 15)) -DINITRAMFS_PIECES=$(($(stat -c %s initramfs) >> 15)) "$source"
ld --section-start=.sector=0x7c00 --section-start=.parameters=0x10000 -e 0x7c00 -o boot boot.o
objcopy -O binary -j .sector boot sector
objcopy -O binary -j .parameters boot parameters
cat sector parameters system initramfs > disc
# Whole cylinders.
truncate -s %516096 disc

cat > bochsrc << END
config_interface: textconfig
display_library: rfb, options="timeout=0"
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
megs: 256
cpu: model=$model, count=1, ips=200000000, reset_on_triple_fault=0
clock: sync=none, time0=1577836800
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=disk, path=disc, mode=flat, cylinders=0
boot: disk
com1: enabled=1, mode=file, dev=console
log: log
panic: action=fatal
error: action=ignore
info: action=ignore
mouse: enabled=0
END
# Debian's has a debugger, which waits for a command.
echo c > go
timeout -k 5 "$seconds" bochs -q -f bochsrc -rc go < /dev/null > output 2>&1 || true
if [ -e console ]; then
	tr -d '\r' < console
else
	cat output log
fi
