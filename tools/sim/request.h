/* SPDX-License-Identifier: MIT
 *
 * The wire between libcachepeek.so (running as Valgrind's client) and the
 * simulated PMU (a Valgrind tool).  Both sides include this file and nothing
 * else of each other: the library is MIT, the tool is GPL.
 *
 * ask.h makes a request.
 */
#ifndef CACHEPEEK_SIM_REQUEST_H
#define CACHEPEEK_SIM_REQUEST_H

/* Grows with every incompatible change of this file. */
#define CP_SIM_PROTOCOL 20

/* VG_USERREQ_TOOL_BASE('C','P') of valgrind.h, spelled out for the client. */
#define CP_SIM_REQUEST_BASE 0x43500000ul

/* The answers to CP_SIM_SHOWS_HOST. */
#define CP_SIM_SHOWS_HOSTS 1
#define CP_SIM_SHOWS_MACHINES 2

/* Raw counters, in the order in which READ delivers them.  X(name, meaning).
 * A "line" below is a cache line of the level that counts.
 *
 * Conventions: a reference that spans two lines is one reference, one miss at most
 * (*_misses), and looks two lines up, both of which may have to come (*_lines, *_pages).
 * A fetch of code, a prefetch, and what a level is asked for (l2_accesses) is a line
 * each. A read-modify-write instruction is one load and one store, also counted in
 * l1d_rmw; its miss is the load's.
 */
