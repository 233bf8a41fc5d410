/* SPDX-License-Identifier: MIT
 *
 * The functions of MPI that communicate, or wait for others: a row of X(name) for
 * each MPI_name; those of the first list have an MPI_name_c, too (MPI 4: counts
 * beyond an int).  None has more than 13 arguments, and none of these is floating.
 *
 * MPI_Init and MPI_Comm_rank, and what else does nothing but answer, are left out:
 * they cost less than a region, and libraries that can do without MPI look for them
 * to see whether it is there.
 */
#ifndef CACHEPEEK_PRELOAD_PARALLEL_MPI_CALLS_H
#define CACHEPEEK_PRELOAD_PARALLEL_MPI_CALLS_H

/* clang-format off */
#define CP_MPI_CALLS_WITH_COUNTS(X) \
	X(Send) X(Bsend) X(Ssend) X(Rsend) X(Recv) X(Isend) X(Ibsend) X(Issend) \
	X(Irsend) X(Irecv) X(Sendrecv) X(Sendrecv_replace) X(Isendrecv) \
	X(Isendrecv_replace) X(Mrecv) X(Imrecv) X(Bcast) X(Gather) X(Gatherv) \
	X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv) X(Alltoall) X(Alltoallv) \
	X(Alltoallw) X(Reduce) X(Allreduce) X(Reduce_scatter) X(Reduce_scatter_block) \
	X(Scan) X(Exscan) X(Ibcast) X(Igather) X(Igatherv) X(Iscatter) X(Iscatterv) \
	X(Iallgather) X(Iallgatherv) X(Ialltoall) X(Ialltoallv) X(Ialltoallw) \
	X(Ireduce) X(Iallreduce) X(Ireduce_scatter) X(Ireduce_scatter_block) X(Iscan) \
	X(Iexscan) X(Neighbor_allgather) X(Neighbor_allgatherv) X(Neighbor_alltoall) \
	X(Neighbor_alltoallv) X(Neighbor_alltoallw) X(Ineighbor_allgather) \
	X(Ineighbor_allgatherv) X(Ineighbor_alltoall) X(Ineighbor_alltoallv) \
	X(Ineighbor_alltoallw) X(Put) X(Get) X(Accumulate) X(Get_accumulate) X(Rput) \
	X(Rget) X(Raccumulate) X(Rget_accumulate) X(Win_create) X(Win_allocate) \
	X(Win_allocate_shared) X(File_read) X(File_read_at) X(File_read_all) \
	X(File_read_at_all) X(File_read_shared) X(File_read_ordered) X(File_iread) \
	X(File_iread_at) X(File_iread_all) X(File_iread_at_all) X(File_iread_shared) \
	X(File_read_all_begin) X(File_read_at_all_begin) X(File_read_ordered_begin) \
	X(File_write) X(File_write_at) X(File_write_all) X(File_write_at_all) \
	X(File_write_shared) X(File_write_ordered) X(File_iwrite) X(File_iwrite_at) \
	X(File_iwrite_all) X(File_iwrite_at_all) X(File_iwrite_shared) \
	X(File_write_all_begin) X(File_write_at_all_begin) \
	X(File_write_ordered_begin)

#define CP_MPI_CALLS(X) \
	X(Barrier) X(Ibarrier) X(Probe) X(Iprobe) X(Mprobe) X(Improbe) X(Wait) \
	X(Waitall) X(Waitany) X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome) \
	X(Start) X(Startall) X(Pready) X(Pready_range) X(Pready_list) X(Parrived) \
	X(Buffer_detach) X(Buffer_flush) X(Comm_flush_buffer) X(Session_flush_buffer) \
	X(Comm_dup) X(Comm_dup_with_info) X(Comm_idup) X(Comm_idup_with_info) \
	X(Comm_create) X(Comm_create_group) X(Comm_create_from_group) X(Comm_split) \
	X(Comm_split_type) X(Comm_free) X(Comm_disconnect) X(Comm_connect) \
	X(Comm_accept) X(Comm_join) X(Comm_spawn) X(Comm_spawn_multiple) \
	X(Intercomm_create) X(Intercomm_create_from_groups) X(Intercomm_merge) \
	X(Cart_create) X(Cart_sub) X(Graph_create) X(Dist_graph_create) \
	X(Dist_graph_create_adjacent) X(Fetch_and_op) X(Compare_and_swap) \
	X(Win_create_dynamic) X(Win_free) X(Win_fence) X(Win_start) X(Win_complete) \
	X(Win_post) X(Win_wait) X(Win_test) X(Win_lock) X(Win_unlock) X(Win_lock_all) \
	X(Win_unlock_all) X(Win_flush) X(Win_flush_all) X(Win_flush_local) \
	X(Win_flush_local_all) X(Win_sync) X(File_open) X(File_close) X(File_delete) \
	X(File_sync) X(File_set_size) X(File_preallocate) X(File_set_view) \
	X(File_seek_shared) X(File_read_all_end) X(File_read_at_all_end) \
	X(File_read_ordered_end) X(File_write_all_end) X(File_write_at_all_end) \
	X(File_write_ordered_end)
/* clang-format on */

#endif
