/* SPDX-License-Identifier: MIT */
#include "base/format.h"

#include <stdbool.h>
#include <stdint.h>

struct sink {
	char *to;
	size_t size, length;
};

struct spec {
	bool left, zero;
	int width, precision; /* precision -1: none given */
	int longs;            /* 0 int, 1 long or size_t, 2 long long */
};

static void put(struct sink *sink, char c)
{
	if (sink->length + 1 < sink->size)
		sink->to[sink->length] = c;
	sink->length++;
}

static void pad(struct sink *sink, int count, char with)
{
	while (count-- > 0)
		put(sink, with);
}

static void put_field(
	struct sink *sink, const struct spec *spec, const char *text, int length)
{
	bool sign_first = spec->zero && !spec->left && length > 0 && *text == '-';

	if (sign_first)
		put(sink, *text++);
	if (!spec->left)
		pad(sink, spec->width - length, spec->zero ? '0' : ' ');
	for (int i = sign_first; i < length; i++)
		put(sink, *text++);
	if (spec->left)
		pad(sink, spec->width - length, ' ');
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
static char *digits(char *end, uint64_t value, unsigned base)
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

	begin = digits(end, value, base);
	if (negative)
		*--begin = '-';
	put_field(sink, spec, begin, (int)(end - begin));
}

/* Plain decimal notation; value is finite and below 1e18. */
static int fixed(char *to, double value, int precision)
{
	char whole[24], *end = whole + sizeof(whole), *begin;
	uint64_t scale = 1, integer, fraction;
	int length = 0;

	for (int i = 0; i < precision; i++)
		scale *= 10;
	integer = (uint64_t)value;
	fraction = (uint64_t)(((long double)value - (long double)integer) *
				      (long double)scale +
			      0.5L);
	if (fraction >= scale) {
		integer++;
		fraction -= scale;
	}
	for (begin = digits(end, integer, 10); begin < end; begin++)
		to[length++] = *begin;
	if (precision)
		to[length++] = '.';
	for (int i = 0; i < precision; i++) {
		scale /= 10;
		to[length++] = (char)('0' + fraction / scale % 10);
	}
	return length;
}

static int trim_zeros(const char *text, int length)
{
	while (length > 1 && text[length - 1] == '0')
		length--;
	return text[length - 1] == '.' ? length - 1 : length;
}

static long double power_of_ten(int exponent)
{
	long double power = 1;

	for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--)
		power *= 10;
	return exponent < 0 ? 1 / power : power;
}

/* floor(log10(value)) without libm, which the library must not need. */
static int decimal_exponent(double value)
{
	int exponent = 0;

	if (value <= 0)
		return 0;
	while (value >= power_of_ten(exponent + 1))
		exponent++;
	while (value < power_of_ten(exponent))
		exponent--;
	return exponent;
}

/* d.ddde+-x with the given number of significant digits, zeros trimmed. */
static int scientific(char *to, double value, int significant)
{
	int exponent = decimal_exponent(value), length;
	double mantissa = (double)(value / power_of_ten(exponent));
	char buffer[8], *end = buffer + sizeof(buffer), *begin;

	if (mantissa >= 10) {
		mantissa /= 10;
		exponent++;
	}
	length = trim_zeros(to, fixed(to, mantissa, significant - 1));
	to[length++] = 'e';
	to[length++] = exponent < 0 ? '-' : '+';
	begin = digits(end, (uint64_t)(exponent < 0 ? -exponent : exponent), 10);
	while (begin < end)
		to[length++] = *begin++;
	return length;
}

static int general(char *to, double value, int significant)
{
	int exponent = decimal_exponent(value), decimals;

	if (significant < 1)
		significant = 6;
	if (significant > 17)
		significant = 17;
	if (exponent < -5 || exponent > 15)
		return scientific(to, value, significant);
	decimals = significant - 1 - exponent;
	if (decimals <= 0)
		return fixed(to, value, 0);
	return trim_zeros(to, fixed(to, value, decimals > 18 ? 18 : decimals));
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
		length += general(buffer + length, value, precision);
	else if (value >= 1e18)
		length += scientific(buffer + length, value, 17);
	else
		length += fixed(buffer + length, value, precision > 18 ? 18 : precision);
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

static void convert(
	struct sink *sink, const struct spec *spec, char conversion, va_list *args)
{
	int64_t number;

	switch (conversion) {
	case 's':
		put_string(sink, spec, va_arg(*args, const char *));
		break;
	case 'c':
		put(sink, (char)va_arg(*args, int));
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
		put(sink, conversion);
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
			put(&sink, *format);
			continue;
		}
		format = parse_spec(format + 1, &spec, &args);
		if (!*format)
			break;
		convert(&sink, &spec, *format, &args);
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