#define CP_SIM_COUNTERS(X)                                                               \
	X(instructions, "instructions executed")                                         \
	X(l1d_loads, "data load references")                                             \
	X(l1d_stores, "data store references")                                           \
	X(l1d_rmw, "read-modify-writes: load and store pairs of one instruction")        \
	X(l1i_accesses, "instruction line fetches (one per change of line)")             \
	X(l1i_misses, "instruction lines not in L1I")                                    \
	X(l1d_load_lines, "lines that a load did not find in L1D")                       \
	X(l1d_store_lines, "lines that a store did not find in L1D")                     \
	X(l1d_writebacks, "modified lines evicted from L1D into L2")                     \
	X(l2_ifetch_misses, "instruction lines not in L2")                               \
	X(l2_load_lines, "lines asked for by a load and not in L2")                      \
	X(l2_store_lines, "lines asked for by a store and not in L2")                    \
	X(l2_prefetch_misses, "lines asked for by L1's prefetchers and not in L2")       \
	X(l2_writebacks, "modified lines evicted from L2 into the last level")           \
	X(llc_ifetch_misses, "instruction lines not in the last level")                  \
	X(llc_load_lines, "lines asked for by a load and not in the last level")         \
	X(llc_store_lines, "lines asked for by a store and not in the last level")       \
	X(llc_prefetch_misses, "lines asked for by prefetchers, not in the last level")  \
	X(llc_writebacks, "modified lines evicted from the last level to memory")        \
	X(itlb_misses, "instruction pages not in the first-level ITLB")                  \
	X(itlb_walks, "instruction pages in no TLB: page walks")                         \
	X(dtlb_load_pages, "pages that a load did not find in the first-level DTLB")     \
	X(dtlb_store_pages, "pages that a store did not find in the first-level DTLB")   \
	X(dtlb_load_walks, "pages that a load found in no TLB: page walks")              \
	X(dtlb_store_walks, "pages that a store found in no TLB: page walks")            \
	X(invalidations, "lines taken from another thread's private caches by a store "  \
			 "of this thread")                                               \
	X(hitm, "lines that another thread's private caches held modified")              \
	X(loads_cache_to_cache, "lines that loads got from where another core had "      \
				"modified them, past L2")                                \
	X(remote_hitm, "lines that the caches of another socket held modified")          \
	X(one_hop_lines, "lines asked for that memory of a socket one hop away had")     \
	X(two_hop_lines, "lines asked for that memory of a socket two hops away had")    \
	X(loads_one_hop, "of those one hop away, those for loads")                       \
	X(loads_two_hop, "of those two hops away, those for loads")                      \
	X(loads_remote_cache, "of those that another core had modified, those on "       \
			      "another socket")                                          \
	X(l1d_bypasses, "floating-point loads that L2 served by design")                 \
	X(l1d_writes_through, "writes that L1D passed on: write-through, not allocated") \
	X(l1d_half_writebacks, "modified halves of lines evicted from L1D")              \
	X(l1d_load_misses, "loads that missed L1D, with however many lines")             \
	X(l1d_store_misses, "stores that missed L1D")                                    \
	X(l2_load_misses, "loads that missed L2")                                        \
	X(l2_store_misses, "stores that missed L2")                                      \
	X(llc_load_misses, "loads that missed the last level")                           \
	X(llc_store_misses, "stores that missed the last level")                         \
	X(dtlb_load_misses,                                                              \
		"loads that missed the first-level DTLB, with a page or two")            \
	X(dtlb_store_misses, "stores that missed the first-level DTLB")                  \
	X(l2_writes_through, "writes that L2 passed on: write-through, not allocated")   \
	X(llc_writes_through, "writes that the last level passed on to memory")          \
	X(l1d_fills, "lines put into L1D")                                               \
	X(beyond_l2_lines, "lines that came from beyond L2 (L1, if there is no L2)")     \
	X(l2_accesses, "requests to L2: lines asked for, stores passed on")              \
	X(huge_pages, "areas of 2 MB that turned out to be one page")                    \
	X(remote_prefetches, "lines that prefetchers brought from another socket's "     \
			     "memory")                                                   \
	X(llc_accesses, "requests to the last level: the same")                          \
	X(l2_fills, "lines put into L2: missed there, evicted from L1, prefetched")      \
	X(llc_fills, "lines put into the last level")                                    \
	X(l1i_prefetches, "lines that L1I's prefetcher fetched")                         \
	X(l1d_prefetches, "lines prefetched into L1D, by instructions, too")             \
	X(l2_prefetches, "lines prefetched into L2, by instructions, too")               \
	/* used stands before useless (flex.h) */                                        \
	X(l1i_prefetches_used, "of those into L1I, those that were fetched from there")  \
	X(l1i_prefetches_useless, "those that left it before that")                      \
	X(l1d_hardware_prefetches, "lines that L1D's prefetchers fetched")               \
	X(l1d_prefetches_used, "of those, those that a reference has hit")               \
	X(l1d_prefetches_useless, "those that left L1D before that")                     \
	X(l2_hardware_prefetches, "lines that L2's prefetchers fetched")                 \
	X(l2_prefetches_used, "of those, those that L1 has asked for")                   \
	X(l2_prefetches_useless, "those that left L2 before that")                       \
	X(back_invalidations, "lines that L1 or L2 lost to an eviction further out")     \
	X(software_prefetches, "prefetch instructions")                                  \
	X(software_prefetch_lines, "lines that these brought to the level they name")    \
	X(cache_flushes, "lines that instructions flushed, wrote back or demoted")       \
	X(stream_stores, "non-temporal stores, of all stores")                           \
	X(stream_lines, "lines that these wrote to memory, whole ones or parts")         \
	X(stream_full_lines, "of those, whole ones")                                     \
	X(contended_transfers,                                                           \
		"lines that other threads would have taken, if all ran at "              \
		"the same time: of a sample")                                            \
	/* from here on those of the timing model (timing.h) */                          \
	X(cycles, "cycles")                                                              \
	X(value_stall_cycles, "cycles in which an instruction waited for a load's line") \
	X(value_stall_beyond_l2, "of those, for lines from beyond L2")                   \
	X(value_stall_memory, "of those, for lines from memory")                         \
	X(dtlb_stall_cycles, "cycles in which data waited for its page's translation")   \
	X(buffer_full_cycles, "cycles in which a fill or write buffer had to get free")  \
	X(buffer_full_events, "times that one had to")                                   \
	X(ifetch_stall_cycles, "cycles in which an instruction's line or page came")     \
	X(dtlb_walk_cycles, "cycles of page walks for data")                             \
	X(itlb_walk_cycles, "cycles of page walks for instructions")                     \
	X(load_latency_cycles, "cycles that lines took that loads did not find in L1D")  \
	/* from here on: each cycle is one of these */                                   \
	X(time_issue, "cycles that instructions would take if nothing missed")           \
	X(time_branch, "cycles lost to mispredicted branches")                           \
	X(time_l2, "cycles in which nothing went on before a line came from L2")         \
	X(time_llc, "the same from the last level, or another core's cache")             \
	X(time_memory, "the same from memory, of any socket")                            \
	X(time_tlb, "the same before a page was translated")                             \
	X(time_bandwidth, "the same before a fill buffer or a level was free")           \
	X(time_store, "the same before a write buffer was")                              \
	/* of which those of cycles are an estimate (model/units.h): of a                \
	 * thread's part they may be below 0 */                                          \
	X(timed_instructions, "instructions whose time was modelled")                    \
	X(untimed_instructions, "instructions that others' time stands for")             \
	X(time_variance, "how well that is known: 256ths, of cycles squared")            \
	X(miss_time_variance, "the same of the parts that are of misses")

