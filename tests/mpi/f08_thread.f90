! SPDX-License-Identifier: MIT
program main
   use mpi_f08
   implicit none
   integer :: rank, total, provided

   call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call rank_work(rank)
   call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   call MPI_Finalize()
   if (rank == 0) print '(i0)', total
end program
