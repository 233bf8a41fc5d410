/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the parts of the Valgrind tool share.
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

/* options.c: the machines, which all see the same references, and the first of
 * them, to which the counters of threads belong.  Their smallest line is the same. */
#define TOOL_MAX_MACHINES 16
extern struct machine tool_machines[TOOL_MAX_MACHINES], tool_machine;
extern UInt tool_nmachines;
extern Bool tool_has_front;   /* some are behind one: see front.h */
extern Bool tool_float_loads; /* some machine tells them apart */
extern Bool pieces_apart;     /* pieces.h: each is a reference */
extern Bool tool_timing;      /* some have time */
extern Bool tool_report;
extern struct sweep_plan tool_sweep; /* of the first machine */
Bool options_parse(const HChar *arg);
void options_check(void);
void options_usage(void);
void options_debug_usage(void);

/* threads.c: the counters and the core of each thread */
void threads_start(void);
void threads_finish(void);
Int threads_read(ThreadId tid, UWord out);
Int threads_read_process(UWord out);
Int threads_bind(ThreadId tid, UWord mirror);
Int threads_bind_sample(ThreadId tid, UWord mirror);
Int threads_bind_process(UInt machine, UWord mirror);
Int threads_series(UWord series);
void threads_sync(void);
/* Moves what the thread's cores have counted to where it belongs, now. */
void threads_collect(ThreadId tid);
void threads_pause(ThreadId tid);
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
