! SPDX-License-Identifier: MIT
      program main
      implicit none
      include 'mpif.h'
      integer error, rank, total
      call mpi_init(error)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
      call rank_work(rank)
      call mpi_allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM,
     &   MPI_COMM_WORLD, error)
      call mpi_finalize(error)
      if (rank .eq. 0) print '(i0)', total
      end
