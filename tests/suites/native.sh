#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that use whatever vector instructions the processor has, alone and under the
# simulated PMU, which shows it to them (CACHEPEEK_CPU=host): the same output, the same
# exit.  Those that choose at run time are Debian's; others are built for this machine
# (-march=native) from its sources.
#	B=build WORK=DIR tests/suites/native.sh
# WORK keeps what was fetched and built.  Without the network what is built is left out.
set -u
here=$(realpath "$(dirname "$0")")
library=$(realpath "${B:-build}/libcachepeek.so")
[ -n "${WORK-}" ] || trap 'rm -rf "$work"' EXIT
work=${WORK:-$(mktemp -d)}
mkdir -p "$work/native"
work=$(realpath "$work")
cd "$work/native" || exit 1
. "$here/fetch.sh"
same=0
differ=0

# As a program sees its world alone, but for the library.
simulated()
{
	LD_PRELOAD="$library" CACHEPEEK_ENGINE=sim CACHEPEEK_CPU=host CACHEPEEK_EVENTS=instructions \
		CACHEPEEK_OUTPUT="$work/native/report.txt" "$@"
}

# compare NAME COMMAND...
compare()
{
	local name=$1 alone with
	shift
	"$@" > alone.out 2> alone.err < /dev/null
	alone=$?
	simulated "$@" > with.out 2> with.err < /dev/null
	with=$?
	if [ $alone = $with ] && cmp -s alone.out with.out && [ -s report.txt ]; then
		same=$((same + 1))
		echo "$name: same ($(wc -l < alone.out) lines, status $alone)"
	else
		differ=$((differ + 1))
		echo "$name: differs, status $alone and $with"
		diff alone.out with.out | head -n 8
	fi
	rm -f report.txt
}

# Data that can be compressed, and a document.
perl -e 'srand(24); print join(" ", map { int(rand(5000)) } 1 .. 9), "\n" for 1 .. 13000' > data
perl -e 'srand(24); print "[", join(",\n", map { my $w = "w" x rand(30);
	qq({"id": $_, "of": "\\u00e9$w\\n", "x": @{[rand(1e6)]}, "text": "ä € $w"}) } 1 .. 4000), "]\n"' > document.json

for digest in md5 sha1 sha256 sha512 sha3-256 blake2b512; do
	compare "openssl $digest" openssl dgst -$digest data
done
for cipher in aes-128-cbc aes-256-ctr aes-256-cfb chacha20 camellia-128-cbc; do
	compare "openssl $cipher" openssl enc -$cipher -K "$(printf '0f%.0s' {1..32})" -iv "$(printf '1e%.0s' {1..16})" -in data
done

# program NAME SOURCE LIBRARIES...: from a source here; not there without its headers.
program()
{
	local name=$1 source=$2 compiler=gcc
	shift 2
	[ "${source##*.}" != cc ] || compiler=g++
	"$compiler" -O2 -o "$name" "$here/native/$source" "$@" 2> "$name.log" ||
		{ echo "$name: left out: $(grep -m 1 error "$name.log")"; return 1; }
}

openssl genrsa -out key.pem 2048 2> /dev/null
compare 'openssl, RSA' openssl dgst -sha256 -sign key.pem data
program sealed sealed.c -lcrypto && compare 'libcrypto, sealed' ./sealed
program dgemm dgemm.c -lopenblas && compare OpenBLAS env OPENBLAS_NUM_THREADS=1 ./dgemm
program json json.cc -lsimdjson &&
	compare "simdjson ($(./json document.json name))" ./json document.json
! /usr/bin/python3 -c 'import numpy' 2> /dev/null || compare NumPy env OPENBLAS_NUM_THREADS=1 /usr/bin/python3 "$here/native/arrays.py"
for level in 1 6 12; do
	compare "zstd -$level" zstd -$level -c data
done
compare 'xz -2' xz -2 -c data
compare lz4 lz4 -9 -c data
if command -v ffmpeg > /dev/null; then
	for codec in 'libx264 -preset medium' 'libx265 -x265-params log-level=none' mpeg4 libvpx 'flac -f flac'; do
		compare "ffmpeg, $codec" ffmpeg -v error -threads 1 -f lavfi -i testsrc2=size=160x96:rate=8:duration=1 \
			-f lavfi -i sine=duration=1 -map $([[ $codec != flac* ]] && echo 0 || echo 1) \
			-c ${codec} -threads 1 -f md5 -
	done
fi

# ---- built for this machine ----

# describe NAME: prepare() builds $package with $flags.
flags='-O3 -march=native -mprefer-vector-width=512'
describe()
{
	package=$1
	case $1 in
	libzstd)
		prepare() { make -C programs -j2 zstd CFLAGS="$flags" HAVE_LZMA=0 HAVE_LZ4=0; }
		;;
	xxhash)
		prepare() { make xxhsum CFLAGS="$flags"; }
		;;
	gzip | bzip2)
		prepare() { { [ ! -e configure ] || ./configure --disable-dependency-tracking CFLAGS="$flags"; } && make CFLAGS="$flags"; }
		;;
	lame)
		prepare() { ./configure --disable-dependency-tracking --disable-shared CFLAGS="$flags" && make -j2; }
		;;
	esac
}

# built NAME PROGRAM ARGUMENT...: of that package's.
built()
{
	local name=$1 program=$2 top="$work/native/$1" package
	shift 2
	mkdir -p "$top"
	describe "$name"
	build && compare "$name, -march=native" "$top/built/$program" "$@"
}
built libzstd programs/zstd -9 -c "$PWD/data"
built xxhash xxhsum -H2 "$PWD/data"
built gzip gzip -9nc "$PWD/data"
built bzip2 bzip2 -c "$PWD/data"
perl -e 'print "RIFF", pack("V", 36 + 88200), "WAVEfmt ", pack("VvvVVvv", 16, 1, 1, 44100, 88200, 2, 16), "data", pack("V", 88200),
	map { pack("s<", 9000 * sin($_ / 9) + 5000 * sin($_ * $_ / 1e6)) } 1 .. 44100' > tone.wav
built lame frontend/lame --quiet -b 128 "$PWD/tone.wav" -

echo "native.sh: $same same, $differ differ"
[ $differ = 0 ] && [ $same -gt 0 ]
