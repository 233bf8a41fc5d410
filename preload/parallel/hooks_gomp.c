/* SPDX-License-Identifier: MIT
 *
 * Overrides: GOMP_parallel, GOMP_parallel_reductions, GOMP_parallel_sections,
 * GOMP_parallel_loop_static, GOMP_parallel_loop_dynamic, GOMP_parallel_loop_guided,
 * GOMP_parallel_loop_nonmonotonic_dynamic, GOMP_parallel_loop_nonmonotonic_guided,
 * GOMP_parallel_loop_runtime, GOMP_parallel_loop_nonmonotonic_runtime,
 * GOMP_parallel_loop_maybe_nonmonotonic_runtime, GOMP_teams_reg, GOMP_task,
 * GOMP_taskloop, GOMP_taskloop_ull, GOMP_barrier, GOMP_barrier_cancel,
 * GOMP_loop_end, GOMP_loop_end_cancel, GOMP_sections_end, GOMP_sections_end_cancel.
 *
 * What gcc makes of OpenMP.  The runtime is given a function of ours, which runs
 * the body between the boundaries of a region.  In a barrier a thread rests, and
 * so it does after its part of the body; a task that was left until then is a
 * part of the region all the same, so that tasks run in an envelope.
 */
#include <string.h>

#include "base/export.h"
#include "preload/parallel/openmp.h"
#include "preload/self.h"
#include "preload/parallel/teams.h"

#define CALLER __builtin_return_address(0)

typedef void body_function(void *);
typedef void copy_function(void *, void *);

/* A body is in the object that hands it over. */
static const struct cp_omp_site *find_site(
	struct cp_forward *forward, const void *body, const void *caller)
{
	const struct cp_caller it = {caller, body, NULL};

	return cp_omp_site(body, forward->name, NULL, cp_omp_real(forward, &it));
}

/* ---- parallel regions ---- */

struct work {
	body_function *body;
	void *data;
	struct cp_team team;
};

static void run_body(body_function *body, void *data)
{
	const void *outer = cp_self.omp_body;

	cp_self.omp_body = (const void *)(uintptr_t)body;
	body(data);
	cp_self.omp_body = outer;
}

static void run_work(void *memory)
{
	const struct work *work = memory;

	bool begun = cp_team_begin(&work->team);

	run_body(work->body, work->data);
	if (begun)
		cp_team_rest();
}

/* The region's own thread goes on alone. */
static void join_work(const struct work *work)
{
	if (work->team.name)
		cp_team_end_rest();
}

static bool passes_by(const struct cp_omp_site *site)
{
	if (site->told)
		cp_self.omp_next = site;
	return site->told || !site->name || site->name->left_out;
}

/* The signature of an entry, its arguments, and those with our body and data. */
#define PARALLEL(entry, signature, theirs, ours)                                         \
	EXPORT void entry signature                                                      \
	{                                                                                \
		static struct cp_forward forward = {#entry, 0};                          \
		const struct cp_omp_site *site =                                         \
			find_site(&forward, (const void *)(uintptr_t)body, CALLER);      \
		void(*real) signature = (__typeof__(real))(uintptr_t)site->real;         \
		struct work work = {body, data, {NULL, NULL}};                           \
                                                                                         \
		if (passes_by(site)) {                                                   \
			real theirs;                                                     \
			return;                                                          \
		}                                                                        \
		cp_team_fork(&work.team, site->name);                                    \
		real ours;                                                               \
		join_work(&work);                                                        \
	}

PARALLEL(GOMP_parallel,
	(body_function * body, void *data, unsigned threads, unsigned flags),
	(body, data, threads, flags), (run_work, &work, threads, flags))
PARALLEL(GOMP_parallel_sections,
	(body_function * body, void *data, unsigned threads, unsigned count,
		unsigned flags),
	(body, data, threads, count, flags), (run_work, &work, threads, count, flags))
PARALLEL(GOMP_teams_reg,
	(body_function * body, void *data, unsigned teams, unsigned limit,
		unsigned flags),
	(body, data, teams, limit, flags), (run_work, &work, teams, limit, flags))

#define LOOP(entry)                                                                      \
	PARALLEL(entry,                                                                  \
		(body_function * body, void *data, unsigned threads, long start,         \
			long end, long step, long chunk, unsigned flags),                \
		(body, data, threads, start, end, step, chunk, flags),                   \
		(run_work, &work, threads, start, end, step, chunk, flags))
LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)

