/* SPDX-License-Identifier: MIT
 *
 * Overrides: SCOREP_User_RegionInit, SCOREP_User_RegionBegin,
 *   SCOREP_User_RegionEnter, SCOREP_User_RegionEnd, SCOREP_User_RegionByNameBegin,
 *   SCOREP_User_RegionByNameEnd; SCOREP_User_RegionClass::SCOREP_User_RegionClass,
 *   ~SCOREP_User_RegionClass, of the macro SCOREP_USER_REGION in C++.
 *
 * Score-P's user regions in C and C++.  A region has a handle, which Score-P makes
 * when it first begins; where it is not there, we do.
 */
#include "base/export.h"
#include "preload/markers/forward.h"
#include "preload/markers/handles.h"
#include "preload/self.h"

static CP_MARKER_TOOL(this_tool, " of Score-P");

#define TAG cp_marker_tag(&this_tool, 0)
#define HANDLES cp_marker_tag(&this_tool, 1)

/* Where Score-P is there and has made none, as before it measures, there is none: it
 * would be handed ours. */
static void note_handle(void **handle, const char *name, bool is_there)
{
	const struct cp_handle *made;

	if (!*handle && is_there)
		return;
	made = cp_handle_set(HANDLES, (uint64_t)(uintptr_t)*handle, cp_marker_name(name));
	if (made && !*handle)
		*handle = (void *)(uintptr_t)made->value;
}

static void begin_handle(void *handle)
{
	if (!cp_self.within.scorep && handle)
		cp_marker_begin(
			cp_handle_name(HANDLES, (uint64_t)(uintptr_t)handle), TAG);
}

EXPORT void SCOREP_User_RegionInit(void **handle, const char **last_name, uint32_t *last,
	const char *name, uint32_t type, const char *file, uint32_t line)
{
	__typeof__(&SCOREP_User_RegionInit) real = CP_FORWARD(SCOREP_User_RegionInit);

	if (real)
		real(handle, last_name, last, name, type, file, line);
	note_handle(handle, name, real != NULL);
}

EXPORT void SCOREP_User_RegionBegin(void **handle, const char **last_name, uint32_t *last,
	const char *name, uint32_t type, const char *file, uint32_t line)
{
	__typeof__(&SCOREP_User_RegionBegin) real = CP_FORWARD(SCOREP_User_RegionBegin);
	void *before = *handle;
	bool outer = cp_self.within.scorep;

	cp_self.within.scorep = true;
	if (real)
		real(handle, last_name, last, name, type, file, line);
	cp_self.within.scorep = outer;
	if (!before || !cp_handle_name(HANDLES, (uint64_t)(uintptr_t)*handle))
		note_handle(handle, name, real != NULL);
	begin_handle(*handle);
}

EXPORT void SCOREP_User_RegionEnter(void *handle)
{
	CP_PASS(SCOREP_User_RegionEnter, handle);
	begin_handle(handle);
}

EXPORT void SCOREP_User_RegionEnd(void *handle)
{
	struct cp_name *name = NULL;

	if (!cp_self.within.scorep && handle)
		name = cp_handle_name(HANDLES, (uint64_t)(uintptr_t)handle);
	if (name)
		cp_marker_end(name, TAG, CP_END_OWN);
	CP_PASS(SCOREP_User_RegionEnd, handle);
}

EXPORT void SCOREP_User_RegionByNameBegin(
	const char *name, uint32_t type, const char *file, uint32_t line)
{
	CP_PASS_WITHIN(cp_self.within.scorep, SCOREP_User_RegionByNameBegin, name, type,
		file, line);
	cp_marker_begin(cp_marker_name(name), TAG);
}

EXPORT void SCOREP_User_RegionByNameEnd(const char *name)
{
	struct cp_name *region = cp_marker_name(name);

	if (region)
		cp_marker_end(region, TAG, CP_END_OWN);
	CP_PASS_WITHIN(cp_self.within.scorep, SCOREP_User_RegionByNameEnd, name);
}

/* ---- C++: an object is a region, with a stack of its own ---- */

#define CONSTRUCT _ZN23SCOREP_User_RegionClassC1EPP18SCOREP_User_RegionPKcjPS4_PjS4_j
#define DESTROY _ZN23SCOREP_User_RegionClassD1Ev
#define FORWARD(function) CP_FORWARD(function) /* with its real name */

/* No address has the upper bits set. */
static uint64_t tag_of_object(const void *object)
{
	return cp_marker_tag(&this_tool, (uint64_t)(uintptr_t)object | (uint64_t)1 << 55);
}

EXPORT void CONSTRUCT(void *object, void **handle, const char *name, uint32_t type,
	const char **last_name, uint32_t *last, const char *file, uint32_t line)
{
	__typeof__(&CONSTRUCT) real = FORWARD(CONSTRUCT);
	bool outer = cp_self.within.scorep;

	cp_self.within.scorep = true;
	if (real)
		real(object, handle, name, type, last_name, last, file, line);
	cp_self.within.scorep = outer;
	cp_marker_begin(cp_marker_name(name), tag_of_object(object));
}

EXPORT void DESTROY(void *object)
{
	__typeof__(&DESTROY) real = FORWARD(DESTROY);
	bool outer = cp_self.within.scorep;

	cp_marker_end(NULL, tag_of_object(object), CP_END_IF_OPEN);
	cp_self.within.scorep = true;
	if (real)
		real(object);
	cp_self.within.scorep = outer;
}
