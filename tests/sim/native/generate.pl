#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Writes programs of loops for a compiler to vectorise, as functions of one file: N of
# them, which print a line each.
#
#	generate.pl SEED N > programs.c
#
# Each has arrays of random numbers of four types, one of which it reads or writes by
# indices or at a distance, conditions (masks), conversions, and reductions.  It is to be
# compiled with -fwrapv; what else C leaves open is the machine's, natively and simulated.
use strict;
use warnings;

my ($seed, $programs) = @ARGV;
my @types = qw(int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t float double);
my $length = 203;

# The same on every machine.
my $chance = $seed * 7919 + 17;
sub below
{
	$chance = ($chance * 1103515245 + 12345) % 2147483648;
	return int($chance / 65536) % $_[0];
}

sub one_of { return $_[below(scalar(@_))] }

sub is_float { return $_[0] =~ /float|double/ }

# An element of one of the arrays: contiguous mostly.
sub element
{
	my ($arrays) = @_;
	my $index = one_of('i', 'i', 'i', 'i', 'i + 1', "${length}u - i", '2 * i', 'where[i]');

	return one_of(sort keys %$arrays) . "[$index]";
}

# An expression of this type.
sub expression
{
	my ($type, $arrays, $depth) = @_;
	my $leaf = "($type)" . element($arrays);
	my ($x, $y, $z) = $depth > 0 ? map { expression($type, $arrays, $depth - 1) } 1 .. 3 : ($leaf) x 3;

	return one_of($leaf, "($type)" . (below(200) - 100)) if $depth == 0;
	return one_of("($x + $y)", "($x - $y)", "($x * $y)", "($x * $y + $z)", "($x < $y ? $x : $y)", "($x > $y ? $z : $y)",
		"($x == $y ? $y : $z)", is_float($type) ?
			("($x / $y)", "sqrt$type($x)", "fabs$type($x)", "floor$type($x)", "trunc$type($x)", "copysign$type($x, $y)") :
			("($x & $y)", "($x | ~$y)", "($x ^ $y)", "($type)($x >> (" . below(8) . "))", "($type)($x << (i & 7))",
			"($type)(($x >> 3) | ($y << 5))", "(($x & $y) ? $z : $x)", "($type)__builtin_popcountll((uint64_t)$x)",
			"($type)(($x + $y + 1) >> 1)", "($x < 0 ? ($type)-$x : $x)"));
}

sub statement
{
	my ($types, $arrays) = @_;
	my $to = one_of(qw(r s));
	my $type = $types->{$to};
	my $value = expression($type, $arrays, 1 + below(3));
	my $condition = expression($types->{a}, $arrays, 1);
	my $index = one_of('i', 'i', 'i', '2 * i', 'where[i]');

	return one_of("$to\[$index] = ($type)$value;", "$to\[i] = ($type)$value;",
		"if ($condition > " . below(50) . ") $to\[$index] = ($type)$value;",
		"if ($condition > 0) $to\[i] = ($type)$value; else $to\[i] += ($type)1;", "sum_$to += ($type)$value;",
		"if ($condition != 0) sum_$to += ($type)$value;", "sum_$to = ($type)$value > sum_$to ? ($type)$value : sum_$to;");
}

sub program
{
	my ($n) = @_;
	my %types = map { $_ => one_of(@types) } qw(a b c r s);
	my %arrays = map { $_ => 1 } qw(a b c);

	print "static void program$n(void)\n{\n";
	print "\t$types{$_} *$_ = arrays.$_;\n" for sort keys %types;
	print "\t$types{$_} sum_$_ = 0;\n" for qw(r s);
	print "\tconst unsigned *where = arrays.where;\n\n\tfill($n);\n";
	for my $loop (1 .. 1 + below(3)) {
		print "\tfor (unsigned i = 0; i < ${length}u; i++) {\n";
		print "\t\t" . statement(\%types, \%arrays) . "\n" for 1 .. 1 + below(2);
		print "\t}\n";
	}
	print "\tprint($n, &sum_r, sizeof(sum_r), &sum_s, sizeof(sum_s));\n}\n\n";
}

print <<'END';
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static inline float sqrtfloat(float x) { return sqrtf(x); }
static inline double sqrtdouble(double x) { return sqrt(x); }
static inline float fabsfloat(float x) { return fabsf(x); }
static inline double fabsdouble(double x) { return fabs(x); }
static inline float floorfloat(float x) { return floorf(x); }
static inline double floordouble(double x) { return floor(x); }
static inline float truncfloat(float x) { return truncf(x); }
static inline double truncdouble(double x) { return trunc(x); }
static inline float copysignfloat(float x, float y) { return copysignf(x, y); }
static inline double copysigndouble(double x, double y) { return copysign(x, y); }

static struct {
	double a[512], b[512], c[512], r[512], s[512];
	unsigned where[512];
} arrays;

/* Bits of any kind, but for every fourth program, whose floats are small numbers. */
static void fill(unsigned n)
{
	uint64_t chance = (n + 1) * 0x9e3779b97f4a7c15u;
	unsigned char *at = (unsigned char *)&arrays;

	for (size_t i = 0; i < sizeof(arrays) / 8; i++) {
		float small = (float)(int)(chance >> 50) / 16.0f;

		chance ^= chance << 13;
		chance ^= chance >> 7;
		chance ^= chance << 17;
		memcpy(at + 8 * i, &chance, 8);
		if (n & 3) {
			memcpy(at + 8 * i, &small, 4);
			memcpy(at + 8 * i + 4, &small, 4);
		}
	}
	for (unsigned i = 0; i < 512; i++)
		arrays.where[i] = (i * 77 + n) & 511;
}

static uint64_t hash(const void *of, size_t size, uint64_t h)
{
	for (size_t i = 0; i < size; i++)
		h = (h ^ ((const unsigned char *)of)[i]) * 1099511628211u;
	return h;
}

static void print(unsigned n, const void *r, size_t r_size, const void *s, size_t s_size)
{
	printf("%u: %016llx %016llx %016llx\n", n, (unsigned long long)hash(arrays.r, sizeof(arrays.r), 1),
		(unsigned long long)hash(arrays.s, sizeof(arrays.s), 2),
		(unsigned long long)hash(s, s_size, hash(r, r_size, 3)));
}

END
program($_) for 1 .. $programs;
print "int main(void)\n{\n\tsetvbuf(stdout, NULL, _IOLBF, 0);\n";
print "\tprogram$_();\n" for 1 .. $programs;
print "\treturn 0;\n}\n";
