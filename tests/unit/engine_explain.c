/* SPDX-License-Identifier: MIT
 * What the user is told for each errno of perf_event_open, also those that no
 * test can provoke: the cause, and the cure where there is one.
 */
#include <errno.h>
#include <string.h>

#include "base/engine/explain.h"
#include "tests/tap/tap.h"

static void says(
	int error, const struct perf_event_attr *attr, const char *word, const char *what)
{
	struct cp_why why = {""};

	cp_perf_explain(error, attr, &why);
	ok(strstr(why.text, word) != NULL, "%s: \"%s\"", what, word) ||
		(diag("%s", why.text), 0);
	ok(!strchr(why.text, '\n') && strlen(why.text) > 20, "%s: one line", what);
}

int main(void)
{
	const struct perf_event_attr hardware = {
		.type = PERF_TYPE_HARDWARE, .exclude_kernel = 1};
	const struct perf_event_attr software = {
		.type = PERF_TYPE_SOFTWARE, .exclude_kernel = 1};

	plan_lazy();
	says(EMFILE, &software, "file descriptor", "too many files");
	says(EMFILE, &software, "ulimit -n", "too many files");
	says(ENFILE, &software, "file descriptor", "too many files in the system");
	says(EBUSY, &hardware, "nmi_watchdog", "the PMU is taken");
	says(ENOSPC, &hardware, "breakpoint", "no breakpoint register");
	says(EINVAL, &hardware, "encoding", "refused encoding");
	says(ENOENT, &software, "does not have the event", "no such event");
	says(ENODEV, &software, "does not have the event", "no such device");
	says(EOPNOTSUPP, &software, "does not have the event", "not supported");
	says(ENOSYS, &software, "perf_event_open", "no such call");
	says(EACCES, &software, "perf_event", "refused");
	says(EPERM, &software, "perf_event", "refused by a filter or module");
	says(E2BIG, &software, "errno 7", "anything else");
	return 0;
}
