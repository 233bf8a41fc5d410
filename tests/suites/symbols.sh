#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs of Debian, built from its sources with the symbols that its packages lack:
# tests/sim/callgrind.t compares them function by function.
#	WORK=DIR tests/suites/symbols.sh [NAME...]	(all of them)
# prints "NAME PATH" for each program that is there.  WORK keeps what was fetched and
# built: the second time takes no time, and no network.  Fails if one is not there.
set -u
here=$(realpath "$(dirname "$0")")
work=${WORK:?}
mkdir -p "$work"
work=$(realpath "$work")
export CFLAGS='-g -O2'
. "$here/fetch.sh"

# PROGRAM: prepare() builds $package, and the program is $program.  What a program's own
# libraries do is compared, too: they are linked statically, as Debian does with most.
describe()
{
	package=$1
	case $1 in
	sort)
		package=coreutils program=src/sort
		prepare()
		{
			FORCE_UNSAFE_CONFIGURE=1 ./configure --disable-dependency-tracking --disable-nls --without-openssl &&
				make -j2
		}
		;;
	jq)
		program=jq
		prepare()
		{
			autoreconf -i && ./configure --disable-dependency-tracking --disable-docs --disable-maintainer-mode \
				--disable-shared --without-oniguruma && make -j2
		}
		;;
	lz4)
		program=lz4
		prepare() { make -j2 lz4; }
		;;
	zstd)
		package=libzstd program=programs/zstd
		prepare() { make -C programs -j2 zstd; }
		;;
	mawk)
		program=mawk
		prepare() { ./configure && make; }
		;;
	bc)
		program=bc/bc
		prepare() { ./configure --disable-dependency-tracking && make MAKEINFO=true; }
		;;
	xxhsum)
		package=xxhash program=xxhsum
		prepare() { make xxhsum; }
		;;
	ruby)
		package=ruby3.1 program=miniruby
		# Where it puts things in its tables is random: here it is the same each time.
		prepare()
		{
			echo 'int getentropy(void *p, size_t n) { memset(p, 1, n); return 0; }' >> random.c &&
				./configure --disable-install-doc && make -j2 miniruby
		}
		;;
	*)
		echo "symbols.sh: no program '$1'" >&2
		return 1
		;;
	esac
}

one_program()
{
	local name=$1 top="$work/$1" package program

	describe "$name" || return 1
	mkdir -p "$top"
	build >&2 && echo "$name $top/built/$program"
}

# Two at a time would build in one folder.
exec 9> "$work/lock"
flock 9
[ $# -gt 0 ] || set -- sort jq lz4 zstd mawk bc xxhsum ruby
status=0
for name; do
	(one_program "$name") || status=1
done
exit $status
