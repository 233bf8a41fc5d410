#!/bin/sh
# SPDX-License-Identifier: MIT
# Fetches what the emulated bench needs of Debian's arm64: a kernel and libpfm4.
#
#	tests/vm/prepare.sh DIRECTORY
#
# Leaves kernel, arm64-root/ (libpfm4 and its headers) and versions in DIRECTORY; when
# they are there already it does nothing.  apt runs with state and cache of its
# own below DIRECTORY, so that the machine's packages stay as they are; mirrors
# and keys are the machine's own.  What cannot be had goes into DIRECTORY/missing,
# one line, and the status is 0 then, too: the bench is skipped.
set -eu

dir=$1
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
rm -f "$dir/missing"

skip()
{
	echo "$*" > "$dir/missing"
	echo "prepare.sh: $*" >&2
	exit 0
}

for tool in qemu-system-aarch64 aarch64-linux-gnu-gcc aarch64-linux-gnu-objcopy cpio gzip; do
	command -v $tool > /dev/null || skip "no $tool (tools/deps.sh vm installs it)"
done
[ -e "$dir/versions" ] && exit 0
command -v apt-get > /dev/null || skip "not a Debian system: no arm64 kernel to fetch"

apt=$dir/apt
mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$dir/debs"
: > "$apt/status"
# Read before the machine's own settings, which leave these alone.
cat > "$apt/conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Dir::Cache::srcpkgcache "";
END
export APT_CONFIG="$apt/conf"

apt-get -qq update > "$dir/apt.log" 2>&1 ||
	skip "no arm64 package lists: $(tail -n 1 "$dir/apt.log")"
image=$(apt-cache depends linux-image-cloud-arm64 2> /dev/null |
	sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -n 1)
[ -n "$image" ] || skip "no package linux-image-cloud-arm64 in the machine's archives"
rm -f "$dir"/debs/*
(cd "$dir/debs" && apt-get -qq download "$image" libpfm4 libpfm4-dev) >> "$dir/apt.log" 2>&1 ||
	skip "packages cannot be fetched: $(tail -n 1 "$dir/apt.log")"

# The kernel as it stands: arm64 boots the plain image.
dpkg-deb --fsys-tarfile "$dir"/debs/linux-image-*.deb |
	tar -xf - --wildcards --to-stdout './boot/vmlinuz-*' > "$dir/kernel"
for deb in "$dir"/debs/libpfm4*.deb; do
	dpkg-deb -x "$deb" "$dir/arm64-root"
done
(cd "$dir/debs" && ls) > "$dir/versions.new"
rm -rf "$dir/debs" "$apt/cache"
mv "$dir/versions.new" "$dir/versions"
