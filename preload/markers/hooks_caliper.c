/* SPDX-License-Identifier: MIT
 *
 * Overrides: cali_begin_region, cali_end_region, cali_begin_phase, cali_end_phase,
 *   cali_begin_comm_region, cali_end_comm_region, cali_begin_byname,
 *   cali_end_byname, cali_begin_string_byname, cali_begin_int_byname,
 *   cali_begin_double_byname, cali_begin, cali_end, cali_begin_string,
 *   cali_begin_int, cali_begin_double, cali_safe_end_string,
 *   cali::Function::Function, ~Function, cali::ScopeAnnotation::ScopeAnnotation,
 *   ~ScopeAnnotation, cali::Loop::Loop, Loop::end, ~Loop.
 *
 * Caliper's annotations, C and C++.  Regions nest strictly.  A value of an
 * attribute that is not one of Caliper's own becomes a region "attribute=value";
 * iteration numbers do not: each would be a region.  Nor do values that are set:
 * they have no end.  The class of annotations is in hooks_caliper_annotation.c.
 */
#include <stdint.h>
#include <string.h>

#include "base/export.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "preload/markers/caliper.h"
#include "preload/markers/forward.h"
#include "preload/markers/markers.h"

CP_MARKER_TOOL(cp_caliper, " of Caliper");

#define STACK_REGIONS 1
#define STACK_VALUES 2

typedef uint64_t cali_id_t;

/* They return nothing, or in old versions a cali_err: whatever it is. */
int cali_begin_region(const char *name);
int cali_end_region(const char *name);
int cali_begin_phase(const char *name);
int cali_end_phase(const char *name);
int cali_begin_comm_region(const char *name);
int cali_end_comm_region(const char *name);
const char *cali_attribute_name(cali_id_t attribute);

static uint64_t tag_of(uint64_t stack)
{
	return cp_marker_tag(&cp_caliper, stack);
}

/* ---- regions by name ---- */

#define BEGIN(function)                                                                  \
	EXPORT int function(const char *name)                                            \
	{                                                                                \
		int result = CP_PASSED(function, name);                                  \
                                                                                         \
		cp_marker_begin(cp_marker_name(name), tag_of(STACK_REGIONS));            \
		return result;                                                           \
	}
#define END(function)                                                                    \
	EXPORT int function(const char *name)                                            \
	{                                                                                \
		struct cp_name *handle = cp_marker_name(name);                           \
                                                                                         \
		if (handle)                                                              \
			cp_marker_end(handle, tag_of(STACK_REGIONS), CP_END_OWN);        \
		return CP_PASSED(function, name);                                        \
	}
BEGIN(cali_begin_region)
END(cali_end_region)
BEGIN(cali_begin_phase)
END(cali_end_phase)
BEGIN(cali_begin_comm_region)
END(cali_end_comm_region)

/* ---- values of attributes ---- */

static bool is_region_attribute(const char *name)
{
	static const char *const own[] = {"function", "region", "phase", "comm.region",
		"annotation", "loop", "statement"};

	return CP_IS_AMONG(name, own);
}

/* An attribute's stack is its name's: ids and names mean the same one. */
static uint64_t stack_of(const char *attribute)
{
	return tag_of(STACK_VALUES + (cp_hash_text(0, attribute) >> 16));
}

/* Rounds of a loop are not regions. */
static bool is_shown(const char *attribute)
{
	return attribute && !cp_starts_with(attribute, "iteration#");
}

void cp_caliper_begin(const char *attribute, const char *value)
{
	char text[CP_MAX_REGION_NAME + 1];

	if (!is_shown(attribute))
		return;
	if (!value)
		cp_format(text, sizeof(text), "%s", attribute);
	else if (is_region_attribute(attribute))
		cp_format(text, sizeof(text), "%s", value);
	else
		cp_format(text, sizeof(text), "%s=%s", attribute, value);
	cp_marker_begin(cp_marker_name(text), stack_of(attribute));
}

void cp_caliper_begin_int(const char *attribute, int64_t value)
{
	char text[24];

	cp_format(text, sizeof(text), "%ld", (long)value);
	cp_caliper_begin(attribute, text);
}

void cp_caliper_begin_double(const char *attribute, double value)
{
	char text[40];

	cp_format(text, sizeof(text), "%g", value);
	cp_caliper_begin(attribute, text);
}

void cp_caliper_end(const char *attribute)
{
	if (is_shown(attribute))
		cp_marker_end(NULL, stack_of(attribute), CP_END_OWN);
}

/* beside: the function that the attribute is handed to. */
static const char *name_of(cali_id_t attribute, const void *beside, const void *caller)
{
	static struct cp_forward forward = {"cali_attribute_name", 0};
	__typeof__(&cali_attribute_name) real =
		(__typeof__(&cali_attribute_name))(uintptr_t)cp_forward_beside(
			&forward, beside, caller);

	return real ? real(attribute) : NULL;
}

