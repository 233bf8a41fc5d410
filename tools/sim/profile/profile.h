/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which instruction had which misses (--profile=DIRECTORY).
 *
 * The model is not asked: what the counters of the core grow by belongs to the
 * reference that was made meanwhile, of those that the filters did not admit.  On a
 * plain machine the profile is told before each, and accounts for what was counted when
 * one comes that belongs elsewhere; on others after each.  Hence the sum over the
 * instructions of a thread is the thread's counts, whatever the model counts and why.
 */
#ifndef CACHEPEEK_SIM_PROFILE_H
#define CACHEPEEK_SIM_PROFILE_H

#include "tool.h"
#include "tools/sim/profile_file.h"

struct profile_thread;

/* profile.c */
void profile_start(void);
/* Called by a thread for itself. */
struct profile_thread *profile_thread_begin(ThreadId tid);
UInt profile_thread_number(const struct profile_thread *t);
void profile_thread_end(ThreadId tid);
/* Where the misses of that core are accounted for from here on; NULL: nowhere. */
void profile_thread_use(struct profile_thread *t, const struct core *core);
/* The core's counters, which are set to 0 after this; profile_settle() was called before
 * they were collected. */
void profile_collect(struct profile_thread *t, const uint64_t *more);
/* Adds counts that no core has. */
void profile_huge_pages(struct profile_thread *t, ULong more);
/* Other code may be mapped there next.  Returns whether there was some that is
 * known. */
Bool profile_unmapped(Addr a, SizeT len);
/* Before what an address is in changes: accounts for what was counted. */
void profile_settle(void);
/* From here on counts are of that part of the sample, or of none (sample/sample.h);
 * profile_settle() was called before. */
void profile_use_part(UInt part);
/* The sample as it is now, in the file. */
void profile_put_sample(void);
void profile_fork_child(void);

/* profile_file.c: size bytes of the file, zeroed; NULL: there is no room. */
void *profile_allocate(UInt size);
void profile_publish(void *entry, enum cp_profile_kind kind);
/* An interpreter of Python runs: see the file's header. */
void profile_note_python(UInt version, Bool has_scripts);
/* The site of those without room: in the header of the file, if there is one. */
struct cp_profile_site *profile_nowhere(void);
void profile_file_fork_child(void);

/* profile_steps.c: the instruction asked for a line that L1D had not, or would not have
 * had. */
void profile_steps_note(struct cp_profile_site *site, Addr address);
void profile_steps_start(void);
void profile_steps_fork_child(void);

/* profile_misses.c: what every miss of L1D was, in its order. */
void profile_misses_open(const HChar *path);
Bool profile_misses_wanted(void);
void profile_misses_add(UInt thread, Addr instruction, ULong n);
void profile_misses_flush(void);

/* profile_heap.c: the blocks of the heap, by who allocated them. */
Bool profile_allocator_add(Addr function, UWord kind);
/* Memory was mapped there, of a file or not. */
void profile_heap_mapped(Addr start, SizeT size);
/* Is this the first instruction of such a function? */
Bool profile_wants(Addr a);
void profile_watch_entry(IRSB *out, const VexGuestLayout *layout, Addr a);
void profile_watch_return(IRSB *out, const VexGuestLayout *layout);
/* A call of such a function that has not returned. */
struct profile_call {
	Addr sp; /* when it has; 0: there is none */
	Addr caller, block;
	ULong size;
	UInt kind;
};
void profile_heap_use(struct profile_call *call);

/* profile_access.c: around what an instruction adds to an object's counts. */
void profile_access_before(
	const struct cp_profile_object *object, ULong before[CP_PROFILE_ACCESSED]);
void profile_access_after(const struct cp_profile_site *site,
	const struct cp_profile_object *object, const ULong before[CP_PROFILE_ACCESSED]);
void profile_access_fork_child(void);

/* profile_script.c: lines of Python. */
/* Code of that file, which is mapped there, is executed for the first time. */
void profile_script_module(const HChar *path, Addr start, ULong offset);
/* Another thread runs, of that number. */
void profile_script_use(UInt thread);
/* Memory is unmapped, or may be read no more. */
void profile_script_unmapped(Addr a, SizeT len);
/* The line that the running thread is in; NULL: none. */
struct cp_profile_script *profile_script_now(void);
void profile_script_fork_child(void);

/* line_use.c: which bytes of the lines that L1D fetches are used (--line-use). */
void line_use_start(void);
/* The references that come are this thread's (of the profile); -1: nobody's. */
void line_use_use(Int thread);
void line_use_fork_child(void);
/* Nothing comes any more. */
void line_use_finish(void);

/* profile_shadow.c: an object's number for each 16 bytes; 0: none. */
void shadow_set(Addr a, SizeT size, UInt object);
/* The block that begins at a. */
void shadow_clear_block(Addr a);
void shadow_clear(Addr a, SizeT size);
/* Clears [a, end); of pages that it has in part, that part. */
void shadow_clear_part(Addr a, Addr end);
/* The object at a, and how far around a it is the same at least. */
UInt shadow_extent(Addr a, Addr *start, ULong *size);
/* Was there a block in the same page? */
Bool shadow_has_blocks(Addr a);

/* profile_data.c */
struct cp_profile_object *profile_object_at(Addr a);
/* Addresses that are all in one object, whose number it is. */
struct profile_extent {
	Addr start;
	ULong size;
	UInt object;
};
void profile_extent_at(Addr a, struct profile_extent *extent);
/* Where the variable is in memory that the object is, and its size; 0: it is none. */
Addr profile_variable_at(UInt number, ULong *size);
/* NULL: there was no room. */
struct cp_profile_object *profile_object(UInt number);
/* The object of blocks of that size allocated there, which has one more. */
UInt profile_heap_object(Addr caller, ULong size);
/* Memory that was mapped there, without a file. */
void profile_data_new_mapping(Addr start, ULong size, Addr caller);
void profile_data_new_block(Addr a);
void profile_data_unmapped(Addr a, SizeT len);
void profile_data_thread_begin(ThreadId tid, UInt thread);
void profile_data_thread_end(ThreadId tid);
void profile_data_fork_child(void);

/* profile_tls.c: thread-local variables. */
void profile_tls_add(ThreadId tid, Addr block, SizeT size, Addr image);
/* Finds the thread-local variable that a is in: where the module is, and where in its
 * block the variable is; False: in none that has a name. */
Bool profile_tls_at(Addr a, Addr *image, ULong *offset, Addr *start, ULong *size);
void profile_tls_thread_end(ThreadId tid);
void profile_tls_unmapped(Addr a, SizeT len);

/* profile_image.c: the variables of a mapped file. */
struct image;
struct image *profile_image_at(Addr a);
/* The variable at a; False: there is none with a name, and the bytes around a that
 * are in none are given instead. */
Bool profile_image_variable(const struct image *image, Addr a, Addr *start, ULong *size);
Bool profile_image_writable(const struct image *image, Addr a);
Addr profile_image_start(const struct image *image);
/* Returns by how much its addresses exceed those in the file. */
Addr profile_image_bias(const struct image *image);
Bool profile_image_unmapped(Addr a, SizeT len);

/* profile_module.c: its number; 0: nothing is mapped there, or there is no room. */
UInt profile_module_at(Addr a);
/* Returns whether a module had something there, which is known no more. */
Bool profile_module_unmapped(Addr a, SizeT len);
void profile_module_fork_child(void);

#endif
