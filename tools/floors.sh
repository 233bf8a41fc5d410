#!/bin/sh
# SPDX-License-Identifier: MIT
# Refuses, in one line, to build where the result could not run.
#	tools/floors.sh COMPILER VALGRIND_INCLUDE [FLAGS]
# With the compiler's flags: looks for the headers of libraries, too.
set -eu
# Tried: glibc 2.36 and Valgrind 3.19 (Debian 12), 2.41 and 3.24 (13), 2.43 and 3.27 (testing).
glibc=2.34
valgrind=3.19

# The number behind a macro of what stands on standard input.
macro()
{
	sed -n "s/^#define $1 //p"
}

refuse()
{
	echo "cachepeek: $1" >&2
	exit 1
}

# at_least HAVE FLOOR
at_least()
{
	[ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

libc=$(echo '#include <features.h>' | $1 -E -dM - 2> /dev/null) ||
	refuse "$1 cannot compile: install a C compiler and the headers of the C library"
major=$(echo "$libc" | macro __GLIBC__)
[ -n "$major" ] ||
	refuse "needs glibc, and $1 compiles for another C library (musl's loader cannot preload this library): build on a glibc system"
have=$major.$(echo "$libc" | macro __GLIBC_MINOR__)
at_least "$have" $glibc || refuse "needs glibc $glibc or newer, and this is $have"

# The text that includes it, with what it has to define; nothing: it is not there.
preprocessed()
{
	echo "#include <$2>" | $compiler $flags -E "$1" -x c - 2> /dev/null
}

# library LIBRARY HEADER PACKAGE NAME...: of the header, which is to have these names.
library()
{
	library=$1 header=$2 package=$3
	shift 3
	text=$(preprocessed -P "$header") ||
		refuse "needs $library, and $compiler finds no $header: install $package"
	text="$text $(preprocessed -dM "$header")"
	for name; do
		echo "$text" | grep -qw "$name" ||
			refuse "needs a newer $library, with $name, and $(preprocessed -M "$header" |
				tr ' ' '\n' | grep "/$header$") has none"
	done
}

if [ $# -ge 3 ]; then
	compiler=$1 flags=$3
	library libpfm4 perfmon/pfmlib.h libpfm4-dev pfm_initialize pfm_for_all_pmus pfm_get_pmu_info \
		pfm_get_event_encoding pfm_get_event_next pfm_get_os_event_encoding PFM_OS_PERF_EVENT PFM_PMU_TYPE_CORE
	library libpfm4 perfmon/pfmlib_perf_event.h libpfm4-dev pfm_perf_encode_arg_t
	library jansson jansson.h libjansson-dev json_loadf
	library 'libdw of elfutils' elfutils/libdwfl.h libdw-dev dwfl_module_nextcu
	library 'libelf of elfutils' gelf.h libelf-dev gelf_getshdr
	library Capstone capstone/capstone.h libcapstone-dev cs_disasm
	library zlib zlib.h zlib1g-dev
	library uthash uthash.h uthash-dev HASH_ADD_KEYPTR
fi

# Without its headers tools/sim/valgrind/find.sh says what is missing.
[ -r "$2/valgrind.h" ] || exit 0
header=$(cat "$2/valgrind.h" | tr -s ' \t' ' ')
have=$(echo "$header" | macro __VALGRIND_MAJOR__).$(echo "$header" | macro __VALGRIND_MINOR__)
at_least "$have" $valgrind || refuse "needs Valgrind $valgrind or newer, and this is $have"
