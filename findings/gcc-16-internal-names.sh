#!/bin/sh
# SPDX-License-Identifier: MIT
# g++ 16: the name of a function in a nameless namespace has an L (of internal linkage) in its
# last part, _ZN5outer12_GLOBAL__N_1L6hiddenEv, where g++ 12 to 14 have ..._16hiddenEv.  Demangled
# both are the same: who compares names of two builds has to demangle them.
. "$(dirname "$0")/common.sh"
need g++-16=16.2.0-3 gcc-16=16.2.0-3 cpp-16=16.2.0-3 g++-16-x86-64-linux-gnu=16.2.0-3 gcc-16-x86-64-linux-gnu=16.2.0-3 cpp-16-x86-64-linux-gnu=16.2.0-3
printf 'namespace outer { namespace { __attribute__((noinline)) int hidden() { return 7; } } int shown() { return hidden(); } }\n' > names.cc
g++-16 -O1 -c names.cc
same "the symbol" _ZN5outer12_GLOBAL__N_1L6hiddenEv "$(nm names.o | awk '/hidden/ { print $3 }')"
same "demangled" "outer::(anonymous namespace)::hidden()" "$(nm names.o | awk '/hidden/ { print $3 }' | c++filt)"
