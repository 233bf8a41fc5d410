! SPDX-License-Identifier: MIT
program main
   use mpi
   implicit none
   integer :: error, rank, total

   call MPI_Init(error)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
   call rank_work(rank)
   call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
   call MPI_Finalize(error)
   if (rank == 0) print '(i0)', total
end program
