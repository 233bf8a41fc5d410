/* SPDX-License-Identifier: MIT
 *
 * The name of an event, without libpfm.
 */
#include "base/counters/encode.c"

#include "tests/fuzz/fuzz.h"

/* libpfm is not "installed" here. */
int cp_encoder_path(char *to, size_t size)
{
	(void)to;
	(void)size;
	return -ENOENT;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct perf_event_attr attr;
	const char *reason = NULL;

	if (cp_encode(text, &attr, &reason) < 0)
		fuzz_read(reason);
	else if (attr.exclude_user && attr.exclude_kernel)
		abort();
	for (unsigned i = 0; cp_software_event(i); i++)
		fuzz_read(cp_software_event(i));
	free(text);
	return 0;
}
