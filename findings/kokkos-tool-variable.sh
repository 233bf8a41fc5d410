#!/bin/sh
# SPDX-License-Identifier: MIT
# Kokkos 3.4 (of Trilinos 13.2): a tool is loaded of KOKKOS_PROFILE_LIBRARY, and KOKKOS_TOOLS_LIBS,
# which later versions read, is passed over with no word.
. "$(dirname "$0")/common.sh"
need libtrilinos-kokkos-13.2=13.2.0-4 libtrilinos-kokkos-dev=13.2.0-4
cat > tool.c <<'END'
#include <stdint.h>
#include <stdio.h>
void kokkosp_init_library(int order, uint64_t interface, uint32_t devices, void *device)
{
	(void)order, (void)devices, (void)device;
	printf("%llu\n", (unsigned long long)interface);
}
END
cat > program.cc <<'END'
#include <Kokkos_Core.hpp>
int main()
{
	Kokkos::initialize();
	Kokkos::finalize();
}
END
cc -shared -fPIC -o tool.so tool.c
c++ -w -std=c++14 -fopenmp -I"$root/usr/include/trilinos" -o program program.cc \
	-L"$root/usr/lib/x86_64-linux-gnu" -ltrilinos_kokkoscore
export OMP_PROC_BIND=false
unset KOKKOS_PROFILE_LIBRARY KOKKOS_TOOLS_LIBS
same "KOKKOS_PROFILE_LIBRARY, the tool's interface" 20210225 "$(KOKKOS_PROFILE_LIBRARY=./tool.so ./program)"
same "KOKKOS_TOOLS_LIBS" "" "$(KOKKOS_TOOLS_LIBS=./tool.so ./program)"
