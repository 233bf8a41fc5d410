/* SPDX-License-Identifier: MIT */
#include "base/format.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/decimal.h"

struct sink {
	char *to;
	size_t size, length;
};

struct spec {
	bool left, zero;
	int width, precision; /* precision -1: none given */
	int longs;            /* 0 int, 1 long or size_t, 2 long long */
};

static void put_char(struct sink *sink, char c)
{
	if (sink->length + 1 < sink->size)
		sink->to[sink->length] = c;
	sink->length++;
}

static void put_padding(struct sink *sink, int count, char with)
{
	while (count-- > 0)
		put_char(sink, with);
}

static void put_field(
	struct sink *sink, const struct spec *spec, const char *text, int length)
{
	bool sign_first = spec->zero && !spec->left && length > 0 && *text == '-';

	if (sign_first)
		put_char(sink, *text++);
	if (!spec->left)
		put_padding(sink, spec->width - length, spec->zero ? '0' : ' ');
	for (int i = sign_first; i < length; i++)
		put_char(sink, *text++);
	if (spec->left)
		put_padding(sink, spec->width - length, ' ');
}

static void put_string(struct sink *sink, const struct spec *spec, const char *text)
{
	struct spec plain = *spec;
	int length = 0;

	if (!text)
		text = "(null)";
	while ((spec->precision < 0 || length < spec->precision) && text[length])
		length++;
	plain.zero = false;
	put_field(sink, &plain, text, length);
}

