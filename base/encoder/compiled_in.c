/* SPDX-License-Identifier: MIT
 *
 * The command and the reporter need no file beside them.
 */
#include "base/embedded.h"

const struct cp_embedded *cp_processor_files(void)
{
	return cp_embedded_files;
}
