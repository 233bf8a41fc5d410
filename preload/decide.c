/* SPDX-License-Identifier: MIT */
#include "preload/decide.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/fd.h"
#include "base/files/trusted.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/once.h"
#include "preload/compared.h"
#include "base/counters/events.h"
#include "base/counters/options.h"
#include "base/machine/weights.h"
#include "base/engine/notes.h"
#include "preload/run.h"
#include "preload/planned.h"
#include "preload/warn.h"
#include "preload/simulated.h"

/* The request, as long as it is being decided, and what it says to the next image. */
static struct {
	bool read;
	struct cp_request request;
	uint64_t settings; /* a hash of them */
	struct cp_once handed_over;
} asked;

/* ---- what cannot be as asked ---- */

static void note_line(const char *line)
{
	cp_plan_add_text(&cp_plan, &cp_decide_arena, CP_PLAN_NOTED, line);
}

static void tell_texts(enum cp_plan_text kind, void (*how)(const char *line))
{
	const char *line;

	for (size_t at = 0; (line = cp_plan_next_text(&cp_plan, kind, &at));)
		how(line);
}

/* ---- the request ---- */

static void read_request(const char *fallback)
{
	if (asked.read)
		return;
	cp_request_read(&asked.request, &cp_decide_arena,
		&(struct cp_request_text){
			cp_options.events, cp_options.groups, cp_options.let, fallback},
		cp_decide_complain);
	asked.read = true;
}

bool cp_decide_is_software(void)
{
	if (!cp_options.events && !cp_options.groups)
		return false;
	read_request("cache");
	return cp_request_is_software(&asked.request, &cp_decide_arena);
}

/* Complains of weights for levels that this machine has not. */
static void check_weights(void)
{
	char line[120];

	for (enum cp_weight_of of = CP_OF_L1; of < CP_NWEIGHTS; of++) {
		if (!(asked.request.weights[of] > 0) ||
			cp_plan.weights.of[of].from != CP_WEIGHT_NONE)
			continue;
		cp_format(line, sizeof(line),
			"CACHEPEEK_LET: %s changes nothing: there is no such level here",
			cp_weight_name(of));
		cp_decide_complain(line);
	}
}

static void weigh_misses(void)
{
	cp_plan.weights = cp_weights_of(cp_plan_machine(&cp_plan), asked.request.weights);
	check_weights();
}

/* ---- on hardware ---- */

static const char *default_group_for_perf(void)
{
	struct cp_why why;

	if (cp_options.events || cp_options.groups)
		return "cache";
	return cp_perf_hardware_works(&why) ? "cache" : "soft";
}

/* The share of the events that this run, or this rank, counts. */
static struct cp_share share_of_events(void)
{
	int rank = cp_run.rank.number;

	if (cp_options.pass || cp_options.schedule != CP_SCHEDULE_RANKS)
		return (struct cp_share){(unsigned)cp_options.pass, false};
	if (rank >= 0)
		return (struct cp_share){(unsigned)rank + 1, true};
	cp_decide_complain("CACHEPEEK_SCHEDULE=ranks is for jobs of MPI, "
			   "and no launcher's rank is in the environment: "
			   "events are multiplexed instead");
	return (struct cp_share){0, false};
}

static void note_machine(void)
{
	const char *siblings = cp_perf_note_siblings(&cp_plan.set);

	cp_perf_note(&cp_plan.set, note_line);
	if (siblings)
		note_line(siblings);
}

static void rotate_events(void)
{
	cp_perf_rotate(&cp_plan.set);
	if (cp_plan.set.reference[0])
		cp_decide_complain("CACHEPEEK_SCHEDULE=rotate is not "
				   "for machines with several kinds of core: "
				   "events are multiplexed instead");
}

static void decide_for_perf(void)
{
	struct cp_share share;

	read_request(default_group_for_perf());
	weigh_misses();
	share = share_of_events();
	if (share.number)
		cp_request_add_common(&asked.request);
	cp_events_for_perf(&cp_plan.set, &asked.request, share, &cp_decide_arena,
		cp_decide_complain);
	note_machine();
	if (cp_options.schedule == CP_SCHEDULE_ROTATE)
		rotate_events();
	if (cp_plan.set.nrotated && cp_options.sparse)
		cp_decide_complain(
			"CACHEPEEK_SPARSE=1 is ignored: groups of events take turns "
			"(CACHEPEEK_SCHEDULE=rotate), "
			"and need every execution for that");
}