enum cp_sim_counter {
#define X(name, meaning) CP_SIM_##name,
	CP_SIM_COUNTERS (X)
#undef X
		CP_SIM_NCOUNTERS
};

/* The counters that need --timing. */
#define CP_SIM_TIMED CP_SIM_cycles
#define CP_SIM_TIMED_END (CP_SIM_miss_time_variance + 1)
/* The first of those that tell of the sample. */
#define CP_SIM_TIME_SAMPLE CP_SIM_timed_instructions
/* The first and the last of those that add up to the cycles. */
#define CP_SIM_STACK CP_SIM_time_issue
#define CP_SIM_STACK_END (CP_SIM_time_store + 1)

/* Behind those: what a sweep counts, by its points (--sweep); x87 instructions that were
 * translated, again if their code was; working sets (--window): the windows that were
 * begun, and what was touched in them, each once in each. */
#define CP_SIM_SWEEP_POINTS 32
enum {
	CP_SIM_SWEEP = CP_SIM_NCOUNTERS,
	CP_SIM_X87 = CP_SIM_SWEEP + CP_SIM_SWEEP_POINTS,
	CP_SIM_WINDOWS,
	CP_SIM_WINDOW_data_lines,
	CP_SIM_WINDOW_data_pages,
	CP_SIM_WINDOW_code_lines,
	CP_SIM_WINDOW_code_pages,
	CP_SIM_NALL,
};

/*
 * With --sample (sample/sample.h) a thread has these, too, each in CP_SIM_PARTS.  The
 * differences between the first CP_SIM_GROUPS tell how well their sum is known.  Of what
 * is counted in bursts, each is that of the bursts that were drawn for it, and the part
 * behind them is what was counted in full, at the thread's beginning; of what is counted
 * in sampled sets, each is that of one of them.  instructions: those of the part.  Behind
 * those, as of sampled sets, what the points of a sweep count.
 *
 * The last part, of bursts only: how many of all bursts' a full simulation might not have
 * counted, since what it held before the burst is not known (sample/sample.h).
 */
