/* SPDX-License-Identifier: MIT
 *
 * Overrides: cali::Annotation::Annotation(const char *, int), Annotation(const char *,
 *   const std::map<const char *, Variant> &, int), begin(), begin(int), begin(double),
 *   begin(const char *), begin(cali_attr_type, void *, uint64_t),
 *   begin(const Variant &), end(); cali::Annotation::Guard::~Guard.
 *
 * Caliper's class of annotations, of its versions 2.  An object of it, and a guard of
 * one, is a pointer to what its copies share, which knows the attribute's name.
 */
#include <stdbool.h>
#include <string.h>

#include "base/export.h"
#include "base/format.h"
#include "preload/markers/caliper.h"
#include "preload/markers/forward.h"
#include "preload/markers/handles.h"
#include "preload/self.h"

#define ATTRIBUTES cp_marker_tag(&cp_caliper, 1)

/* ---- the ABI ---- */

enum { TYPE_INT = 2, TYPE_UINT, TYPE_STRING, TYPE_DOUBLE = 6 };

struct variant {
	uint64_t type_and_size; /* the lowest byte, the upper half */
	union {
		int64_t integer;
		double number;
		const char *text;
	} value;
};

#define CONSTRUCT _ZN4cali10AnnotationC1EPKci
#define CONSTRUCT_WITH                                                                   \
	_ZN4cali10AnnotationC1EPKcRKSt3mapIS2_NS_7VariantESt4lessIS2_ESaISt4pairIKS2_S4_EEEi
#define BEGIN _ZN4cali10Annotation5beginEv
#define BEGIN_INT _ZN4cali10Annotation5beginEi
#define BEGIN_DOUBLE _ZN4cali10Annotation5beginEd
#define BEGIN_TEXT _ZN4cali10Annotation5beginEPKc
#define BEGIN_DATA _ZN4cali10Annotation5beginE14cali_attr_typePvm
#define BEGIN_VARIANT _ZN4cali10Annotation5beginERKNS_7VariantE
#define END _ZN4cali10Annotation3endEv
#define END_GUARD _ZN4cali10Annotation5GuardD1Ev

#define FORWARD(function) CP_FORWARD(function) /* with its real name */

/* The real one's part in a hook. */
#define REALLY(...)                                                                      \
	do {                                                                             \
		bool outer = cp_self.within.caliper;                                     \
                                                                                         \
		cp_self.within.caliper = true;                                           \
		if (real)                                                                \
			__VA_ARGS__;                                                     \
		cp_self.within.caliper = outer;                                          \
	} while (0)

static void note_object(void **object, const char *name)
{
	if (*object)
		cp_handle_set(
			ATTRIBUTES, (uint64_t)(uintptr_t)*object, cp_marker_name(name));
}

/* NULL, which is no region: not known, or not the program's call. */
static const char *attribute_of(void **object)
{
	const struct cp_name *name =
		cp_self.within.caliper || !*object
			? NULL
			: cp_handle_name(ATTRIBUTES, (uint64_t)(uintptr_t)*object);

	return name ? name->text : NULL;
}

EXPORT void CONSTRUCT(void **object, const char *name, int options)
{
	__typeof__(&CONSTRUCT) real = FORWARD(CONSTRUCT);

	*object = NULL;
	REALLY(real(object, name, options));
	note_object(object, name);
}

EXPORT void CONSTRUCT_WITH(
	void **object, const char *name, const void *metadata, int options)
{
	__typeof__(&CONSTRUCT_WITH) real = FORWARD(CONSTRUCT_WITH);

	*object = NULL;
	REALLY(real(object, name, metadata, options));
	note_object(object, name);
}

/* ---- begin ---- */

EXPORT void *BEGIN(void **object)
{
	__typeof__(&BEGIN) real = FORWARD(BEGIN);
	void *result = object;

	REALLY(result = real(object));
	cp_caliper_begin(attribute_of(object), NULL);
	return result;
}

EXPORT void *BEGIN_INT(void **object, int value)
{
	__typeof__(&BEGIN_INT) real = FORWARD(BEGIN_INT);
	void *result = object;

	REALLY(result = real(object, value));
	cp_caliper_begin_int(attribute_of(object), value);
	return result;
}

EXPORT void *BEGIN_DOUBLE(void **object, double value)
{
	__typeof__(&BEGIN_DOUBLE) real = FORWARD(BEGIN_DOUBLE);
	void *result = object;

	REALLY(result = real(object, value));
	cp_caliper_begin_double(attribute_of(object), value);
	return result;
}

EXPORT void *BEGIN_TEXT(void **object, const char *value)
{
	__typeof__(&BEGIN_TEXT) real = FORWARD(BEGIN_TEXT);
	void *result = object;

	REALLY(result = real(object, value));
	cp_caliper_begin(attribute_of(object), value);
	return result;
}

/* A text has no NUL at its end; other types have no name but the attribute's. */
static void begin_data(const char *attribute, int type, const void *data, uint64_t size)
{
	char text[CP_MAX_REGION_NAME + 1];
	struct variant value = {0, {0}};

	if (type == TYPE_STRING && data) {
		cp_format(text, sizeof(text), "%.*s",
			size < sizeof(text) ? (int)size : (int)sizeof(text),
			(const char *)data);
		cp_caliper_begin(attribute, text);
		return;
	}
	if (data && size >= sizeof(value.value))
		memcpy(&value.value, data, sizeof(value.value));
	if (type == TYPE_INT || type == TYPE_UINT)
		cp_caliper_begin_int(attribute, value.value.integer);
	else if (type == TYPE_DOUBLE)
		cp_caliper_begin_double(attribute, value.value.number);
	else
		cp_caliper_begin(attribute, NULL);
}

EXPORT void *BEGIN_DATA(void **object, int type, const void *data, uint64_t size)
{
	__typeof__(&BEGIN_DATA) real = FORWARD(BEGIN_DATA);
	void *result = object;

	REALLY(result = real(object, type, data, size));
	begin_data(attribute_of(object), type, data, size);
	return result;
}

EXPORT void *BEGIN_VARIANT(void **object, const struct variant *value)
{
	__typeof__(&BEGIN_VARIANT) real = FORWARD(BEGIN_VARIANT);
	int type = (int)(value->type_and_size & 0xff);
	void *result = object;

	REALLY(result = real(object, value));
	if (type == TYPE_STRING)
		begin_data(attribute_of(object), type, value->value.text,
			value->type_and_size >> 32);
	else
		begin_data(
			attribute_of(object), type, &value->value, sizeof(value->value));
	return result;
}

/* ---- end ---- */

EXPORT void END(void **object)
{
	__typeof__(&END) real = FORWARD(END);

	cp_caliper_end(attribute_of(object));
	REALLY(real(object));
}

EXPORT void END_GUARD(void **object)
{
	__typeof__(&END_GUARD) real = FORWARD(END_GUARD);

	cp_caliper_end(attribute_of(object));
	REALLY(real(object));
}
