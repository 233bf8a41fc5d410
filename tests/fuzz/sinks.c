/* SPDX-License-Identifier: MIT
 *
 * CACHEPEEK_OUTPUT: looked at, never written.
 */
#include "output/sink.h"

#include "tests/fuzz/fuzz.h"

static void complain(void *context, const char *line)
{
	(void)context;
	fuzz_read(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct cp_sink_context context = {.stderr_fd = -1,
		.stdout_fd = -1,
		.host = "host/with/slashes",
		.exe = "/usr/bin/exe",
		.pid = 12345,
		.rank = (int)(size % 7) - 1,
		.complain = complain};

	cp_sinks_check(text, &context);
	free(text);
	return 0;
}