#define CP_SIM_GROUPS 16
#define CP_SIM_IN_FULL CP_SIM_GROUPS
#define CP_SIM_UNSURE (CP_SIM_GROUPS + 1)
#define CP_SIM_PARTS (CP_SIM_GROUPS + 2)
#define CP_SIM_BURST_COUNTERS(X)                                                         \
	X(instructions)                                                                  \
	X(l1d_loads)                                                                     \
	X(l1d_stores)                                                                    \
	X(l1d_rmw)                                                                       \
	X(l1i_accesses)                                                                  \
	X(l1i_misses)                                                                    \
	X(l1d_load_lines)                                                                \
	X(l1d_store_lines)                                                               \
	X(l1d_load_misses)                                                               \
	X(l1d_store_misses)                                                              \
	X(l1d_fills)                                                                     \
	X(l1d_writebacks)                                                                \
	X(l2_accesses)                                                                   \
	X(itlb_misses)                                                                   \
	X(itlb_walks)                                                                    \
	X(dtlb_load_pages)                                                               \
	X(dtlb_store_pages)                                                              \
	X(dtlb_load_misses)                                                              \
	X(dtlb_store_misses)                                                             \
	X(dtlb_load_walks)                                                               \
	X(dtlb_store_walks)
#define CP_SIM_SET_COUNTERS(X)                                                           \
	X(l2_ifetch_misses)                                                              \
	X(l2_load_lines)                                                                 \
	X(l2_store_lines)                                                                \
	X(l2_writebacks)                                                                 \
	X(l2_fills)                                                                      \
	X(llc_ifetch_misses)                                                             \
	X(llc_load_lines)                                                                \
	X(llc_store_lines)                                                               \
	X(llc_writebacks)                                                                \
	X(llc_fills)                                                                     \
	X(beyond_l2_lines)                                                               \
	X(llc_accesses)
/*
 * Counters that tell more of those that are counted in bursts, since L1 keeps its sampled
 * sets: kept_lines: lines that loads and stores have brought there, of bursts and in full
 * as above; the last part is what came neither in a burst nor in full.  firsts: by
 * sampled set, those of its lines that a burst asked for while L1 need not have had them
 * if it had been emptied, and of these, the ones that it had not.
 */
#define CP_SIM_HELP_COUNTERS(X)                                                          \
	X(kept_lines)                                                                    \
	X(code_firsts)                                                                   \
	X(code_firsts_missed)                                                            \
	X(load_firsts)                                                                   \
	X(load_firsts_missed)                                                            \
	X(store_firsts)                                                                  \
	X(store_firsts_missed)

enum cp_sim_sampled {
#define X(name) CP_SIM_BURST_##name,
	CP_SIM_BURST_COUNTERS(X)
#undef X
		CP_SIM_NBURST,
	CP_SIM_BEFORE_SETS = CP_SIM_NBURST - 1,
#define X(name) CP_SIM_SET_##name,
	CP_SIM_SET_COUNTERS(X)
#undef X
		CP_SIM_SET_SWEEP,
	CP_SIM_SET_HELP = CP_SIM_SET_SWEEP + CP_SIM_SWEEP_POINTS,
	CP_SIM_BEFORE_HELP = CP_SIM_SET_HELP - 1,
#define X(name) CP_SIM_HELP_##name,
	CP_SIM_HELP_COUNTERS(X)
#undef X
		CP_SIM_NSAMPLED,
};

/* Where part g of one of them is, as if it were behind the other counters. */
#define CP_SIM_SAMPLE 160
#define CP_SIM_SAMPLE_WORDS (CP_SIM_NSAMPLED * CP_SIM_PARTS)
#define CP_SIM_SAMPLE_AT(sampled, g) (CP_SIM_SAMPLE + (sampled)*CP_SIM_PARTS + (g))

enum cp_sim_request {
	/* () -> CP_SIM_PROTOCOL: am I run by the simulated PMU? */
	CP_SIM_HELLO = CP_SIM_REQUEST_BASE,

	/* (lo, hi): guest code in [lo, hi) is the library itself: it is neither
	 * counted nor does it touch the simulated caches. -> 1 */
	CP_SIM_OWN_CODE,

	/* () -> 1.  Until RESUME the calling thread's instructions and
	 * references (libc called by the library, say) go to a scratch machine:
	 * its counters and its simulated caches stay as they are.  Nests. */
	CP_SIM_PAUSE,
	CP_SIM_RESUME,