/* ---- by the simulated PMU ---- */

static void decide_for_sim(void)
{
	cp_simulated_machines();
	read_request(cp_simulated_groups());
	weigh_misses();
	cp_simulated_events(&asked.request);
}

/* ---- by either engine ---- */

static void decide_anew(void)
{
	if (cp_run.engine == &cp_engine_sim)
		decide_for_sim();
	else
		decide_for_perf();
	for (size_t i = 0; i < asked.request.ngroups; i++)
		cp_plan_add_text(&cp_plan, &cp_decide_arena, CP_PLAN_GROUP,
			asked.request.groups[i]->text);
	tell_texts(CP_PLAN_SAID, cp_warn);
	tell_texts(CP_PLAN_NOTED, cp_keep_warning);
}

/* ---- from image to image ---- */

/* In any order: environments are sorted by some programs. */
void cp_decide_settings(char *const settings[])
{
	for (; *settings; settings++)
		asked.settings += cp_hash_text(0, *settings);
}

static uint64_t plan_key(void)
{
	const char *compared = cp_env_get(CP_COMPARED);
	uint64_t key = cp_hash_text(asked.settings, compared ? compared : "");

	key = cp_hash_text(key, cp_run.engine->name);
	if (cp_options.schedule == CP_SCHEDULE_RANKS)
		key += (uint64_t)cp_run.rank.number * 0x9e3779b97f4a7c15u;
	return key;
}

/* writer: "", or who has not finished it yet. */
static bool plan_path(char to[CP_RUNDIR_SIZE], const char *writer)
{
	return cp_format(to, CP_RUNDIR_SIZE, "%s/%s%016llx.plan", cp_run.directory,
		       writer, (unsigned long long)plan_key()) < CP_RUNDIR_SIZE;
}

static int open_plan(void)
{
	char path[CP_RUNDIR_SIZE], why[CP_WHY_SIZE];

	if (!plan_path(path, ""))
		return -ENAMETOOLONG;
	return cp_trusted_open(AT_FDCWD, path, CP_FOUND, CP_PLAN_MOST, why, sizeof(why));
}

/* Can this image count it as well?  It may have fewer rights than its parent. */
static bool can_be_counted(void)
{
	struct cp_why why;

	if (cp_run.engine == &cp_engine_sim)
		return cp_plan.nmachines > 0;
	for (unsigned i = 0; i < cp_plan.set.ncounters; i++) {
		const struct cp_counter *counter = &cp_plan.set.counters[i];

		if (!counter->socket && !counter->rusage &&
			cp_perf_probe(&counter->attr, NULL, &why) < 0)
			return false;
	}
	return cp_plan.nmachines == 0;
}

static bool take_over(void)
{
	int fd = open_plan(), result;

	if (fd < 0)
		return false;
	result = cp_plan_read(&cp_plan, plan_key(), fd, &cp_decide_arena);
	cp_fd_close(fd);
	if (result == 0 && can_be_counted())
		return true;
	memset(&cp_plan, 0, sizeof(cp_plan));
	return false;
}

void cp_decide(bool inherited)
{
	if (inherited && take_over()) {
		(void)cp_once(&asked.handed_over);
		tell_texts(CP_PLAN_SAID, cp_keep_warning);
		tell_texts(CP_PLAN_NOTED, cp_keep_warning);
	} else {
		decide_anew();
	}
	/* Said of this image: whoever started it need not run there. */
	if (cp_run.engine == &cp_engine_perf && cp_sim_is_foreign())
		cp_keep_warning(
			"the program runs under Valgrind: perf counts the work of both");
}

static void write_plan(const char *path)
{
	char fresh[CP_RUNDIR_SIZE], writer[24];
	int fd, result;

	cp_format(writer, sizeof(writer), "%d-", (int)getpid());
	if (!plan_path(fresh, writer))
		return;
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	result = cp_plan_write(&cp_plan, plan_key(), fd);
	cp_fd_close(fd);
	if (result < 0 || rename(fresh, path) < 0)
		unlink(fresh);
}

void cp_decide_hand_over(void)
{
	char path[CP_RUNDIR_SIZE];
	int saved = errno;

	if (cp_once(&asked.handed_over) && plan_path(path, "") && access(path, F_OK) < 0)
		write_plan(path);
	errno = saved;
}
