#!/bin/sh
# SPDX-License-Identifier: MIT
# Fetches what an emulated machine needs of Debian: a kernel, for other processors
# libpfm4, for arm64 the parts of Valgrind that the simulated PMU is linked with and
# libiberty, and for riscv64 a younger emulator than Debian 12 has.
#
#	tests/vm/prepare.sh DIRECTORY amd64|arm64|riscv64
#
# Leaves kernel, debian/ (libpfm4, Valgrind, their headers), emulator/ (riscv64) and
# versions in DIRECTORY; when they are there already it does nothing.  apt runs
# with state and cache of its own below DIRECTORY, so that the machine's
# packages stay as they are; mirrors and keys are the machine's own.  What
# cannot be had goes into DIRECTORY/missing, one line, and the status is 0 then,
# too: the machine's test is skipped.
set -eu

mkdir -p "$1"
dir=$(cd "$1" && pwd)
arch=$2
rm -f "$dir/missing"

skip()
{
	echo "$*" > "$dir/missing"
	echo "prepare.sh: $arch: $*" >&2
	exit 0
}

case $arch in
amd64) tools=bochs ;;
arm64) tools='qemu-system-aarch64 aarch64-linux-gnu-gcc' ;;
riscv64) tools=riscv64-linux-gnu-gcc ;;
esac
for tool in $tools cpio gzip; do
	command -v $tool > /dev/null || skip "no $tool (tools/deps.sh $([ $arch = amd64 ] && echo suites || echo vm) installs it)"
done
# Its programs are those that were built for this machine.
[ "$arch" != amd64 ] || [ "$(uname -m)" = x86_64 ] || skip "this machine is no x86-64"
case $arch in
amd64) last=linux-image ;;
arm64) last=libiberty ;;
*) last=libpfm4 ;;
esac
grep -qs "^$last" "$dir/versions" && exit 0
command -v apt-get > /dev/null || skip "not a Debian system: no kernel to fetch"

apt=$dir/apt
rm -rf "$dir/debs" "$dir/debian" "$dir/emulator"
mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$dir/debs"
: > "$apt/status"
# Read before the machine's own settings, which leave these alone.
cat > "$apt/conf" <<END
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Sandbox::User "$(id -un)";
APT::Install-Recommends "false";
Acquire::Languages "none";
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Dir::Cache::srcpkgcache "";
END

# riscv64 became a part of Debian in 13: that suite from the same mirror.
if [ "$arch" = riscv64 ]; then
	host=$(dpkg --print-architecture)
	mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -E '/debian/?$' | head -n 1)
	keys=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -n "$mirror" ] && [ -e $keys ] || skip "the machine's archives are not Debian's"
	echo "deb [signed-by=$keys] $mirror trixie main" > "$apt/sources"
	cat >> "$apt/conf" <<END
APT::Architecture "$host";
APT::Architectures { "$host"; "$arch"; };
Dir::Etc::sourcelist "$apt/sources";
Dir::Etc::sourceparts "/dev/null";
END
fi
export APT_CONFIG="$apt/conf"

download()
{
	(cd "$dir/debs" && apt-get -qq download "$@") >> "$dir/apt.log" 2>&1 ||
		skip "packages cannot be fetched: $(tail -n 1 "$dir/apt.log")"
}

# cloud_kernel PACKAGE...: with these packages.  Debian's kernel packages name the version:
# the newest.  arm64 boots the plain image, and amd64 the compressed one, as they stand.
cloud_kernel()
{
	image=$(apt-cache depends "linux-image-cloud-$arch" 2> /dev/null |
		sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -n 1)
	[ -n "$image" ] || skip "no package linux-image-cloud-$arch in the machine's archives"
	download "$image" "$@"
	dpkg-deb --fsys-tarfile "$dir"/debs/linux-image-*.deb |
		tar -xf - --wildcards --to-stdout './boot/vmlinuz-*' > "$dir/kernel"
}

amd64_packages()
{
	cloud_kernel
}

arm64_packages()
{
	cloud_kernel libpfm4 libpfm4-dev libiberty-dev valgrind
}

# The installer's kernel is the same, in half the size.
riscv64_packages()
{
	download libpfm4:riscv64 libpfm4-dev:riscv64 debian-installer-13-netboot-riscv64
	dpkg-deb --fsys-tarfile "$dir"/debs/debian-installer-*.deb |
		tar -xf - --wildcards --to-stdout '*/riscv64/linux' > "$dir/kernel"
	apt-get -qq -y install --download-only "qemu-system-riscv:$host" opensbi >> "$dir/apt.log" 2>&1 ||
		skip "packages cannot be fetched: $(tail -n 1 "$dir/apt.log")"
	mkdir -p "$dir/emulator"
	for deb in "$apt"/cache/archives/*.deb; do
		dpkg-deb -x "$deb" "$dir/emulator"
	done
}

apt-get -qq update -o APT::Update::Error-Mode=any > "$dir/apt.log" 2>&1 ||
	skip "no $arch package lists: $(tail -n 1 "$dir/apt.log")"
${arch}_packages
[ -s "$dir/kernel" ] || skip "no kernel in the $arch packages"
for deb in "$dir"/debs/libpfm4*.deb "$dir"/debs/valgrind*.deb "$dir"/debs/libiberty*.deb; do
	[ -e "$deb" ] || continue # riscv64 has neither
	dpkg-deb -x "$deb" "$dir/debian"
done
(cd "$dir/debs" && ls) > "$dir/versions.new"
rm -rf "$dir/debs" "$apt/cache"
mv "$dir/versions.new" "$dir/versions"
