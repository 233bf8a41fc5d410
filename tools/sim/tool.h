/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Shared by the parts of the Valgrind tool.
 */
#ifndef CACHEPEEK_SIM_TOOL_H
#define CACHEPEEK_SIM_TOOL_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_options.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_transtab.h"
#include "pub_tool_clreq.h"
#include "model/batch.h"
#include "model/sweep.h"

/* main.c: bytes of what is simulated */
extern ULong tool_state;
/* instrument/instrument.c: x87 instructions that were translated */
extern ULong x87_translated;

#define TOOL_MAX_MACHINES 16

/* A leaf of CPUID: EAX, EBX, ECX, EDX. */
struct shown_leaf {
	UInt leaf, subleaf, output[4];
};
#define TOOL_SHOWN_LEAVES 48

/* --sample: all in instructions, but the number of groups of sets and the seed. */
struct sample_plan {
	ULong sets;   /* of the groups; 0: nothing is sampled */
	ULong warm;   /* instructions that make caches warm, and that are counted then */
	ULong burst;  /* in a burst */
	ULong period; /* from the beginning of one to that of the next, on average */
	ULong seed;
};

/* options.c: the command line.  Only options.c writes it, and is done with that before
 * the program begins. */
extern struct tool_options {
	/* All see the same references; the counters of threads belong to the first of
	 * them, which is here once more.  Their smallest line is the same. */
	struct machine machines[TOOL_MAX_MACHINES], machine;
	UInt nmachines;
	Bool hears_orders;       /* some machine does (model/orders.h) */
	Bool whole_strings;      /* rep movs is one instruction (strings/strings.h) */
	Bool has_front;          /* some machines are behind one: see front.h */
	Bool float_loads;        /* some machine tells them apart */
	Bool timing;             /* some machines have time */
	struct sweep_plan sweep; /* of the first machine */
	struct sample_plan sample;
	UInt window; /* instructions; 0: nobody asks */

	const HChar *profile; /* the run directory; NULL: no profile */
	Bool sites;           /* False: a profile of call paths only */
	Bool paths;
	UInt paths_limit; /* nodes of the tree */
	Bool line_use;
	Bool sharing;
	UInt quantum; /* 0: nobody asks who takes lines from whom */

	Bool lines;           /* the core reads debugging information */
	Bool pieces;          /* each is a reference: see pieces.h */
	Bool huge;            /* --huge-pages is not "no" */
	Bool huge_from_smaps; /* as on a kernel without PAGEMAP_SCAN */
	Bool native;          /* the host executes what Valgrind lacks */
	Bool shows_host;      /* --cpu=host */
	/* And of another processor; nshown 0: of none. */
	struct shown_leaf shown[TOOL_SHOWN_LEAVES];
	UInt nshown;
	Bool check_blocks; /* VEX looks at all that it translates */
	Bool hosted_flush; /* "no" is as where the core's dispatcher cannot be patched */
	Bool asks_cpuid;   /* "no" is as where CPUID hides all but the registers */
	Bool report, alone;
} tool_options;
Bool options_parse(const HChar *arg);
void options_check(void);
void options_usage(void);
void options_debug_usage(void);

/* most_threads.c: how many there may be at a time.  VG_N_THREADS is behind the highest
 * number that there has been. */
UInt most_threads(void);
void most_threads_after_call(void);

/* threads.c: the counters and the core of each thread */
void threads_start(void);
void threads_finish(void);
Int threads_read(ThreadId tid, UWord out);
Int threads_read_process(UWord out);
Int threads_bind(ThreadId tid, UWord mirror);
Int threads_bind_sample(ThreadId tid, UWord mirror);
Int threads_bind_process(UInt machine, UWord mirror);
Int threads_bind_machine_sample(UInt machine, UWord mirror);
Int threads_series(UWord series);
void threads_sync(void);
/* Moves what the thread's cores have counted to where it belongs, now. */
void threads_collect(ThreadId tid);
void threads_enter_region(ThreadId tid, UWord number);
void threads_pause(ThreadId tid);
/* The next thread that it creates is to begin paused; may it? */
Bool threads_await(ThreadId tid, Bool wanted);
void threads_resume(ThreadId tid);
/* The thread's references are the library's. */
Bool threads_is_paused(ThreadId tid);
/* The instructions of all threads by now. */
ULong threads_instructions(ThreadId running);

/* timed.c: after how many instructions is used what the load that statement `at` makes
 * brought?  And: from now on references are looked at by the timing model. */
UInt timed_use(const IRSB *in, Int at);

void timed_start(void);

/* floats.c: is the load that statement `at` makes one of floating-point data? */
Bool is_float_load(const IRSB *in, Int at);

/* own_code.c: the library's own code */
Bool own_code_add(Addr lo, Addr hi);
Bool own_code_at(Addr addr);

/* title.c: what others see of the command line */
Bool title_show(Addr arguments, Addr variables, Addr end);
void title_after_fork(void);

/* requests.c */
Bool request_handle(ThreadId tid, UWord *args, UWord *ret);

/* instrument.c */
IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
	const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
	IRType host_word);

#endif