	/* (uint64_t out[CP_SIM_NALL]) -> 1: what the calling thread has
	 * executed since it was created. */
	CP_SIM_READ,

	/* (uint64_t out[CP_SIM_NALL]) -> 1: the sum over all threads of the
	 * process, ended ones included, since its first instruction (or fork). */
	CP_SIM_READ_PROCESS,

	/* (uint64_t mirror[CP_SIM_NALL]) -> 1: the tool copies the calling
	 * thread's counters there at the end of each of its time slices, when
	 * it ends, and at SYNC.  The memory lies in the run record, so that the
	 * counts outlive the process.  NULL unbinds.  Fork children start
	 * unbound and at zero. */
	CP_SIM_BIND,

	/* (uint64_t mirror[CP_SIM_NALL]) -> 1: the same for the process. */
	CP_SIM_BIND_PROCESS,

	/* () -> 1: bring every bound mirror up to date now. */
	CP_SIM_SYNC,

	/* (unsigned k, uint64_t mirror[CP_SIM_NALL]) -> 1: as BIND_PROCESS, for
	 * machine k, from 1 on, of those that get the same references.  -> 0: there
	 * is no such machine. */
	CP_SIM_BIND_MACHINE,

	/* (struct cp_series *) -> 1: the tool adds a row to the time series
	 * (regions/series.h) at the first end of a time slice after it is due,
	 * while no thread is between PAUSE and RESUME.  Fork children have none.
	 * NULL: no more. */
	CP_SIM_SERIES,

	/* (address, enum cp_sim_allocator) -> 1: the function there gives out
	 * memory, or takes it back; for profiles (profile_file.h). */
	CP_SIM_ALLOCATOR,

	/* (detour, const char *patterns) -> 1: functions whose names match one of
	 * "func:PATTERN,..." are regions from now on, and lines of source as
	 * base/text/line_spec.h has them.  Whenever a thread enters one, or has left some
	 * in whatever way, the tool has it call detour(number, 0, the first four
	 * arguments of the call) or detour(0, how many it has left), which asks for
	 * FUNCTION_DONE at its end.  CP_SIM_SWITCHED, CP_SIM_UNTOLD are no numbers. */
	CP_SIM_FUNCTIONS,

	/* (number, char *to, size) -> 1: the function's name as its file has it, and
	 * where the patterns say how its regions are called a line with its name of C++,
	 * and one with what they say ("={...}"). */
	CP_SIM_FUNCTION_NAME,

	/* (name) Does not return: the thread goes on where it was.  name: whatever is
	 * to be told of the region that has begun where it opens again. */
	CP_SIM_FUNCTION_DONE,

	/* (block, size, address) -> 1: for profiles: there the calling thread has the
	 * thread-local variables of the module whose first segment is at address. */
	CP_SIM_TLS,

	/* (n, char *name, char *why, size) -> 1: the nth line of source that was asked
	 * for, and why it has not been seen; "": it was, or could have been.  size: of
	 * both.  -> 0: there are fewer. */
	CP_SIM_LINE_CHECK,

	/* (arguments, variables, end) -> 1: there are the strings that /proc shows as
	 * the command line and the environment.  -> 0: it goes on showing the
	 * simulator's. */
	CP_SIM_TITLE,

	/* (const void *page) -> 1: the program may read it. */
	CP_SIM_READABLE,

	/* (uint64_t mirror[CP_SIM_SAMPLE_WORDS]) -> 1: as BIND, for what is sampled.
	 * -> 0: nothing is. */
	CP_SIM_BIND_SAMPLE,

	/* () -> char *const *: the library's variables, which the program does not find
	 * in its environment, because that is the same everywhere.  -> 0: they are there.
	 */
	CP_SIM_GIVEN,

