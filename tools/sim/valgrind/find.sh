#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Looks what the Valgrind has that this is built with: prints valgrind/found.h, or says in one
# line what is missing.  Versions are not asked, headers and archives are.
#	find.sh COMPILER INCLUDE ARCHITECTURE ARCHIVE... -- PART...
# PART: of functions.list, those that are used.
set -eu
here=$(dirname "$0")
compiler=$1 include=$2 architecture=$3
shift 3

refuse()
{
	echo "cachepeek: $1" >&2
	exit 1
}

version()
{
	sed -n 's/^#define *__VALGRIND_M[AI][JN]OR__ *//p' "$include/valgrind.h" | paste -sd. -
}

archives=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	[ -r "$1" ] || refuse "needs Valgrind's $(basename "$1"), and $(dirname "$1") has none: install valgrind"
	archives="$archives $1"
	shift
done
[ $# -eq 0 ] || shift
[ -r "$include/libvex_ir.h" ] || refuse "needs Valgrind's libvex_ir.h, and $include has none: install valgrind"

# Lists what an archive's objects take of each other, and what is there to be taken.
missing=$(nm -A $archives 2> /dev/null | awk -v parts=" $* " '
	FNR == NR { if ($1 !~ /^#/ && NF) { kind[$3] = $1; part[$3] = $2 }; next }
	$NF in kind { if ($(NF - 1) == "U") asked[$NF] = 1; else if ($(NF - 1) ~ /[TDBRVWC]/) there[$NF] = 1 }
	END {
		for (name in kind)
			if (index(parts, " " part[name] " ") && (!there[name] || (kind[name] == "wrap" && !asked[name])))
				print name
	}' "$here/functions.list" - | sort | paste -sd' ')
[ -z "$missing" ] || refuse "needs $missing of Valgrind's core, and that of $(version) has none: the tree's tools/sim/valgrind/ says what for"

printf '#include "libvex.h"\n#include "libvex_ir.h"\n' |
	$compiler -E -isystem "$include" "-DVGA_$architecture=1" -DVGO_linux=1 "-DVGP_${architecture}_linux=1" -x c - |
	awk -v version="$(version)" '
	FNR == NR { if ($1 !~ /^#/ && NF) names[++n] = $1; next }
	{ gsub(/[^A-Za-z0-9_]+/, " "); for (i = split($0, words, " "); i > 0; i--) seen[words[i]] = 1 }
	END {
		printf "/* Of the headers of Valgrind %s: made by find.sh. */\n", version
		for (i = 1; i <= n; i++)
			printf "#define HAS_%s %d\n", names[i], names[i] in seen
	}' "$here/names.list" -
