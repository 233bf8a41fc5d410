/* SPDX-License-Identifier: MIT */
#include "output/report/ended.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/text/table.h"
#include "output/report/job.h"

static const char *signal_name(int32_t number)
{
	static const struct {
		int number;
		const char *name;
	} names[] = {{SIGHUP, "HUP"}, {SIGINT, "INT"}, {SIGQUIT, "QUIT"}, {SIGILL, "ILL"},
		{SIGTRAP, "TRAP"}, {SIGABRT, "ABRT"}, {SIGBUS, "BUS"}, {SIGFPE, "FPE"},
		{SIGKILL, "KILL"}, {SIGSEGV, "SEGV"}, {SIGPIPE, "PIPE"},
		{SIGALRM, "ALRM"}, {SIGTERM, "TERM"}, {SIGXCPU, "XCPU"}, {SIGSYS, "SYS"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].number == number)
			return names[i].name;
	return NULL;
}

const char *cp_process_ended(struct cp_arena *arena, const struct cp_process *process)
{
	const char *name = signal_name(process->code);

	if (strcmp(process->how, "exit") == 0)
		return cp_text_format(arena, "exit %d", process->code);
	if (strcmp(process->how, "signal") == 0)
		return name ? cp_text_format(arena, "SIG%s", name)
			    : cp_text_format(arena, "signal %d", process->code);
	if (strcmp(process->how, "killed") == 0 && process->code)
		return name ? cp_text_format(arena, "killed by SIG%s", name)
			    : cp_text_format(arena, "killed by signal %d", process->code);
	return strcmp(process->how, "unknown") == 0 ? "end not seen" : process->how;
}

const struct cp_process *cp_report_root(const struct cp_report *report)
{
	const struct cp_process *root = NULL;

	for (size_t i = 0; i < report->nprocesses; i++)
		if (report->processes[i].root &&
			(!root || report->processes[i].pid == root->pid))
			root = &report->processes[i];
	for (size_t i = 0; root && i < report->nprocesses; i++)
		if (report->processes[i].pid == root->pid &&
			report->processes[i].image > root->image)
			root = &report->processes[i];
	return root;
}

const char *cp_utc_text(struct cp_arena *arena, uint64_t realtime_ns)
{
	time_t second = (time_t)(realtime_ns / 1000000000);
	struct tm at;

	if (!realtime_ns || !gmtime_r(&second, &at))
		return NULL;
	return cp_text_format(arena, "%04d-%02d-%02dT%02d:%02d:%02dZ", at.tm_year + 1900,
		at.tm_mon + 1, at.tm_mday, at.tm_hour, at.tm_min, at.tm_sec);
}

const char *cp_report_began(struct cp_arena *arena, const struct cp_report *report)
{
	const struct cp_process *root = cp_report_root(report);

	if (!root && report->nprocesses)
		root = &report->processes[0];
	return root ? cp_utc_text(arena, root->realtime_ns) : NULL;
}

static const char *cut_text(struct cp_arena *arena, const struct cp_process *process)
{
	return cp_text_format(arena, "%s: cut short, what it did until then is counted",
		cp_process_ended(arena, process));
}

const char *cp_status_cut(struct cp_arena *arena, int status)
{
	const struct cp_process process = {
		.how = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? "killed"
									  : "signal",
		.code = WIFSIGNALED(status) ? WTERMSIG(status) : 0};

	return WIFSIGNALED(status) ? cut_text(arena, &process) : NULL;
}

const char *cp_report_cut(struct cp_arena *arena, const struct cp_report *report)
{
	const struct cp_process *root = cp_report_root(report);

	if (report->job && report->job->ncut)
		return cp_text_format(arena,
			"%zu of %zu ranks cut short, what they did until then is counted",
			report->job->ncut, report->job->nranks);
	if (!root || strcmp(root->how, "exit") == 0 || strcmp(root->how, "exec") == 0)
		return NULL;
	return cut_text(arena, root);
}
