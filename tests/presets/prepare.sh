#!/bin/sh
# SPDX-License-Identifier: MIT
# Fetches Debian's libpfm4 for the other architectures whose PMUs have presets.
#
#	tests/presets/prepare.sh DIRECTORY
#
# Leaves ARCH/ (libpfm.a and headers) for each in DIRECTORY; when they are there
# already it does nothing.  apt runs with state and cache of its own below
# DIRECTORY, so that the machine's packages stay as they are.  What cannot be
# had goes into DIRECTORY/missing, one line, and the status is 0 then, too: the
# test is skipped.
set -eu

architectures='i386 arm64 armhf ppc64el'
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

for tool in i686-linux-gnu-gcc aarch64-linux-gnu-gcc arm-linux-gnueabihf-gcc \
	powerpc64le-linux-gnu-gcc qemu-aarch64 qemu-arm qemu-ppc64le qemu-i386; do
	command -v $tool > /dev/null || skip "no $tool (tools/deps.sh presets installs it)"
done
[ -e "$dir/versions" ] && exit 0
command -v apt-get > /dev/null || skip "not a Debian system: no libpfm4 of other architectures"

apt=$dir/apt
rm -rf "$apt" "$dir/debs"
mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$dir/debs"
: > "$apt/status"
# Read before the machine's own settings, which leave these alone.
cat > "$apt/conf" <<END
APT::Architecture "arm64";
APT::Architectures { $(printf '"%s"; ' $architectures)};
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
END
export APT_CONFIG="$apt/conf"

# One archive of several may fail, and another have the package all the same.
apt-get -qq update > "$dir/apt.log" 2>&1 || true
for arch in $architectures; do
	(cd "$dir/debs" && apt-get -qq download "libpfm4-dev:$arch") >> "$dir/apt.log" 2>&1 ||
		skip "libpfm4-dev:$arch cannot be fetched: $(tail -n 1 "$dir/apt.log")"
	rm -rf "${dir:?}/$arch"
	dpkg-deb -x "$dir"/debs/libpfm4-dev_*_"$arch".deb "$dir/$arch"
done
(cd "$dir/debs" && ls) > "$dir/versions.new"
rm -rf "$dir/debs" "$apt"
mv "$dir/versions.new" "$dir/versions"