	/* () -> enum cp_unpinned, a bit each: what this process has done by now that may
	 * differ between runs all the same. */
	CP_SIM_UNPINNED,

	/* () -> CP_SIM_SHOWS_HOSTS: CPUID tells the program of this machine's processor,
	 * CP_SIM_SHOWS_MACHINES: of the simulated machine's.  -> 0: of Valgrind's, also
	 * where a tool without its table of encodings was asked. */
	CP_SIM_SHOWS_HOST,

	/* (n, char *to, size) -> 1, 2: the nth pattern of functions, and whether a file
	 * whose code was executed has one of that name (1) or none has (2).  -> 0: there
	 * are fewer. */
	CP_SIM_FUNCTION_CHECK,

	/* () the library's next system call is the program's, which has called
	 * syscall(2).
	 */
	CP_SIM_CALL,

	/* (unsigned k, uint64_t mirror[CP_SIM_SAMPLE_WORDS]) -> 1: as BIND_PROCESS, for
	 * what is sampled on machine k, from 0 on.  -> 0: there is no such machine, or
	 * nothing is sampled. */
	CP_SIM_BIND_MACHINE_SAMPLE,

	/* (number) -> 1: the calling thread goes on in the region of that number of its
	 * own, 0: in none, whose first instructions' time is modelled in full
	 * (--time-sample). */
	CP_SIM_REGION,

	/* (low, high) -> 1: a thread that is about to begin has this as its stack. */
	CP_SIM_STACK_OF_THREAD,

	/* (wanted) -> 1: the next thread that the calling one creates begins between
	 * PAUSE and RESUME, for what libc does in it before its function hangs on its
	 * number; wanted 0: there is none. -> 0: it does not. */
	CP_SIM_THREAD_COMES,

	/* (int *slots[CP_FD_MAX], int *lowest, int *highest, const int *pid) -> 1: the
	 * library's descriptors (base/fd.c), which no call of the program's in the
	 * process pid knows of. */
	CP_SIM_DESCRIPTORS,

	/* () In a detour of SWITCHED: -> the name of the next region that opens again,
	 * outermost first; 1: it has none; 0: there are no more. */
	CP_SIM_FUNCTION_AGAIN,
};

/* Instead of a function's number.  The thread goes from a stack to another: how many
 * regions are closed with the first, until it is back.  Which calls are over cannot be
 * told: no number of a function's is right, and none begins any more. */
#define CP_SIM_SWITCHED (~0ul)
#define CP_SIM_UNTOLD (~1ul)

/* X(name, what differs) */
#define CP_UNPINNED(X)                                                                   \
	X(CPU, "CPU without AVX2 and F16C")                                              \
	X(PID, "process numbers")                                                        \
	X(USER, "numbers of the user")                                                   \
	X(CWD, "path of the directory")                                                  \
	X(CPUS, "number of CPUs")                                                        \
	X(NETWORK, "sockets")                                                            \
	X(TIMER, "timers")                                                               \
	X(USAGE, "getrusage")                                                            \
	X(HOST, "names of the host")                                                     \
	X(PROC, "files of /proc and /sys")                                               \
	X(ETC, "files of /etc")                                                          \
	X(DIRECTORY, "long directories")                                                 \
	X(TURNS, "turns of threads")

enum cp_unpinned {
#define X(name, what) CP_UNPINNED_##name,
	CP_UNPINNED(X)
#undef X
		CP_NUNPINNED
};

/* By their arguments. */
enum cp_sim_allocator {
	CP_SIM_MALLOC,         /* (size) */
	CP_SIM_CALLOC,         /* (n, size) */
	CP_SIM_REALLOC,        /* (block, size) */
	CP_SIM_MEMALIGN,       /* (alignment, size) */
	CP_SIM_POSIX_MEMALIGN, /* (to, alignment, size) */
	CP_SIM_FREE,           /* (block) */
	CP_SIM_MMAP,           /* (where, size, ...) */
};

#endif