#define NAME_OF(attribute, real)                                                         \
	name_of(attribute, (const void *)(uintptr_t)(real), __builtin_return_address(0))

EXPORT int cali_begin_byname(const char *name)
{
	int result = CP_PASSED(cali_begin_byname, name);

	if (name)
		cp_marker_begin(cp_marker_name(name), stack_of(name));
	return result;
}

EXPORT int cali_end_byname(const char *name)
{
	cp_caliper_end(name);
	return CP_PASSED(cali_end_byname, name);
}

EXPORT int cali_begin_string_byname(const char *name, const char *value)
{
	int result = CP_PASSED(cali_begin_string_byname, name, value);

	if (value)
		cp_caliper_begin(name, value);
	return result;
}

EXPORT int cali_begin_int_byname(const char *name, int value)
{
	int result = CP_PASSED(cali_begin_int_byname, name, value);

	cp_caliper_begin_int(name, value);
	return result;
}

EXPORT int cali_begin_double_byname(const char *name, double value)
{
	int result = CP_PASSED(cali_begin_double_byname, name, value);

	cp_caliper_begin_double(name, value);
	return result;
}

EXPORT int cali_begin(cali_id_t attribute)
{
	__typeof__(&cali_begin) real = CP_FORWARD(cali_begin);
	int result = real ? real(attribute) : 0;
	const char *name = NAME_OF(attribute, real);

	if (name)
		cp_marker_begin(cp_marker_name(name), stack_of(name));
	return result;
}

EXPORT int cali_begin_string(cali_id_t attribute, const char *value)
{
	__typeof__(&cali_begin_string) real = CP_FORWARD(cali_begin_string);
	int result = real ? real(attribute, value) : 0;

	if (value)
		cp_caliper_begin(NAME_OF(attribute, real), value);
	return result;
}

EXPORT int cali_begin_int(cali_id_t attribute, int value)
{
	__typeof__(&cali_begin_int) real = CP_FORWARD(cali_begin_int);
	int result = real ? real(attribute, value) : 0;

	cp_caliper_begin_int(NAME_OF(attribute, real), value);
	return result;
}

EXPORT int cali_begin_double(cali_id_t attribute, double value)
{
	__typeof__(&cali_begin_double) real = CP_FORWARD(cali_begin_double);
	int result = real ? real(attribute, value) : 0;

	cp_caliper_begin_double(NAME_OF(attribute, real), value);
	return result;
}

EXPORT int cali_end(cali_id_t attribute)
{
	__typeof__(&cali_end) real = CP_FORWARD(cali_end);

	cp_caliper_end(NAME_OF(attribute, real));
	return real ? real(attribute) : 0;
}

EXPORT int cali_safe_end_string(cali_id_t attribute, const char *value)
{
	__typeof__(&cali_safe_end_string) real = CP_FORWARD(cali_safe_end_string);

	cp_caliper_end(NAME_OF(attribute, real));
	return real ? real(attribute, value) : 0;
}

/* ---- C++: an object is a region, with a stack of its own ---- */

void _ZN4cali8FunctionC1EPKc(void *object, const char *name);
void _ZN4cali8FunctionD1Ev(void *object);
void _ZN4cali15ScopeAnnotationC1EPKc(void *object, const char *name);
void _ZN4cali15ScopeAnnotationD1Ev(void *object);
void _ZN4cali4LoopC1EPKc(void *object, const char *name);
void _ZN4cali4Loop3endEv(void *object);
void _ZN4cali4LoopD1Ev(void *object);

/* No address has the upper bits set, no hash of stack_of is as small. */
static uint64_t tag_of_object(const void *object)
{
	return tag_of((uint64_t)(uintptr_t)object | (uint64_t)1 << 55);
}

#define CONSTRUCTOR(function)                                                            \
	EXPORT void function(void *object, const char *name)                             \
	{                                                                                \
		CP_PASS(function, object, name);                                         \
		cp_marker_begin(cp_marker_name(name), tag_of_object(object));            \
	}
/* ~Loop ends what end() may have ended: then there is nothing of that tag. */
#define DESTRUCTOR(function)                                                             \
	EXPORT void function(void *object)                                               \
	{                                                                                \
		cp_marker_end(NULL, tag_of_object(object), CP_END_IF_OPEN);              \
		CP_PASS(function, object);                                               \
	}
CONSTRUCTOR(_ZN4cali8FunctionC1EPKc)
DESTRUCTOR(_ZN4cali8FunctionD1Ev)
CONSTRUCTOR(_ZN4cali15ScopeAnnotationC1EPKc)
DESTRUCTOR(_ZN4cali15ScopeAnnotationD1Ev)
CONSTRUCTOR(_ZN4cali4LoopC1EPKc)
DESTRUCTOR(_ZN4cali4Loop3endEv)
DESTRUCTOR(_ZN4cali4LoopD1Ev)
