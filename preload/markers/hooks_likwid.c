/* SPDX-License-Identifier: MIT
 *
 * Overrides: likwid_markerInit, likwid_markerThreadInit, likwid_markerNextGroup,
 *   likwid_markerClose, likwid_markerRegisterRegion, likwid_markerStartRegion,
 *   likwid_markerStopRegion, likwid_markerResetRegion, likwid_markerGetRegion,
 *   likwid_markerWriteFile.
 *
 * LIKWID's marker API.  Its regions are per thread and may overlap: the end of
 * one leaves the others open.  LIKWID itself, where it is linked, gets every
 * call and gives the results; it is active under likwid-perfctr -m only.
 */
#include <string.h>

#include "base/export.h"
#include "preload/markers/forward.h"
#include "preload/markers/markers.h"

static CP_MARKER_TOOL(this_tool, " of LIKWID");

#define TAG cp_marker_tag(&this_tool, 0)

void likwid_markerInit(void);
void likwid_markerThreadInit(void);
void likwid_markerNextGroup(void);
void likwid_markerClose(void);
int likwid_markerRegisterRegion(const char *tag);
int likwid_markerResetRegion(const char *tag);
int likwid_markerWriteFile(const char *path);

/* Fortran pads with blanks. */
static struct cp_name *name_of(const char *tag)
{
	size_t length = tag ? strlen(tag) : 0;

	while (length > 0 && tag[length - 1] == ' ')
		length--;
	return tag ? cp_marker_name_of(tag, length) : NULL;
}

#define PLAIN(function)                                                                  \
	EXPORT void function(void)                                                       \
	{                                                                                \
		CP_PASS(function, );                                                     \
	}
PLAIN(likwid_markerInit)
PLAIN(likwid_markerThreadInit)
PLAIN(likwid_markerNextGroup)
PLAIN(likwid_markerClose)

#define NAMED(function)                                                                  \
	EXPORT int function(const char *text)                                            \
	{                                                                                \
		return CP_PASSED(function, text);                                        \
	}
NAMED(likwid_markerRegisterRegion)
NAMED(likwid_markerResetRegion)
NAMED(likwid_markerWriteFile)

EXPORT int likwid_markerStartRegion(const char *tag)
{
	int result = CP_PASSED(likwid_markerStartRegion, tag);

	cp_marker_begin(name_of(tag), TAG);
	return result;
}

EXPORT int likwid_markerStopRegion(const char *tag)
{
	struct cp_name *name = name_of(tag);

	if (name)
		cp_marker_end(name, TAG, CP_END_ALONE);
	return CP_PASSED(likwid_markerStopRegion, tag);
}

EXPORT void likwid_markerGetRegion(
	const char *tag, int *nevents, double *events, double *time, int *count)
{
	__typeof__(&likwid_markerGetRegion) real = CP_FORWARD(likwid_markerGetRegion);

	if (real) {
		real(tag, nevents, events, time, count);
		return;
	}
	if (nevents)
		*nevents = 0;
	if (time)
		*time = 0;
	if (count)
		*count = 0;
}
