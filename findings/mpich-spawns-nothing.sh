#!/bin/sh
# SPDX-License-Identifier: MIT
# MPICH 4.0.2 as Debian 12 builds it: MPI_Comm_spawn fails ("Error in spawn call") under its own
# mpiexec.hydra, of a program that is there.  With MPI_ERRORS_RETURN the program goes on.
. "$(dirname "$0")/common.sh"
need mpich=4.0.2-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1
cat > spawn.c <<'END'
#include <mpi.h>
#include <stdio.h>

int main(int count, char **arguments)
{
	MPI_Comm parent, children;
	int error, length;
	char text[MPI_MAX_ERROR_STRING];
	MPI_Init(&count, &arguments);
	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL) {
		MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
		error = MPI_Comm_spawn(arguments[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF,
				       &children, MPI_ERRCODES_IGNORE);
		MPI_Error_string(error, text, &length);
		puts(error ? text : "spawned");
	}
	MPI_Finalize();
	return 0;
}
END
cc -I"$root/usr/include/x86_64-linux-gnu/mpich" -o spawn spawn.c -L"$root/usr/lib/x86_64-linux-gnu" -lmpich
said=$(timeout 60 mpiexec.hydra -n 1 ./spawn)
same "the end of spawn's error" "Error in spawn call" "$(echo "$said" | sed -n 's/.*: //;$p')"
