/* SPDX-License-Identifier: MIT
 *
 * A writer of a record, in a process of its own, executed instruction by
 * instruction: after each, it is looked at as if the writer had been killed.
 */
#ifndef CACHEPEEK_TESTS_UNIT_STEPPED_WRITER_H
#define CACHEPEEK_TESTS_UNIT_STEPPED_WRITER_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "regions/record_read.h"
#include "regions/tree.h"
#include "tests/tap/tap.h"

enum { COUNTERS = 2 };

static char directory[] = "/tmp/cachepeek-stepped-XXXXXX";
static const struct cp_term terms[COUNTERS] = {{0, 1}, {1, 1}};
static const struct cp_quantity_terms quantities[COUNTERS] = {
	{1, &terms[0]}, {1, &terms[1]}};
static const struct cp_layout layout = {.ncounters = COUNTERS,
	.nquantities = COUNTERS,
	.ngroups = 1,
	.quantities = quantities};
static struct cp_recording recording;

/* ---- in the writer ---- */

static void create_record(void)
{
	struct cp_record_header *header;

	if (cp_record_create(&recording, directory, 1) < 0)
		_exit(1);
	header = recording.header;
	header->ncounters = header->nquantities = COUNTERS;
	header->nperf_groups = 1;
	header->engine = CP_ENGINE_PERF;
	for (int i = 0; i < COUNTERS; i++) {
		struct cp_counter_item *counter =
			cp_record_reserve(&recording, sizeof(*counter) + 8);
		struct cp_quantity_item *quantity;

		cp_item_publish(counter, CP_ITEM_COUNTER);
		quantity = cp_record_reserve(&recording, sizeof(*quantity) + 8);
		cp_item_publish(quantity, CP_ITEM_QUANTITY);
	}
}

/* Counter 1 counts a hundred times as much as counter 0. */
static void read_now(struct cp_reading *reading, uint64_t count)
{
	memset(reading, 0, sizeof(*reading));
	reading->counter[0] = count;
	reading->counter[1] = 100 * count;
	reading->group[0] = (struct cp_times){count, count};
}

/* ---- outside ---- */

/* The fault of the record; NULL: none. */
static const char *look(const char *(*fault_of)(const struct cp_record *))
{
	static char error[200];
	struct cp_arena arena = {.give_up = tap_no_memory};
	struct cp_record record;
	const char *fault = NULL;
	struct cp_escape out_of_memory;
	int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (CP_ESCAPE_SET(out_of_memory))
		return "out of memory";
	arena.out_of_memory = &out_of_memory;
	if (cp_record_read(&arena, dir, "1-0.rec", &record, error, sizeof(error)) < 0)
		fault = error;
	else
		fault = record.damaged ? "damaged" : fault_of(&record);
	cp_arena_free(&arena);
	close(dir);
	return fault;
}

static bool stopped_by(pid_t pid, int number)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) &&
	       WSTOPSIG(status) == number;
}

/* Executes one instruction; false: the writer has stopped itself, or is gone. */
static bool step(pid_t pid)
{
	return ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0 &&
	       stopped_by(pid, SIGTRAP);
}

/* write, which does not return, in a process; run has its pid. */
static void with_writer(void (*write)(void), void (*run)(pid_t pid))
{
	char path[80];
	pid_t pid;

	if (!mkdtemp(directory))
		bail("%s: errno %d", directory, errno);
	pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(77);
		write();
	}
	run(pid);
	strcat(strcpy(path, directory), "/1-0.rec");
	unlink(path);
	rmdir(directory);
}

#endif
