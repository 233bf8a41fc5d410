/* SPDX-License-Identifier: MIT */
#include "base/counters/simtool.h"

#include "base/format.h"

const char *const cp_sim_core_options[CP_SIM_NCORE] = {
	"--tool=cachepeek",
	/* VALGRIND_OPTS and .valgrindrc are for the user's own Valgrind, whose options
	 * would end the program here. */
	"--command-line-only=yes",
	"-q",
	"--vgdb=no",          /* no FIFOs in /tmp, no polling */
	"--max-threads=5000", /* the default of 500 aborts larger programs */
	/* Whoever gives the core's lock back would have it again before another thread
	 * is awake, and threads would run one behind the other's end. */
	"--fair-sched=try",
	"--run-libc-freeres=no", /* would run code after the program's end */
	"--read-inline-info=no", /* debug info that nobody asks for */
	/* Otherwise a load whose value is overwritten unseen is optimised away before
	 * the tool sees it. */
	"--vex-iropt-register-updates=allregs-at-mem-access",
	/* Chasing turns a && b into code that does both and guards the effects of
	 * b: its instructions would be counted where the program skips them. */
	"--vex-guest-chase=no",
};

void cp_sim_describe(const struct cp_machine *machine, struct cp_sim_words *words)
{
	for (int level = 0; level < CP_NLEVELS; level++) {
		cp_machine_option(machine, (enum cp_level)level, words->level[level],
			sizeof(words->level[level]));
		words->word[level] = words->level[level];
	}
	cp_format(words->page, sizeof(words->page), "--page=%u", machine->page);
	words->word[CP_NLEVELS] = words->page;
	cp_format(words->cores, sizeof(words->cores), "--cores=%u", machine->cores);
	words->word[CP_NLEVELS + 1] = words->cores;
	cp_machine_timing_option(machine, words->timing, sizeof(words->timing));
	words->word[CP_NLEVELS + 2] = words->timing;
	cp_machine_sockets_option(machine, words->sockets, sizeof(words->sockets));
	words->word[CP_NLEVELS + 3] = words->sockets;
	cp_machine_ooo_option(machine, words->ooo, sizeof(words->ooo));
	words->word[CP_NLEVELS + 4] = words->ooo;
	words->word[CP_NLEVELS + 5] = machine->ignores_orders
					      ? "--cache-instructions=no"
					      : "--cache-instructions=yes";
	cp_format(words->streams, sizeof(words->streams), "--stream-buffers=%u",
		machine->stream_buffers);
	words->word[CP_NLEVELS + 6] = words->streams;
	words->word[CP_NLEVELS + 7] = machine->string_iterations
					      ? "--string-instructions=iterations"
					      : "--string-instructions=whole";
}
