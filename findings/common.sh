# SPDX-License-Identifier: MIT
# Sourced by each finding: a folder that goes when the script ends, packages in it, and what is compared.
set -eu
export LC_ALL=C
work=$(mktemp -d)
root=$work/root
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work"

# cannot REASON: this machine or suite cannot show it.
cannot()
{
	echo "cannot be tried: $1"
	exit 77
}

# need NAME=VERSION...: unpacks these packages, and those of their dependencies that are not
# installed, below $root, and has what is there found first.
need()
{
	apt-get -s install --no-install-recommends --allow-downgrades "$@" > plan 2> refused ||
		cannot "$(sed -n '/^E: /{s///p;q}' refused)"
	mkdir -p packages "$root"
	{
		printf '%s\n' "$@"
		sed -n 's/^Inst \([^ ]*\) \(\[[^]]*\] \)\{0,1\}(\([^ ]*\) .*/\1=\3/p' plan
	} | sort -u > wanted
	(cd packages && xargs apt-get -qq download < ../wanted > ../refused 2>&1) ||
		cannot "$(sed -n '/^E: /{s///p;q}' refused)"
	for package in packages/*.deb; do
		dpkg -x "$package" "$root"
	done
	export PATH="$root/usr/bin:$PATH" VALGRIND_LIB="$root/usr/libexec/valgrind"
	export LD_LIBRARY_PATH="$root/usr/lib/x86_64-linux-gnu"
}

# same WHAT EXPECTED SEEN: ends the script where they differ.
same()
{
	[ "$2" = "$3" ] && return
	echo "$1: expected '$2', seen '$3'"
	exit 1
}

# assemble NAME: a static program of the instructions on standard input, which ends with 0 behind
# them, and has 4096 bytes at `data`.
assemble()
{
	{
		printf '.globl _start\n_start:\n'
		cat
		printf 'mov $60, %%eax\nxor %%edi, %%edi\nsyscall\n.bss\n.balign 64\ndata: .skip 4096\n'
	} > "$1.S"
	cc -nostdlib -static -no-pie -o "$1" "$1.S"
}

# references NAME: "Ir Dr Dw" of the program by cachegrind.
references()
{
	valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=counts "./$1" > log 2>&1
	awk '/^events:/ { for (i = 2; i <= NF; i++) at[$i] = i }
		/^summary:/ { print $at["Ir"], $at["Dr"], $at["Dw"] }' counts
}

# config EVENT...: what libpfm4 has perf_event's config be, in hexadecimal, or "error".
config()
{
	[ -x encode ] || cc -x c -O1 -I"$root/usr/include" -o encode - -x none "$root/usr/lib/x86_64-linux-gnu/libpfm.so" <<-'END'
		#include <stdio.h>
		#include <perfmon/pfmlib_perf_event.h>

		int main(int count, char **events)
		{
			pfm_initialize();
			for (int i = 1; i < count; i++) {
				struct perf_event_attr attr = {0};
				pfm_perf_encode_arg_t to = {.attr = &attr, .size = sizeof to};
				if (pfm_get_os_event_encoding(events[i], PFM_PLM3, PFM_OS_PERF_EVENT, &to))
					puts("error");
				else
					printf("%llx\n", (unsigned long long)attr.config);
			}
			return 0;
		}
	END
	LIBPFM_ENCODE_INACTIVE=1 ./encode "$@" | paste -sd ' '
}
