/* SPDX-License-Identifier: MIT
 *
 * Overrides, for this library alone (hidden): memchr, memcmp, memcpy, memset,
 * strchr, strcmp, strcspn, strlen, strncasecmp, strncmp, strnlen, strrchr,
 * strspn, strstr.
 *
 * For the reasons of libc.c: a sanitizer's runtime has its own, which may not be
 * called before it is set up, and which take what our locks protect for races.
 * The empty statements keep a compiler from making a loop into a call of the
 * function that it is in.
 */
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* With C23's names these are macros that take what they are given for constant or not. */
#undef memchr
#undef strchr
#undef strrchr
#undef strstr

#define NOT_A_CALL __asm__ volatile("")

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	char *out = to;
	const char *in = from;

#ifdef __x86_64__
	__asm__ volatile("rep movsb" : "+D"(out), "+S"(in), "+c"(size) : : "memory");
#else
	for (; size > 0; size--) {
		*out++ = *in++;
		NOT_A_CALL;
	}
#endif
	return to;
}

void *memset(void *to, int byte, size_t size)
{
	char *out = to;

#ifdef __x86_64__
	__asm__ volatile("rep stosb" : "+D"(out), "+c"(size) : "a"(byte) : "memory");
#else
	for (; size > 0; size--) {
		*out++ = (char)byte;
		NOT_A_CALL;
	}
#endif
	return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const unsigned char *left = a, *right = b;

	for (; size > 0; size--, left++, right++) {
		if (*left != *right)
			return *left - *right;
		NOT_A_CALL;
	}
	return 0;
}

void *memchr(const void *memory, int byte, size_t size)
{
	const unsigned char *at = memory;

	for (; size > 0; size--, at++) {
		if (*at == (unsigned char)byte)
			return (void *)(uintptr_t)at;
		NOT_A_CALL;
	}
	return NULL;
}

size_t strnlen(const char *text, size_t most)
{
	size_t length = 0;

	for (; length < most && text[length]; length++)
		NOT_A_CALL;
	return length;
}

size_t strlen(const char *text)
{
	return strnlen(text, PTRDIFF_MAX);
}

int strncmp(const char *a, const char *b, size_t most)
{
	for (; most > 0 && *a && *a == *b; a++, b++, most--)
		NOT_A_CALL;
	return most == 0 ? 0 : (unsigned char)*a - (unsigned char)*b;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, PTRDIFF_MAX);
}

/* Knows ASCII letters only, whatever the locale. */
static int lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : (unsigned char)c;
}

int strncasecmp(const char *a, const char *b, size_t most)
{
	for (; most > 0 && *a && lower(*a) == lower(*b); a++, b++, most--)
		NOT_A_CALL;
	return most == 0 ? 0 : lower(*a) - lower(*b);
}

/* The end counts as one of the characters. */
char *strchr(const char *text, int c)
{
	/* Not as far as the end of the text: maps are read line by line. */
	for (; *text && *text != (char)c; text++)
		NOT_A_CALL;
	return *text == (char)c ? (char *)(uintptr_t)text : NULL;
}

char *strrchr(const char *text, int c)
{
	const char *found = NULL;

	do
		if (*text == (char)c)
			found = text;
	while (*text++);
	return (char *)(uintptr_t)found;
}

static int is_one_of(char c, const char *set)
{
	while (*set && *set != c)
		set++;
	return *set != 0;
}

size_t strcspn(const char *text, const char *stop)
{
	size_t length = 0;

	while (text[length] && !is_one_of(text[length], stop))
		length++;
	return length;
}

size_t strspn(const char *text, const char *accept)
{
	size_t length = 0;

	while (text[length] && is_one_of(text[length], accept))
		length++;
	return length;
}

char *strstr(const char *text, const char *wanted)
{
	size_t length = strlen(wanted);

	for (; strncmp(text, wanted, length) != 0; text++)
		if (!*text)
			return NULL;
	return (char *)(uintptr_t)text;
}