/* Digits of value, backwards from end; returns where they begin. */
static char *write_digits(char *end, uint64_t value, unsigned base)
{
	do {
		*--end = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	return end;
}

static void put_integer(struct sink *sink, const struct spec *spec, uint64_t value,
	bool negative, unsigned base)
{
	char buffer[32], *end = buffer + sizeof(buffer), *begin;

	begin = write_digits(end, value, base);
	if (negative)
		*--begin = '-';
	put_field(sink, spec, begin, (int)(end - begin));
}

static char digit_at(const struct cp_decimal *decimal, int place)
{
	return place >= 0 && place < decimal->count ? decimal->digits[place] : '0';
}

/* Plain decimal notation with so many places after the point. */
static int write_positional(char *to, const struct cp_decimal *decimal, int places)
{
	int length = 0, place = decimal->point > 0 ? 0 : decimal->point - 1;

	do
		to[length++] = digit_at(decimal, place++);
	while (place < decimal->point);
	if (places)
		to[length++] = '.';
	while (places-- > 0)
		to[length++] = digit_at(decimal, place++);
	return length;
}

/* d.ddde+-x. */
static int write_scientific(char *to, const struct cp_decimal *decimal)
{
	int exponent = decimal->count ? decimal->point - 1 : 0, length = 0;
	char buffer[8], *end = buffer + sizeof(buffer), *begin;

	to[length++] = digit_at(decimal, 0);
	if (decimal->count > 1)
		to[length++] = '.';
	for (int i = 1; i < decimal->count; i++)
		to[length++] = decimal->digits[i];
	to[length++] = 'e';
	to[length++] = exponent < 0 ? '-' : '+';
	begin = write_digits(end, (uint64_t)(exponent < 0 ? -exponent : exponent), 10);
	while (begin < end)
		to[length++] = *begin++;
	return length;
}

static void trim_zeros(struct cp_decimal *decimal)
{
	while (decimal->count && decimal->digits[decimal->count - 1] == '0')
		decimal->count--;
}

static int format_fixed(char *to, double value, int precision)
{
	struct cp_decimal decimal;

	if (value >= 1e18) {
		cp_decimal_significant(&decimal, value, 17);
		trim_zeros(&decimal);
		return write_scientific(to, &decimal);
	}
	cp_decimal_places(&decimal, value, precision > 18 ? 18 : precision);
	return write_positional(to, &decimal, precision > 18 ? 18 : precision);
}

static int write_general(char *to, double value, int significant)
{
	struct cp_decimal decimal;

	if (significant < 1)
		significant = 6;
	if (significant > 17)
		significant = 17;
	cp_decimal_significant(&decimal, value, significant);
	trim_zeros(&decimal);
	if (decimal.count && (decimal.point < -4 || decimal.point > 16))
		return write_scientific(to, &decimal);
	if (decimal.point > significant) /* an integer is printed whole */
		return format_fixed(to, value, 0);
	return write_positional(to, &decimal,
		decimal.count > decimal.point ? decimal.count - decimal.point : 0);
}

static void put_double(
	struct sink *sink, const struct spec *spec, double value, bool shortest)
{
	char buffer[64];
	int length = 0, precision = spec->precision < 0 ? 6 : spec->precision;

	if (__builtin_isnan(value)) {
		put_string(sink, spec, "nan");
		return;
	}
	if (__builtin_signbit(value)) {
		buffer[length++] = '-';
		value = -value;
	}
	if (__builtin_isinf(value)) {
		put_string(sink, spec, length ? "-inf" : "inf");
		return;
	}
	if (shortest)
		length += write_general(buffer + length, value, precision);
	else
		length += format_fixed(buffer + length, value, precision);
	put_field(sink, spec, buffer, length);
}

static const char *parse_spec(const char *at, struct spec *spec, va_list *args)
{
	*spec = (struct spec){.precision = -1};
	for (;; at++) {
		if (*at == '-')
			spec->left = true;
		else if (*at == '0')
			spec->zero = true;
		else
			break;
	}
	if (*at == '*') {
		spec->width = va_arg(*args, int);
		at++;
	}
	for (; *at >= '0' && *at <= '9'; at++)
		spec->width = spec->width * 10 + (*at - '0');
	if (*at == '.' && at[1] == '*') {
		spec->precision = va_arg(*args, int);
		at += 2;
	} else if (*at == '.') {
		spec->precision = 0;
		for (at++; *at >= '0' && *at <= '9'; at++)
			spec->precision = spec->precision * 10 + (*at - '0');
	}
	for (; *at == 'l' || *at == 'z'; at++)
		spec->longs++;
	return at;
}

static uint64_t next_unsigned(const struct spec *spec, va_list *args)
{
	if (spec->longs == 0)
		return va_arg(*args, unsigned);
	return spec->longs == 1 ? va_arg(*args, unsigned long)
				: va_arg(*args, unsigned long long);
}

static int64_t next_signed(const struct spec *spec, va_list *args)
{
	if (spec->longs == 0)
		return va_arg(*args, int);
	return spec->longs == 1 ? va_arg(*args, long) : va_arg(*args, long long);
}

static void convert_one(
	struct sink *sink, const struct spec *spec, char conversion, va_list *args)
{
	int64_t number;

	switch (conversion) {
	case 's':
		put_string(sink, spec, va_arg(*args, const char *));
		break;
	case 'c':
		put_char(sink, (char)va_arg(*args, int));
		break;
	case 'd':
	case 'i':
		number = next_signed(spec, args);
		put_integer(sink, spec, number < 0 ? -(uint64_t)number : (uint64_t)number,
			number < 0, 10);
		break;
	case 'u':
	case 'x':
		put_integer(sink, spec, next_unsigned(spec, args), false,
			conversion == 'x' ? 16 : 10);
		break;
	case 'f':
	case 'g':
		put_double(sink, spec, va_arg(*args, double), conversion == 'g');
		break;
	default:
		put_char(sink, conversion);
	}
}

size_t cp_vformat(char *to, size_t size, const char *format, va_list caller_args)
{
	struct sink sink = {.to = to, .size = size};
	struct spec spec;
	va_list args;

	va_copy(args, caller_args);
	for (; *format; format++) {
		if (*format != '%') {
			put_char(&sink, *format);
			continue;
		}
		format = parse_spec(format + 1, &spec, &args);
		if (!*format)
			break;
		convert_one(&sink, &spec, *format, &args);
	}
	va_end(args);
	if (size)
		to[sink.length < size ? sink.length : size - 1] = '\0';
	return sink.length;
}

size_t cp_format(char *to, size_t size, const char *format, ...)
{
	va_list args;
	size_t length;

	va_start(args, format);
	length = cp_vformat(to, size, format, args);
	va_end(args);
	return length;
}
