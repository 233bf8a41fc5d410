! SPDX-License-Identifier: MIT
! As calls.c.
program main
   use mpi
   implicit none
   integer :: rank, ranks, total, other, after, before, i, error
   integer :: requests(2), statuses(MPI_STATUS_SIZE, 2), status(MPI_STATUS_SIZE)

   call MPI_Init(error)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
   after = mod(rank + 1, ranks)
   before = mod(rank + ranks - 1, ranks)
   call work_begin()
   do i = 1, 3
      call MPI_Sendrecv(rank, 1, MPI_INTEGER, after, 1, other, 1, MPI_INTEGER, before, 1, &
         MPI_COMM_WORLD, status, error)
   end do
   call MPI_Isend(rank, 1, MPI_INTEGER, after, 2, MPI_COMM_WORLD, requests(1), error)
   call MPI_Irecv(other, 1, MPI_INTEGER, before, 2, MPI_COMM_WORLD, requests(2), error)
   call MPI_Waitall(2, requests, statuses, error)
   call compute(rank)
   call MPI_Barrier(MPI_COMM_WORLD, error)
   do i = 1, 2
      call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
   end do
   call work_end()
   call MPI_Barrier(MPI_COMM_WORLD, error)
   call MPI_Finalize(error)
end program
