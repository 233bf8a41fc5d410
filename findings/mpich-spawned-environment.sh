#!/bin/sh
# SPDX-License-Identifier: MIT
# MPICH 5.0.2 (hydra): ranks that are spawned have the variables of their parents, with their own
# numbers: PMI_SPAWNED=1 alone tells them apart, and nothing tells two spawns apart.
# Seen of the parent, and of each of the spawned: MPI_LOCALNRANKS MPI_LOCALRANKID PMI_RANK PMI_SIZE,
# and PMI_SPAWNED of these only.
. "$(dirname "$0")/common.sh"
need mpich=5.0.2-2 libmpich12=5.0.2-2 libmpich-dev=5.0.2-2
cat > spawn.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void show(const char *who, int place)
{
	static const char *const names[] = {"PMI_RANK", "PMI_SIZE", "PMI_SPAWNED", "PMI_JOBID"};
	for (int i = 0; i < 4; i++)
		if (getenv(names[i]))
			printf("%s%d %s=%s\n", who, place, names[i], getenv(names[i]));
}

int main(int count, char **arguments)
{
	MPI_Comm parent, children;
	MPI_Init(&count, &arguments);
	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL) {
		show("parent", 0);
		for (int i = 0; i < 2; i++) {
			char number[] = {(char)('1' + i), 0}, *words[] = {number, NULL};
			MPI_Comm_spawn(arguments[0], words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
				       MPI_ERRCODES_IGNORE);
			MPI_Comm_disconnect(&children);
		}
	} else {
		show("spawn", atoi(arguments[1]));
		MPI_Comm_disconnect(&parent);
	}
	MPI_Finalize();
	return 0;
}
END
cc -I"$root/usr/include/x86_64-linux-gnu/mpich" -I"$root/usr/lib/x86_64-linux-gnu/mpich/include" -o spawn spawn.c \
	-L"$root/usr/lib/x86_64-linux-gnu" -l:libmpich.so.12
timeout 60 mpiexec.hydra -n 1 ./spawn > said
same "the parent's" "PMI_RANK=0 PMI_SIZE=1" "$(sed -n 's/^parent0 //p' said | sort | paste -sd ' ')"
for spawn in 1 2; do
	same "spawn $spawn" "PMI_RANK=0 PMI_SIZE=1 PMI_SPAWNED=1" "$(sed -n "s/^spawn$spawn //p" said | sort | paste -sd ' ')"
done
