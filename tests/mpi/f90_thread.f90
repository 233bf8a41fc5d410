! SPDX-License-Identifier: MIT
program main
   use mpi
   implicit none
   integer :: error, rank, total, provided

   call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, error)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
   call rank_work(rank)
   call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
   call MPI_Finalize(error)
   if (rank == 0) print '(i0)', total
end program
