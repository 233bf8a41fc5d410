/* SPDX-License-Identifier: MIT */
#include "preload/parallel/teams.h"

#include "preload/calibrate.h"
#include "preload/markers/markers.h"
#include "preload/markers/markers_parts.h"
#include "preload/self.h"
#include "preload/threads/thread_record.h"

#define TAG cp_marker_tag_of(CP_MARKER_OPENMP, 0)

void cp_team_fork(struct cp_team *team, struct cp_name *name)
{
	struct cp_live_thread *thread;

	*team = (struct cp_team){NULL, NULL};
	if (!name || name->left_out)
		return;
	if (__builtin_expect(
		    __atomic_load_n(&cp_calibrated, __ATOMIC_RELAXED) != CP_CALIBRATED,
		    0))
		cp_calibrate();
	team->name = name;
	thread = cp_marker_enter();
	if (!thread)
		return;
	team->place = cp_tree_place(&thread->tree);
	cp_marker_leave(thread);
}

static bool needs_memory(const struct cp_tree *tree, const struct cp_team *team)
{
	return !tree->rest_frame || !cp_tree_can_begin_at(tree, team->place, team->name);
}

/* Work that needs libc is not the program's. */
static struct cp_reading *begin_member(
	struct cp_live_thread *thread, const struct cp_team *team)
{
	struct cp_reading *start;
	int state = 0;

	if (!needs_memory(&thread->tree, team))
		return cp_tree_begin_at(&thread->tree, team->place, team->name, TAG);
	cp_own_work_begin(&state);
	cp_tree_prepare_rest(&thread->tree);
	start = cp_tree_begin_at(&thread->tree, team->place, team->name, TAG);
	cp_own_work_end(state);
	return start;
}

bool cp_team_begin(const struct cp_team *team)
{
	struct cp_live_thread *thread = team->name ? cp_marker_enter() : NULL;
	struct cp_reading *start;
	uint64_t now_ns;

	if (!thread)
		return false;
	cp_tree_end_rest(&thread->tree);
	start = begin_member(thread, team);
	if (start) {
		cp_marker_take_turn(thread);
		cp_marker_read_now(thread, true, start, &now_ns);
		cp_tree_begin_time(&thread->tree, now_ns);
	} else if (thread->tree.depth <= CP_TREE_DEPTH) {
		cp_marker_note_not_opened(thread, team->name);
	}
	cp_marker_leave(thread);
	return start != NULL;
}

bool cp_team_rest(void)
{
	struct cp_live_thread *thread = cp_marker_enter();
	struct cp_reading *reading;
	uint64_t now_ns;

	if (!thread)
		return false;
	reading = cp_tree_rest(&thread->tree, TAG);
	if (reading) {
		cp_marker_read_now(thread, true, reading, &now_ns);
		cp_tree_rest_time(&thread->tree, now_ns);
	}
	cp_marker_leave(thread);
	return reading != NULL;
}

bool cp_team_go_on(void)
{
	struct cp_live_thread *thread = cp_marker_enter();
	uint64_t now_ns;
	bool rests;

	if (!thread)
		return false;
	rests = cp_tree_rests(&thread->tree);
	if (rests) {
		cp_marker_read_now(thread, true, &thread->reading, &now_ns);
		cp_tree_go_on(&thread->tree, &thread->reading, now_ns);
	}
	cp_marker_leave(thread);
	return rests;
}

void cp_team_end_rest(void)
{
	struct cp_live_thread *thread = cp_marker_enter();

	if (!thread)
		return;
	cp_tree_end_rest(&thread->tree);
	cp_marker_leave(thread);
}
