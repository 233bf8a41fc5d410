#!/bin/sh
# SPDX-License-Identifier: MIT
# The demo of `make demo`: which caches does gzip use on a few megabytes of C?
#	tools/demo.sh BUILD_DIRECTORY
set -eu
build=$(realpath "$1")
input=$build/demo.txt

# The text comes from the C headers that the build needs anyway.
find /usr/include/valgrind /usr/include/perfmon /usr/include/linux -name '*.h' \
	-exec cat {} + 2> /dev/null | head -c 2000000 > "$input"

cd "$build"
echo '$ LD_PRELOAD=build/libcachepeek.so gzip -c demo.txt > demo.txt.gz'
LD_PRELOAD=$build/libcachepeek.so gzip -c demo.txt > demo.txt.gz
