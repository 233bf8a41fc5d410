/* SPDX-License-Identifier: MIT
 *
 * Overrides: Extrae_event, Extrae_eventandcounters, Extrae_nevent,
 *   Extrae_neventandcounters, Extrae_define_event_type.
 *
 * Extrae's user events: a value of a type holds until the next one of that type
 * in the thread, 0 ends it.  It is a region "type=value", by the names that the
 * program has defined, else by the numbers.
 */
#include <string.h>

#include "base/export.h"
#include "base/format.h"
#include "preload/markers/forward.h"
#include "preload/markers/handles.h"

static CP_MARKER_TOOL(this_tool, " of Extrae");

typedef unsigned extrae_type;
typedef unsigned long long extrae_value;

void Extrae_event(extrae_type type, extrae_value value);
void Extrae_eventandcounters(extrae_type type, extrae_value value);
void Extrae_nevent(unsigned count, extrae_type *types, extrae_value *values);
void Extrae_neventandcounters(unsigned count, extrae_type *types, extrae_value *values);

/* The names of a type's values are kept with its tag. */
static uint64_t tag_of(extrae_type type)
{
	return cp_marker_tag(&this_tool, type);
}

static struct cp_name *make_name(extrae_type type, const char *type_name,
	extrae_value value, const char *value_name)
{
	char text[512];
	size_t length;

	if (type_name)
		length = cp_format(text, sizeof(text), "%.240s=", type_name);
	else
		length = cp_format(text, sizeof(text), "%u=", type);
	if (value_name)
		length += cp_format(
			text + length, sizeof(text) - length, "%.240s", value_name);
	else
		length += cp_format(text + length, sizeof(text) - length, "%lu",
			(unsigned long)value);
	return cp_marker_name_of(text, length);
}

static struct cp_name *name_of(extrae_type type, extrae_value value)
{
	struct cp_name *name = cp_handle_name(tag_of(type), value);

	if (name)
		return name;
	name = make_name(type, NULL, value, NULL);
	cp_handle_set(tag_of(type), value, name);
	return name;
}

static void note_event(extrae_type type, extrae_value value)
{
	cp_marker_end(NULL, tag_of(type), CP_END_IF_OPEN);
	if (value)
		cp_marker_begin(name_of(type, value), tag_of(type));
}

#define EVENT(function)                                                                  \
	EXPORT void function(extrae_type type, extrae_value value)                       \
	{                                                                                \
		CP_PASS(function, type, value);                                          \
		note_event(type, value);                                                 \
	}
EVENT(Extrae_event)
EVENT(Extrae_eventandcounters)

#define EVENTS(function)                                                                 \
	EXPORT void function(unsigned count, extrae_type *types, extrae_value *values)   \
	{                                                                                \
		CP_PASS(function, count, types, values);                                 \
		for (unsigned i = 0; i < count; i++)                                     \
			note_event(types[i], values[i]);                                 \
	}
EVENTS(Extrae_nevent)
EVENTS(Extrae_neventandcounters)

EXPORT void Extrae_define_event_type(extrae_type *type, char *description,
	unsigned *count, extrae_value *values, char **descriptions)
{
	CP_PASS(Extrae_define_event_type, type, description, count, values, descriptions);
	for (unsigned i = 0; i < *count; i++)
		if (values[i])
			cp_handle_set(tag_of(*type), values[i],
				make_name(*type, description, values[i],
					descriptions ? descriptions[i] : NULL));
}