#define RUNTIME_LOOP(entry)                                                              \
	PARALLEL(entry,                                                                  \
		(body_function * body, void *data, unsigned threads, long start,         \
			long end, long step, unsigned flags),                            \
		(body, data, threads, start, end, step, flags),                          \
		(run_work, &work, threads, start, end, step, flags))
RUNTIME_LOOP(GOMP_parallel_loop_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* The runtime takes the first word of the data for the table of reductions. */
struct reducing_work {
	void *table;
	struct work work;
};

static void run_reducing(void *memory)
{
	run_work(&((struct reducing_work *)memory)->work);
}

EXPORT unsigned GOMP_parallel_reductions(
	body_function *body, void *data, unsigned threads, unsigned flags)
{
	static struct cp_forward forward = {"GOMP_parallel_reductions", 0};
	const struct cp_omp_site *site =
		find_site(&forward, (const void *)(uintptr_t)body, CALLER);
	__typeof__(&GOMP_parallel_reductions) real =
		(__typeof__(real))(uintptr_t)site->real;
	struct reducing_work reducing = {*(void **)data, {body, data, {NULL, NULL}}};
	unsigned result;

	if (passes_by(site))
		return real(body, data, threads, flags);
	cp_team_fork(&reducing.work.team, site->name);
	result = real(run_reducing, &reducing, threads, flags);
	join_work(&reducing.work);
	return result;
}

/* ---- tasks ---- */

#define DETACHES (1u << 13) /* the runtime writes an event's handle into the data */

/* Begins with what the runtime itself reads and writes at the start of the data
 * of a loop of tasks: its bounds, and a table of reductions. */
struct envelope {
	long words[3];
	long offset; /* of the program's data */
	body_function *body;
};

/* The same before the runtime has copied it. */
struct unsent {
	struct envelope envelope;
	copy_function *copy; /* NULL: bytes will do */
	void *data;
	size_t size;
};

static void open_envelope(void *memory, bool loop)
{
	const struct envelope *envelope = memory;
	char *data = (char *)memory + envelope->offset;
	bool rested;

	if (loop)
		memcpy(data, envelope->words, 2 * sizeof(envelope->words[0]));
	rested = cp_team_go_on();
	run_body(envelope->body, data);
	if (rested)
		cp_team_rest();
}

static void run_task(void *memory)
{
	open_envelope(memory, false);
}

static void run_loop_task(void *memory)
{
	open_envelope(memory, true);
}

static void copy_envelope(void *to, void *from)
{
	const struct unsent *unsent = from;

	memcpy(to, &unsent->envelope, sizeof(unsent->envelope));
	if (unsent->copy)
		unsent->copy((char *)to + unsent->envelope.offset, unsent->data);
	else
		memcpy((char *)to + unsent->envelope.offset, unsent->data, unsent->size);
}

static long offset_for(long alignment)
{
	return ((long)sizeof(struct envelope) + alignment - 1) / alignment * alignment;
}

static struct unsent pack_work(
	body_function *body, void *data, copy_function *copy, long size, long alignment)
{
	struct unsent unsent = {{{0, 0, 0}, offset_for(alignment), body}, copy, data,
		size > 0 ? (size_t)size : 0};

	memcpy(unsent.envelope.words, data,
		unsent.size < sizeof(unsent.envelope.words)
			? unsent.size
			: sizeof(unsent.envelope.words));
	return unsent;
}

/* How the runtime is given the task as it is, and in its envelope. */
#define SEND(plain, runner, call)                                                        \
	do {                                                                             \
		long least = alignment < 16 ? 16 : alignment;                            \
		struct unsent unsent;                                                    \
		if (plain) {                                                             \
			call(body, data, copy, size, alignment);                         \
			break;                                                           \
		}                                                                        \
		unsent = pack_work(body, data, copy, size, least);                       \
		call(runner, &unsent, copy_envelope, unsent.envelope.offset + size,      \
			least);                                                          \
	} while (0)

EXPORT void GOMP_task(body_function *body, void *data, copy_function *copy, long size,
	long alignment, bool deferrable, unsigned flags, void **depend, int priority,
	void *detach)
{
	static struct cp_forward forward = {"GOMP_task", 0};
	const struct cp_omp_site *site =
		find_site(&forward, (const void *)(uintptr_t)body, CALLER);
	__typeof__(&GOMP_task) real = (__typeof__(real))(uintptr_t)site->real;

#define CALL(function, memory, copier, bytes, aligned)                                   \
	real(function, memory, copier, bytes, aligned, deferrable, flags, depend,        \
		priority, detach)
	SEND(site->told || !site->name || (flags & DETACHES), run_task, CALL);
#undef CALL
}

#define TASKLOOP(entry, bound)                                                           \
	EXPORT void entry(body_function *body, void *data, copy_function *copy,          \
		long size, long alignment, unsigned flags, unsigned long count,          \
		int priority, bound start, bound end, bound step)                        \
	{                                                                                \
		static struct cp_forward forward = {#entry, 0};                          \
		const struct cp_omp_site *site =                                         \
			find_site(&forward, (const void *)(uintptr_t)body, CALLER);      \
		__typeof__(&entry) real = (__typeof__(real))(uintptr_t)site->real;       \
                                                                                         \
		SEND(site->told || !site->name, run_loop_task, CALL);                    \
	}
#define CALL(function, memory, copier, bytes, aligned)                                   \
	real(function, memory, copier, bytes, aligned, flags, count, priority, start,    \
		end, step)
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)
#undef CALL

/* ---- barriers: no body, so the runtime is the site ---- */

/* The caller is what it runs, or what that calls. */
static const struct cp_omp_site *find_runtime(
	struct cp_forward *forward, const void *caller)
{
	const struct cp_caller it = {caller, NULL, cp_self.omp_body};
	void *real = cp_omp_real(forward, &it);

	return cp_omp_site(real, forward->name, "", real);
}

#define BARRIER(entry)                                                                   \
	EXPORT void entry(void)                                                          \
	{                                                                                \
		static struct cp_forward forward = {#entry, 0};                          \
		const struct cp_omp_site *site = find_runtime(&forward, CALLER);         \
		void (*real)(void) = (__typeof__(real))(uintptr_t)site->real;            \
		bool rests = !site->told && cp_team_rest();                              \
                                                                                         \
		real();                                                                  \
		if (rests)                                                               \
			cp_team_go_on();                                                 \
	}
BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)

#define CANCELLED_BARRIER(entry)                                                         \
	EXPORT bool entry(void)                                                          \
	{                                                                                \
		static struct cp_forward forward = {#entry, 0};                          \
		const struct cp_omp_site *site = find_runtime(&forward, CALLER);         \
		bool (*real)(void) = (__typeof__(real))(uintptr_t)site->real;            \
		bool rests = !site->told && cp_team_rest(), cancelled;                   \
                                                                                         \
		cancelled = real();                                                      \
		if (rests)                                                               \
			cp_team_go_on();                                                 \
		return cancelled;                                                        \
	}
CANCELLED_BARRIER(GOMP_barrier_cancel)
CANCELLED_BARRIER(GOMP_loop_end_cancel)
CANCELLED_BARRIER(GOMP_sections_end_cancel)
