/* SPDX-License-Identifier: MIT
 *
 * The file of the kernel's samples (PID-N.samples), as somebody else may have
 * left it in a run directory: read, resolved, written in each format.
 */

#include "tests/fuzz/profile_view.h"
#include "tests/fuzz/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run_directory("1-0.samples", data, size);
	return 0;
}
