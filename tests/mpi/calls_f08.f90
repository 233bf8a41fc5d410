! SPDX-License-Identifier: MIT
! As calls.c.
program main
   use mpi_f08
   implicit none
   integer :: rank, ranks, total, other, after, before, i
   type(MPI_Request) :: requests(2)
   type(MPI_Status) :: statuses(2), status

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks)
   after = mod(rank + 1, ranks)
   before = mod(rank + ranks - 1, ranks)
   call work_begin()
   do i = 1, 3
      call MPI_Sendrecv(rank, 1, MPI_INTEGER, after, 1, other, 1, MPI_INTEGER, before, 1, &
         MPI_COMM_WORLD, status)
   end do
   call MPI_Isend(rank, 1, MPI_INTEGER, after, 2, MPI_COMM_WORLD, requests(1))
   call MPI_Irecv(other, 1, MPI_INTEGER, before, 2, MPI_COMM_WORLD, requests(2))
   call MPI_Waitall(2, requests, statuses)
   call compute(rank)
   call MPI_Barrier(MPI_COMM_WORLD)
   do i = 1, 2
      call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   end do
   call work_end()
   call MPI_Barrier(MPI_COMM_WORLD)
   call MPI_Finalize()
end program
